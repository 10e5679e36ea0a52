import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import { maskDocument } from '../../kernel/documents.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { findRecipientNames } from '../account/index.ts'
import { findPayer } from '../door/index.ts'
import { findTransfersOf, type Transfer } from '../ledger/index.ts'
import { findDeliveries } from '../notification/index.ts'
import { authorizationWire, findCharge, findRecurrences, scheduledPaymentWire } from '../recurrence/index.ts'
import { findRefundsOf, findReversalsOf, type Refund, type Reversal } from '../refund/index.ts'
import { currentTxid, findSale, findSplitBlocks, type Sale } from '../sale/index.ts'
import type { SplitBlock } from '../split/index.ts'
import { deliveryWire, saleRowWire } from './panel.wire.ts'

export type TimeLineContext = { readonly db: Queryable; readonly railName: string }

/** Null: it is known that it happened, not when. Those stand where their kind belongs, after what is known of the sale. */
type Happening = { readonly at: Instant | null; readonly kind: string } & Readonly<Record<string, unknown>>

/** Things of one moment stand in the order in which one leads to the other. */
const order = ['created', 'renewed', 'paid', 'cancelled', 'refund', 'reversal', 'transfer', 'closed', 'notification']
const rankOf = ({ kind }: Happening): number => {
  const at = order.findIndex((name) => kind === name || kind.startsWith(`${name}.`) || kind.endsWith(`.${name}`))
  return at < 0 ? order.length : at
}

/** Everything that happened to a sale, oldest first, from every module that knows of it. */
export async function findTimeLine({ db, railName }: TimeLineContext, accountId: AccountId, saleId: SaleId) {
  const sale = await findSale(db, accountId, saleId)
  if (sale === undefined) return undefined
  const [refundsOfSale, reversals, splits, payer] = await Promise.all([
    findRefundsOf(db, accountId, [saleId]),
    findReversalsOf(db, accountId, saleId),
    findSplitBlocks(db, [sale]),
    sale.endToEnd === null ? undefined : findPayer(db, railName, sale.endToEnd),
  ])
  const refunds = refundsOfSale.get(saleId) ?? []
  const ids = [saleId, ...refunds.map(({ id }) => id), ...reversals.map(({ id }) => id)]
  const told = sale.chargeId === null ? ids : [...ids, sale.chargeId]
  const [split, transfers, deliveries, recurrence] = await Promise.all([
    withNames(db, accountId, splits.get(saleId)),
    findTransfersOf(db, accountId, ids),
    findDeliveries(db, accountId, told),
    findRecurrence(db, sale),
  ])
  const happenings: Happening[] = [
    ...ofSale(sale, payer ?? undefined),
    ...refunds.flatMap(ofRefund),
    ...reversals.flatMap(ofReversal),
    ...transfers.map((transfer) => ofTransfer(transfer, split?.recipients ?? [])),
    ...deliveries.map((delivery) => ({ at: delivery.createdAt, kind: 'notification', ...deliveryWire(delivery) })),
  ]
  return {
    sale: {
      ...saleRowWire(sale),
      txid: sale.parentId === null ? currentTxid(sale) : null,
      callbackURL: sale.callbackUrl,
      renewals: sale.renewals,
      split,
    },
    recurrence,
    events: inOrder(happenings).map(({ at, ...rest }) => ({ at: at === null ? null : wireTimestamp(at), ...rest })),
  }
}

/** A person knows a recipient by its name. */
async function withNames(db: Queryable, accountId: AccountId, block: SplitBlock | undefined) {
  if (block === undefined) return null
  const legs = block.recipients
  if (legs === undefined) return { ...block, recipients: undefined }
  const names = await findRecipientNames(
    db,
    accountId,
    legs.map(({ recipientId }) => recipientId),
  )
  return { ...block, recipients: legs.map((leg) => ({ ...leg, name: names.get(leg.recipientId) ?? null })) }
}

function inOrder(happenings: readonly Happening[]): Happening[] {
  const last = happenings.reduce((latest, { at, kind }) => (kind === 'created' ? Math.max(latest, at ?? 0) : latest), 0)
  const timeOf = (one: Happening) => one.at ?? last
  return [...happenings].sort((a, b) => timeOf(a) - timeOf(b) || rankOf(a) - rankOf(b))
}

function ofSale(sale: Sale, payer: { name: string | null; document: string | null } | undefined): Happening[] {
  const happenings: Happening[] = [{ at: sale.createdAt, kind: 'created', amount: centsToWire(sale.amount) }]
  if (sale.renewals > 0) happenings.push({ at: null, kind: 'renewed', times: sale.renewals })
  if (sale.paidAt !== null)
    happenings.push({
      at: sale.paidAt,
      kind: 'paid',
      amount: centsToWire(sale.amount),
      endToEnd: sale.endToEnd,
      payer: payer
        ? { name: payer.name, document: payer.document === null ? null : maskDocument(payer.document) }
        : null,
    })
  // When a sale was cancelled is not kept; that it was is.
  if (sale.state === 'CANCELLED') happenings.push({ at: null, kind: 'cancelled' })
  return happenings
}

function ofRefund(refund: Refund): Happening[] {
  const what = { uuid: refund.id, amount: centsToWire(refund.amount), reason: refund.reason }
  const asked = { at: refund.createdAt, kind: 'refund', ...what }
  return refund.closedAt === null
    ? [asked]
    : [asked, { at: refund.closedAt, kind: 'refund.closed', ...what, situation: refund.state }]
}

function ofReversal(reversal: Reversal): Happening[] {
  const { id: uuid, endToEnd, reason } = reversal
  const what = { uuid, endToEnd, amount: centsToWire(reversal.amount), reason }
  const made = { at: reversal.createdAt, kind: 'reversal', ...what }
  return reversal.closedAt === null
    ? [made]
    : [made, { at: reversal.closedAt, kind: 'reversal.closed', ...what, situation: reversal.state }]
}

type NamedLeg = { readonly recipientId: string; readonly name: string | null }

/** A share is somebody's: legs are in the order of the request, by which their lines are numbered. */
function recipientOf({ kind, leg }: Transfer, legs: readonly NamedLeg[]): NamedLeg | null {
  const found = kind === 'splitOut' ? legs[leg] : undefined
  return found ? { recipientId: found.recipientId, name: found.name } : null
}

const ofTransfer = (transfer: Transfer, legs: readonly NamedLeg[]): Happening => ({
  at: transfer.at,
  kind: 'transfer',
  transfer: transfer.kind,
  from: transfer.from,
  to: transfer.to,
  amount: centsToWire(transfer.amount),
  sequence: transfer.sequence,
  source: transfer.sourceId,
  recipient: recipientOf(transfer, legs),
})

async function findRecurrence(db: Queryable, { accountId, mandateId, chargeId }: Sale) {
  if (mandateId === null) return null
  const [[found], charge] = await Promise.all([
    findRecurrences(db, [{ accountId, mandateId }]),
    chargeId === null ? undefined : findCharge(db, accountId, chargeId),
  ])
  if (found === undefined) return null
  const { payer, ...authorization } = authorizationWire(found)
  return {
    authorization: { ...authorization, payer: { ...payer, document: maskDocument(payer.document) } },
    scheduledPayment: charge ? scheduledPaymentWire(charge) : null,
  }
}

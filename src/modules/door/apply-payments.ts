import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, ReversalId, SaleId } from '../../kernel/ids.ts'
import { partsOfTxid, type TxidParts } from '../../kernel/txid.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { numbersInTurn } from '../../platform/number-blocks.ts'
import type { PaymentReceived } from '../../rail/rail.ts'
import { type AccountTerms, accountNow, findAccountTerms, OPERATOR_ACCOUNT_ID } from '../account/index.ts'
import { lockBook } from '../ledger/index.ts'
import { settlesAt } from '../outflow/index.ts'
import { authorizeMandate, lockMandate, NUMBERS_PER_CHANGE } from '../recurrence/index.ts'
import { postingsForReversal } from '../refund/index.ts'
import {
  findPayableSales,
  fitPayment,
  type PayableSaleRecord,
  type PaymentMisfit,
  postingsForPaidSale,
} from '../sale/index.ts'
import { findLegs, type Leg } from '../split/index.ts'
import { type DoorContext, insideDoor, type RailEventOutcome } from './door-context.ts'
import { contentHash, contentOf, findInboxEntries, type InboxEntry, inboxKey, setAside } from './inbox.store.ts'
import { type DecidedPayment, type PaidLeg, writePayments } from './write-payments.ts'

/** How things stand, where the caller has just read them. */
export type PaymentsKnown = {
  /** Those of the sales, and the operator's. */
  readonly accounts: Map<AccountId, AccountTerms>
  readonly sales: ReadonlyMap<PaymentReceived, PayableSaleRecord>
  /** Payments under an id that was made up for them just now: nobody has reported it before. */
  readonly fresh: ReadonlySet<PaymentReceived>
}

/**
 * Money that arrived, in batches: read what the payments need, decide each with the same rules as a lone one, then one
 * guarded statement that applies those whose sale still stands as it did. Losers are deferred.
 */
export async function applyPayments(
  context: DoorContext,
  payments: readonly PaymentReceived[],
  known: PaymentsKnown = { accounts: new Map(), sales: new Map(), fresh: new Set() },
): Promise<(RailEventOutcome | typeof DEFERRED)[]> {
  const now = context.clock.now()
  const [heard, decide] = await Promise.all([
    findInboxEntries(
      context.db,
      payments.filter((payment) => !known.fresh.has(payment)),
    ),
    readyToDecide(context, payments, known, now),
  ])
  const outcomes: (RailEventOutcome | typeof DEFERRED)[] = []
  const fresh: { index: number; decided: DecidedPayment }[] = []
  for (const [index, payment] of payments.entries()) {
    const known = await heardBefore(context, heard, payment, now)
    if (known === undefined) fresh.push({ index, decided: decide(payment, contentHash(contentOf(payment))) })
    else outcomes[index] = known
  }
  const alone = fresh.filter(({ decided }) => !givesMandate(decided))
  const applied = await writePayments(
    context,
    alone.map(({ decided }) => decided),
    now,
  )
  alone.forEach(({ index, decided }, position) => {
    outcomes[index] = applied.has(position + 1) ? outcomeOf(decided) : DEFERRED
  })
  for (const { index, decided } of fresh.filter(({ decided }) => givesMandate(decided)))
    outcomes[index] = (await payAndAuthorize(context, decided, now)) ? outcomeOf(decided) : DEFERRED
  return outcomes
}

/** The same payment again, or its id with other content; undefined when it is news. */
export async function heardBefore(
  context: DoorContext,
  heard: Map<string, InboxEntry>,
  payment: PaymentReceived,
  now: Instant,
): Promise<RailEventOutcome | undefined> {
  const entry = heard.get(inboxKey(payment))
  if (entry === undefined) return undefined
  if (entry.contentHash.equals(contentHash(contentOf(payment)))) return { outcome: 'duplicate', of: entry }
  return setAsideAndAlarm(context, payment, entry, now)
}

/** A payment that fits no charge of a recurrence: `sale` is the one that the charge is, where there is one. */
export type ChargeMisfit = {
  readonly payment: PaymentReceived
  readonly sale: PayableSaleRecord | undefined
  readonly reason: PaymentMisfit
}

export async function reverseMisfits(
  context: DoorContext,
  misfits: readonly ChargeMisfit[],
): Promise<(RailEventOutcome | typeof DEFERRED)[]> {
  if (misfits.length === 0) return []
  const now = context.clock.now()
  const owners = misfits.flatMap(({ sale }) => (sale ? [sale.accountId] : []))
  const accounts = await findAccountTerms(context.db, [OPERATOR_ACCOUNT_ID, ...owners])
  const newReversalId = (at: Instant) => context.ids.uuidAt(at) as ReversalId
  const decided = misfits.map(({ payment: event, sale, reason }) =>
    decideReversal({ event, hash: contentHash(contentOf(event)), sale, accounts, now, newReversalId }, reason),
  )
  const written = await writePayments(context, decided, now)
  return decided.map((one, place) => (written.has(place + 1) ? outcomeOf(one) : DEFERRED))
}

const givesMandate = ({ effect, sale }: DecidedPayment): boolean => effect === 'pay' && sale!.mandateId !== null

/** Whoever pays the first charge of a mandate has authorized it: both, or neither. */
async function payAndAuthorize(context: DoorContext, decided: DecidedPayment, now: Instant): Promise<boolean> {
  const { accountId } = decided
  const mandate = { accountId, mandateId: decided.sale!.mandateId! }
  const reserved = await context.numbers.take(NUMBERS_PER_CHANGE)
  return context.inTransaction(async (tx) => {
    const inside = insideDoor({ ...context, numbers: numbersInTurn(reserved) }, tx)
    await lockBook(tx, accountId)
    await lockMandate(tx, mandate)
    const applied = await writePayments(inside, [decided], now)
    if (applied.size === 0) return false
    await authorizeMandate({ ...inside, db: tx, now }, mandate, decided.event.payer)
    return true
  })
}

const outcomeOf = (decided: DecidedPayment): RailEventOutcome =>
  decided.effect === 'pay'
    ? { outcome: 'applied', accountId: decided.accountId, saleId: decided.sale!.id }
    : { outcome: 'reversed', accountId: decided.accountId, reversalId: decided.reversalId }

async function setAsideAndAlarm(
  { db, ids, alarm }: DoorContext,
  event: PaymentReceived,
  entry: InboxEntry,
  now: Instant,
) {
  await setAside(db, ids.uuidAt(now), event, now)
  alarm('the rail reported one id with two contents', {
    rail: event.rail,
    railId: event.endToEnd,
    accountId: entry.accountId,
  })
  return { outcome: 'conflict' } as const
}

async function readyToDecide(
  { db, ids }: DoorContext,
  events: readonly PaymentReceived[],
  known: PaymentsKnown,
  now: Instant,
) {
  const unread = events.filter((event) => !known.sales.has(event))
  const read = unread.length === 0 ? undefined : await readNamed(db, unread)
  const accounts = new Map([...known.accounts, ...(read?.accounts ?? [])])
  const legs = await readLegs(db, [...known.sales.values(), ...(read?.sales.values() ?? [])], now)
  return (event: PaymentReceived, hash: Buffer): DecidedPayment => {
    const parts = partsOf(event)
    const sale = known.sales.get(event) ?? (parts && read?.sales.get(saleKey(parts)))
    return decidePayment({
      event,
      hash,
      sale,
      legs: (sale && legs.get(sale.id)) ?? [],
      parts,
      accounts,
      now,
      newReversalId: (at) => ids.uuidAt(at) as ReversalId,
    })
  }
}

const partsOf = ({ txid }: PaymentReceived) => (txid === null ? undefined : partsOfTxid(txid))
const saleKey = ({ accountId, saleId }: Pick<TxidParts, 'accountId' | 'saleId'>) => `${accountId} ${saleId}`

async function readNamed(db: Queryable, events: readonly PaymentReceived[]) {
  const keys = events.map(partsOf).filter((parts): parts is TxidParts => parts !== undefined)
  const [sales, accounts] = await Promise.all([
    findPayableSales(db, keys),
    findAccountTerms(db, [OPERATOR_ACCOUNT_ID, ...keys.map((key) => key.accountId)]),
  ])
  const byKey = new Map(sales.map((sale) => [saleKey({ accountId: sale.accountId, saleId: sale.id }), sale]))
  return { sales: byKey, accounts }
}

/** The legs of the sales that are shared, with the time of each recipient; most batches have none. */
async function readLegs(db: Queryable, sales: readonly PayableSaleRecord[], now: Instant) {
  const legs = await findLegs(
    db,
    sales.filter((sale) => sale.legs > 0),
  )
  if (legs.size === 0) return new Map<SaleId, readonly PaidLeg[]>()
  const recipients = await findAccountTerms(
    db,
    [...legs.values()].flat().map((leg) => leg.recipientId),
  )
  const timed = (leg: Leg): PaidLeg => ({ ...leg, at: accountNow(recipients.get(leg.recipientId)!, now) })
  return new Map([...legs].map(([saleId, some]) => [saleId, some.map(timed)] as const))
}

type Payment = {
  event: PaymentReceived
  hash: Buffer
  sale: PayableSaleRecord | undefined
  accounts: Map<AccountId, AccountTerms>
  now: Instant
  newReversalId: (at: Instant) => ReversalId
}
type Undecided = Payment & { legs: readonly PaidLeg[]; parts: TxidParts | undefined }

/** Sale answers "does not fit, because"; here that becomes a reversal. Money for nobody goes to the operator's book. */
function decidePayment({ legs, parts, ...payment }: Undecided): DecidedPayment {
  const { event, sale } = payment
  const fit = fitPayment(sale, { amount: event.amount, settledAt: event.settledAt, renewals: parts?.renewals ?? 0 })
  if (!fit.ok) return decideReversal(payment, fit.refusal)
  return { ...commonOf(payment, sale), effect: 'pay', legs, postings: postingsForPaidSale(sale!, legs) }
}

function decideReversal(payment: Payment, reason: PaymentMisfit): DecidedPayment {
  const common = commonOf(payment, reason === 'UNKNOWN_CHARGE' ? undefined : payment.sale)
  return {
    ...common,
    effect: 'reverse',
    reason,
    reversalId: payment.newReversalId(common.at),
    settlesAt: settlesAt(payment.accounts.get(common.accountId)!, common.at),
    postings: postingsForReversal.PENDING(payment.event.amount),
  }
}

function commonOf({ event, hash, accounts, now }: Payment, sale: PayableSaleRecord | undefined) {
  const accountId = sale?.accountId ?? OPERATOR_ACCOUNT_ID
  const account = accounts.get(accountId)!
  return { event, hash, accountId, sale, at: accountNow(account, now), settings: account.notifications }
}

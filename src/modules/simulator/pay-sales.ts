import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, EndToEndId, SaleId } from '../../kernel/ids.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import type { PaymentReceived } from '../../rail/rail.ts'
import { endToEndAt, SANDBOX_ISPB, SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { type AccountTerms, accountNow, findAccountTerms, OPERATOR_ACCOUNT_ID } from '../account/index.ts'
import { applyRailEvents, type DoorContext, type PaymentsKnown, type RailEventOutcome } from '../door/index.ts'
import { currentTxid, findPayableSales, findSaleHeads, type PayableSaleRecord, type SaleHead } from '../sale/index.ts'

/** A payment as whoever tries things out asks for it; what is left out is as a payer would have it. */
export type AskedPayment = {
  readonly accountId: AccountId
  readonly saleId: SaleId
  readonly asked: {
    readonly amount?: Cents | undefined
    readonly payer?:
      | {
          readonly document?: string | undefined
          readonly name?: string | undefined
          readonly ispb?: string | undefined
        }
      | undefined
    readonly endToEnd?: string | undefined
    readonly settledAt?: Instant | undefined
  }
  /** Decided once: a batch whose outcome is unknown is reported again under the same ids. */
  payment?: PaymentReceived
}

export type SimulatedPayment =
  | { readonly outcome: 'notFound' }
  | {
      readonly outcome: 'told'
      readonly payment: PaymentReceived
      readonly state: string
      readonly told: RailEventOutcome
    }

type Outcomes = ReadonlyMap<AskedPayment, RailEventOutcome | typeof DEFERRED>

const defaultPayer = { document: '52998224725', name: 'Pagador de Teste', ispb: SANDBOX_ISPB }

/** Payments of sales, in batches: looked up together, and reported by the door as a bank would, with what was found. */
export async function paySales(
  door: DoorContext,
  items: readonly AskedPayment[],
): Promise<(SimulatedPayment | typeof DEFERRED)[]> {
  const undecided = items.filter((item) => item.payment === undefined)
  const found = await findSalesOf(door, undecided)
  decidePayments(door, undecided, found)
  const payable = items.filter((item) => item.payment !== undefined)
  const told = await applyRailEvents(
    door,
    payable.map((item) => item.payment!),
    { payments: knownOf(undecided, found) },
  )
  const outcomes: Outcomes = new Map(payable.map((item, index) => [item, told[index]!] as const))
  const after = await statesAfter(door, payable, outcomes)
  return items.map((item) => {
    const outcome = outcomes.get(item)
    if (outcome === undefined) return { outcome: 'notFound' }
    if (outcome === DEFERRED) return DEFERRED
    return { outcome: 'told', payment: item.payment!, state: after(item), told: outcome }
  })
}

type Found = {
  readonly sales: ReadonlyMap<SaleId, PayableSaleRecord>
  /** Charges of recurrences, and transactions that nobody pays. */
  readonly others: ReadonlyMap<SaleId, SaleHead>
  readonly accounts: Map<AccountId, AccountTerms>
}

async function findSalesOf({ db }: DoorContext, items: readonly AskedPayment[]): Promise<Found> {
  if (items.length === 0) return { sales: new Map(), others: new Map(), accounts: new Map() }
  const owners = items.map((item) => item.accountId)
  const [records, accounts] = await Promise.all([
    findPayableSales(db, items),
    findAccountTerms(db, [OPERATOR_ACCOUNT_ID, ...owners]),
  ])
  const sales = new Map(records.map((sale) => [sale.id, sale]))
  const heads = await findSaleHeads(
    db,
    items.filter((item) => !sales.has(item.saleId)),
  )
  return { sales, others: new Map(heads.map((head) => [head.id, head])), accounts }
}

function decidePayments(door: DoorContext, undecided: readonly AskedPayment[], { sales, others, accounts }: Found) {
  const now = door.clock.now()
  for (const item of undecided) {
    const record = sales.get(item.saleId)
    const sale = record ? { ...record, chargeId: null, parentId: null } : others.get(item.saleId)
    if (sale === undefined || !isPayable(sale)) continue
    const at = accountNow(accounts.get(item.accountId)!, now)
    const { amount, payer, endToEnd, settledAt } = item.asked
    const ispb = payer?.ispb ?? defaultPayer.ispb
    item.payment = {
      kind: 'payment',
      rail: SANDBOX_RAIL,
      endToEnd: (endToEnd as EndToEndId | undefined) ?? endToEndAt(at, ispb, door.ids.alphanumeric(11)),
      txid: currentTxid(sale),
      amount: amount ?? sale.amount,
      settledAt: settledAt ?? at,
      payer: { document: payer?.document ?? defaultPayer.document, name: payer?.name ?? defaultPayer.name, ispb },
    }
  }
}

/** What need not be looked up again. A payment that is reported a second time was decided before, so it is not among these. */
function knownOf(decided: readonly AskedPayment[], { sales, accounts }: Found): PaymentsKnown {
  const paying = decided.filter(({ payment, saleId }) => payment !== undefined && sales.has(saleId))
  return {
    accounts,
    sales: new Map(paying.map(({ payment, saleId }) => [payment!, sales.get(saleId)!])),
    fresh: new Set(paying.flatMap(({ payment, asked }) => (asked.endToEnd === undefined ? [payment!] : []))),
  }
}

/** Nobody pays a recipient-side transaction: it is paid with its parent. */
const isPayable = (sale: SaleHead): boolean => sale.parentId === null

/** A payment that was applied has made its sale PAID; the others are looked up once more. */
async function statesAfter(
  { db }: DoorContext,
  items: readonly AskedPayment[],
  outcomes: Outcomes,
): Promise<(item: AskedPayment) => string> {
  const isApplied = (item: AskedPayment) => {
    const outcome = outcomes.get(item)
    return typeof outcome === 'object' && outcome.outcome === 'applied'
  }
  const others = items.filter((item) => !isApplied(item))
  const heads = others.length === 0 ? [] : await findSaleHeads(db, others)
  const states = new Map(heads.map((head) => [head.id, head.state]))
  return (item) => (isApplied(item) ? 'PAID' : states.get(item.saleId)!)
}

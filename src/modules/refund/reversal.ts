import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, centsToWire } from '../../kernel/cents.ts'
import type { AccountId, EndToEndId, NumberId, ReversalId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { Posting } from '../ledger/index.ts'
import type { EventName, News } from '../notification/index.ts'
import type { PaymentMisfit, Sale } from '../sale/index.ts'
import { bankDetailsOf } from './refund.ts'

export const reversalStates = ['PENDING', 'PAID', 'CANCELLED'] as const
export type ReversalState = (typeof reversalStates)[number]

/** A payment that fits no sale, on its way back to whoever sent it. */
export type Reversal = {
  readonly accountId: AccountId
  readonly id: ReversalId
  readonly number: NumberId
  readonly saleId: SaleId | null
  readonly endToEnd: EndToEndId
  readonly originalAmount: Cents | null
  readonly amount: Cents
  readonly reason: PaymentMisfit
  readonly state: ReversalState
  readonly createdAt: Instant
  readonly closedAt: Instant | null
}

/** Held apart: the merchant never had it, so its balance does not move, unless nobody takes it back. */
export const postingsForReversal: Record<ReversalState, (amount: Cents) => readonly Posting[]> = {
  PENDING: (amount) => [{ kind: 'reversalHeld', leg: 0, amount }],
  PAID: (amount) => [{ kind: 'reversalPaid', leg: 0, amount }],
  CANCELLED: (amount) => [{ kind: 'reversalKept', leg: 0, amount }],
}

/**
 * Part of the door's statement: `winners` has account_id, sale_id, reversal_id, reversal_number, txid, end_to_end,
 * original_amount, amount, reason, event_at and effect.
 */
export const addReversalsCte = (winners: string): string => `
  insert into reversal (account_id, id, number, sale_id, txid, end_to_end, original_amount_cents, amount_cents, reason, created_at)
  select account_id, reversal_id, reversal_number, sale_id, txid, end_to_end, original_amount, amount, reason, event_at
  from ${winners} where effect = 'reverse'
  returning id`

const eventOf: Record<ReversalState, EventName> = {
  PENDING: 'REVERSAL_CREATE',
  PAID: 'REVERSAL_PAID',
  CANCELLED: 'REVERSAL_CANCEL',
}

type TellableReversal = Pick<Reversal, 'accountId' | 'id' | 'number' | 'amount' | 'reason' | 'state' | 'createdAt'>

/** Told when the reversal is made and when it ends. A reversal of money for no known sale is the operator's alone. */
export const reversalNews = (
  reversal: TellableReversal,
  sale: Pick<Sale, 'id' | 'number' | 'amount' | 'shopper'>,
  at: Instant,
): News => ({
  accountId: reversal.accountId,
  event: eventOf[reversal.state],
  resourceId: sale.id,
  alsoId: reversal.id,
  callbackUrl: null,
  at,
  body: () => ({
    id: reversal.number,
    uuid: reversal.id,
    currency: 'BRL',
    originalAmount: centsToWire(sale.amount),
    reversedAmount: centsToWire(reversal.amount),
    status: reversal.state,
    bankDetails: bankDetailsOf(sale),
    sale: { id: sale.number, uuid: sale.id },
    creation: wireTimestamp(reversal.createdAt),
    receipt: null,
    reason: reversal.reason,
    date: wireTimestamp(at),
  }),
})

type Row = {
  account_id: number
  id: string
  number: number
  sale_id: string | null
  end_to_end: string
  original_amount_cents: number | null
  amount_cents: number
  reason: PaymentMisfit
  state: ReversalState
  created_at: Instant
  closed_at: Instant | null
}

const columns =
  'account_id, id, number, sale_id, end_to_end, original_amount_cents, amount_cents, reason, state, created_at, closed_at'

const fromRow = (row: Row): Reversal => ({
  accountId: row.account_id as AccountId,
  id: row.id as ReversalId,
  number: row.number as NumberId,
  saleId: row.sale_id as SaleId | null,
  endToEnd: row.end_to_end as EndToEndId,
  originalAmount: row.original_amount_cents as Cents | null,
  amount: row.amount_cents as Cents,
  reason: row.reason,
  state: row.state,
  createdAt: row.created_at,
  closedAt: row.closed_at,
})

const findSql = statement<Row>('reversal_find', `select ${columns} from reversal where account_id = $1 and id = $2`)
const lockSql = statement<Row>(
  'reversal_lock',
  `select ${columns} from reversal where account_id = $1 and id = $2 for no key update`,
)

export async function findReversal(db: Queryable, accountId: AccountId, id: ReversalId): Promise<Reversal | undefined> {
  const [row] = await db.query(findSql, [accountId, id])
  return row && fromRow(row)
}

const ofSaleSql = statement<Row>(
  'reversals_of_sale',
  `select ${columns} from reversal where account_id = $1 and sale_id = $2 order by id`,
)

/** The payments that a sale could not take, oldest first. */
export async function findReversalsOf(db: Queryable, accountId: AccountId, saleId: SaleId): Promise<Reversal[]> {
  return (await db.query(ofSaleSql, [accountId, saleId])).map(fromRow)
}

export async function lockReversal(
  tx: Transaction,
  accountId: AccountId,
  id: ReversalId,
): Promise<Reversal | undefined> {
  const [row] = await tx.query(lockSql, [accountId, id])
  return row && fromRow(row)
}

const closeSql = statement(
  'reversal_close',
  `update reversal set state = $3, closed_at = $4 where account_id = $1 and id = $2 and state = 'PENDING'`,
)

export async function closeReversal(
  tx: Transaction,
  { accountId, id }: Reversal,
  to: ReversalState,
  at: Instant,
): Promise<void> {
  await tx.query(closeSql, [accountId, id, to, sqlTime(at)])
}

export type ReversalQuery = {
  readonly accountId: AccountId
  readonly from?: Instant | undefined
  readonly before?: Instant | undefined
  readonly state?: ReversalState | undefined
  readonly offset: number
  readonly limit: number
}

const filters = `account_id = $1 and ($2::timestamptz is null or created_at >= $2) and ($3::timestamptz is null or created_at < $3)
  and ($4::text is null or state = $4)`
const countSql = statement<{ total: number }>(
  'reversal_count',
  `select count(*) as total from reversal where ${filters}`,
)
const listSql = statement<Row>(
  'reversal_list',
  `select ${columns} from reversal where ${filters} order by account_id desc, id desc offset $5 limit $6`,
)

/** Newest first. */
export async function findReversals(db: Queryable, query: ReversalQuery) {
  const { accountId, from, before, state, offset, limit } = query
  const time = (at: Instant | undefined) => (at === undefined ? null : sqlTime(at))
  const values = [accountId, time(from), time(before), state ?? null]
  const [[count], rows] = await Promise.all([db.query(countSql, values), db.query(listSql, [...values, offset, limit])])
  return { total: count!.total, reversals: rows.map(fromRow) }
}

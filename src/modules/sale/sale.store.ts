import { HOUR_MS, type Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, ChargeId, EndToEndId, MandateId, NumberId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { type Leg, legsOfSql, type Settlement } from '../split/index.ts'
import type { Sale, SaleMove, SaleState, Shopper } from './sale.ts'

export type SaleRow = {
  account_id: number
  id: string
  number: number
  amount_cents: number
  fee_cents: number
  created_at: Instant
  expires_at: Instant
  paid_at: Instant | null
  renewals: number
  state: SaleState
  end_to_end: string | null
  reference_code: string
  callback_url: string | null
  shopper: string
  legs: number
  split_cents: number
  refunded_cents: number
  parent_id: string | null
  settlement: Settlement | null
  mandate_id: string | null
  charge_id: string | null
}

export const saleColumns = [
  'account_id',
  'id',
  'number',
  'amount_cents',
  'fee_cents',
  'created_at',
  'expires_at',
  'paid_at',
  'renewals',
  'state',
  'end_to_end',
  'reference_code',
  'callback_url',
  'shopper',
  'legs',
  'split_cents',
  'refunded_cents',
  'parent_id',
  'settlement',
  'mandate_id',
  'charge_id',
] as const

export const saleFromRow = (row: SaleRow): Sale => ({
  accountId: row.account_id as AccountId,
  id: row.id as SaleId,
  number: row.number as NumberId,
  amount: row.amount_cents as Cents,
  fee: row.fee_cents as Cents,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  paidAt: row.paid_at,
  renewals: row.renewals,
  state: row.state,
  endToEnd: row.end_to_end as EndToEndId | null,
  referenceCode: row.reference_code,
  callbackUrl: row.callback_url,
  shopper: JSON.parse(row.shopper) as Shopper,
  legs: row.legs,
  splitTotal: row.split_cents as Cents,
  refunded: row.refunded_cents as Cents,
  parentId: row.parent_id as SaleId | null,
  settlement: row.settlement,
  mandateId: row.mandate_id as MandateId | null,
  chargeId: row.charge_id as ChargeId | null,
})

const findSql = statement<SaleRow>(
  'sale_find',
  `select ${saleColumns.join(', ')} from sale where account_id = $1 and id = $2`,
)

export async function findSale(db: Queryable, accountId: AccountId, id: SaleId): Promise<Sale | undefined> {
  const [row] = await db.query(findSql, [accountId, id])
  return row && saleFromRow(row)
}

const lockSql = statement<SaleRow>(
  'sale_lock',
  `select ${saleColumns.join(', ')} from sale where account_id = $1 and id = $2 and parent_id is null for no key update`,
)

/** A recipient-side transaction is moved with its parent only, so it is not found here. */
export async function lockSale(tx: Transaction, accountId: AccountId, id: SaleId): Promise<Sale | undefined> {
  const [row] = await tx.query(lockSql, [accountId, id])
  return row && saleFromRow(row)
}

type PayableRow = Pick<
  SaleRow,
  | 'account_id'
  | 'id'
  | 'number'
  | 'amount_cents'
  | 'fee_cents'
  | 'created_at'
  | 'expires_at'
  | 'renewals'
  | 'state'
  | 'reference_code'
  | 'callback_url'
  | 'shopper'
  | 'legs'
  | 'split_cents'
  | 'mandate_id'
>
export type PayableSaleRecord = Omit<Sale, 'paidAt' | 'endToEnd' | 'refunded' | 'parentId' | 'settlement' | 'chargeId'>

const payableText = `
   select s.account_id, s.id, s.number, s.amount_cents, s.fee_cents, s.created_at, s.expires_at, s.renewals, s.state,
     s.reference_code, s.callback_url, s.shopper, s.legs, s.split_cents, s.mandate_id
   from unnest($1::bigint[], $2::uuid[]) as i(account_id, id)
   cross join lateral (select * from sale where account_id = i.account_id and id = i.id offset 0) s`
const findPayableSql = statement<PayableRow>(
  'sale_find_payable',
  `${payableText} where s.parent_id is null and s.charge_id is null`,
)
const findChargeSalesSql = statement<PayableRow>('sale_find_of_charges', `${payableText} where s.charge_id is not null`)

type SaleKey = { readonly accountId: AccountId; readonly saleId: SaleId }

/** What a batch of payments needs to know of the sales it names. */
export const findPayableSales = (db: Queryable, keys: readonly SaleKey[]) => findRecords(db, findPayableSql, keys)

/** The same of the sales that are charges of a recurrence: those are paid under their charge's name only. */
export const findChargeSales = (db: Queryable, keys: readonly SaleKey[]) => findRecords(db, findChargeSalesSql, keys)

async function findRecords(db: Queryable, asked: typeof findPayableSql, keys: readonly SaleKey[]) {
  const rows = await db.query(asked, [keys.map((key) => key.accountId), keys.map((key) => key.saleId)])
  return rows.map(
    (row): PayableSaleRecord => ({
      accountId: row.account_id as AccountId,
      id: row.id as SaleId,
      number: row.number as NumberId,
      amount: row.amount_cents as Cents,
      fee: row.fee_cents as Cents,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      renewals: row.renewals,
      state: row.state,
      referenceCode: row.reference_code,
      callbackUrl: row.callback_url,
      shopper: JSON.parse(row.shopper) as Shopper,
      legs: row.legs,
      splitTotal: row.split_cents as Cents,
      mandateId: row.mandate_id as MandateId | null,
    }),
  )
}

/** What a payment needs to know of the sale it names. */
export type SaleHead = Pick<Sale, 'accountId' | 'id' | 'amount' | 'renewals' | 'state' | 'parentId' | 'chargeId'>

const headsSql = statement<
  Pick<SaleRow, 'account_id' | 'id' | 'amount_cents' | 'renewals' | 'state' | 'parent_id' | 'charge_id'>
>(
  'sale_heads',
  `select s.account_id, s.id, s.amount_cents, s.renewals, s.state, s.parent_id, s.charge_id
   from unnest($1::bigint[], $2::uuid[]) as k(account_id, id) join sale s using (account_id, id)`,
)

export async function findSaleHeads(db: Queryable, keys: readonly SaleKey[]): Promise<SaleHead[]> {
  if (keys.length === 0) return []
  const rows = await db.query(headsSql, [keys.map((key) => key.accountId), keys.map((key) => key.saleId)])
  return rows.map((row) => ({
    accountId: row.account_id as AccountId,
    id: row.id as SaleId,
    amount: row.amount_cents as Cents,
    renewals: row.renewals,
    state: row.state,
    parentId: row.parent_id as SaleId | null,
    chargeId: row.charge_id as ChargeId | null,
  }))
}

/** Which counter a state is kept in. */
const counter: Record<SaleState, string> = { PENDING: 'pending', PAID: 'paid', CANCELLED: 'cancelled' }

/** The hour that a sale is counted in. */
export const hourSql = (createdAt: string): string =>
  `floor(extract(epoch from ${createdAt}) / ${HOUR_MS / 1000})::integer`

/**
 * Parts of a statement that moves sales: `family` is each sale with its recipient-side transactions, and the hours that
 * count them are locked in order, whoever's they are, so that two moves never wait for each other crosswise.
 */
export const familyCtes = (sales: string): string => `
  family as materialized (
    select account_id, id from ${sales}
    union all
    ${legsOfSql(sales)}
  ), locked_hours as materialized (
    select h.account_id from sale_hour h
    where (h.account_id, h.hour) in (select s.account_id, ${hourSql('s.created_at')} from family f join sale s using (account_id, id))
    order by h.account_id, h.hour for no key update
  )`

export const countMovedCte = (moved: string, from: SaleState, to: SaleState): string => `
  update sale_hour h set ${counter[from]} = h.${counter[from]} - c.n, ${counter[to]} = h.${counter[to]} + c.n
  from (select account_id, ${hourSql('created_at')} as hour, count(*) as n from ${moved} group by 1, 2) c
  where h.account_id = c.account_id and h.hour = c.hour
  returning h.account_id`

const moveSql = (from: SaleState, to: SaleState) =>
  statement<{ id: string }>(
    `sale_move_${from}_${to}`,
    `with parent as materialized (
       select account_id, id, legs from sale where account_id = $1 and id = $2 and state = '${from}'
     ), ${familyCtes('parent')}, moved as (
       update sale s set state = '${to}', renewals = coalesce($3, s.renewals), expires_at = s.expires_at + $4::float8 * interval '1 ms'
       from family f
       where (select count(*) from locked_hours) > 0 and s.account_id = f.account_id and s.id = f.id and s.state = '${from}'
       returning s.account_id, s.id, s.created_at
     ), counted as (${countMovedCte('moved', from, to)}
     )
     select id from moved where account_id = $1 and id = $2`,
  )
const moveStatements = {
  'PENDING CANCELLED': moveSql('PENDING', 'CANCELLED'),
  'CANCELLED PENDING': moveSql('CANCELLED', 'PENDING'),
}

export type SaleRenewal = { readonly renewals: number; readonly expiresAt: Instant }

/** The sale and its legs, in one statement; the `where` repeats the `from` of the move, so a lost race cannot pass unseen. */
export async function moveSale(
  db: Queryable,
  sale: Sale,
  [from, , to]: SaleMove,
  renewal?: SaleRenewal,
): Promise<boolean> {
  const asked = moveStatements[`${from} ${to}` as keyof typeof moveStatements]
  const later = renewal ? renewal.expiresAt - sale.expiresAt : 0
  return (await db.query(asked, [sale.accountId, sale.id, renewal?.renewals ?? null, later])).length === 1
}

const settlementsSql = statement<{ id: string; settlement: Settlement }>(
  'sale_settlements',
  `select s.id, s.settlement from unnest($1::bigint[], $2::uuid[]) k(account_id, id) join sale s using (account_id, id)`,
)

/** How far each leg has come, by its recipient-side transaction. */
export async function findSettlements(db: Queryable, legs: readonly Leg[]): Promise<Map<SaleId, Settlement>> {
  const rows = await db.query(settlementsSql, [
    legs.map((leg) => leg.recipientId),
    legs.map((leg) => leg.transactionId),
  ])
  return new Map(rows.map((row) => [row.id as SaleId, row.settlement]))
}

const lockAnySql = statement<SaleRow>(
  'sale_lock_any',
  `select ${saleColumns.join(', ')} from sale where account_id = $1 and id = $2 for no key update`,
)

/** Also a recipient-side transaction: whoever asks says why it will not do. */
export async function lockAnySale(tx: Transaction, accountId: AccountId, id: SaleId): Promise<Sale | undefined> {
  const [row] = await tx.query(lockAnySql, [accountId, id])
  return row && saleFromRow(row)
}

const refundSql = statement<{ turns: number }>(
  'sale_refund',
  `update sale set refunded_cents = refunded_cents + $3, turns = turns + $4 where account_id = $1 and id = $2 returning turns`,
)

/** A locked sale's refunds change by so much; with news of it, the sale's next turn is taken too. */
export async function changeRefunded(
  tx: Transaction,
  { accountId, id }: Pick<Sale, 'accountId' | 'id'>,
  by: number,
  { news }: { news: boolean },
): Promise<number> {
  const [row] = await tx.query(refundSql, [accountId, id, by, news ? 1 : 0])
  return row!.turns
}

const shareExpiriesSql = statement(
  'sale_share_expiries',
  `update sale s set expires_at = to_timestamp(i.expires_ms / 1000::float8)
   from unnest($1::bigint[], $2::uuid[], $3::float8[]) i(account_id, id, expires_ms)
   where s.account_id = i.account_id and s.id = i.id`,
)

/** When the recipient-side transactions of a renewed sale end, as their accounts see it. */
export async function setShareExpiries(
  tx: Transaction,
  legs: readonly Leg[],
  endOf: (leg: Leg) => Instant,
): Promise<void> {
  if (legs.length === 0) return
  await tx.query(shareExpiriesSql, [
    legs.map((leg) => leg.recipientId),
    legs.map((leg) => leg.transactionId),
    legs.map(endOf),
  ])
}

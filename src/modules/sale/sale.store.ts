import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, EndToEndId, NumberId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
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
  `select ${saleColumns.join(', ')} from sale where account_id = $1 and id = $2 for no key update`,
)

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
>
export type PayableSaleRecord = Omit<Sale, 'paidAt' | 'endToEnd'>

const findPayableSql = statement<PayableRow>(
  'sale_find_payable',
  `select s.account_id, s.id, s.number, s.amount_cents, s.fee_cents, s.created_at, s.expires_at, s.renewals, s.state,
     s.reference_code, s.callback_url, s.shopper
   from unnest($1::bigint[], $2::uuid[]) as i(account_id, id) join sale s using (account_id, id)`,
)

/** What a batch of payments needs to know of the sales it names. */
export async function findPayableSales(db: Queryable, keys: readonly { accountId: AccountId; saleId: SaleId }[]) {
  const rows = await db.query(findPayableSql, [keys.map((key) => key.accountId), keys.map((key) => key.saleId)])
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
    }),
  )
}

/** Which counter a state is kept in. */
const counter: Record<SaleState, string> = { PENDING: 'pending', PAID: 'paid', CANCELLED: 'cancelled' }

const moveSql = (from: SaleState, to: SaleState) =>
  statement<{ id: string }>(
    `sale_move_${from}_${to}`,
    `with moved as (
       update sale set state = '${to}', renewals = coalesce($3, renewals), expires_at = coalesce($4, expires_at)
       where account_id = $1 and id = $2 and state = '${from}' returning id
     ), counted as (
       update sale_hour set ${counter[from]} = ${counter[from]} - 1, ${counter[to]} = ${counter[to]} + 1
       where account_id = $1 and hour = $5 and exists (select 1 from moved) returning hour
     )
     select id from moved`,
  )
const moveStatements = {
  'PENDING CANCELLED': moveSql('PENDING', 'CANCELLED'),
  'CANCELLED PENDING': moveSql('CANCELLED', 'PENDING'),
}

export type SaleRenewal = { readonly renewals: number; readonly expiresAt: Instant }

/** One guarded update: the `where` repeats the `from` of the move, so a lost race cannot pass unseen. */
export async function moveSale(
  db: Queryable,
  sale: Sale,
  [from, , to]: SaleMove,
  hour: number,
  renewal?: SaleRenewal,
): Promise<boolean> {
  const asked = moveStatements[`${from} ${to}` as keyof typeof moveStatements]
  const rows = await db.query(asked, [
    sale.accountId,
    sale.id,
    renewal?.renewals ?? null,
    renewal ? sqlTime(renewal.expiresAt) : null,
    hour,
  ])
  return rows.length === 1
}

import { hourOf, type Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, NumberId, RefundId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { Refund, RefundState } from './refund.ts'

export type RefundRow = {
  account_id: number
  id: string
  number: number
  sale_id: string
  amount_cents: number
  reason: string | null
  callback_url: string | null
  state: RefundState
  created_at: Instant
  closed_at: Instant | null
}

const columns = 'account_id, id, number, sale_id, amount_cents, reason, callback_url, state, created_at, closed_at'

export const refundFromRow = (row: RefundRow): Refund => ({
  accountId: row.account_id as AccountId,
  id: row.id as RefundId,
  number: row.number as NumberId,
  saleId: row.sale_id as SaleId,
  amount: row.amount_cents as Cents,
  reason: row.reason,
  callbackUrl: row.callback_url,
  state: row.state,
  createdAt: row.created_at,
  closedAt: row.closed_at,
})

const insertSql = statement(
  'refund_insert',
  `with counted as (
     insert into refund_hour as h (account_id, hour, pending, paid, cancelled, processed) values ($1, $9, 1, 0, 0, 0)
     on conflict (account_id, hour) do update set pending = h.pending + 1
   )
   insert into refund (account_id, id, number, sale_id, amount_cents, reason, callback_url, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
)

export async function insertRefund(tx: Transaction, refund: Refund): Promise<void> {
  await tx.query(insertSql, [
    refund.accountId,
    refund.id,
    refund.number,
    refund.saleId,
    refund.amount,
    refund.reason,
    refund.callbackUrl,
    sqlTime(refund.createdAt),
    hourOf(refund.createdAt),
  ])
}

const findSql = statement<RefundRow>('refund_find', `select ${columns} from refund where account_id = $1 and id = $2`)
const lockSql = statement<RefundRow>(
  'refund_lock',
  `select ${columns} from refund where account_id = $1 and id = $2 for no key update`,
)

export async function findRefund(db: Queryable, accountId: AccountId, id: RefundId): Promise<Refund | undefined> {
  const [row] = await db.query(findSql, [accountId, id])
  return row && refundFromRow(row)
}

export async function lockRefund(tx: Transaction, accountId: AccountId, id: RefundId): Promise<Refund | undefined> {
  const [row] = await tx.query(lockSql, [accountId, id])
  return row && refundFromRow(row)
}

const closeSql = (to: RefundState) =>
  statement<{ id: string }>(
    `refund_close_${to}`,
    `with closed as (
       update refund set state = '${to}', closed_at = $3 where account_id = $1 and id = $2 and state = 'PENDING' returning id
     ), counted as (
       insert into refund_hour as h (account_id, hour, pending, paid, cancelled, processed)
       select $1, hour, sum(pending)::bigint, sum(paid)::bigint, sum(cancelled)::bigint, sum(processed)::bigint from (
         values ($4::integer, -1, ${to === 'PAID' ? '1, 0' : '0, 1'}, 0), ($5::integer, 0, 0, 0, ${to === 'PAID' ? 1 : 0})
       ) c(hour, pending, paid, cancelled, processed)
       where exists (select 1 from closed) group by hour order by hour
       on conflict (account_id, hour) do update set pending = h.pending + excluded.pending, paid = h.paid + excluded.paid,
         cancelled = h.cancelled + excluded.cancelled, processed = h.processed + excluded.processed
     )
     select id from closed`,
  )
const closeStatements = { PAID: closeSql('PAID'), CANCELLED: closeSql('CANCELLED') }

/** The guard repeats the state; false when it was not open any more. */
export async function closeRefund(
  tx: Transaction,
  refund: Refund,
  to: 'PAID' | 'CANCELLED',
  at: Instant,
): Promise<boolean> {
  const hours = [hourOf(refund.createdAt), hourOf(at)]
  return (await tx.query(closeStatements[to], [refund.accountId, refund.id, sqlTime(at), ...hours])).length === 1
}

const ofSalesSql = statement<RefundRow>(
  'refunds_of_sales',
  `select ${columns} from refund where account_id = $1 and sale_id = any($2::uuid[]) order by sale_id, id`,
)

/** The refunds of some sales, oldest first. */
export async function findRefundsOf(
  db: Queryable,
  accountId: AccountId,
  saleIds: readonly SaleId[],
): Promise<Map<SaleId, Refund[]>> {
  const found = new Map<SaleId, Refund[]>()
  if (saleIds.length === 0) return found
  for (const row of await db.query(ofSalesSql, [accountId, saleIds])) {
    const refund = refundFromRow(row)
    const known = found.get(refund.saleId)
    if (known) known.push(refund)
    else found.set(refund.saleId, [refund])
  }
  return found
}

const byIdsSql = statement<RefundRow>(
  'refund_by_ids',
  `select ${columns} from unnest($2::uuid[]) as w(wanted) join refund on account_id = $1 and id = wanted`,
)

export async function findRefundsById(db: Queryable, accountId: AccountId, ids: readonly string[]): Promise<Refund[]> {
  return ids.length === 0 ? [] : (await db.query(byIdsSql, [accountId, ids])).map(refundFromRow)
}

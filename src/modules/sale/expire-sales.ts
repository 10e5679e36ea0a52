import { HOUR_MS, type Instant, MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'

/** Overlap of two sweeps: a sale is committed at most this long after its expiry was computed. */
const OVERLAP_MS = 10 * MINUTE_MS

const cancelCtes = `
  cancelled as (
    update sale s set state = 'CANCELLED' from due d
    where s.account_id = d.account_id and s.id = d.id and s.state = 'PENDING'
    returning s.account_id, s.created_at
  ), counted as (
    update sale_hour h set pending = h.pending - c.n, cancelled = h.cancelled + c.n
    from (
      select account_id, floor(extract(epoch from created_at) / ${HOUR_MS / 1000})::integer as hour, count(*) as n
      from cancelled group by 1, 2
    ) c
    where h.account_id = c.account_id and h.hour = c.hour
    returning h.account_id
  )`

const sweepSql = statement<{ found: number; cancelled: number }>(
  'sale_expire_sweep',
  `with due as materialized (
     select account_id, id from sale
     where expires_at > $1 and expires_at < $2 and state = 'PENDING'
     order by expires_at limit $3 for no key update skip locked
   ), locked_hours as materialized (
     select h.account_id from sale_hour h
     where (h.account_id, h.hour) in (
       select d.account_id, floor(extract(epoch from s.created_at) / ${HOUR_MS / 1000})::integer
       from due d join sale s using (account_id, id))
     order by h.account_id, h.hour for no key update
   ), ${cancelCtes}
   select (select count(*) from due) as found, (select count(*) from cancelled) as cancelled
   from (select count(*) from locked_hours) locked`,
)

const watermarkSql = statement<{ swept_to: Instant }>(
  'sale_expiry_watermark',
  'select swept_to from sale_expiry_watermark',
)
const advanceSql = statement(
  'sale_expiry_advance',
  'update sale_expiry_watermark set swept_to = $1 where swept_to < $1',
)

/**
 * Cancels what has expired by real time. No row is kept for it: the index on the expiry and a watermark tell what to
 * look at, and rows that somebody else holds are left for the next sweep, inside the overlap.
 */
export async function expireSales(db: Queryable, now: Instant, limit: number): Promise<number> {
  const [mark] = await db.query(watermarkSql)
  const from = plusMs(mark!.swept_to, -OVERLAP_MS)
  const [result] = await db.query(sweepSql, [sqlTime(from), sqlTime(now), limit])
  if (result!.found < limit) await db.query(advanceSql, [sqlTime(plusMs(now, -1))])
  return result!.cancelled
}

const dueOfAccountSql = statement<{ id: string; expires_at: Instant }>(
  'sale_due_of_account',
  `select s.id, s.expires_at from sale_hour h
   cross join lateral (
     select id, expires_at from sale
     where account_id = $1 and state = 'PENDING' and expires_at < $2
       and created_at >= to_timestamp(h.hour::bigint * 3600) and created_at < to_timestamp((h.hour::bigint + 1) * 3600)
       and id >= (lpad(to_hex(h.hour::bigint * 3600000), 12, '0') || rpad('', 20, '0'))::uuid
       and id < (lpad(to_hex((h.hour::bigint + 1) * 3600000), 12, '0') || rpad('', 20, '0'))::uuid
   ) s
   where h.account_id = $1 and h.pending > 0
   order by s.expires_at, s.id limit 1`,
)

export type DueSale = { readonly saleId: SaleId; readonly dueAt: Instant }

/** The next sale of an account that expires before an instant of its own clock. */
export async function findNextExpiry(
  db: Queryable,
  accountId: AccountId,
  before: Instant,
): Promise<DueSale | undefined> {
  const [row] = await db.query(dueOfAccountSql, [accountId, sqlTime(before)])
  return row && { saleId: row.id as SaleId, dueAt: row.expires_at }
}

const expireOneSql = statement<{ n: number }>(
  'sale_expire_one',
  `with due as materialized (
     select account_id, id from sale where account_id = $1 and id = $2 and state = 'PENDING' for no key update
   ), ${cancelCtes}
   select count(*) as n from cancelled`,
)

export async function expireSale(tx: Transaction, accountId: AccountId, saleId: SaleId): Promise<boolean> {
  return (await tx.query(expireOneSql, [accountId, saleId]))[0]!.n === 1
}

import { HOUR_MS, type Instant, plusMs } from '../../kernel/calendar.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'

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

type SweepRow = { found: number; cancelled: number; last_expiry: Instant | null; first_missed: Instant | null }

const sweepSql = statement<SweepRow>(
  'sale_expire_sweep',
  `with candidates as materialized (
     select account_id, id, expires_at from sale
     where expires_at > $1 and expires_at < $2 and state = 'PENDING'
     order by expires_at limit $3
   ), due as materialized (
     select s.account_id, s.id from sale s join candidates c using (account_id, id)
     where s.state = 'PENDING' order by s.account_id, s.id for no key update of s skip locked
   ), locked_hours as materialized (
     select h.account_id from sale_hour h
     where (h.account_id, h.hour) in (
       select d.account_id, floor(extract(epoch from s.created_at) / ${HOUR_MS / 1000})::integer
       from due d join sale s using (account_id, id))
     order by h.account_id, h.hour for no key update
   ), ${cancelCtes}
   select (select count(*) from candidates) as found, (select count(*) from cancelled) as cancelled,
     (select max(expires_at) from candidates) as last_expiry,
     (select min(c.expires_at) from candidates c
       where not exists (select 1 from due d where d.account_id = c.account_id and d.id = c.id)) as first_missed
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

export type ExpirySweep = {
  readonly cancelled: number
  /** More may be due: the batch was full. */
  readonly full: boolean
}

/**
 * Cancels what has expired by real time. No row is kept for it: the index on the expiry and a watermark tell what to
 * look at, so every expiry is looked at once. A sale that somebody else holds is left, and the watermark before it. A
 * charge lives for a minute at least, so none is committed behind the watermark.
 */
export async function expireSales(db: Queryable, now: Instant, limit: number): Promise<ExpirySweep> {
  const [mark] = await db.query(watermarkSql)
  const [swept] = await db.query(sweepSql, [sqlTime(mark!.swept_to), sqlTime(now), limit])
  const { found, cancelled, last_expiry, first_missed } = swept!
  const full = found === limit
  await db.query(advanceSql, [sqlTime(plusMs(first_missed ?? (full ? last_expiry! : now), -1))])
  return { cancelled, full }
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

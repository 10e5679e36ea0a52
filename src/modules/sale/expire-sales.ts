import { type Instant, MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { countMovedCte, familyCtes } from './sale.store.ts'

// The expiry was looked at again under the lock on `due`: a sale that was renewed meanwhile lives on. What it shares goes with it.
const cancelCtes = `
  ${familyCtes('due')}, cancelled as (
    update sale s set state = 'CANCELLED' from family f
    where (select count(*) from locked_hours) > 0 and s.account_id = f.account_id and s.id = f.id and s.state = 'PENDING'
    returning s.account_id, s.created_at, s.parent_id
  ), counted as (${countMovedCte('cancelled', 'PENDING', 'CANCELLED')}
  )`
const cancelledCount = '(select count(*) from cancelled where parent_id is null)'

/** How many expiries one statement looks at, whatever became of their sales. */
const SLICE = 20_000
/** A checkout whose outcome was unknown may be committed this long after its expiry was computed. */
const LATE_COMMIT_MS = 5 * MINUTE_MS

type SweepRow = {
  found: number
  cancelled: number
  last_expiry: Instant | null
  first_missed: Instant | null
  slice_end: Instant | null
}

const sweepSql = statement<SweepRow>(
  'sale_expire_sweep',
  `with slice as materialized (
     select expires_at as slice_end from sale
     where expires_at > $1 and expires_at < $2 and parent_id is null and charge_id is null order by expires_at offset ${SLICE} limit 1
   ), candidates as materialized (
     select account_id, id, expires_at from sale
     where expires_at > $1 and expires_at < $2 and expires_at <= coalesce((select slice_end from slice), $2) and state = 'PENDING'
       and parent_id is null and charge_id is null
     order by expires_at limit $3
   ), due as materialized (
     select s.account_id, s.id, s.legs from sale s join candidates c using (account_id, id)
     where s.state = 'PENDING' and s.expires_at < $2 order by s.account_id, s.id for no key update of s skip locked
   ), ${cancelCtes}
   select (select slice_end from slice) as slice_end, (select count(*) from candidates) as found, ${cancelledCount} as cancelled,
     (select max(expires_at) from candidates) as last_expiry,
     (select min(c.expires_at) from candidates c
       where not exists (select 1 from due d where d.account_id = c.account_id and d.id = c.id)) as first_missed`,
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
  /** More may be due: the batch or the slice was full. */
  readonly more: boolean
}

/**
 * Cancels what has expired by real time; a charge of a recurrence ends with its last attempt instead. No row is kept for it: the index on the expiry and a watermark tell what to
 * look at, so every expiry is looked at once. A sale that somebody else holds is left, and the watermark before it.
 */
export async function expireSales(db: Queryable, now: Instant, limit: number): Promise<ExpirySweep> {
  const [mark] = await db.query(watermarkSql)
  const { sweep, sweptTo } = await sweepBetween(db, mark!.swept_to, now, limit)
  await db.query(advanceSql, [sqlTime(sweptTo)])
  // No step ahead: whatever is left is held by others, and the next turn will find it free.
  return { ...sweep, more: sweep.more && sweptTo > mark!.swept_to }
}

/** Looks once more at what expired shortly before the watermark: a sale may have been committed behind it. */
export async function expireLateSales(db: Queryable, limit: number): Promise<number> {
  const [mark] = await db.query(watermarkSql)
  const end = mark!.swept_to
  let all = 0
  for (let from = plusMs(end, -LATE_COMMIT_MS); ; ) {
    const { sweep, sweptTo } = await sweepBetween(db, from, end, limit)
    all += sweep.cancelled
    if (!sweep.more || sweptTo <= from) return all
    from = sweptTo
  }
}

async function sweepBetween(db: Queryable, from: Instant, to: Instant, limit: number) {
  const [swept] = await db.query(sweepSql, [sqlTime(from), sqlTime(to), limit])
  const { found, cancelled, last_expiry, first_missed, slice_end } = swept!
  const full = found === limit
  // The slice's end itself is done; everything else is done up to the millisecond before.
  const sweptTo =
    !full && first_missed === null && slice_end !== null
      ? slice_end
      : plusMs(first_missed ?? (full ? last_expiry! : to), -1)
  return { sweep: { cancelled, more: full || slice_end !== null }, sweptTo }
}

const dueOfAccountSql = statement<{ id: string; expires_at: Instant }>(
  'sale_due_of_account',
  `select s.id, s.expires_at from sale_hour h
   cross join lateral (
     select id, expires_at from sale
     where account_id = $1 and state = 'PENDING' and expires_at < $2 and parent_id is null and charge_id is null
       and created_at >= to_timestamp(h.hour::bigint * 3600) and created_at < to_timestamp((h.hour::bigint + 1) * 3600)
       and id >= (lpad(to_hex(h.hour::bigint * 3600000), 12, '0') || rpad('', 20, '0'))::uuid
       and id < (lpad(to_hex((h.hour::bigint + 1) * 3600000), 12, '0') || rpad('', 20, '0'))::uuid
   ) s
   where h.account_id = $1 and h.pending > 0
   order by s.expires_at, s.id limit $3`,
)

export type DueSale = { readonly saleId: SaleId; readonly dueAt: Instant }

/** The next sales of an account that expire before an instant of its own clock, in order. */
export async function findNextExpiries(
  db: Queryable,
  accountId: AccountId,
  before: Instant,
  limit: number,
): Promise<DueSale[]> {
  const rows = await db.query(dueOfAccountSql, [accountId, sqlTime(before), limit])
  return rows.map((row) => ({ saleId: row.id as SaleId, dueAt: row.expires_at }))
}

const expireOneSql = statement<{ n: number }>(
  'sale_expire_one',
  `with due as materialized (
     select account_id, id, legs from sale
     where account_id = $1 and id = $2 and state = 'PENDING' and expires_at < $3 and parent_id is null and charge_id is null for no key update
   ), ${cancelCtes}
   select ${cancelledCount} as n`,
)

/** False when the sale is not due by that instant of its account's clock after all. */
export async function expireSale(
  tx: Transaction,
  { accountId, saleId, now }: { accountId: AccountId; saleId: SaleId; now: Instant },
): Promise<boolean> {
  return (await tx.query(expireOneSql, [accountId, saleId, sqlTime(now)]))[0]!.n === 1
}

import { hourOf, type Instant } from '../../kernel/calendar.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import {
  keysExpireBefore,
  type RequestKey,
  takeKeysCte,
  tryKeyLock,
} from '../../platform/idempotency/idempotency.store.ts'
import { termsHold, type VersionedTerms } from '../account/index.ts'
import { addLegsCte, type LegRow, legColumns, legRows } from '../split/index.ts'
import type { Sale } from './sale.ts'

/** A leg with its recipient-side transaction; its place in a batch is known when it is written. */
export type DraftLeg = Omit<LegRow, 'ord'>

export type SaleInsert = {
  readonly sale: Sale
  readonly legs: readonly DraftLeg[]
  /** The request's text beyond what a sale is made of. */
  readonly extra: string | null
  readonly uniqueReference: boolean
  readonly requestKey: RequestKey | null
  /** Stored under the key. */
  readonly answer: string
}

export type InsertOutcome = 'created' | 'keyTaken' | 'keyBusy' | 'referenceTaken' | 'later'

const common = `$1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::integer[], $8::bigint[],
       $9::text[], $10::text[], $11::text[], $12::text[]`
const commonNames = `account_id, id, number, amount, fee, created_ms, hour, expires_ms, reference_code, callback_url, shopper, extra`

/** Writes the sales of `admitted` and counts them; a sale that is there already is this very one, sent again. */
const writeSalesCtes = (admitted: string) => `
   created as (
     insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, reference_code, callback_url, shopper, extra)
     select ${saleValues} from ${admitted}
     on conflict (account_id, id) do nothing
     returning account_id, id
   ), counted as (${countCreatedCte(admitted)}
   )`

const saleValues = `account_id, id, number, amount, fee, to_timestamp(created_ms / 1000::float8), to_timestamp(expires_ms / 1000::float8),
       reference_code, callback_url, shopper::json, extra::json`

const countCreatedCte = (rows: string) => `
     insert into sale_hour as h (account_id, hour, pending, paid, cancelled, processed)
     select c.account_id, i.hour, count(*), 0, 0, 0 from created c join ${rows} i using (account_id, id)
     group by c.account_id, i.hour order by c.account_id, i.hour
     on conflict (account_id, hour) do update set pending = h.pending + excluded.pending
     returning account_id`

/** The same, with the legs and the recipient-side transactions: sales of other accounts, written and counted together. */
const writeSharedSalesCtes = (admitted: string, firstLegParameter: number) => `
   shared as materialized (
     select l.*, a.account_id, a.id as sale_id, a.shopper from ${legRows(firstLegParameter)} join ${admitted} a using (ord)
   ), totals as materialized (
     select ord, count(*) as legs, sum(leg_amount)::bigint as split_amount from shared group by ord
   ), every_sale as materialized (
     select ${commonNames}, coalesce(t.legs, 0) as legs, coalesce(t.split_amount, 0) as split_amount,
       null::bigint as parent_account_id, null::uuid as parent_id, null as settlement
     from ${admitted} left join totals t using (ord)
     union all
     select recipient_account_id, transaction_id, leg_number, leg_amount, 0, leg_created_ms, leg_hour, leg_expires_ms, sale_id::text, null, shopper, null,
       0, 0, account_id, sale_id, 'PENDING'
     from shared
   ), created as (
     insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, reference_code, callback_url, shopper, extra,
       legs, split_cents, parent_account_id, parent_id, settlement)
     select ${saleValues}, legs, split_amount, parent_account_id, parent_id, settlement from every_sale
     on conflict (account_id, id) do nothing
     returning account_id, id
   ), counted as (${countCreatedCte('every_sale')}
   ), legs_added as (
     ${addLegsCte('(select s.* from shared s join created c on c.account_id = s.account_id and c.id = s.sale_id) fresh')}
   )`

const hold = termsHold('$13::bigint[]', '$14::text[]')

/** The common case: no key and no unique reference, so nothing can be refused any more. */
const insertPlainSql = statement<{ hold: boolean }>(
  'sale_insert_plain_batch',
  `with terms as materialized (select ${hold} as hold), input as materialized (
     select * from unnest(${common}) as t(${commonNames}) where (select hold from terms)
   ), ${writeSalesCtes('input')}
   select hold from terms`,
)

// A reference that is free by this statement's snapshot is inserted plainly: when two batches race for one, the later
// one breaks on the key, is sent again, and then sees it taken. So a stored answer never promises a sale that is not.
// Of two items with one reference the second waits for the next batch: whether the first counts is not known before.
const guardedText = (writeCtes: string) =>
  `with input as materialized (
     select t.*, t.unique_reference and exists (
         select 1 from sale_reference r
         where r.account_id = t.account_id and r.reference_code = t.reference_code and r.sale_id <> t.id
       ) as reference_taken,
       t.unique_reference and row_number() over (partition by t.account_id, t.reference_code order by t.ord) > 1 as later,
       case when t.idem_key is null then true else ${tryKeyLock('t.idem_key', 't.account_id')} end as key_free
     from unnest(${common}, $15::boolean[], $16::text[], $17::bytea[], $18::bytea[])
       with ordinality as t(${commonNames}, unique_reference, idem_key, idem_hash, idem_answer, ord)
     where (select ${hold})
   ), free as materialized (
     select * from input where key_free and not later and not reference_taken
   ), keyed as (
     ${takeKeysCte('free', '$19::timestamptz', '$20::timestamptz')}
   ), admitted as materialized (
     select * from free f
     where idem_key is null or exists (select 1 from keyed k where k.account_id = f.account_id and k.key = f.idem_key)
   ), referenced as (
     insert into sale_reference (account_id, reference_code, sale_id)
     select account_id, reference_code, id from admitted a where unique_reference
       and not exists (select 1 from sale_reference r where r.account_id = a.account_id and r.reference_code = a.reference_code)
     order by account_id, reference_code
     returning account_id
   ), ${writeCtes}
   select i.ord, case
     when exists (select 1 from admitted a where a.ord = i.ord) then 'created'
     when not i.key_free then 'keyBusy'
     when i.later and not i.reference_taken then 'later'
     when i.idem_key is not null and (not i.reference_taken or exists (
       select 1 from idempotency_key k where k.account_id = i.account_id and k.key = i.idem_key and k.created_at > $20::timestamptz))
       then 'keyTaken'
     else 'referenceTaken' end as outcome
   from input i order by i.ord`

const insertGuardedSql = statement<{ ord: number; outcome: InsertOutcome }>(
  'sale_insert_batch',
  guardedText(writeSalesCtes('admitted')),
)
const insertSharedSql = statement<{ ord: number; outcome: InsertOutcome }>(
  'sale_insert_shared_batch',
  guardedText(writeSharedSalesCtes('admitted', 21)),
)

/** One outcome a sale, in order; or that terms have changed in between, and nothing was written. */
export async function insertSales(
  db: Queryable,
  inserts: readonly SaleInsert[],
  now: Instant,
  remembered: readonly VersionedTerms[],
): Promise<InsertOutcome[] | 'changed'> {
  const column = (of: (sale: Sale) => number | string | null) => inserts.map(({ sale }) => of(sale))
  const commonColumns = [
    column((sale) => sale.accountId),
    column((sale) => sale.id),
    column((sale) => sale.number),
    column((sale) => sale.amount),
    column((sale) => sale.fee),
    column((sale) => sale.createdAt),
    column((sale) => hourOf(sale.createdAt)),
    column((sale) => sale.expiresAt),
    column((sale) => sale.referenceCode),
    column((sale) => sale.callbackUrl),
    column((sale) => JSON.stringify(sale.shopper)),
    inserts.map(({ extra }) => extra),
    remembered.map(({ id }) => id),
    remembered.map(({ version }) => version),
  ]
  const legs = inserts.flatMap((insert, index) => insert.legs.map((leg): LegRow => ({ ...leg, ord: index + 1 })))
  const unguarded = inserts.every(({ requestKey, uniqueReference }) => requestKey === null && !uniqueReference)
  if (unguarded && legs.length === 0) {
    const [written] = await db.query(insertPlainSql, commonColumns)
    return written!.hold ? inserts.map(() => 'created') : 'changed'
  }
  const guarded = [
    ...commonColumns,
    inserts.map(({ uniqueReference }) => uniqueReference),
    inserts.map(({ requestKey }) => requestKey?.key ?? null),
    inserts.map(({ requestKey }) => requestKey?.requestHash ?? null),
    inserts.map(({ requestKey, answer }) => (requestKey ? Buffer.from(answer) : null)),
    sqlTime(now),
    sqlTime(keysExpireBefore(now)),
  ]
  const rows = await (legs.length === 0
    ? db.query(insertGuardedSql, guarded)
    : db.query(insertSharedSql, [...guarded, ...legColumns(legs)]))
  return rows.length === inserts.length ? rows.map((row) => row.outcome) : 'changed'
}

import { hourOf, type Instant } from '../../kernel/calendar.ts'
import type { AccountId, NumberId, SaleId } from '../../kernel/ids.ts'
import type { Fault } from '../../kernel/reader.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { plainArray, sqlTime, textArray } from '../../platform/database/sql-values.ts'
import {
  keysExpireBefore,
  type RequestKey,
  takeKeysCte,
  tryKeyLock,
} from '../../platform/idempotency/idempotency.store.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { ChargeToOpen, OpenedCharge, Rail } from '../../rail/rail.ts'
import { type AccountTerms, accountNow, feeFor, findAccountTerms } from '../account/index.ts'
import { type CheckoutRequest, checkoutFaults, duplicatedReference } from './checkout.ts'
import { currentTxid, expiryOf, type Sale } from './sale.ts'

export type CreateSale = {
  readonly accountId: AccountId
  readonly request: CheckoutRequest
  readonly requestKey: RequestKey | null
  /** The answer is made before the commit, because it is stored with its key in the same statement. */
  readonly render: (sale: Sale, charge: OpenedCharge) => string
  /** Decided once: a batch whose outcome is unknown is sent again with the same ids. */
  draft?: Draft
}

export type CreateSaleOutcome =
  | { readonly outcome: 'created'; readonly answer: string }
  | { readonly outcome: 'refused'; readonly faults: readonly Fault[] }
  /** The key is another request's, or this one's from before. */
  | { readonly outcome: 'keyTaken' }
  /** Another request with the key is under way: a batch does not wait for it. */
  | { readonly outcome: 'keyBusy' }

type Draft =
  | { readonly sale: Sale; readonly account: AccountTerms; readonly answer: string }
  | { readonly faults: readonly Fault[] }

export type CreateSalesContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly rail: Rail
}

/** Reads what the batch needs, decides each item, then writes the good ones in one statement. */
export async function createSales(
  context: CreateSalesContext,
  items: readonly CreateSale[],
): Promise<(CreateSaleOutcome | typeof DEFERRED)[]> {
  const now = context.clock.now()
  await draftAll(context, items, now)
  const good = items.filter((item) => item.draft !== undefined && 'sale' in item.draft)
  const outcomes = good.length === 0 ? [] : await insertSales(context.db, good, now)
  let next = 0
  return items.map((item) => {
    const draft = item.draft!
    return 'faults' in draft ? { outcome: 'refused', faults: draft.faults } : outcomeOf(outcomes[next++]!, draft.answer)
  })
}

function outcomeOf(outcome: InsertOutcome, answer: string): CreateSaleOutcome | typeof DEFERRED {
  if (outcome === 'created') return { outcome, answer }
  if (outcome === 'later') return DEFERRED
  return outcome === 'referenceTaken' ? { outcome: 'refused', faults: [duplicatedReference] } : { outcome }
}

async function draftAll({ db, ids, numbers, rail }: CreateSalesContext, items: readonly CreateSale[], now: Instant) {
  const undrafted = items.filter((item) => item.draft === undefined)
  if (undrafted.length === 0) return
  const [terms, freshNumbers] = await Promise.all([
    findAccountTerms(
      db,
      undrafted.map((item) => item.accountId),
    ),
    numbers.take(undrafted.length),
  ])
  const drafts = undrafted.map((item, index) =>
    draftSale(item, terms.get(item.accountId)!, { now, ids, number: freshNumbers[index] as NumberId }),
  )
  const charges = await rail.openCharges(drafts.filter(isSale).map(({ sale, account }) => chargeOf(sale, account)))
  let next = 0
  undrafted.forEach((item, index) => {
    const draft = drafts[index]!
    // Only whole drafts are kept: an item whose answer cannot be made fails, now and when it is tried alone.
    item.draft = isSale(draft) ? { ...draft, answer: item.render(draft.sale, charges[next++]!) } : draft
  })
}

type DraftSale = Extract<Draft, { sale: Sale }>
const isSale = <D extends object>(draft: D): draft is Extract<D, { sale: Sale }> => 'sale' in draft

function draftSale(
  { request, accountId }: CreateSale,
  account: AccountTerms,
  { now, ids, number }: { now: Instant; ids: RandomIds; number: NumberId },
): Omit<DraftSale, 'answer'> | { readonly faults: readonly Fault[] } {
  const faults = checkoutFaults(request, account)
  if (faults.length > 0) return { faults }
  const createdAt = accountNow(account, now)
  const sale: Sale = {
    accountId,
    id: ids.uuidAt(createdAt) as SaleId,
    number,
    amount: request.amount,
    fee: feeFor(request.amount, account.pixFee),
    createdAt,
    expiresAt: expiryOf(createdAt, request.maxAgeMinutes),
    paidAt: null,
    renewals: 0,
    state: 'PENDING',
    endToEnd: null,
    referenceCode: request.referenceCode,
    callbackUrl: request.callbackUrl,
    shopper: request.shopper,
  }
  return { sale, account }
}

export const chargeOf = (sale: Sale, account: Pick<AccountTerms, 'name' | 'city'>): ChargeToOpen => ({
  txid: currentTxid(sale),
  amount: sale.amount,
  expiresAt: sale.expiresAt,
  merchantName: account.name,
  merchantCity: account.city,
})

type InsertOutcome = 'created' | 'keyTaken' | 'keyBusy' | 'referenceTaken' | 'later'

const common = `$1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::integer[], $8::bigint[],
       $9::text[], $10::text[], $11::text[], $12::text[]`
const commonNames = `account_id, id, number, amount, fee, created_ms, hour, expires_ms, reference_code, callback_url, shopper, extra`

/** Writes the sales of `admitted` and counts them; a sale that is there already is this very one, sent again. */
const writeSalesCtes = (admitted: string) => `
   created as (
     insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, reference_code, callback_url, shopper, extra)
     select account_id, id, number, amount, fee, to_timestamp(created_ms / 1000::float8), to_timestamp(expires_ms / 1000::float8),
       reference_code, callback_url, shopper::json, extra::json
     from ${admitted}
     on conflict (account_id, id) do nothing
     returning account_id, id
   ), counted as (
     insert into sale_hour as h (account_id, hour, pending, paid, cancelled, processed)
     select c.account_id, i.hour, count(*), 0, 0, 0 from created c join ${admitted} i using (account_id, id)
     group by c.account_id, i.hour order by c.account_id, i.hour
     on conflict (account_id, hour) do update set pending = h.pending + excluded.pending
     returning account_id
   )`

/** The common case: no key and no unique reference, so nothing can be refused any more. */
const insertPlainSql = statement<{ n: number }>(
  'sale_insert_plain_batch',
  `with input as materialized (
     select * from unnest(${common}) as t(${commonNames})
   ), ${writeSalesCtes('input')}
   select count(*) as n from created`,
)

// A reference that is free by this statement's snapshot is inserted plainly: when two batches race for one, the later
// one breaks on the key, is sent again, and then sees it taken. So a stored answer never promises a sale that is not.
// Of two items with one reference the second waits for the next batch: whether the first counts is not known before.
const insertGuardedSql = statement<{ ord: number; outcome: InsertOutcome }>(
  'sale_insert_batch',
  `with input as materialized (
     select t.*, t.unique_reference and exists (
         select 1 from sale_reference r
         where r.account_id = t.account_id and r.reference_code = t.reference_code and r.sale_id <> t.id
       ) as reference_taken,
       t.unique_reference and row_number() over (partition by t.account_id, t.reference_code order by t.ord) > 1 as later,
       case when t.idem_key is null then true else ${tryKeyLock('t.idem_key', 't.account_id')} end as key_free
     from unnest(${common}, $13::boolean[], $14::text[], $15::bytea[], $16::bytea[])
       with ordinality as t(${commonNames}, unique_reference, idem_key, idem_hash, idem_answer, ord)
   ), free as materialized (
     select * from input where key_free and not later and not reference_taken
   ), keyed as (
     ${takeKeysCte('free', '$17::timestamptz', '$18::timestamptz')}
   ), admitted as materialized (
     select * from free f
     where idem_key is null or exists (select 1 from keyed k where k.account_id = f.account_id and k.key = f.idem_key)
   ), referenced as (
     insert into sale_reference (account_id, reference_code, sale_id)
     select account_id, reference_code, id from admitted a where unique_reference
       and not exists (select 1 from sale_reference r where r.account_id = a.account_id and r.reference_code = a.reference_code)
     order by account_id, reference_code
     returning account_id
   ), ${writeSalesCtes('admitted')}
   select i.ord, case
     when exists (select 1 from admitted a where a.ord = i.ord) then 'created'
     when not i.key_free then 'keyBusy'
     when i.later and not i.reference_taken then 'later'
     when i.idem_key is not null and (not i.reference_taken or exists (
       select 1 from idempotency_key k where k.account_id = i.account_id and k.key = i.idem_key and k.created_at > $18::timestamptz))
       then 'keyTaken'
     else 'referenceTaken' end as outcome
   from input i order by i.ord`,
)

/** One outcome an item, in order. */
async function insertSales(db: Queryable, items: readonly CreateSale[], now: Instant): Promise<InsertOutcome[]> {
  const drafts = items.map((item) => item.draft as DraftSale)
  const plain = (of: (sale: Sale) => number | string) => plainArray(drafts.map(({ sale }) => of(sale)))
  const texts = (of: (sale: Sale) => string | null) => textArray(drafts.map(({ sale }) => of(sale)))
  const commonColumns = [
    plain((sale) => sale.accountId),
    plain((sale) => sale.id),
    plain((sale) => sale.number),
    plain((sale) => sale.amount),
    plain((sale) => sale.fee),
    plain((sale) => sale.createdAt),
    plain((sale) => hourOf(sale.createdAt)),
    plain((sale) => sale.expiresAt),
    texts((sale) => sale.referenceCode),
    texts((sale) => sale.callbackUrl),
    texts((sale) => JSON.stringify(sale.shopper)),
    textArray(items.map((item) => item.request.extra)),
  ]
  if (items.every((item, index) => item.requestKey === null && !drafts[index]!.account.uniqueReferenceCode)) {
    await db.query(insertPlainSql, commonColumns)
    return items.map(() => 'created')
  }
  const rows = await db.query(insertGuardedSql, [
    ...commonColumns,
    plainArray(drafts.map(({ account }) => (account.uniqueReferenceCode ? 't' : 'f'))),
    textArray(items.map((item) => item.requestKey?.key ?? null)),
    items.map((item) => item.requestKey?.requestHash ?? null),
    items.map((item, index) => (item.requestKey ? Buffer.from(drafts[index]!.answer) : null)),
    sqlTime(now),
    sqlTime(keysExpireBefore(now)),
  ])
  return rows.map((row) => row.outcome)
}

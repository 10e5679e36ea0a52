import { hourOf, type Instant } from '../../kernel/calendar.ts'
import { cents } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid, NumberId, SaleId } from '../../kernel/ids.ts'
import type { Fault } from '../../kernel/reader.ts'
import { txidOf } from '../../kernel/txid.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import {
  keysExpireBefore,
  type RequestKey,
  takeKeysCte,
  tryKeyLock,
} from '../../platform/idempotency/idempotency.store.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { ChargeToOpen, OpenedCharge, Rail } from '../../rail/rail.ts'
import {
  type AccountTerms,
  accountNow,
  feeFor,
  findAccountTerms,
  findLinkedRecipients,
  type LinkedRecipient,
} from '../account/index.ts'
import {
  addLegsCte,
  type LegRow,
  legColumns,
  legRows,
  namedRecipients,
  type ResolvedLeg,
  resolveLegs,
  type SplitRequest,
  splitTotal,
  wholeFault,
} from '../split/index.ts'
import { type CheckoutRequest, duplicatedReference } from './checkout.ts'
import { currentTxid, expiryOf, type Sale } from './sale.ts'

export type CreateSale = {
  readonly accountId: AccountId
  readonly request: CheckoutRequest
  readonly requestKey: RequestKey | null
  /** The answer is made before the commit, because it is stored with its key in the same statement. */
  readonly render: (sale: Sale, charge: OpenedCharge, legs: readonly DraftLeg[]) => string
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

/** A leg with its recipient-side transaction; its place in a batch is known when it is written. */
export type DraftLeg = Omit<LegRow, 'ord'>

type Draft =
  | {
      readonly sale: Sale
      readonly account: AccountTerms
      readonly legs: readonly DraftLeg[]
      readonly answer: string
    }
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
  const [terms, findRecipient] = await Promise.all([
    findAccountTerms(
      db,
      undrafted.map((item) => item.accountId),
    ),
    readRecipients(db, undrafted),
  ])
  const decided = undrafted.map((item) => decide(item, terms.get(item.accountId)!, findRecipient))
  const needed = decided.reduce((count, one) => count + ('faults' in one ? 0 : 1 + one.legs.length), 0)
  const freshNumbers = (await numbers.take(needed)) as NumberId[]
  const make = { now, ids, nextNumber: () => freshNumbers.pop()! }
  const drafts = decided.map((one) => ('faults' in one ? one : draftSale(one, make)))
  const charges = await rail.openCharges(drafts.filter(isSale).map(({ sale, account }) => chargeOf(sale, account)))
  let next = 0
  undrafted.forEach((item, index) => {
    const draft = drafts[index]!
    // Only whole drafts are kept: an item whose answer cannot be made fails, now and when it is tried alone.
    item.draft = isSale(draft) ? { ...draft, answer: item.render(draft.sale, charges[next++]!, draft.legs) } : draft
  })
}

type FindRecipient = (parentId: AccountId, uuid: AccountUuid) => LinkedRecipient | undefined

/** One look-up for all the recipients that a batch names; none for the many sales that are not shared. */
async function readRecipients(db: Queryable, items: readonly CreateSale[]): Promise<FindRecipient> {
  const keys = items.flatMap(({ accountId, request }) =>
    request.split ? namedRecipients(request.split.split).map((uuid) => ({ parentId: accountId, uuid })) : [],
  )
  if (keys.length === 0) return () => undefined
  const linked = await findLinkedRecipients(db, keys)
  const byKey = new Map(linked.map((recipient) => [`${recipient.parentId} ${recipient.uuid}`, recipient]))
  return (parentId, uuid) => byKey.get(`${parentId} ${uuid}`)
}

type DraftSale = Extract<Draft, { sale: Sale }>
const isSale = <D extends object>(draft: D): draft is Extract<D, { sale: Sale }> => 'sale' in draft

type Decided = {
  readonly item: CreateSale
  readonly account: AccountTerms
  readonly fee: Sale['fee']
  readonly legs: readonly ResolvedLeg[]
}
type Refused = { readonly faults: readonly Fault[] }

/** What depends on the account: its fee, and who may share. */
function decide(item: CreateSale, account: AccountTerms, find: FindRecipient): Decided | Refused {
  const { amount, split } = item.request
  const fee = feeFor(amount, account.pixFee)
  if (split === null) return { item, account, fee, legs: [] }
  const broken = wholeFault(split, account)
  if (broken) return { faults: [broken] }
  const resolved = resolveLegs(split.split as NonNullable<SplitRequest['split']> as unknown[], {
    amount,
    fee,
    parent: account,
    find: (uuid) => find(account.id, uuid),
  })
  return resolved.ok ? { item, account, fee, legs: resolved.value } : { faults: resolved.refusal }
}

type Make = { readonly now: Instant; readonly ids: RandomIds; readonly nextNumber: () => NumberId }

function draftSale(
  { item, account, fee, legs: asked }: Decided,
  { now, ids, nextNumber }: Make,
): Omit<DraftSale, 'answer'> {
  const { request, accountId } = item
  const createdAt = accountNow(account, now)
  const sale: Sale = {
    accountId,
    id: ids.uuidAt(createdAt) as SaleId,
    number: nextNumber(),
    amount: request.amount,
    fee,
    createdAt,
    expiresAt: expiryOf(createdAt, request.maxAgeMinutes),
    paidAt: null,
    renewals: 0,
    state: 'PENDING',
    endToEnd: null,
    referenceCode: request.referenceCode,
    callbackUrl: request.callbackUrl,
    shopper: request.shopper,
    legs: asked.length,
    splitTotal: splitTotal(asked),
    refunded: cents(0),
    parentId: null,
    settlement: null,
    mandateId: null,
    chargeId: null,
  }
  const legs = asked.map(({ recipient, recipientUuid, amount, share, externalReference }, leg): DraftLeg => {
    // By the recipient's own clock: it is the recipient's transaction.
    const madeAt = accountNow(recipient, now)
    return {
      accountId,
      saleId: sale.id,
      leg,
      recipientId: recipient.id,
      recipientUuid,
      transactionId: ids.uuidAt(madeAt) as SaleId,
      amount,
      share,
      externalReference,
      number: nextNumber(),
      createdAt: madeAt,
      expiresAt: expiryOf(madeAt, request.maxAgeMinutes),
      hour: hourOf(madeAt),
    }
  })
  return { sale, account, legs }
}

/** The first payment of a mandate carries the mandate in its code. */
export const chargeOf = (sale: Sale, account: Pick<AccountTerms, 'name' | 'city'>): ChargeToOpen => ({
  txid: currentTxid(sale),
  recurrence: sale.mandateId === null ? null : txidOf({ ...sale, saleId: sale.id, renewals: 0 }),
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
const guardedText = (writeCtes: string) =>
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
   ), ${writeCtes}
   select i.ord, case
     when exists (select 1 from admitted a where a.ord = i.ord) then 'created'
     when not i.key_free then 'keyBusy'
     when i.later and not i.reference_taken then 'later'
     when i.idem_key is not null and (not i.reference_taken or exists (
       select 1 from idempotency_key k where k.account_id = i.account_id and k.key = i.idem_key and k.created_at > $18::timestamptz))
       then 'keyTaken'
     else 'referenceTaken' end as outcome
   from input i order by i.ord`

const insertGuardedSql = statement<{ ord: number; outcome: InsertOutcome }>(
  'sale_insert_batch',
  guardedText(writeSalesCtes('admitted')),
)
const insertSharedSql = statement<{ ord: number; outcome: InsertOutcome }>(
  'sale_insert_shared_batch',
  guardedText(writeSharedSalesCtes('admitted', 19)),
)

/** One outcome an item, in order. */
async function insertSales(db: Queryable, items: readonly CreateSale[], now: Instant): Promise<InsertOutcome[]> {
  const drafts = items.map((item) => item.draft as DraftSale)
  const column = (of: (sale: Sale) => number | string | null) => drafts.map(({ sale }) => of(sale))
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
    items.map((item) => item.request.extra),
  ]
  const legs = drafts.flatMap((draft, index) => draft.legs.map((leg): LegRow => ({ ...leg, ord: index + 1 })))
  const unguarded = items.every(
    (item, index) => item.requestKey === null && !drafts[index]!.account.uniqueReferenceCode,
  )
  if (unguarded && legs.length === 0) {
    await db.query(insertPlainSql, commonColumns)
    return items.map(() => 'created')
  }
  const guarded = [
    ...commonColumns,
    drafts.map(({ account }) => account.uniqueReferenceCode),
    items.map((item) => item.requestKey?.key ?? null),
    items.map((item) => item.requestKey?.requestHash ?? null),
    items.map((item, index) => (item.requestKey ? Buffer.from(drafts[index]!.answer) : null)),
    sqlTime(now),
    sqlTime(keysExpireBefore(now)),
  ]
  const rows = await (legs.length === 0
    ? db.query(insertGuardedSql, guarded)
    : db.query(insertSharedSql, [...guarded, ...legColumns(legs)]))
  return rows.map((row) => row.outcome)
}

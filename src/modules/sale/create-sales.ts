import { hourOf, type Instant } from '../../kernel/calendar.ts'
import { cents } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid, NumberId, SaleId } from '../../kernel/ids.ts'
import type { Fault } from '../../kernel/reader.ts'
import { txidOf } from '../../kernel/txid.ts'
import { DEFERRED, Unavailable } from '../../platform/batcher.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { troubleOf } from '../../platform/database/trouble.ts'
import type { RequestKey } from '../../platform/idempotency/idempotency.store.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { ChargeToOpen, OpenedCharge, Rail } from '../../rail/rail.ts'
import {
  type AccountTerms,
  accountNow,
  feeFor,
  findLinkedRecipients,
  type LinkedRecipient,
  type RememberedTerms,
  type VersionedTerms,
} from '../account/index.ts'
import {
  namedRecipients,
  type ResolvedLeg,
  resolveLegs,
  type SplitRequest,
  splitTotal,
  wholeFault,
} from '../split/index.ts'
import { type CheckoutRequest, duplicatedReference } from './checkout.ts'
import { type DraftLeg, type InsertOutcome, insertSales, type SaleInsert } from './insert-sales.ts'
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

type Draft =
  | {
      readonly sale: Sale
      readonly account: AccountTerms
      readonly legs: readonly DraftLeg[]
      readonly answer: string
      /** The account's terms, if they were not read for it: whoever writes it must see that they hold. */
      readonly guard: VersionedTerms | null
    }
  | { readonly faults: readonly Fault[] }

export type CreateSalesContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly rail: Rail
  readonly terms: RememberedTerms
}

/** Reads what the batch needs, decides each item, then writes the good ones in one statement. */
export async function createSales(
  context: CreateSalesContext,
  items: readonly CreateSale[],
): Promise<(CreateSaleOutcome | typeof DEFERRED)[]> {
  const now = context.clock.now()
  const undrafted = items.filter((item) => item.draft === undefined)
  try {
    if (undrafted.length > 0) await draftAll(context, undrafted, now)
    return await writeDrafts(context, items, { now, isFirstTry: undrafted.length === items.length })
  } catch (error) {
    // What was surely not written is decided anew. What a lost connection may have written keeps its ids.
    if (troubleOf(error) !== 'lost') forgetDrafts(undrafted)
    throw error
  }
}

async function writeDrafts(
  { db, terms }: CreateSalesContext,
  items: readonly CreateSale[],
  { now, isFirstTry }: { now: Instant; isFirstTry: boolean },
): Promise<(CreateSaleOutcome | typeof DEFERRED)[]> {
  const good = items.filter((item) => item.draft !== undefined && isSale(item.draft))
  const guards = [...new Set(good.flatMap(({ draft }) => (draft as DraftSale).guard ?? []))]
  const outcomes = good.length === 0 ? [] : await insertSales(db, good.map(insertOf), now, guards)
  if (outcomes === 'changed') {
    terms.forget(guards)
    // Whether the first try has written them is not known, and under new ids they could be written twice.
    if (!isFirstTry) throw new Unavailable('terms changed while it was not known whether a sale was written')
    forgetDrafts(items)
    return items.map(() => DEFERRED)
  }
  let next = 0
  return items.map((item) => {
    const draft = item.draft!
    if (!isSale(draft)) return { outcome: 'refused', faults: draft.faults }
    const outcome = outcomeOf(outcomes[next++]!, draft.answer)
    if (outcome === DEFERRED) forgetDrafts([item])
    return outcome
  })
}

function forgetDrafts(items: readonly CreateSale[]): void {
  for (const item of items) delete item.draft
}

function insertOf({ draft, request, requestKey }: CreateSale): SaleInsert {
  const { sale, legs, answer, account } = draft as DraftSale
  return { sale, legs, answer, requestKey, extra: request.extra, uniqueReference: account.uniqueReferenceCode }
}

function outcomeOf(outcome: InsertOutcome, answer: string): CreateSaleOutcome | typeof DEFERRED {
  if (outcome === 'created') return { outcome, answer }
  if (outcome === 'later') return DEFERRED
  return outcome === 'referenceTaken' ? { outcome: 'refused', faults: [duplicatedReference] } : { outcome }
}

async function draftAll(context: CreateSalesContext, undrafted: readonly CreateSale[], now: Instant): Promise<void> {
  const { db, ids, numbers, rail, terms } = context
  const [{ of: accounts, remembered }, findRecipient] = await Promise.all([
    terms.find(undrafted.map((item) => item.accountId)),
    readRecipients(db, undrafted),
  ])
  const decided = undrafted.map((item) => decide(item, accounts.get(item.accountId)!, findRecipient))
  // A refusal is followed by no write that would see a change, so it is decided by terms that were read for it.
  const refused = new Set(undrafted.flatMap(({ accountId }, index) => ('faults' in decided[index]! ? accountId : [])))
  const refusedByMemory = remembered.filter(({ id }) => refused.has(id))
  if (refusedByMemory.length > 0) {
    terms.forget(refusedByMemory)
    return draftAll(context, undrafted, now)
  }
  const needed = decided.reduce((count, one) => count + ('faults' in one ? 0 : 1 + one.legs.length), 0)
  const freshNumbers = (await numbers.take(needed)) as NumberId[]
  const make = { now, ids, nextNumber: () => freshNumbers.pop()! }
  const drafts = decided.map((one) => ('faults' in one ? one : draftSale(one, make)))
  const charges = await rail.openCharges(drafts.filter(isSale).map(({ sale, account }) => chargeOf(sale, account)))
  const guards = new Map(remembered.map((known) => [known.id, known]))
  let next = 0
  undrafted.forEach((item, index) => {
    const draft = drafts[index]!
    // Only whole drafts are kept: an item whose answer cannot be made fails, now and when it is tried alone.
    if (isSale(draft)) {
      const answer = item.render(draft.sale, charges[next++]!, draft.legs)
      item.draft = { ...draft, answer, guard: guards.get(item.accountId) ?? null }
    } else item.draft = draft
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
): Omit<DraftSale, 'answer' | 'guard'> {
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

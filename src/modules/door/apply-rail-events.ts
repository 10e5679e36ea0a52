import { hourOf, type Instant } from '../../kernel/calendar.ts'
import type { AccountId, NumberId, ReversalId, SaleId } from '../../kernel/ids.ts'
import { partsOfTxid, type TxidParts } from '../../kernel/txid.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { OutflowInstruction, PaymentReceived, RailEvent } from '../../rail/rail.ts'
import { type AccountTerms, accountNow, findAccountTerms, OPERATOR_ACCOUNT_ID } from '../account/index.ts'
import { lockBooksCte, type Posting, postingColumns, postLinesCtes } from '../ledger/index.ts'
import {
  addNotificationsCte,
  type News,
  notificationFor,
  type Outbox,
  type Outgo,
  outgoColumns,
  outgoRows,
  queueNotificationsCte,
} from '../notification/index.ts'
import { addOutflowsCte, settlesAt } from '../outflow/index.ts'
import { addReversalsCte, postingsForReversal, reversalNews } from '../refund/index.ts'
import {
  countPaidCte,
  findPayableSales,
  fitPayment,
  holdSalesCte,
  type PayableSaleRecord,
  type PaymentMisfit,
  payChildrenCte,
  paymentConfirmation,
  paySalesCte,
  postingsForPaidSale,
  takeTurnsCte,
} from '../sale/index.ts'
import { addMessagesCte, findLegs, type Leg, parentBlock } from '../split/index.ts'
import {
  addToInboxCte,
  contentHash,
  contentOf,
  findInboxEntries,
  type InboxEntry,
  inboxKey,
  setAside,
} from './inbox.store.ts'

export type RailEventOutcome =
  | { readonly outcome: 'applied'; readonly accountId: AccountId; readonly saleId: SaleId }
  | { readonly outcome: 'reversed'; readonly accountId: AccountId; readonly reversalId: ReversalId }
  /** Heard before: nothing happens again. */
  | { readonly outcome: 'duplicate'; readonly of: InboxEntry }
  /** The same rail id with other content: kept aside for a person to look at. */
  | { readonly outcome: 'conflict' }

export type DoorContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly outbox: Outbox
  /** Shares wait to be credited: told after the commit. */
  readonly legsPaid: () => void
  /** Orders wait to be sent: told after the commit. */
  readonly ordersReserved: () => void
  /** A rail that contradicts itself wakes somebody. */
  readonly alarm: (message: string, details: Record<string, unknown>) => void
}

/** One event, decided: which book it touches and what it does there. */
type Decided = {
  readonly event: PaymentReceived
  readonly hash: Buffer
  readonly accountId: AccountId
  readonly sale: PayableSaleRecord | undefined
  readonly at: Instant
  readonly postings: readonly Posting[]
  /** Where the account wants to be told what. */
  readonly settings: AccountTerms['notifications']
} & (
  | { readonly effect: 'pay'; readonly legs: readonly PaidLeg[] }
  | {
      readonly effect: 'reverse'
      readonly reason: PaymentMisfit
      readonly reversalId: ReversalId
      readonly settlesAt: Instant | null
    }
)
/** A leg of a sale that is being paid, and its recipient's time. */
type PaidLeg = Leg & { readonly at: Instant }
type Numbered = { readonly item: Decided; readonly number: NumberId | null }

/**
 * The one way in for news from the rail, in batches: read what the events need, decide each with the same rules as a
 * lone one, then one guarded statement that applies those whose sale still stands as it did. Losers are deferred.
 */
export async function applyRailEvents(
  context: DoorContext,
  events: readonly RailEvent[],
): Promise<(RailEventOutcome | typeof DEFERRED)[]> {
  const now = context.clock.now()
  const [known, decide] = await Promise.all([findInboxEntries(context.db, events), readyToDecide(context, events, now)])
  const outcomes: (RailEventOutcome | typeof DEFERRED)[] = []
  const fresh: { index: number; decided: Decided }[] = []
  for (const [index, event] of events.entries()) {
    const hash = contentHash(contentOf(event))
    const entry = known.get(inboxKey(event))
    if (entry === undefined) fresh.push({ index, decided: decide(event, hash) })
    else if (entry.contentHash.equals(hash)) outcomes[index] = { outcome: 'duplicate', of: entry }
    else outcomes[index] = await setAsideAndAlarm(context, event, entry, now)
  }
  const applied = await write(
    context,
    fresh.map(({ decided }) => decided),
    now,
  )
  fresh.forEach(({ index, decided }, position) => {
    outcomes[index] = applied.has(position + 1) ? outcomeOf(decided) : DEFERRED
  })
  return outcomes
}

const outcomeOf = (decided: Decided): RailEventOutcome =>
  decided.effect === 'pay'
    ? { outcome: 'applied', accountId: decided.accountId, saleId: decided.sale!.id }
    : { outcome: 'reversed', accountId: decided.accountId, reversalId: decided.reversalId }

async function setAsideAndAlarm(
  { db, ids, alarm }: DoorContext,
  event: PaymentReceived,
  entry: InboxEntry,
  now: Instant,
) {
  await setAside(db, ids.uuidAt(now), event, now)
  alarm('the rail reported one id with two contents', {
    rail: event.rail,
    railId: event.endToEnd,
    accountId: entry.accountId,
  })
  return { outcome: 'conflict' } as const
}

async function readyToDecide({ db, ids }: DoorContext, events: readonly RailEvent[], now: Instant) {
  const named = events.map((event) => (event.txid === null ? undefined : partsOfTxid(event.txid)))
  const keys = named.filter((parts): parts is TxidParts => parts !== undefined)
  const [sales, accounts] = await Promise.all([
    findPayableSales(db, keys),
    findAccountTerms(db, [OPERATOR_ACCOUNT_ID, ...keys.map((key) => key.accountId)]),
  ])
  const legs = await readLegs(db, sales, now)
  const salesById = new Map(sales.map((sale) => [`${sale.accountId} ${sale.id}`, sale]))
  return (event: PaymentReceived, hash: Buffer): Decided => {
    const parts = event.txid === null ? undefined : partsOfTxid(event.txid)
    const sale = parts && salesById.get(`${parts.accountId} ${parts.saleId}`)
    return decidePayment({
      event,
      hash,
      sale,
      legs: (sale && legs.get(sale.id)) ?? [],
      parts,
      accounts,
      now,
      newReversalId: (at) => ids.uuidAt(at) as ReversalId,
    })
  }
}

/** The legs of the sales that are shared, with the time of each recipient; most batches have none. */
async function readLegs(db: Queryable, sales: readonly PayableSaleRecord[], now: Instant) {
  const legs = await findLegs(
    db,
    sales.filter((sale) => sale.legs > 0),
  )
  if (legs.size === 0) return new Map<SaleId, readonly PaidLeg[]>()
  const recipients = await findAccountTerms(
    db,
    [...legs.values()].flat().map((leg) => leg.recipientId),
  )
  const timed = (leg: Leg): PaidLeg => ({ ...leg, at: accountNow(recipients.get(leg.recipientId)!, now) })
  return new Map([...legs].map(([saleId, some]) => [saleId, some.map(timed)] as const))
}

type Undecided = {
  event: PaymentReceived
  hash: Buffer
  sale: PayableSaleRecord | undefined
  legs: readonly PaidLeg[]
  parts: TxidParts | undefined
  accounts: Map<AccountId, AccountTerms>
  now: Instant
  newReversalId: (at: Instant) => ReversalId
}

/** Sale answers "does not fit, because"; here that becomes a reversal. Money for nobody goes to the operator's book. */
function decidePayment({ event, hash, sale, legs, parts, accounts, now, newReversalId }: Undecided): Decided {
  const fit = fitPayment(sale, { amount: event.amount, settledAt: event.settledAt, renewals: parts?.renewals ?? 0 })
  const unknown = !fit.ok && fit.refusal === 'UNKNOWN_CHARGE'
  const accountId = unknown || sale === undefined ? OPERATOR_ACCOUNT_ID : sale.accountId
  const account = accounts.get(accountId)!
  const common = {
    event,
    hash,
    accountId,
    sale: unknown ? undefined : sale,
    at: accountNow(account, now),
    settings: account.notifications,
  }
  if (fit.ok) return { ...common, effect: 'pay', legs, postings: postingsForPaidSale(sale!, legs) }
  const reversalId = newReversalId(common.at)
  return {
    ...common,
    effect: 'reverse',
    reason: fit.refusal,
    reversalId,
    settlesAt: settlesAt(account, common.at),
    postings: postingsForReversal.PENDING(event.amount),
  }
}

/** What the merchant hears of it, if anything. */
function newsOf({ item, number }: Numbered): News | undefined {
  const { sale, at } = item
  if (sale === undefined) return undefined
  if (item.effect === 'pay') {
    const { legs } = item
    const block = () => parentBlock(sale.amount, legs, () => 'PENDING')
    return paymentConfirmation(sale, at, legs.length === 0 ? undefined : block)
  }
  const { accountId, reversalId, reason } = item
  const { amount } = item.event
  return reversalNews(
    { accountId, id: reversalId, number: number!, amount, reason, state: 'PENDING', createdAt: at },
    sale,
    at,
  )
}

// Whatever reads `ready` waits until every book of the batch is locked, in order: without it the planner may lock a
// sale, or one book after the work on another, and two batches that do so in opposite orders block each other.
const applySql = statement<{ ord: number; turn: number | null }>(
  'door_apply_batch',
  `with input as materialized (
     select * from unnest($1::text[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::text[],
       $10::bigint[], $11::timestamptz[], $12::text[], $13::text[], $14::text[], $15::timestamptz[], $16::integer[], $17::integer[],
       $18::uuid[], $19::bigint[], $20::text[], $21::bigint[])
       with ordinality as t(effect, account_id, sale_id, expected_state, rail, kind, end_to_end, content_hash, txid,
         amount, settled_at, payer_document, payer_name, payer_ispb, event_at, hour, created_hour,
         reversal_id, reversal_number, reason, original_amount, ord)
   ), locked_books as materialized (${lockBooksCte('input')}
   ), ready as materialized (
     select * from input where (select count(*) from locked_books) > 0
   ), held_sales as materialized (${holdSalesCte('ready')}
   ), paid as (${paySalesCte('ready')}
   ), winners as materialized (
     select i.* from ready i
     where (i.effect = 'pay' and exists (select 1 from paid p where p.ord = i.ord))
       or (i.effect = 'reverse' and (i.sale_id is null or exists (
         select 1 from held_sales h where h.account_id = i.account_id and h.id = i.sale_id and h.state = i.expected_state)))
   ), children as materialized (
     select * from unnest($38::bigint[], $39::bigint[], $40::uuid[], $41::timestamptz[]) as c(ord, account_id, id, event_at)
   ), paid_children as (${payChildrenCte('children', 'paid')}
   ), messages as (${addMessagesCte('paid_children', '$22::timestamptz')}
   ), counted as (${countPaidCte('paid', 'paid_children')}
   ), reversals as (${addReversalsCte('winners')}
   ), going_back as (${addOutflowsCte(
     `(select w.account_id, w.reversal_id as id, o.instruction::json as instruction, o.settles_at
       from unnest($42::bigint[], $43::text[], $44::timestamptz[]) as o(ord, instruction, settles_at) join winners w using (ord)) back`,
     '$22::timestamptz',
   )}
   ), heard as (${addToInboxCte('winners', '$22::timestamptz')}
   ), lines as materialized (
     select w.account_id, case w.effect when 'pay' then w.sale_id else w.reversal_id end as source_id, l.code, l.leg, l.debit, l.credit,
       l.amount, w.event_at, w.hour, $22::timestamptz as posted_at, w.ord,
       case w.effect when 'pay' then null else w.sale_id end as subject_id
     from unnest($23::bigint[], $24::smallint[], $25::smallint[], $26::smallint[], $27::smallint[], $28::bigint[])
       as l(ord, code, leg, debit, credit, amount) join winners w using (ord)
   ), ${postLinesCtes('lines')}
   , news as materialized (
     select n.*, w.account_id, w.effect, w.sale_id, w.reversal_id from ${outgoRows(30)} join winners w using (ord)
   ), turned as (${takeTurnsCte("(select ord, account_id, sale_id from news where effect = 'reverse')")}
   ), told as materialized (
     select n.*, n.sale_id as resource_id, n.reversal_id as also_id, t.turn
     from news n join (select ord, turn from paid union all select ord, turn from turned) t using (ord)
   ), notified as (${addNotificationsCte('told')}
   ), queued as (${queueNotificationsCte('told', '$22', '$29')}
   )
   select w.ord, t.turn from winners w left join told t using (ord)`,
)

/** Answers the places (1-based) of the items that took effect. */
async function write(context: DoorContext, items: readonly Decided[], now: Instant): Promise<Set<number>> {
  if (items.length === 0) return new Set()
  const { db, numbers, ids, outbox } = context
  const reversalNumbers = await numbers.take(items.filter((item) => item.effect === 'reverse').length)
  const numbered = items.map((item): Numbered => {
    const number = item.effect === 'reverse' ? (reversalNumbers.pop() as NumberId) : null
    return { item, number }
  })
  const outgoes = outgoesOf(numbered, outbox, () => ids.uuidAt(now))
  const column = <Value>(of: (item: Decided) => Value): Value[] => items.map(of)
  const reversed = <Value>(of: (item: Extract<Decided, { effect: 'reverse' }>) => Value): (Value | null)[] =>
    items.map((item) => (item.effect === 'reverse' ? of(item) : null))
  const lines = postingColumns(items.map((item) => item.postings))
  const children = items.flatMap((item, index) =>
    item.effect === 'pay' ? item.legs.map((leg) => ({ ord: index + 1, leg })) : [],
  )
  const back = items.flatMap((item, index) => (item.effect === 'reverse' ? [{ ord: index + 1, ...orderOf(item) }] : []))
  try {
    const rows = await db.query(applySql, [
      column((item) => item.effect),
      column((item) => item.accountId),
      column((item) => item.sale?.id ?? null),
      column((item) => item.sale?.state ?? null),
      column((item) => item.event.rail),
      column((item) => item.event.kind),
      column((item) => item.event.endToEnd),
      column((item) => item.hash),
      column((item) => item.event.txid),
      column((item) => item.event.amount),
      column((item) => sqlTime(item.event.settledAt)),
      column((item) => item.event.payer.document),
      column((item) => item.event.payer.name),
      column((item) => item.event.payer.ispb),
      column((item) => sqlTime(item.at)),
      column((item) => hourOf(item.at)),
      column((item) => (item.sale ? hourOf(item.sale.createdAt) : null)),
      reversed((item) => item.reversalId),
      numbered.map(({ number }) => number),
      reversed((item) => item.reason),
      column((item) => item.sale?.amount ?? null),
      sqlTime(now),
      lines.ord,
      lines.code,
      lines.leg,
      lines.debit,
      lines.credit,
      lines.amount,
      sqlTime(outbox.leaseEnds(now)),
      ...outgoColumns(outgoes),
      children.map(({ ord }) => ord),
      children.map(({ leg }) => leg.recipientId),
      children.map(({ leg }) => leg.transactionId),
      children.map(({ leg }) => sqlTime(leg.at)),
      back.map(({ ord }) => ord),
      back.map(({ instruction }) => instruction),
      back.map(({ settlesAt }) => (settlesAt === null ? null : sqlTime(settlesAt))),
    ])
    const turns = new Map(rows.map((row) => [row.ord, row.turn]))
    for (const outgo of outgoes) {
      const turn = turns.get(outgo.ord)
      if (turn === undefined || turn === null) outbox.dropped(outgo)
      else outbox.written(outgo, turn)
    }
    if (children.length > 0) context.legsPaid()
    if (back.length > 0) context.ordersReserved()
    return new Set(turns.keys())
  } catch (error) {
    outbox.unknown(outgoes)
    throw error
  }
}

/** What the rail is to do with a payment that fits nothing. */
function orderOf({ event, settlesAt }: Extract<Decided, { effect: 'reverse' }>) {
  const instruction: OutflowInstruction = { amount: event.amount, endToEnd: event.endToEnd, beneficiary: null }
  return { instruction: JSON.stringify(instruction), settlesAt }
}

type PlacedOutgo = Outgo & { readonly ord: number }

/** The news of a batch, each with a slot of this process where there is one. */
function outgoesOf(numbered: readonly Numbered[], outbox: Outbox, newId: () => string): PlacedOutgo[] {
  return numbered.flatMap((one, index): PlacedOutgo[] => {
    const news = newsOf(one)
    const notification = news && notificationFor(news, one.item.settings, newId)
    return notification ? [{ notification, leased: outbox.reserve(notification.accountId), ord: index + 1 }] : []
  })
}

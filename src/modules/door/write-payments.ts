import { hourOf, type Instant } from '../../kernel/calendar.ts'
import type { AccountId, NumberId, ReversalId } from '../../kernel/ids.ts'
import { statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { OutflowInstruction, PaymentReceived } from '../../rail/rail.ts'
import type { AccountTerms } from '../account/index.ts'
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
import { addOutflowsCte } from '../outflow/index.ts'
import { addReversalsCte, reversalNews } from '../refund/index.ts'
import {
  countPaidCte,
  holdSalesCte,
  type PayableSaleRecord,
  type PaymentMisfit,
  payChildrenCte,
  paymentConfirmation,
  paySalesCte,
  takeTurnsCte,
} from '../sale/index.ts'
import { addMessagesCte, type Leg, parentBlock } from '../split/index.ts'
import type { DoorContext } from './door-context.ts'
import { addToInboxCte } from './inbox.store.ts'

/** One event, decided: which book it touches and what it does there. */
export type DecidedPayment = {
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
export type PaidLeg = Leg & { readonly at: Instant }
type Numbered = { readonly item: DecidedPayment; readonly number: NumberId | null }

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

// The full joins by `ord` are inner ones in effect (the next step drops what has no other half): a join of two batches
// whose size nobody can know beforehand would be planned as each row with each.
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
     select * from paid
     union all
     select i.*, null, null from ready i
     where i.effect = 'reverse' and (i.sale_id is null or exists (
       select 1 from held_sales h where h.account_id = i.account_id and h.id = i.sale_id and h.state = i.expected_state))
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
   ), posted as materialized (
     select w.account_id, case w.effect when 'pay' then w.sale_id else w.reversal_id end as source_id, l.code, l.leg, l.debit, l.credit,
       l.amount, w.event_at, w.hour, $22::timestamptz as posted_at, w.ord,
       case w.effect when 'pay' then null else w.sale_id end as subject_id
     from unnest($23::bigint[], $24::smallint[], $25::smallint[], $26::smallint[], $27::smallint[], $28::bigint[])
       as l(ord, code, leg, debit, credit, amount) full join winners w using (ord)
   ), lines as materialized (
     select * from posted where account_id is not null and amount is not null
   ), ${postLinesCtes('lines')}
   , outgoing as materialized (
     select n.*, w.account_id, w.effect, w.sale_id, w.reversal_id, w.turn as paid_turn
     from ${outgoRows(30)} full join winners w using (ord)
   ), news as materialized (
     select * from outgoing where account_id is not null and notification_id is not null
   ), turned as (${takeTurnsCte("(select ord, account_id, sale_id from news where effect = 'reverse')")}
   ), told as materialized (
     select n.*, n.sale_id as resource_id, n.reversal_id as also_id, coalesce(n.paid_turn, t.turn) as turn
     from news n left join turned t using (ord)
   ), notified as (${addNotificationsCte('told')}
   ), queued as (${queueNotificationsCte('told', '$22', '$29')}
   )
   select w.ord, coalesce(w.turn, t.turn) as turn from winners w left join turned t using (ord)`,
)

/** Answers the places (1-based) of the items that took effect. */
export async function writePayments(
  context: DoorContext,
  items: readonly DecidedPayment[],
  now: Instant,
): Promise<Set<number>> {
  if (items.length === 0) return new Set()
  const { db, numbers, ids, outbox } = context
  const reversalNumbers = await numbers.take(items.filter((item) => item.effect === 'reverse').length)
  const numbered = items.map((item): Numbered => {
    const number = item.effect === 'reverse' ? (reversalNumbers.pop() as NumberId) : null
    return { item, number }
  })
  const outgoes = outgoesOf(numbered, outbox, () => ids.uuidAt(now))
  const column = <Value>(of: (item: DecidedPayment) => Value): Value[] => items.map(of)
  const reversed = <Value>(of: (item: Extract<DecidedPayment, { effect: 'reverse' }>) => Value): (Value | null)[] =>
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
      column((item) => item.event.settledAt),
      column((item) => item.event.payer.document),
      column((item) => item.event.payer.name),
      column((item) => item.event.payer.ispb),
      column((item) => item.at),
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
      children.map(({ leg }) => leg.at),
      back.map(({ ord }) => ord),
      back.map(({ instruction }) => instruction),
      back.map(({ settlesAt }) => settlesAt),
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
function orderOf({ event, settlesAt }: Extract<DecidedPayment, { effect: 'reverse' }>) {
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

import { hourOf, type Instant, MINUTE_MS, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { troubleOf } from '../../platform/database/trouble.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { type AccountTerms, accountNow, findAccountTerms } from '../account/index.ts'
import { lockBooksCte, type Posting, postingColumns, postLinesCtes } from '../ledger/index.ts'
import {
  addNotificationsCte,
  notificationFor,
  type Outbox,
  type Outgo,
  outgoColumns,
  outgoRows,
  queueNotificationsCte,
} from '../notification/index.ts'
import {
  dropMessages,
  dropMessagesCte,
  type Message,
  postponeMessages,
  recipientBlock,
  takeMessages,
} from '../split/index.ts'
import { paymentConfirmation } from './payment-confirmation.ts'
import { type SaleRow, saleColumns, saleFromRow } from './sale.store.ts'
import type { Sale } from './sale.ts'

export type SettleContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly ids: RandomIds
  readonly outbox: Outbox
  readonly trouble: (error: unknown, doing: string) => void
}

const BATCH = 500
/** Both steps take milliseconds; a process that dies between them leaves its messages for this long. */
const LEASE_MS = 30 * SECOND_MS
const BACK_OFF_MS = { first: 5 * SECOND_MS, most: 60 * MINUTE_MS }

/** A share on its way to its recipient. */
type Share = { readonly message: Message; readonly sale: Sale; readonly account: AccountTerms; readonly at: Instant }

/**
 * Credits the shares whose messages are due, in two commits: taken up (PROCESSING, and the recipient is told), then credited
 * (SETTLED, in the transaction that books it). A message that comes twice finds its share settled. Answers how many
 * messages it took.
 */
export async function settleDue(context: SettleContext): Promise<number> {
  const { db, clock } = context
  const now = clock.now()
  const messages = await takeMessages(db, { now, leaseEnds: plusMs(now, LEASE_MS), limit: BATCH })
  if (messages.length === 0) return 0
  const shares = await readShares(db, messages, now)
  const arrived = shares.filter(({ sale }) => sale.settlement === 'SETTLED').map(({ message }) => message)
  if (arrived.length > 0) await dropMessages(db, arrived)
  const waiting = shares.filter(({ sale }) => sale.settlement === 'PENDING' || sale.settlement === 'FAILED')
  const refused = await apart(context, waiting, 'take up a share', (some) => takeUp(context, some, now))
  // Only what is in PROCESSING by then is credited or failed: the statements see to that.
  const closed = shares.filter(({ account }) => account.status === 'CLOSED')
  const open = shares.filter(({ account }) => account.status !== 'CLOSED')
  const failed = await apart(context, open, 'credit a share', (some) => credit(context, some, now))
  await fail(context, [...refused, ...closed, ...failed], now)
  return messages.length
}

const findSharesSql = statement<SaleRow>(
  'sale_find_shares',
  `select ${saleColumns.map((column) => `s.${column}`).join(', ')}
   from unnest($1::bigint[], $2::uuid[]) k(account_id, id) join sale s using (account_id, id)`,
)

async function readShares(db: Queryable, messages: readonly Message[], now: Instant): Promise<Share[]> {
  const [rows, accounts] = await Promise.all([
    db.query(findSharesSql, [
      messages.map(({ accountId }) => accountId),
      messages.map(({ transactionId }) => transactionId),
    ]),
    findAccountTerms(
      db,
      messages.map(({ accountId }) => accountId),
    ),
  ])
  const sales = new Map(rows.map((row) => [`${row.account_id} ${row.id}`, saleFromRow(row)]))
  return messages.map((message) => {
    const account = accounts.get(message.accountId)!
    const sale = sales.get(`${message.accountId} ${message.transactionId}`)!
    return { message, sale, account, at: accountNow(account, now) }
  })
}

// The recipient is told when its share is first taken up, once: the guard is the state it was decided on.
const takeUpSql = statement<{ ord: number; turn: number | null }>(
  'sale_take_up_shares',
  `with input as materialized (
     select * from unnest($1::bigint[], $2::uuid[], $3::text[]) with ordinality as t(account_id, id, expected, ord)
   ), held as materialized (
     select s.account_id, s.id, i.ord, i.expected from sale s join input i using (account_id, id)
     order by s.account_id, s.id for no key update of s
   ), taken as (
     update sale s set settlement = 'PROCESSING', turns = s.turns + (h.expected = 'PENDING')::integer
     from held h where s.account_id = h.account_id and s.id = h.id and s.settlement = h.expected and s.state = 'PAID'
     returning h.ord, s.account_id, s.id, s.turns as turn
   ), told as materialized (
     select n.*, t.account_id, t.id as resource_id, t.turn, null::uuid as also_id from ${outgoRows(6)} join taken t using (ord)
   ), notified as (${addNotificationsCte('told')}
   ), queued as (${queueNotificationsCte('told', '$4', '$5')}
   )
   select t.ord, t.turn from taken t`,
)

async function takeUp({ db, ids, outbox }: SettleContext, shares: readonly Share[], now: Instant): Promise<void> {
  const outgoes = shares.flatMap(({ sale, account, at }, index): (Outgo & { ord: number })[] => {
    if (sale.settlement !== 'PENDING') return []
    const news = paymentConfirmation(sale, at, () => recipientBlock(sale.amount, 'PROCESSING'))
    const notification = notificationFor(news, account.notifications, () => ids.uuidAt(now))
    return notification ? [{ notification, leased: outbox.reserve(account.id), ord: index + 1 }] : []
  })
  try {
    const rows = await db.query(takeUpSql, [
      shares.map(({ sale }) => sale.accountId),
      shares.map(({ sale }) => sale.id),
      shares.map(({ sale }) => sale.settlement),
      sqlTime(now),
      sqlTime(outbox.leaseEnds(now)),
      ...outgoColumns(outgoes),
    ])
    const turns = new Map(rows.map((row) => [row.ord, row.turn]))
    for (const outgo of outgoes) {
      const turn = turns.get(outgo.ord)
      if (turn === undefined || turn === null) outbox.dropped(outgo)
      else outbox.written(outgo, turn)
    }
  } catch (error) {
    outbox.unknown(outgoes)
    throw error
  }
}

// Books first, in order, as everywhere; then the shares that are still under way, each credited once. The message of a share
// that somebody else moved on meanwhile stays: it may have failed there.
const creditSql = statement<{ ord: number }>(
  'sale_credit_shares',
  `with input as materialized (
     select * from unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::integer[]) with ordinality as t(account_id, id, event_at, hour, ord)
   ), locked_books as materialized (${lockBooksCte('input')}
   ), ready as materialized (
     select * from input where (select count(*) from locked_books) > 0
   ), settled as (
     update sale s set settlement = 'SETTLED', paid_at = r.event_at from ready r
     where s.account_id = r.account_id and s.id = r.id and s.settlement = 'PROCESSING' and s.state = 'PAID'
     returning r.ord, s.account_id, s.id, r.event_at, r.hour
   ), counted as (
     insert into sale_hour as h (account_id, hour, pending, paid, cancelled, processed)
     select account_id, hour, 0, 0, 0, count(*) from settled group by 1, 2 order by 1, 2
     on conflict (account_id, hour) do update set processed = h.processed + excluded.processed
     returning account_id
   ), lines as materialized (
     select s.account_id, s.id as source_id, l.code, l.leg, l.debit, l.credit, l.amount, s.event_at, s.hour,
       $5::timestamptz as posted_at, s.ord, null::uuid as subject_id
     from unnest($6::bigint[], $7::smallint[], $8::smallint[], $9::smallint[], $10::smallint[], $11::bigint[])
       as l(ord, code, leg, debit, credit, amount) join settled s using (ord)
   ), ${postLinesCtes('lines')}
   , arrived as (${dropMessagesCte('settled')}
   )
   select ord from settled`,
)

const postingForShare = (sale: Sale): readonly Posting[] => [{ kind: 'splitIn', leg: 0, amount: sale.amount }]

async function credit({ db }: SettleContext, shares: readonly Share[], now: Instant): Promise<void> {
  const lines = postingColumns(shares.map(({ sale }) => postingForShare(sale)))
  await db.query(creditSql, [
    shares.map(({ sale }) => sale.accountId),
    shares.map(({ sale }) => sale.id),
    shares.map(({ at }) => at),
    shares.map(({ at }) => hourOf(at)),
    sqlTime(now),
    lines.ord,
    lines.code,
    lines.leg,
    lines.debit,
    lines.credit,
    lines.amount,
  ])
}

/** One share that the database refuses keeps no other from its step. Answers those that it refuses. */
async function apart(
  context: SettleContext,
  shares: readonly Share[],
  doing: string,
  step: (shares: readonly Share[]) => Promise<void>,
): Promise<readonly Share[]> {
  if (shares.length === 0) return []
  try {
    await step(shares)
    return []
  } catch (error) {
    if (troubleOf(error) !== 'other') throw error
    if (shares.length === 1) {
      context.trouble(error, doing)
      return shares
    }
    const half = shares.length >> 1
    const first = await apart(context, shares.slice(0, half), doing, step)
    return [...first, ...(await apart(context, shares.slice(half), doing, step))]
  }
}

const failSql = statement(
  'sale_fail_shares',
  `update sale s set settlement = 'FAILED' from unnest($1::bigint[], $2::uuid[]) i(account_id, id)
   where s.account_id = i.account_id and s.id = i.id and s.settlement = 'PROCESSING'`,
)

/** Tried again later, each time after twice as long. The money stays in transit meanwhile. */
async function fail({ db }: SettleContext, shares: readonly Share[], now: Instant): Promise<void> {
  if (shares.length === 0) return
  await db.query(failSql, [shares.map(({ sale }) => sale.accountId), shares.map(({ sale }) => sale.id)])
  await postponeMessages(
    db,
    shares.map(({ message }) => ({ ...message, dueAt: plusMs(now, backOffMs(message.tries)) })),
  )
}

export const backOffMs = (tries: number): number => Math.min(BACK_OFF_MS.first * 2 ** (tries - 1), BACK_OFF_MS.most)

/** True when there may be more. */
export const settleStep = async (context: SettleContext): Promise<boolean> => (await settleDue(context)) === BATCH

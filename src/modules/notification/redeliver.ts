import type { Instant } from '../../kernel/calendar.ts'
import { type AccountId, firstUuidAt, type NotificationId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { findAccountTerms, type NotificationSettings } from '../account/index.ts'
import { ATTEMPTS_IN_SERIES } from './attempt.ts'
import { addressFor, type EventName } from './event.ts'

type KeptRow = { id: string; event: EventName; callback_url: string | null; url: string }
/** Where it goes this time; null: the same address as before. */
type Again = { readonly id: NotificationId; readonly otherUrl: string | null }

/** The address is looked up again: a merchant that corrected it wants it used. */
function againFrom(rows: readonly KeptRow[], settings: NotificationSettings): Again[] {
  return rows.flatMap((row) => {
    const url = addressFor(row.event, row.callback_url, settings)
    return url === undefined ? [] : [{ id: row.id as NotificationId, otherUrl: url === row.url ? null : url }]
  })
}

// Single look-ups: as joins they would be planned for an account of one row, and read everything for each of many.
const waitsNot = `(
  select true from notification_queue q
  where q.account_id = n.account_id and q.resource_id = n.resource_id and q.turn = n.turn limit 1) is null`
const failedOnly = `and (
  select a.status from notification_attempt a
  where a.account_id = n.account_id and a.notification_id = n.id order by a.number desc limit 1) <> 'SUCCESS'`

// A new series for what is not waiting. Its notifications are locked by an earlier statement, so nobody else starts one
// meanwhile, and a call that ends meanwhile is still in the queue here and left alone: the count of attempts is right.
const startSeriesSql = statement<{ notification_id: string }>(
  'notification_start_series',
  `insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left, url)
   select n.account_id, n.resource_id, n.turn, n.id, $4, false, 1, coalesce((
       select max(number) from notification_attempt a where a.account_id = n.account_id and a.notification_id = n.id), 0),
     ${ATTEMPTS_IN_SERIES}, i.url
   from unnest($2::uuid[], $3::text[]) i(id, url) join notification n on n.account_id = $1 and n.id = i.id
   where ${waitsNot}
   on conflict do nothing
   returning notification_id`,
)

// One that waits for its next attempt begins anew; one that is being sent just now is being sent.
const restartSeriesSql = statement(
  'notification_restart_series',
  `update notification_queue q set attempts_left = ${ATTEMPTS_IN_SERIES}, due_at = $4, url = $3
   from notification n
   where n.account_id = $1 and n.id = $2 and q.account_id = n.account_id and q.resource_id = n.resource_id and q.turn = n.turn
     and not q.held`,
)

const startSeries = async (tx: Transaction, accountId: AccountId, items: readonly Again[], now: Instant) => {
  const ids = items.map(({ id }) => id)
  const urls = items.map(({ otherUrl }) => otherUrl)
  return (await tx.query(startSeriesSql, [accountId, ids, urls, sqlTime(now)])).length
}

// Newest by the millisecond of its id; news that was written together goes by its turn.
const lockLastSql = statement<KeptRow>(
  'notification_lock_last',
  `select id, event, callback_url, url from notification
   where account_id = $1 and id = (
     select id from (
       select id, turn from notification where account_id = $1 and resource_id = $2
       union all
       select id, turn from notification where account_id = $1 and also_id = $2) mine
     order by left(id::text, 13) desc, turn desc limit 1)
   for update`,
)

export type RedeliverRefusal = { code: 'sale.informedNotFound' }

/** Sends the last notification of a resource again, now. */
export async function redeliverLast(
  tx: Transaction,
  { accountId, resourceId, now }: { accountId: AccountId; resourceId: string | undefined; now: Instant },
): Promise<Result<void, RedeliverRefusal>> {
  const rows = resourceId === undefined ? [] : await tx.query(lockLastSql, [accountId, resourceId])
  const [again] = againFrom(rows, await settingsOf(tx, accountId))
  if (again === undefined) return refuse({ code: 'sale.informedNotFound' })
  const started = await startSeries(tx, accountId, [again], now)
  if (started === 0) await tx.query(restartSeriesSql, [accountId, again.id, again.otherUrl, sqlTime(now)])
  return ok(undefined)
}

export type RedeliverMany = {
  readonly accountId: AccountId
  /** Account time. */
  readonly from: Instant | undefined
  readonly before: Instant | undefined
  readonly event: EventName | undefined
  readonly onlyFailed: boolean
  readonly now: Instant
}

const PAGE = 2_000

const lockPageSql = (onlyFailed: boolean) =>
  statement<KeptRow>(
    `notification_lock_page${onlyFailed ? '_failed' : ''}`,
    `select n.id, n.event, n.callback_url, n.url from notification n
     where n.account_id = $1 and n.id > $2 and ($3::timestamptz is null or n.created_at >= $3)
       and ($4::timestamptz is null or (n.created_at < $4 and n.id < $5)) and ($6::text is null or n.event = $6)
       and ${waitsNot}
       ${onlyFailed ? failedOnly : ''}
     order by n.account_id, n.id limit ${PAGE} for update of n`,
  )
const lockPages = { all: lockPageSql(false), failed: lockPageSql(true) }

/** Starts a new series for everything that fits and is not waiting anyway; answers how many. */
export async function redeliverMany(tx: Transaction, asked: RedeliverMany): Promise<number> {
  const { accountId, from, before, event, onlyFailed, now } = asked
  const settings = await settingsOf(tx, accountId)
  let queued = 0
  for (let after = firstUuidAt(0 as Instant); ; ) {
    const rows = await tx.query(onlyFailed ? lockPages.failed : lockPages.all, [
      accountId,
      after,
      from === undefined ? null : sqlTime(from),
      before === undefined ? null : sqlTime(before),
      before === undefined ? null : firstUuidAt(before),
      event ?? null,
    ])
    const items = againFrom(rows, settings)
    if (items.length > 0) queued += await startSeries(tx, accountId, items, now)
    if (rows.length < PAGE) return queued
    after = rows.at(-1)!.id
  }
}

async function settingsOf(tx: Transaction, accountId: AccountId): Promise<NotificationSettings> {
  return (await findAccountTerms(tx, [accountId])).get(accountId)!.notifications
}

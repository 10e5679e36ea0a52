import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../kernel/calendar.ts'
import { type AccountId, firstUuidAt, type NotificationId } from '../../kernel/ids.ts'
import type { Database } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { AttemptStatus } from './attempt.ts'
import type { EventName } from './event.ts'
import type { NotificationState } from './notification.ts'

export type NotificationQuery = {
  readonly accountId: AccountId
  readonly state?: NotificationState | undefined
  readonly event?: EventName | undefined
  /** Account time. */
  readonly from?: Instant | undefined
  readonly before?: Instant | undefined
  readonly offset: number
  readonly limit: number
}

export type ListedNotification = {
  readonly id: NotificationId
  readonly resourceId: string
  readonly event: EventName
  readonly url: string
  readonly createdAt: Instant
  readonly state: NotificationState
  readonly attempts: number
  readonly last: {
    readonly at: Instant
    readonly status: AttemptStatus
    readonly responseCode: number
    readonly failure: string | null
  } | null
}

type Row = {
  id: string
  resource_id: string
  event: EventName
  url: string
  created_at: Instant
  waits: boolean
  number: number | null
  at: Instant
  status: AttemptStatus
  response_code: number
  failure: string | null
}

// Single look-ups, which the planner does not turn into joins: for an account that it knows nothing of yet it would expect
// one row and read the whole queue, or all attempts, for each notification.
const waits = sql`coalesce((
  select true from notification_queue q
  where q.account_id = n.account_id and q.resource_id = n.resource_id and q.turn = n.turn limit 1), false)`
const lastStatus = sql`(
  select a.status from notification_attempt a
  where a.account_id = n.account_id and a.notification_id = n.id order by a.number desc limit 1)`
const notificationOf = (row: string) => {
  const r = sql.raw(row)
  return sql`cross join lateral (
    select * from notification where account_id = ${r}.account_id and id = ${r}.notification_id limit 1) n`
}

/**
 * What waits is in the queue and what failed has a short index of its own, so each is looked for from there; what was
 * delivered is all the rest.
 */
function fromAndWhere(
  state: NotificationState | undefined,
  accountId: AccountId,
): [RawBuilder<unknown>, RawBuilder<unknown>] {
  if (state === 'PENDING') return [sql`notification_queue w ${notificationOf('w')}`, sql`w.account_id = ${accountId}`]
  if (state === 'FAILED')
    return [
      sql`(select distinct account_id, notification_id from notification_attempt
        where account_id = ${accountId} and last and status <> 'SUCCESS') f ${notificationOf('f')}`,
      sql`not ${waits} and ${lastStatus} <> 'SUCCESS'`,
    ]
  if (state === 'DELIVERED') return [sql`notification n`, sql`not ${waits} and ${lastStatus} = 'SUCCESS'`]
  return [sql`notification n`, sql`true`]
}

function conditions({ accountId, event, from, before }: NotificationQuery): RawBuilder<unknown>[] {
  const parts = [sql`n.account_id = ${accountId}`]
  if (event !== undefined) parts.push(sql`n.event = ${event}`)
  if (from !== undefined) parts.push(sql`n.created_at >= ${sqlTime(from)}`)
  // An account's clock is never behind real time, which is what the id holds.
  if (before !== undefined) parts.push(sql`n.created_at < ${sqlTime(before)} and n.id < ${firstUuidAt(before)}`)
  return parts
}

const run = async <R>(db: Database, text: RawBuilder<unknown>) => (await text.execute(db.builder)).rows as R[]

async function count(db: Database, query: NotificationQuery): Promise<number> {
  const of = (state: NotificationState | undefined) => count(db, { ...query, state })
  // By far the most are delivered; the others are few and quickly counted.
  if (query.state === 'DELIVERED') return (await of(undefined)) - (await of('PENDING')) - (await of('FAILED'))
  const [from, standing] = fromAndWhere(query.state, query.accountId)
  const where = sql.join([...conditions(query), standing], sql` and `)
  const [row] = await run<{ total: number }>(db, sql`select count(*) as total from ${from} where ${where}`)
  return row!.total
}

/** Newest first, with the exact number of all. */
export async function findNotifications(
  db: Database,
  query: NotificationQuery,
): Promise<{ readonly total: number; readonly notifications: readonly ListedNotification[] }> {
  const total = await count(db, query)
  if (query.offset >= total) return { total, notifications: [] }
  const [from, standing] = fromAndWhere(query.state, query.accountId)
  const where = sql.join([...conditions(query), standing], sql` and `)
  const rows = await run<Row>(
    db,
    sql`
    select p.*, a.number, a.at, a.status, a.response_code, a.failure
    from (
      select n.account_id, n.id, n.resource_id, n.event, n.url, n.created_at, ${waits} as waits
      from ${from} where ${where} order by n.id desc offset ${query.offset} limit ${query.limit}
    ) p left join lateral (
      select number, at, status, response_code, failure from notification_attempt a
      where a.account_id = p.account_id and a.notification_id = p.id order by number desc limit 1
    ) a on true
    order by p.id desc`,
  )
  return { total, notifications: rows.map(listed) }
}

const listed = (row: Row): ListedNotification => ({
  id: row.id as NotificationId,
  resourceId: row.resource_id,
  event: row.event,
  url: row.url,
  createdAt: row.created_at,
  state: row.waits ? 'PENDING' : row.status === 'SUCCESS' ? 'DELIVERED' : 'FAILED',
  attempts: row.number ?? 0,
  last:
    row.number === null
      ? null
      : { at: row.at, status: row.status, responseCode: row.response_code, failure: row.failure },
})

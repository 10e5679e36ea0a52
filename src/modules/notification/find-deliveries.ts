import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, NotificationId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import type { AttemptStatus } from './attempt.ts'
import type { EventName } from './event.ts'

/** A notification with every attempt of it, also when there was none yet. */
export type Delivery = {
  readonly id: NotificationId
  readonly resourceId: string
  readonly alsoId: string | null
  readonly event: EventName
  readonly url: string
  readonly payload: string
  readonly createdAt: Instant
  /** Another attempt is due or on its way. */
  readonly waits: boolean
  readonly attempts: readonly DeliveryAttempt[]
}

export type DeliveryAttempt = {
  readonly number: number
  readonly at: Instant
  readonly durationMs: number
  readonly url: string
  readonly status: AttemptStatus
  readonly responseCode: number
  readonly failure: string | null
  /** The Authorization header was never stored. */
  readonly requestHeaders: Readonly<Record<string, unknown>>
  readonly responseHeaders: Readonly<Record<string, unknown>>
  readonly responseBody: string
}

type Row = {
  id: string
  resource_id: string
  also_id: string | null
  event: EventName
  url: string
  payload: string
  created_at: Instant
  waits: boolean
  number: number | null
  at: Instant
  duration_ms: number
  called_url: string | null
  status: AttemptStatus
  response_code: number
  failure: string | null
  request_headers: string
  response_headers: string
  response_body: Buffer
}

const NOTIFICATIONS_MAX = 200
const deliveriesSql = statement<Row>(
  'notification_deliveries',
  `select n.id, n.resource_id, n.also_id, n.event, n.url, n.payload, n.created_at, coalesce((
       select true from notification_queue q
       where q.account_id = n.account_id and q.resource_id = n.resource_id and q.turn = n.turn limit 1), false) as waits,
     a.number, a.at, a.duration_ms, a.url as called_url, a.status, a.response_code, a.failure, a.request_headers, a.response_headers,
     a.response_body
   from (
     select * from notification where account_id = $1 and resource_id = any($2::uuid[])
     union
     select * from notification where account_id = $1 and also_id = any($2::uuid[])
     order by id desc limit ${NOTIFICATIONS_MAX}
   ) n left join notification_attempt a on a.account_id = $1 and a.notification_id = n.id
   order by n.id, a.number`,
)

/** Everything that was told of some things, oldest first. */
export async function findDeliveries(db: Queryable, accountId: AccountId, ids: readonly string[]): Promise<Delivery[]> {
  const rows = await db.query(deliveriesSql, [accountId, ids])
  const found = new Map<string, Delivery & { attempts: DeliveryAttempt[] }>()
  for (const row of rows) {
    const delivery = found.get(row.id) ?? { ...headOf(row), attempts: [] }
    found.set(row.id, delivery)
    if (row.number !== null) delivery.attempts.push(attemptOf(row, row.number))
  }
  return [...found.values()]
}

const headOf = (row: Row): Omit<Delivery, 'attempts'> => ({
  id: row.id as NotificationId,
  resourceId: row.resource_id,
  alsoId: row.also_id,
  event: row.event,
  url: row.url,
  payload: row.payload,
  createdAt: row.created_at,
  waits: row.waits,
})

const attemptOf = (row: Row, number: number): DeliveryAttempt => ({
  number,
  at: row.at,
  durationMs: row.duration_ms,
  url: row.called_url ?? row.url,
  status: row.status,
  responseCode: row.response_code,
  failure: row.failure,
  requestHeaders: JSON.parse(row.request_headers),
  responseHeaders: JSON.parse(row.response_headers),
  responseBody: row.response_body.toString('utf8'),
})

const RECENT = 20
const marksSql = statement<{ account_id: number; mark: string }>(
  'notification_marks',
  `select k.account_id, coalesce(a.mark, '') || ' ' || coalesce(q.mark, '') as mark
   from unnest($1::bigint[]) k(account_id)
   cross join lateral (
     select string_agg(notification_id || ' ' || number, ' ') as mark from (
       select notification_id, number from notification_attempt where account_id = k.account_id
       order by account_id desc, notification_id desc, number desc limit ${RECENT}) newest) a
   cross join lateral (
     select string_agg(notification_id || ' ' || claims || ' ' || attempts, ' ') as mark from (
       select notification_id, claims, attempts from notification_queue where account_id = k.account_id
       order by account_id, resource_id, turn limit ${RECENT}) waiting) q`,
)

/** Changes when something is attempted: among the newest notifications, and among what waits. */
export async function findDeliveryMarks(
  db: Queryable,
  accountIds: readonly AccountId[],
): Promise<Map<AccountId, string>> {
  const rows = await db.query(marksSql, [accountIds])
  return new Map(rows.map((row) => [row.account_id as AccountId, row.mark]))
}

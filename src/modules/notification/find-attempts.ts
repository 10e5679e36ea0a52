import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import type { AttemptStatus } from './attempt.ts'
import type { EventName } from './event.ts'

export type AttemptFilter = {
  readonly endpoint?: string | undefined
  readonly event?: EventName | undefined
  readonly status?: AttemptStatus | undefined
  readonly responseCode?: number | undefined
}

export type Attempt = {
  readonly at: Instant
  readonly url: string
  readonly event: EventName
  readonly status: AttemptStatus
  readonly responseCode: number
  readonly requestHeaders: Readonly<Record<string, unknown>>
  readonly payload: string
  readonly responseHeaders: Readonly<Record<string, unknown>>
  readonly responseBody: string
}

type Row = {
  at: Instant
  url: string
  event: EventName
  status: AttemptStatus
  response_code: number
  request_headers: string
  payload: string
  response_headers: string
  response_body: Buffer
}

// By the few notifications of the resource, each with its own attempts: the log of attempts needs no index for this.
const findSql = statement<Row>(
  'notification_attempts',
  `select a.at, coalesce(a.url, n.url) as url, n.event, a.status, a.response_code, a.request_headers, n.payload,
     a.response_headers, a.response_body
   from (
     select id, event, url, payload from notification where account_id = $1 and resource_id = $2
     union all
     select id, event, url, payload from notification where account_id = $1 and also_id = $2
   ) n join notification_attempt a on a.account_id = $1 and a.notification_id = n.id
   where ($3::text is null or coalesce(a.url, n.url) = $3) and ($4::text is null or n.event = $4)
     and ($5::text is null or a.status = $5) and ($6::integer is null or a.response_code = $6)
   order by a.at desc, n.id desc, a.number desc`,
)

/** Every attempt of every event of a resource, newest first. */
export async function findAttempts(
  db: Queryable,
  accountId: AccountId,
  resourceId: string,
  { endpoint, event, status, responseCode }: AttemptFilter,
): Promise<Attempt[]> {
  const values = [accountId, resourceId, endpoint ?? null, event ?? null, status ?? null, responseCode ?? null]
  return (await db.query(findSql, values)).map((row) => ({
    at: row.at,
    url: row.url,
    event: row.event,
    status: row.status,
    responseCode: row.response_code,
    requestHeaders: JSON.parse(row.request_headers),
    payload: row.payload,
    responseHeaders: JSON.parse(row.response_headers),
    responseBody: row.response_body.toString('utf8'),
  }))
}

import { type Instant, plusMs } from '../../kernel/calendar.ts'
import type { AccountId, NotificationId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { AttemptStatus } from './attempt.ts'

/** A notification in the hands of one process: `claim` is the fencing number its result must still match. */
export type Claimed = {
  readonly accountId: AccountId
  readonly resourceId: string
  readonly turn: number
  readonly notificationId: NotificationId
  readonly claim: number
  /** Recorded so far, over all series. */
  readonly attempts: number
  readonly attemptsLeft: number
  readonly url: string
  /** Set when it is not the notification's own: a redelivery looks the address up again. */
  readonly otherUrl: string | null
  readonly payload: string
  /** A call was started before and its process died: when its lease began. */
  readonly lostAt: Instant | null
}

// Account by account over one index: it costs a probe for each account with anything waiting, however long its backlog.
const dueAccountsSql = statement<{ account_id: number; due_at: Instant }>(
  'notification_due_accounts',
  `with recursive waiting as (
     (select account_id, due_at from notification_queue where account_id > $2 order by account_id, due_at limit 1)
     union all
     select n.account_id, n.due_at from waiting w cross join lateral (
       select account_id, due_at from notification_queue q
       where q.account_id > w.account_id order by q.account_id, q.due_at limit 1) n
   )
   select account_id, due_at from waiting where due_at <= $1 limit $3`,
)

export type DueAccount = { readonly accountId: AccountId; readonly dueAt: Instant }

/** Accounts with something due, after the given one. */
export async function findDueAccounts(
  db: Queryable,
  now: Instant,
  after: AccountId,
  limit: number,
): Promise<DueAccount[]> {
  const rows = await db.query(dueAccountsSql, [sqlTime(now), after, limit])
  return rows.map((row) => ({ accountId: row.account_id as AccountId, dueAt: row.due_at }))
}

type ClaimedRow = {
  account_id: number
  resource_id: string
  turn: number
  notification_id: string
  claims: number
  attempts: number
  attempts_left: number
  other_url: string | null
  url: string
  payload: string
  was_held: boolean
  was_due_at: Instant
}

// The rows are picked and locked first and then found again by their place, and each looks its notification up: a join
// would be planned as a scan of the whole queue, or of all the notifications there are. A first attempt waits until the
// one before it, of the same resource, has ended.
const claimSql = statement<ClaimedRow>(
  'notification_claim',
  `with picked as materialized (
     select d.* from unnest($1::bigint[], $2::integer[]) a(account_id, room) cross join lateral (
       select q.ctid as place, q.account_id, q.resource_id, q.turn, q.held as was_held, q.due_at as was_due_at
       from notification_queue q
       where q.account_id = a.account_id and q.due_at <= $3
         and (q.attempts > 0 or q.turn = 1 or not exists (
           select 1 from notification_queue p
           where p.account_id = q.account_id and p.resource_id = q.resource_id and p.turn < q.turn and p.attempts = 0))
       order by q.due_at limit a.room for update skip locked) d
   ), claimed as (
     update notification_queue q set due_at = $4, held = true, claims = q.claims + 1
     where q.ctid = any (array(select place from picked))
     returning q.account_id, q.resource_id, q.turn, q.notification_id, q.claims, q.attempts, q.attempts_left, q.url
   )
   select c.account_id, c.resource_id, c.turn, c.notification_id, c.claims, c.attempts, c.attempts_left, c.url as other_url,
     coalesce(c.url, n.url) as url, n.payload, p.was_held, p.was_due_at
   from claimed c join picked p using (account_id, resource_id, turn) cross join lateral (
     select url, payload from notification where account_id = c.account_id and id = c.notification_id limit 1) n
   order by p.was_due_at`,
)

export type Room = { readonly accountId: AccountId; readonly room: number }

/** Takes up to `room` due notifications of each account, until the lease ends. */
export async function claimDue(
  db: Queryable,
  rooms: readonly Room[],
  { now, leaseEnds, leaseMs }: { now: Instant; leaseEnds: Instant; leaseMs: number },
): Promise<Claimed[]> {
  const rows = await db.query(claimSql, [
    rooms.map(({ accountId }) => accountId),
    rooms.map(({ room }) => room),
    sqlTime(now),
    sqlTime(leaseEnds),
  ])
  return rows.map((row) => ({
    accountId: row.account_id as AccountId,
    resourceId: row.resource_id,
    turn: row.turn,
    notificationId: row.notification_id as NotificationId,
    claim: row.claims,
    attempts: row.attempts,
    attemptsLeft: row.attempts_left,
    url: row.url,
    otherUrl: row.other_url,
    payload: row.payload,
    lostAt: row.was_held ? plusMs(row.was_due_at, -leaseMs) : null,
  }))
}

/** An attempt as it is kept, and what becomes of its notification. */
export type AttemptRecord = {
  readonly of: Claimed
  /** Account time. */
  readonly at: Instant
  readonly durationMs: number
  readonly status: AttemptStatus
  readonly responseCode: number
  readonly failure: string | null
  readonly requestHeaders: string
  readonly responseHeaders: string
  readonly responseBody: Buffer
  /** Null: the series is over. `held`: it was somebody else's call, and ours is still to come. */
  readonly next: Instant | 'held' | null
}

export type Recorded = {
  /** False: the lease lapsed, somebody else has the notification and has recorded this call as lost. */
  readonly kept: boolean
  /** Later news of the resource is waiting for this first attempt. */
  readonly followed: boolean
}

// The claim and the count of attempts: neither another holder nor the same statement, sent again, finds the row.
const isTheirs = `q.account_id = i.account_id and q.resource_id = i.resource_id and q.turn = i.turn
       and q.claims = i.claims and q.attempts = i.attempts and q.held`

const recordSql = statement<{ ord: number; followed: boolean }>(
  'notification_record',
  `with input as materialized (
     select * from unnest($1::bigint[], $2::uuid[], $3::integer[], $4::uuid[], $5::integer[], $6::integer[], $7::float8[], $8::integer[],
       $9::text[], $10::integer[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bytea[], $16::text[], $17::float8[])
       with ordinality as t(account_id, resource_id, turn, notification_id, claims, attempts, at_ms, duration_ms, status, response_code,
         failure, url, request_headers, response_headers, response_body, fate, due_ms, ord)
   ), ended as (
     delete from notification_queue q using input i
     where i.fate = 'end' and ${isTheirs}
     returning i.ord, q.attempts + 1 as number
   ), retried as (
     update notification_queue q set attempts = q.attempts + 1, attempts_left = q.attempts_left - 1, held = (i.fate = 'held'),
       due_at = case i.fate when 'held' then q.due_at else to_timestamp(i.due_ms / 1000) end
     from input i
     where i.fate <> 'end' and ${isTheirs}
     returning i.ord, q.attempts as number
   ), kept as materialized (
     select ord, number from ended union all select ord, number from retried
   ), added as (
     insert into notification_attempt (account_id, notification_id, number, at, duration_ms, status, response_code, failure, last, url,
       request_headers, response_headers, response_body)
     select i.account_id, i.notification_id, k.number, to_timestamp(i.at_ms / 1000), i.duration_ms, i.status, i.response_code, i.failure,
       i.fate = 'end', i.url, i.request_headers::json, i.response_headers::json, i.response_body
     from input i join kept k using (ord)
   )
   select k.ord, exists (
     select 1 from notification_queue f
     where f.account_id = i.account_id and f.resource_id = i.resource_id and f.turn > i.turn and f.attempts = 0
   ) as followed
   from kept k join input i using (ord)
   union all
   -- Sent again after a lost answer: the lost call stands recorded, and the notification is still ours.
   select i.ord, false from input i join notification_queue q
     on q.account_id = i.account_id and q.resource_id = i.resource_id and q.turn = i.turn
   where i.fate = 'held' and q.claims = i.claims and q.attempts = i.attempts + 1 and q.held`,
)

/** Writes attempts and moves their notifications, in one statement, each guarded by its claim. */
export async function recordAttempts(db: Queryable, records: readonly AttemptRecord[]): Promise<Recorded[]> {
  const column = <Value>(of: (record: AttemptRecord) => Value): Value[] => records.map(of)
  const rows = await db.query(recordSql, [
    column(({ of }) => of.accountId),
    column(({ of }) => of.resourceId),
    column(({ of }) => of.turn),
    column(({ of }) => of.notificationId),
    column(({ of }) => of.claim),
    column(({ of }) => of.attempts),
    column(({ at }) => at),
    column(({ durationMs }) => durationMs),
    column(({ status }) => status),
    column(({ responseCode }) => responseCode),
    column(({ failure }) => failure),
    column(({ of }) => of.otherUrl),
    column(({ requestHeaders }) => requestHeaders),
    column(({ responseHeaders }) => responseHeaders),
    column(({ responseBody }) => responseBody),
    column(({ next }) => (next === null ? 'end' : next === 'held' ? 'held' : 'retry')),
    column(({ next }) => (typeof next === 'number' ? next : null)),
  ])
  const followed = new Map(rows.map((row) => [row.ord, row.followed]))
  return records.map((_, index) => ({ kept: followed.has(index + 1), followed: followed.get(index + 1) ?? false }))
}

const giveBackSql = statement(
  'notification_give_back',
  `update notification_queue q set held = i.held, due_at = to_timestamp(i.due_ms / 1000)
   from unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::integer[], $5::integer[], $6::float8[], $7::boolean[])
     i(account_id, resource_id, notification_id, claims, attempts, due_ms, held)
   where q.account_id = i.account_id and q.resource_id = i.resource_id and q.notification_id = i.notification_id
     and q.claims = i.claims and q.attempts = i.attempts and q.held`,
)

export type GivenBack = Pick<
  Claimed,
  'accountId' | 'resourceId' | 'notificationId' | 'claim' | 'attempts' | 'lostAt'
> & {
  readonly dueAt: Instant
}

/** What was taken and not started is due again, for anybody. A lost call that is not recorded yet stays to be found. */
export async function giveBack(db: Queryable, rows: readonly GivenBack[]): Promise<void> {
  await db.query(giveBackSql, [
    rows.map(({ accountId }) => accountId),
    rows.map(({ resourceId }) => resourceId),
    rows.map(({ notificationId }) => notificationId),
    rows.map(({ claim }) => claim),
    rows.map(({ attempts }) => attempts),
    rows.map(({ dueAt }) => dueAt),
    rows.map(({ lostAt }) => lostAt !== null),
  ])
}

const countWaitingSql = statement<{ n: number }>(
  'notification_count_waiting',
  'select count(*) as n from notification_queue',
)

/** Notifications that are not delivered yet, on their way or waiting for a retry. */
export async function countWaiting(db: Queryable): Promise<number> {
  return (await db.query(countWaitingSql))[0]!.n
}

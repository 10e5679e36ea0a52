import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { ATTEMPTS_IN_SERIES } from './attempt.ts'
import type { Notification } from './notification.ts'

/** One notification's way through a writer's statement: `leased` when a slot of this process waits for it. */
export type Outgo = { readonly notification: Notification; readonly leased: boolean }

/**
 * Where a writer of notifications meets the dispatcher of its process, so that a first attempt starts right after the
 * commit. A process without a dispatcher leases nothing and its rows are due at once, for whoever delivers.
 */
export type Outbox = {
  /** True: a slot is held for the account, and the row may be written as claimed by this process. */
  reserve(accountId: AccountId): boolean
  /** Until when a row written now belongs to its writer. */
  leaseEnds(now: Instant): Instant
  /** After the commit: the turn is known then, and whether the row is ours or due for anybody. */
  written(outgo: Outgo, turn: number): void
  /** The row was not written: somebody else changed the resource first. */
  dropped(outgo: Outgo): void
  /** Nobody knows whether the rows were written. None of their calls was started, so they are due at once if they exist. */
  unknown(outgoes: readonly Outgo[]): void
}

/** Inside a transaction nothing can be held: its rows are due at once, and looked for after the commit. */
export const outboxAfterCommit = (outbox: Outbox, afterCommit: (work: () => void) => void): Outbox => ({
  reserve: () => false,
  leaseEnds: outbox.leaseEnds,
  written: (outgo, turn) => afterCommit(() => outbox.written(outgo, turn)),
  dropped: () => {},
  unknown: () => {},
})

/**
 * Parts of a writer's statement. `outgoRows` is what the writer joins with its winners by `ord`; the two inserts take the
 * joined rows, which have account_id, resource_id, turn and also_id besides. Only a resource's first news may be leased:
 * later turns wait for the first attempt before theirs, and the claim sees to that.
 */
export const outgoRows = (first: number): string => {
  const at = (offset: number) => `$${first + offset}`
  return `unnest(${at(0)}::bigint[], ${at(1)}::uuid[], ${at(2)}::text[], ${at(3)}::float8[], ${at(4)}::text[], ${at(5)}::text[], ${at(6)}::text[], ${at(7)}::boolean[])
    as n(ord, notification_id, event, created_ms, callback_url, url, payload, leased)`
}

export const addNotificationsCte = (told: string): string => `
  insert into notification (account_id, id, resource_id, turn, also_id, event, created_at, callback_url, url, payload)
  select account_id, notification_id, resource_id, turn, also_id, event, to_timestamp(created_ms / 1000), callback_url, url, payload
  from ${told}`

export const queueNotificationsCte = (told: string, now: string, leaseEnds: string): string => `
  insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left)
  select account_id, resource_id, turn, notification_id,
    case when leased and turn = 1 then ${leaseEnds}::timestamptz else ${now}::timestamptz end,
    leased and turn = 1, 1, 0, ${ATTEMPTS_IN_SERIES}
  from ${told}`

/** The parameters of `outgoRows`; `ord` is the item's place in the writer's batch, from 1. */
export function outgoColumns(outgoes: readonly (Outgo & { readonly ord: number })[]): unknown[][] {
  const column = <Value>(of: (notification: Notification) => Value) =>
    outgoes.map(({ notification }) => of(notification))
  return [
    outgoes.map(({ ord }) => ord),
    column(({ id }) => id),
    column(({ event }) => event),
    column(({ at }) => at),
    column(({ callbackUrl }) => callbackUrl),
    column(({ url }) => url),
    column(({ payload }) => payload),
    outgoes.map(({ leased }) => leased),
  ]
}

import { setTimeout as wait } from 'node:timers/promises'
import { type Instant, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Batcher, createBatcher, Unavailable } from '../../platform/batcher.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Outgoing } from '../../platform/outgoing/outgoing.ts'
import type { DeliveryCredentials, DeliverySecrets } from '../account/index.ts'
import { ATTEMPTS_IN_SERIES, type AttemptStatus, type RetryPolicy } from './attempt.ts'
import { callFor, recordOf, recordOfLost } from './delivery.ts'
import type { Outbox, Outgo } from './outbox.ts'
import {
  type AttemptRecord,
  type Claimed,
  claimDue,
  findDueAccounts,
  type GivenBack,
  giveBack,
  type Recorded,
  recordAttempts,
} from './queue.store.ts'
import { createSlots } from './slots.ts'

export type DispatcherContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly outgoing: Outgoing
  readonly credentials: DeliveryCredentials
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly observe: DispatcherObserver
}

export type DispatcherObserver = {
  attempted(status: AttemptStatus | 'LOST', durationMs: number): void
  /** From the commit to the start of the first attempt, where one process did both. */
  handedOver(waitedMs: number): void
  /** How long the account that waits longest has been waiting. */
  behind(ms: number): void
  trouble(error: unknown, doing: string): void
}

export type Dispatcher = Outbox & {
  start(): void
  /** Something of the account is due now. */
  poke(accountId: AccountId): void
  /** Looks once for what is due and starts it; true when it found something it had room for. */
  look(): Promise<boolean>
  inFlight(): number
  /** Resolves when no call is on its way and nothing waits to be started or recorded. */
  idle(): Promise<void>
  /** Gives back what was not started, lets calls on their way end for a while, records them all. */
  stop(): Promise<void>
}

const LEASE_MARGIN_MS = 20 * SECOND_MS
const CLAIM_MAX = 500
const DUE_ACCOUNTS_PAGE = 1_000
const LOOK_BUSY_MS = 20
const LOOK_IDLE_MS = 200
const STOP_CALLS_MS = 8 * SECOND_MS
const STOP_RECORDS_MS = 3 * SECOND_MS
/** A call without an answer keeps its slot at least this long. */
const REFUSAL_MS = 50
const RECORD = { lanes: 2, batchMax: 400, queueMax: Number.MAX_SAFE_INTEGER }

/**
 * Delivers what the queue holds: claims due rows in batches, never more than there are free slots, calls, and writes the
 * results in batches. The queue in the database is the only backlog; in memory there is only what is on its way.
 */
export function createDispatcher(context: DispatcherContext): Dispatcher {
  const { db, clock, observe } = context
  const leaseMs = context.timeoutMs + LEASE_MARGIN_MS
  const retryMs = context.retry.retrySeconds * SECOND_MS
  const slots = createSlots()
  const records: Batcher<AttemptRecord, Recorded> = createBatcher({
    name: 'attempts',
    ...RECORD,
    run: (items) => recordAttempts(db, items),
  })
  /** Accounts that may have something due. */
  const due = new Set<AccountId>()
  let running = false
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<unknown> = Promise.resolve()
  let lookAfter = 0 as AccountId
  let claiming = false
  let pumpPlanned = false
  let ready: { claimed: Claimed; since: number }[] = []
  let returns: GivenBack[] = []
  let busy = 0
  let whenIdle: (() => void)[] = []

  const leaseEnds = (now: Instant): Instant => plusMs(now, leaseMs)
  const enter = () => {
    busy += 1
  }
  const leave = () => {
    busy -= 1
    if (busy > 0) return
    for (const done of whenIdle) done()
    whenIdle = []
  }

  /** A process that delivers nothing remembers nothing. */
  function poke(accountId: AccountId): void {
    if (!running || stopping) return
    due.add(accountId)
    planPump()
  }

  function planPump(): void {
    if (pumpPlanned || claiming || !running || stopping || due.size === 0) return
    pumpPlanned = true
    setImmediate(() => {
      pumpPlanned = false
      void pump()
    })
  }

  /** Room for each account that may have something due, in turn; the slots are taken before the rows are. */
  function takeRooms() {
    const rooms: { accountId: AccountId; room: number }[] = []
    let left = CLAIM_MAX
    for (const accountId of due) {
      if (left === 0) break
      const room = Math.min(slots.room(accountId), left)
      if (room === 0) continue
      for (let taken = 0; taken < room; taken += 1) slots.take(accountId)
      due.delete(accountId)
      rooms.push({ accountId, room })
      left -= room
    }
    return rooms
  }

  async function pump(): Promise<boolean> {
    if (!running || stopping) return false
    // Somebody's backlog is being claimed; what was just found must not be looked for less often because of it.
    if (claiming) return true
    const rooms = takeRooms()
    if (rooms.length === 0) return false
    claiming = true
    enter()
    const got = new Map<AccountId, number>()
    try {
      const now = clock.now()
      const claimed = await claimDue(db, rooms, { now, leaseEnds: leaseEnds(now), leaseMs })
      for (const one of claimed) {
        got.set(one.accountId, (got.get(one.accountId) ?? 0) + 1)
        begin(one)
      }
    } catch (error) {
      observe.trouble(error, 'claim notifications')
    }
    for (const { accountId, room } of rooms) {
      const count = got.get(accountId) ?? 0
      for (let unused = count; unused < room; unused += 1) slots.giveBack(accountId)
      if (count === room) due.add(accountId)
    }
    claiming = false
    leave()
    planPump()
    return got.size > 0
  }

  /** Those that become ready together read their credentials together. */
  function begin(claimed: Claimed): void {
    enter()
    ready.push({ claimed, since: performance.now() })
    if (ready.length === 1) setImmediate(() => void startReady())
  }

  async function startReady(): Promise<void> {
    const batch = ready
    ready = []
    let secrets: Map<AccountId, DeliverySecrets> | undefined
    try {
      if (!stopping)
        secrets = await context.credentials.find(
          db,
          batch.map(({ claimed }) => claimed.accountId),
          clock.now(),
          (error) => observe.trouble(error, "open an account's secrets"),
        )
    } catch (error) {
      observe.trouble(error, 'read credentials')
    }
    for (const { claimed, since } of batch) {
      const own = stopping ? undefined : secrets?.get(claimed.accountId)
      // An account whose secrets do not open keeps nobody else waiting, and is looked at again later.
      if (own === undefined && secrets && !stopping) notStarted(claimed, plusMs(clock.now(), retryMs))
      else if (own === undefined) notStarted(claimed)
      else {
        observe.handedOver(performance.now() - since)
        const made = claimed.lostAt === null ? call(claimed, own) : afterLost(claimed, claimed.lostAt, own)
        // Its lease lapses, and the attempt counts as lost: a notification that breaks us every time ends all the same.
        made.catch((error: unknown) => {
          observe.trouble(error, 'deliver a notification')
          slots.giveBack(claimed.accountId)
          leave()
        })
      }
    }
  }

  function notStarted(claimed: Claimed, dueAt = clock.now()): void {
    slots.giveBack(claimed.accountId)
    returns.push({ ...claimed, dueAt })
    leave()
  }

  async function afterLost(claimed: Claimed, lostAt: Instant, secrets: DeliverySecrets): Promise<void> {
    const lost = recordOfLost(claimed, lostAt, secrets.clockOffsetMs)
    observe.attempted('LOST', 0)
    const recorded = await record(lost)
    if (recorded?.kept && lost.next !== null) {
      const { attempts, attemptsLeft } = claimed
      const ours = { ...claimed, attempts: attempts + 1, attemptsLeft: attemptsLeft - 1, lostAt: null }
      return stopping ? notStarted(ours) : call(ours, secrets)
    }
    slots.giveBack(claimed.accountId)
    leave()
  }

  async function call(claimed: Claimed, secrets: DeliverySecrets): Promise<void> {
    const { accountId } = claimed
    const began = performance.now()
    const made = callFor(claimed, secrets, clock.now())
    const answer = await context.outgoing.post({ url: claimed.url, headers: made.headers, body: claimed.payload })
    const durationMs = performance.now() - began
    const result = recordOf(made, answer, durationMs, context.retry)
    observe.attempted(result.status, durationMs)
    const recorded = await record(result)
    // Whoever refuses at once, with a long backlog, would otherwise be called as fast as the machine can.
    if (answer.failure !== null && durationMs < REFUSAL_MS && !stopping) await wait(REFUSAL_MS - durationMs)
    slots.free(accountId, { hung: answer.failure !== null, durationMs })
    if (recorded?.followed) due.add(accountId)
    planPump()
    leave()
  }

  /** A call that was made is recorded, however long the database is away: its slot waits with it. */
  async function record(result: AttemptRecord): Promise<Recorded | undefined> {
    for (;;) {
      try {
        return await records.submit(result)
      } catch (error) {
        observe.trouble(error, 'record an attempt')
        if (!(error instanceof Unavailable)) return undefined
        await wait(SECOND_MS)
      }
    }
  }

  async function flushReturns(): Promise<void> {
    const rows = returns
    if (rows.length === 0) return
    returns = []
    try {
      await giveBack(db, rows)
    } catch (error) {
      returns.push(...rows)
      throw error
    }
  }

  async function look(): Promise<boolean> {
    try {
      await flushReturns()
      const now = clock.now()
      const found = await findDueAccounts(db, now, lookAfter, DUE_ACCOUNTS_PAGE)
      lookAfter = found.length === DUE_ACCOUNTS_PAGE ? found.at(-1)!.accountId : (0 as AccountId)
      observe.behind(found.reduce((longest, { dueAt }) => Math.max(longest, now - dueAt), 0))
      for (const { accountId } of found) due.add(accountId)
      return await pump()
    } catch (error) {
      observe.trouble(error, 'look for due notifications')
      return false
    }
  }

  function lookAgainIn(ms: number): void {
    timer = setTimeout(() => {
      looking = look().then((found) => {
        if (!stopping) lookAgainIn(found ? LOOK_BUSY_MS : LOOK_IDLE_MS)
      })
    }, ms)
  }

  const idle = (): Promise<void> => (busy === 0 ? Promise.resolve() : new Promise((done) => whenIdle.push(done)))
  const idleWithin = (ms: number) => Promise.race([idle().then(() => true), wait(ms, false, { ref: false })])

  return {
    start() {
      running = true
      lookAgainIn(LOOK_BUSY_MS)
    },
    poke,
    look,
    inFlight: slots.inFlight,
    idle,
    async stop() {
      stopping = true
      clearTimeout(timer)
      await looking
      if (!(await idleWithin(STOP_CALLS_MS))) context.outgoing.stopAll()
      if (!(await idleWithin(STOP_RECORDS_MS)))
        observe.trouble(new Error('attempts could not be recorded before the stop'), 'stop')
      await flushReturns().catch((error: unknown) => observe.trouble(error, 'give back notifications'))
      await context.outgoing.close()
    },

    reserve(accountId) {
      // Whatever waits for the account longer goes first.
      if (!running || stopping || due.has(accountId) || slots.room(accountId) === 0) return false
      slots.take(accountId)
      // A stop waits for the statement: what it commits as ours must still be given back.
      enter()
      return true
    },
    leaseEnds,
    written({ notification, leased }, turn) {
      const { accountId } = notification
      if (leased && turn === 1) begin(firstClaim(notification))
      else {
        if (leased) slots.giveBack(accountId)
        poke(accountId)
      }
      if (leased) leave()
    },
    dropped({ notification, leased }) {
      if (!leased) return
      slots.giveBack(notification.accountId)
      leave()
    },
    unknown(outgoes) {
      for (const { notification, leased } of outgoes) {
        if (!leased) continue
        slots.giveBack(notification.accountId)
        returns.push({ ...firstClaim(notification), dueAt: clock.now() })
        leave()
      }
    },
  }
}

/** As the writer of a leased row wrote it. */
const firstClaim = (notification: Outgo['notification']): Claimed => ({
  accountId: notification.accountId,
  resourceId: notification.resourceId,
  turn: 1,
  notificationId: notification.id,
  claim: 1,
  attempts: 0,
  attemptsLeft: ATTEMPTS_IN_SERIES,
  url: notification.url,
  otherUrl: null,
  payload: notification.payload,
  lostAt: null,
})

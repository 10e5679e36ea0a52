import { setTimeout as wait } from 'node:timers/promises'
import { type Account, credentialHeaders } from '../test/harness/running-service.ts'
import { checkoutRequests } from './create.ts'
import { type Answer, httpRequest, type Lane, openLane } from './load.ts'
import { createTimes, type Times } from './times.ts'

/** Whose sales are made and paid where, and the address that each sale names for its confirmation. */
export type Target = { readonly port: number; readonly shops: readonly Account[]; readonly callbackUrl: string }

/** What became of the lives of one phase; it still grows while they are under way. */
export type Tally = {
  lives: number
  /** 503 with Retry-After. */
  refusedCheckouts: number
  refusedPayments: number
  /** Any other answer that is not a success, and connections that broke. */
  otherAnswers: number
  /** Found no free connection when they were due. */
  unsent: number
  /** From due time in an open loop, from the request in a closed one. */
  readonly checkout: Times
  readonly payment: Times
  /** How much after its due time each life was begun: large means that the generator was the bottleneck. */
  readonly late: Times
}

const createTally = (): Tally => ({
  lives: 0,
  refusedCheckouts: 0,
  refusedPayments: 0,
  otherAnswers: 0,
  unsent: 0,
  checkout: createTimes(),
  payment: createTimes(),
  late: createTimes(),
})

const CLOSED_CONNECTIONS = 512
const WINDOW_SECONDS = 5
const CONNECT_AT_ONCE = 500

/** Never the same twice in a run of the bench: reference codes and shoppers follow from it. */
let begun = 0
const UUID = Buffer.from('"uuid":"')

type Live = (lane: Lane, due: number, tally: Tally) => Promise<void>

/** A life: a checkout, and when it is answered its payment, on the same connection. */
function livesOf({ shops, callbackUrl }: Target): Live {
  const checkout = checkoutRequests(shops, callbackUrl)
  const headers = shops.map(credentialHeaders)
  return async (lane, due, tally) => {
    const index = begun++
    tally.late.add(performance.now() - due)
    const made = await lane.send(checkout(index))
    if (made.status !== 200) return refuse(tally, made, 'refusedCheckouts')
    tally.checkout.add(performance.now() - due)
    const at = made.body.indexOf(UUID) + UUID.length
    const path = `/v1.1/sandbox/sim/sale/${made.body.toString('latin1', at, at + 36)}/paid`
    const asked = performance.now()
    const paid = await lane.send(httpRequest('POST', path, headers[index % headers.length]!))
    if (paid.status !== 200) return refuse(tally, paid, 'refusedPayments')
    tally.payment.add(performance.now() - asked)
    tally.lives += 1
  }
}

function refuse(tally: Tally, { retryAfter }: Answer, kind: 'refusedCheckouts' | 'refusedPayments'): void {
  if (retryAfter) tally[kind] += 1
  else tally.otherAnswers += 1
}

async function openLanes(port: number, count: number): Promise<Lane[]> {
  const lanes: Lane[] = []
  while (lanes.length < count) {
    const more = Math.min(CONNECT_AT_ONCE, count - lanes.length)
    lanes.push(...(await Promise.all(Array.from({ length: more }, () => openLane(port)))))
  }
  return lanes
}

export type ClosedLives = { readonly tally: Tally; readonly perSecond: number; readonly slowestWindow: number }

/** Each connection makes a sale, pays it, then the next: as fast as answers come. */
export async function liveClosed(
  target: Target,
  seconds: number,
  say: (line: string) => void = () => {},
): Promise<ClosedLives> {
  const live = livesOf(target)
  const lanes = await openLanes(target.port, CLOSED_CONNECTIONS)
  const tally = createTally()
  const began = performance.now()
  let ended = false
  const ending = lanes.map(async (lane) => {
    try {
      while (!ended) await live(lane, performance.now(), tally)
    } catch {
      tally.otherAnswers += 1
    }
    lane.close()
  })
  const windows: number[] = []
  for (let left = seconds; left > 0; left -= WINDOW_SECONDS) {
    const [from, before] = [performance.now(), tally.lives]
    await wait(Math.min(left, WINDOW_SECONDS) * 1000)
    const rate = ((tally.lives - before) * 1000) / (performance.now() - from)
    windows.push(Math.round(rate))
    say(`${Math.round((performance.now() - began) / 1000)} s: ${Math.round(rate)} lives/s`)
  }
  // What is still under way is waited for, but it was not done in the time.
  const perSecond = Math.round((tally.lives * 1000) / (performance.now() - began))
  ended = true
  await Promise.all(ending)
  return { tally, perSecond, slowestWindow: Math.min(...windows) }
}

export type OpenLives = {
  /**
   * So many lives a second are due, whatever the service does; resolves when the last one of them is due. One that finds
   * no free connection waits for it, and its time runs; or it is not sent at all, if nobody is `patient`.
   */
  offer(perSecond: number, seconds: number, patient?: boolean): Promise<Tally>
  /** Resolves when everything offered has been answered. */
  answered(): Promise<void>
  close(): void
}

/** An open loop over so many connections: times count from when a life was due (no coordinated omission). */
export async function openLives(target: Target, connections: number): Promise<OpenLives> {
  const live = livesOf(target)
  const free = await openLanes(target.port, connections)
  const waiting: { due: number; tally: Tally }[] = []
  let underWay = 0

  async function run(lane: Lane, due: number, tally: Tally): Promise<void> {
    underWay += 1
    try {
      await live(lane, due, tally)
      release(lane)
    } catch {
      tally.otherAnswers += 1
      lane.close()
      await openLane(target.port).then(release, () => {})
    } finally {
      underWay -= 1
    }
  }
  function release(lane: Lane): void {
    const next = waiting.shift()
    if (next === undefined) free.push(lane)
    else void run(lane, next.due, next.tally)
  }
  function start(due: number, tally: Tally, patient: boolean): void {
    // The longest idle first: one that is never used would be told after half a minute that its request is late.
    const lane = free.shift()
    if (lane !== undefined) void run(lane, due, tally)
    else if (patient) waiting.push({ due, tally })
    else tally.unsent += 1
  }

  return {
    async offer(perSecond, seconds, patient = true) {
      const tally = createTally()
      const began = performance.now()
      const dueAt = (index: number) => began + (index * 1000) / perSecond
      const count = Math.round(perSecond * seconds)
      for (let index = 0; index < count; await wait(1)) {
        const now = performance.now()
        for (; index < count && dueAt(index) <= now; index += 1) start(dueAt(index), tally, patient)
      }
      return tally
    },
    async answered() {
      while (underWay > 0 || waiting.length > 0) await wait(20)
    },
    close() {
      for (const lane of free) lane.close()
    },
  }
}

import { setTimeout as wait } from 'node:timers/promises'
import { partsOfTxid } from '../../src/kernel/txid.ts'
import type { ApiClient } from '../harness/api-client.ts'
import { untilAnswered } from './client.ts'
import { followLines } from './lines.ts'
import type { End, Entry, Kind } from './money-journal.ts'
import type { Given } from './money-rail.ts'

/** Money on its way out, as its merchant knows it. */
export type Order = {
  readonly uuid: string
  readonly kind: Kind
  readonly api: ApiClient
  readonly autoSettle: boolean
}
export type Bank = {
  /** The service has accepted this one. */
  expect(order: Order): void
  /** Anything, so much later. */
  later(ms: number, work: () => Promise<void>): void
  /** Resolves when everything was reported. */
  close(): Promise<void>
}

const HANDS = 12
const LATE_MS = 3_000
/** An order whose sender was killed is sent again after its lease of 30 s. */
const GIVEN_MS = 90_000

type Report = { readonly path: string; readonly end: End }

/**
 * The payees' bank: it reads the rail's book and says how each order ended, over HTTP, until it is heard: late, out of
 * order, twice, at once, sometimes before it was asked, and sometimes one thing and then another.
 */
export function openBank(book: string, random: () => number, note: (entry: Entry) => void): Bank {
  const given = followLines<Given>(book)
  const known = new Set<string>()
  const waiting = new Map<string, Order>()
  const jobs: { at: number; work: () => Promise<void> }[] = []
  let reports = 0
  let closing = false

  const later = (ms: number, work: () => Promise<void>) => void jobs.push({ at: performance.now() + ms, work })

  const endOf = (kind: Kind, paid: boolean): Report => {
    if (paid) return { path: 'paid', end: 'PAID' }
    const code = `PE000${1 + Math.floor(random() * 4)}`
    return kind === 'refund' ? { path: 'cancelled', end: 'CANCELLED' } : { path: `failed/${code}`, end: 'FAILED' }
  }

  async function report({ uuid, kind, api }: Order, { path, end }: Report): Promise<void> {
    const headers: Record<string, string> = random() < 0.5 ? {} : { 'idempotency-key': `report-${++reports}` }
    const url = `/v1.1/sandbox/sim/${kind}/${uuid}/${path}`
    const { http, body, text } = await untilAnswered(() => api.post(url, undefined, { headers }))
    if (http === 200) note({ what: 'ended', uuid, as: body[kind].status })
    else if (body.errors?.[0]?.message === 'payment cannot be updated') note({ what: 'refusedEnd', uuid, as: end })
    else note({ what: 'wrong', how: `the bank's report on ${kind} ${uuid} was answered ${text}` })
  }

  function settle(order: Order): void {
    const paid = random() < 0.6
    const end = endOf(order.kind, paid)
    const soon = random() * LATE_MS
    later(soon, () => report(order, end))
    if (random() < 0.3) later(soon, () => report(order, end))
    if (random() < 0.2) later(soon + random() * LATE_MS, () => report(order, end))
    if (random() < 0.15)
      later(soon + Math.max(0, random() - 0.5) * LATE_MS, () => report(order, endOf(order.kind, !paid)))
  }

  function readBook(): void {
    for (const { orders } of given.fresh())
      for (const { reference } of orders) {
        const uuid = partsOfTxid(reference)?.saleId ?? reference
        known.add(uuid)
        const order = waiting.get(uuid)
        waiting.delete(uuid)
        if (order) settle(order)
      }
  }
  const reading = setInterval(readBook, 50)

  /** Any job that is due, not the oldest one. */
  async function hand(): Promise<void> {
    while (!closing || jobs.length > 0) {
      const due = jobs.filter(({ at }) => at <= performance.now())
      const job = due[Math.floor(random() * due.length)]
      if (job === undefined) await wait(10)
      else {
        jobs.splice(jobs.indexOf(job), 1)
        await job.work()
      }
    }
  }
  const hands = Promise.all(Array.from({ length: HANDS }, hand))

  /** What ended before it was sent is never given to the rail. */
  async function forgetEnded(): Promise<void> {
    for (const { uuid, api } of waiting.values()) {
      const { body } = await untilAnswered(() => api.get(`/v1.1/transactions/${uuid}`))
      if (body.situation !== 'PENDING') waiting.delete(uuid)
    }
  }

  return {
    later,
    expect(order) {
      // What settles by itself is left alone, mostly.
      if (order.autoSettle && random() < 0.7) return
      if (random() < 0.15 || known.has(order.uuid)) settle(order)
      else waiting.set(order.uuid, order)
    },
    async close() {
      for (const began = performance.now(); waiting.size > 0; await wait(500)) {
        await forgetEnded()
        if (performance.now() - began < GIVEN_MS) continue
        for (const { kind, uuid } of waiting.values())
          note({ what: 'wrong', how: `the rail was never given the order of ${kind} ${uuid}` })
        break
      }
      closing = true
      await hands
      clearInterval(reading)
      given.close()
    },
  }
}

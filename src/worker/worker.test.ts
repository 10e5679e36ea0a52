import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Instant } from '../kernel/calendar.ts'
import type { SweepContext } from './sweeps.ts'
import { startWorker } from './worker.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A database whose statements wait for the test; only their names matter here. */
function heldDatabase(more: Partial<SweepContext> = {}) {
  const asked: string[] = []
  const waiting: { answer(): void; fail(): void }[] = []
  const query = ({ name }: { name: string }) => {
    asked.push(name)
    return new Promise((resolve, reject) =>
      waiting.push({ answer: () => resolve([]), fail: () => reject(new Error('the database is away')) }),
    )
  }
  const logged: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const clock = { now: () => 0 as Instant }
  const context = { db: { query }, clock, onExpired: () => {}, ...more } as unknown as SweepContext
  return { asked, waiting, logged, worker: startWorker(context, logger) }
}

const SECOND = 1_000
const TEN_MINUTES = 600_000
const HOUR = 3_600_000
const microtasks = () => new Promise((resolve) => setImmediate(resolve))

describe('the worker', () => {
  test('looks for expired sales every second, for late ones every minute and for old keys and sessions every ten', async () => {
    const { asked, waiting, worker } = heldDatabase()
    expect(asked).toEqual([])
    vi.advanceTimersByTime(SECOND - 1)
    expect(asked).toEqual([])
    vi.advanceTimersByTime(1)
    expect(asked).toEqual(['sale_expiry_watermark'])
    vi.advanceTimersByTime(TEN_MINUTES - SECOND)
    expect(asked).toEqual(['sale_expiry_watermark', 'sale_expiry_watermark', 'idempotency_prune', 'session_prune'])
    for (const { fail } of waiting) fail()
    await worker.stop()
  })

  test('keeps the days of notifications every hour', async () => {
    const { asked, waiting, worker } = heldDatabase()
    vi.advanceTimersByTime(HOUR - 1)
    expect(asked).not.toContain('notification_days')
    vi.advanceTimersByTime(1)
    expect(asked).toContain('notification_days')
    for (const { fail } of waiting) fail()
    await worker.stop()
  })

  test('settles what goes out every second, of everybody and then of the accounts whose clock runs ahead', async () => {
    let settled = 0
    const settleOutflows = async () => ++settled
    const { asked, waiting, worker } = heldDatabase({ settleOutflows })
    vi.advanceTimersByTime(SECOND - 1)
    expect(settled).toBe(0)
    vi.advanceTimersByTime(1)
    await microtasks()
    expect([settled, asked]).toEqual([1, ['sale_expiry_watermark', 'account_moved_clocks']])
    for (const { fail } of waiting) fail()
    await worker.stop()
  })

  test('never runs a job twice at once, however long a turn takes', async () => {
    const { asked, waiting, worker } = heldDatabase()
    vi.advanceTimersByTime(58 * SECOND)
    expect(asked).toEqual(['sale_expiry_watermark'])
    waiting[0]!.fail()
    await microtasks()
    vi.advanceTimersByTime(SECOND)
    expect(asked).toEqual(['sale_expiry_watermark', 'sale_expiry_watermark'])
    waiting[1]!.fail()
    await worker.stop()
  })

  test('logs a failure and tries again at the next turn', async () => {
    const { asked, waiting, logged, worker } = heldDatabase()
    vi.advanceTimersByTime(SECOND)
    waiting[0]!.fail()
    await microtasks()
    expect(logged).toMatchObject([{ level: 40, job: 'expire sales', err: { message: 'the database is away' } }])
    vi.advanceTimersByTime(SECOND)
    expect(asked).toHaveLength(2)
    waiting[1]!.fail()
    await worker.stop()
  })

  test('stop waits for the turn that runs, starts no other, and what breaks by then is no news', async () => {
    const { asked, waiting, logged, worker } = heldDatabase()
    vi.advanceTimersByTime(SECOND)
    let stopped = false
    const stopping = worker.stop().then(() => {
      stopped = true
    })
    await microtasks()
    expect(stopped).toBe(false)
    waiting[0]!.fail()
    await stopping
    vi.advanceTimersByTime(TEN_MINUTES)
    expect(asked).toHaveLength(1)
    expect(logged).toEqual([])
  })
})

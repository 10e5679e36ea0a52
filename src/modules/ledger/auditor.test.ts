import { describe, expect, test, vi } from 'vitest'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS } from '../../kernel/calendar.ts'
import { systemRandomIds } from '../../platform/random-ids.ts'
import type { RuleResult } from './audit-run.ts'
import { type AuditorContext, createAuditor, TookTooLong } from './auditor.ts'

const it = testService()
const HOLDS: RuleResult = { check: 'all is well', count: 0, examples: [] }
const BROKEN: RuleResult = { check: 'nothing is lost', count: 2, examples: [{ id: 1 }, { id: 2 }] }

/** An auditor of a process of its own, whose audits end when the test says so. */
function processWith() {
  const ends: { resolve(rules: RuleResult[]): void; reject(error: Error): void; limitMs: number }[] = []
  const [alarm, trouble] = [vi.fn(), vi.fn()]
  const run: AuditorContext['run'] = ({ limitMs, signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<RuleResult[]>()
    signal.addEventListener('abort', () => reject(new Error('cut short')))
    ends.push({ resolve, reject, limitMs })
    return promise
  }
  const auditor = createAuditor({ db: it.service.db, clock: it.clock, ids: systemRandomIds(), run, alarm, trouble })
  return { auditor, ends, alarm, trouble }
}

describe('an audit that is asked for', () => {
  test('is one at a time over all processes, and its result is told by any', async () => {
    const [one, two] = [processWith(), processWith()]
    const started = await one.auditor.start()
    expect(started).toEqual({
      state: 'RUNNING',
      startedAt: it.clock.now(),
      endedAt: null,
      trouble: null,
      rules: [],
    })
    it.clock.advance(1_000)
    expect(await two.auditor.start()).toEqual(started)
    expect(await one.auditor.start()).toEqual(started)
    expect([one.ends.length, two.ends.length]).toEqual([1, 0])
    expect(one.ends[0]!.limitMs).toBe(5 * MINUTE_MS)
    one.ends[0]!.resolve([HOLDS])
    await one.auditor.stop()
    const done = { ...started, state: 'DONE', endedAt: it.clock.now(), rules: [HOLDS] }
    expect([await one.auditor.find(), await two.auditor.find()]).toEqual([done, done])
    expect(one.alarm).not.toHaveBeenCalled()
    await two.auditor.start()
    two.ends[0]!.resolve([HOLDS, BROKEN])
    await two.auditor.stop()
    expect((await one.auditor.find())!.rules).toEqual([HOLDS, BROKEN])
    expect(two.alarm.mock.calls).toEqual([['an audit found broken rules', { rules: ['nothing is lost'] }]])
  })

  test.each([
    ['takes too long', new TookTooLong(), 'TIME_LIMIT'],
    ['has trouble', new Error('no such table'), 'STOPPED'],
  ])('that %s failed, and another may begin', async (_name, error, reason) => {
    const { auditor, ends, trouble } = processWith()
    await auditor.start()
    ends[0]!.reject(error)
    await vi.waitFor(async () => expect(await auditor.find()).toMatchObject({ state: 'FAILED', trouble: reason }), {
      timeout: 30_000,
    })
    expect(trouble).toHaveBeenCalledWith(error, 'audit the books')
    expect((await auditor.start()).state).toBe('RUNNING')
    await auditor.stop()
  })

  test('ends with its process', async () => {
    const { auditor } = processWith()
    await auditor.start()
    await auditor.stop()
    expect(await auditor.find()).toMatchObject({ state: 'FAILED', trouble: 'STOPPED', endedAt: it.clock.now() })
  })

  test('whose process died counts as stopped after its time, and what it says then is not heard', async () => {
    const [dead, alive] = [processWith(), processWith()]
    await dead.auditor.start()
    it.clock.advance(6 * MINUTE_MS - 1)
    expect((await alive.auditor.start()).state).toBe('RUNNING')
    expect(alive.ends).toHaveLength(0)
    it.clock.advance(1)
    expect(await alive.auditor.find()).toMatchObject({ state: 'FAILED', trouble: 'STOPPED', endedAt: null })
    const next = await alive.auditor.start()
    dead.ends[0]!.resolve([BROKEN])
    await dead.auditor.stop()
    expect(await alive.auditor.find()).toEqual(next)
    await alive.auditor.stop()
  })
})

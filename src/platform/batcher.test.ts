import { beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Batcher,
  type BatcherOptions,
  createBatcher,
  createLanes,
  DEFERRED,
  Overloaded,
  Unavailable,
} from './batcher.ts'

const waits = vi.hoisted((): number[] => [])
// Waits between tries are written down instead of waited for.
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number) => {
    waits.push(ms)
  },
}))

beforeEach(() => {
  waits.length = 0
})

type Run = { items: readonly string[]; answer(outcomes?: unknown[]): void; fail(error: unknown): void }

/** A batcher whose runs wait until the test answers them. Without outcomes each item gets its own name in capitals. */
function handled(
  options: Partial<BatcherOptions<string, string>> = {},
  create: (options: BatcherOptions<string, string>) => Batcher<string, string> = createBatcher,
) {
  const arrived: Run[] = []
  const wanted: ((run: Run) => void)[] = []
  const batcher = create({
    name: 'test',
    lanes: 1,
    batchMax: 100,
    queueMax: 100,
    ...options,
    run: (items) =>
      new Promise((resolve, reject) => {
        const run: Run = {
          items,
          answer: (outcomes = items.map((item) => item.toUpperCase())) => resolve(outcomes as string[]),
          fail: reject,
        }
        const waiting = wanted.shift()
        if (waiting) waiting(run)
        else arrived.push(run)
      }),
  })
  return {
    batcher,
    nextRun: (): Promise<Run> =>
      arrived.length > 0 ? Promise.resolve(arrived.shift()!) : new Promise((resolve) => wanted.push(resolve)),
    /** Runs that began and that nobody has looked at yet, after everything that was due has happened. */
    async unseenRuns(): Promise<number> {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return arrived.length
    },
  }
}

/** A batcher over a function, and what it was called with. */
function recorded(run: (items: readonly string[]) => unknown, options: Partial<BatcherOptions<string, string>> = {}) {
  const runs: string[] = []
  const batcher = createBatcher<string, string>({
    name: 'test',
    lanes: 1,
    batchMax: 100,
    queueMax: 1_000,
    ...options,
    run: async (items) => {
      runs.push(items.join(' '))
      const outcomes = run(items)
      return (outcomes ?? items.map((item) => item.toUpperCase())) as string[]
    },
  })
  return { batcher, runs }
}

const trouble = (code: string) => Object.assign(new Error(`trouble ${code}`), { code })
const outcomes = (settled: PromiseSettledResult<string>[]) =>
  settled.map((result) => (result.status === 'fulfilled' ? result.value : (result.reason as Error).message))
const refusalOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)

describe('gathering', () => {
  test('a lone item leaves at once', async () => {
    const { batcher, nextRun } = handled()
    const answer = batcher.submit('a')
    const run = await nextRun()
    expect(run.items).toEqual(['a'])
    expect(batcher.depth()).toBe(0)
    run.answer()
    expect(await answer).toBe('A')
    expect(waits).toEqual([])
  })

  test('items that arrive together leave together, and each hears its own outcome', async () => {
    const { batcher, nextRun } = handled()
    const answers = Promise.all(['a', 'b', 'c'].map((item) => batcher.submit(item)))
    const run = await nextRun()
    expect(run.items).toEqual(['a', 'b', 'c'])
    run.answer()
    expect(await answers).toEqual(['A', 'B', 'C'])
  })

  test('items gather while the batch before them is in flight', async () => {
    const { batcher, nextRun, unseenRuns } = handled()
    const first = batcher.submit('a')
    const flying = await nextRun()
    const rest = Promise.all([batcher.submit('b'), batcher.submit('c')])
    expect(await unseenRuns()).toBe(0)
    expect(batcher.depth()).toBe(2)

    flying.answer()
    const next = await nextRun()
    expect(next.items).toEqual(['b', 'c'])
    next.answer()
    expect([await first, ...(await rest)]).toEqual(['A', 'B', 'C'])
  })

  test('as many batches are in flight as there are lanes, and no more', async () => {
    const { batcher, nextRun, unseenRuns } = handled({ lanes: 2 })
    const answers = [batcher.submit('a')]
    const first = await nextRun()
    answers.push(batcher.submit('b'))
    const second = await nextRun()
    answers.push(batcher.submit('c'))
    expect(await unseenRuns()).toBe(0)

    second.answer()
    const third = await nextRun()
    expect(third.items).toEqual(['c'])
    third.answer()
    first.answer()
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C'])
  })

  test('a batch holds at most batchMax items', async () => {
    const sizes: number[] = []
    const { batcher, runs } = recorded(() => undefined, { batchMax: 2, onBatch: (size) => sizes.push(size) })
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((item) => batcher.submit(item)))
    expect(runs).toEqual(['a b', 'c d', 'e'])
    expect(sizes).toEqual([2, 2, 1])
  })

  test('items with the same key never share a batch and keep their order; items without one always may', async () => {
    const { batcher, runs } = recorded(() => undefined, { separate: (item) => /^[a-m]/.exec(item)?.[0] })
    await Promise.all(['a1', 'a2', 'x1', 'b1', 'a3', 'x2', 'b2'].map((item) => batcher.submit(item)))
    expect(runs).toEqual(['a1 x1 b1 x2', 'a2 b2', 'a3'])
  })

  test('an item that waits for its key keeps its place before those behind it when batches are small', async () => {
    const { batcher, runs } = recorded(() => undefined, { batchMax: 2, separate: (item) => item[0] })
    await Promise.all(['a1', 'a2', 'b1', 'c1', 'a3'].map((item) => batcher.submit(item)))
    expect(runs).toEqual(['a1 b1', 'a2 c1', 'a3'])
  })
})

describe('deferred items', () => {
  test('are decided again before those that wait, in their order, while the others are answered', async () => {
    const { batcher, nextRun } = handled()
    const answers = ['a', 'b', 'c'].map((item) => batcher.submit(item))
    const first = await nextRun()
    const late = batcher.submit('d')
    first.answer([DEFERRED, 'B', DEFERRED])
    expect(await answers[1]).toBe('B')

    const again = await nextRun()
    expect(again.items).toEqual(['a', 'c', 'd'])
    again.answer()
    expect(await Promise.all([answers[0], answers[2], late])).toEqual(['A', 'C', 'D'])
  })

  test('are given up after a hundred times, and only they', async () => {
    const { batcher, runs } = recorded((items) => items.map((item) => (item === 'never' ? DEFERRED : 'fine')))
    const settled = await Promise.allSettled([batcher.submit('never'), batcher.submit('a')])
    expect(outcomes(settled)).toEqual(['test: an item was deferred too often', 'fine'])
    expect((settled[0] as PromiseRejectedResult).reason).toBeInstanceOf(Unavailable)
    expect(runs).toHaveLength(100)
  })
})

describe('a poison item', () => {
  const poisonous = (items: readonly string[]) => {
    if (items.some((item) => item.startsWith('poison'))) throw trouble('23514')
  }

  test('is bisected out and fails alone, with its own error', async () => {
    const done: string[] = []
    const { batcher, runs } = recorded((items) => {
      poisonous(items)
      done.push(...items)
    })
    const items = ['a', 'b', 'c', 'poison', 'd', 'e', 'f', 'g']
    const settled = await Promise.allSettled(items.map((item) => batcher.submit(item)))
    expect(outcomes(settled)).toEqual(['A', 'B', 'C', 'trouble 23514', 'D', 'E', 'F', 'G'])
    expect(done.sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    expect(runs).toEqual(['a b c poison d e f g', 'a b c poison', 'a b', 'c poison', 'c', 'poison', 'd e f g'])
  })

  test('in company of others like it still harms nobody else', async () => {
    const { batcher } = recorded(poisonous)
    const items = Array.from({ length: 50 }, (_, at) => (at % 7 === 3 ? `poison${at}` : `good${at}`))
    const settled = await Promise.allSettled(items.map((item) => batcher.submit(item)))
    expect(settled.map(({ status }) => status)).toEqual(
      items.map((item) => (item.startsWith('poison') ? 'rejected' : 'fulfilled')),
    )
  })

  test('does not stop what comes after it', async () => {
    const { batcher } = recorded(poisonous)
    await refusalOf(batcher.submit('poison'))
    expect(await batcher.submit('a')).toBe('A')
  })

  test('a run that forgets an item fails instead of leaving somebody without an answer', async () => {
    const { batcher } = recorded(() => [])
    expect(await refusalOf(batcher.submit('a'))).toEqual(new Error('test: an item has no outcome'))
  })
})

describe('a full queue', () => {
  test('refuses before any effect, and takes items again when there is room', async () => {
    const { batcher, nextRun } = handled({ queueMax: 2 })
    const flying = batcher.submit('a')
    const first = await nextRun()
    const waiting = [batcher.submit('b'), batcher.submit('c')]
    expect(await refusalOf(batcher.submit('d'))).toBeInstanceOf(Overloaded)

    first.answer()
    const second = await nextRun()
    expect(second.items).toEqual(['b', 'c'])
    const late = batcher.submit('e')
    second.answer()
    const third = await nextRun()
    expect(third.items).toEqual(['e'])
    third.answer()
    expect(await Promise.all([flying, ...waiting, late])).toEqual(['A', 'B', 'C', 'E'])
  })

  test('takes all items of an array or none', async () => {
    const { batcher, nextRun } = handled({ queueMax: 3 })
    const flying = batcher.submit('a')
    const first = await nextRun()
    const waiting = batcher.submit('b')
    expect(await refusalOf(batcher.submitAll(['c', 'd', 'e']))).toBeInstanceOf(Overloaded)
    expect(batcher.depth()).toBe(1)
    const fits = batcher.submitAll(['f', 'g'])

    first.answer()
    const second = await nextRun()
    expect(second.items).toEqual(['b', 'f', 'g'])
    second.answer()
    expect([await flying, await waiting, ...(await fits)]).toEqual(['A', 'B', 'F', 'G'])
  })

  test('an array larger than the queue passes when nothing waits', async () => {
    const { batcher } = recorded(() => undefined, { queueMax: 2 })
    expect(await batcher.submitAll(['a', 'b', 'c'])).toEqual(['A', 'B', 'C'])
    expect(await batcher.submitAll([])).toEqual([])
  })
})

describe('database trouble', () => {
  /** Fails the first runs with the given errors, then works. */
  const failing = (...errors: unknown[]) => {
    const left = [...errors]
    return () => {
      const error = left.shift()
      if (error !== undefined) throw error
    }
  }
  const pair = (batcher: { submit(item: string): Promise<string> }) =>
    Promise.allSettled([batcher.submit('a'), batcher.submit('b')])

  test.each(['40001', '40P01'])('%s: the same batch again, after a growing wait', async (code) => {
    const { batcher, runs } = recorded(failing(trouble(code), trouble(code)))
    expect(outcomes(await pair(batcher))).toEqual(['A', 'B'])
    expect(runs).toEqual(['a b', 'a b', 'a b'])
    expect(waits).toEqual([5, 10])
  })

  test('40001 without end: five times again, then the item fails with it', async () => {
    const { batcher, runs } = recorded(() => {
      throw trouble('40001')
    })
    expect(await refusalOf(batcher.submit('a'))).toEqual(trouble('40001'))
    expect(runs).toHaveLength(6)
  })

  test.each([
    ['a cut connection', new Error('Connection terminated unexpectedly')],
    ['a server that went away', trouble('57P01')],
    ['a time-out after sending', new Error('Query read timeout')],
  ])('%s: the outcome is unknown, so the same items are sent again', async (_what, lost) => {
    const { batcher, runs } = recorded(failing(lost))
    expect(outcomes(await pair(batcher))).toEqual(['A', 'B'])
    expect(runs).toEqual(['a b', 'a b'])
    expect(waits).toEqual([100])
  })

  test('a database that stays away: eight times again, then all are told so, never bisected', async () => {
    const { batcher, runs } = recorded(() => {
      throw trouble('ECONNREFUSED')
    })
    const settled = await pair(batcher)
    expect(settled.map((result) => (result as PromiseRejectedResult).reason)).toEqual([
      expect.any(Unavailable),
      expect.any(Unavailable),
    ])
    expect(runs).toEqual(Array(9).fill('a b'))
    expect(waits).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000])
  })

  test('a unique violation: once again as it is, because the other batch is visible by then', async () => {
    const { batcher, runs } = recorded(failing(trouble('23505')))
    expect(outcomes(await pair(batcher))).toEqual(['A', 'B'])
    expect(runs).toEqual(['a b', 'a b'])
  })

  test('a unique violation that stays is bisected out like any other poison', async () => {
    const { batcher, runs } = recorded((items) => {
      if (items.includes('b')) throw trouble('23505')
    })
    expect(outcomes(await pair(batcher))).toEqual(['A', 'trouble 23505'])
    expect(runs).toEqual(['a b', 'a b', 'a', 'b', 'b'])
  })

  test('anything else is not tried again', async () => {
    const { batcher, runs } = recorded(failing(trouble('23514'), trouble('never seen')))
    expect(await refusalOf(batcher.submit('a'))).toEqual(trouble('23514'))
    expect(runs).toEqual(['a'])
    expect(waits).toEqual([])
  })
})

describe('drained', () => {
  test('is now when nothing was submitted', async () => {
    const { batcher } = handled()
    await batcher.drained()
  })

  test('waits for batches in flight, for items in the queue and for deferred ones', async () => {
    const { batcher, nextRun, unseenRuns } = handled({ batchMax: 1 })
    const answers = [batcher.submit('a'), batcher.submit('b')]
    let drained = false
    const all = batcher.drained().then(() => {
      drained = true
    })
    const first = await nextRun()
    first.answer([DEFERRED])
    const again = await nextRun()
    expect(again.items).toEqual(['a'])
    again.answer()
    const second = await nextRun()
    await unseenRuns()
    expect(drained).toBe(false)
    second.answer()
    await all
    expect(await Promise.all(answers)).toEqual(['A', 'B'])
  })

  test('comes after failures too', async () => {
    const { batcher, nextRun } = handled()
    const refused = refusalOf(batcher.submit('a'))
    const drained = batcher.drained()
    const run = await nextRun()
    run.fail(trouble('23514'))
    await drained
    expect(await refused).toEqual(trouble('23514'))
  })
})

describe('lanes by account', () => {
  /** Items such as `7a`: account 7. */
  const inLanes = (options: Partial<BatcherOptions<string, string>> = {}) =>
    handled({ lanes: 2, ...options }, (all) => createLanes({ ...all, accountOf: (item) => Number.parseInt(item, 10) }))

  test('batches in flight at once are of different accounts', async () => {
    const { batcher, nextRun, unseenRuns } = inLanes()
    const first = ['1a', '2a', '3a'].map((item) => batcher.submit(item))
    const runs = [await nextRun(), await nextRun()]
    expect(runs.map((run) => run.items)).toEqual([['1a', '3a'], ['2a']])
    const later = ['1b', '2b'].map((item) => batcher.submit(item))
    expect(await unseenRuns()).toBe(0)
    runs[1]!.answer()
    const next = await nextRun()
    expect(next.items).toEqual(['2b'])
    next.answer()
    runs[0]!.answer()
    ;(await nextRun()).answer()
    expect(await Promise.all([...first, ...later])).toEqual(['1A', '2A', '3A', '1B', '2B'])
  })

  test('share one limit of what may wait', async () => {
    const { batcher, nextRun } = inLanes({ queueMax: 2 })
    const running = [batcher.submit('1a'), batcher.submit('2a')]
    const runs = [await nextRun(), await nextRun()]
    const waiting = [batcher.submit('1b'), batcher.submit('1c')]
    expect(batcher.depth()).toBe(2)
    await expect(batcher.submit('2b')).rejects.toThrow(Overloaded)
    await expect(batcher.submitAll(['2b', '2c'])).rejects.toThrow(Overloaded)
    for (const run of runs) run.answer()
    ;(await nextRun()).answer()
    await Promise.all([...running, ...waiting])
    // More than ever fits is taken when nothing waits.
    const many = batcher.submitAll(['1d', '1e', '1f'])
    ;(await nextRun()).answer()
    expect(await many).toEqual(['1D', '1E', '1F'])
  })

  test('are drained when all of them are', async () => {
    const { batcher, nextRun } = inLanes()
    const submitted = batcher.submitAll(['1a', '2a'])
    const runs = [await nextRun(), await nextRun()]
    let drained = false
    const ended = batcher.drained().then(() => {
      drained = true
    })
    runs[0]!.answer()
    await new Promise((resolve) => setImmediate(resolve))
    expect(drained).toBe(false)
    runs[1]!.answer()
    await ended
    expect(await submitted).toEqual(['1A', '2A'])
  })
})

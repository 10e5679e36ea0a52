import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLooker } from './looker.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const EVERY = 200
const microtasks = () => new Promise((resolve) => setImmediate(resolve))

/** Work whose steps wait for the test. */
function heldWork() {
  const waiting: { answer(more: boolean): Promise<unknown>; fail(): Promise<unknown> }[] = []
  const troubles: string[] = []
  const step = () =>
    new Promise<boolean>((resolve, reject) => {
      const then = (act: () => void) => () => {
        act()
        return microtasks()
      }
      waiting.push({
        answer: (more) => then(() => resolve(more))(),
        fail: then(() => reject(new Error('the database is away'))),
      })
    })
  const looker = createLooker({
    everyMs: EVERY,
    step,
    trouble: (error) => void troubles.push((error as Error).message),
  })
  return { waiting, troubles, looker }
}

describe('a looker', () => {
  test('rests until it is started: a poke before that is nothing', async () => {
    const { waiting, looker } = heldWork()
    looker.poke()
    vi.advanceTimersByTime(EVERY * 10)
    expect(waiting).toHaveLength(0)
    await looker.stop()
  })

  test('looks every now and then, and again only when the last look is over', async () => {
    const { waiting, looker } = heldWork()
    looker.start()
    vi.advanceTimersByTime(EVERY - 1)
    expect(waiting).toHaveLength(0)
    vi.advanceTimersByTime(1)
    expect(waiting).toHaveLength(1)
    vi.advanceTimersByTime(EVERY * 10)
    expect(waiting).toHaveLength(1)
    await waiting[0]!.answer(false)
    vi.advanceTimersByTime(EVERY)
    expect(waiting).toHaveLength(2)
    await waiting[1]!.answer(false)
    await looker.stop()
  })

  test('goes on while there may be more', async () => {
    const { waiting, looker } = heldWork()
    const run = looker.run()
    await waiting[0]!.answer(true)
    await waiting[1]!.answer(true)
    await waiting[2]!.answer(false)
    await run
    expect(waiting).toHaveLength(3)
  })

  test('looks at once when it is poked, never twice at once, and once more for pokes that came meanwhile', async () => {
    const { waiting, looker } = heldWork()
    looker.start()
    looker.poke()
    expect(waiting).toHaveLength(1)
    looker.poke()
    looker.poke()
    looker.poke()
    expect(waiting).toHaveLength(1)
    await waiting[0]!.answer(false)
    expect(waiting).toHaveLength(2)
    await waiting[1]!.answer(false)
    expect(waiting).toHaveLength(2)
    await looker.stop()
  })

  test('one who asks for everything waits for a look that began after asking', async () => {
    const { waiting, looker } = heldWork()
    looker.start()
    looker.poke()
    let done = false
    const run = looker.run().then(() => {
      done = true
    })
    await waiting[0]!.answer(false)
    expect([done, waiting.length]).toEqual([false, 2])
    await waiting[1]!.answer(false)
    await run
    await looker.stop()
  })

  test('tells its trouble, and looks again at the next turn', async () => {
    const { waiting, troubles, looker } = heldWork()
    looker.start()
    vi.advanceTimersByTime(EVERY)
    await waiting[0]!.fail()
    expect(troubles).toEqual(['the database is away'])
    vi.advanceTimersByTime(EVERY)
    expect(waiting).toHaveLength(2)
    await waiting[1]!.answer(false)
    await looker.stop()
  })

  test('stop waits for the step that runs, begins no other, and pokes are nothing from then on', async () => {
    const { waiting, looker } = heldWork()
    looker.start()
    looker.poke()
    let stopped = false
    const stopping = looker.stop().then(() => {
      stopped = true
    })
    await microtasks()
    expect(stopped).toBe(false)
    await waiting[0]!.answer(true)
    await stopping
    looker.poke()
    vi.advanceTimersByTime(EVERY * 10)
    expect(waiting).toHaveLength(1)
  })
})

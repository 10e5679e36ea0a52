import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AccountId } from '../../kernel/ids.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import { type Change, createWatch } from './watch.ts'

const [ONE, TWO] = [1001, 1002] as AccountId[] as [AccountId, AccountId]
const EVERY_MS = 100

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A database that knows a mark and a last line of each account, and which statements it was asked. */
function fakeDatabase() {
  const marks = new Map<AccountId, number>()
  const asked: string[] = []
  let failing = false
  const answer = (name: string) =>
    name === 'sale_marks' ? [...marks].map(([account_id, mark]) => ({ account_id, mark: String(mark) })) : []
  const query = async <Row>({ name }: Statement<Row>): Promise<Row[]> => {
    asked.push(name)
    if (failing) throw new Error('the database is away')
    return answer(name) as Row[]
  }
  return {
    db: { query } as unknown as Database,
    asked,
    touch: (id: AccountId) => void marks.set(id, (marks.get(id) ?? 0) + 1),
    fail: (now: boolean) => {
      failing = now
    },
  }
}

function watchOf(database: ReturnType<typeof fakeDatabase>) {
  const troubles: unknown[] = []
  const watch = createWatch({
    db: database.db,
    everyMs: EVERY_MS,
    before: async () => {},
    trouble: (error) => void troubles.push(error),
  })
  return { watch, troubles }
}

const turn = () => vi.advanceTimersByTimeAsync(EVERY_MS)

describe('a watch', () => {
  test('asks nothing while nobody listens, before and after', async () => {
    const database = fakeDatabase()
    const { watch } = watchOf(database)
    await turn()
    expect(database.asked).toEqual([])
    const stop = await watch.listen(ONE, () => {})
    await turn()
    expect(database.asked.length).toBeGreaterThan(0)
    stop()
    await turn()
    database.asked.length = 0
    await vi.advanceTimersByTimeAsync(100 * EVERY_MS)
    expect(database.asked).toEqual([])
  })

  test('asks once for all, and tells each account its own', async () => {
    const database = fakeDatabase()
    const { watch } = watchOf(database)
    const heard: [AccountId, Change][] = []
    for (const id of [ONE, ONE, TWO, TWO]) await watch.listen(id, (change) => void heard.push([id, change]))
    database.asked.length = 0
    database.touch(TWO)
    await turn()
    expect(database.asked.filter((name) => name === 'sale_marks')).toHaveLength(1)
    expect(heard).toEqual([TWO, TWO].map((id) => [id, { topics: ['sales'], transfers: [] }]))
    await turn()
    expect(heard).toHaveLength(2)
  })

  test('goes on after trouble, and what happened meanwhile is told', async () => {
    const database = fakeDatabase()
    const { watch, troubles } = watchOf(database)
    const heard: Change[] = []
    await watch.listen(ONE, (change) => void heard.push(change))
    database.fail(true)
    database.touch(ONE)
    await turn()
    expect([troubles.length, heard.length]).toEqual([1, 0])
    database.fail(false)
    await turn()
    expect(heard).toHaveLength(1)
  })

  test('does not begin to listen when it cannot know what has been', async () => {
    const database = fakeDatabase()
    const { watch } = watchOf(database)
    database.fail(true)
    await expect(watch.listen(ONE, () => {})).rejects.toThrow('away')
    database.asked.length = 0
    await turn()
    expect(database.asked).toEqual([])
  })
})

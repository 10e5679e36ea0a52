import { describe, expect, test } from 'vitest'
import { testService } from '../../test/harness/test-service.ts'
import type { Database } from './database/database.ts'
import { createNumberBlocks, reserveNumbers } from './number-blocks.ts'

const it = testService()

/** A database that hands out blocks when the test says so. */
function slowDatabase() {
  const asked: { give(first: number): void; fail(): void }[] = []
  const query = () =>
    new Promise((resolve, reject) => {
      asked.push({
        give: (first) => resolve([{ first }]),
        fail: () => reject(new Error('the database is away')),
      })
    })
  return { asked, numbers: createNumberBlocks({ query } as unknown as Database) }
}

describe('numbers taken in blocks', () => {
  test('two processes that take at once never get the same number', async () => {
    const [one, two] = [createNumberBlocks(it.service.db), createNumberBlocks(it.service.db)]
    const taken = await Promise.all([
      one.take(2_500),
      two.take(2_500),
      ...Array.from({ length: 500 }, () => one.next()),
      ...Array.from({ length: 500 }, () => two.next()),
    ])
    const numbers = taken.flat()
    expect(numbers).toHaveLength(6_000)
    expect(new Set(numbers).size).toBe(6_000)
    expect(numbers.every((number) => Number.isSafeInteger(number) && number >= 1_000)).toBe(true)
  })

  test('what a process did not use before it ended is a gap, never handed out again', async () => {
    const last = await createNumberBlocks(it.service.db).next()
    expect(await createNumberBlocks(it.service.db).next()).toBeGreaterThanOrEqual(last + 1_000)
  })

  test('a block lasts for a thousand, and the next one is asked for at half, ahead of need', async () => {
    const { asked, numbers } = slowDatabase()
    const first = numbers.next()
    asked[0]!.give(5_000)
    expect(await first).toBe(5_000)
    expect(await numbers.take(499)).toHaveLength(499)
    expect(asked).toHaveLength(1)
    await numbers.next()
    expect(asked).toHaveLength(2)
    asked[1]!.give(9_000)
    const rest = await numbers.take(500)
    expect([rest[0], rest[498], rest[499]]).toEqual([5_501, 5_999, 9_000])
  })

  test('those who wait for one block share it', async () => {
    const { asked, numbers } = slowDatabase()
    const waiting = Array.from({ length: 50 }, () => numbers.next())
    expect(asked).toHaveLength(1)
    asked[0]!.give(0)
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 50 }, (_, index) => index))
  })

  test('a failure is told to those who wait, and the next one asks again', async () => {
    const { asked, numbers } = slowDatabase()
    const waiting = [numbers.next(), numbers.next()]
    asked[0]!.fail()
    for (const each of await Promise.allSettled(waiting)) expect(each.status).toBe('rejected')
    const again = numbers.next()
    asked[1]!.give(7_000)
    expect(await again).toBe(7_000)
  })

  test('a block asked for ahead that fails hurts nobody until it is needed', async () => {
    const { asked, numbers } = slowDatabase()
    const first = numbers.take(501)
    asked[0]!.give(0)
    await first
    asked[1]!.fail()
    expect(await numbers.take(499)).toHaveLength(499)
    await expect(numbers.next()).rejects.toThrow('away')
    const again = numbers.next()
    asked[2]!.give(4_000)
    expect(await again).toBe(4_000)
  })
})

describe('numbers reserved before a transaction', () => {
  test('are taken at once; one that is tried again gets the same, whatever others take meanwhile', async () => {
    const numbers = createNumberBlocks(it.service.db)
    const reserved = await reserveNumbers(numbers, 3)
    const first = await reserved.take(3)
    expect(first).not.toContain(await numbers.next())
    expect([await reserved.take(3), await reserved.take(2), await reserved.next()]).toEqual([
      first,
      first.slice(0, 2),
      first[0],
    ])
  })

  test('need no connection any more: a transaction that holds the last one never waits for another', async () => {
    const { asked, numbers } = slowDatabase()
    const reserving = reserveNumbers(numbers, 2)
    asked[0]!.give(40)
    const reserved = await reserving
    expect([await reserved.next(), await reserved.take(2), asked.length]).toEqual([40, [40, 41], 1])
  })
})

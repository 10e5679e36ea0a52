import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createDatabase, dropDatabase, placeOf } from '../../../test/harness/test-server.ts'
import { type Database, openDatabase, statement } from './database.ts'
import { findPageWindow, HOUR_MAX, HOUR_MIN, isEmpty, type PageQuery, pageWindowStatement } from './hour-pages.ts'

const server = inject('server')
const name = `quitado_hour_pages_${process.pid}`
let db: Database

beforeAll(async () => {
  await createDatabase(server, name)
  db = openDatabase(placeOf(server, name), { connectionsMax: 2, queryTimeoutMs: 5_000, onError: () => {} })
  await ask('create table counted (account_id bigint, hour integer, n bigint, primary key (account_id, hour))')
})
afterAll(async () => {
  await db.close()
  await dropDatabase(server, name)
})

const ask = (text: string, values: unknown[] = []) => db.query(statement('', text), values)
const windowSql = pageWindowStatement('counted_window', 'counted', 'n')

type Counts = readonly (readonly [hour: number, n: number])[]
let accounts = 0

async function accountWith(counts: Counts): Promise<number> {
  const accountId = ++accounts
  await ask('insert into counted select $1, * from unnest($2::integer[], $3::bigint[])', [
    accountId,
    counts.map(([hour]) => hour),
    counts.map(([, n]) => n),
  ])
  return accountId
}

/** The list itself: the hour of every row, newest first. */
const listOf = (counts: Counts, { hourFrom, hourTo }: PageQuery): number[] =>
  counts
    .filter(([hour]) => hour >= hourFrom && hour < hourTo)
    .sort(([one], [other]) => other - one)
    .flatMap(([hour, n]) => Array<number>(n).fill(hour))

const all = { hourFrom: HOUR_MIN, hourTo: HOUR_MAX }

describe('pages by hour', () => {
  test('an empty list has no window', async () => {
    const window = await findPageWindow(db, windowSql, await accountWith([]), { ...all, offset: 0, limit: 10 })
    expect([window.total, isEmpty(window)]).toEqual([0, true])
  })

  test('a page tells the hours it lies in and how many rows are newer', async () => {
    const accountId = await accountWith([
      [100, 5],
      [101, 0],
      [102, 3],
      [200, 4],
    ])
    const page = (offset: number, limit: number) => findPageWindow(db, windowSql, accountId, { ...all, offset, limit })
    expect(await page(0, 4)).toEqual({ total: 12, before: 0, oldestHour: 200, newestHour: 200 })
    expect(await page(3, 2)).toEqual({ total: 12, before: 0, oldestHour: 102, newestHour: 200 })
    expect(await page(4, 4)).toEqual({ total: 12, before: 4, oldestHour: 100, newestHour: 102 })
    expect(await page(11, 100)).toEqual({ total: 12, before: 7, oldestHour: 100, newestHour: 100 })
    const beyond = await page(12, 100)
    expect([beyond.total, isEmpty(beyond)]).toEqual([12, true])
  })

  test("another account's rows count for nothing", async () => {
    await accountWith([[300, 9]])
    const window = await findPageWindow(db, windowSql, await accountWith([[300, 1]]), { ...all, offset: 0, limit: 10 })
    expect(window).toEqual({ total: 1, before: 0, oldestHour: 300, newestHour: 300 })
  })

  test('for every list and every page the window is what the list says', async () => {
    const counts = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 7 })), {
      selector: ([hour]) => hour,
      maxLength: 15,
    })
    const query = fc.record({
      hourFrom: fc.integer({ min: 0, max: 40 }),
      hourTo: fc.integer({ min: 0, max: 45 }),
      offset: fc.integer({ min: 0, max: 60 }),
      limit: fc.integer({ min: 1, max: 20 }),
    })
    await fc.assert(
      fc.asyncProperty(counts, query, async (given, asked) => {
        const window = await findPageWindow(db, windowSql, await accountWith(given), asked)
        const list = listOf(given, asked)
        const page = list.slice(asked.offset, asked.offset + asked.limit)
        expect(window.total).toBe(list.length)
        expect(isEmpty(window)).toBe(page.length === 0)
        if (page.length === 0) return
        expect(window).toMatchObject({ newestHour: page[0], oldestHour: page.at(-1) })
        expect(window.before).toBe(list.filter((hour) => hour > page[0]!).length)
      }),
      { numRuns: 300, seed: 20_261_116 },
    )
  })
})

import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { SECOND_MS } from '../../kernel/calendar.ts'

const it = testService()
const SEED = 2026

const amounts = [1, 2.5, 100]
const references = ['a', 'b', 'c']
const days = ['2026-11-13', '2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19']

/** What happens, one thing after the other, over about four days. */
const event = fc.record({
  secondsBefore: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 1_500 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1_500, max: 8_000 }) },
  ),
  kind: fc.constantFrom('make', 'make', 'make', 'pay', 'pay', 'void', 'renew', 'sweep'),
  account: fc.integer({ min: 0, max: 1 }),
  target: fc.nat(),
  amount: fc.constantFrom(...amounts),
  referenceCode: fc.constantFrom(...references),
  maxAge: fc.constantFrom(10, 120, 1_440, 43_200),
})

type Row = {
  uuid: string
  situation: string
  amount: number
  referenceCode: string
  creation: string
  processingDate: string | null
}
type World = { account: TestAccount; sales: TestSale[]; rows: Row[] }
const worlds: World[] = []

beforeAll(async () => {
  it.clock.set('2026-11-14 20:00:00')
  for (const _ of [0, 1]) worlds.push({ account: await it.given.account(), sales: [], rows: [] })
  for (const happened of fc.sample(event, { seed: SEED, numRuns: 200 })) {
    it.clock.advance(happened.secondsBefore * SECOND_MS)
    await happen(happened, worlds[happened.account]!)
  }
  for (const { account, sales, rows } of worlds)
    for (const { uuid } of sales) rows.push((await account.api.get(`/v1.1/transactions/${uuid}`)).body)
})

async function happen(
  { kind, target, amount, referenceCode, maxAge }: { kind: string; target: number } & Record<string, unknown>,
  { account, sales }: World,
): Promise<unknown> {
  if (kind === 'sweep') return it.sweep()
  if (kind === 'make' || sales.length === 0)
    return sales.push(await it.given.sale(account, { amount, referenceCode, maxAge }))
  const sale = sales[target % sales.length]!
  if (kind === 'pay') return pay(account, sale)
  if (kind === 'void') return account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
  return account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 60 })
}

/** Too many filters at once find nothing. */
const rarely = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const filter = fc.record({
  initialDate: rarely(fc.constantFrom(...days)),
  finalDate: rarely(fc.constantFrom(...days)),
  currency: rarely(fc.constantFrom('BRL', 'BRL', 'USD')),
  amount: rarely(fc.constantFrom(...amounts, 3)),
  referenceCode: rarely(fc.constantFrom(...references, 'z')),
  situation: rarely(fc.constantFrom('PENDING', 'PAID', 'CANCELLED')),
  type: rarely(fc.constantFrom('SALE', 'SALE', 'REFUND', 'WITHDRAW')),
  queryMode: fc.constantFrom('CREATION', 'PROCESSED', 'REGULAR'),
  page: fc.integer({ min: 0, max: 9 }),
  maxPageResults: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(0, 100, 1_000)),
})
type Filter = typeof filter extends fc.Arbitrary<infer Value> ? Value : never

/** The same list, by reading all of it. */
function naively(rows: readonly Row[], asked: Filter) {
  const momentOf = (row: Row) => (asked.queryMode === 'PROCESSED' ? row.processingDate : row.creation)
  const size = Math.min(Math.max(asked.maxPageResults ?? 100, 1), 100)
  const start = (Math.max(asked.page ?? 1, 1) - 1) * size
  const matching = rows
    .filter((row) => {
      const day = momentOf(row)?.slice(0, 10)
      return (
        day !== undefined &&
        day >= (asked.initialDate ?? '') &&
        day <= (asked.finalDate ?? '9999') &&
        (asked.currency ?? 'BRL') === 'BRL' &&
        (asked.type ?? 'SALE') === 'SALE' &&
        row.amount === (asked.amount ?? row.amount) &&
        row.referenceCode === (asked.referenceCode ?? row.referenceCode) &&
        row.situation === (asked.situation ?? row.situation)
      )
    })
    .sort((a, b) => momentOf(b)!.localeCompare(momentOf(a)!))
  const result = matching.slice(start, start + size)
  return {
    totalElements: matching.length,
    totalPages: Math.ceil(matching.length / size),
    resultSize: result.length,
    result: result.map(({ uuid }) => uuid),
  }
}

describe('sales of some days, in every state', () => {
  test('are worth asking about', () => {
    for (const { rows } of worlds) {
      expect(rows.length).toBeGreaterThan(20)
      expect(new Set(rows.map(({ creation }) => creation.slice(0, 10))).size).toBeGreaterThan(3)
      expect(new Set(rows.map(({ situation }) => situation)).size).toBe(3)
      expect(new Set(rows.map(({ creation }) => creation)).size).toBe(rows.length)
    }
  })

  test('are listed under any filters as reading them all would list them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1 }), filter, async (which, asked) => {
        const { account, rows } = worlds[which]!
        const query = new URLSearchParams(
          Object.fromEntries(
            Object.entries(asked)
              .filter(([, value]) => value !== undefined)
              .map(([name, value]) => [name, String(value)]),
          ),
        )
        const { body } = await account.api.get(`/v1.1/transactions?${query}`)
        const { totalElements, totalPages, resultSize, result } = body
        const listed = { totalElements, totalPages, resultSize, result: result.map(({ uuid }: Row) => uuid) }
        expect(listed).toEqual(naively(rows, asked))
      }),
      { numRuns: 500, seed: SEED },
    )
  })
})

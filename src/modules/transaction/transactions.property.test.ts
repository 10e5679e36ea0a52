import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { payOut, refund, simulate } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { SECOND_MS } from '../../kernel/calendar.ts'

const it = testService()
const SEED = 2026

const amounts = [1, 2.5, 100]
const references = ['a', 'b', 'c']
const days = ['2026-11-13', '2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19']

/** What happens, one thing after the other, over some days. */
const event = fc.record({
  secondsBefore: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 900 }) },
    { weight: 1, arbitrary: fc.integer({ min: 900, max: 5_000 }) },
  ),
  // biome-ignore format: weights
  kind: fc.constantFrom('sale', 'pay', 'void', 'refund', 'refund', 'payout', 'payout', 'end', 'end', 'end'),
  account: fc.integer({ min: 0, max: 1 }),
  target: fc.nat(),
  amount: fc.constantFrom(...amounts),
  referenceCode: fc.constantFrom(...references),
})
type Happening = typeof event extends fc.Arbitrary<infer Value> ? Value : never

type Row = {
  uuid: string
  type: string
  situation: string
  amount: number
  referenceCode: string | null
  creation: string
  processingDate: string | null
}
type World = { account: TestAccount; sales: TestSale[]; out: { kind: string; uuid: string }[]; rows: Row[] }
const worlds: World[] = []

beforeAll(async () => {
  it.clock.set('2026-11-14 20:00:00')
  for (const _ of [0, 1]) {
    const account = await it.given.account({ autoSettle: false, overdraftLimit: 100_000 })
    worlds.push({ account, sales: [await it.given.paidSale(account, { amount: 5_000 })], out: [], rows: [] })
  }
  for (const happened of fc.sample(event, { seed: SEED, numRuns: 350 })) {
    it.clock.advance(happened.secondsBefore * SECOND_MS)
    await happen(happened, worlds[happened.account]!)
  }
  for (const { account, sales, out, rows } of worlds)
    for (const { uuid } of [...sales, ...out]) rows.push((await account.api.get(`/v1.1/transactions/${uuid}`)).body)
})

async function happen({ kind, target, amount, referenceCode }: Happening, world: World): Promise<unknown> {
  const { account, sales, out } = world
  const sale = sales[target % sales.length]!
  const keep = (made: { http: number; body: { uuid: string } }, what: string) =>
    made.http === 200 && out.push({ kind: what, uuid: made.body.uuid })
  if (kind === 'sale') return sales.push(await it.given.sale(account, { amount, referenceCode, maxAge: 43_200 }))
  if (kind === 'pay') return pay(account, sale)
  if (kind === 'void') return account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
  if (kind === 'refund') return keep(await refund(account, target % 2 ? sale : sales[0]!, { amount }), 'refund')
  if (kind === 'payout') return keep(await payOut(account, { amount, referenceCode }), 'payout')
  const order = out[target % Math.max(out.length, 1)]
  if (order === undefined) return undefined
  if (referenceCode === 'a') return simulate(account, order.kind, order.uuid, 'paid')
  if (order.kind === 'refund') return simulate(account, 'refund', order.uuid, 'cancelled')
  if (referenceCode === 'b') return simulate(account, 'payout', order.uuid, 'failed/PE0003')
  return account.api.put(`/v1.1/payout/${order.uuid}/cancel`)
}

/** Too many filters at once find nothing. */
const rarely = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const filter = fc.record({
  initialDate: rarely(fc.constantFrom(...days)),
  finalDate: rarely(fc.constantFrom(...days)),
  currency: rarely(fc.constantFrom('BRL', 'BRL', 'BRL', 'USD')),
  amount: rarely(fc.constantFrom(...amounts, 3)),
  referenceCode: rarely(fc.constantFrom(...references, 'z')),
  situation: rarely(fc.constantFrom('PENDING', 'PAID', 'CANCELLED', 'FAILED')),
  type: rarely(fc.constantFrom('SALE', 'REFUND', 'WITHDRAW', 'PAYOUT')),
  queryMode: fc.constantFrom('CREATION', 'PROCESSED', 'PROCESSED', 'REGULAR'),
  page: fc.integer({ min: 0, max: 9 }),
  maxPageResults: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(0, 100, 1_000)),
})
type Filter = typeof filter extends fc.Arbitrary<infer Value> ? Value : never

/** The same list, by reading all of it. */
function naively(rows: readonly Row[], asked: Filter) {
  const momentOf = (row: Row) => (asked.queryMode === 'PROCESSED' ? row.processingDate : row.creation)
  const size = Math.min(Math.max(asked.maxPageResults ?? 100, 1), 100)
  const start = (Math.max(asked.page ?? 1, 1) - 1) * size
  const type = asked.type === 'WITHDRAW' ? 'PAYOUT' : asked.type
  const matching = rows
    .filter((row) => {
      const day = momentOf(row)?.slice(0, 10)
      return (
        day !== undefined &&
        day >= (asked.initialDate ?? '') &&
        day <= (asked.finalDate ?? '9999') &&
        (asked.currency ?? 'BRL') === 'BRL' &&
        row.type === (type ?? row.type) &&
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

describe('sales, refunds and payouts of some days, in every state', () => {
  test('are worth asking about', () => {
    for (const { rows } of worlds) {
      const of = (type: string) => rows.filter((row) => row.type === type)
      expect(new Set(of('SALE').map(({ situation }) => situation)).size).toBe(3)
      expect(new Set(of('REFUND').map(({ situation }) => situation)).size).toBe(3)
      expect(new Set(of('PAYOUT').map(({ situation }) => situation)).size).toBe(4)
      expect(new Set(rows.map(({ creation }) => creation.slice(0, 10))).size).toBeGreaterThan(3)
      expect(new Set(rows.map(({ creation }) => creation)).size).toBe(rows.length)
    }
  })

  test('are listed under any filters as reading them all would list them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1 }), filter, async (which, asked) => {
        const { account, rows } = worlds[which]!
        const given = Object.entries(asked).filter(([, value]) => value !== undefined)
        const query = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))
        const { body } = await account.api.get(`/v1.1/transactions?${query}`)
        const { totalElements, totalPages, resultSize, result } = body
        const listed = { totalElements, totalPages, resultSize, result: result.map(({ uuid }: Row) => uuid) }
        expect(listed).toEqual(naively(rows, asked))
      }),
      { numRuns: 800, seed: SEED },
    )
  })
})

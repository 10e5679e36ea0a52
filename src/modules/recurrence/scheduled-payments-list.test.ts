import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import {
  cancelCharge,
  chargesOf,
  PAYMENTS,
  recurrences,
  simulateCollection,
  type TestCharge,
  type TestMandate,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { plusDays } from '../../kernel/calendar.ts'
import { chargeStates } from './charge.ts'

const it = testService()
const given = recurrences(it)
const SEED = 2026

type Filters = Record<string, unknown>
const query = ({ api }: TestAccount, filters: Filters = {}) => {
  const sent = Object.entries(filters).filter(([, value]) => value !== undefined)
  return api.get(
    `${PAYMENTS}?${new URLSearchParams(Object.fromEntries(sent.map(([name, value]) => [name, String(value)])))}`,
  )
}
const list = async (account: TestAccount, filters?: Filters) => {
  const { http, body, text } = await query(account, filters)
  expect([http, body.status, body.message], text).toEqual([200, 0, 'success'])
  return body
}
const idsOf = (charges: readonly { instructionId: string }[]) => charges.map(({ instructionId }) => instructionId)

describe('the charges of an account', () => {
  let account: TestAccount
  /** In the order of their making. */
  let charges: (TestCharge & { creation: string })[]

  /** No two of them are made at one time or fall due on one day. */
  beforeAll(async () => {
    account = await it.given.account()
    const days = Array.from({ length: 16 }, (_, index) => 11 + index)
    const mandates: TestMandate[] = []
    for (const inDays of days) {
      it.clock.advance(1_000)
      mandates.push(await given.approvedMandate(account, { ...withRetries, inDays }))
    }
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 10 })
    const act = async (index: number, action: (charge: TestCharge) => Promise<{ http: number }>) => {
      it.clock.advance(1_000)
      const charge = (await chargesOf(account, mandates[index]!)).at(-1)!
      expect((await action(charge)).http).toBe(200)
    }
    await act(3, ({ instructionId }) => simulateCollection(account, instructionId, 'failed'))
    await act(4, ({ instructionId }) => simulateCollection(account, instructionId, 'reject/AC03'))
    await act(5, (charge) => cancelCharge(account, charge))
    await act(14, (charge) => cancelCharge(account, charge))
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 12 })
    const found = await Promise.all(mandates.map((mandate) => chargesOf(account, mandate)))
    charges = (found.flat() as typeof charges).toSorted((a, b) => (a.creation < b.creation ? -1 : 1))
  })

  const rarely = <Value>(value: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
  const day = fc.integer({ min: 8, max: 60 }).map((days) => plusDays('2026-11-16' as never, days))
  const filter = fc.record({
    status: rarely(fc.constantFrom(...chargeStates)),
    initialDueDate: rarely(day),
    finalDueDate: rarely(day),
    page: rarely(fc.integer({ min: -1, max: 6 })),
    maxPageResults: rarely(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(-1, 0, 100, 1_000))),
    sortBy: rarely(fc.constantFrom('dueDate', 'creation')),
    order: rarely(fc.constantFrom('ASC', 'DESC')),
  })
  type Filter = typeof filter extends fc.Arbitrary<infer Value> ? Value : never

  /** The same list, by reading all of it. */
  function naively(asked: Filter) {
    const matching = charges.filter(
      ({ status, dueDate }) =>
        status === (asked.status ?? status) &&
        dueDate.slice(0, 10) >= (asked.initialDueDate ?? '') &&
        dueDate.slice(0, 10) <= (asked.finalDueDate ?? '9999'),
    )
    const key = (asked.sortBy ?? 'creation') as 'dueDate' | 'creation'
    const way = asked.order === 'ASC' ? 1 : -1
    const sorted = matching.toSorted((a, b) => way * (a[key] < b[key] ? -1 : 1))
    const size = Math.min(Math.max(asked.maxPageResults ?? 20, 1), 100)
    const start = Math.max(asked.page ?? 0, 0) * size
    const results = idsOf(sorted.slice(start, start + size))
    return {
      totalElements: matching.length,
      totalPages: Math.ceil(matching.length / size),
      resultSize: results.length,
      results,
    }
  }

  test('are listed under any filters as reading them all would list them', async () => {
    await fc.assert(
      fc.asyncProperty(filter, async (asked) => {
        const { status: _, message: __, ...answer } = await list(account, asked)
        expect({ ...answer, results: idsOf(answer.results) }).toEqual(naively(asked))
      }),
      { numRuns: 400, seed: SEED },
    )
  })

  test('are all different enough for the filters to tell them apart', () => {
    expect(charges.length).toBeGreaterThan(30)
    for (const state of chargeStates) expect(charges.filter(({ status }) => status === state).length).toBeGreaterThan(0)
    for (const key of ['creation', 'dueDate'] as const)
      expect(new Set(charges.map((charge) => charge[key])).size).toBe(charges.length)
    const byDueDate = charges.toSorted((a, b) => (a.dueDate < b.dueDate ? -1 : 1))
    expect(idsOf(byDueDate)).not.toEqual(idsOf(charges))
  })

  test('are each told as their own query tells them', async () => {
    const { results } = await list(account, { maxPageResults: 100 })
    expect(results).toHaveLength(charges.length)
    for (const { authorization, sale, ...payment } of results) {
      const { body } = await account.api.get(`${PAYMENTS}/${payment.instructionId}`)
      expect(body).toEqual({ status: 0, message: 'success', paymentSchedule: payment, authorization, sale })
    }
  })

  test('are of that account alone', async () => {
    const other = await it.given.account()
    const charge = await given.plannedCharge(other)
    expect(idsOf((await list(other)).results)).toEqual([charge.instructionId])
    expect((await it.api.get(PAYMENTS)).http).toBe(403)
  })
})

describe('a filter that is wrong', () => {
  test.each([
    ['status', 'paid'],
    ['status', 'REJECTED'],
    ['initialDueDate', '2026-02-30'],
    ['initialDueDate', '21/11/2026'],
    ['finalDueDate', '2026-11-21 00:00:00'],
    ['page', 'first'],
    ['maxPageResults', 'all'],
    ['sortBy', 'amount'],
    ['order', 'desc'],
  ])('%s=%s', async (name, value) => {
    const { http, body } = await query(await it.given.account(), { [name]: value })
    expect([http, body]).toEqual([
      400,
      {
        status: -1,
        message: 'field validation failure',
        errorCount: 1,
        errors: [{ field: name, message: 'invalid value' }],
      },
    ])
  })

  test('is told with all others; a blank one is none', async () => {
    const account = await it.given.account()
    const { body } = await query(account, { order: 'x', status: 'x', finalDueDate: 'x' })
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(['status', 'finalDueDate', 'order'])
    await given.plannedCharge(account)
    expect((await list(account, { status: '', initialDueDate: ' ', sortBy: '' })).totalElements).toBe(1)
  })
})

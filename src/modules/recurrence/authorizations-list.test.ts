import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { shopper, type TestAccount } from '../../../test/harness/given.ts'
import {
  AUTHORIZATIONS,
  authorizationOf,
  type MandateState,
  mandateNews,
  mandateStates,
  newsTo,
  railSays,
  recurrences,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { dayOf, HOUR_MS, type Instant, wireTimestamp } from '../../kernel/calendar.ts'

const it = testService()
const given = recurrences(it)
const SEED = 2026

type Filters = Record<string, unknown>
const query = ({ api }: TestAccount, filters: Filters = {}) => {
  const sent = Object.entries(filters).filter(([, value]) => value !== undefined)
  return api.get(
    `${AUTHORIZATIONS}?${new URLSearchParams(Object.fromEntries(sent.map(([name, value]) => [name, String(value)])))}`,
  )
}
const list = async (account: TestAccount, filters?: Filters) => {
  const { http, body, text } = await query(account, filters)
  expect([http, body.status, body.message], text).toEqual([200, 0, 'success'])
  return body
}
const recs = ({ results }: { results: { idRec: string }[] }) => results.map(({ idRec }) => idRec)
const named = (name: string) => ({ checkout: { shopper: { ...shopper, name } } })

type Known = { idRec: string; name: string; state: MandateState; createdAt: Instant; updatedAt: Instant }

describe('the mandates of an account', () => {
  // Letters alone: in them every collation agrees with every other.
  const letters = ['a', 'B', 'c', 'D', 'e']
  const words = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom(...letters), { minLength, maxLength }).map((parts) => parts.join(''))
  const worlds: { account: TestAccount; mandates: Known[] }[] = []

  /** Made and changed at different times, so that each order is another one. */
  async function world(seed: number) {
    const account = await it.given.account()
    const terms = fc.record({
      name: words(2, 4),
      state: fc.constantFrom(...mandateStates),
      hours: fc.integer({ min: 1, max: 9 }),
    })
    const mandates: Known[] = []
    for (const { name, state, hours } of fc.sample(terms, { seed, numRuns: 45 })) {
      it.clock.advance(hours * HOUR_MS)
      const createdAt = it.clock.now()
      const { idRec } = await given.mandate(account, named(name))
      mandates.push({ idRec, name, state, createdAt, updatedAt: createdAt })
    }
    for (const one of [...mandates].sort((a, b) => (a.name + a.idRec < b.name + b.idRec ? -1 : 1))) {
      it.clock.advance(1)
      const news = newsTo(one, one.state)
      await railSays(it, ...news)
      if (news.length > 0) one.updatedAt = it.clock.now()
    }
    worlds.push({ account, mandates })
  }
  beforeAll(async () => {
    for (const seed of [1, 2]) await world(seed)
  })

  const rarely = <Value>(value: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
  const day = fc
    .integer({ min: -1, max: 24 })
    .map((days) => dayOf((Date.UTC(2026, 10, 16, 15) + days * 24 * HOUR_MS) as Instant))
  const filter = fc.record({
    situation: rarely(fc.constantFrom(...mandateStates)),
    payerName: rarely(words(1, 2).chain((part) => fc.constantFrom(part, part.toLowerCase(), part.toUpperCase()))),
    initialDate: rarely(day),
    finalDate: rarely(day),
    page: rarely(fc.integer({ min: -1, max: 6 })),
    maxPageResults: rarely(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(-1, 0, 100, 1_000))),
    sortBy: rarely(fc.constantFrom('updatedAt', 'creation', 'payerName')),
    order: rarely(fc.constantFrom('ASC', 'DESC')),
  })
  type Filter = typeof filter extends fc.Arbitrary<infer Value> ? Value : never

  const keys = {
    updatedAt: ({ updatedAt, createdAt }: Known) => [updatedAt, createdAt],
    creation: ({ createdAt }: Known) => [createdAt],
    payerName: ({ name, createdAt }: Known) => [name.toLowerCase(), createdAt],
  }
  function compare(one: readonly (string | number)[], other: readonly (string | number)[]): number {
    const place = one.findIndex((value, index) => value !== other[index])
    return place < 0 ? 0 : one[place]! < other[place]! ? -1 : 1
  }

  /** The same list, by reading all of it. */
  function naively(mandates: readonly Known[], asked: Filter) {
    const matching = mandates.filter(
      ({ state, name, createdAt }) =>
        state === (asked.situation ?? state) &&
        name.toLowerCase().includes((asked.payerName ?? '').toLowerCase()) &&
        dayOf(createdAt) >= (asked.initialDate ?? '') &&
        dayOf(createdAt) <= (asked.finalDate ?? '9999'),
    )
    const key = keys[(asked.sortBy ?? 'updatedAt') as keyof typeof keys]
    const way = asked.order === 'ASC' ? 1 : -1
    const sorted = matching.toSorted((a, b) => way * compare(key(a), key(b)))
    const size = Math.min(Math.max(asked.maxPageResults ?? 20, 1), 100)
    const start = Math.max(asked.page ?? 0, 0) * size
    const results = sorted.slice(start, start + size).map(({ idRec }) => idRec)
    return {
      totalElements: matching.length,
      totalPages: Math.ceil(matching.length / size),
      resultSize: results.length,
      results,
    }
  }

  test('are listed under any filters as reading them all would list them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1 }), filter, async (which, asked) => {
        const { account, mandates } = worlds[which]!
        const { status: _, message: __, ...answer } = await list(account, asked)
        expect({ ...answer, results: recs(answer) }).toEqual(naively(mandates, asked))
      }),
      { numRuns: 500, seed: SEED },
    )
  })

  test('are all different enough for the filters to tell them apart', () => {
    for (const { mandates } of worlds) {
      for (const state of mandateStates) expect(mandates.filter((one) => one.state === state).length).toBeGreaterThan(0)
      expect(new Set(mandates.map(({ createdAt }) => dayOf(createdAt))).size).toBeGreaterThan(5)
      const orders = Object.values(keys).map((key) =>
        mandates.toSorted((a, b) => compare(key(a), key(b))).map(({ idRec }) => idRec),
      )
      expect(new Set(orders.map((order) => order.join())).size).toBe(3)
    }
  })

  test('are each told as their own query tells them', async () => {
    const { account } = worlds[0]!
    const { results } = await list(account, { maxPageResults: 100 })
    for (const one of results) expect(one).toEqual(await authorizationOf(account, one))
    expect(
      new Set(results.map(({ nextRecurrenceDate }: { nextRecurrenceDate: unknown }) => nextRecurrenceDate === null)),
    ).toEqual(new Set([true, false]))
  })

  test('are of that account alone', async () => {
    const account = await it.given.account()
    const { idRec } = await given.mandate(account)
    expect(recs(await list(account))).toEqual([idRec])
    expect((await it.api.get(AUTHORIZATIONS)).http).toBe(403)
  })
})

describe('a day', () => {
  test('is one of São Paulo, from its first moment to its last', async () => {
    const account = await it.given.account()
    it.clock.set('2027-03-01 00:00:00')
    it.clock.advance(-1)
    const made: string[] = []
    for (const step of [0, 1, 24 * HOUR_MS - 1, 1]) {
      it.clock.advance(step)
      made.push((await given.mandate(account)).idRec)
    }
    expect(wireTimestamp(it.clock.now())).toBe('2027-03-02 00:00:00')
    const on = async (filters: Filters) => recs(await list(account, { ...filters, sortBy: 'creation', order: 'ASC' }))
    expect(await on({ initialDate: '2027-03-01', finalDate: '2027-03-01' })).toEqual(made.slice(1, 3))
    expect(await on({ finalDate: '2027-02-28' })).toEqual(made.slice(0, 1))
    expect(await on({ initialDate: '2027-03-02' })).toEqual(made.slice(3))
    expect(await on({ initialDate: '0001-01-01', finalDate: '9999-12-31' })).toEqual(made)
    expect(await on({ initialDate: '2027-03-02', finalDate: '2027-03-01' })).toEqual([])
  })
})

describe('a part of a payer’s name', () => {
  test.each([
    ['%', ['100% Ana']],
    ['_', ['a_b']],
    ['\\', ['c\\d']],
    ['a%b', []],
    ['AXB', ['axb']],
    ['JOSÉ', ['José Conceição']],
    ['conceição', ['José Conceição']],
    ['josé x', []],
  ])('%j finds %j', async (payerName, names) => {
    const account = await it.given.account()
    for (const name of ['José Conceição', 'axb', 'c\\d', 'a_b', '100% Ana']) await given.mandate(account, named(name))
    const { results } = await list(account, { payerName })
    expect(results.map(({ payer }: { payer: { name: string } }) => payer.name)).toEqual(names)
  })

  test('is looked for in the name that the payer’s bank told', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, named('Quem Pediu'))
    await railSays(it, mandateNews(mandate, 'APPROVED', { document: null, name: 'Quem Paga', ispb: null }))
    expect(recs(await list(account, { payerName: 'paga' }))).toEqual([mandate.idRec])
    expect(recs(await list(account, { payerName: 'pediu' }))).toEqual([])
  })
})

describe('a filter that is wrong', () => {
  test.each([
    ['situation', 'approved'],
    ['situation', 'PAID'],
    ['payerName', 'x'.repeat(256)],
    ['initialDate', '2026-02-30'],
    ['initialDate', '16/11/2026'],
    ['finalDate', '2026-11-16 12:00:00'],
    ['page', 'first'],
    ['maxPageResults', '1.5'],
    ['sortBy', 'amount'],
    ['sortBy', 'updated_at; drop table mandate'],
    ['order', 'asc'],
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
    const { body } = await query(account, { situation: 'x', order: 'x', page: 'x' })
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(['situation', 'page', 'order'])
    await given.mandate(account)
    expect((await list(account, { situation: '', payerName: ' ', sortBy: '' })).totalElements).toBe(1)
  })
})

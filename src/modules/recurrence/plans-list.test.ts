import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { periodicities } from './cycle.ts'

const it = testService()
const SEED = 2026
const PLANS = '/v1.1/pix-automatic/plans'

type Listed = { id: string; title: string; frequency: string; enabled: boolean }
const list = async ({ api }: TestAccount, filters: Record<string, unknown> = {}) => {
  const sent = Object.entries(filters).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(Object.fromEntries(sent.map(([name, value]) => [name, String(value)])))
  return (await api.get(`${PLANS}?${query}`)).body
}
const titlesOf = ({ result }: { result: Listed[] }) => result.map(({ title }) => title)

async function plan({ api }: TestAccount, title: string, fields: Record<string, unknown> = {}): Promise<Listed> {
  it.clock.advance(1)
  const made = await api.post(PLANS, { title, frequency: 'MONTHLY', recurrenceAmount: 1, ...fields })
  expect(made.http, made.text).toBe(201)
  return made.body
}

describe('the plans of an account', () => {
  // What a pattern would take for a sign, and letters that have two cases beyond ASCII.
  const letters = ['a', 'B', '%', '_', '\\', 'ç', 'Ã', 'É', ' ', "'", '"', '*', '?']
  const words = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom(...letters), { minLength, maxLength }).map((parts) => parts.join(''))
  const title = words(2, 6).map((rest) => `p${rest}`)
  const worlds: { account: TestAccount; plans: Listed[] }[] = []

  beforeAll(async () => {
    const terms = fc.record({ title, frequency: fc.constantFrom(...periodicities), enabled: fc.boolean() })
    for (const seed of [1, 2]) {
      const account = await it.given.account()
      const plans: Listed[] = []
      for (const { title, ...fields } of fc.sample(terms, { seed, numRuns: 60 }))
        plans.unshift(await plan(account, title, fields))
      worlds.push({ account, plans })
    }
  })

  const rarely = <Value>(value: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
  const inAnyCase = fc
    .tuple(words(1, 3), fc.constantFrom('as it is', 'lower', 'upper'))
    .map(([text, as]) => (as === 'lower' ? text.toLowerCase() : as === 'upper' ? text.toUpperCase() : text))
  const filter = fc.record({
    title: fc.oneof(fc.constant(undefined), inAnyCase),
    enabled: rarely(fc.boolean()),
    frequency: rarely(fc.constantFrom(...periodicities)),
    page: rarely(fc.integer({ min: -1, max: 9 })),
    maxPageResults: rarely(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(-1, 0, 100, 1_000))),
  })
  type Filter = typeof filter extends fc.Arbitrary<infer Value> ? Value : never

  /** The same list, by reading all of it. */
  function naively(plans: readonly Listed[], asked: Filter) {
    const part = asked.title?.trim() ? asked.title.toLowerCase() : ''
    const matching = plans.filter(
      (one) =>
        one.title.toLowerCase().includes(part) &&
        one.enabled === (asked.enabled ?? one.enabled) &&
        one.frequency === (asked.frequency ?? one.frequency),
    )
    const size = Math.min(Math.max(asked.maxPageResults ?? 20, 1), 100)
    const start = Math.max(asked.page ?? 0, 0) * size
    const result = matching.slice(start, start + size)
    return {
      totalElements: matching.length,
      totalPages: Math.ceil(matching.length / size),
      resultSize: result.length,
      result: result.map(({ id }) => id),
    }
  }

  test('are listed under any filters as reading them all would list them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1 }), filter, async (which, asked) => {
        const { account, plans } = worlds[which]!
        const { status, message, result, ...counts } = await list(account, asked)
        expect([status, message]).toEqual([0, 'success'])
        expect({ ...counts, result: result.map(({ id }: Listed) => id) }).toEqual(naively(plans, asked))
      }),
      { numRuns: 1_000, seed: SEED },
    )
  })

  test('are all different enough for the filters to tell them apart', () => {
    for (const { plans } of worlds) {
      for (const letter of letters) {
        const { totalElements } = naively(plans, { title: letter, enabled: undefined, frequency: undefined } as Filter)
        expect(totalElements).toBeGreaterThan(2)
      }
      expect(new Set(plans.map(({ frequency }) => frequency)).size).toBe(5)
      expect(new Set(plans.map(({ enabled }) => enabled)).size).toBe(2)
    }
  })

  test('are each told as the answer to their making told them', async () => {
    const account = await it.given.account()
    const made = await plan(account, 'Um plano', { description: 'x', imediateAmount: 2 })
    const [listed] = (await list(account)).result
    expect({ status: 0, message: 'success', ...listed }).toEqual(made)
  })
})

describe('a part of a title', () => {
  test.each([
    ['%', ['100% seu']],
    ['0%', ['100% seu']],
    ['_', ['a_b']],
    ['\\', ['c\\d']],
    ['a%b', []],
    ['%%', []],
    ['a_', ['a_b']],
    ['AXB', ['axb']],
    ['MÊS', ['Mês a mês']],
    ['mÊs A', ['Mês a mês']],
    ['100% seu', ['100% seu']],
    ['100% seu!', []],
  ])('%j finds %j', async (title, titles) => {
    const account = await it.given.account()
    for (const name of ['Mês a mês', 'axb', 'c\\d', 'a_b', '100% seu']) await plan(account, name)
    expect(titlesOf(await list(account, { title }))).toEqual(titles)
  })

  test('is looked for in the title alone', async () => {
    const account = await it.given.account()
    await plan(account, 'Plano', { description: 'mensal' })
    expect((await list(account, { title: 'mensal' })).totalElements).toBe(0)
  })
})

describe('the pages of a list of plans', () => {
  let account: TestAccount
  const numbers = Array.from({ length: 101 }, (_, index) => `Plano ${101 - index}`)
  beforeAll(async () => {
    account = await it.given.account()
    for (const title of numbers.toReversed()) await plan(account, title)
  })

  test.each([
    [{}, 0, 20, 6],
    [{ page: 0 }, 0, 20, 6],
    [{ page: 1 }, 20, 40, 6],
    [{ page: 5 }, 100, 101, 6],
    [{ page: 6 }, 101, 101, 6],
    [{ page: 999_999_999_999 }, 101, 101, 6],
    [{ page: -7 }, 0, 20, 6],
    [{ maxPageResults: 1 }, 0, 1, 101],
    [{ maxPageResults: 1, page: 100 }, 100, 101, 101],
    [{ maxPageResults: 0 }, 0, 1, 101],
    [{ maxPageResults: -3 }, 0, 1, 101],
    [{ maxPageResults: 100 }, 0, 100, 2],
    [{ maxPageResults: 101 }, 0, 100, 2],
    [{ maxPageResults: 5_000, page: 1 }, 100, 101, 2],
    [{ maxPageResults: '', page: '' }, 0, 20, 6],
  ])('%j: from %d to %d, of %d pages', async (asked, from, to, totalPages) => {
    const body = await list(account, asked)
    expect(body).toMatchObject({ totalElements: 101, totalPages, resultSize: to - from })
    expect(titlesOf(body)).toEqual(numbers.slice(from, to))
  })

  test('count what the filters leave', async () => {
    expect(await list(account, { title: 'Plano 10', maxPageResults: 2 })).toMatchObject({
      totalElements: 3,
      totalPages: 2,
      resultSize: 2,
    })
    expect(await list(account, { enabled: false })).toMatchObject({ totalElements: 0, totalPages: 0, resultSize: 0 })
  })
})

describe('a list of plans', () => {
  test('is the account’s alone', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    await plan(account, 'Plano')
    expect((await list(other)).totalElements).toBe(0)
    expect((await list(account)).totalElements).toBe(1)
  })

  test('follows a change at once', async () => {
    const account = await it.given.account()
    const { id } = await plan(account, 'Plano')
    await account.api.put(`${PLANS}/${id}`, { enabled: false, title: 'Outro', frequency: 'WEEKLY' })
    for (const left of [{ enabled: true }, { title: 'plano' }, { frequency: 'MONTHLY' }])
      expect((await list(account, left)).totalElements).toBe(0)
    expect(titlesOf(await list(account, { enabled: false, title: 'outro', frequency: 'WEEKLY' }))).toEqual(['Outro'])
  })

  test.each([
    ['title', 'x'.repeat(101)],
    ['title', 'a\0'],
    ['enabled', 'yes'],
    ['enabled', '1'],
    ['enabled', 'TRUE'],
    ['frequency', 'DAILY'],
    ['frequency', 'monthly'],
    ['page', 'x'],
    ['page', '1.5'],
    ['maxPageResults', 'all'],
  ])('is refused for %s=%j', async (name, value) => {
    const account = await it.given.account()
    const body = await list(account, { [name]: value })
    expect(body).toEqual({
      status: -1,
      message: 'field validation failure',
      errorCount: 1,
      errors: [{ field: name, message: 'invalid value' }],
    })
  })

  test('is refused for each wrong filter, in order, and for one that is given twice', async () => {
    const { api } = await it.given.account()
    const fieldsOf = async (query: string) =>
      (await api.get(`${PLANS}?${query}`)).body.errors.map(({ field }: { field: string }) => field)
    expect(await fieldsOf('maxPageResults=x&page=x&frequency=x&enabled=x&title=%00')).toEqual([
      'title',
      'enabled',
      'frequency',
      'page',
      'maxPageResults',
    ])
    expect(await fieldsOf('title=a&title=b')).toEqual(['title'])
  })
})

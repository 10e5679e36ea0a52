import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { numberOf } from '../../../test/harness/money-out.ts'
import { startTestService, type TestService, testService } from '../../../test/harness/test-service.ts'
import { DAY_MS } from '../../kernel/calendar.ts'

const it = testService()
const PLANS = '/v1.1/pix-automatic/plans'
const NOON = '2026-11-16 12:00:00'

const planBody = (fields: Record<string, unknown> = {}) => ({
  title: 'Plano mensal',
  frequency: 'MONTHLY',
  recurrenceAmount: 49.9,
  ...fields,
})
const whole = {
  title: 'Plano anual',
  description: 'Tudo incluído',
  frequency: 'ANNUALLY',
  period: 5,
  imediateAmount: 10.5,
  recurrenceAmount: 600,
  minimumRecurrenceAmount: 450.25,
  retryPolicy: 'ACCEPT_3R_7D',
  enabled: false,
}
const success = { status: 0, message: 'success' }
const make = ({ api }: TestAccount, fields?: Record<string, unknown>, headers = {}) =>
  api.post(PLANS, planBody(fields), { headers })
const change = ({ api }: TestAccount, id: string, fields?: unknown, headers = {}) =>
  api.put(`${PLANS}/${id}`, fields, { headers })
const query = ({ api }: TestAccount, id: string) => api.get(`${PLANS}/${id}`)

async function madeBy(account: TestAccount, fields?: Record<string, unknown>) {
  const { http, text, body } = await make(account, fields)
  expect(http, text).toBe(201)
  return body
}
/** As the query of it tells, without the envelope. */
async function planOf(account: TestAccount, id: string) {
  const { status, message, authorizations, ...plan } = (await query(account, id)).body
  expect([status, message, authorizations]).toEqual([0, 'success', []])
  return plan
}
const countOf = async ({ api }: TestAccount): Promise<number> => (await api.get(PLANS)).body.totalElements

const notFound = {
  status: 998,
  message: 'plan not found',
  errorCount: 1,
  errors: [{ field: 'planId', message: 'non-existent plan' }],
}

describe('a plan is made', () => {
  test('from a title, a frequency and an amount', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const { http, body } = await make(account)
    expect([http, body]).toEqual([
      201,
      {
        ...success,
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        title: 'Plano mensal',
        description: null,
        frequency: 'MONTHLY',
        period: 0,
        imediateAmount: null,
        recurrenceAmount: 49.9,
        minimumRecurrenceAmount: 49.9,
        retryPolicy: 'NOT_ACCEPT',
        enabled: true,
        creation: NOON,
        totalAuthorizations: 0,
      },
    ])
    expect((await query(account, body.id)).body).toEqual({ ...body, authorizations: [] })
  })

  test('with all that it can have', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const made = await madeBy(account, whole)
    expect(made).toEqual({ ...success, id: made.id, ...whole, creation: NOON, totalAuthorizations: 0 })
    expect({ ...success, ...(await planOf(account, made.id)) }).toEqual(made)
  })

  test.each([
    ['title', 'abc'],
    ['title', 'é'.repeat(100)],
    ['title', '😀'.repeat(100)],
    ['title', `a%_\\'";--`],
    ['description', 'x'],
    ['description', 'x'.repeat(255)],
    ['frequency', 'WEEKLY'],
    ['frequency', 'MONTHLY'],
    ['frequency', 'QUARTERLY'],
    ['frequency', 'SEMIANNUAL'],
    ['frequency', 'ANNUALLY'],
    ['period', 0],
    ['period', 100],
    ['imediateAmount', 0.01],
    ['imediateAmount', 9999999999.99],
    ['recurrenceAmount', 0.01],
    ['recurrenceAmount', 9999999999.99],
    ['minimumRecurrenceAmount', 0.01],
    ['minimumRecurrenceAmount', 9999999999.99],
    ['retryPolicy', 'ACCEPT_3R_7D'],
    ['retryPolicy', 'NOT_ACCEPT'],
    ['enabled', true],
    ['enabled', false],
  ])('with %s %j', async (field, value) => {
    const account = await it.given.account()
    const made = await madeBy(account, { [field]: value })
    expect(made[field]).toBe(value)
    expect((await planOf(account, made.id))[field]).toBe(value)
  })

  test('with numbers as text, to the cent', async () => {
    const made = await madeBy(await it.given.account(), {
      recurrenceAmount: '99.00',
      imediateAmount: '0.3',
      minimumRecurrenceAmount: '12.34',
      period: '12',
    })
    expect(made).toMatchObject({
      recurrenceAmount: 99,
      imediateAmount: 0.3,
      minimumRecurrenceAmount: 12.34,
      period: 12,
    })
  })

  test('with what is null or blank as if it were not sent, and with no field of another name', async () => {
    const nothing = Object.fromEntries(
      ['description', 'period', 'imediateAmount', 'minimumRecurrenceAmount', 'retryPolicy', 'enabled'].map((field) => [
        field,
        null,
      ]),
    )
    const account = await it.given.account()
    const plain = { ...(await madeBy(account)), id: 'any', creation: 'any' }
    for (const fields of [nothing, { description: '  ' }, { immediateAmount: 5, id: 'mine', totalAuthorizations: 7 }]) {
      const made = await madeBy(account, fields)
      expect({ ...made, id: 'any', creation: 'any' }).toEqual(plain)
      expect(made.id).not.toBe('mine')
    }
  })

  test('under an id that begins with its creation in account time', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    const [one, other] = [await madeBy(account), await madeBy(account)]
    expect(one.creation).toBe('2026-11-19 12:00:00')
    for (const { id } of [one, other]) expect(Number.parseInt(id.slice(0, 12), 16)).toBe(it.clock.now() + 3 * DAY_MS)
    expect(one.id).not.toBe(other.id)
  })
})

// biome-ignore format: a table
const wrong: readonly (readonly [field: string, value: unknown, message: string, code: string])[] = [
  ['title',                   'ab',            'must have 3 to 100 characters',                     'title.length'],
  ['title',                   '😀😀',          'must have 3 to 100 characters',                     'title.length'],
  ['title',                   'x'.repeat(101), 'must have 3 to 100 characters',                     'title.length'],
  ['title',                   'a\0bc',         'must have 3 to 100 characters',                     'title.length'],
  ['title',                   123,             'must have 3 to 100 characters',                     'title.length'],
  ['description',             'x'.repeat(256), 'must have at most 255 characters',                  'description.length'],
  ['description',             {},              'must have at most 255 characters',                  'description.length'],
  ['frequency',               'DAILY',         'must be one of WEEKLY, MONTHLY, QUARTERLY, SEMIANNUAL, ANNUALLY', 'frequency.invalid'],
  ['frequency',               'monthly',       'must be one of WEEKLY, MONTHLY, QUARTERLY, SEMIANNUAL, ANNUALLY', 'frequency.invalid'],
  ['recurrenceAmount',        0,               'must be at least 0.01',                             'recurrenceAmount.min'],
  ['recurrenceAmount',        -5,              'must be at least 0.01',                             'recurrenceAmount.min'],
  ['recurrenceAmount',        0.001,           'must be a decimal number with at most two decimals, up to 9999999999.99', 'recurrenceAmount.invalid'],
  ['recurrenceAmount',        10_000_000_000,  'must be a decimal number with at most two decimals, up to 9999999999.99', 'recurrenceAmount.invalid'],
  ['recurrenceAmount',        '1,50',          'must be a decimal number with at most two decimals, up to 9999999999.99', 'recurrenceAmount.invalid'],
  ['period',                  -1,              'must be a whole number from 0 to 100',              'period.limit'],
  ['period',                  101,             'must be a whole number from 0 to 100',              'period.limit'],
  ['period',                  1.5,             'must be a whole number from 0 to 100',              'period.limit'],
  ['imediateAmount',          0,               'must be at least 0.01',                             'imediateAmount.min'],
  ['imediateAmount',          'x',             'must be a decimal number with at most two decimals, up to 9999999999.99', 'imediateAmount.invalid'],
  ['minimumRecurrenceAmount', 0,               'must be at least 0.01',                             'minimumRecurrenceAmount.min'],
  ['minimumRecurrenceAmount', [],              'must be a decimal number with at most two decimals, up to 9999999999.99', 'minimumRecurrenceAmount.invalid'],
  ['retryPolicy',             'ACCEPT',        'must be one of ACCEPT_3R_7D, NOT_ACCEPT',           'retryPolicy.invalid'],
  ['enabled',                 'true',          'must be true or false',                             'enabled.invalid'],
  ['enabled',                 1,               'must be true or false',                             'enabled.invalid'],
]
const refusal = (errors: readonly object[]) => ({
  status: -1,
  message: 'field validation failure',
  errorCount: errors.length,
  errors,
})

describe('a plan is not made', () => {
  test.each(wrong)('with %s %j', async (field, value, message, code) => {
    const account = await it.given.account()
    const { http, body } = await make(account, { [field]: value })
    expect([http, body]).toEqual([400, refusal([{ field, message, code }])])
    expect(await countOf(account)).toBe(0)
  })

  test.each(['title', 'frequency', 'recurrenceAmount'])('without its %s', async (field) => {
    const account = await it.given.account()
    const missing: [unknown, string][] = [
      [undefined, 'may not be null'],
      [null, 'may not be null'],
      [' ', 'may not be empty'],
    ]
    for (const [value, message] of missing) {
      const { http, body } = await make(account, { [field]: value })
      expect([http, body]).toEqual([400, refusal([{ field, message }])])
    }
    expect(await countOf(account)).toBe(0)
  })

  test('when many fields are wrong, each of which is named, in order', async () => {
    const account = await it.given.account()
    const fields = ['title', 'description', 'frequency', 'recurrenceAmount', 'period', 'imediateAmount']
    fields.push('minimumRecurrenceAmount', 'retryPolicy', 'enabled')
    const all = Object.fromEntries(fields.toReversed().map((field) => [field, { wrong: true }]))
    const { http, body } = await account.api.post(PLANS, all)
    expect([http, body.errorCount]).toEqual([400, 9])
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(fields)
    expect(await countOf(account)).toBe(0)
  })

  test('from no body, from what is no object and from what is no JSON', async () => {
    const account = await it.given.account()
    expect((await account.api.post(PLANS)).body.errorCount).toBe(3)
    expect((await account.api.post(PLANS, [planBody()])).body.errorCount).toBe(3)
    expect((await account.api.post(PLANS, undefined, { raw: '{"title":' })).http).toBe(400)
    expect(await countOf(account)).toBe(0)
  })

  test('without credentials', async () => {
    expect((await it.api.post(PLANS, planBody())).http).toBe(403)
    expect((await it.api.get(PLANS)).http).toBe(403)
  })
})

describe('a plan is changed', () => {
  // biome-ignore format: a table
  test.each([
    ['title',                   'Plano novo'],
    ['description',             'Outra'],
    ['frequency',               'WEEKLY'],
    ['period',                  0],
    ['imediateAmount',          0.01],
    ['recurrenceAmount',        1],
    ['recurrenceAmount',        9_000],
    ['minimumRecurrenceAmount', 7_000],
    ['retryPolicy',             'NOT_ACCEPT'],
    ['enabled',                 true],
  ])('in its %s to %j, and in nothing else', async (field, value) => {
    const account = await it.given.account()
    const { status, message, ...before } = await madeBy(account, whole)
    const bystander = await madeBy(account, whole)
    it.clock.advance(DAY_MS)
    const { http, body } = await change(account, before.id, { [field]: value })
    expect([http, body]).toEqual([200, { ...success, ...before, [field]: value }])
    expect(await planOf(account, before.id)).toEqual({ ...before, [field]: value })
    expect({ ...success, ...(await planOf(account, bystander.id)) }).toEqual(bystander)
  })

  test('in all that is sent', async () => {
    const account = await it.given.account()
    const { id, creation } = await madeBy(account)
    const { body } = await change(account, id, whole)
    expect(body).toEqual({ ...success, id, ...whole, creation, totalAuthorizations: 0 })
  })

  test('in nothing by nothing: no body, no fields, null, blank, or what is not its merchant’s to say', async () => {
    const account = await it.given.account()
    const { status, message, ...before } = await madeBy(account, whole)
    const nothing = Object.fromEntries(Object.keys(whole).map((field) => [field, null]))
    const others = { id: 'f'.repeat(24), creation: '2020-01-01 00:00:00', totalAuthorizations: 9, authorizations: [] }
    for (const fields of [undefined, {}, null, [], nothing, { title: '', description: ' ' }, others]) {
      const { http, body } = await change(account, before.id, fields)
      expect([http, body]).toEqual([200, { ...success, ...before }])
    }
    expect(await planOf(account, before.id)).toEqual(before)
  })

  test('under its id in any case', async () => {
    const account = await it.given.account()
    const { id } = await madeBy(account)
    expect((await change(account, id.toUpperCase(), { period: 3 })).body.id).toBe(id)
    expect((await planOf(account, id.toUpperCase())).period).toBe(3)
  })

  test('by several at once without losing what any of them said', async () => {
    const account = await it.given.account()
    const { id } = await madeBy(account)
    for (let round = 1; round <= 10; round += 1) {
      const changes = [
        { title: `Plano ${round}` },
        { description: `Texto ${round}` },
        { period: round },
        { recurrenceAmount: round },
        { minimumRecurrenceAmount: round / 100 },
        { imediateAmount: 100 + round },
      ]
      const answers = await Promise.all(changes.map((fields) => change(account, id, fields)))
      expect(answers.map(({ http }) => http)).toEqual(changes.map(() => 200))
      expect(await planOf(account, id)).toMatchObject(Object.assign({}, ...changes))
    }
  })
})

describe('a plan is not changed', () => {
  test.each(wrong)('to %s %j, nor in what was right beside it', async (field, value, message, code) => {
    const account = await it.given.account()
    const { status, message: _, ...before } = await madeBy(account, whole)
    const right = { title: 'Outro', recurrenceAmount: 1, description: 'Outra' }
    const { http, body } = await change(account, before.id, { ...right, [field]: value })
    expect([http, body]).toEqual([400, refusal([{ field, message, code }])])
    expect(await planOf(account, before.id)).toEqual(before)
  })

  test('when it is unknown, another’s, or no plan’s id: it is not found', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const { status, message, ...foreign } = await madeBy(other, whole)
    for (const id of [foreign.id, 'f'.repeat(24), foreign.id.slice(1), `${foreign.id}0`, randomUUID(), 'x', '%00']) {
      expect(await change(account, id, { period: 1 })).toMatchObject({ http: 404, body: notFound })
      expect(await query(account, id)).toMatchObject({ http: 404, body: notFound })
    }
    expect(await planOf(other, foreign.id)).toEqual(foreign)
  })

  test('by what is no JSON', async () => {
    const account = await it.given.account()
    const { id } = await madeBy(account)
    expect((await account.api.put(`${PLANS}/${id}`, undefined, { raw: '{"period":' })).http).toBe(400)
    expect((await planOf(account, id)).period).toBe(0)
  })
})

describe('with an Idempotency-Key', () => {
  const keyed = () => ({ 'idempotency-key': randomUUID() })

  test('a plan is made once, and the same request again hears the same', async () => {
    const [account, key] = [await it.given.account(), keyed()]
    const first = await make(account, whole, key)
    it.clock.advance(1_000)
    const again = await make(account, whole, key)
    expect([again.http, again.text]).toEqual([201, first.text])
    expect([first, again].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true'])
    expect(await countOf(account)).toBe(1)
  })

  test('a plan is made once by any number of requests at once', async () => {
    const [account, key] = [await it.given.account(), keyed()]
    const answers = await Promise.all(Array.from({ length: 8 }, () => make(account, whole, key)))
    expect(new Set(answers.map(({ http, text }) => `${http} ${text}`)).size).toBe(1)
    expect(await countOf(account)).toBe(1)
  })

  test('another request is refused', async () => {
    const [account, key] = [await it.given.account(), keyed()]
    await make(account, {}, key)
    const other = await make(account, { period: 3 }, key)
    expect([other.http, other.body.errors[0].field]).toEqual([422, 'Idempotency-Key'])
    expect(await countOf(account)).toBe(1)
  })

  test('a change is not made again after another one', async () => {
    const [account, key] = [await it.given.account(), keyed()]
    const { id } = await madeBy(account)
    const first = await change(account, id, { recurrenceAmount: 10 }, key)
    await change(account, id, { recurrenceAmount: 20 })
    expect((await change(account, id, { recurrenceAmount: 10 }, key)).text).toBe(first.text)
    expect((await planOf(account, id)).recurrenceAmount).toBe(20)
  })

  test('a refusal is kept as well', async () => {
    const [account, key] = [await it.given.account(), keyed()]
    const id = 'f'.repeat(24)
    for (const replayed of [undefined, 'true']) {
      const { http, body, headers } = await change(account, id, { period: 1 }, key)
      expect([http, body, headers['idempotency-replayed']]).toEqual([404, notFound, replayed])
    }
  })
})

describe('the authorizations of a plan', () => {
  // Their rows are written by hand, without all that belongs to a mandate: no place for an audit of the books.
  let own: TestService & { stop(): Promise<void> }
  beforeAll(async () => {
    own = await startTestService()
  })
  afterAll(() => own.stop())

  type Row = { n: number; state: string; periodicity: string; first: string; next: number | null; ispb: string | null }
  const row = (n: number, fields: Partial<Row> = {}): Row => ({
    n,
    state: 'APPROVED',
    periodicity: 'MONTHLY',
    first: '2026-01-31',
    next: null,
    ispb: '12345678',
    ...fields,
  })
  const idRecOf = (n: number) => `RN${String(n).padStart(27, '0')}`

  async function authorized(account: TestAccount, planId: string, rows: readonly Row[]): Promise<void> {
    const numbers = await numberOf(own, account)
    await own.rows(
      `insert into mandate (account_id, id, number, id_rec, plan_id, state, value_type, amount_cents, periodicity, initial_date,
         retries, immediate, next_cycle, reference_code, shopper, payer_document, payer_name, payer_ispb, created_at, updated_at, expires_at)
       select $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n, 'RN' || lpad(n::text, 27, '0'), $2, state, 'FIXED', 100,
         periodicity, first, false, false, next, 'r', '{}', '52998224725', 'Maria da Silva', ispb, $4::timestamptz, $4, $4
       from json_to_recordset($3) as r(n bigint, state text, periodicity text, first date, next integer, ispb text)`,
      [numbers, planId, JSON.stringify(rows), new Date(own.clock.now()).toISOString()],
    )
    await own.rows('update plan set mandates = mandates + $3 where account_id = $1 and id = $2', [
      numbers,
      planId,
      rows.length,
    ])
  }

  test('are told with their payer and the day of their next cycle, newest first', async () => {
    const account = await own.given.account()
    const { id } = await madeBy(account)
    await authorized(account, id, [
      row(1, { next: 1, state: 'APPROVED' }),
      row(2, { periodicity: 'WEEKLY', first: '2026-11-16', next: 3 }),
      row(3, { state: 'CREATED', ispb: null }),
      row(4, { periodicity: 'ANNUALLY', first: '2028-02-29', next: 0 }),
    ])
    const { body } = await query(account, id)
    const payer = { document: '52998224725', name: 'Maria da Silva', ispb: '12345678' }
    expect(body.totalAuthorizations).toBe(4)
    expect(body.authorizations).toEqual([
      { id: 4, idRec: idRecOf(4), status: 'APPROVED', payer, nextRecurrenceDate: '2028-02-29' },
      { id: 3, idRec: idRecOf(3), status: 'CREATED', payer: { ...payer, ispb: null }, nextRecurrenceDate: null },
      { id: 2, idRec: idRecOf(2), status: 'APPROVED', payer, nextRecurrenceDate: '2026-12-07' },
      { id: 1, idRec: idRecOf(1), status: 'APPROVED', payer, nextRecurrenceDate: '2026-02-28' },
    ])
  })

  test('are only those of the plan, and of its account', async () => {
    const [account, other] = [await own.given.account(), await own.given.account()]
    const plans: { id: string }[] = []
    for (const n of [1, 2, 3]) {
      own.clock.advance(1)
      const plan = await madeBy(account)
      await authorized(account, plan.id, [row(n)])
      plans.push(plan)
    }
    const plan = plans[1]!
    await authorized(other, plan.id, [row(4)])
    const { body } = await query(account, plan.id)
    expect(body.authorizations.map((one: { id: number }) => one.id)).toEqual([2])
    expect((await query(other, plan.id)).body).toEqual(notFound)
  })

  test('are counted all, and the 1,000 newest told', async () => {
    const account = await own.given.account()
    const { id } = await madeBy(account)
    const ascending = Array.from({ length: 1_002 }, (_, index) => index + 1)
    await authorized(
      account,
      id,
      ascending.map((n) => row(n)),
    )
    const { body } = await query(account, id)
    expect(body.totalAuthorizations).toBe(1_002)
    expect(body.authorizations.map((one: { id: number }) => one.id)).toEqual(ascending.slice(2).toReversed())
  })

  test('are only counted in a list and in the answer to a change, which leaves the count alone', async () => {
    const account = await own.given.account()
    const { id } = await madeBy(account)
    await authorized(account, id, [row(1), row(2)])
    const { body } = await change(account, id, { recurrenceAmount: 5 })
    const [listed] = (await account.api.get(PLANS)).body.result
    for (const plan of [body, listed]) expect([plan.totalAuthorizations, plan.authorizations]).toEqual([2, undefined])
    expect((await query(account, id)).body.authorizations).toHaveLength(2)
  })
})

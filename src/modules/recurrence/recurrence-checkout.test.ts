import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { shopper, type TestAccount } from '../../../test/harness/given.ts'
import {
  AUTHORIZATIONS,
  authorizationOf,
  checkOut,
  mandateNews,
  railSays,
  recurrenceBody,
  recurrences,
  type Terms,
  variable,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, MINUTE_MS } from '../../kernel/calendar.ts'

const it = testService()
const given = recurrences(it)
const NOON = '2026-11-16 12:00:00'
type Json = Record<string, unknown>

async function asked(account: TestAccount, planId: string, fields?: Json, recurrence?: Json, headers = {}) {
  const reply = await checkOut(account, recurrenceBody(planId, given.inDays(5), fields, recurrence), headers)
  expect(reply.http, reply.text).toBe(200)
  return reply.body
}
const stateOf = async (account: TestAccount, mandate: { idRec: string }) =>
  (await authorizationOf(account, mandate)).status

describe('a recurrence checkout', () => {
  test('answers with the mandate, CREATED, and nothing else', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const planId = await given.plan(account)
    const body = await asked(account, planId, { referenceCode: 'assinatura-1' })
    const { idRec, response } = body
    const reference = /\/qr\/rec\/(\w{31})\.png$/.exec(response.instructions.qrCode.url)![1]
    expect(body).toEqual({
      status: 0,
      message: 'success',
      idRec: expect.stringMatching(/^RN9999900420261116[A-Za-z0-9]{11}$/),
      response: {
        id: expect.any(Number),
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        idRec,
        referenceCode: 'assinatura-1',
        amount: 49.9,
        saleCode: String(response.id).padStart(8, '0'),
        shopper,
        authorization: { id: response.id, idRec, status: 'CREATED' },
        instructions: {
          chosen: 'PIX_RECURRENCE',
          name: 'PIX_RECURRENCE',
          label: 'Pix Automático',
          qrCode: {
            plain: expect.stringContaining(`/rec/${reference}`),
            url: `http://pay.test/qr/rec/${reference}.png`,
          },
        },
      },
    })
  })

  test('makes a mandate that its query tells of, and no sale', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const planId = await given.plan(account, { title: 'Academia', description: 'Tudo incluído' })
    const { idRec, response } = await asked(account, planId)
    expect((await account.api.get(`${AUTHORIZATIONS}/${idRec}`)).body).toEqual({
      status: 0,
      message: 'success',
      authorization: {
        id: response.authorization.id,
        idRec,
        status: 'CREATED',
        periodicity: 'MONTHLY',
        valueType: 'FIXED',
        amount: 49.9,
        minimumAmount: null,
        initialDate: '2026-11-21',
        finalDate: null,
        nextRecurrenceDate: null,
        creation: NOON,
        payer: { document: '52998224725', name: 'Maria da Silva', ispb: null },
        contract: { id: planId, description: 'Tudo incluído' },
      },
      paymentSchedules: [],
    })
    expect((await account.api.get(`/v1.1/transactions/${response.uuid}`)).http).toBe(404)
    expect((await account.api.get('/v1.1/transactions')).body.totalElements).toBe(0)
    expect((await account.api.get('/v1.1/notifications')).body.totalElements).toBe(0)
    const attempts = await account.api.get(`/v1.1/transactions/${response.uuid}/webhook`)
    expect([attempts.http, attempts.body.notifications]).toEqual([200, []])
  })

  test('is counted and listed by its plan', async () => {
    const account = await it.given.account()
    const planId = await given.plan(account)
    const query = async () => (await account.api.get(`/v1.1/pix-automatic/plans/${planId}`)).body
    const first = await asked(account, planId)
    it.clock.advance(1)
    const second = await asked(account, planId)
    await railSays(it, mandateNews(first, 'APPROVED', { document: '1', name: 'Outra', ispb: '12345678' }))
    const { totalAuthorizations, authorizations } = await query()
    expect(totalAuthorizations).toBe(2)
    expect(authorizations).toEqual([
      {
        id: second.response.authorization.id,
        idRec: second.idRec,
        status: 'CREATED',
        payer: { document: '52998224725', name: 'Maria da Silva', ispb: null },
        nextRecurrenceDate: null,
      },
      {
        id: first.response.authorization.id,
        idRec: first.idRec,
        status: 'APPROVED',
        payer: { document: '1', name: 'Outra', ispb: '12345678' },
        nextRecurrenceDate: given.inDays(5),
      },
    ])
  })

  test('describes the contract by the title of a plan without a description', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, { plan: { title: 'Só o título' } })
    expect((await authorizationOf(account, mandate)).contract.description).toBe('Só o título')
  })

  test('echoes CPF and CNPJ without punctuation, and the payer is known by it', async () => {
    const account = await it.given.account()
    const planId = await given.plan(account)
    for (const [type, number, plain] of [
      ['CPF', '529.982.247-25', '52998224725'],
      ['CNPJ', '11.222.333/0001-81', '11222333000181'],
    ]) {
      const body = await asked(account, planId, { shopper: { ...shopper, document: { type, number } } })
      expect(body.response.shopper.document).toEqual({ type, number: plain })
      expect((await authorizationOf(account, body)).payer.document).toBe(plain)
    }
  })

  test.each([
    ['RR', 'ACCEPT_3R_7D', true],
    ['RN', 'ACCEPT_3R_7D', false],
    ['RN', 'ACCEPT_3R_7D', undefined],
    ['RN', 'NOT_ACCEPT', true],
    ['RN', undefined, true],
    ['RN', undefined, undefined],
  ])('has an idRec of %s when the plan says %s and the checkout %s', async (kind, retryPolicy, retry) => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const { idRec } = await asked(account, await given.plan(account, { retryPolicy }), {}, { retry })
    expect(idRec).toMatch(new RegExp(`^${kind}9999900420261116[A-Za-z0-9]{11}$`))
    expect(idRec).toHaveLength(29)
  })

  test('names the day of the account’s own clock in its idRec, each time another', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    const planId = await given.plan(account)
    const made = [await asked(account, planId), await asked(account, planId)].map(({ idRec }) => idRec)
    for (const idRec of made) expect(idRec.slice(10, 18)).toBe('20261119')
    expect(made[0]).not.toBe(made[1])
  })
})

describe('the dates of a recurrence checkout', () => {
  const calendar = (initialDate: string, finalDate?: string) => ({ calendar: { initialDate, finalDate } })
  const datesOf = async (account: TestAccount, terms: Terms) => {
    const { initialDate, finalDate } = await authorizationOf(account, await given.mandate(account, terms))
    return [initialDate, finalDate]
  }

  test.each([
    ['2026-11-16', '2026-11-16'],
    ['2026-12-31', '2026-12-31'],
    ['2026-11-21T10:00:00-03:00', '2026-11-21'],
    ['2026-11-21T23:59:59.999-03:00', '2026-11-21'],
    ['2026-11-21T02:59:59Z', '2026-11-20'],
    ['2026-11-21T03:00:00Z', '2026-11-21'],
    ['2026-11-21T11:59+09:00', '2026-11-20'],
    ['2026-11-20T20:00:00-10:00', '2026-11-21'],
    ['2028-02-29', '2028-02-29'],
  ])('%s is %s in São Paulo', async (sent, day) => {
    it.clock.set(NOON)
    const account = await it.given.account()
    expect(await datesOf(account, { recurrence: calendar(sent) })).toEqual([day, null])
    expect(await datesOf(account, { recurrence: calendar('2026-11-16', sent) })).toEqual(['2026-11-16', day])
  })

  test('end with the last of the plan’s cycles where no last day is given', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const dates = (plan: Json) => datesOf(account, { plan, recurrence: calendar('2026-11-30') })
    expect(await dates({ period: 1 })).toEqual(['2026-11-30', '2026-11-30'])
    expect(await dates({ period: 4 })).toEqual(['2026-11-30', '2027-02-28'])
    expect(await dates({ period: 3, frequency: 'WEEKLY' })).toEqual(['2026-11-30', '2026-12-14'])
    expect(await dates({ period: 0 })).toEqual(['2026-11-30', null])
  })

  test('begin no earlier than today by the account’s own clock', async () => {
    it.clock.set('2026-11-16 23:59:59')
    const account = await it.given.account()
    const planId = await given.plan(account)
    const ask = async (initialDate: string) => (await checkOut(account, recurrenceBody(planId, initialDate))).http
    expect([await ask('2026-11-15'), await ask('2026-11-16')]).toEqual([400, 200])
    await account.api.post('/v1.1/sandbox/clock/advance', { minutes: 1 })
    expect([await ask('2026-11-16'), await ask('2026-11-17')]).toEqual([400, 200])
  })
})

describe('the amounts of a recurrence checkout', () => {
  const amountsOf = async (terms: Terms) => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, terms)
    const { valueType, amount, minimumAmount } = await authorizationOf(account, mandate)
    return [valueType, amount, minimumAmount]
  }
  const amount = (fields: Json): Terms => ({ recurrence: { amount: fields }, plan: { minimumRecurrenceAmount: 20 } })

  test.each([
    ['the plan’s by default', {}, ['FIXED', 49.9, null]],
    ['FIXED, the plan’s', amount({ valueType: 'FIXED' }), ['FIXED', 49.9, null]],
    ['FIXED, its own', amount({ valueType: 'FIXED', recurrenceAmount: 12.34 }), ['FIXED', 12.34, null]],
    ['its own as text', amount({ recurrenceAmount: '12.3' }), ['FIXED', 12.3, null]],
    ['FIXED has no minimum', amount({ debitorMinimumAmount: 5 }), ['FIXED', 49.9, null]],
    ['VARIABLE, the plan’s minimum', amount({ valueType: 'VARIABLE' }), ['VARIABLE', 49.9, 20]],
    ['VARIABLE, its own minimum', amount({ valueType: 'VARIABLE', debitorMinimumAmount: 5 }), ['VARIABLE', 49.9, 5]],
    [
      'VARIABLE, a minimum above the plan',
      amount({ valueType: 'VARIABLE', debitorMinimumAmount: '60' }),
      ['VARIABLE', 60, 60],
    ],
    [
      'VARIABLE takes no amount of its own',
      amount({ valueType: 'VARIABLE', recurrenceAmount: 12.34 }),
      ['VARIABLE', 49.9, 20],
    ],
    [
      'VARIABLE without any minimum but the plan’s amount',
      { recurrence: { amount: { valueType: 'VARIABLE' } } },
      ['VARIABLE', 49.9, 49.9],
    ],
    ['nothing said of it', { recurrence: { amount: null } }, ['FIXED', 49.9, null]],
  ] satisfies [string, Terms, unknown][])('%s', async (_what, terms, expected) => {
    expect(await amountsOf(terms)).toEqual(expected)
  })

  test('follow the plan when VARIABLE, never when FIXED', async () => {
    const account = await it.given.account()
    const [fixed, following] = [await given.mandate(account), await given.mandate(account, variable)]
    for (const { planId } of [fixed, following])
      await account.api.put(`/v1.1/pix-automatic/plans/${planId}`, { recurrenceAmount: 75 })
    expect((await authorizationOf(account, fixed)).amount).toBe(49.9)
    expect((await authorizationOf(account, following)).amount).toBe(75)
  })
})

test.each(['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMIANNUAL', 'ANNUALLY'])(
  'the periodicity is the plan’s %s, said or not',
  async (frequency) => {
    const account = await it.given.account()
    const planId = await given.plan(account, { frequency })
    for (const periodicity of [undefined, null, frequency]) {
      const calendar = { initialDate: given.inDays(5), periodicity }
      const body = await asked(account, planId, {}, { calendar })
      expect((await authorizationOf(account, body)).periodicity).toBe(frequency)
    }
  },
)

describe('a mandate that nobody answers', () => {
  test.each(['CREATED', 'APPROVING'] as const)('%s expires a moment after its time, not at it', async (state) => {
    const account = await it.given.account()
    const mandate = await given.mandateIn(account, state, { checkout: { maxAge: 5 } })
    it.clock.advance(5 * MINUTE_MS)
    await it.sweep()
    expect(await stateOf(account, mandate)).toBe(state)
    it.clock.advance(1)
    await it.sweep()
    expect(await stateOf(account, mandate)).toBe('EXPIRED')
  })

  test('has a day to be answered by default', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account)
    it.clock.advance(DAY_MS)
    await it.sweep()
    expect(await stateOf(account, mandate)).toBe('CREATED')
    it.clock.advance(1)
    await it.sweep()
    expect(await stateOf(account, mandate)).toBe('EXPIRED')
  })

  test.each([1, 43_200])('waits %d minutes when it says so, by the account’s own clock', async (maxAge) => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, { checkout: { maxAge }, inDays: 40 })
    await account.api.post('/v1.1/sandbox/clock/advance', { minutes: maxAge })
    expect(await stateOf(account, mandate)).toBe('CREATED')
    expect((await account.api.post('/v1.1/sandbox/clock/advance', { minutes: 1 })).body.processed).toBe(1)
    expect(await stateOf(account, mandate)).toBe('EXPIRED')
  })

  test('does not expire once it is approved', async () => {
    const account = await it.given.account()
    const mandate = await given.approvedMandate(account, { checkout: { maxAge: 5 }, inDays: 40 })
    it.clock.advance(6 * MINUTE_MS)
    await it.sweep()
    expect(await stateOf(account, mandate)).toBe('APPROVED')
  })
})

describe('an Idempotency-Key', () => {
  test('makes one mandate of one request, and answers it again to the byte', async () => {
    const account = await it.given.account()
    const planId = await given.plan(account)
    const body = recurrenceBody(planId, given.inDays(5), {}, { immediatePayment: true, ...withRetries.recurrence })
    const request = { ...body, amount: 10 }
    const headers = { 'idempotency-key': randomUUID(), prefer: 'return=representation' }
    const first = await checkOut(account, request, headers)
    const again = await checkOut(account, request, headers)
    expect([again.http, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true'])
    expect((await account.api.get(AUTHORIZATIONS)).body.totalElements).toBe(1)
    expect((await account.api.get('/v1.1/transactions')).body.totalElements).toBe(1)
    const other = await checkOut(account, { ...request, amount: 11 }, headers)
    expect([other.http, other.body.errors[0].field]).toEqual([422, 'Idempotency-Key'])
  })

  test('keeps a refusal too', async () => {
    const account = await it.given.account()
    const planId = await given.plan(account, { enabled: false })
    const headers = { 'idempotency-key': randomUUID() }
    const body = recurrenceBody(planId, given.inDays(5))
    const first = await checkOut(account, body, headers)
    await account.api.put(`/v1.1/pix-automatic/plans/${planId}`, { enabled: true })
    const again = await checkOut(account, body, headers)
    expect([again.http, again.text, again.headers['idempotency-replayed']]).toEqual([400, first.text, 'true'])
    expect((await checkOut(account, body)).http).toBe(200)
  })
})

import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import {
  AUTHORIZATIONS,
  advanceTo,
  authorizationOf,
  cancelMandate,
  chargeAgain,
  chargePayment,
  chargesOf,
  mandateStates,
  railSays,
  recurrences,
  setCycleAmount,
  simulateRecurrence,
  type Terms,
  type TestMandate,
  variable,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const NOON = '2026-11-16 12:00:00'
const done = { status: 0, message: 'success' }

const notFound = {
  status: 998,
  message: 'authorization not found',
  errorCount: 1,
  errors: [{ field: 'idRec', message: 'non-existent authorization' }],
}
const invalid = (field: string, message: string, code?: string) => ({
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ field, message, ...(code && { code }) }],
})
const notCancelable = invalid('idRec', 'authorization cannot be canceled')
const stateOf = async (account: TestAccount, mandate: TestMandate) => (await authorizationOf(account, mandate)).status

/** Mandates that the account does not have. */
const strangers = async () => [
  await given.mandate(await it.given.account(), variable),
  { idRec: 'RN9999900420261116AbCdEfGhIjK' },
  { idRec: 'x' },
  { idRec: randomUUID() },
]

describe('the query of a mandate', () => {
  test('tells of it and of its charges, newest cycle first', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const { mandate, sale } = await given.scheduledCharge(account, { plan: { period: 3, description: 'Aulas' } })
    const { http, body } = await account.api.get(`${AUTHORIZATIONS}/${mandate.idRec}`)
    expect(http).toBe(200)
    expect(body).toEqual({
      ...done,
      authorization: {
        id: mandate.id,
        idRec: mandate.idRec,
        status: 'APPROVED',
        periodicity: 'MONTHLY',
        valueType: 'FIXED',
        amount: 49.9,
        minimumAmount: null,
        initialDate: '2026-11-21',
        finalDate: '2027-01-21',
        nextRecurrenceDate: '2026-12-21',
        creation: NOON,
        payer: { document: '52998224725', name: 'Maria da Silva', ispb: null },
        contract: { id: mandate.planId, description: 'Aulas' },
      },
      paymentSchedules: [
        {
          id: expect.any(Number),
          instructionId: expect.stringMatching(/^[A-Za-z0-9]{26,35}$/),
          status: 'PENDING_SCHEDULE',
          dueDate: '2026-12-21 00:00:00',
          amount: 49.9,
          endToEnd: null,
          rejectionCode: null,
          rejectionReason: null,
          creation: NOON,
          sale: null,
        },
        {
          id: expect.any(Number),
          instructionId: expect.stringMatching(/^[A-Za-z0-9]{26,35}$/),
          status: 'SCHEDULED',
          dueDate: '2026-11-21 00:00:00',
          amount: 49.9,
          endToEnd: null,
          rejectionCode: null,
          rejectionReason: null,
          creation: NOON,
          sale: { id: sale.id, uuid: sale.uuid, situation: 'PENDING' },
        },
      ],
    })
  })

  test('finds nothing where there is nothing, and nothing of another’s', async () => {
    const account = await it.given.account()
    for (const { idRec } of await strangers()) {
      const { http, body } = await account.api.get(`${AUTHORIZATIONS}/${idRec}`)
      expect([http, body]).toEqual([404, notFound])
    }
  })

  test('is the same with a trailing slash, and forbidden without credentials', async () => {
    const account = await it.given.account()
    const { idRec } = await given.mandate(account)
    expect((await account.api.get(`${AUTHORIZATIONS}/${idRec}/`)).http).toBe(200)
    expect((await it.api.get(`${AUTHORIZATIONS}/${idRec}`)).http).toBe(403)
  })
})

describe('a merchant cancels a mandate', () => {
  const cancelable = ['CREATED', 'APPROVING', 'APPROVED', 'CANCELLING']

  test.each(mandateStates)('that is %s', async (state) => {
    const shop = await merchant()
    const mandate = await given.mandateIn(shop, state)
    await settle()
    const before = shop.calls().length
    const { http, body } = await cancelMandate(shop, mandate, { reason: 'mudou de cidade' })
    await settle()
    const told = shop.calls().slice(before)
    if (cancelable.includes(state)) {
      expect([http, body, await stateOf(shop, mandate)]).toEqual([200, done, 'CANCELLED'])
      expect(told.map(({ body: { eventType, status } }) => [eventType, status])).toEqual([
        ['RECURRENCE_CANCELLED', 'CANCELLED'],
      ])
      for (const charge of await chargesOf(shop, mandate)) expect(charge.status).toBe('CANCELLED')
    } else {
      expect([http, body, await stateOf(shop, mandate)]).toEqual([400, notCancelable, state])
      expect(told).toEqual([])
    }
  })

  test('and its open charges with it, for the reason SLCR', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop)
    await cancelMandate(shop, charge.mandate)
    const slcr = { rejectionCode: 'SLCR', rejectionReason: 'Cancellation requested.' }
    expect(await chargesOf(shop, charge.mandate)).toMatchObject([
      { status: 'CANCELLED', ...slcr, sale: null },
      { status: 'CANCELLED', ...slcr, sale: { situation: 'CANCELLED' } },
    ])
    expect(await authorizationOf(shop, charge.mandate)).toMatchObject({ nextRecurrenceDate: null })
    await settle()
    expect(shop.calls().map(({ body: { eventType, saleToken } }) => [eventType, saleToken])).toEqual([
      ['RECURRENCE_AUTHORIZED', undefined],
      ['RECURRENCE_CHARGE_SCHEDULED', charge.sale.uuid],
      ['RECURRENCE_CANCELLED', undefined],
      ['RECURRENCE_CHARGE_FAILED', charge.sale.uuid],
    ])
    expect(shop.calls().at(-1)!.body).toMatchObject({ chargeStatus: 'CANCELLED', ...slcr, retryScheduled: false })
  })

  test('and a retry that was to come never comes; what is paid stays paid', async () => {
    const account = await it.given.account()
    const retrying = await given.chargeIn(account, 'RETRYING')
    const paid = await given.chargeIn(account, 'PAID')
    for (const { mandate } of [retrying, paid]) expect((await cancelMandate(account, mandate)).http).toBe(200)
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 40 })
    expect(await chargeAgain(account, retrying)).toMatchObject({ status: 'FAILED', rejectionCode: 'AM04' })
    expect(await situationOf(account, retrying.sale!)).toBe('CANCELLED')
    expect(await chargeAgain(account, paid)).toMatchObject({ status: 'PAID', rejectionCode: null })
    expect(await situationOf(account, paid.sale!)).toBe('PAID')
  })

  test('on the day of a charge, which goes too and is not collected', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    await advanceTo(account, '2026-11-21 07:59:59')
    expect((await cancelMandate(account, charge.mandate)).http).toBe(200)
    await advanceTo(account, '2026-11-22')
    const sale = { situation: 'CANCELLED' }
    expect(await chargeAgain(account, charge)).toMatchObject({ status: 'CANCELLED', rejectionCode: 'SLCR', sale })
  })

  test('and of a charge that is not at the bank just then, nothing is told', async () => {
    const shop = await merchant()
    const [reserved, retrying] = [await given.reservedCharge(shop), await given.chargeIn(shop, 'RETRYING')]
    for (const { mandate } of [reserved, retrying]) await cancelMandate(shop, mandate)
    await settle()
    const toldOf = ({ idRec }: TestMandate) =>
      shop.calls().flatMap(({ body }) => (body.idRec === idRec ? [body.eventType.replace('RECURRENCE_', '')] : []))
    expect(toldOf(reserved.mandate)).toEqual(['AUTHORIZED', 'CANCELLED'])
    expect(toldOf(retrying.mandate)).toEqual(['AUTHORIZED', 'CHARGE_SCHEDULED', 'CHARGE_FAILED', 'CANCELLED'])
    expect(await chargeAgain(shop, reserved)).toMatchObject({ status: 'CANCELLED', sale: { situation: 'CANCELLED' } })
  })

  test.each([undefined, null, {}, { reason: null }, { reason: '' }, { reason: 'x'.repeat(255) }])(
    'with a body of %j',
    async (body) => {
      const account = await it.given.account()
      expect((await cancelMandate(account, await given.mandate(account), body)).http).toBe(200)
    },
  )

  test('but not for a reason that is too long, or with what is no JSON', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account)
    const long = await cancelMandate(account, mandate, { reason: 'x'.repeat(256) })
    expect([long.http, long.body]).toEqual([400, invalid('reason', 'must have at most 255 characters')])
    const path = `${AUTHORIZATIONS}/${mandate.idRec}/cancel`
    const broken = await account.api.put(path, undefined, { raw: '{', headers: { 'content-type': 'application/json' } })
    expect(broken.http).toBe(400)
    expect(await stateOf(account, mandate)).toBe('CREATED')
  })

  test('but nobody else’s, and none that is not', async () => {
    const account = await it.given.account()
    for (const mandate of await strangers()) {
      const { http, body } = await cancelMandate(account, mandate)
      expect([http, body]).toEqual([404, notFound])
    }
  })

  test('once under one key', async () => {
    const account = await it.given.account()
    const { idRec } = await given.mandate(account)
    const headers = { 'idempotency-key': randomUUID() }
    const ask = () => account.api.put(`${AUTHORIZATIONS}/${idRec}/cancel`, { reason: 'x' }, { headers })
    const [first, again] = [await ask(), await ask()]
    expect([first.http, again.http, again.headers['idempotency-replayed']]).toEqual([200, 200, 'true'])
    expect((await cancelMandate(account, { idRec })).http).toBe(400)
  })
})

describe('the price of the next cycle', () => {
  /** A variable mandate of 49.90, at least 20, charged every week. */
  const weekly: Terms = {
    plan: { ...variable.plan, frequency: 'WEEKLY' },
    recurrence: variable.recurrence!,
    inDays: 12,
  }
  const runDue = (account: TestAccount, mandate: TestMandate) => simulateRecurrence(account, mandate, 'run-due')
  /** Amounts by cycle. */
  const amounts = async (account: TestAccount, mandate: TestMandate) =>
    (await chargesOf(account, mandate)).map(({ amount }) => amount).reverse()

  test('is asked for one cycle, counts for that one alone and is gone', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const mandate = await given.approvedMandate(account, weekly)
    const set = await setCycleAmount(account, mandate, 75.5)
    expect([set.http, set.body]).toEqual([200, done])
    expect((await authorizationOf(account, mandate)).amount).toBe(75.5)
    expect(await amounts(account, mandate)).toEqual([75.5])
    await advanceTo(account, '2026-11-18')
    const [, charge] = await chargesOf(account, mandate)
    expect((await account.api.get(`/v1.1/transactions/${charge!.sale!.uuid}`)).body.amount).toBe(75.5)
    expect((await authorizationOf(account, mandate)).amount).toBe(49.9)
    expect(await amounts(account, mandate)).toEqual([75.5, 49.9])
    await advanceTo(account, '2026-11-25')
    expect(await amounts(account, mandate)).toEqual([75.5, 49.9, 49.9])
  })

  test('is the last one said', async () => {
    const account = await it.given.account()
    const mandate = await given.approvedMandate(account, { ...weekly, inDays: 5 })
    for (const amount of [75, '30.25', 60]) expect((await setCycleAmount(account, mandate, amount)).http).toBe(200)
    expect((await runDue(account, mandate)).body.collections).toMatchObject([{ amount: 60 }])
  })

  test.each([
    [19.99, 20],
    [20, 20],
    [0.01, 20],
    [20.01, 20.01],
  ])('of %d is %d: never below the minimum', async (asked, charged) => {
    const account = await it.given.account()
    const mandate = await given.approvedMandate(account, { ...weekly, inDays: 5 })
    await setCycleAmount(account, mandate, asked)
    expect((await authorizationOf(account, mandate)).amount).toBe(charged)
    expect((await runDue(account, mandate)).body.collections).toMatchObject([{ amount: charged }])
  })

  test('goes before the plan’s, and a charge at the payer’s bank keeps its own', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account, { ...weekly, inDays: 5 })
    const { mandate } = charge
    await setCycleAmount(account, mandate, 33)
    await account.api.put(`/v1.1/pix-automatic/plans/${mandate.planId}`, { recurrenceAmount: 99 })
    expect(await amounts(account, mandate)).toEqual([49.9, 33])
    await railSays(it, chargePayment(it, charge))
    expect((await chargeAgain(account, charge)).amount).toBe(49.9)
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 6 })
    expect((await amounts(account, mandate)).slice(0, 3)).toEqual([49.9, 33, 99])
  })

  test('said before the mandate is approved counts for the first cycle', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, { ...weekly, inDays: 5 })
    await setCycleAmount(account, mandate, 21)
    await simulateRecurrence(account, mandate, 'scenario/approve-reject')
    expect((await chargesOf(account, mandate)).at(-1)).toMatchObject({ status: 'FAILED', amount: 21 })
  })

  test.each(mandateStates)('of a mandate that is %s', async (state) => {
    const account = await it.given.account()
    const mandate = await given.mandateIn(account, state, variable)
    const { http, body } = await setCycleAmount(account, mandate, 30)
    expect([http, body]).toEqual(
      ['CREATED', 'APPROVING', 'APPROVED', 'CANCELLING'].includes(state)
        ? [200, done]
        : [400, invalid('idRec', 'authorization cannot be updated')],
    )
  })

  test('of a FIXED mandate cannot be set', async () => {
    const account = await it.given.account()
    const mandate = await given.approvedMandate(account, withRetries)
    const { http, body } = await setCycleAmount(account, mandate, 30)
    expect([http, body]).toEqual([400, invalid('idRec', 'authorization is not variable')])
    expect((await authorizationOf(account, mandate)).amount).toBe(49.9)
    await cancelMandate(account, mandate)
    const over = await setCycleAmount(account, mandate, 30)
    expect([over.http, over.body]).toEqual([400, invalid('idRec', 'authorization is not variable')])
  })

  test.each([
    [undefined, 'may not be null', undefined],
    [null, 'may not be null', undefined],
    [' ', 'may not be empty', undefined],
    [0, 'must be at least 0.01', 'amount.min'],
    [-5, 'must be at least 0.01', 'amount.min'],
    [1.001, 'must be a decimal number with at most two decimals, up to 9999999999.99', 'amount.invalid'],
    ['1,50', 'must be a decimal number with at most two decimals, up to 9999999999.99', 'amount.invalid'],
    [10_000_000_000, 'must be a decimal number with at most two decimals, up to 9999999999.99', 'amount.invalid'],
  ])('cannot be %j', async (amount, message, code) => {
    const account = await it.given.account()
    const { http, body } = await setCycleAmount(account, await given.mandate(account, variable), amount)
    expect([http, body]).toEqual([400, invalid('amount', message, code)])
  })

  test('is nobody else’s business', async () => {
    const account = await it.given.account()
    for (const mandate of await strangers()) {
      const { http, body } = await setCycleAmount(account, mandate, 30)
      expect([http, body]).toEqual([404, notFound])
    }
  })
})

describe('a plan that changes', () => {
  const changed = {
    title: 'Outro',
    frequency: 'WEEKLY',
    period: 1,
    imediateAmount: 5,
    recurrenceAmount: 30,
    minimumRecurrenceAmount: 60,
    retryPolicy: 'NOT_ACCEPT',
    enabled: false,
  }
  const plan = { ...withRetries.plan, ...variable.plan }

  test.each([
    ['FIXED', 49.9],
    ['VARIABLE', 30],
  ])('leaves a %s mandate as it was authorized; a cycle of it costs %d', async (valueType, amount) => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const recurrence = { ...withRetries.recurrence, amount: { valueType } }
    const mandate = await given.approvedMandate(account, { plan, recurrence })
    const before = await authorizationOf(account, mandate)
    expect((await account.api.put(`/v1.1/pix-automatic/plans/${mandate.planId}`, changed)).http).toBe(200)
    const after = { ...before, amount, contract: { id: mandate.planId, description: 'Outro' } }
    expect(await authorizationOf(account, mandate)).toEqual(after)
    // Cycles a month apart, more than one, and a failed one is tried again.
    expect((await simulateRecurrence(account, mandate, 'fail/AM04')).http).toBe(200)
    await advanceTo(account, '2026-11-23 00:00:00')
    expect(await chargesOf(account, mandate)).toMatchObject([
      { status: 'PENDING_SCHEDULE', dueDate: '2026-12-21 00:00:00', amount },
      { status: 'SCHEDULED', dueDate: '2026-11-21 00:00:00', amount },
    ])
  })
})

import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import {
  advanceTo,
  authorizationOf,
  type ChargeState,
  cancelCharge,
  cancelMandate,
  chargeAgain,
  chargePayment,
  chargesOf,
  mandateNews,
  PAYMENTS,
  railSays,
  recurrences,
  setCycleAmount,
  type TestCharge,
  variable,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { chargeOfTxid, chargeTxidOf } from '../../kernel/txid.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const NOON = '2026-11-16 12:00:00'
const done = { status: 0, message: 'success' }

const notFound = {
  status: 998,
  message: 'scheduled payment not found',
  errorCount: 1,
  errors: [{ field: 'instructionId', message: 'non-existent scheduled payment' }],
}
const notCancelable = {
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ field: 'instructionId', message: 'payment cannot be canceled' }],
}
const notPending = {
  status: 999,
  message: 'transaction not PENDING',
  errorCount: 1,
  errors: [{ field: 'transactionToken', message: 'invalid transaction situation' }],
}
const query = ({ api }: TestAccount, { instructionId }: Pick<TestCharge, 'instructionId'>) =>
  api.get(`${PAYMENTS}/${instructionId}`)
const void_ = ({ api }: TestAccount, { sale }: TestCharge, headers = {}) =>
  api.put(`/v1.1/transactions/${sale!.uuid}/void`, undefined, { headers })
const states = ['PENDING_SCHEDULE', 'SCHEDULED', 'PAID', 'FAILED', 'RETRYING', 'CANCELLED'] as const
const stateOf = async (account: TestAccount, charge: TestCharge) => (await chargeAgain(account, charge)).status

async function toldOf(shop: Merchant) {
  await settle()
  return shop.calls().map(({ body }) => body)
}
const namesOf = async (shop: Merchant) => (await toldOf(shop)).map(({ eventType }) => eventType)

/** Charges that the account does not have. */
async function strangers(mine: TestCharge): Promise<{ instructionId: string }[]> {
  const parts = chargeOfTxid(mine.instructionId)!
  return [
    await given.plannedCharge(await it.given.account()),
    { instructionId: chargeTxidOf({ ...parts, chargeId: randomUUID() as never }) },
    { instructionId: chargeTxidOf({ ...parts, accountId: 1 as never }) },
    { instructionId: 'x' },
    { instructionId: mine.mandate.idRec },
  ]
}

describe('the query of a charge', () => {
  const shown: [ChargeState, object][] = [
    ['PENDING_SCHEDULE', { status: 'PENDING_SCHEDULE', endToEnd: null, rejectionCode: null, rejectionReason: null }],
    ['SCHEDULED', { status: 'SCHEDULED', endToEnd: null, rejectionCode: null, rejectionReason: null }],
    [
      'PAID',
      { status: 'PAID', endToEnd: expect.stringMatching(/^E\w{31}$/), rejectionCode: null, rejectionReason: null },
    ],
    ['FAILED', { status: 'FAILED', endToEnd: null, rejectionCode: 'AC03', rejectionReason: 'Invalid payer account.' }],
    [
      'CANCELLED',
      { status: 'CANCELLED', endToEnd: null, rejectionCode: 'SLCR', rejectionReason: 'Cancellation requested.' },
    ],
  ]
  const situations = {
    PENDING_SCHEDULE: null,
    SCHEDULED: 'PENDING',
    PAID: 'PAID',
    FAILED: 'CANCELLED',
    CANCELLED: 'CANCELLED',
    RETRYING: 'PENDING',
  }

  test.each(shown)('that is %s', async (state, fields) => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const charge = await given.chargeIn(account, state, { plan: { period: 2 } })
    const { http, body } = await query(account, charge)
    const situation = situations[state]
    expect([http, body]).toEqual([
      200,
      {
        ...done,
        paymentSchedule: {
          id: expect.any(Number),
          instructionId: expect.stringMatching(/^[A-Za-z0-9]{26,35}$/),
          dueDate: '2026-11-21 00:00:00',
          amount: 49.9,
          creation: NOON,
          ...fields,
        },
        authorization: {
          id: charge.mandate.id,
          idRec: charge.mandate.idRec,
          initialDate: '2026-11-21',
          finalDate: '2026-12-21',
          creation: NOON,
        },
        sale: situation && { id: expect.any(Number), uuid: expect.stringMatching(/^[0-9a-f-]{36}$/), situation },
      },
    ])
  })

  test('that waits for a retry: FAILED, its sale still to be paid', async () => {
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'RETRYING')
    expect(await chargeAgain(account, charge)).toMatchObject({
      status: 'FAILED',
      rejectionCode: 'AM04',
      sale: { situation: 'PENDING' },
    })
  })

  test('finds nothing where there is nothing, and nothing of another’s', async () => {
    const account = await it.given.account()
    for (const charge of await strangers(await given.plannedCharge(account))) {
      const { http, body } = await query(account, charge)
      expect([http, body]).toEqual([404, notFound])
    }
  })
})

describe('a merchant cancels a charge', () => {
  test.each(states)('that is %s', async (state) => {
    const shop = await merchant()
    const charge = await given.chargeIn(shop, state)
    const before = (await toldOf(shop)).length
    const { http, body } = await cancelCharge(shop, charge, { reason: 'pago na loja' })
    const told = (await toldOf(shop)).slice(before)
    if (state !== 'PENDING_SCHEDULE' && state !== 'SCHEDULED') {
      expect([http, body, await stateOf(shop, charge)]).toEqual([400, notCancelable, charge.status])
      return expect(told).toEqual([])
    }
    expect([http, body]).toEqual([200, done])
    expect(await chargeAgain(shop, charge)).toMatchObject({ status: 'CANCELLED', rejectionCode: 'SLCR' })
    expect((await authorizationOf(shop, charge.mandate)).status).toBe('APPROVED')
    const { chargeId } = chargeOfTxid(charge.instructionId)!
    expect(await it.rows('select cancel_reason from charge where id = $1', [chargeId])).toEqual([
      { cancel_reason: 'pago na loja' },
    ])
    // Of what no bank has heard yet, nobody is told.
    if (state === 'PENDING_SCHEDULE') return expect(told).toEqual([])
    expect(await situationOf(shop, charge.sale!)).toBe('CANCELLED')
    expect(told).toMatchObject([
      {
        eventType: 'RECURRENCE_CHARGE_FAILED',
        saleToken: charge.sale!.uuid,
        chargeStatus: 'CANCELLED',
        rejectionCode: 'SLCR',
        retryScheduled: false,
      },
    ])
  })

  test('and the mandate goes on with the next cycle', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    for (const state of ['PENDING_SCHEDULE', 'SCHEDULED'] as const) {
      const charge = await given.chargeIn(account, state)
      await cancelCharge(account, charge)
      expect(await chargesOf(account, charge.mandate)).toMatchObject([
        { status: 'PENDING_SCHEDULE', dueDate: '2026-12-21 00:00:00' },
        { status: 'CANCELLED', dueDate: '2026-11-21 00:00:00' },
      ])
      expect((await authorizationOf(account, charge.mandate)).nextRecurrenceDate).toBe('2026-12-21')
    }
  })

  test.each([
    ['it', cancelCharge],
    ['its mandate', (account: TestAccount, { mandate }: TestCharge) => cancelMandate(account, mandate)],
  ])('keeps the amount that it had when %s was cancelled, whatever a cycle costs later', async (_what, cancel) => {
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'PENDING_SCHEDULE', variable)
    expect((await cancel(account, charge)).http).toBe(200)
    const { id } = (await authorizationOf(account, charge.mandate)).contract
    expect((await account.api.put(`/v1.1/pix-automatic/plans/${id}`, { recurrenceAmount: 90 })).http).toBe(200)
    await setCycleAmount(account, charge.mandate, 80)
    expect(await chargeAgain(account, charge)).toMatchObject({ status: 'CANCELLED', amount: 49.9, sale: null })
  })

  test.each([
    ['PENDING_SCHEDULE', [80, 49.9]],
    ['SCHEDULED', [49.9, 80]],
  ] as const)(
    'that is %s: a price for the next cycle only is that of the next, and goes with it',
    async (state, amounts) => {
      const account = await it.given.account()
      const charge = await given.chargeIn(account, state, variable)
      await setCycleAmount(account, charge.mandate, 80)
      expect((await cancelCharge(account, charge)).http).toBe(200)
      expect((await chargesOf(account, charge.mandate)).map(({ amount }) => amount).reverse()).toEqual(amounts)
    },
  )

  test.each(['PENDING_SCHEDULE', 'SCHEDULED'] as const)(
    'and with the last one, %s, the mandate is done',
    async (state) => {
      const shop = await merchant()
      const charge = await given.chargeIn(shop, state, { plan: { period: 1 } })
      await cancelCharge(shop, charge)
      expect(await authorizationOf(shop, charge.mandate)).toMatchObject({
        status: 'CONCLUDED',
        nextRecurrenceDate: null,
      })
      expect((await namesOf(shop)).at(-1)).toBe('RECURRENCE_CONCLUDED')
      expect((await namesOf(shop)).filter((name) => name === 'RECURRENCE_CONCLUDED')).toHaveLength(1)
    },
  )

  test.each(['PENDING_SCHEDULE', 'SCHEDULED'] as const)(
    'that is %s while the mandate is being cancelled',
    async (state) => {
      it.clock.set(NOON)
      const account = await it.given.account()
      const charge = await given.chargeIn(account, state)
      await railSays(it, mandateNews(charge.mandate, 'CANCELLING'))
      expect((await cancelCharge(account, charge)).http).toBe(200)
      const { status, nextRecurrenceDate } = await authorizationOf(account, charge.mandate)
      expect([status, nextRecurrenceDate]).toEqual(['CANCELLING', state === 'SCHEDULED' ? '2026-12-21' : null])
      expect((await chargesOf(account, charge.mandate)).at(-1)!.status).toBe('CANCELLED')
    },
  )

  test('until ten in the evening before it is due, and not a moment longer', async () => {
    it.clock.set(NOON)
    const [early, late] = [await it.given.account(), await it.given.account()]
    const [one, other] = [await given.scheduledCharge(early), await given.scheduledCharge(late)]
    for (const account of [early, late]) await advanceTo(account, '2026-11-20 22:00:00')
    expect((await cancelCharge(early, one)).http).toBe(200)
    it.clock.advance(1)
    const { http, body } = await cancelCharge(late, other)
    expect([http, body, await stateOf(late, other)]).toEqual([400, notCancelable, 'SCHEDULED'])
  })

  test('but not on the day of a retry: it was due before', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'RETRYING')
    await advanceTo(account, '2026-11-23 00:00:00')
    const { http, body } = await cancelCharge(account, charge)
    expect([http, body, await stateOf(account, charge)]).toEqual([400, notCancelable, 'SCHEDULED'])
  })

  test.each([undefined, null, {}, { reason: null }, { reason: 'x'.repeat(255) }])('with a body of %j', async (body) => {
    const account = await it.given.account()
    expect((await cancelCharge(account, await given.plannedCharge(account), body)).http).toBe(200)
  })

  test('but not for a reason that is too long, and nobody else’s', async () => {
    const account = await it.given.account()
    const charge = await given.plannedCharge(account)
    const long = await cancelCharge(account, charge, { reason: 'x'.repeat(256) })
    expect([long.http, long.body.errors]).toEqual([
      400,
      [{ field: 'reason', message: 'must have at most 255 characters' }],
    ])
    for (const other of await strangers(charge)) {
      const { http, body } = await cancelCharge(account, other)
      expect([http, body]).toEqual([404, notFound])
    }
    expect(await stateOf(account, charge)).toBe('PENDING_SCHEDULE')
  })

  test('once under one key', async () => {
    const account = await it.given.account()
    const { instructionId } = await given.plannedCharge(account)
    const headers = { 'idempotency-key': randomUUID() }
    const ask = () => account.api.put(`${PAYMENTS}/${instructionId}/cancel`, {}, { headers })
    const [first, again] = [await ask(), await ask()]
    expect([first.http, again.http, again.headers['idempotency-replayed']]).toEqual([200, 200, 'true'])
    expect((await cancelCharge(account, { instructionId })).http).toBe(400)
  })

  test('and whoever pays it all the same gets the money back', async () => {
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'CANCELLED')
    const [outcome] = await it.service.door.apply([chargePayment(it, charge)])
    expect(outcome).toMatchObject({ outcome: 'reversed' })
    expect((await account.api.get('/v1.1/reversals')).body.result).toMatchObject([
      { reason: 'SALE_NOT_PENDING', reversedAmount: 49.9, sale: { uuid: charge.sale!.uuid } },
    ])
    expect(await stateOf(account, charge)).toBe('CANCELLED')
  })
})

describe('a void of the sale that a charge is', () => {
  test('cancels the charge', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop)
    const { http, body } = await void_(shop, charge)
    expect([http, body]).toEqual([200, done])
    expect(await chargeAgain(shop, charge)).toMatchObject({
      status: 'CANCELLED',
      rejectionCode: 'SLCR',
      sale: { situation: 'CANCELLED' },
    })
    expect((await toldOf(shop)).at(-1)).toMatchObject({
      eventType: 'RECURRENCE_CHARGE_FAILED',
      chargeStatus: 'CANCELLED',
    })
    const again = await void_(shop, charge)
    expect([again.http, again.body]).toEqual([400, notPending])
    const renewed = await shop.api.put(`/v1.1/checkout/transparent/${charge.sale.uuid}`, {})
    expect([renewed.http, renewed.body.message]).toEqual([400, 'transaction not CANCELLED'])
  })

  test.each(['PAID', 'FAILED', 'CANCELLED'] as const)('that is %s is refused', async (state) => {
    const account = await it.given.account()
    const charge = await given.chargeIn(account, state)
    const { http, body } = await void_(account, charge)
    expect([http, body, await stateOf(account, charge)]).toEqual([400, notPending, state])
  })

  test('is allowed as long as the charge itself can be cancelled', async () => {
    it.clock.set(NOON)
    const [early, late] = [await it.given.account(), await it.given.account()]
    const [one, other] = [await given.scheduledCharge(early), await given.scheduledCharge(late)]
    for (const account of [early, late]) await advanceTo(account, '2026-11-20 22:00:00')
    expect((await void_(early, one)).http).toBe(200)
    it.clock.advance(1)
    const { http, body } = await void_(late, other)
    expect([http, body, await stateOf(late, other)]).toEqual([400, notPending, 'SCHEDULED'])
  })

  test('has one effect under one key, and none on another account’s', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop)
    expect((await void_(await it.given.account(), charge)).http).toBe(404)
    const headers = { 'idempotency-key': randomUUID() }
    const [first, again] = [await void_(shop, charge, headers), await void_(shop, charge, headers)]
    expect([first.http, again.http, again.headers['idempotency-replayed']]).toEqual([200, 200, 'true'])
    expect((await namesOf(shop)).filter((name) => name === 'RECURRENCE_CHARGE_FAILED')).toHaveLength(1)
  })
})

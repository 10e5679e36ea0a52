import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import {
  advanceTo,
  cancelCharge,
  cancelMandate,
  chargePayment,
  collectionNews,
  mandateNews,
  railSays,
  recurrences,
  setCycleAmount,
  simulateCollection,
  simulateRecurrence,
  type Terms,
  type TestMandate,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const NOON = '2026-11-16 12:00:00'

async function toldOf(shop: Merchant) {
  await settle()
  return shop.calls().map(({ body }) => body)
}
const lastOf = async (shop: Merchant) => (await toldOf(shop)).at(-1)
const namesOf = async (shop: Merchant): Promise<string[]> =>
  (await toldOf(shop)).map(({ eventType }) => eventType.replace('RECURRENCE_', ''))

const terms: Terms = { plan: { description: 'Aulas de canto', period: 3 } }
/** What every event says of a mandate of these terms. */
const common = (mandate: TestMandate) => ({
  idRec: mandate.idRec,
  externalId: mandate.referenceCode,
  planId: mandate.planId,
  contractId: mandate.planId,
  contractDescription: 'Aulas de canto',
  periodicity: 'MONTHLY',
  valueType: 'FIXED',
  amount: 49.9,
  payerDocument: '52998224725',
  payerName: 'Maria da Silva',
  initialDate: '2026-11-21 00:00:00',
  finalDate: '2027-01-21 00:00:00',
  eventDate: NOON,
})

describe('of a mandate, exactly this is told', () => {
  const payer = { document: '11222333000181', name: 'Quem Paga', ispb: '12345678' }
  type Cause = (shop: TestAccount, mandate: TestMandate) => Promise<unknown>
  const told: [event: string, cause: Cause, said: object][] = [
    [
      'AUTHORIZED',
      (_, mandate) => railSays(it, mandateNews(mandate, 'APPROVED', payer)),
      {
        status: 'APPROVED',
        nextRecurrenceDate: '2026-11-21 00:00:00',
        payerDocument: payer.document,
        payerName: payer.name,
      },
    ],
    [
      'REJECTED',
      (_, mandate) => railSays(it, mandateNews(mandate, 'REJECTED')),
      { status: 'REJECTED', nextRecurrenceDate: null },
    ],
    [
      'EXPIRED',
      (_, mandate) => railSays(it, mandateNews(mandate, 'EXPIRED')),
      { status: 'EXPIRED', nextRecurrenceDate: null },
    ],
    ['CANCELLED', (shop, mandate) => cancelMandate(shop, mandate), { status: 'CANCELLED', nextRecurrenceDate: null }],
    [
      'CONCLUDED',
      (shop, mandate) => simulateRecurrence(shop, mandate, 'scenario/approve-and-settle'),
      { status: 'CONCLUDED', nextRecurrenceDate: null },
    ],
  ]

  test.each(told)('RECURRENCE_%s', async (event, cause, said) => {
    it.clock.set(NOON)
    const shop = await merchant()
    const mandate = await given.mandate(shop, terms)
    await cause(shop, mandate)
    expect(await lastOf(shop)).toEqual({ eventType: `RECURRENCE_${event}`, ...common(mandate), ...said })
    expect((await namesOf(shop)).filter((name) => name === event)).toHaveLength(1)
  })

  test('RECURRENCE_EXPIRED when nobody answers, at that very time', async () => {
    it.clock.set(NOON)
    const shop = await merchant()
    const mandate = await given.mandate(shop, { ...terms, checkout: { maxAge: 10 } })
    it.clock.advance(10 * MINUTE_MS + 1)
    await it.sweep()
    await it.sweep()
    expect(await toldOf(shop)).toEqual([
      {
        ...common(mandate),
        eventType: 'RECURRENCE_EXPIRED',
        status: 'EXPIRED',
        nextRecurrenceDate: null,
        eventDate: '2026-11-16 12:10:00',
      },
    ])
  })

  test('RECURRENCE_CONCLUDED when its last charge is final, after that charge', async () => {
    it.clock.set(NOON)
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop, { plan: { period: 1 } })
    await railSays(it, chargePayment(it, charge))
    expect(await namesOf(shop)).toEqual(['AUTHORIZED', 'CHARGE_SCHEDULED', 'CHARGE_PAID', 'CONCLUDED'])
    const [, scheduled, paid, concluded] = await toldOf(shop)
    expect([scheduled, paid, concluded].map(({ status, nextRecurrenceDate }) => [status, nextRecurrenceDate])).toEqual([
      ['APPROVED', null],
      ['APPROVED', null],
      ['CONCLUDED', null],
    ])
  })
})

describe('of a charge, exactly this is told', () => {
  /** A mandate whose first charge is at the payer's bank. */
  async function charged(more: Terms = {}) {
    it.clock.set(NOON)
    const shop = await merchant()
    return {
      shop,
      charge: await given.scheduledCharge(shop, { ...terms, ...more, plan: { ...terms.plan, ...more.plan } }),
    }
  }
  type Charged = Awaited<ReturnType<typeof charged>>
  const ofCharge = ({ charge }: Charged) => ({
    ...common(charge.mandate),
    status: 'APPROVED',
    nextRecurrenceDate: '2026-12-21 00:00:00',
    saleToken: charge.sale.uuid,
    chargeAmount: 49.9,
    chargeDueDate: '2026-11-21 00:00:00',
  })

  test('RECURRENCE_CHARGE_SCHEDULED', async () => {
    const world = await charged()
    expect(await lastOf(world.shop)).toEqual({
      eventType: 'RECURRENCE_CHARGE_SCHEDULED',
      ...ofCharge(world),
      chargeStatus: 'SCHEDULED',
    })
  })

  test('RECURRENCE_CHARGE_PAID', async () => {
    const world = await charged()
    await railSays(it, chargePayment(it, world.charge))
    expect(await lastOf(world.shop)).toEqual({
      eventType: 'RECURRENCE_CHARGE_PAID',
      ...ofCharge(world),
      chargeStatus: 'PAID',
    })
  })

  const noMoney = { rejectionCode: 'AM04', rejectionReason: "Insufficient funds in the payer's account." }
  const failures: [what: string, cause: (world: Charged) => Promise<unknown>, said: object, terms?: Terms][] = [
    [
      'failed',
      ({ charge }) => railSays(it, collectionNews(charge, 'FAILED', { code: 'AM04' })),
      { chargeStatus: 'FAILED', ...noMoney, retryScheduled: false },
    ],
    [
      'failed, to be tried again',
      ({ charge }) => railSays(it, collectionNews(charge, 'FAILED', { code: 'AM04' })),
      { chargeStatus: 'FAILED', ...noMoney, retryScheduled: true },
      withRetries,
    ],
    [
      'rejected: more than the payer allows',
      ({ charge }) => railSays(it, collectionNews(charge, 'REJECTED', { code: 'AM02' })),
      {
        chargeStatus: 'REJECTED',
        rejectionCode: 'AM02',
        rejectionReason: 'Charge exceeds the maximum the payer configured.',
        retryScheduled: false,
      },
    ],
    [
      'rejected for what only the bank knows',
      ({ charge }) => railSays(it, collectionNews(charge, 'REJECTED', { code: 'ZZ99' })),
      { chargeStatus: 'REJECTED', rejectionCode: 'ZZ99', rejectionReason: 'ZZ99', retryScheduled: false },
      withRetries,
    ],
    [
      'cancelled by the merchant',
      ({ shop, charge }) => cancelCharge(shop, charge),
      {
        chargeStatus: 'CANCELLED',
        rejectionCode: 'SLCR',
        rejectionReason: 'Cancellation requested.',
        retryScheduled: false,
      },
    ],
  ]

  test.each(failures)('RECURRENCE_CHARGE_FAILED: %s', async (_what, cause, said, more) => {
    const world = await charged(more)
    await cause(world)
    expect(await lastOf(world.shop)).toEqual({
      eventType: 'RECURRENCE_CHARGE_FAILED',
      ...ofCharge(world),
      ...said,
    })
  })

  test('with a mandate that goes: its status is the mandate’s', async () => {
    const world = await charged()
    await cancelMandate(world.shop, world.charge.mandate)
    expect(await namesOf(world.shop)).toEqual(['AUTHORIZED', 'CHARGE_SCHEDULED', 'CANCELLED', 'CHARGE_FAILED'])
    expect(await lastOf(world.shop)).toEqual({
      eventType: 'RECURRENCE_CHARGE_FAILED',
      ...ofCharge(world),
      status: 'CANCELLED',
      nextRecurrenceDate: null,
      chargeStatus: 'CANCELLED',
      rejectionCode: 'SLCR',
      rejectionReason: 'Cancellation requested.',
      retryScheduled: false,
    })
  })
})

describe('what is told', () => {
  test('while a mandate is being cancelled says APPROVED: it is in force until it is CANCELLED', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop)
    await railSays(it, mandateNews(charge.mandate, 'CANCELLING'), chargePayment(it, charge))
    expect(await lastOf(shop)).toMatchObject({ eventType: 'RECURRENCE_CHARGE_PAID', status: 'APPROVED' })
  })

  test('of a VARIABLE mandate: its amount is the price of the next cycle, the charge’s is its own', async () => {
    it.clock.set(NOON)
    const shop = await merchant()
    const mandate = await given.approvedMandate(shop, {
      plan: { minimumRecurrenceAmount: 20, frequency: 'WEEKLY' },
      recurrence: { amount: { valueType: 'VARIABLE', debitorMinimumAmount: 30 } },
    })
    await setCycleAmount(shop, mandate, 80)
    await simulateRecurrence(shop, mandate, 'run-due')
    await shop.api.put(`/v1.1/pix-automatic/plans/${mandate.planId}`, { recurrenceAmount: 25 })
    await simulateRecurrence(shop, mandate, 'fail/AG03')
    expect(
      (await toldOf(shop)).map(({ valueType, amount, chargeAmount }) => [valueType, amount, chargeAmount]),
    ).toEqual([
      ['VARIABLE', 49.9, undefined],
      ['VARIABLE', 49.9, 80],
      ['VARIABLE', 30, 80],
    ])
  })

  test.each([
    ['nothing, open-ended', {}, {}, null],
    ['the agreed day', {}, { calendar: { initialDate: '2026-11-21', finalDate: '2027-08-08' } }, '2027-08-08 00:00:00'],
    ['the last cycle', { period: 2, frequency: 'ANNUALLY' }, {}, '2027-11-21 00:00:00'],
  ])('of its end: %s', async (_what, plan, recurrence, finalDate) => {
    it.clock.set(NOON)
    const shop = await merchant()
    await given.approvedMandate(shop, { plan, recurrence })
    expect(await lastOf(shop)).toMatchObject({ finalDate, contractDescription: expect.stringMatching(/^Plano \d+$/) })
  })

  test('of a whole life, in the order of its causes, each once', async () => {
    it.clock.set(NOON)
    const shop = await merchant()
    const mandate = await given.approvedMandate(shop, { ...withRetries, plan: { ...withRetries.plan, period: 3 } })
    const charge = (await shop.api.get(`/v1.1/pix-automatic/authorizations/${mandate.idRec}`)).body.paymentSchedules[0]
    await simulateCollection(shop, charge.instructionId, 'failed')
    await advanceTo(shop, '2027-02-01')
    const story = (await toldOf(shop)).map(({ eventType, chargeDueDate = '', eventDate }) =>
      [eventType.replace('RECURRENCE_', ''), chargeDueDate.slice(0, 10), eventDate].join(' '),
    )
    expect(story).toEqual([
      'AUTHORIZED  2026-11-16 12:00:00',
      'CHARGE_SCHEDULED 2026-11-21 2026-11-16 12:00:00',
      'CHARGE_FAILED 2026-11-21 2026-11-16 12:00:00',
      'CHARGE_SCHEDULED 2026-11-21 2026-11-23 00:00:00',
      'CHARGE_PAID 2026-11-21 2026-11-23 08:00:00',
      'CHARGE_SCHEDULED 2026-12-21 2026-12-11 00:00:00',
      'CHARGE_PAID 2026-12-21 2026-12-21 08:00:00',
      'CHARGE_SCHEDULED 2027-01-21 2027-01-11 00:00:00',
      'CHARGE_PAID 2027-01-21 2027-01-21 08:00:00',
      'CONCLUDED  2027-01-21 08:00:00',
    ])
    const ids = shop.calls().map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(story.length)
  })

  test('is seen already when its receiver asks', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    const seen: string[] = []
    shop.answer(async (reply, { body }) => {
      const { authorization } = (await shop.api.get(`/v1.1/pix-automatic/authorizations/${body.idRec}`)).body
      seen.push(`${body.status} ${authorization.status}`)
      reply.end()
    })
    await railSays(it, mandateNews(mandate, 'APPROVED'))
    await settle()
    await cancelMandate(shop, mandate)
    await settle()
    expect(seen).toEqual(['APPROVED APPROVED', 'CANCELLED CANCELLED'])
  })
})

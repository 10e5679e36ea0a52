import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { linesOf, moneyOf } from '../../../test/harness/money-out.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import {
  authorizationOf,
  cancelCharge,
  chargeAgain,
  chargePayment,
  chargesOf,
  collectionNews,
  hearOf,
  mandateNews,
  railSays,
  recurrences,
  simulateRecurrence,
  type TestCharge,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, plusMs } from '../../kernel/calendar.ts'
import { chargeOfTxid, chargeTxidOf } from '../../kernel/txid.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import type { RailEvent } from '../../rail/rail.ts'
import { applyRailEvents } from '../door/index.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)

const eventsOf = async (shop: Merchant): Promise<string[]> => {
  await settle()
  return shop.calls().map(({ body }) => body.eventType?.replace('RECURRENCE_', '') ?? body.reason)
}
const stateOf = async (account: TestAccount, charge: TestCharge) => (await chargeAgain(account, charge)).status
const reversalsOf = async ({ api }: TestAccount) => (await api.get('/v1.1/reversals')).body.result
const operatorHolds = async (endToEnd: string) =>
  it.rows('select reason, amount_cents, sale_id from reversal where account_id = 1 and end_to_end = $1', [endToEnd])

describe('a payment of a charge', () => {
  test('pays it: the charge, its sale, the books and the news together', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop)
    const payment = chargePayment(it, charge)
    expect(await applyRailEvents(it.service.doorContext, [payment])).toMatchObject([
      { outcome: 'applied', saleId: charge.sale.uuid },
    ])
    expect(await chargeAgain(shop, charge)).toMatchObject({ status: 'PAID', endToEnd: payment.endToEnd })
    expect(await situationOf(shop, charge.sale)).toBe('PAID')
    expect(await linesOf(shop)).toEqual([
      ['FEE', -0.49],
      ['RECURRENCE', 49.9],
    ])
    expect(await eventsOf(shop)).toEqual(['AUTHORIZED', 'CHARGE_SCHEDULED', 'CHARGE_PAID'])
  })

  test('heard twice has one effect; its id with another content is set aside', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop)
    const payment = chargePayment(it, charge)
    expect(await hearOf(it, payment)).toBe('applied')
    expect(await hearOf(it, payment)).toBe('duplicate')
    expect(await hearOf(it, { ...payment, settledAt: plusMs(payment.settledAt, 1) })).toBe('duplicate')
    expect(await hearOf(it, { ...payment, amount: 1 as typeof payment.amount })).toBe('conflict')
    const kept = await it.rows('select 1 from inbox_conflict where rail_id = $1', [payment.endToEnd])
    expect([kept.length, await reversalsOf(shop)]).toEqual([1, []])
    expect(await moneyOf(shop)).toEqual({ available: 49.41, blocked: 0 })
    expect(await eventsOf(shop)).toHaveLength(3)
  })

  test.each([
    ['was never confirmed', 'RESERVED', ['AUTHORIZED', 'CHARGE_SCHEDULED', 'CHARGE_PAID']],
    [
      'waits for its retry',
      'RETRYING',
      ['AUTHORIZED', 'CHARGE_SCHEDULED', 'CHARGE_FAILED', 'CHARGE_SCHEDULED', 'CHARGE_PAID'],
    ],
  ] as const)('whose registration %s pays it, and what was missing is told first', async (_what, state, events) => {
    const shop = await merchant()
    const charge = state === 'RESERVED' ? await given.reservedCharge(shop) : await given.chargeIn(shop, 'RETRYING')
    expect(await hearOf(it, chargePayment(it, charge))).toBe('applied')
    expect(await chargeAgain(shop, charge)).toMatchObject({ status: 'PAID', rejectionCode: null })
    expect(await eventsOf(shop)).toEqual(events)
    // The bank's own word comes late.
    expect(await hearOf(it, collectionNews(charge, 'SCHEDULED'))).toBe('duplicate')
    await it.sweep()
    expect([await stateOf(shop, charge), (await eventsOf(shop)).length]).toEqual(['PAID', events.length])
  })

  test('counts while its mandate is being cancelled, and however late it is heard of', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    await railSays(it, mandateNews(charge.mandate, 'CANCELLING'))
    const settledAt = plusMs(it.clock.now(), 30 * DAY_MS)
    expect(await hearOf(it, chargePayment(it, charge, { settledAt }))).toBe('applied')
    expect(await stateOf(account, charge)).toBe('PAID')
  })

  test('of the last cycle ends the mandate', async () => {
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'PAID', { plan: { period: 1 } })
    expect((await authorizationOf(account, charge.mandate)).status).toBe('CONCLUDED')
  })
})

describe('a payment that fits no charge goes back', () => {
  const misfits = [
    ['a cent too little', 'SCHEDULED', 4_989, 'AMOUNT_DIFFERS'],
    ['a cent too much', 'SCHEDULED', 4_991, 'AMOUNT_DIFFERS'],
    ['a second time', 'PAID', 4_990, 'ALREADY_PAID'],
    ['a second time with another amount', 'PAID', 1, 'ALREADY_PAID'],
    ['after it was cancelled', 'CANCELLED', 4_990, 'SALE_NOT_PENDING'],
    ['after it failed for good', 'FAILED', 4_990, 'SALE_NOT_PENDING'],
    ['another amount while a retry is to come', 'RETRYING', 1, 'AMOUNT_DIFFERS'],
  ] as const

  test.each(misfits)('%s: %s, %d cents, %s', async (_what, state, amount, reason) => {
    const shop = await merchant((url) => ({ payment: { url }, reversal: { url, enabled: true } }))
    const charge = await given.chargeIn(shop, state)
    const before = { money: await moneyOf(shop), events: await eventsOf(shop), charge: await chargeAgain(shop, charge) }
    const payment = chargePayment(it, charge, { amount })
    const [outcome] = await applyRailEvents(it.service.doorContext, [payment])
    expect(outcome).toMatchObject({ outcome: 'reversed' })
    expect(await reversalsOf(shop)).toMatchObject([
      {
        status: 'PENDING',
        reason,
        originalAmount: 49.9,
        reversedAmount: amount / 100,
        sale: { uuid: charge.sale!.uuid },
      },
    ])
    expect(await chargeAgain(shop, charge)).toEqual(before.charge)
    expect(await moneyOf(shop)).toEqual(before.money)
    expect(await eventsOf(shop)).toEqual([...before.events, reason])
    expect(await hearOf(it, payment)).toBe('duplicate')
    expect(await reversalsOf(shop)).toHaveLength(1)
  })

  test('after its mandate was cancelled', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    await railSays(it, mandateNews(charge.mandate, 'CANCELLED'))
    expect(await hearOf(it, chargePayment(it, charge))).toBe('reversed')
    expect(await reversalsOf(account)).toMatchObject([{ reason: 'SALE_NOT_PENDING' }])
  })

  test('before it was registered, or of a charge that nobody knows: it waits with the operator', async () => {
    const account = await it.given.account()
    const planned = await given.plannedCharge(account, { inDays: 40 })
    const parts = chargeOfTxid(planned.instructionId)!
    const unknown = [
      planned.instructionId,
      chargeTxidOf({ ...parts, chargeId: randomUUID() as typeof parts.chargeId }),
      chargeTxidOf({ ...parts, accountId: (parts.accountId + 1_000) as typeof parts.accountId }),
    ]
    for (const txid of unknown) {
      const payment = chargePayment(it, planned, { txid })
      expect(await applyRailEvents(it.service.doorContext, [payment])).toMatchObject([
        { outcome: 'reversed', accountId: 1 },
      ])
      expect(await operatorHolds(payment.endToEnd)).toEqual([
        { reason: 'UNKNOWN_CHARGE', amount_cents: 4_990, sale_id: null },
      ])
    }
    expect([await reversalsOf(account), await stateOf(account, planned)]).toEqual([[], 'PENDING_SCHEDULE'])
  })
})

describe('what arrives together', () => {
  /** Two charges of one mandate, both at the payer's bank. */
  async function twoCharges(account: TestAccount): Promise<[TestCharge, TestCharge]> {
    const mandate = await given.approvedMandate(account, { plan: { frequency: 'WEEKLY' }, inDays: 2 })
    for (const _ of [1, 2]) expect((await simulateRecurrence(account, mandate, 'run-due')).body.generated).toBe(1)
    const [, second, first] = await chargesOf(account, mandate)
    return [first!, second!]
  }

  test.each([
    ['that hears of it', merchant],
    ['that hears of nothing', () => it.given.account()],
  ])('news of two charges of one mandate of an account %s is decided one after the other', async (_what, open) => {
    const account = await open()
    const ends = [
      ['PAID', (charge: TestCharge) => chargePayment(it, charge)],
      ['FAILED', (charge: TestCharge) => collectionNews(charge, 'FAILED', { code: 'AG03' })],
    ] as const
    for (const [state, newsOf] of ends) {
      const charges = await twoCharges(account)
      const news = charges.map((charge): RailEvent => newsOf(charge))
      const outcomes = await applyRailEvents(it.service.doorContext, news)
      expect(outcomes).toEqual([expect.objectContaining({ outcome: 'applied' }), DEFERRED])
      expect(await Promise.all(charges.map((charge) => stateOf(account, charge)))).toEqual([state, 'SCHEDULED'])
    }
  })

  test.each([
    ['that hears of it', merchant],
    ['that hears of nothing', () => it.given.account()],
  ])('all news of one mandate of an account %s has its effect in the end', async (_what, open) => {
    const account = await open()
    const [first, second] = await twoCharges(account)
    const outcomes = await it.service.door.apply([
      chargePayment(it, first),
      collectionNews(second, 'FAILED', { code: 'AG03' }),
      mandateNews(first.mandate, 'CANCELLING'),
    ])
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied'])
    expect(await Promise.all([stateOf(account, first), stateOf(account, second)])).toEqual(['PAID', 'FAILED'])
    expect((await authorizationOf(account, first.mandate)).status).toBe('CANCELLING')
  })

  test('of sales, charges and mandates has one outcome each, in order', async () => {
    const account = await it.given.account()
    const [one, other] = [await given.scheduledCharge(account), await given.scheduledCharge(account, withRetries)]
    const [sale, mandate] = [await it.given.sale(account), await given.mandate(account)]
    const outcomes = await applyRailEvents(it.service.doorContext, [
      railPayment(it.clock, sale),
      chargePayment(it, one),
      mandateNews(mandate, 'REJECTED'),
      chargePayment(it, { ...other, amount: 1 }),
      mandateNews(mandate, 'REJECTED'),
    ])
    expect(outcomes.slice(0, 4)).toMatchObject([
      { outcome: 'applied', saleId: sale.uuid },
      { outcome: 'applied', saleId: one.sale.uuid },
      { outcome: 'applied', saleId: null },
      { outcome: 'reversed' },
    ])
    expect(outcomes[4]).toBe(DEFERRED)
    expect(await moneyOf(account)).toEqual({ available: 148.42, blocked: 0 })
  })

  test('a payment and a cancellation: one of them wins, and the money is never lost', async () => {
    for (let round = 0; round < 6; round += 1) {
      const account = await it.given.account()
      const charge = await given.scheduledCharge(account)
      const [[outcome], cancelled] = await Promise.all([
        it.service.door.apply([chargePayment(it, charge)]),
        cancelCharge(account, charge),
      ])
      const paid = outcome!.outcome === 'applied'
      expect([outcome!.outcome, cancelled.http]).toEqual(paid ? ['applied', 400] : ['reversed', 200])
      expect(await stateOf(account, charge)).toBe(paid ? 'PAID' : 'CANCELLED')
      expect(await reversalsOf(account)).toHaveLength(paid ? 0 : 1)
    }
  })
})

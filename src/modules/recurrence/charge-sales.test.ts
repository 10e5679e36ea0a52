import { describe, expect, test } from 'vitest'
import { pay, situationOf } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import { accepted, linesOf, moneyOf, refund } from '../../../test/harness/money-out.ts'
import {
  authorizationOf,
  chargeAgain,
  chargePayment,
  railSays,
  recurrences,
  type TestCharge,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const NOON = '2026-11-16 12:00:00'
const callbackURL = 'https://shop.example/hook'

describe('the sale that a charge is', () => {
  test('is made with its registration, under the mandate’s reference', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const planned = await given.plannedCharge(account, { checkout: { referenceCode: 'aluno-7', callbackURL } })
    expect((await account.api.get('/v1.1/transactions')).body.totalElements).toBe(0)
    await it.sweep()
    const charge = await chargeAgain(account, planned)
    expect((await account.api.get(`/v1.1/transactions/${charge.sale!.uuid}`)).body).toMatchObject({
      id: charge.sale!.id,
      uuid: charge.sale!.uuid,
      type: 'SALE',
      situation: 'PENDING',
      currency: 'BRL',
      amount: 49.9,
      total: 49.9,
      appliedRate: 0.49,
      referenceCode: 'aluno-7',
      creation: NOON,
      maxAge: '2026-11-21 23:59:59',
      processingDate: null,
      paymentMethod: 'PIX',
      callbackURL,
      shopper: { name: 'Maria da Silva' },
      refunds: { quantity: 0, available: 0 },
    })
  })

  test('is listed among all others, under each filter', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 10 })
    it.clock.advance(1)
    const charge = await given.chargeIn(account, 'PAID')
    it.clock.advance(1)
    const failed = await given.chargeIn(account, 'FAILED')
    const list = async (filter: string) =>
      (await account.api.get(`/v1.1/transactions?${filter}`)).body.result.map(({ uuid }: { uuid: string }) => uuid)
    expect(await list('')).toEqual([failed.sale!.uuid, charge.sale!.uuid, sale.uuid])
    expect(await list('type=SALE&situation=PAID')).toEqual([charge.sale!.uuid])
    expect(await list('situation=CANCELLED')).toEqual([failed.sale!.uuid])
    expect(await list(`referenceCode=${charge.mandate.referenceCode}`)).toEqual([charge.sale!.uuid])
    expect(await list('amount=49.90')).toEqual([failed.sale!.uuid, charge.sale!.uuid])
    expect(await list('queryMode=PROCESSED')).toEqual([charge.sale!.uuid])
    const { totalElements } = (await account.api.get('/v1.1/transactions')).body
    expect(totalElements).toBe(3)
  })

  test('pays into the balance as RECURRENCE, less the PIX fee', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'PAID')
    expect(await linesOf(account)).toEqual([
      ['FEE', -0.49],
      ['RECURRENCE', 49.9],
    ])
    expect(await moneyOf(account)).toEqual({ available: 49.41, blocked: 0 })
    const { result } = (await account.api.get('/v1.1/statement')).body
    for (const line of result) expect(line).toMatchObject({ saleToken: charge.sale!.uuid, date: NOON })
    expect(result.map(({ balance }: { balance: number }) => balance)).toEqual([49.41, 49.9])
    expect((await account.api.get(`/v1.1/transactions/${charge.sale!.uuid}`)).body).toMatchObject({
      situation: 'PAID',
      processingDate: NOON,
    })
  })

  test.each([
    [{ percent: 10, fixed: 0.1 }, 5.09],
    [{ percent: 0, fixed: 0 }, 0],
  ])('pays the fee %j of the day it was registered: %d', async (PIX, fee) => {
    const account = await it.given.account({ fees: { PIX } })
    const charge = await given.scheduledCharge(account)
    await account.api.put('/v1.1/sandbox/account', { fees: { PIX: { percent: 50, fixed: 5 } } })
    await railSays(it, chargePayment(it, charge))
    expect((await account.api.get(`/v1.1/transactions/${charge.sale.uuid}`)).body.appliedRate).toBe(fee)
    expect(Math.round((await moneyOf(account)).available * 100)).toBe(4990 - Math.round(fee * 100))
  })

  test('is paid without a PAYMENT_CONFIRMATION, whatever callback it has', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop, { checkout: { callbackURL: `${shop.hook}/own` } })
    expect((await pay(shop, charge.sale)).body.sale.situation).toBe('PAID')
    await settle()
    expect(shop.calls().map(({ body }) => [body.eventType, body.newStatus])).toEqual([
      ['RECURRENCE_AUTHORIZED', undefined],
      ['RECURRENCE_CHARGE_SCHEDULED', undefined],
      ['RECURRENCE_CHARGE_PAID', undefined],
    ])
    expect(new Set(shop.calls().map(({ url }) => url.slice(-4)))).toEqual(new Set(['/own']))
  })

  test('tells who paid, once it is paid', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    const ask = async () => (await account.api.get(`/v1.1/transactions/${charge.sale.uuid}/payment_info`)).body
    expect(await ask()).toEqual({
      status: -1,
      message: 'sale must be PAID',
      errorCount: 1,
      errors: [{ field: 'sale_uuid', message: "the transaction status must be 'PAID'" }],
    })
    const payment = chargePayment(it, charge, { payer: { document: '12345678901', name: 'Quem Paga', ispb: null } })
    await railSays(it, payment)
    expect(await ask()).toEqual({
      status: 0,
      message: 'success',
      sale_id: charge.sale.id,
      payment_bank: 'PIX',
      end_to_end: payment.endToEnd,
      payer: { document: '12345678901', name: 'Quem Paga' },
    })
    expect(await chargeAgain(account, charge)).toMatchObject({ endToEnd: payment.endToEnd })
  })

  test('can be refunded when it is paid: charge and mandate stay as they are', async () => {
    const account = await it.given.account({ autoSettle: false, overdraftLimit: 1 })
    const charge = await given.chargeIn(account, 'PAID')
    const sale = charge.sale!
    const refused = await refund(account, sale, { amount: 49.91 })
    expect([refused.http, refused.body.errors[0].field]).toEqual([400, 'amount'])
    const uuid = await accepted(refund(account, sale, { amount: 49.9 }))
    await account.api.post(`/v1.1/sandbox/sim/refund/${uuid}/paid`)
    expect(await linesOf(account)).toEqual([
      ['REFUND', -49.9],
      ['FEE', -0.49],
      ['RECURRENCE', 49.9],
    ])
    expect(await situationOf(account, sale)).toBe('PAID')
    expect((await chargeAgain(account, charge)).status).toBe('PAID')
    expect((await authorizationOf(account, charge.mandate)).status).toBe('APPROVED')
  })

  test.each(['SCHEDULED', 'FAILED', 'CANCELLED'] as const)('cannot be refunded when it is %s', async (state) => {
    const account = await it.given.account()
    const { http, body } = await refund(account, (await given.chargeIn(account, state)).sale!, { amount: 1 })
    expect([http, body.status, body.message]).toEqual([400, 999, 'transaction not PAID'])
  })

  test('gives back what does not fit it, and is still to be paid', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    const { body } = await pay(account, charge.sale, { amount: 49.91 })
    expect([body.sale.situation, body.reversal.reason]).toEqual(['PENDING', 'AMOUNT_DIFFERS'])
    expect((await pay(account, charge.sale)).body).toMatchObject({ sale: { situation: 'PAID' }, reversal: null })
    expect((await pay(account, charge.sale)).body.reversal.reason).toBe('ALREADY_PAID')
    expect(await moneyOf(account)).toEqual({ available: 49.41, blocked: 0 })
  })

  test('is nobody else’s', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const { sale }: TestCharge = await given.chargeIn(account, 'PAID')
    for (const path of ['', '/payment_info', '/webhook'])
      expect((await other.api.get(`/v1.1/transactions/${sale!.uuid}${path}`)).http).toBe(404)
    expect((await refund(other, sale!, { amount: 1 })).http).toBe(404)
    expect((await pay(other, sale!)).http).toBe(404)
  })
})

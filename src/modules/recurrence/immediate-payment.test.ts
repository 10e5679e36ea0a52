import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { pay, situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { linesOf, moneyOf, numberOf, refund } from '../../../test/harness/money-out.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import {
  authorizationOf,
  cancelMandate,
  chargesOf,
  mandateNews,
  railSays,
  recurrences,
  type Terms,
  type TestMandate,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import type { SaleId } from '../../kernel/ids.ts'
import { txidOf } from '../../kernel/txid.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const NOON = '2026-11-16 12:00:00'

const payingNow = { checkout: { amount: 100 }, recurrence: { immediatePayment: true } } satisfies Terms
const ask = (account: TestAccount, terms: Terms = {}) =>
  given.mandate(account, { ...payingNow, ...terms, checkout: { ...payingNow.checkout, ...terms.checkout } })
const stateOf = async (account: TestAccount, mandate: TestMandate) => (await authorizationOf(account, mandate)).status
const standing = async (account: TestAccount, mandate: TestMandate) => [
  await situationOf(account, mandate),
  await stateOf(account, mandate),
]
/** The events that have arrived, by name. */
async function toldOf(shop: Merchant): Promise<string[]> {
  await settle()
  return shop.calls().map(({ body }) => body.eventType ?? (body.newStatus && 'PAYMENT_CONFIRMATION'))
}
const asCalled = (names: string[]) => [...names].sort()

/** What the rail reports of the first payment. */
async function paymentOf(account: TestAccount, { uuid }: TestMandate) {
  const txid = txidOf({ accountId: await numberOf(it, account), saleId: uuid as SaleId, renewals: 0 })
  return railPayment(it.clock, { txid, amount: 100 })
}

describe('a recurrence checkout that is paid at once', () => {
  test('makes an ordinary sale, under the uuid and the number of its answer', async () => {
    it.clock.set(NOON)
    const account = await it.given.account()
    const planId = await given.plan(account)
    const body = {
      currency: 'BRL',
      amount: 100,
      referenceCode: 'assinatura-7',
      maxAge: 60,
      callbackURL: 'https://shop.example/hook',
      shopper: { name: 'Maria', email: 'm@example.com', document: { type: 'CPF', number: '52998224725' } },
      recurrence: { planId, immediatePayment: true, calendar: { initialDate: '2026-12-01' } },
    }
    const { response, idRec } = (await account.api.post('/v1.1/checkout/pix-automatic', body)).body
    expect(response).toMatchObject({
      amount: 100,
      saleCode: String(response.id).padStart(8, '0'),
      authorization: { idRec, status: 'CREATED' },
    })
    expect(response.authorization.id).not.toBe(response.id)
    expect((await account.api.get(`/v1.1/transactions/${response.uuid}`)).body).toMatchObject({
      id: response.id,
      uuid: response.uuid,
      type: 'SALE',
      situation: 'PENDING',
      amount: 100,
      appliedRate: 0.99,
      referenceCode: 'assinatura-7',
      creation: NOON,
      maxAge: '2026-11-16 13:00:00',
      paymentMethod: 'PIX',
      callbackURL: 'https://shop.example/hook',
    })
    const { totalElements, result } = (await account.api.get('/v1.1/transactions')).body
    expect([totalElements, result[0].uuid]).toEqual([1, response.uuid])
  })

  test.each([
    ['what is asked for', { amount: 30 }, { imediateAmount: 20 }, 30],
    ['what the plan says', {}, { imediateAmount: 20 }, 20],
    ['what the plan says when nothing is sent', { amount: null }, { imediateAmount: '20.50' }, 20.5],
  ])('costs %s', async (_what, checkout, plan, amount) => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, { plan, checkout, recurrence: { immediatePayment: true } })
    expect((await account.api.get(`/v1.1/transactions/${mandate.uuid}`)).body.amount).toBe(amount)
    expect((await authorizationOf(account, mandate)).amount).toBe(49.9)
  })

  test('is no sale when it is not to be paid at once, whatever amount comes with it', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, { plan: { imediateAmount: 20 }, checkout: { amount: 30 } })
    expect((await account.api.get(`/v1.1/transactions/${mandate.uuid}`)).http).toBe(404)
  })
})

describe('its payment', () => {
  test('confirms the sale and approves the mandate, in one go', async () => {
    it.clock.set(NOON)
    const shop = await merchant()
    const mandate = await ask(shop)
    const payer = { document: '11222333000181', name: 'Quem Pagou', ispb: '12345678' }
    expect((await pay(shop, mandate, { payer })).body).toMatchObject({ sale: { situation: 'PAID' }, reversal: null })
    expect(await standing(shop, mandate)).toEqual(['PAID', 'APPROVED'])
    expect((await authorizationOf(shop, mandate)).payer).toEqual(payer)
    expect(await chargesOf(shop, mandate)).toMatchObject([
      { status: 'PENDING_SCHEDULE', dueDate: '2026-11-21 00:00:00' },
    ])
    expect(await toldOf(shop)).toEqual(['PAYMENT_CONFIRMATION', 'RECURRENCE_AUTHORIZED'])
    const confirmation = shop.calls().find(({ body }) => body.newStatus)!.body
    expect(confirmation).toMatchObject({ saleToken: mandate.uuid, amount: 100, referenceCode: mandate.referenceCode })
    expect(await linesOf(shop)).toEqual([
      ['FEE', -0.99],
      ['SALE', 100],
    ])
    const attempts = (await shop.api.get(`/v1.1/transactions/${mandate.uuid}/webhook`)).body.notifications
    expect(asCalled(attempts.map(({ eventType }: { eventType: string }) => eventType))).toEqual([
      'PAYMENT_CONFIRMATION',
      'RECURRENCE_AUTHORIZED',
    ])
  })

  test('does the same under an Idempotency-Key, once', async () => {
    const shop = await merchant()
    const mandate = await ask(shop)
    const headers = { 'idempotency-key': randomUUID() }
    const path = `/v1.1/sandbox/sim/sale/${mandate.uuid}/paid`
    const first = await shop.api.post(path, {}, { headers })
    expect([first.http, first.body.sale], first.text).toEqual([200, { uuid: mandate.uuid, situation: 'PAID' }])
    const again = await shop.api.post(path, {}, { headers })
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true'])
    expect(await standing(shop, mandate)).toEqual(['PAID', 'APPROVED'])
    expect(await toldOf(shop)).toEqual(['PAYMENT_CONFIRMATION', 'RECURRENCE_AUTHORIZED'])
  })

  test('goes to the callbackURL of the checkout, with both its news', async () => {
    const shop = await merchant(() => ({ payment: { url: 'https://nobody.example' } }))
    const mandate = await ask(shop, { checkout: { callbackURL: `${shop.hook}/own` } })
    await pay(shop, mandate)
    expect(await toldOf(shop)).toEqual(['PAYMENT_CONFIRMATION', 'RECURRENCE_AUTHORIZED'])
    expect(new Set(shop.calls().map(({ url }) => url.replace(/.*\/own/, '/own')))).toEqual(new Set(['/own']))
  })

  test('heard twice has one effect; a second one is a reversal and approves nothing again', async () => {
    const shop = await merchant()
    const mandate = await ask(shop)
    const payment = await paymentOf(shop, mandate)
    expect(await it.service.door.apply([payment])).toMatchObject([{ outcome: 'applied', saleId: mandate.uuid }])
    expect(await it.service.door.apply([payment])).toMatchObject([{ outcome: 'duplicate' }])
    expect((await pay(shop, mandate)).body.reversal.reason).toBe('ALREADY_PAID')
    expect(await toldOf(shop)).toEqual(['PAYMENT_CONFIRMATION', 'RECURRENCE_AUTHORIZED'])
    expect(await moneyOf(shop)).toEqual({ available: 99.01, blocked: 0 })
  })

  test('of another amount is a reversal, and nothing is approved', async () => {
    const shop = await merchant()
    const mandate = await ask(shop)
    expect((await pay(shop, mandate, { amount: 99.99 })).body.reversal.reason).toBe('AMOUNT_DIFFERS')
    expect(await standing(shop, mandate)).toEqual(['PENDING', 'CREATED'])
    expect(await toldOf(shop)).toEqual([])
  })

  test('confirms alone when the mandate was approved before', async () => {
    const shop = await merchant()
    const mandate = await ask(shop)
    await railSays(it, mandateNews(mandate, 'APPROVED'))
    expect(await situationOf(shop, mandate)).toBe('PENDING')
    expect((await pay(shop, mandate)).body.sale.situation).toBe('PAID')
    expect(await standing(shop, mandate)).toEqual(['PAID', 'APPROVED'])
    expect(await toldOf(shop)).toEqual(['RECURRENCE_AUTHORIZED', 'PAYMENT_CONFIRMATION'])
    expect(await chargesOf(shop, mandate)).toHaveLength(1)
  })

  test('is applied with others that arrive in the same batch', async () => {
    const account = await it.given.account()
    const [one, other] = [await ask(account), await ask(account)]
    const sale = await it.given.sale(account)
    const payments = [await paymentOf(account, one), railPayment(it.clock, sale), await paymentOf(account, other)]
    expect(await it.service.door.apply(payments)).toMatchObject(
      [one, sale, other].map(({ uuid }) => ({ outcome: 'applied', saleId: uuid })),
    )
    expect([await standing(account, one), await standing(account, other)]).toEqual([
      ['PAID', 'APPROVED'],
      ['PAID', 'APPROVED'],
    ])
  })

  test('can be refunded like any other, and the mandate goes on', async () => {
    const account = await it.given.account({ autoSettle: false, overdraftLimit: 10 })
    const mandate = await ask(account)
    await pay(account, mandate)
    expect((await refund(account, mandate, { amount: 100 })).http).toBe(200)
    expect(await standing(account, mandate)).toEqual(['PAID', 'APPROVED'])
  })
})

describe('without a payment', () => {
  test('a void cancels the sale alone: it cannot be paid or renewed, the mandate still waits', async () => {
    const shop = await merchant()
    const mandate = await ask(shop)
    expect((await shop.api.put(`/v1.1/transactions/${mandate.uuid}/void`)).http).toBe(200)
    expect(await standing(shop, mandate)).toEqual(['CANCELLED', 'CREATED'])
    expect((await pay(shop, mandate)).body.reversal.reason).toBe('SALE_NOT_PENDING')
    const renewed = await shop.api.put(`/v1.1/checkout/transparent/${mandate.uuid}`, {})
    expect([renewed.http, renewed.body.status, renewed.body.message]).toEqual([400, 999, 'transaction not CANCELLED'])
    expect(await standing(shop, mandate)).toEqual(['CANCELLED', 'CREATED'])
    await railSays(it, mandateNews(mandate, 'APPROVED'))
    expect(await standing(shop, mandate)).toEqual(['CANCELLED', 'APPROVED'])
    expect(await toldOf(shop)).toEqual(['RECURRENCE_AUTHORIZED'])
  })

  test('both end a moment after their time, and only the mandate is told of', async () => {
    const shop = await merchant()
    const mandate = await ask(shop, { checkout: { maxAge: 30 } })
    it.clock.advance(30 * MINUTE_MS)
    await it.sweep()
    expect(await standing(shop, mandate)).toEqual(['PENDING', 'CREATED'])
    it.clock.advance(1)
    await it.sweep()
    expect(await standing(shop, mandate)).toEqual(['CANCELLED', 'EXPIRED'])
    expect(await toldOf(shop)).toEqual(['RECURRENCE_EXPIRED'])
  })

  test('both end on the account’s own clock', async () => {
    const shop = await merchant()
    const mandate = await ask(shop, { checkout: { maxAge: 30 } })
    expect((await shop.api.post('/v1.1/sandbox/clock/advance', { minutes: 31 })).body.processed).toBe(2)
    expect(await standing(shop, mandate)).toEqual(['CANCELLED', 'EXPIRED'])
  })

  test('settled at the very end and heard late, it still pays and approves', async () => {
    const account = await it.given.account()
    const mandate = await ask(account, { checkout: { maxAge: 30 } })
    const settledAt = plusMs(it.clock.now(), 30 * MINUTE_MS)
    const payment = { ...(await paymentOf(account, mandate)), settledAt }
    it.clock.advance(60 * MINUTE_MS)
    expect(await it.service.door.apply([payment])).toMatchObject([{ outcome: 'applied' }])
    await it.sweep()
    expect(await standing(account, mandate)).toEqual(['PAID', 'APPROVED'])
  })

  test.each(['REJECTED', 'EXPIRED', 'CANCELLED'] as const)('the sale goes with a mandate that is %s', async (state) => {
    const account = await it.given.account()
    const mandate = await ask(account)
    await railSays(it, mandateNews(mandate, state))
    expect(await standing(account, mandate)).toEqual(['CANCELLED', state])
    expect((await pay(account, mandate)).body.reversal.reason).toBe('SALE_NOT_PENDING')
    expect(await stateOf(account, mandate)).toBe(state)
    const { totalElements } = (await account.api.get('/v1.1/transactions?situation=CANCELLED')).body
    expect(totalElements).toBe(1)
  })

  test('the sale stays with a mandate that was approved without it, also when that is cancelled later', async () => {
    const shop = await merchant()
    const mandate = await ask(shop)
    await railSays(it, mandateNews(mandate, 'APPROVED'))
    expect((await cancelMandate(shop, mandate)).http).toBe(200)
    expect(await standing(shop, mandate)).toEqual(['PENDING', 'CANCELLED'])
    expect((await pay(shop, mandate)).body.sale.situation).toBe('PAID')
    expect(await standing(shop, mandate)).toEqual(['PAID', 'CANCELLED'])
  })

  test('the sale goes with a mandate that its merchant cancels', async () => {
    const shop = await merchant()
    const mandate = await ask(shop)
    expect((await cancelMandate(shop, mandate)).http).toBe(200)
    expect(await standing(shop, mandate)).toEqual(['CANCELLED', 'CANCELLED'])
    expect(await toldOf(shop)).toEqual(['RECURRENCE_CANCELLED'])
  })
})

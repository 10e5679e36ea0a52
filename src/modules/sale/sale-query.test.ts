import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { pay, shopper, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { transactionAnswerSchema } from './sale.wire.ts'

const it = testService()

const query = (account: TestAccount, uuid: string) => account.api.get(`/v1.1/transactions/${uuid}`)
const noRefunds = (available: number) => ({ quantity: 0, requested: 0, available, transactions: [] })

describe('the query of a sale', () => {
  test('tells everything about a pending one', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-16 12:00:00')
    const sale = await it.given.sale(account, {
      amount: '250.00',
      referenceCode: 'order-250',
      maxAge: 90,
      callbackURL: 'https://example.com/paid?order=1',
    })
    const { http, body } = await query(account, sale.uuid)
    expect([http, body]).toEqual([
      200,
      {
        status: 0,
        message: 'success',
        id: sale.id,
        uuid: sale.uuid,
        type: 'SALE',
        situation: 'PENDING',
        currency: 'BRL',
        amount: 250,
        shipping: 0,
        discounts: 0,
        total: 250,
        appliedRate: 2.48,
        referenceCode: 'order-250',
        creation: '2026-11-16 12:00:00',
        maxAge: '2026-11-16 13:30:00',
        processingDate: null,
        paymentMethod: 'PIX',
        callbackURL: 'https://example.com/paid?order=1',
        shopper,
        refunds: noRefunds(0),
      },
    ])
    expect(Value.Check(transactionAnswerSchema, body)).toBe(true)
  })

  test('of a paid one has the payment’s time and what can be refunded', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-16 23:59:58')
    const sale = await it.given.sale(account, { amount: 0.3 })
    it.clock.set('2026-11-17 00:00:01')
    await pay(account, sale)
    const { body } = await query(account, sale.uuid)
    expect(Value.Check(transactionAnswerSchema, body)).toBe(true)
    expect(body).toMatchObject({
      situation: 'PAID',
      amount: 0.3,
      total: 0.3,
      processingDate: '2026-11-17 00:00:01',
      refunds: noRefunds(0.3),
    })
  })

  test('tells when the account heard of a payment, not when the bank settled it', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-18 10:00:00')
    const sale = await it.given.sale(account)
    it.clock.set('2026-11-18 11:00:00')
    await pay(account, sale, { settledAt: '2026-11-18 10:30:00' })
    expect((await query(account, sale.uuid)).body.processingDate).toBe('2026-11-18 11:00:00')
  })

  test('of a cancelled one has nothing to refund', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const { body } = await query(account, sale.uuid)
    expect(Value.Check(transactionAnswerSchema, body)).toBe(true)
    expect(body).toMatchObject({ situation: 'CANCELLED', processingDate: null, refunds: noRefunds(0) })
  })

  test('has null where nothing was sent', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { shopper: { name: 'Ana', email: 'a@b.c' } })
    expect((await query(account, sale.uuid)).body).toMatchObject({
      callbackURL: null,
      shopper: { id: null, name: 'Ana', email: 'a@b.c' },
    })
  })

  test('takes a trailing slash, capitals and a body that nobody needs', async () => {
    const account = await it.given.account()
    const { uuid } = await it.given.sale(account)
    for (const path of [`${uuid}/`, uuid.toUpperCase(), `${uuid}?x=1`])
      expect((await query(account, path)).http).toBe(200)
    for (const raw of ['null', '{', '{"a":1}']) {
      const headers = { 'content-type': 'application/json' }
      const { http } = await account.api.send('GET', `/v1.1/transactions/${uuid}`, undefined, { raw, headers })
      expect(http).toBe(200)
    }
  })

  test('finds nothing where there is nothing, and nothing of another’s', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const theirs = await it.given.sale(other)
    for (const uuid of ['019a8d3c-0000-7000-8000-000000000001', 'x', '%00', String(theirs.id), theirs.uuid]) {
      const { http, body } = await query(account, uuid)
      expect([http, body]).toEqual([
        404,
        {
          status: 998,
          message: 'transaction not found',
          errorCount: 1,
          errors: [{ field: 'saleToken', message: 'non-existent transaction' }],
        },
      ])
    }
  })

  test('needs credentials', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const { http, body } = await it.api.get(`/v1.1/transactions/${sale.uuid}`)
    expect([http, body.errors]).toEqual([403, [{ error: 'Forbidden', message: 'Access Denied' }]])
  })
})

import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { paymentInfoSchema } from './sale.wire.ts'

const it = testService()

const paymentInfo = (account: TestAccount, uuid: string) => account.api.get(`/v1.1/transactions/${uuid}/payment_info`)

describe('payment info', () => {
  test('tells who paid, and the payment’s id at the rail', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const endToEnd = 'E12345678202611161500abcdefghijk'
    await pay(account, sale, {
      endToEnd,
      payer: { document: '11222333000181', name: 'Padaria São João', ispb: '12345678' },
    })
    const { http, body } = await paymentInfo(account, sale.uuid)
    expect([http, body]).toEqual([
      200,
      {
        status: 0,
        message: 'success',
        sale_id: sale.id,
        payment_bank: 'PIX',
        end_to_end: endToEnd,
        payer: { document: '11222333000181', name: 'Padaria São João' },
      },
    ])
    expect(Value.Check(paymentInfoSchema, body)).toBe(true)
  })

  test('tells of the payment that paid, not of a later one that went back', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const first = await pay(account, sale, { payer: { name: 'First' } })
    expect((await pay(account, sale, { payer: { name: 'Second' } })).body.reversal.reason).toBe('ALREADY_PAID')
    const { body } = await paymentInfo(account, `${sale.uuid}`)
    expect([body.payer.name, body.end_to_end]).toEqual(['First', first.body.endToEnd])
  })

  test('is refused for a sale that is not paid', async () => {
    const account = await it.given.account()
    for (const sale of [await it.given.sale(account), await it.given.cancelledSale(account)]) {
      const { http, body } = await paymentInfo(account, sale.uuid)
      expect([http, body]).toEqual([
        400,
        {
          status: -1,
          message: 'sale must be PAID',
          errorCount: 1,
          errors: [{ field: 'sale_uuid', message: "the transaction status must be 'PAID'" }],
        },
      ])
    }
  })

  test('is refused after a payment that did not fit', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 10 })
    expect((await pay(account, sale, { amount: 9.99 })).body.reversal.reason).toBe('AMOUNT_DIFFERS')
    expect((await paymentInfo(account, sale.uuid)).body.message).toBe('sale must be PAID')
  })

  test('is not found for a sale that does not exist, has no uuid, or is another’s', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const theirs = await it.given.paidSale(other)
    for (const uuid of ['019a8d3c-0000-7000-8000-000000000001', 'x', theirs.uuid]) {
      const { http, body } = await paymentInfo(account, uuid)
      expect([http, body]).toEqual([
        404,
        {
          status: 998,
          message: 'transaction not found',
          errorCount: 1,
          errors: [{ field: 'sale_uuid', message: 'the sale informed does not exist' }],
        },
      ])
    }
  })

  test('needs credentials and takes a trailing slash', async () => {
    const account = await it.given.account()
    const sale = await it.given.paidSale(account)
    expect((await it.api.get(`/v1.1/transactions/${sale.uuid}/payment_info`)).http).toBe(403)
    expect((await account.api.get(`/v1.1/transactions/${sale.uuid}/payment_info/`)).http).toBe(200)
  })
})

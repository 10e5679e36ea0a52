import { expect } from 'vitest'
import type { ApiClient, Reply } from './api-client.ts'

export type TestAccount = {
  readonly api: ApiClient
  readonly id: string
  readonly apiKey: string
  readonly apiToken: string
  readonly webhookSecret: string
}
export type TestSale = { readonly uuid: string; readonly amount: number; readonly txid: string; readonly id: number }

/** The world before a test, in sentences: `given.account()`, `given.sale(account)`, `given.paidSale(account)`. */
export type Given = {
  account(settings?: Record<string, unknown>): Promise<TestAccount>
  sale(account: TestAccount, fields?: Record<string, unknown>): Promise<TestSale>
  paidSale(account: TestAccount, fields?: Record<string, unknown>): Promise<TestSale>
  cancelledSale(account: TestAccount, fields?: Record<string, unknown>): Promise<TestSale>
}

let count = 0

export const shopper = {
  id: '7',
  name: 'Maria da Silva',
  email: 'maria@example.com',
  document: { type: 'CPF', number: '52998224725' },
  phone: { type: 'MOBILE', number: '11987654321' },
}

/** A checkout that is right in every field. */
export const checkoutBody = (fields: Record<string, unknown> = {}) => ({
  currency: 'BRL',
  amount: 100,
  referenceCode: `order-${++count}`,
  paymentMethod: 'PIX',
  shopper,
  ...fields,
})

export const pay = (
  account: TestAccount,
  sale: Pick<TestSale, 'uuid'>,
  body?: Record<string, unknown>,
): Promise<Reply> => account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, body)

export const situationOf = async (account: TestAccount, sale: Pick<TestSale, 'uuid'>): Promise<string> =>
  (await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body.situation

export function givens(api: ApiClient): Given {
  const given: Given = {
    async account(settings) {
      const name = `Loja ${++count}`
      const made = await api.post('/v1.1/sandbox/register', { name, email: `loja${count}@example.com` })
      expect(made.http).toBe(201)
      const { apiKey, apiToken, webhookSecret } = made.body.credentials
      const account = {
        api: api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }),
        id: made.body.account.id,
        apiKey,
        apiToken,
        webhookSecret,
      }
      if (settings) expect((await account.api.put('/v1.1/sandbox/account', settings)).http).toBe(200)
      return account
    },
    async sale(account, fields) {
      const made = await account.api.post('/v1.1/checkout/transparent', checkoutBody(fields))
      expect(made.http, made.text).toBe(200)
      const { uuid, amount, id, instructions } = made.body.response
      return { uuid, amount, id, txid: /\/qr\/(\w+)\.png$/.exec(instructions.qrCode.url)![1]! }
    },
    async paidSale(account, fields) {
      const sale = await given.sale(account, fields)
      const paid = await pay(account, sale)
      expect(paid.body.sale.situation, paid.text).toBe('PAID')
      return sale
    },
    async cancelledSale(account, fields) {
      const sale = await given.sale(account, fields)
      expect((await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)).http).toBe(200)
      return sale
    },
  }
  return given
}

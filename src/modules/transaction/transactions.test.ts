import { randomUUID } from 'node:crypto'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { onStatement } from '../../../test/harness/faulty-database.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { accepted, payOut, refund, simulate } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS } from '../../kernel/calendar.ts'
import { transactionAnswerSchema, transactionListSchema } from '../sale/sale.wire.ts'

const it = testService()
const NOON = '2026-11-16 12:00:00'
const url = 'https://shop.example/hook'

const query = async ({ api }: TestAccount, uuid: string) => {
  const { body } = await api.get(`/v1.1/transactions/${uuid}`)
  expect(Value.Check(transactionAnswerSchema, body)).toBe(true)
  return body
}
const list = async ({ api }: TestAccount, filters = '') => {
  const { http, body, text } = await api.get(`/v1.1/transactions${filters}`)
  expect([http, Value.Check(transactionListSchema, body)], text).toEqual([200, true])
  return body
}

/** A minute apart: a sale of 100, a refund of 10 of it, a payout of 20, a sale of 10. */
async function shop() {
  it.clock.set(NOON)
  const account = await it.given.account({ autoSettle: false, fees: { PAYOUT: { fixed: 1 } } })
  const sale = await it.given.paidSale(account, { referenceCode: 'one' })
  it.clock.advance(MINUTE_MS)
  const back = await accepted(refund(account, sale, { amount: 10, reason: 'torn', callbackURL: url }))
  it.clock.advance(MINUTE_MS)
  const out = await accepted(payOut(account, { amount: 20, referenceCode: 'two', callbackURL: url }))
  it.clock.advance(MINUTE_MS)
  const last = await it.given.sale(account, { amount: 10, referenceCode: 'two' })
  it.clock.advance(MINUTE_MS)
  return { account, sale: sale.uuid, back, out, last: last.uuid }
}
const nothing = {
  shipping: null,
  discounts: null,
  appliedRate: null,
  referenceCode: null,
  maxAge: null,
  paymentMethod: null,
  shopper: null,
  refunds: null,
}

describe('one query finds', () => {
  test('a refund: with its sale’s reference; what has no meaning for it is null', async () => {
    const { account, back } = await shop()
    const pending = {
      status: 0,
      message: 'success',
      ...nothing,
      id: expect.any(Number),
      uuid: back,
      type: 'REFUND',
      situation: 'PENDING',
      currency: 'BRL',
      amount: 10,
      total: 10,
      referenceCode: 'one',
      creation: '2026-11-16 12:01:00',
      processingDate: null,
      callbackURL: url,
    }
    expect(await query(account, back)).toEqual(pending)
    await simulate(account, 'refund', back, 'paid')
    expect(await query(account, back)).toEqual({
      ...pending,
      situation: 'PAID',
      processingDate: '2026-11-16 12:04:00',
    })
  })

  test('a payout: with its reference, its fee and the sum of both', async () => {
    const { account, out } = await shop()
    const pending = {
      status: 0,
      message: 'success',
      ...nothing,
      id: expect.any(Number),
      uuid: out,
      type: 'PAYOUT',
      situation: 'PENDING',
      currency: 'BRL',
      amount: 20,
      total: 21,
      appliedRate: 1,
      referenceCode: 'two',
      creation: '2026-11-16 12:02:00',
      processingDate: null,
      callbackURL: url,
    }
    expect(await query(account, out)).toEqual(pending)
    await simulate(account, 'payout', out, 'failed/PE0001')
    expect(await query(account, out)).toEqual({ ...pending, situation: 'FAILED' })
  })

  test('a sale, with its refunds', async () => {
    const { account, sale, back } = await shop()
    const { type, refunds } = await query(account, sale)
    expect([type, refunds.transactions.map(({ uuid }: { uuid: string }) => uuid)]).toEqual(['SALE', [back]])
  })

  test('a sale whose refund comes in between: the block is of one piece', async () => {
    const { account, last } = await shop()
    await account.api.post(`/v1.1/sandbox/sim/sale/${last}/paid`)
    onStatement(it.service.db, 'refunds_of_sales', {
      before: () => accepted(refund(account, { uuid: last }, { amount: 4 })),
    })
    const { refunds } = await query(account, last)
    expect(refunds).toMatchObject({ quantity: 1, requested: 4, available: 6 })
    await simulate(account, 'refund', refunds.transactions[0].uuid, 'cancelled')
    expect((await query(account, last)).refunds).toMatchObject({ quantity: 1, requested: 0, available: 10 })
  })

  test('nothing of another account, no reversal, and nothing that is not', async () => {
    const [{ account, sale, back, out }, { account: other }] = [await shop(), await shop()]
    const { reversal } = (await account.api.post(`/v1.1/sandbox/sim/sale/${sale}/paid`)).body
    expect((await account.api.get(`/v1.1/transactions/${reversal.uuid}`)).http).toBe(404)
    for (const uuid of [back, out, sale, randomUUID(), 'nothing']) {
      const { http, body } = await other.api.get(`/v1.1/transactions/${uuid}`)
      expect([http, body.status, body.errors]).toEqual([
        404,
        998,
        [{ field: 'saleToken', message: 'non-existent transaction' }],
      ])
    }
  })
})

describe('one list has', () => {
  test('sales, refunds and payouts, newest first, each as its own query tells it', async () => {
    const { account, sale, back, out, last } = await shop()
    const body = await list(account)
    expect(body).toMatchObject({ totalElements: 4, totalPages: 1, resultSize: 4 })
    expect(body.result.map(({ uuid }: { uuid: string }) => uuid)).toEqual([last, out, back, sale])
    for (const item of body.result) {
      const { status, message, ...alone } = await query(account, item.uuid)
      expect([status, message, item]).toEqual([0, 'success', alone])
    }
  })

  test.each([
    ['type=SALE', ['last', 'sale']],
    ['type=REFUND', ['back']],
    ['type=WITHDRAW', ['out']],
    ['type=PAYOUT', ['out']],
    ['situation=PENDING', ['last', 'out', 'back']],
    ['situation=PAID', ['sale']],
    ['situation=FAILED', []],
    ['situation=FAILED&type=SALE', []],
    ['situation=FAILED&type=REFUND', []],
    ['amount=10', ['last', 'back']],
    ['amount=10&type=REFUND', ['back']],
    ['amount=20.00', ['out']],
    ['amount=21', []],
    ['referenceCode=one', ['back', 'sale']],
    ['referenceCode=one&type=REFUND', ['back']],
    ['referenceCode=one&type=REFUND&amount=10', ['back']],
    ['referenceCode=one&type=REFUND&amount=11', []],
    ['referenceCode=one&type=REFUND&finalDate=2026-11-15', []],
    ['referenceCode=one&situation=PENDING', ['back']],
    ['referenceCode=one&queryMode=PROCESSED', ['sale']],
    ['referenceCode=one&maxPageResults=1&page=2', ['sale']],
    ['referenceCode=two', ['last', 'out']],
    ['referenceCode=two&type=PAYOUT', ['out']],
    ['referenceCode=two&type=REFUND', []],
    ['referenceCode=two&amount=20', ['out']],
    ['initialDate=2026-11-16&finalDate=2026-11-16', ['last', 'out', 'back', 'sale']],
    ['finalDate=2026-11-15', []],
    ['currency=BRL&maxPageResults=2&page=2', ['back', 'sale']],
    ['currency=USD', []],
    ['queryMode=PROCESSED', ['sale']],
  ])('what %s asks for', async (filters, names) => {
    const made = await shop()
    const { result } = await list(made.account, `?${filters}`)
    const expected = names.map((name) => made[name as 'sale'])
    expect(result.map(({ uuid }: { uuid: string }) => uuid)).toEqual(expected)
  })

  test('what was processed, in the order in which it was', async () => {
    const { account, sale, back, out, last } = await shop()
    await simulate(account, 'payout', out, 'paid')
    it.clock.advance(MINUTE_MS)
    await account.api.post(`/v1.1/sandbox/sim/sale/${last}/paid`)
    it.clock.advance(MINUTE_MS)
    await simulate(account, 'refund', back, 'paid')
    const { result } = await list(account, '?queryMode=PROCESSED')
    expect(result.map(({ uuid }: { uuid: string }) => uuid)).toEqual([back, last, out, sale])
  })

  test('a payout that failed under FAILED alone, and neither it nor a cancelled one under PROCESSED', async () => {
    const { account, out } = await shop()
    const cancelled = await accepted(payOut(account))
    await simulate(account, 'payout', out, 'failed/PE0002')
    await account.api.put(`/v1.1/payout/${cancelled}/cancel`)
    const uuids = async (filters: string) =>
      (await list(account, `?type=PAYOUT&${filters}`)).result.map(({ uuid }: { uuid: string }) => uuid)
    expect([await uuids('situation=FAILED'), await uuids('situation=CANCELLED')]).toEqual([[out], [cancelled]])
    expect([await uuids('situation=PENDING'), await uuids('queryMode=PROCESSED')]).toEqual([[], []])
  })

  test('no filter that means nothing', async () => {
    const { account } = await shop()
    const { http, body } = await account.api.get(
      '/v1.1/transactions?type=REVERSAL&situation=GONE&queryMode=x&amount=-1',
    )
    expect([http, body.errors.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['amount', 'situation', 'type', 'queryMode'],
    ])
  })
})

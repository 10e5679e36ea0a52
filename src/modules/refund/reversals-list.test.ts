import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { simulate } from '../../../test/harness/money-out.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { startTestService, testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, MINUTE_MS } from '../../kernel/calendar.ts'

const it = testService()

type Listed = { uuid: string; reversedAmount: number }
const list = async ({ api }: TestAccount, query = '') => (await api.get(`/v1.1/reversals${query}`)).body
const amountsOf = (body: { result: Listed[] }) => body.result.map(({ reversedAmount }) => reversedAmount)

/** Five reversals over three days: 1 to 5, oldest first. The second has gone back, the fourth could not. */
async function shop() {
  it.clock.set('2026-11-16 23:58:00')
  const account = await it.given.account({ autoSettle: false })
  const sale = await it.given.cancelledSale(account, { amount: 100 })
  const reversals: string[] = []
  for (const amount of [1, 2, 3, 4, 5]) {
    reversals.push((await pay(account, sale, { amount })).body.reversal.uuid)
    it.clock.advance(amount === 4 ? DAY_MS : MINUTE_MS)
  }
  await simulate(account, 'reversal', reversals[1]!, 'paid')
  await simulate(account, 'reversal', reversals[3]!, 'cancelled')
  return { account, sale, reversals }
}

describe('the reversals of an account', () => {
  test('are listed newest first, each with all of it', async () => {
    const { account, sale, reversals } = await shop()
    const body = await list(account)
    expect(body).toMatchObject({
      status: 0,
      message: 'success',
      totalElements: 5,
      totalPages: 1,
      resultSize: 5,
    })
    expect(amountsOf(body)).toEqual([5, 4, 3, 2, 1])
    expect(body.result[3]).toEqual({
      id: expect.any(Number),
      uuid: reversals[1],
      currency: 'BRL',
      originalAmount: 100,
      reversedAmount: 2,
      status: 'PAID',
      sale: { uuid: sale.uuid },
      endToEnd: expect.stringMatching(/^E\w{31}$/),
      reason: 'SALE_NOT_PENDING',
      creation: '2026-11-16 23:59:00',
      date: '2026-11-18 00:02:00',
      receipt: null,
    })
    const one = (await account.api.get(`/v1.1/reversals/${reversals[1]}`)).body
    expect(one).toEqual({ status: 0, message: 'success', reversal: body.result[3] })
  })

  test.each([
    ['situation=PENDING', [5, 3, 1]],
    ['situation=PAID', [2]],
    ['situation=CANCELLED', [4]],
    ['initialDate=2026-11-17', [5, 4, 3]],
    ['finalDate=2026-11-16', [2, 1]],
    ['initialDate=2026-11-17&finalDate=2026-11-17', [4, 3]],
    ['initialDate=2026-11-18&situation=PENDING', [5]],
    ['initialDate=2026-11-19', []],
    ['maxPageResults=2', [5, 4]],
    ['maxPageResults=2&page=3', [1]],
    ['maxPageResults=2&page=4', []],
    ['maxPageResults=2&page=0', [5, 4]],
    ['maxPageResults=0', [5]],
    ['maxPageResults=1000', [5, 4, 3, 2, 1]],
  ])('are found by %s', async (query, amounts) => {
    const { account } = await shop()
    expect(amountsOf(await list(account, `?${query}`))).toEqual(amounts)
  })

  test('count their pages whatever page is asked for', async () => {
    const { account } = await shop()
    const counts = { totalElements: 3, totalPages: 2 }
    expect(await list(account, '?situation=PENDING&maxPageResults=2&page=2')).toMatchObject({
      ...counts,
      resultSize: 1,
    })
    expect(await list(account, '?situation=PENDING&maxPageResults=2&page=9')).toMatchObject({
      ...counts,
      resultSize: 0,
    })
  })

  test('are refused by filters that mean nothing, each named', async () => {
    const { account } = await shop()
    const { http, body } = await account.api.get(
      '/v1.1/reversals?initialDate=16/11/2026&finalDate=x&situation=GONE&page=x',
    )
    expect([http, body.errors]).toEqual([
      400,
      ['initialDate', 'finalDate', 'situation', 'page'].map((field) => ({ field, message: 'invalid value' })),
    ])
  })

  test('are the account’s alone', async () => {
    const [{ reversals }, other] = [await shop(), await it.given.account()]
    expect((await list(other)).totalElements).toBe(0)
    for (const uuid of [...reversals.slice(0, 1), randomUUID(), 'nothing']) {
      const { http, body } = await other.api.get(`/v1.1/reversals/${uuid}`)
      expect([http, body.status, body.errors]).toEqual([
        404,
        998,
        [{ field: 'uuid', message: 'non-existent transaction' }],
      ])
    }
  })
})

describe('the reversals of money that names nobody', () => {
  test('are listed to the operator, newest first, in pages, and to no merchant', async () => {
    const own = await startTestService()
    onTestFinished(() => own.stop())
    const account = await own.given.account()
    await pay(account, await own.given.cancelledSale(account))
    for (const [txid, amount] of [
      ['nobody', 1],
      [null, 2],
      ['x'.repeat(35), 3],
    ] as const) {
      await own.service.door.apply([railPayment(own.clock, { txid: 'x', amount }, { txid })])
      own.clock.advance(MINUTE_MS)
    }
    const page = async (query = '') => (await own.operator.get(`/operator/v1/reversals${query}`)).body
    expect(await page()).toMatchObject({ status: 0, totalElements: 3, totalPages: 1, resultSize: 3 })
    expect(amountsOf(await page())).toEqual([3, 2, 1])
    expect(amountsOf(await page('?page=2&maxPageResults=2'))).toEqual([1])
    expect((await page()).result[0]).toMatchObject({ sale: null, originalAmount: null, reason: 'UNKNOWN_CHARGE' })
    expect((await account.api.get('/v1.1/reversals')).body.totalElements).toBe(1)
    expect((await account.api.get('/operator/v1/reversals')).http).toBe(403)
  })
})

import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { HOUR_MS } from '../../kernel/calendar.ts'

const it = testService()

type Line = { id: number; date: string; type: string; saleToken: string; amount: number; balance: number }

const statement = async (account: TestAccount, query = '') => (await account.api.get(`/v1.1/statement${query}`)).body
const linesOf = async (account: TestAccount, query = ''): Promise<Line[]> => (await statement(account, query)).result

/** Every page of a list, one after the other. */
async function pagesOf(account: TestAccount, path: string, size: number): Promise<Record<string, unknown>[][]> {
  const pages: Record<string, unknown>[][] = []
  for (let page = 1; ; page += 1) {
    const { body } = await account.api.get(
      `${path}${path.includes('?') ? '&' : '?'}page=${page}&maxPageResults=${size}`,
    )
    if (body.result.length === 0) return pages
    pages.push(body.result)
  }
}

async function payAt(account: TestAccount, at: string, amounts: number[]): Promise<void> {
  it.clock.set(at)
  const sales = await Promise.all(amounts.map((amount) => it.given.sale(account, { amount })))
  await it.service.door.apply(sales.map((sale) => railPayment(it.clock, sale)))
}

const cents = (amount: number) => Math.round(amount * 100)

describe('the statement', () => {
  test('of a new account is empty', async () => {
    expect(await statement(await it.given.account())).toMatchObject({
      status: 0,
      totalElements: 0,
      totalPages: 0,
      resultSize: 0,
      result: [],
    })
  })

  test('shows a sale and its fee, newest first, each with the balance after it', async () => {
    const account = await it.given.account()
    const first = await it.given.paidSale(account, { amount: 250 })
    const second = await it.given.paidSale(account, { amount: 0.01 })
    const date = '2026-11-16 12:00:00'
    expect(await linesOf(account)).toEqual([
      { id: 4, date, type: 'FEE', saleToken: second.uuid, description: 'PIX fee', amount: -0.01, balance: 247.52 },
      { id: 3, date, type: 'SALE', saleToken: second.uuid, description: 'PIX sale', amount: 0.01, balance: 247.53 },
      { id: 2, date, type: 'FEE', saleToken: first.uuid, description: 'PIX fee', amount: -2.48, balance: 247.52 },
      { id: 1, date, type: 'SALE', saleToken: first.uuid, description: 'PIX sale', amount: 250, balance: 250 },
    ])
  })

  test('a sale without a fee has one line', async () => {
    const account = await it.given.account({ fees: { PIX: { percent: 0, fixed: 0 } } })
    await it.given.paidSale(account, { amount: 10 })
    expect((await linesOf(account)).map(({ type, balance }) => [type, balance])).toEqual([['SALE', 10]])
  })

  test('money that goes back is in no line, wherever it came', async () => {
    const account = await it.given.account()
    const back = async () => it.service.door.apply([railPayment(it.clock, await it.given.cancelledSale(account))])
    await back()
    await it.given.paidSale(account, { amount: 10 })
    await back()
    await it.given.paidSale(account, { amount: 20 })
    await back()
    const { totalElements, result } = await statement(account)
    expect(totalElements).toBe(4)
    expect(result.map(({ id, type, balance }: Line) => [id, type, balance])).toEqual([
      [6, 'FEE', 29.7],
      [5, 'SALE', 29.9],
      [3, 'FEE', 9.9],
      [2, 'SALE', 10],
    ])
  })

  test("never shows another account's lines", async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    await it.given.paidSale(other)
    expect(await linesOf(account)).toEqual([])
  })

  test('the last balance is the balance, and the lines add up to it', async () => {
    const account = await it.given.account()
    for (const amount of [3.33, 0.02, 9999.99]) await it.given.paidSale(account, { amount })
    const lines = await linesOf(account)
    const { balance } = (await account.api.get('/v1.1/balance')).body
    expect(lines[0]!.balance).toBe(balance)
    expect(lines.reduce((sum, { amount }) => sum + cents(amount), 0)).toBe(cents(balance))
  })
})

describe('paging and dates', () => {
  test('every size of page cuts the same list, with the same totals', async () => {
    const account = await it.given.account()
    await payAt(account, '2026-11-17 08:59:59', [1, 2, 3])
    await payAt(account, '2026-11-17 09:00:00', [4])
    await payAt(account, '2026-11-18 23:30:00', [5, 6])
    await payAt(account, '2026-11-20 00:00:00', [7])
    const all = await linesOf(account)
    expect(all.map(({ id }) => id)).toEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    for (const size of [1, 2, 3, 5, 13, 14, 100]) {
      const pages = await pagesOf(account, '/v1.1/statement', size)
      expect(pages.flat()).toEqual(all)
      expect(await statement(account, `?maxPageResults=${size}&page=${pages.length}`)).toMatchObject({
        totalElements: 14,
        totalPages: pages.length,
        resultSize: pages.at(-1)!.length,
      })
    }
  })

  test('a page beyond the end is empty and knows the totals', async () => {
    const account = await it.given.account()
    await it.given.paidSale(account)
    expect(await statement(account, '?page=9')).toMatchObject({ totalElements: 2, totalPages: 1, result: [] })
  })

  test('dates are days of São Paulo, both included', async () => {
    const account = await it.given.account()
    await payAt(account, '2026-11-21 23:59:59', [1])
    await payAt(account, '2026-11-22 00:00:00', [2])
    await payAt(account, '2026-11-22 23:59:59', [3])
    await payAt(account, '2026-11-23 00:00:00', [4])
    const sales = async (query: string) =>
      (await linesOf(account, query)).filter(({ type }) => type === 'SALE').map(({ amount }) => amount)
    expect(await sales('?initialDate=2026-11-22&finalDate=2026-11-22')).toEqual([3, 2])
    expect(await sales('?initialDate=2026-11-22')).toEqual([4, 3, 2])
    expect(await sales('?finalDate=2026-11-22')).toEqual([3, 2, 1])
    expect(await sales('?initialDate=2026-11-23&finalDate=2026-11-21')).toEqual([])
    const day = await statement(account, '?initialDate=2026-11-22&finalDate=2026-11-22&maxPageResults=3&page=2')
    expect(day).toMatchObject({ totalElements: 4, totalPages: 2, resultSize: 1 })
  })

  test.each(['initialDate=2026-02-30', 'finalDate=yesterday', 'page=x', 'maxPageResults=ten'])(
    '%s is refused by name',
    async (filter) => {
      const reply = await (await it.given.account()).api.get(`/v1.1/statement?${filter}`)
      expect(reply.http).toBe(400)
      expect(reply.body).toMatchObject({
        status: -1,
        errors: [{ field: filter.split('=')[0], message: 'invalid value' }],
      })
    },
  )

  test('page 0 reads as 1 and a page holds 1 to 100 lines', async () => {
    const account = await it.given.account()
    await it.given.paidSale(account)
    expect((await linesOf(account, '?page=0')).length).toBe(2)
    expect((await linesOf(account, '?maxPageResults=0')).length).toBe(1)
    expect((await linesOf(account, '?maxPageResults=1000')).length).toBe(2)
  })
})

describe('an account whose clock went ahead and came back', () => {
  async function travelled(): Promise<TestAccount> {
    const account = await it.given.account()
    await it.given.paidSale(account, { amount: 1 })
    await account.api.post('/v1.1/sandbox/clock/advance', { hours: 3 })
    for (const amount of [2, 3, 4]) await it.given.paidSale(account, { amount })
    await account.api.post('/v1.1/sandbox/clock/reset')
    for (const amount of [5, 6]) await it.given.paidSale(account, { amount })
    return account
  }

  test('its statement loses no line and shows none twice, whatever the size of a page', async () => {
    const account = await travelled()
    const all = await linesOf(account)
    expect(all.map(({ id }) => id).sort((one, two) => one - two)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    for (const size of [1, 2, 3, 4, 5, 7, 11])
      expect((await pagesOf(account, '/v1.1/statement', size)).flat()).toEqual(all)
  })

  test('newest first is by date', async () => {
    const dates = (await linesOf(await travelled())).map(({ date }) => date)
    expect(dates).toEqual([...dates].sort().reverse())
  })

  test('its list of processed sales is whole too', async () => {
    const account = await travelled()
    const path = '/v1.1/transactions?queryMode=PROCESSED'
    const all = (await account.api.get(path)).body.result
    expect(all).toHaveLength(6)
    for (const size of [1, 2, 3, 4, 5]) expect((await pagesOf(account, path, size)).flat()).toEqual(all)
  })

  test('an hour is asked for by the day it lies in', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-25 12:00:00')
    await account.api.post('/v1.1/sandbox/clock/advance', { hours: 24 })
    await it.given.paidSale(account, { amount: 1 })
    await account.api.post('/v1.1/sandbox/clock/reset')
    it.clock.advance(HOUR_MS)
    await it.given.paidSale(account, { amount: 2 })
    expect((await linesOf(account, '?initialDate=2026-11-26')).map(({ id }) => id)).toEqual([2, 1])
    expect((await linesOf(account, '?finalDate=2026-11-25')).map(({ id }) => id)).toEqual([4, 3])
  })
})

import { Value } from 'typebox/value'
import { beforeAll, describe, expect, test } from 'vitest'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS, SECOND_MS } from '../../kernel/calendar.ts'
import { transactionListSchema } from './sale.wire.ts'

const it = testService()

type Listed = { uuid: string; situation: string; processingDate: string | null }
const list = (account: TestAccount, query = '') => account.api.get(`/v1.1/transactions${query}`)
const idsOf = async (account: TestAccount, query = ''): Promise<string[]> =>
  (await list(account, query)).body.result.map(({ uuid }: Listed) => uuid)
const totals = async (account: TestAccount): Promise<Record<string, number>> => {
  const of = async (query: string): Promise<number> => (await list(account, query)).body.totalElements
  return {
    all: await of(''),
    pending: await of('?situation=PENDING'),
    paid: await of('?situation=PAID'),
    cancelled: await of('?situation=CANCELLED'),
    processed: await of('?queryMode=PROCESSED'),
  }
}
/** A sale made at that moment; time stands still then. */
async function saleAt(account: TestAccount, at: string, fields: Record<string, unknown> = {}): Promise<TestSale> {
  it.clock.set(at)
  return it.given.sale(account, fields)
}
const renew = (account: TestAccount, sale: TestSale) => account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`)
const cancel = (account: TestAccount, sale: TestSale) => account.api.put(`/v1.1/transactions/${sale.uuid}/void`)

describe('the list of transactions', () => {
  test('has the newest first, whole, with its counts', async () => {
    const account = await it.given.account()
    const old = await saleAt(account, '2026-11-16 09:00:00')
    const young = await saleAt(account, '2026-11-16 12:00:00')
    const { http, body } = await list(account)
    expect(http).toBe(200)
    expect(Value.Check(transactionListSchema, body)).toBe(true)
    expect(body).toMatchObject({ status: 0, message: 'success', totalElements: 2, totalPages: 1, resultSize: 2 })
    expect(body.result.map(({ uuid }: Listed) => uuid)).toEqual([young.uuid, old.uuid])
    const { status, message, ...single } = (await account.api.get(`/v1.1/transactions/${old.uuid}`)).body
    expect({ status, message, last: body.result[1] }).toEqual({ status: 0, message: 'success', last: single })
  })

  test('of a new account is empty', async () => {
    const account = await it.given.account()
    expect((await list(account, '/')).body).toEqual({
      status: 0,
      message: 'success',
      totalElements: 0,
      totalPages: 0,
      resultSize: 0,
      result: [],
    })
  })

  test('never shows what is another’s, under any filter', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    await it.given.paidSale(other, { amount: 7, referenceCode: 'theirs' })
    for (const query of ['', '?amount=7', '?referenceCode=theirs', '?situation=PAID', '?queryMode=PROCESSED'])
      expect((await list(account, query)).body.totalElements).toBe(0)
    for (const query of ['', '?amount=7', '?referenceCode=theirs', '?situation=PAID', '?queryMode=PROCESSED'])
      expect((await list(other, query)).body.totalElements).toBe(1)
  })

  test('needs credentials', async () => {
    expect((await it.api.get('/v1.1/transactions')).http).toBe(403)
  })
})

describe('a filter alone', () => {
  test('on the amount is exact, as a number is written or with its cents', async () => {
    const account = await it.given.account()
    await it.given.sale(account, { amount: 10.01 })
    const ten = await it.given.sale(account, { amount: 10 })
    for (const query of ['?amount=10', '?amount=10.0', '?amount=10.00'])
      expect(await idsOf(account, query)).toEqual([ten.uuid])
    expect(await idsOf(account, '?amount=10.02')).toEqual([])
  })

  test('on the reference takes all of it, in its case', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { referenceCode: 'Order 1/ção%' })
    await it.given.sale(account, { referenceCode: 'Order 1' })
    expect(await idsOf(account, `?referenceCode=${encodeURIComponent('Order 1/ção%')}`)).toEqual([sale.uuid])
    expect(await idsOf(account, '?referenceCode=order%201')).toEqual([])
    expect(await idsOf(account, '?referenceCode=Order')).toEqual([])
  })

  test('on the situation, the currency or the type keeps what is so', async () => {
    const account = await it.given.account()
    const pending = await it.given.sale(account)
    const paid = await it.given.paidSale(account)
    const cancelled = await it.given.cancelledSale(account)
    expect(await idsOf(account, '?situation=PENDING')).toEqual([pending.uuid])
    expect(await idsOf(account, '?situation=PAID')).toEqual([paid.uuid])
    expect(await idsOf(account, '?situation=CANCELLED')).toEqual([cancelled.uuid])
    const counts = async (name: string, values: string[]) =>
      Promise.all(values.map(async (value) => (await list(account, `?${name}=${value}`)).body.totalElements))
    expect(await counts('currency', ['BRL', 'USD'])).toEqual([3, 0])
    expect(await counts('type', ['SALE', 'REFUND', 'WITHDRAW', 'PAYOUT'])).toEqual([3, 0, 0, 0])
    expect(await counts('queryMode', ['REGULAR', 'CREATION', 'PROCESSED'])).toEqual([3, 3, 1])
  })

  test('that is blank is absent', async () => {
    const account = await it.given.account()
    await it.given.sale(account)
    expect((await list(account, '?situation=&amount=&initialDate=&page=')).body.totalElements).toBe(1)
  })
})

describe('the dates of a list', () => {
  test('are days of São Paulo, both included, to the second', async () => {
    const account = await it.given.account()
    const before = await saleAt(account, '2026-11-15 23:59:59')
    const first = await saleAt(account, '2026-11-16 00:00:00')
    const last = await saleAt(account, '2026-11-16 23:59:59')
    const after = await saleAt(account, '2026-11-17 00:00:00')
    const [a, b, c, d] = [after, last, first, before].map(({ uuid }) => uuid)
    expect(await idsOf(account, '?initialDate=2026-11-16&finalDate=2026-11-16')).toEqual([b, c])
    expect(await idsOf(account, '?initialDate=2026-11-16')).toEqual([a, b, c])
    expect(await idsOf(account, '?finalDate=2026-11-16')).toEqual([b, c, d])
    expect(await idsOf(account, '?finalDate=2026-11-16&amount=100')).toEqual([b, c, d])
    expect(await idsOf(account, '?initialDate=2026-11-17&finalDate=2026-11-15')).toEqual([])
  })

  test('mean the creation, or the payment when the mode says PROCESSED', async () => {
    const account = await it.given.account()
    const old = await saleAt(account, '2026-11-20 23:00:00')
    const young = await saleAt(account, '2026-11-20 23:30:00')
    it.clock.set('2026-11-20 23:59:59')
    await pay(account, young)
    it.clock.set('2026-11-21 00:00:00')
    await pay(account, old)
    for (const more of ['', '&amount=100', '&situation=PAID']) {
      const day = (date: string, mode: string) =>
        idsOf(account, `?initialDate=${date}&finalDate=${date}&queryMode=${mode}${more}`)
      expect(await day('2026-11-20', 'CREATION')).toEqual([young.uuid, old.uuid])
      expect(await day('2026-11-21', 'CREATION')).toEqual([])
      expect(await day('2026-11-20', 'PROCESSED')).toEqual([young.uuid])
      expect(await day('2026-11-21', 'PROCESSED')).toEqual([old.uuid])
    }
  })

  test('may be as early and as late as dates can be', async () => {
    const account = await it.given.account()
    await it.given.paidSale(account)
    for (const more of ['', '&queryMode=PROCESSED', '&amount=100', '&queryMode=PROCESSED&amount=100'])
      expect((await list(account, `?initialDate=0001-01-01&finalDate=9999-12-31${more}`)).body.totalElements).toBe(1)
  })
})

describe('the mode PROCESSED', () => {
  test('shows paid sales only, the latest payment first, with and without other filters', async () => {
    const account = await it.given.account()
    const [one, two, three] = [
      await saleAt(account, '2026-11-22 10:00:00'),
      await saleAt(account, '2026-11-22 10:00:01'),
      await saleAt(account, '2026-11-22 10:00:02'),
    ]
    await saleAt(account, '2026-11-22 10:00:03')
    for (const sale of [three, one, two]) {
      it.clock.advance(MINUTE_MS)
      await pay(account, sale)
    }
    const byPayment = [two.uuid, one.uuid, three.uuid]
    for (const more of ['', '&amount=100', '&situation=PAID', '&amount=100&situation=PAID'])
      expect(await idsOf(account, `?queryMode=PROCESSED${more}`)).toEqual(byPayment)
    for (const more of ['&situation=PENDING', '&situation=CANCELLED', '&situation=PENDING&amount=100'])
      expect(await idsOf(account, `?queryMode=PROCESSED${more}`)).toEqual([])
    expect(await idsOf(account, '?queryMode=PROCESSED&maxPageResults=1&page=2')).toEqual([one.uuid])
    expect(await idsOf(account, '?queryMode=PROCESSED&amount=100&maxPageResults=1&page=3')).toEqual([three.uuid])
  })
})

describe('the mode PROCESSED after the account’s clock was set back', () => {
  test('holds each sale once, whatever the size of its pages', async () => {
    const account = await it.given.account()
    await account.api.post('/v1.1/sandbox/clock/advance', { hours: 10 })
    const ahead = await it.given.paidSale(account)
    await account.api.post('/v1.1/sandbox/clock/reset')
    const later = []
    for (let made = 0; made < 2; made += 1) {
      it.clock.advance(SECOND_MS)
      later.unshift((await it.given.paidSale(account)).uuid)
    }
    for (const size of [1, 2, 3]) {
      const pages = [1, 2, 3].map((page) => idsOf(account, `?queryMode=PROCESSED&maxPageResults=${size}&page=${page}`))
      expect((await Promise.all(pages)).flat()).toEqual([ahead.uuid, ...later])
    }
  })
})

describe('the pages of a list', () => {
  test('begin at 1, read 0 as 1, go on in order and end in an empty one', async () => {
    const account = await it.given.account()
    for (let made = 0; made < 5; made += 1) {
      it.clock.advance(SECOND_MS)
      await it.given.sale(account)
    }
    const all = await idsOf(account)
    for (const more of ['', '&amount=100', '&situation=PENDING']) {
      const page = (number: number) => idsOf(account, `?maxPageResults=2&page=${number}${more}`)
      expect([await page(-1), await page(0), await page(1)]).toEqual(Array(3).fill(all.slice(0, 2)))
      expect([...(await page(1)), ...(await page(2)), ...(await page(3))]).toEqual(all)
      for (const beyond of [4, 1_000_000_000, 999_999_999_999]) {
        const { body } = await list(account, `?maxPageResults=2&page=${beyond}${more}`)
        expect(body).toMatchObject({ totalElements: 5, totalPages: 3, resultSize: 0, result: [] })
      }
    }
  })

  test.each([
    ['', 100, 2],
    ['maxPageResults=100', 100, 2],
    ['maxPageResults=101', 100, 2],
    ['maxPageResults=100000', 100, 2],
    ['maxPageResults=50', 50, 3],
    ['maxPageResults=1', 1, 102],
    ['maxPageResults=0', 1, 102],
    ['maxPageResults=-7', 1, 102],
  ])('with %j have %d entries', async (query, size, pages) => {
    const account = await manySales()
    expect((await list(account, `?${query}`)).body).toMatchObject({
      totalElements: 102,
      totalPages: pages,
      resultSize: size,
    })
  })

  let many: TestAccount | undefined
  async function manySales(): Promise<TestAccount> {
    if (many) return many
    const account = await it.given.account()
    await Promise.all(Array.from({ length: 102 }, () => it.given.sale(account)))
    many = account
    return account
  }

  test('hold each sale once, also when all were made in the same moment', async () => {
    const account = await manySales()
    const pages = [1, 2, 3, 4].map((page) => idsOf(account, `?maxPageResults=30&page=${page}`))
    expect(new Set((await Promise.all(pages)).flat()).size).toBe(102)
  })
})

describe('the totals', () => {
  test('follow every move of a sale', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 1 })
    const other = await it.given.sale(account, { maxAge: 43_200 })
    expect(await totals(account)).toEqual({ all: 2, pending: 2, paid: 0, cancelled: 0, processed: 0 })
    await cancel(account, sale)
    expect(await totals(account)).toEqual({ all: 2, pending: 1, paid: 0, cancelled: 1, processed: 0 })
    await renew(account, sale)
    expect(await totals(account)).toEqual({ all: 2, pending: 2, paid: 0, cancelled: 0, processed: 0 })
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 2 })
    expect(await totals(account)).toEqual({ all: 2, pending: 1, paid: 0, cancelled: 1, processed: 0 })
    await pay(account, other)
    expect(await totals(account)).toEqual({ all: 2, pending: 0, paid: 1, cancelled: 1, processed: 1 })
    await pay(account, sale)
    await cancel(account, other)
    expect(await totals(account)).toEqual({ all: 2, pending: 0, paid: 1, cancelled: 1, processed: 1 })
  })
})

describe('a wrong filter', () => {
  const wrong = [
    ...['2026-02-30', '16/11/2026', 'today', '2026-11-16T00:00:00', '0000-01-01'].flatMap((day) => [
      `initialDate=${day}`,
      `finalDate=${day}`,
    ]),
    ...['BR', 'brl', 'REAL', '986'].map((currency) => `currency=${currency}`),
    ...['0', '-1', '1,50', '1.005', 'x', '10000000000'].map((amount) => `amount=${amount}`),
    `referenceCode=${'a'.repeat(101)}`,
    'referenceCode=%00',
    ...['paid', 'EXPIRED', '0'].map((situation) => `situation=${situation}`),
    ...['sale', 'TRANSFER'].map((type) => `type=${type}`),
    ...['regular', 'PAID'].map((mode) => `queryMode=${mode}`),
    ...['x', '1.5', '1e3', '9'.repeat(13)].flatMap((number) => [`page=${number}`, `maxPageResults=${number}`]),
    'page=1&page=2',
    'situation=PAID&situation=PAID',
  ]

  let account: TestAccount
  beforeAll(async () => {
    account = await it.given.account()
  })

  test.each(wrong)('%s is a 400 that names it', async (query) => {
    const { http, body } = await list(account, `?${query}`)
    expect([http, body]).toEqual([
      400,
      {
        status: -1,
        message: 'field validation failure',
        errorCount: 1,
        errors: [{ field: query.split('=')[0], message: 'invalid value' }],
      },
    ])
  })

  test('is reported with all the others, in their order', async () => {
    const { body } = await list(account, '?page=x&situation=x&amount=x&initialDate=x&unknown=ignored')
    const fields = body.errors.map(({ field }: { field: string }) => field)
    expect([body.errorCount, fields]).toEqual([4, ['initialDate', 'amount', 'situation', 'page']])
  })
})

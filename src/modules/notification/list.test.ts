import { beforeAll, describe, expect, test } from 'vitest'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, type Instant, instantFromWire, plusMs, wireTimestamp } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })
const { merchant, settle, exhaust, toNextRetry } = merchants(it)

type Listed = {
  id: string
  transactionUUID: string
  eventType: string
  state: string
  endpoint: string
  creation: string
  attempts: number
  lastAttempt: { date: string; status: string; responseCode: number; failure: string | null } | null
}
type Page = { totalElements: number; totalPages: number; resultSize: number; result: Listed[] }

const list = async (account: TestAccount, query = ''): Promise<Page> => {
  const reply = await account.api.get(`/v1.1/notifications${query && `?${query}`}`)
  expect([reply.http, reply.body.status, reply.body.message], reply.text).toEqual([200, 0, 'success'])
  return reply.body
}
const states = ['PENDING', 'DELIVERED', 'FAILED'] as const
/** In which of the three lists it is, and what the list of all says of it. */
async function statesOf(account: TestAccount) {
  const found = []
  for (const state of states) {
    const page = await list(account, `state=${state}`)
    expect(page.totalElements).toBe(page.result.length)
    expect(page.result.every((each) => each.state === state)).toBe(true)
    found.push(...page.result.map(() => state))
  }
  expect((await list(account)).result.map(({ state }) => state).sort()).toEqual([...found].sort())
  return found
}

describe('a notification in the list', () => {
  test('is shown with exactly these fields', async () => {
    const shop = await merchant()
    const sale = await it.given.paidSale(shop)
    await settle()
    const page = await list(shop)
    expect(Object.keys(page)).toEqual(['status', 'message', 'totalElements', 'totalPages', 'resultSize', 'result'])
    const now = wireTimestamp(it.clock.now())
    expect(page.result).toEqual([
      {
        id: shop.calls()[0]!.headers['webhook-id'],
        transactionUUID: sale.uuid,
        eventType: 'PAYMENT_CONFIRMATION',
        state: 'DELIVERED',
        endpoint: shop.hook,
        creation: now,
        attempts: 1,
        lastAttempt: { date: now, status: 'SUCCESS', responseCode: 200, failure: null },
      },
    ])
  })

  test('is dated by the account’s clock', async () => {
    const shop = await merchant()
    await shop.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    await it.given.paidSale(shop)
    await settle()
    const date = wireTimestamp(plusMs(it.clock.now(), 3 * DAY_MS))
    expect((await list(shop)).result).toMatchObject([{ creation: date, lastAttempt: { date } }])
  })

  test('of a reversal names the sale and its own event', async () => {
    const shop = await merchant((hook) => ({ reversal: { url: hook, enabled: true } }))
    const sale = await it.given.paidSale(shop)
    await pay(shop, sale)
    await settle()
    expect((await list(shop)).result).toMatchObject([
      {
        transactionUUID: sale.uuid,
        eventType: 'REVERSAL_CREATE',
        endpoint: `${shop.hook}?reversing=true&type=reversing`,
      },
    ])
  })

  test.each([
    ['a status other than 200', (shop: Merchant) => shop.answer(503), { responseCode: 503, failure: null }],
    [
      'a connection that was cut',
      (shop: Merchant) => shop.answer((reply) => void reply.destroy()),
      { responseCode: 0, failure: 'reset' },
    ],
    [
      'a 200 whose body broke off',
      (shop: Merchant) =>
        shop.answer((reply) => void reply.writeHead(200, { 'content-length': '9' }).write('x', () => reply.destroy())),
      { responseCode: 200, status: 'HTTP_REQUEST_TIMEOUT', failure: 'reset' },
    ],
  ])('says of its last attempt why it failed: %s', async (_what, behave, expected) => {
    const shop = await merchant()
    behave(shop)
    await it.given.paidSale(shop)
    await settle()
    expect((await list(shop)).result).toMatchObject([{ attempts: 1, lastAttempt: expected }])
  })

  test('says that nobody listened', async () => {
    const shop = await merchant(() => ({ payment: { url: 'http://127.0.0.1:1/' } }))
    await it.given.paidSale(shop)
    await settle()
    expect((await list(shop)).result).toMatchObject([
      { lastAttempt: { status: 'HTTP_REQUEST_TIMEOUT', responseCode: 0, failure: 'refused' } },
    ])
  })
})

describe('its state', () => {
  test('is PENDING before the first attempt has ended, then DELIVERED', async () => {
    const shop = await merchant()
    const held = shop.hold()
    await it.given.paidSale(shop)
    await shop.received(1)
    expect(await statesOf(shop)).toEqual(['PENDING'])
    expect((await list(shop)).result).toMatchObject([{ attempts: 0, lastAttempt: null }])
    held.release()
    await settle()
    expect(await statesOf(shop)).toEqual(['DELIVERED'])
  })

  test('is PENDING through five failures, then FAILED', async () => {
    const shop = await merchant()
    shop.answer(500)
    await it.given.paidSale(shop)
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await settle()
      expect(await statesOf(shop)).toEqual([attempt < 6 ? 'PENDING' : 'FAILED'])
      expect((await list(shop)).result).toMatchObject([{ attempts: attempt, lastAttempt: { responseCode: 500 } }])
      toNextRetry()
    }
  })

  test('is DELIVERED when a retry arrived', async () => {
    const shop = await merchant()
    shop.answer(500)
    await it.given.paidSale(shop)
    await settle()
    shop.answer(200)
    toNextRetry()
    await settle()
    expect(await statesOf(shop)).toEqual(['DELIVERED'])
  })

  test('follows a redelivery: PENDING again, then whatever that one came to', async () => {
    const shop = await merchant()
    shop.answer(500)
    const sale = await it.given.paidSale(shop)
    await exhaust()
    expect(await statesOf(shop)).toEqual(['FAILED'])
    const redeliver = () => shop.api.post(`/v1.1/transactions/${sale.uuid}/webhook/redeliver`)

    const held = shop.hold()
    await redeliver()
    await shop.received(7)
    expect(await statesOf(shop)).toEqual(['PENDING'])
    expect((await list(shop)).result).toMatchObject([{ attempts: 6 }])
    held.release()
    await settle()
    expect(await statesOf(shop)).toEqual(['DELIVERED'])

    shop.answer(500)
    await redeliver()
    await settle()
    expect(await statesOf(shop)).toEqual(['PENDING'])
    await exhaust()
    expect(await statesOf(shop)).toEqual(['FAILED'])
    expect((await list(shop)).result).toMatchObject([{ attempts: 13 }])
  })

  test('of several of one account: each is in its own list, and totals add up', async () => {
    const shop = await merchant()
    shop.answer(500)
    const failed = await it.given.paidSale(shop)
    await exhaust()
    shop.answer(200)
    const delivered = await it.given.paidSale(shop)
    await settle()
    shop.answer(500)
    const pending = await it.given.paidSale(shop)
    await settle()
    const uuidsIn = async (state: string) =>
      (await list(shop, `state=${state}`)).result.map(({ transactionUUID }) => transactionUUID)
    expect([await uuidsIn('FAILED'), await uuidsIn('DELIVERED'), await uuidsIn('PENDING')]).toEqual([
      [failed.uuid],
      [delivered.uuid],
      [pending.uuid],
    ])
    expect((await list(shop)).totalElements).toBe(3)
    await exhaust()
  })
})

/** Two hundred and fifty over five days, the reversals every tenth, written by hand. */
describe('many of them', () => {
  const COUNT = 250
  const start = instantFromWire('2026-11-02 00:00:00')!
  const momentOf = (index: number): Instant => plusMs(start, Math.floor(index / 50) * DAY_MS + (index % 50) * 1_728_000)
  let shop: Merchant
  let other: Merchant

  async function write(account: TestAccount) {
    await it.rows(
      `insert into notification (account_id, id, resource_id, turn, event, created_at, url, payload)
       select a.id, (substr(x.hex, 1, 8) || '-' || substr(x.hex, 9) || '-7000-8000-' || lpad(to_hex(i.n), 12, '0'))::uuid, gen_random_uuid(), 1,
         case i.n % 10 when 0 then 'REVERSAL_CREATE' else 'PAYMENT_CONFIRMATION' end, to_timestamp(i.ms / 1000.0), 'http://shop/' || i.n, '{}'
       from account a, unnest($2::bigint[], $3::bigint[]) i(n, ms), lateral (select lpad(to_hex(i.ms), 12, '0') as hex) x where a.uuid = $1`,
      [
        account.id,
        Array.from({ length: COUNT }, (_, index) => index),
        Array.from({ length: COUNT }, (_, index) => momentOf(index)),
      ],
    )
    // Every third one failed.
    await it.rows(
      `insert into notification_attempt (account_id, notification_id, number, at, duration_ms, status, response_code, last, request_headers,
         response_headers, response_body)
       select n.account_id, n.id, 1, n.created_at, 5, case when substr(n.url, 13)::int % 3 = 0 then 'HTTP_REQUEST_TIMEOUT' else 'SUCCESS' end, 0,
         true, '{}', '{}', ''
       from notification n join account a on a.id = n.account_id where a.uuid = $1`,
      [account.id],
    )
  }
  beforeAll(async () => {
    ;[shop, other] = [await merchant(), await merchant()]
    await write(shop)
    await write(other)
  })

  const all = Array.from({ length: COUNT }, (_, index) => COUNT - 1 - index)
  const indexes = (page: Page) => page.result.map(({ endpoint }) => Number(endpoint.slice('http://shop/'.length)))
  const days = (...wanted: number[]) => all.filter((index) => wanted.includes(Math.floor(index / 50)))
  const everything = async (query: string) => {
    const found: number[] = []
    for (let page = 1; ; page += 1) {
      const answer = await list(shop, `${query}&page=${page}`)
      found.push(...indexes(answer))
      if (page >= answer.totalPages) return { found, total: answer.totalElements }
    }
  }

  test('come newest first, a hundred at a time', async () => {
    const pages = [await list(shop), await list(shop, 'page=2'), await list(shop, 'page=3')]
    expect(pages.map(({ totalElements, totalPages, resultSize }) => [totalElements, totalPages, resultSize])).toEqual([
      [250, 3, 100],
      [250, 3, 100],
      [250, 3, 50],
    ])
    expect(pages.flatMap(indexes)).toEqual(all)
  })

  // biome-ignore format: a table
  const filters: readonly (readonly [string, (index: number) => boolean])[] = [
    ['state=FAILED', (index) => index % 3 === 0],
    ['state=DELIVERED', (index) => index % 3 !== 0],
    ['state=PENDING', () => false],
    ['eventType=REVERSAL_CREATE', (index) => index % 10 === 0],
    ['eventType=PAYMENT_CONFIRMATION', (index) => index % 10 !== 0],
    ['eventType=PAYOUT_PAID', () => false],
    ['eventType=REVERSAL_CREATE&state=FAILED', (index) => index % 30 === 0],
    ['eventType=REVERSAL_CREATE&state=DELIVERED', (index) => index % 10 === 0 && index % 3 !== 0],
    ['initialDate=2026-11-03', (index) => index >= 50],
    ['finalDate=2026-11-03', (index) => index < 100],
    ['initialDate=2026-11-03&finalDate=2026-11-03', (index) => index >= 50 && index < 100],
    ['initialDate=2026-11-04&finalDate=2026-11-03', () => false],
    ['initialDate=2026-11-07', () => false],
    ['finalDate=2026-11-01', () => false],
    ['initialDate=0001-01-01', () => true],
    ['finalDate=9999-12-31', () => true],
    ['initialDate=0001-01-01&finalDate=9999-12-31', () => true],
    ['finalDate=0001-01-01', () => false],
    ['initialDate=9999-12-31', () => false],
    ['initialDate=2026-11-03&finalDate=2026-11-04&eventType=PAYMENT_CONFIRMATION&state=FAILED', (index) => index >= 50 && index < 150 && index % 10 !== 0 && index % 3 === 0],
  ]
  test.each(filters)('%s', async (query, fits) => {
    const expected = all.filter(fits)
    for (const size of ['', '&maxPageResults=7']) {
      expect(await everything(query + size)).toEqual({ found: expected, total: expected.length })
    }
  })

  test('a day is a day of the account, from its first to its last moment', async () => {
    const onTheDay = await list(shop, 'initialDate=2026-11-04&finalDate=2026-11-04')
    expect(indexes(onTheDay)).toEqual(days(2))
    expect(onTheDay.result.at(-1)!.creation).toBe('2026-11-04 00:00:00')
  })

  // biome-ignore format: a table
  const pages: readonly (readonly [string, { totalPages: number; shown: number[] }])[] = [
    ['page=0', { totalPages: 3, shown: all.slice(0, 100) }],
    ['page=-5', { totalPages: 3, shown: all.slice(0, 100) }],
    ['page=4', { totalPages: 3, shown: [] }],
    ['page=999999999999', { totalPages: 3, shown: [] }],
    ['maxPageResults=1', { totalPages: 250, shown: [249] }],
    ['maxPageResults=0', { totalPages: 250, shown: [249] }],
    ['maxPageResults=-1', { totalPages: 250, shown: [249] }],
    ['maxPageResults=101', { totalPages: 3, shown: all.slice(0, 100) }],
    ['maxPageResults=1000000', { totalPages: 3, shown: all.slice(0, 100) }],
    ['maxPageResults=60&page=5', { totalPages: 5, shown: all.slice(240) }],
    ['maxPageResults=60&page=6', { totalPages: 5, shown: [] }],
    ['maxPageResults=50&page=5', { totalPages: 5, shown: all.slice(200) }],
  ]
  test.each(pages)('%s', async (query, { totalPages, shown }) => {
    const page = await list(shop, query)
    expect([page.totalElements, page.totalPages, page.resultSize]).toEqual([250, totalPages, shown.length])
    expect(indexes(page)).toEqual(shown)
  })

  // biome-ignore format: a table
  const wrong: readonly (readonly [string, string])[] = [
    ['state', 'SUCCESS'], ['state', 'pending'], ['state', 'ALL'],
    ['eventType', 'PAYMENT'], ['eventType', 'payment_confirmation'],
    ['initialDate', '2026-02-30'], ['initialDate', '16/11/2026'], ['initialDate', '2026-11-16 10:00:00'], ['initialDate', '0000-01-01'],
    ['finalDate', '2026-13-01'], ['finalDate', 'today'], ['finalDate', '10000-01-01'],
    ['page', 'x'], ['page', '1.5'], ['page', '1e3'],
    ['maxPageResults', 'all'], ['maxPageResults', '10.0'],
  ]
  test.each(wrong)('%s=%s is a 400', async (field, value) => {
    const reply = await shop.api.get(`/v1.1/notifications?${field}=${encodeURIComponent(value)}`)
    expect([reply.http, reply.body]).toEqual([
      400,
      { status: -1, message: 'field validation failure', errorCount: 1, errors: [{ field, message: 'invalid value' }] },
    ])
  })

  test('nobody sees those of another account', async () => {
    const ids = new Set((await list(shop)).result.map(({ id, transactionUUID }) => `${id} ${transactionUUID}`))
    const theirs = await list(other)
    expect(theirs.totalElements).toBe(COUNT)
    expect(theirs.result.filter(({ id, transactionUUID }) => ids.has(`${id} ${transactionUUID}`))).toEqual([])
    const nobody = await merchant()
    for (const query of ['', 'state=FAILED', 'state=DELIVERED', 'state=PENDING'])
      expect(await list(nobody, query)).toMatchObject({ totalElements: 0, totalPages: 0, resultSize: 0, result: [] })
    expect((await it.api.get('/v1.1/notifications')).http).toBe(403)
  })

  test('of an account whose clock is ahead are found by its time', async () => {
    const ahead = await merchant()
    await ahead.api.post('/v1.1/sandbox/clock/advance', { days: 400 })
    await it.given.paidSale(ahead)
    await settle()
    const [day, before] = [400, 399].map((count) => wireTimestamp(plusMs(it.clock.now(), count * DAY_MS)).slice(0, 10))
    const found = async (query: string) => (await list(ahead, query)).totalElements
    expect([
      await found(`initialDate=${day}&finalDate=${day}`),
      await found(`finalDate=${before}`),
      await found(`initialDate=${before}`),
    ]).toEqual([1, 0, 1])
  })
})

import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Reply } from '../../../test/harness/api-client.ts'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { startTestService, testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, plusMs, wireTimestamp } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })
const { merchant, settle, toNextRetry } = merchants(it)

type Record_ = {
  date: string
  endpoint: string
  eventType: string
  status: string
  responseCode: number
  request: { headers: Record<string, string>; payload: string }
  response: { headers: Record<string, unknown>; body: string }
}
const ask = (account: TestAccount, uuid: string, query = '') =>
  account.api.get(`/v1.1/transactions/${uuid}/webhook${query && `?${query}`}`)
const attemptsOf = async (account: TestAccount, uuid: string, query = ''): Promise<Record_[]> => {
  const reply = await ask(account, uuid, query)
  expect([reply.http, reply.body.status, reply.body.message], reply.text).toEqual([200, 0, 'success'])
  return reply.body.notifications
}
const notFound = (reply: Reply) => [
  reply.http,
  reply.body.status,
  reply.body.message,
  reply.body.errorCount,
  reply.body.errors,
]
const asUnknown = [
  404,
  998,
  'transaction not found',
  1,
  [{ field: 'transactionUUID', message: 'the sale informed does not exist' }],
]

describe('an attempt', () => {
  test('is shown with exactly these fields', async () => {
    const shop = await merchant()
    shop.answer((reply) => void reply.writeHead(201, { 'x-own': 'yes' }).end('thank you'))
    const sale = await it.given.paidSale(shop)
    await settle()
    const reply = await ask(shop, sale.uuid)
    expect(Object.keys(reply.body)).toEqual(['status', 'message', 'notifications'])
    const [call] = shop.calls()
    expect(reply.body.notifications).toEqual([
      {
        date: wireTimestamp(it.clock.now()),
        endpoint: shop.hook,
        eventType: 'PAYMENT_CONFIRMATION',
        status: 'HTTP_STATUS_NOT_EQUALS_200',
        responseCode: 201,
        request: {
          headers: {
            'content-type': 'application/json',
            'user-agent': call!.headers['user-agent'],
            accept: '*/*',
            'accept-encoding': 'identity',
            'webhook-id': call!.headers['webhook-id'],
            'webhook-timestamp': call!.headers['webhook-timestamp'],
            'webhook-signature': call!.headers['webhook-signature'],
            authorization: 'Basic [hidden]',
          },
          payload: call!.text,
        },
        response: { headers: expect.objectContaining({ 'x-own': 'yes' }), body: 'thank you' },
      },
    ])
    const [record] = reply.body.notifications
    expect(Object.keys(record)).toEqual([
      'date',
      'endpoint',
      'eventType',
      'status',
      'responseCode',
      'request',
      'response',
    ])
    expect([Object.keys(record.request), Object.keys(record.response)]).toEqual([
      ['headers', 'payload'],
      ['headers', 'body'],
    ])
  })

  test('that nobody answered has no code, no headers and no body', async () => {
    const shop = await merchant(() => ({ payment: { url: 'http://127.0.0.1:1/hook' } }))
    const sale = await it.given.paidSale(shop)
    await settle()
    expect(await attemptsOf(shop, sale.uuid)).toMatchObject([
      { status: 'HTTP_REQUEST_TIMEOUT', responseCode: 0, response: { headers: {}, body: '' } },
    ])
  })

  test('is dated by the account’s clock, at the start of the call', async () => {
    const shop = await merchant()
    await shop.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    const held = shop.hold()
    const sale = await it.given.paidSale(shop)
    await shop.received(1)
    const date = wireTimestamp(plusMs(it.clock.now(), 3 * DAY_MS))
    it.clock.advance(7_000)
    held.release()
    await settle()
    expect((await attemptsOf(shop, sale.uuid)).map((each) => each.date)).toEqual([date])
  })

  test.each([
    ['bytes that are no UTF-8', Buffer.from([0x6f, 0xff, 0xfe, 0x6b]), 'o\ufffd\ufffdk'],
    ['a NUL', Buffer.from('a\u0000b'), 'a\u0000b'],
    ['quotes and line ends', Buffer.from('{"a":"\\"}\r\n'), '{"a":"\\"}\r\n'],
    ['many scripts', Buffer.from('é 王 🎉'), 'é 王 🎉'],
    ['nothing', Buffer.alloc(0), ''],
  ])('shows an answer of %s', async (_what, body, shown) => {
    const shop = await merchant()
    shop.answer((reply) => void reply.end(body))
    const sale = await it.given.paidSale(shop)
    await settle()
    expect((await attemptsOf(shop, sale.uuid)).map(({ response }) => response.body)).toEqual([shown])
  })

  test('keeps 16 KiB of a long answer', async () => {
    const shop = await merchant()
    shop.answer((reply) => void reply.end('x'.repeat(16_384) + 'y'.repeat(20_000)))
    const sale = await it.given.paidSale(shop)
    await settle()
    const [record] = await attemptsOf(shop, sale.uuid)
    expect([record!.status, record!.response.body]).toEqual(['SUCCESS', 'x'.repeat(16_384)])
  })

  test('keeps every value of a header that came twice, and odd ones', async () => {
    const shop = await merchant()
    shop.answer((reply) => {
      reply.writeHead(200, { 'set-cookie': ['a=1', 'b="2"'], 'x-odd': 'caf\u00e9 \\ "x"' }).end()
    })
    const sale = await it.given.paidSale(shop)
    await settle()
    const [record] = await attemptsOf(shop, sale.uuid)
    expect(record!.response.headers).toMatchObject({
      'set-cookie': ['a=1', 'b="2"'],
      'x-odd': expect.stringMatching(/ \\ "x"$/),
    })
  })
})

describe('the Authorization value', () => {
  test('is sent, and then found nowhere: not in the answer, not in the database, not in the log', async () => {
    const shop = await merchant()
    shop.answer(500)
    const sale = await it.given.paidSale(shop)
    await settle()
    const basic = Buffer.from(`${shop.apiKey}:${shop.apiToken}`).toString('base64')
    expect(shop.calls()[0]!.headers.authorization).toBe(`Basic ${basic}`)
    const needles = [basic, shop.apiToken]
    const hex = needles.map((needle) => Buffer.from(needle).toString('hex'))
    const { text } = await ask(shop, sale.uuid)
    const listed = await shop.api.get('/v1.1/notifications')
    const logged = JSON.stringify(it.logged)
    expect(needles.filter((needle) => (text + listed.text + logged).includes(needle))).toEqual([])
    const tables = await it.rows<{ name: string }>(
      `select quote_ident(relname) as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
    expect(tables.map(({ name }) => name)).toContain('notification_attempt_default')
    for (const { name } of tables) {
      const found = await it.rows(
        `select 1 from ${name} t where exists (select 1 from unnest($1::text[]) n where position(n in t::text) > 0)`,
        [[...needles, ...hex]],
      )
      expect([name, found.length]).toEqual([name, 0])
    }
  })
})

describe('what is listed', () => {
  test('of a sale that told nobody: nothing', async () => {
    const shop = await merchant()
    expect(await attemptsOf(shop, (await it.given.sale(shop)).uuid)).toEqual([])
  })

  test('of a reversal that told nobody: nothing', async () => {
    const shop = await merchant()
    const { uuid } = (await pay(shop, await it.given.paidSale(shop))).body.reversal
    expect(await attemptsOf(shop, uuid)).toEqual([])
  })

  test('before the first attempt has ended: nothing', async () => {
    const shop = await merchant()
    const held = shop.hold()
    const sale = await it.given.paidSale(shop)
    await shop.received(1)
    expect(await attemptsOf(shop, sale.uuid)).toEqual([])
    held.release()
    await settle()
    expect(await attemptsOf(shop, sale.uuid)).toHaveLength(1)
  })

  test('of a uuid in capital letters: the same', async () => {
    const shop = await merchant()
    const sale = await it.given.paidSale(shop)
    await settle()
    expect(await attemptsOf(shop, sale.uuid.toUpperCase())).toEqual(await attemptsOf(shop, sale.uuid))
  })

  test('newest first, over retries and redeliveries', async () => {
    const shop = await merchant()
    const sale = await it.given.sale(shop)
    shop.answer(500)
    await pay(shop, sale)
    await settle()
    shop.answer(404)
    toNextRetry()
    await settle()
    shop.answer(200)
    toNextRetry()
    await settle()
    it.clock.advance(1_000)
    await shop.api.post(`/v1.1/transactions/${sale.uuid}/webhook/redeliver`)
    await settle()
    const attempts = await attemptsOf(shop, sale.uuid)
    expect(attempts.map(({ responseCode }) => responseCode)).toEqual([200, 200, 404, 500])
    const dates = attempts.map(({ date }) => date)
    expect([...dates].sort().reverse()).toEqual(dates)
  })

  test.each([
    ['a uuid that nobody has', () => randomUUID()],
    ['no uuid at all', () => 'not-a-uuid'],
    ['a number', () => '12345'],
    ['a uuid with a letter too many', () => `${randomUUID()}0`],
    ['the uuid of an account', (shop: Merchant) => shop.id],
  ])('404 for %s', async (_what, uuid) => {
    const shop = await merchant()
    expect(notFound(await ask(shop, uuid(shop)))).toEqual(asUnknown)
  })

  test.each(['with attempts', 'without attempts'])('404 for a sale of another account, %s', async (how) => {
    const [shop, other] = [await merchant(), await merchant()]
    const sale = how === 'with attempts' ? await it.given.paidSale(other) : await it.given.sale(other)
    await settle()
    expect(notFound(await ask(shop, sale.uuid))).toEqual(asUnknown)
  })

  test('404 for a reversal of another account', async () => {
    const [shop, other] = [await merchant(), await merchant()]
    const { uuid } = (await pay(other, await it.given.paidSale(other))).body.reversal
    expect(notFound(await ask(shop, uuid))).toEqual(asUnknown)
  })

  test('nothing without credentials', async () => {
    const sale = await it.given.paidSale(await merchant())
    expect((await it.api.get(`/v1.1/transactions/${sale.uuid}/webhook`)).http).toBe(403)
  })
})

describe('filters', () => {
  let shop: Merchant
  let sale: TestSale
  let all: Record_[]
  let reversalUrl: string

  /** Two failures of two kinds and a success of the confirmation, a success of a reversal. */
  beforeAll(async () => {
    shop = await merchant((hook) => ({ payment: { url: hook }, reversal: { url: `${hook}/back`, enabled: true } }))
    sale = await it.given.sale(shop)
    shop.answer(503)
    await pay(shop, sale)
    await settle()
    shop.answer((reply) => void reply.destroy())
    toNextRetry()
    await settle()
    shop.answer(200)
    toNextRetry()
    await settle()
    it.clock.advance(1_000)
    await pay(shop, sale)
    await settle()
    reversalUrl = `${shop.hook}/back?reversing=true&type=reversing`
    all = await attemptsOf(shop, sale.uuid)
  })

  test('the attempts they choose from', () => {
    expect(
      all.map(({ eventType, status, responseCode, endpoint }) => [eventType, status, responseCode, endpoint]),
    ).toEqual([
      ['REVERSAL_CREATE', 'SUCCESS', 200, reversalUrl],
      ['PAYMENT_CONFIRMATION', 'SUCCESS', 200, shop.hook],
      ['PAYMENT_CONFIRMATION', 'HTTP_REQUEST_TIMEOUT', 0, shop.hook],
      ['PAYMENT_CONFIRMATION', 'HTTP_STATUS_NOT_EQUALS_200', 503, shop.hook],
    ])
  })

  const of = (query: string) =>
    query.replace('{hook}', encodeURIComponent(shop.hook)).replace('{back}', encodeURIComponent(reversalUrl))
  // biome-ignore format: a table
  const choices: readonly (readonly [string, readonly number[]])[] = [
    ['eventType=PAYMENT_CONFIRMATION', [1, 2, 3]],
    ['eventType=REVERSAL_CREATE', [0]],
    ['eventType=REFUND_PAID', []],
    ['eventType=RECURRENCE_CHARGE_PAID', []],
    ['status=SUCCESS', [0, 1]],
    ['status=HTTP_REQUEST_TIMEOUT', [2]],
    ['status=HTTP_STATUS_NOT_EQUALS_200', [3]],
    ['responseCode=200', [0, 1]],
    ['responseCode=0', [2]],
    ['responseCode=503', [3]],
    ['responseCode=999', []],
    ['endpoint={hook}', [1, 2, 3]],
    ['endpoint={back}', [0]],
    ['endpoint=http%3A%2F%2Felsewhere', []],
    ['status=SUCCESS&eventType=PAYMENT_CONFIRMATION', [1]],
    ['status=SUCCESS&responseCode=503', []],
    ['endpoint={hook}&status=HTTP_STATUS_NOT_EQUALS_200&responseCode=503&eventType=PAYMENT_CONFIRMATION', [3]],
    ['endpoint={back}&status=SUCCESS&responseCode=200&eventType=REVERSAL_CREATE', [0]],
    ['endpoint={back}&eventType=PAYMENT_CONFIRMATION', []],
    ['nothingOfOurs=1', [0, 1, 2, 3]],
    ['eventType=', [0, 1, 2, 3]],
  ]
  test.each(choices)('%s', async (query, chosen) => {
    expect(await attemptsOf(shop, sale.uuid, of(query))).toEqual(chosen.map((at) => all[at]))
  })

  test('a reversal’s uuid is filtered as well', async () => {
    const { uuid } = JSON.parse(all[0]!.request.payload)
    expect(await attemptsOf(shop, uuid, 'status=SUCCESS')).toEqual([all[0]])
    expect(await attemptsOf(shop, uuid, 'eventType=PAYMENT_CONFIRMATION')).toEqual([])
  })

  test('the endpoint is the one that was called, also when a redelivery went elsewhere', async () => {
    const [own, other] = [await merchant(), await merchant()]
    const paid = await it.given.paidSale(own)
    await settle()
    await own.api.put('/v1.1/account/notifications', { payment: { url: other.hook } })
    await own.api.post(`/v1.1/transactions/${paid.uuid}/webhook/redeliver`)
    await settle()
    for (const { hook } of [own, other]) {
      const found = await attemptsOf(own, paid.uuid, `endpoint=${encodeURIComponent(hook)}`)
      expect(found.map(({ endpoint }) => endpoint)).toEqual([hook])
    }
  })

  // biome-ignore format: a table
  const wrong: readonly (readonly [string, string])[] = [
    ['eventType', 'payment_confirmation'], ['eventType', 'PAYMENT'], ['eventType', 'SUCCESS'], ['eventType', 'toString'],
    ['status', 'FAILED'], ['status', 'success'], ['status', 'DELIVERED'], ['status', '200'],
    ['responseCode', '1000'], ['responseCode', '-1'], ['responseCode', 'abc'], ['responseCode', '2e2'], ['responseCode', '200.5'],
    ['responseCode', '0x1f'], ['responseCode', '99999999999999999999'],
    ['endpoint', 'x'.repeat(256)], ['endpoint', 'a\u0000b'],
  ]
  test.each(wrong)('%s=%s is a 400', async (field, value) => {
    const reply = await ask(shop, sale.uuid, `${field}=${encodeURIComponent(value)}`)
    expect([reply.http, reply.body]).toEqual([
      400,
      { status: -1, message: 'field validation failure', errorCount: 1, errors: [{ field, message: 'invalid value' }] },
    ])
  })

  test('one filter twice is a 400', async () => {
    const reply = await ask(shop, sale.uuid, 'status=SUCCESS&status=SUCCESS')
    expect([reply.http, reply.body.errors]).toEqual([400, [{ field: 'status', message: 'invalid value' }]])
  })

  test('every wrong one is named, in the order of the interface', async () => {
    const reply = await ask(shop, sale.uuid, `responseCode=x&status=x&eventType=x&endpoint=${'x'.repeat(256)}`)
    expect([reply.http, reply.body.errorCount]).toEqual([400, 4])
    expect(reply.body.errors).toEqual(
      ['endpoint', 'eventType', 'status', 'responseCode'].map((field) => ({ field, message: 'invalid value' })),
    )
  })

  test('an endpoint of 255 characters is looked for; characters are counted, not bytes', async () => {
    const own = await merchant()
    const url = `${own.hook}/`.padEnd(255, 'x')
    const paid = await it.given.paidSale(own, { callbackURL: url })
    await settle()
    expect(await attemptsOf(own, paid.uuid, `endpoint=${encodeURIComponent(url)}`)).toHaveLength(1)
    expect(await attemptsOf(own, paid.uuid, `endpoint=${encodeURIComponent('🎉'.repeat(255))}`)).toEqual([])
    expect((await ask(own, paid.uuid, `endpoint=${encodeURIComponent('🎉'.repeat(256))}`)).http).toBe(400)
  })
})

describe('five thousand attempts of one sale among many others', () => {
  test('are all listed, newest first, by indexes alone', async () => {
    const own = await startTestService()
    onTestFinished(() => own.stop())
    const account = await own.given.account()
    await account.api.put('/v1.1/account/notifications', { payment: { url: 'http://127.0.0.1:1/hook' } })
    const sale = await own.given.paidSale(account)
    await own.rows(
      `insert into notification (account_id, id, resource_id, turn, also_id, event, created_at, callback_url, url, payload)
       select account_id, overlay(id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, gen_random_uuid(), 1, gen_random_uuid(), event,
         created_at, callback_url, url, payload
       from notification, generate_series(1, 20000) n`,
    )
    await own.rows(
      `insert into notification_attempt (account_id, notification_id, number, at, duration_ms, status, response_code, last, request_headers,
         response_headers, response_body)
       select account_id, id, n, created_at + n * interval '1 second', 5, 'HTTP_STATUS_NOT_EQUALS_200', n % 1000, true, '{}', '{}', ''
       from notification, lateral generate_series(1, case resource_id when $1 then 5000 else 1 end) n`,
      [sale.uuid],
    )
    await own.rows('analyze')
    const asked = vi.spyOn(own.service.db, 'query')

    const attempts = await attemptsOf(account, sale.uuid)

    expect(attempts.map(({ responseCode }) => responseCode)).toEqual(
      Array.from({ length: 5_000 }, (_, at) => (5_000 - at) % 1_000),
    )
    expect(await attemptsOf(account, sale.uuid, 'responseCode=7')).toHaveLength(5)
    const [statement, values] = asked.mock.calls.find(([{ name }]) => name === 'notification_attempts')!
    const plan = await own.rows<{ 'QUERY PLAN': string }>(`explain ${statement.text}`, values)
    const text = plan.map((row) => row['QUERY PLAN']).join('\n')
    expect(text).not.toContain('Seq Scan')
    expect(text).toMatch(/notification_attempt_default_pkey/)
  })
})

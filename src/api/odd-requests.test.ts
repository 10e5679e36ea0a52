import { beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../../test/harness/api-client.ts'
import { checkoutBody, situationOf, type TestAccount } from '../../test/harness/given.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/sandbox/account'
const json = { 'content-type': 'application/json' }
let account: TestAccount

beforeAll(async () => {
  account = await it.given.account()
})

/** An answer in our form that tells nothing of what is inside. */
function isPlainRefusal(answer: Reply, http: number, message?: string): void {
  expect(answer.http, answer.text).toBe(http)
  expect(answer.headers['content-type']).toContain('application/json')
  expect(answer.body).toMatchObject({ status: -1, message: message ?? expect.any(String), errors: expect.any(Array) })
  expect(answer.body.errorCount).toBe(answer.body.errors.length)
  expect(answer.text).not.toMatch(/\bat \w|node_modules|\.ts:|FST_|Error:|select |insert |update |pg_|constraint/i)
}

const put = (raw: string | Buffer, headers: Record<string, string> = json): Promise<Reply> =>
  account.api.put(PATH, undefined, { raw, headers })

describe('bodies that are not what they should be', () => {
  // biome-ignore format: a list
  const broken = [
    '{"a":', '{a:1}', "{'a':1}", '{"a":1}}', '{"a":NaN}', '{"a":01}', '[1,2', '"open', 'undefined', '{"a":1,}', '{"a":"\u0000"}',
    '\u0000', '\ufeff{}', '<xml/>', 'a=1&b=2', ' \n\t ',
  ]
  test('text that is no JSON is a 400', async () => {
    for (const raw of broken) isPlainRefusal(await put(raw), 400, 'the body is not valid JSON')
  })

  test('JSON that is no object holds no fields: nothing changes, and what is required is missing', async () => {
    for (const raw of ['null', '[]', '[1,2,3]', '5', 'true', '"text"', '{}', '']) {
      expect((await put(raw)).http, raw).toBe(200)
      const registered = await it.api.post('/v1.1/sandbox/register', undefined, { raw, headers: json })
      expect([registered.http, registered.body.errorCount], raw).toEqual([400, 2])
    }
  })

  test('nesting without end is a 400', async () => {
    const deep = [
      '['.repeat(10_000) + ']'.repeat(10_000),
      `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
      '['.repeat(60_000),
      '['.repeat(33) + ']'.repeat(33),
    ]
    for (const raw of deep) isPlainRefusal(await put(raw), 400, 'the JSON text is nested deeper than 32 levels')
  })

  test('32 levels are not too many, and brackets in text are no levels', async () => {
    expect((await put('['.repeat(32) + ']'.repeat(32))).http).toBe(200)
    expect((await put(JSON.stringify({ a: `"\\${'[{'.repeat(100)}` }))).http).toBe(200)
  })

  test('two megabytes are a 413, 64 KiB are not, whatever they hold', async () => {
    const text = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
    expect((await put(text(65_536))).http).toBe(200)
    isPlainRefusal(await put(text(65_537)), 413)
    isPlainRefusal(await put(Buffer.alloc(2_000_000)), 413)
  })

  test('a number too large or too fine for money is a 400, never rounded', async () => {
    for (const amount of ['1e400', '-1e400', '0.1234567', '99999999999999999999', '-1', '1e21'])
      expect((await put(`{"overdraftLimit":${amount}}`)).http, amount).toBe(400)
    for (const amount of ['1e-400', '1E2', '-0', '100.00'])
      expect((await put(`{"overdraftLimit":${amount}}`)).http).toBe(200)
  })

  test('names with a special meaning in JavaScript have none here', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect((await put(`{"${name}":{"splitEnabled":true}}`)).body.splitEnabled).toBe(false)
    expect(({} as Record<string, unknown>)['splitEnabled']).toBeUndefined()
  })

  test('text that PostgreSQL cannot hold, or nobody can read, is refused or kept, never an error of ours', async () => {
    const odds = ['\u0000', '\ud800', '\udfff\ud800', '\uffff', '😀'.repeat(10), '\u202e', "'; drop table sale; --"]
    for (const odd of odds) {
      const made = await it.api.post('/v1.1/sandbox/register', { name: `a${odd}`, email: 'odd@example.com' })
      expect([201, 400]).toContain(made.http)
      const shopper = { id: odd, name: `M${odd}`, email: 'maria@example.com' }
      const body = checkoutBody({ shopper, referenceCode: `r${odd}` })
      const sold = await account.api.post('/v1.1/checkout/transparent', body)
      expect([200, 400], sold.text).toContain(sold.http)
    }
  })
})

describe('content types', () => {
  // biome-ignore format: a list
  const others = [
    'text/plain', 'text/json', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x',
    'application/jsonx', 'application', 'json', ';;;', 'application/json/x', '*/*',
  ]
  test('other than JSON are a 415 where a body is read', async () => {
    for (const type of others)
      isPlainRefusal(await put('{}', { 'content-type': type }), 415, 'the content type must be application/json')
  })

  test('of JSON are taken in any writing', async () => {
    const types = [
      'application/json',
      'APPLICATION/JSON',
      'application/json;charset=UTF-8',
      'application/problem+json; a=b',
    ]
    for (const type of types) expect((await put('{}', { 'content-type': type })).http, type).toBe(200)
  })

  test('none at all is taken as JSON, and an empty body of any type is an absent body', async () => {
    expect((await put('{"autoSettle":false}', {})).body.autoSettle).toBe(false)
    for (const type of ['application/json', 'text/plain', 'nonsense'])
      expect((await put('', { 'content-type': type })).http).toBe(200)
  })
})

describe('a route that needs no body', () => {
  const garbage: readonly (readonly [string, Record<string, string>])[] = [
    ['null', json],
    ['{"broken', json],
    ['['.repeat(10_000), json],
    ['<xml/>', { 'content-type': 'application/xml' }],
    ['garbage', { 'content-type': 'nonsense' }],
    ['garbage', { 'content-type': ';;;' }],
    ['\u0000\u0001', {}],
    ['', json],
  ]

  test('ignores whatever is sent: a void', async () => {
    for (const [raw, headers] of garbage) {
      const sale = await it.given.sale(account)
      const answer = await account.api.put(`/v1.1/transactions/${sale.uuid}/void`, undefined, { raw, headers })
      expect([answer.http, answer.body], raw).toEqual([200, { status: 0, message: 'success' }])
      expect(await situationOf(account, sale)).toBe('CANCELLED')
    }
  })

  test('ignores whatever is sent: a reset of the clock and every GET', async () => {
    for (const [raw, headers] of garbage) {
      expect((await account.api.post('/v1.1/sandbox/clock/reset', undefined, { raw, headers })).http).toBe(200)
      for (const path of ['/v1.1/balance', '/v1.1/transactions', '/v1.1/sandbox/clock'])
        expect((await account.api.get(path, { raw, headers })).http).toBe(200)
      expect((await it.operator.get('/operator/v1/queues', { raw, headers })).http).toBe(200)
    }
  })

  test('ignores even two megabytes, if it is a GET', async () => {
    expect((await account.api.get('/v1.1/balance', { raw: Buffer.alloc(2_000_000) })).http).toBe(200)
  })
})

describe('odd addresses', () => {
  test('bad percent-encoding is a 400', async () => {
    for (const id of ['%zz', '%', '%f', '%ff', '%c3%28', '%e0%80%80']) {
      const answer = await account.api.get(`/v1.1/transactions/${id}`)
      isPlainRefusal(answer, 400)
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('an id of the wrong shape, however long, is not found', async () => {
    const notFound = { status: 998, message: 'transaction not found', errorCount: 1 }
    // biome-ignore format: a list
    const ids = ['x', '%00', '%20', '..%2f..', '%F0%9F%98%80', "'%20or%201=1--", '{}', 'a'.repeat(101), 'a'.repeat(12_000)]
    for (const id of ids) {
      for (const path of [id, `pix/${id}`, `${id}/payment_info`]) {
        const answer = await account.api.get(`/v1.1/transactions/${path}`)
        expect(answer.http, path.slice(0, 60)).toBe(404)
        expect(answer.body).toMatchObject(notFound)
      }
      expect((await account.api.put(`/v1.1/transactions/${id}/void`)).body).toMatchObject(notFound)
      isPlainRefusal(await it.api.get(`/qr/${id}.png`), 404)
      expect((await it.operator.get(`/operator/v1/accounts/${id}`)).body).toMatchObject({ status: 998 })
    }
  })

  test('a bad filter is named as an invalid value, whatever is wrong with it', async () => {
    // biome-ignore format: a list
    const queries = [
      'page=x', 'page=1&page=2', 'page=1e1', 'maxPageResults=ten', 'initialDate=2026-02-30', 'finalDate=tomorrow', 'initialDate=%00',
    ]
    for (const query of queries)
      for (const path of ['/v1.1/transactions', '/v1.1/statement']) {
        const answer = await account.api.get(`${path}?${query}`)
        const errors = [{ field: query.split('=')[0], message: 'invalid value' }]
        expect([answer.http, answer.body.errors], query).toEqual([400, errors])
      }
  })

  test('a far day is a day like any other', async () => {
    const { api } = await it.given.account()
    for (const day of ['0001-01-01', '1969-12-31', '9999-12-31'])
      for (const path of ['/v1.1/transactions?', '/v1.1/transactions?queryMode=PROCESSED&', '/v1.1/statement?'])
        for (const filter of ['initialDate', 'finalDate']) {
          const answer = await api.get(`${path}${filter}=${day}`)
          expect([answer.http, answer.body.result], answer.text).toEqual([200, []])
        }
  })

  test('a query that cannot be decoded, or is endless, harms nobody', async () => {
    for (const query of [
      '%zz=%zz',
      '%',
      '&&&===',
      `x=${'y'.repeat(10_000)}`,
      'a[b][c]=d',
      '__proto__[x]=1',
      'page[]=x',
    ])
      expect((await account.api.get(`/v1.1/balance?${query}`)).http).toBe(200)
  })
})

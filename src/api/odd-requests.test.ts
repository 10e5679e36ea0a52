import { describe, expect, test } from 'vitest'
import type { Reply } from '../../test/harness/api-client.ts'
import { checkoutBody, situationOf } from '../../test/harness/given.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/sandbox/account'
const json = { 'content-type': 'application/json' }

/** An answer in our form that tells nothing of what is inside. */
function isPlainRefusal(answer: Reply, http: number): void {
  expect(answer.http, answer.text).toBe(http)
  expect(answer.headers['content-type']).toContain('application/json')
  expect(answer.body).toMatchObject({ status: -1, message: expect.any(String), errors: expect.any(Array) })
  expect(answer.body.errorCount).toBe(answer.body.errors.length)
  expect(answer.text).not.toMatch(/\bat \w|node_modules|\.ts:|FST_|Error:|select |insert |update |pg_|constraint/i)
}

const put = async (raw: string | Buffer, headers: Record<string, string> = json): Promise<Reply> =>
  (await it.given.account()).api.put(PATH, undefined, { raw, headers })

describe('bodies that are not what they should be', () => {
  test.each([
    '{"a":',
    '{a:1}',
    "{'a':1}",
    '{"a":1}}',
    '{"a":NaN}',
    '{"a":01}',
    '[1,2',
    '"open',
    'undefined',
    '{"a":1,}',
    '{"a":"\u0000"}',
    '\u0000',
    '\ufeff{}',
    '<xml/>',
    'a=1&b=2',
  ])('%j is no JSON: 400', async (raw) => {
    const answer = await put(raw)
    isPlainRefusal(answer, 400)
    expect(answer.body).toEqual({ status: -1, message: 'the body is not valid JSON', errorCount: 0, errors: [] })
  })

  test.each(['null', '[]', '[1,2,3]', '5', 'true', '"text"', '{}', ' \n\t ', ''])(
    '%j holds no fields: nothing changes, and what is required is missing',
    async (raw) => {
      const { api } = await it.given.account()
      const blank = raw.trim() === '' && raw !== ''
      const answer = await api.put(PATH, undefined, { raw, headers: json })
      // Blanks are a body, and they are no JSON.
      expect(answer.http).toBe(blank ? 400 : 200)
      const registered = await it.api.post('/v1.1/sandbox/register', undefined, { raw, headers: json })
      expect(registered.http).toBe(400)
      if (!blank) expect(registered.body.errorCount).toBe(2)
    },
  )

  test.each([
    ['an array', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['an object', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['never closed', '['.repeat(60_000)],
    ['one level too many', '['.repeat(33) + ']'.repeat(33)],
  ])('nesting without end: %s', async (_name, raw) => {
    const answer = await put(raw)
    isPlainRefusal(answer, 400)
    expect(answer.body.message).toBe('the JSON text is nested deeper than 32 levels')
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

  test('a number too large, too small or too fine for money is a 400, never rounded', async () => {
    for (const amount of ['1e400', '-1e400', '1e-400', '0.1234567', '99999999999999999999', '1E2', '-0'])
      expect((await put(`{"overdraftLimit":${amount}}`)).http, amount).toBe(
        ['1e-400', '1E2', '-0'].includes(amount) ? 200 : 400,
      )
  })

  test('names with a special meaning in JavaScript have none here', async () => {
    const { api } = await it.given.account()
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect((await api.put(PATH, undefined, { raw: `{"${name}":{"splitEnabled":true}}`, headers: json })).http).toBe(
        200,
      )
    expect((await api.get(PATH)).body.splitEnabled).toBe(false)
    expect(({} as Record<string, unknown>)['splitEnabled']).toBeUndefined()
  })

  test('text that PostgreSQL cannot hold, or nobody can read, is refused or kept, never an error of ours', async () => {
    for (const odd of [
      '\u0000',
      '\ud800',
      '\udfff\ud800',
      '\uffff',
      '😀'.repeat(10),
      '\u202e',
      "'; drop table sale; --",
    ]) {
      const made = await it.api.post('/v1.1/sandbox/register', { name: `a${odd}`, email: 'odd@example.com' })
      expect([201, 400]).toContain(made.http)
      const { api } = await it.given.account()
      const shopper = { id: odd, name: `M${odd}`, email: 'maria@example.com' }
      const sold = await api.post('/v1.1/checkout/transparent', checkoutBody({ shopper, referenceCode: `r${odd}` }))
      expect([200, 400], sold.text).toContain(sold.http)
    }
  })
})

describe('content types', () => {
  test.each([
    'text/plain',
    'text/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application',
    'json',
    ';;;',
    'application/json/x',
    '*/*',
  ])('%j with a body is a 415 where a body is read', async (type) => {
    const answer = await put('{}', { 'content-type': type })
    isPlainRefusal(answer, 415)
    expect(answer.body.message).toBe('the content type must be application/json')
  })

  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/problem+json; a=b',
  ])('%j is taken', async (type) => expect((await put('{}', { 'content-type': type })).http).toBe(200))

  test('none at all is taken as JSON, and an empty body of any type is an absent body', async () => {
    expect((await put('{"splitEnabled":true}', {})).body.splitEnabled).toBe(true)
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

  test.each(garbage)('a void ignores %j', async (raw, headers) => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const answer = await account.api.put(`/v1.1/transactions/${sale.uuid}/void`, undefined, { raw, headers })
    expect([answer.http, answer.body]).toEqual([200, { status: 0, message: 'success' }])
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test.each(garbage)('a reset of the clock and every GET ignore %j', async (raw, headers) => {
    const { api } = await it.given.account()
    expect((await api.post('/v1.1/sandbox/clock/reset', undefined, { raw, headers })).http).toBe(200)
    for (const path of ['/v1.1/balance', '/v1.1/transactions', '/v1.1/sandbox/clock'])
      expect((await api.get(path, { raw, headers })).http).toBe(200)
    expect((await it.operator.get('/operator/v1/queues', { raw, headers })).http).toBe(200)
  })

  test('a GET ignores even two megabytes', async () => {
    const { api } = await it.given.account()
    expect((await api.get('/v1.1/balance', { raw: Buffer.alloc(2_000_000) })).http).toBe(200)
  })
})

describe('odd addresses', () => {
  test.each(['%zz', '%', '%f', '%ff', '%c3%28', '%e0%80%80'])('bad percent-encoding %s is a 400', async (id) => {
    const { api } = await it.given.account()
    const answer = await api.get(`/v1.1/transactions/${id}`)
    isPlainRefusal(answer, 400)
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test.each([
    'x',
    '%00',
    '%20',
    '..%2f..',
    '%F0%9F%98%80',
    "'%20or%201=1--",
    '{}',
    'a'.repeat(101),
    'a'.repeat(12_000),
  ])('an id of the wrong shape is not found: %.20s', async (id) => {
    const { api } = await it.given.account()
    const notFound = { status: 998, message: 'transaction not found', errorCount: 1 }
    for (const path of [
      `/v1.1/transactions/${id}`,
      `/v1.1/transactions/pix/${id}`,
      `/v1.1/transactions/${id}/payment_info`,
    ]) {
      const answer = await api.get(path)
      expect(answer.http, path.slice(0, 60)).toBe(404)
      expect(answer.body).toMatchObject(notFound)
    }
    expect((await api.put(`/v1.1/transactions/${id}/void`)).body).toMatchObject(notFound)
    isPlainRefusal(await it.api.get(`/qr/${id}.png`), 404)
    expect((await it.operator.get(`/operator/v1/accounts/${id}`)).body).toMatchObject({ status: 998 })
  })

  test.each([
    'page=x',
    'page=1&page=2',
    'page=1e1',
    'page[]=1',
    'maxPageResults=ten',
    'initialDate=2026-02-30',
    'finalDate=tomorrow',
    'initialDate=%00',
  ])('a bad filter ?%s is named as an invalid value', async (query) => {
    const { api } = await it.given.account()
    const field = query.split('=')[0]!
    for (const path of ['/v1.1/transactions', '/v1.1/statement']) {
      const answer = await api.get(`${path}?${query}`)
      if (field === 'page[]') expect(answer.http).toBe(200)
      else expect([answer.http, answer.body.errors]).toEqual([400, [{ field, message: 'invalid value' }]])
    }
  })

  test.each(['0001-01-01', '1969-12-31', '9999-12-31'])('the far day %s is a day like any other', async (day) => {
    const { api } = await it.given.account()
    for (const path of ['/v1.1/transactions', '/v1.1/transactions?queryMode=PROCESSED', '/v1.1/statement'])
      for (const filter of ['initialDate', 'finalDate']) {
        const answer = await api.get(`${path}${path.includes('?') ? '&' : '?'}${filter}=${day}`)
        expect([answer.http, answer.body.result], answer.text).toEqual([200, []])
      }
  })

  test('a query that cannot be decoded, or is endless, harms nobody', async () => {
    const { api } = await it.given.account()
    for (const query of ['%zz=%zz', '%', '&&&===', `x=${'y'.repeat(10_000)}`, 'a[b][c]=d', '__proto__[x]=1'])
      expect((await api.get(`/v1.1/balance?${query}`)).http).toBe(200)
  })
})

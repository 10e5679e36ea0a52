import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Reply } from '../../test/harness/api-client.ts'
import type { TestAccount } from '../../test/harness/given.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/account/notifications'
const huge = Buffer.alloc(2_000_000, '{')
const wrongToken = { 'x-api-token': randomUUID() }
const plain = { 'content-type': 'text/plain' }
const json = { 'content-type': 'application/json' }

const limited = async (): Promise<TestAccount> => {
  const account = await it.given.account()
  await it.operator.send('PATCH', `/operator/v1/accounts/${account.id}`, { rateLimitPerSecond: 1 })
  expect((await account.api.get('/v1.1/balance')).http).toBe(200)
  return account
}

const isEnvelope = ({ body, http }: Reply) => {
  expect(body, String(http)).toMatchObject({ status: -1, message: expect.any(String), errors: expect.any(Array) })
  expect(body.errorCount).toBe(body.errors.length)
}

describe('the order of refusals', () => {
  test('is route, method, credentials, rate, size, type, JSON, fields: each hides the ones after it', async () => {
    const free = await it.given.account()
    const { api } = await limited()
    const bad = { raw: huge, headers: { ...wrongToken, ...plain } }
    const steps: readonly (readonly [string, number, () => Promise<Reply>])[] = [
      ['route', 404, () => api.put('/v1.1/account/nothing', undefined, bad)],
      ['method', 405, () => api.post(PATH, undefined, bad)],
      ['credentials', 403, () => api.put(PATH, undefined, bad)],
      ['rate', 429, () => api.put(PATH, undefined, { raw: huge, headers: plain })],
      ['size', 413, () => free.api.put(PATH, undefined, { raw: huge, headers: plain })],
      ['type', 415, () => free.api.put(PATH, undefined, { raw: '{', headers: plain })],
      ['JSON', 400, () => free.api.put(PATH, undefined, { raw: '{', headers: json })],
      ['fields', 400, () => free.api.put(PATH, { payment: 1 })],
      ['nothing', 200, () => free.api.put(PATH, {})],
    ]
    for (const [name, http, ask] of steps) {
      const answer = await ask()
      expect(answer.http, name).toBe(http)
      if (http !== 200) isEnvelope(answer)
    }
  })

  test('holds for the operator’s routes as well', async () => {
    const path = '/operator/v1/accounts'
    const bad = { raw: huge, headers: { authorization: 'Bearer wrong', ...plain } }
    expect((await it.operator.post(`${path}/x/y/z`, undefined, bad)).http).toBe(404)
    expect((await it.operator.put(path, undefined, bad)).http).toBe(405)
    expect((await it.operator.post(path, undefined, bad)).http).toBe(403)
    expect((await it.operator.post(path, undefined, { raw: huge, headers: plain })).http).toBe(413)
    expect((await it.operator.post(path, undefined, { raw: '{', headers: plain })).http).toBe(415)
    expect((await it.operator.post(path, undefined, { raw: '{', headers: json })).http).toBe(400)
  })

  test('credentials hide whether a thing exists', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const stranger = account.api.as(wrongToken)
    for (const uuid of [sale.uuid, randomUUID(), 'x'])
      expect((await stranger.get(`/v1.1/transactions/${uuid}`)).http).toBe(403)
  })
})

describe('unknown routes and methods', () => {
  test.each([
    '/nope',
    '/v1.1',
    '/v1.1/balances',
    '/v1.1/balance/x',
    '/v1.2/balance',
    '/V1.1/balance',
    '/v1.1//balance',
  ])('%s is a 404, with and without credentials', async (path) => {
    const { api } = await it.given.account()
    for (const client of [it.api, api])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await client.send(method, path, method === 'GET' ? undefined : { a: 1 })
        expect([answer.http, answer.body]).toEqual([
          404,
          { status: -1, message: 'there is no such route', errorCount: 0, errors: [] },
        ])
      }
  })

  test.each([
    ['/v1.1/balance', 'GET, HEAD'],
    ['/v1.1/sandbox/register', 'POST'],
    ['/v1.1/account/notifications', 'GET, HEAD, PUT'],
    ['/v1.1/transactions/x/void', 'PUT'],
    ['/operator/v1/accounts', 'GET, HEAD, POST'],
    ['/operator/v1/accounts/x', 'GET, HEAD, PATCH'],
    ['/qr/x.png', 'GET, HEAD'],
    ['/healthz', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
  ])('%s with another method is a 405 that allows %s', async (path, allow) => {
    const all = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
    const wrong = all.filter((method) => !allow.split(', ').includes(method))
    for (const method of wrong) {
      const answer = await it.api.send(method, path)
      expect([answer.http, answer.headers['allow']], method).toEqual([405, allow])
      if (method === 'HEAD') continue
      expect(answer.body).toEqual({ status: -1, message: `this route takes ${allow}`, errorCount: 0, errors: [] })
    }
    for (const method of allow.split(', ')) expect((await it.api.send(method, path)).http, method).not.toBe(405)
  })

  test('every route takes a trailing slash', async () => {
    const { api } = await it.given.account()
    for (const path of ['/v1.1/balance/', '/v1.1/sandbox/clock/', '/v1.1/available_payment_methods/'])
      expect((await api.get(path)).http).toBe(200)
    expect((await it.api.get('/healthz/')).http).toBe(200)
    expect((await it.operator.get('/operator/v1/queues/')).http).toBe(200)
  })
})

describe('the rate limit', () => {
  test('is off by default', async () => {
    const { api } = await it.given.account()
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.get('/v1.1/balance')))
    expect(answers.every(({ http }) => http === 200)).toBe(true)
  })

  test('answers 429 with Retry-After, and after that wait lets the next one in', async () => {
    const account = await it.given.account()
    await it.operator.send('PATCH', `/operator/v1/accounts/${account.id}`, { rateLimitPerSecond: 3 })
    const ask = () => account.api.get('/v1.1/balance')
    for (let burst = 0; burst < 3; burst += 1) expect((await ask()).http).toBe(200)
    const refused = await ask()
    expect(refused.http).toBe(429)
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.body).toEqual({
      status: -1,
      message: 'too many requests for this api key',
      errorCount: 0,
      errors: [],
    })
    it.clock.advance(1_000)
    expect((await ask()).http).toBe(200)
  })

  test('counts per api key: a neighbour is not slowed, nor are wrong tokens counted', async () => {
    const [account, neighbour] = [await limited(), await it.given.account()]
    expect((await account.api.get('/v1.1/balance')).http).toBe(429)
    expect((await neighbour.api.get('/v1.1/balance')).http).toBe(200)
    it.clock.advance(1_000)
    for (let wrong = 0; wrong < 5; wrong += 1)
      expect((await account.api.as(wrongToken).get('/v1.1/balance')).http).toBe(403)
    expect((await account.api.get('/v1.1/balance')).http).toBe(200)
  })

  test('ends when the operator sets it to 0', async () => {
    const account = await limited()
    expect((await account.api.get('/v1.1/balance')).http).toBe(429)
    await it.operator.send('PATCH', `/operator/v1/accounts/${account.id}`, { rateLimitPerSecond: 0 })
    for (let ask = 0; ask < 5; ask += 1) expect((await account.api.get('/v1.1/balance')).http).toBe(200)
  })
})

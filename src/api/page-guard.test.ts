import { describe, expect, test } from 'vitest'
import { cookieOf, PASSWORD, signedIn } from '../../test/harness/pages.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()
const PATH = '/panel/api/v1.1/sandbox/account'

describe('requests of other sites', () => {
  test.each([
    ['without the header of our pages', {}, 403],
    ['with it', { 'x-quitado-page': '1' }, 200],
    [
      'from our public address',
      { 'x-quitado-page': '1', origin: 'http://pay.test', 'sec-fetch-site': 'same-origin' },
      200,
    ],
    ['from another origin', { 'x-quitado-page': '1', origin: 'http://evil.test' }, 403],
    ['from one that only ends like ours', { 'x-quitado-page': '1', origin: 'http://evil.pay.test' }, 403],
    ['from no origin', { 'x-quitado-page': '1', origin: 'null' }, 403],
    ['from a neighbour', { 'x-quitado-page': '1', 'sec-fetch-site': 'same-site' }, 403],
    ['from another site', { 'x-quitado-page': '1', 'sec-fetch-site': 'cross-site' }, 403],
  ])('a change %s', async (_name, headers, http) => {
    const cookie = await sessionOf()
    const reply = await it.api.put(PATH, { autoSettle: false }, { headers: { cookie, ...headers } as never })
    expect(reply.http, reply.text).toBe(http)
    const account = await it.api.get(PATH, { headers: { cookie } })
    expect(account.body.autoSettle).toBe(http !== 200)
  })

  test('a change from the host that was asked', async () => {
    const cookie = await sessionOf()
    const headers = { cookie, 'x-quitado-page': '1', host: 'shop.local:8080', origin: 'http://shop.local:8080' }
    expect((await it.api.put(PATH, { autoSettle: false }, { headers })).http).toBe(200)
  })

  test.each([
    ['none', 200],
    ['same-origin', 200],
    ['same-site', 403],
    ['cross-site', 403],
  ])('a look from %s', async (site, http) => {
    const headers = { cookie: await sessionOf(), 'sec-fetch-site': site }
    expect((await it.api.get(PATH, { headers })).http).toBe(http)
  })

  test('a GET that changes something is a change', async () => {
    const path = '/panel/api/v1.1/transactions/00000000-0000-7000-8000-000000000000/webhook/redeliver'
    const cookie = await sessionOf()
    expect((await it.api.get(path, { headers: { cookie } })).http).toBe(403)
    expect((await it.api.get(path, { headers: { cookie, 'x-quitado-page': '1' } })).http).toBe(404)
  })

  test.each(['/panel/api/session', '/operator/api/session', '/register/api'])('cannot post to %s', async (path) => {
    const body = { name: 'Loja', email: 'x@example.com', password: PASSWORD, token: 'x' }
    expect((await it.api.post(path, body)).http).toBe(403)
  })
})

async function sessionOf(): Promise<string> {
  const { email } = await signedIn(it)
  const headers = { 'x-quitado-page': '1' }
  return cookieOf(await it.api.post('/panel/api/session', { email, password: PASSWORD }, { headers }))
}

test('none of it is in the OpenAPI document', async () => {
  const { paths } = (await it.api.get('/openapi.json')).body
  expect(Object.keys(paths).filter((path) => /^\/(panel|register|operator\/api)/.test(path))).toEqual([])
  expect(Object.keys(paths)).toContain('/v1.1/balance')
  expect(Object.keys(paths)).toContain('/operator/v1/accounts')
})

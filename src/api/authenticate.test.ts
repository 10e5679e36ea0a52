import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { OPERATOR_TOKEN, testService } from '../../test/harness/test-service.ts'

const it = testService()

const FORBIDDEN = {
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ error: 'Forbidden', message: 'Access Denied' }],
}

type Operation = { readonly method: string; readonly path: string; readonly who: 'account' | 'operator' | 'anyone' }

async function operations(): Promise<Operation[]> {
  const { paths } = (await it.api.get('/openapi.json')).body
  return Object.entries(paths as Record<string, Record<string, { security?: object[] }>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, randomUUID()),
      who: security === undefined ? 'account' : security.length === 0 ? 'anyone' : 'operator',
    })),
  )
}

describe('credentials of an account', () => {
  test('every documented route but the public ones answers Forbidden without them', async () => {
    const all = await operations()
    expect(all.filter(({ who }) => who === 'account').length).toBeGreaterThan(15)
    for (const { method, path, who } of all) {
      const answer = await it.api.send(method, path, method === 'GET' ? undefined : {})
      if (who === 'anyone') expect(answer.http, `${method} ${path}`).not.toBe(403)
      else expect([answer.http, answer.body], `${method} ${path}`).toEqual([403, FORBIDDEN])
    }
  })

  test('the public routes are the registration and the QR images', async () => {
    const open = (await operations()).filter(({ who }) => who === 'anyone')
    expect(open.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, '…')}`)).toEqual([
      'GET /qr/….png',
      'GET /qr/rec/….png',
      'POST /v1.1/sandbox/register',
    ])
  })

  test('missing, malformed, unknown or another account’s: always the same Forbidden', async () => {
    const { apiKey, apiToken } = await it.given.account()
    const other = await it.given.account()
    const wrong: readonly Record<string, string>[] = [
      {},
      { 'x-api-key': apiKey },
      { 'x-api-token': apiToken },
      { 'x-api-key': '', 'x-api-token': '' },
      { 'x-api-key': apiKey, 'x-api-token': randomUUID() },
      { 'x-api-key': randomUUID(), 'x-api-token': apiToken },
      { 'x-api-key': apiKey, 'x-api-token': other.apiToken },
      { 'x-api-key': other.apiKey, 'x-api-token': apiToken },
      { 'x-api-key': apiToken, 'x-api-token': apiKey },
      { 'x-api-key': apiKey, 'x-api-token': apiToken.toUpperCase() },
      { 'x-api-key': apiKey, 'x-api-token': `${apiToken}0` },
      { 'x-api-key': apiKey, 'x-api-token': apiToken.slice(0, -1) },
      { 'x-api-key': `${apiKey}, ${apiKey}`, 'x-api-token': apiToken },
      { 'x-api-key': `${apiKey}' or '1'='1`, 'x-api-token': apiToken },
      { 'x-api-key': '00000000-0000-0000-0000-000000000000', 'x-api-token': apiToken },
      { authorization: `Basic ${Buffer.from(`${apiKey}:${apiToken}`).toString('base64')}` },
      { authorization: `Bearer ${OPERATOR_TOKEN}` },
    ]
    for (const headers of wrong) {
      const answer = await it.api.as(headers).get('/v1.1/balance')
      expect([answer.http, answer.body], JSON.stringify(headers)).toEqual([403, FORBIDDEN])
      expect(answer.headers['content-type']).toContain('application/json')
    }
    expect((await it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }).get('/v1.1/balance')).http).toBe(200)
  })

  test('the key reads in any case, as uuids do', async () => {
    const { apiKey, apiToken } = await it.given.account()
    const answer = await it.api.get('/v1.1/balance', {
      headers: { 'x-api-key': apiKey.toUpperCase(), 'x-api-token': apiToken },
    })
    expect(answer.http).toBe(200)
  })

  test('another account’s sale is not found, exactly as one that does not exist', async () => {
    const [owner, stranger] = [await it.given.account(), await it.given.account()]
    const sale = await it.given.sale(owner)
    for (const path of ['', '/payment_info'].map((end) => (uuid: string) => `/v1.1/transactions/${uuid}${end}`)) {
      const foreign = await stranger.api.get(path(sale.uuid))
      const missing = await stranger.api.get(path(randomUUID()))
      expect([foreign.http, foreign.body]).toEqual([404, missing.body])
    }
  })

  test.each(['SUSPENDED', 'CLOSED'])(
    'a %s account is locked out at once and let in again when active',
    async (status) => {
      const account = await it.given.account()
      // The second time it is remembered.
      for (const _time of [1, 2]) expect((await account.api.get('/v1.1/balance')).http).toBe(200)
      const patch = (to: string) => it.operator.send('PATCH', `/operator/v1/accounts/${account.id}`, { status: to })
      expect((await patch(status)).http).toBe(200)
      const answer = await account.api.get('/v1.1/balance')
      expect([answer.http, answer.body]).toEqual([403, FORBIDDEN])
      await patch('ACTIVE')
      expect((await account.api.get('/v1.1/balance')).http).toBe(200)
    },
  )
})

describe('the operator’s token', () => {
  test('of any wrong length or form is refused, and never breaks the comparison', async () => {
    const wrong = ['', 'Bearer', 'Bearer ', OPERATOR_TOKEN, `Basic ${OPERATOR_TOKEN}`, `Bearer ${OPERATOR_TOKEN}x`]
    const cut = Array.from(
      { length: OPERATOR_TOKEN.length },
      (_, length) => `Bearer ${OPERATOR_TOKEN.slice(0, length)}`,
    )
    for (const authorization of [...wrong, ...cut, `Bearer ${'x'.repeat(4_000)}`]) {
      const answer = await it.api.as({ authorization }).get('/operator/v1/queues')
      expect([answer.http, answer.body], authorization).toEqual([403, FORBIDDEN])
    }
    expect((await it.operator.get('/operator/v1/queues')).http).toBe(200)
  })

  test('is not replaced by an account’s credentials', async () => {
    const { api, apiKey, apiToken } = await it.given.account()
    expect((await api.get('/operator/v1/accounts')).http).toBe(403)
    const basic = { authorization: `Bearer ${apiToken}`, 'x-api-key': apiKey, 'x-api-token': apiToken }
    expect((await it.api.as(basic).get('/operator/v1/accounts')).http).toBe(403)
  })

  test('opens no account: the merchant’s routes stay Forbidden', async () => {
    for (const path of ['/v1.1/balance', '/v1.1/sandbox/account', '/v1.1/transactions'])
      expect((await it.operator.get(path)).body).toEqual(FORBIDDEN)
  })
})

import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Reply } from '../../test/harness/api-client.ts'
import { checkoutBody, pay } from '../../test/harness/given.ts'
import { OPERATOR_TOKEN, testService } from '../../test/harness/test-service.ts'

const it = testService()
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const idOf = ({ headers }: Reply): string => String(headers['x-request-id'])
/** A line is written once the answer has left. */
const linesOf = async (requestId: string) => {
  await expect.poll(() => it.logged.some((line) => line['requestId'] === requestId), { interval: 2 }).toBe(true)
  return it.logged.filter((line) => line['requestId'] === requestId)
}

describe('x-request-id', () => {
  test.each(['a', 'order-7', randomUUID(), 'A.b:c@d=e+f/g_h-i', 'x'.repeat(128)])(
    'a sane one is given back: %s',
    async (id) => {
      const headers = { 'x-request-id': id }
      for (const path of ['/healthz', '/nope', '/v1.1/balance', '/v1.1/transactions/%zz'])
        expect(idOf(await it.api.get(path, { headers }))).toBe(id)
    },
  )

  test.each(['', ' ', 'a b', 'x'.repeat(129), '<script>', '"quoted"', 'a,b', 'é', '{}', 'a\tb'])(
    'another one is made when it is not sane: %j',
    async (id) => {
      const made = idOf(await it.api.get('/healthz', { headers: { 'x-request-id': id } }))
      expect(made).toMatch(uuid)
    },
  )

  test('every answer carries one, and no two requests share one that we made', async () => {
    const { api } = await it.given.account()
    const answers = [
      await it.api.get('/healthz'),
      await it.api.get('/metrics'),
      await it.api.get('/docs/'),
      await it.api.get('/nope'),
      await it.api.post('/healthz'),
      await it.api.get('/v1.1/balance'),
      await api.get('/v1.1/balance'),
      await api.put('/v1.1/sandbox/account', undefined, { raw: '{' }),
      await api.put('/v1.1/sandbox/account', undefined, { raw: Buffer.alloc(70_000) }),
      await api.get('/v1.1/transactions/%zz'),
      await it.api.get('/qr/x.png'),
    ]
    for (const answer of answers) expect(idOf(answer)).toMatch(uuid)
    expect(new Set(answers.map(idOf)).size).toBe(answers.length)
  })
})

describe('the log', () => {
  test('has one line a request, with its id, path without the query, status and account', async () => {
    const account = await it.given.account()
    const [{ id }] = (await it.rows<{ id: number }>('select id from account where uuid = $1', [account.id])) as [
      { id: number },
    ]
    const answer = await account.api.get('/v1.1/transactions?page=2&referenceCode=secret-order')
    expect(await linesOf(idOf(answer))).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        pid: expect.any(Number),
        requestId: idOf(answer),
        method: 'GET',
        path: '/v1.1/transactions',
        status: 200,
        ms: expect.any(Number),
        accountId: id,
      },
    ])
  })

  test.each([
    ['GET', '/nope', 404],
    ['DELETE', '/healthz', 405],
    ['GET', '/v1.1/balance', 403],
    ['GET', '/v1.1/transactions/%zz', 400],
    ['POST', '/v1.1/sandbox/register', 400],
    ['GET', '/healthz', 200],
  ])('%s %s leaves one line too, without an account', async (method, path, status) => {
    const answer = await it.api.send(method, path)
    const lines = await linesOf(idOf(answer))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ level: 30, method, path, status })
    expect(lines[0]).not.toHaveProperty('accountId')
  })

  test('never holds a secret or a person: everything is sent, then every line is searched', async () => {
    const password = 'password-never-logged'
    const person = { document: '39053344705', name: 'Nome Nunca Registrado', email: 'never@logged.example' }
    const made = await it.api.post('/v1.1/sandbox/register', { ...person, password })
    const { apiKey, apiToken, webhookSecret } = made.body.credentials
    const api = it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
    const account = { api, id: made.body.account.id, apiKey, apiToken, webhookSecret }

    const shopper = { ...person, document: { type: 'CPF', number: person.document } }
    const sale = await api.post('/v1.1/checkout/transparent', checkoutBody({ shopper }))
    await pay(account, sale.body.response, { payer: { name: person.name, document: person.document } })
    await api.put('/v1.1/account/notifications', { payment: { url: `https://user:${password}@shop.example` } })
    const rotated = await api.post('/v1.1/account/credentials/rotate')
    const signed = await api.post('/v1.1/account/webhook-secret/rotate')
    const recipient = await api.post('/v1.1/sandbox/recipients', { name: person.name, document: person.document })
    await api
      .as({ authorization: `Basic ${Buffer.from(`${apiKey}:${apiToken}`).toString('base64')}` })
      .get('/v1.1/balance')
    await api.put('/v1.1/sandbox/account', undefined, { raw: `{"password":"${password}"` })
    await it.operator.get('/operator/v1/accounts')
    await it.operator.post(`/operator/v1/accounts/${account.id}/credentials/rotate`)
    const last = await it.api.as({ 'x-api-token': apiToken, authorization: `Bearer ${OPERATOR_TOKEN}` }).get('/nope')
    await linesOf(idOf(last))

    const secrets = [
      apiToken,
      webhookSecret,
      rotated.body.credentials.apiToken,
      signed.body.webhookSecret,
      recipient.body.credentials.apiToken,
      recipient.body.credentials.webhookSecret,
      OPERATOR_TOKEN,
      password,
      ...Object.values(person),
      '***.533.447-**',
    ]
    const log = it.logged.map((line) => JSON.stringify(line)).join('\n')
    // The search would find them: what may be there is there.
    expect(log).toContain(`/operator/v1/accounts/${account.id}/credentials/rotate`)
    for (const secret of secrets) expect(log.includes(secret), secret).toBe(false)
  })
})

import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { apiClient, type Reply } from '../../test/harness/api-client.ts'
import { checkoutBody } from '../../test/harness/given.ts'
import { manualClock } from '../../test/harness/manual-clock.ts'
import { dropDatabase } from '../../test/harness/test-server.ts'
import { OPERATOR_TOKEN, startTestService } from '../../test/harness/test-service.ts'
import { readConfig } from '../config.ts'
import { systemRandomIds } from '../platform/random-ids.ts'
import { createService } from '../service.ts'

const OUR_FAULT = { status: -1, message: 'something went wrong on our side', errorCount: 0, errors: [] }
const AWAY = {
  status: -1,
  message: 'the service is not available right now: try again shortly',
  errorCount: 0,
  errors: [],
}

async function ownService(batches?: { queueMax: number }) {
  const own = await startTestService(batches ? { batches } : {})
  onTestFinished(() => own.stop())
  return own
}

/** A service whose PostgreSQL is not there at all. */
async function serviceWithoutDatabase() {
  const logged: string[] = []
  const service = await createService({
    config: readConfig({ PUBLIC_URL: 'http://pay.test' }),
    connection: { host: '/nowhere/at/all', database: 'quitado' },
    operatorToken: OPERATOR_TOKEN,
    encryptionKeys: [Buffer.alloc(32, 7)],
    clock: manualClock(),
    ids: systemRandomIds(),
    logger: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }),
  })
  onTestFinished(() => service.close())
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  return { api: apiClient((service.app.server.address() as AddressInfo).port), logged }
}

const tellsNothing = ({ text }: Reply) =>
  expect(text).not.toMatch(/book|balance|relation|column|select|\.ts|\bat \w+ |stack|ENOENT|socket|pg_/i)

describe('an error of our own', () => {
  test('is a 500 that tells nothing, and the log tells where', async () => {
    const own = await ownService()
    const account = await own.given.account()
    await own.rows('drop table book cascade')
    for (const answer of [
      await account.api.get('/v1.1/balance'),
      await account.api.get('/v1.1/sandbox/account'),
      await account.api.put('/v1.1/sandbox/account', { overdraftLimit: 1 }),
      await own.api.post('/v1.1/sandbox/register', { name: 'Loja', email: 'loja@example.com' }),
      await own.operator.get('/operator/v1/ledger/trial-balance'),
    ]) {
      expect([answer.http, answer.body]).toEqual([500, OUR_FAULT])
      tellsNothing(answer)
      const requestId = answer.headers['x-request-id']
      const error = own.logged.find((line) => line['requestId'] === requestId && line['level'] === 50)
      expect(error).toMatchObject({
        msg: 'a request failed',
        err: { code: '42P01', stack: expect.stringContaining('.ts:') },
      })
    }
    expect((await own.api.get('/readyz')).http).toBe(200)
  })

  test('in a checkout fails the checkout alone and leaves no sale', async () => {
    const own = await ownService()
    const account = await own.given.account()
    await own.rows('alter table sale_hour rename to sale_hour_gone')
    const answer = await account.api.post('/v1.1/checkout/transparent', checkoutBody())
    expect([answer.http, answer.body]).toEqual([500, OUR_FAULT])
    await own.rows('alter table sale_hour_gone rename to sale_hour')
    expect(await own.rows('select 1 from sale')).toEqual([])
    expect((await account.api.post('/v1.1/checkout/transparent', checkoutBody())).http).toBe(200)
  })

  test('is not kept for its Idempotency-Key: the same request may succeed later', async () => {
    const own = await ownService()
    const account = await own.given.account()
    const ask = () => account.api.put('/v1.1/sandbox/account', {}, { headers: { 'idempotency-key': 'key' } })
    await own.rows('alter table book rename to book_gone')
    expect((await ask()).http).toBe(500)
    await own.rows('alter table book_gone rename to book')
    const answer = await ask()
    expect([answer.http, answer.headers['idempotency-replayed']]).toEqual([200, undefined])
  })
})

describe('a database that is away', () => {
  test('makes requests a 503 with Retry-After, and nothing is told', async () => {
    const { api } = await serviceWithoutDatabase()
    const credentials = {
      'x-api-key': '11111111-1111-4111-8111-111111111111',
      'x-api-token': '22222222-2222-4222-8222-222222222222',
    }
    for (const answer of [
      await api.as(credentials).get('/v1.1/balance'),
      await api.get('/v1.1/balance'),
      await api.post('/v1.1/sandbox/register', { name: 'Loja', email: 'loja@example.com' }),
      await api.as({ authorization: `Bearer ${OPERATOR_TOKEN}` }).get('/operator/v1/accounts'),
    ]) {
      expect([answer.http, answer.body, answer.headers['retry-after']]).toEqual([503, AWAY, '1'])
      tellsNothing(answer)
    }
  })

  test('leaves the service alive and not ready; what needs no database is answered', async () => {
    const { api } = await serviceWithoutDatabase()
    expect((await api.get('/healthz')).http).toBe(200)
    const ready = await api.get('/readyz')
    expect([ready.http, ready.body]).toEqual([503, { status: -1, message: 'not ready', errorCount: 0, errors: [] }])
    expect((await api.get('/openapi.json')).http).toBe(200)
    expect((await api.get('/metrics')).http).toBe(200)
    expect((await api.get('/nope')).http).toBe(404)
  })

  test('that was dropped under a running service: not ready, alive, and no answer tells why', async () => {
    const own = await ownService()
    const account = await own.given.account()
    expect((await own.api.get('/readyz')).body).toEqual({ status: 0, message: 'success' })
    if (!('database' in own.connection)) return
    await dropDatabase(inject('server'), own.connection.database)
    expect((await own.api.get('/readyz')).http).toBe(503)
    expect((await own.api.get('/healthz')).http).toBe(200)
    const answer = await account.api.get('/v1.1/balance')
    expect(answer.http).toBeGreaterThanOrEqual(500)
    expect(answer.body).toMatchObject({ status: -1, errorCount: 0, errors: [] })
    tellsNothing(answer)
  })
})

describe('too many at once', () => {
  test('are told so before any effect: 503 with Retry-After', async () => {
    const own = await ownService({ queueMax: 0 })
    const account = await own.given.account()
    const answer = await account.api.post('/v1.1/checkout/transparent', checkoutBody())
    expect([answer.http, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(answer.body).toEqual({
      status: -1,
      message: 'too many requests at once: try again shortly',
      errorCount: 0,
      errors: [],
    })
    expect(await own.rows('select 1 from sale')).toEqual([])
  })

  test('are told so before anything else is looked at', async () => {
    const own = await ownService({ queueMax: 0 })
    const account = await own.given.account()
    const stranger = { headers: { 'x-api-token': 'wrong' } }
    expect((await account.api.post('/v1.1/checkout/transparent', checkoutBody(), stranger)).http).toBe(503)
    expect((await account.api.get('/v1.1/balance', stranger)).http).toBe(403)
  })

  test('are counted like any answer, and carry the id of their request', async () => {
    const own = await ownService({ queueMax: 0 })
    const account = await own.given.account()
    for (const path of [
      '/v1.1/checkout/transparent',
      '/v1.1/checkout/transparent?a=1',
      '/v1.1/checkout/transparent/',
    ]) {
      const refused = await account.api.post(path, checkoutBody(), { headers: { 'x-request-id': 'mine-1' } })
      expect([refused.http, refused.headers['x-request-id']], path).toEqual([503, 'mine-1'])
    }
    const { text } = await own.api.get('/metrics')
    expect(text).toContain(
      'quitado_http_request_seconds_count{method="POST",route="/v1.1/checkout/transparent",status="503"} 3',
    )
  })
})

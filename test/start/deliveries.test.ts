import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { type ApiClient, apiClient } from '../harness/api-client.ts'
import { checkoutBody } from '../harness/given.ts'
import { until } from '../harness/patience.ts'
import { cleanUp, later, newDatabaseUrl, newFolder, quitado } from '../harness/quitado-process.ts'
import { holdCalls, listenAt, startReceiver } from '../harness/receiver.ts'

afterEach(cleanUp)

async function receiving() {
  const receiver = await startReceiver()
  later(() => receiver.stop())
  return receiver
}

async function listening(port: number, url: string): Promise<ApiClient> {
  const { body } = await apiClient(port).post('/v1.1/sandbox/register', { name: 'Loja', email: 'loja@example.com' })
  const api = apiClient(port, { 'x-api-key': body.credentials.apiKey, 'x-api-token': body.credentials.apiToken })
  await listenAt({ api }, url)
  return api
}

async function paidSale(api: ApiClient): Promise<string> {
  const { uuid } = (await api.post('/v1.1/checkout/transparent', checkoutBody())).body.response
  expect((await api.post(`/v1.1/sandbox/sim/sale/${uuid}/paid`)).body.sale.situation).toBe('PAID')
  return uuid
}

/** Looks into the database, whoever runs on it. */
async function looking(url: string) {
  const client = new pg.Client(url)
  await client.connect()
  later(() => client.end())
  return async (sql: string) => (await client.query(sql)).rows
}
const ATTEMPTS = 'select number, status, failure, last from notification_attempt'
const QUEUE = 'select held, attempts from notification_queue'

describe('deliveries', () => {
  test('a stop lets a call on its way end and records it before it ends', async () => {
    const env = { DATABASE_URL: await newDatabaseUrl(), QUITADO_DATA: newFolder(), QUITADO_PROCESSES: '1' }
    const receiver = await receiving()
    const started = await quitado(env)
    const api = await listening(started.port, receiver.url)
    const held = holdCalls(receiver)
    const sale = await paidSale(api)
    await receiver.received(1)
    const rows = await looking(env.DATABASE_URL)
    expect(await rows(QUEUE)).toEqual([{ held: true, attempts: 0 }])
    started.signal('SIGTERM')
    // It takes no more connections, and still waits for the receiver.
    await until(() =>
      apiClient(started.port)
        .get('/healthz')
        .then(
          () => false,
          () => true,
        ),
    )
    expect(await rows(ATTEMPTS)).toEqual([])
    held.letGo()
    expect(await started.ended).toBe(0)
    expect(started.output()).not.toContain('was killed')
    expect(receiver.calls.map(({ body }) => body.saleToken)).toEqual([sale])
    expect(await rows(ATTEMPTS)).toEqual([{ number: 1, status: 'SUCCESS', failure: null, last: true }])
    expect(await rows(QUEUE)).toEqual([])
  })

  test('an api process leaves them to a worker', async () => {
    const env = { DATABASE_URL: await newDatabaseUrl(), QUITADO_DATA: newFolder(), QUITADO_PROCESSES: '1' }
    const receiver = await receiving()
    const started = await quitado({ ...env, QUITADO_ROLE: 'api' })
    const api = await listening(started.port, receiver.url)
    const sale = await paidSale(api)
    const rows = await looking(env.DATABASE_URL)
    expect(await rows(QUEUE)).toEqual([{ held: false, attempts: 0 }])
    expect(receiver.calls).toEqual([])
    await quitado({ ...env, QUITADO_ROLE: 'worker' })
    await receiver.received(1)
    await until(async () => (await rows(QUEUE)).length === 0)
    expect(receiver.calls.map(({ body }) => body.saleToken)).toEqual([sale])
    expect(await rows(ATTEMPTS)).toEqual([{ number: 1, status: 'SUCCESS', failure: null, last: true }])
  })
})

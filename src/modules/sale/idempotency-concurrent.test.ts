import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, apiClient, type Reply } from '../../../test/harness/api-client.ts'
import { checkoutBody, situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { OPERATOR_TOKEN, testService } from '../../../test/harness/test-service.ts'
import { statement } from '../../platform/database/database.ts'
import { systemRandomIds } from '../../platform/random-ids.ts'
import { type BatchSettings, createService } from '../../service.ts'

const it = testService()
const CHECKOUT = '/v1.1/checkout/transparent'
const SENT = 16

/** Another process of the service, on the same database. */
async function startAnother(batches: Partial<BatchSettings> = {}) {
  const service = await createService({
    config: it.config,
    connection: it.connection,
    operatorToken: OPERATOR_TOKEN,
    encryptionKeys: [Buffer.alloc(32, 7)],
    clock: it.clock,
    ids: systemRandomIds(),
    logger: pino({ level: 'silent' }),
    batches,
  })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = service.app.server.address() as AddressInfo
  return {
    close: () => service.close(),
    as: ({ apiKey, apiToken }: TestAccount): ApiClient =>
      apiClient(port, { 'x-api-key': apiKey, 'x-api-token': apiToken }),
  }
}

let second: Awaited<ReturnType<typeof startAnother>>
beforeAll(async () => {
  second = await startAnother()
})
afterAll(() => second.close())

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const salesOf = async (account: TestAccount): Promise<number> =>
  (await account.api.get('/v1.1/transactions')).body.totalElements

function expectOneAnswer(replies: readonly Reply[], http: number) {
  expect([...new Set(replies.map((reply) => reply.http))]).toEqual([http])
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1)
}

describe('many requests with one key at once', () => {
  test('give one sale and equal answers, in one process', async () => {
    const account = await it.given.account()
    const body = checkoutBody()
    const replies = await Promise.all(Array.from({ length: SENT }, () => account.api.post(CHECKOUT, body, keyed('k'))))
    expectOneAnswer(replies, 200)
    expect(await salesOf(account)).toBe(1)
  })

  test('give one sale and equal answers, through two processes', async () => {
    const account = await it.given.account()
    const other = second.as(account)
    const body = checkoutBody()
    const replies = await Promise.all(
      Array.from({ length: SENT }, (_, index) => (index % 2 ? account.api : other).post(CHECKOUT, body, keyed('k'))),
    )
    expectOneAnswer(replies, 200)
    expect(await salesOf(account)).toBe(1)
  })

  test('give one sale and equal answers also where references are unique', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    const other = second.as(account)
    const body = checkoutBody()
    const replies = await Promise.all(
      Array.from({ length: SENT }, (_, index) => (index % 2 ? account.api : other).post(CHECKOUT, body, keyed('k'))),
    )
    expectOneAnswer(replies, 200)
    expect(await salesOf(account)).toBe(1)
  })

  test('hear one refusal', async () => {
    const account = await it.given.account()
    const other = second.as(account)
    const body = checkoutBody({ amount: 0 })
    const replies = await Promise.all(
      Array.from({ length: SENT }, (_, index) => (index % 2 ? account.api : other).post(CHECKOUT, body, keyed('k'))),
    )
    expectOneAnswer(replies, 400)
  })

  test('with different bodies: one body wins, the others are a 422', async () => {
    const account = await it.given.account()
    const other = second.as(account)
    const replies = await Promise.all(
      Array.from({ length: SENT }, (_, index) =>
        (index % 2 ? account.api : other).post(CHECKOUT, checkoutBody({ amount: index + 1 }), keyed('k')),
      ),
    )
    expect(replies.map(({ http }) => http).sort()).toEqual([200, ...Array(SENT - 1).fill(422)])
    expect(await salesOf(account)).toBe(1)
  })

  test('cancel a sale once, through two processes', async () => {
    const account = await it.given.account()
    const other = second.as(account)
    const sale = await it.given.sale(account)
    const replies = await Promise.all(
      Array.from({ length: SENT }, (_, index) =>
        (index % 2 ? account.api : other).put(`/v1.1/transactions/${sale.uuid}/void`, undefined, keyed('k')),
      ),
    )
    expectOneAnswer(replies, 200)
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })
})

describe('a unique reference', () => {
  test('is given once through two processes, with a key for each request', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    const other = second.as(account)
    const body = checkoutBody()
    const replies = await Promise.all(
      Array.from({ length: SENT }, (_, index) =>
        (index % 2 ? account.api : other).post(CHECKOUT, body, keyed(`k${index}`)),
      ),
    )
    expect(replies.map(({ http }) => http).sort()).toEqual([200, ...Array(SENT - 1).fill(400)])
    expect(await salesOf(account)).toBe(1)
  })
})

describe('a request whose first one is still running', () => {
  const holdKey = statement(
    'test_hold_key',
    `insert into idempotency_key (account_id, key, request_hash, created_at)
     select id, $2, ''::bytea, '2026-11-16T15:00:00Z' from account where uuid = $1`,
  )

  test('waits a second and is a 409; nothing happened', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const cancel = () => account.api.put(`/v1.1/transactions/${sale.uuid}/void`, undefined, keyed('k'))
    const whileHeld = await it.service.db
      .inTransaction(async (tx) => {
        await tx.query(holdKey, [account.id, 'k'])
        const reply = await cancel()
        // The first one comes to nothing, so its key is free again.
        throw Object.assign(new Error('rolled back'), { reply })
      })
      .catch((failed: { reply: Reply }) => failed.reply)
    expect([whileHeld.http, whileHeld.body.errors]).toEqual([
      409,
      [{ field: 'Idempotency-Key', message: 'the first request is still running' }],
    ])
    expect(await situationOf(account, sale)).toBe('PENDING')
    expect((await cancel()).http).toBe(200)
  })
})

describe('our own fault under a key', () => {
  test('is not stored: the same request may succeed later', async () => {
    const account = await it.given.account()
    const crowded = await startAnother({ queueMax: 0 })
    const body = checkoutBody()
    const refused = await crowded.as(account).post(CHECKOUT, body, keyed('k'))
    await crowded.close()
    expect([refused.http, refused.headers['retry-after']]).toEqual([503, '1'])
    const later = await account.api.post(CHECKOUT, body, keyed('k'))
    expect([later.http, later.headers['idempotency-replayed']]).toEqual([200, undefined])
  })
})

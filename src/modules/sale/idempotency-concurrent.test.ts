import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient, Reply } from '../../../test/harness/api-client.ts'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import { checkoutBody, situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { waitingSql } from '../../../test/harness/patience.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { BatchSettings } from '../../batches.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { statement } from '../../platform/database/database.ts'
import { claimKey } from '../../platform/idempotency/idempotency.store.ts'

const it = testService()
const CHECKOUT = '/v1.1/checkout/transparent'
const SENT = 16

/** Another process of the service, as an account sees it. */
async function startAnother(batches: Partial<BatchSettings> = {}) {
  const service = await anotherService(it, { batches })
  return {
    close: () => service.close(),
    as: ({ apiKey, apiToken }: TestAccount): ApiClient =>
      service.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }),
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

  test('is a 409 for a checkout too, and the checkouts beside it do not wait', async () => {
    const [account, neighbour] = [await it.given.account(), await it.given.account()]
    const [row] = await it.rows<{ id: AccountId }>('select id from account where uuid = $1', [account.id])
    const first = { accountId: row!.id, key: 'k', requestHash: Buffer.alloc(32) }
    const order: string[] = []
    const answers = await it.service.db
      .inTransaction(async (tx) => {
        await claimKey(tx, first, it.clock.now())
        const held = account.api.post(CHECKOUT, checkoutBody(), keyed('k'))
        const beside = neighbour.api.post(CHECKOUT, checkoutBody(), keyed('k'))
        void held.then(() => order.push('held'))
        void beside.then(() => order.push('beside'))
        throw Object.assign(new Error('rolled back'), { answers: await Promise.all([held, beside]) })
      })
      .catch((failed: { answers: Reply[] }) => failed.answers)
    expect(answers.map(({ http }) => http)).toEqual([409, 200])
    expect(order).toEqual(['beside', 'held'])
    expect(await salesOf(account)).toBe(0)
  })

  test('is made after all when the first one comes to nothing', async () => {
    const account = await it.given.account()
    const [row] = await it.rows<{ id: AccountId }>('select id from account where uuid = $1', [account.id])
    const first = { accountId: row!.id, key: 'k', requestHash: Buffer.alloc(32) }
    let second: Promise<Reply> | undefined
    await it.service.db
      .inTransaction(async (tx) => {
        await claimKey(tx, first, it.clock.now())
        second = account.api.post(CHECKOUT, checkoutBody(), keyed('k'))
        // It waits for this very transaction.
        await expect.poll(waitsForKey, { interval: 5 }).toBe(true)
        throw new Error('rolled back')
      })
      .catch(() => {})
    expect((await second!).http).toBe(200)
    expect(await salesOf(account)).toBe(1)
  })
})

const waitsForKey = async (): Promise<boolean> =>
  (await it.rows(`${waitingSql} and wait_event = 'advisory'`)).length > 0

describe('two references that are one in a batch', () => {
  test('are no duplicate when the first of them comes to nothing', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    await account.api.post(CHECKOUT, checkoutBody(), keyed('used'))
    const body = checkoutBody()
    const [reused, fresh] = await Promise.all([
      account.api.post(CHECKOUT, body, keyed('used')),
      account.api.post(CHECKOUT, body),
    ])
    expect([reused!.http, fresh!.http]).toEqual([422, 200])
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

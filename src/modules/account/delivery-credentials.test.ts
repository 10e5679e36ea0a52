import { createHmac } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import type { ReceivedCall } from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { HOUR_MS } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { createDeliveryCredentials } from './delivery-credentials.ts'

const it = testService({ deliveries: true })
const { merchant, settle, toNextRetry } = merchants(it)

async function rotateToken(shop: TestAccount, overlapHours?: number): Promise<string> {
  const reply = await shop.api.post(
    '/v1.1/account/credentials/rotate',
    overlapHours === undefined ? {} : { overlapHours },
  )
  expect(reply.http, reply.text).toBe(200)
  return reply.body.credentials.apiToken
}
async function rotateSecret(shop: TestAccount, overlapHours?: number): Promise<string> {
  const reply = await shop.api.post(
    '/v1.1/account/webhook-secret/rotate',
    overlapHours === undefined ? {} : { overlapHours },
  )
  expect(reply.http, reply.text).toBe(200)
  return reply.body.webhookSecret
}
const withToken = (shop: Merchant, apiToken: string): Merchant => ({
  ...shop,
  api: shop.api.as({ 'x-api-token': apiToken }),
})
const use = async (shop: Merchant, apiToken: string) =>
  expect((await withToken(shop, apiToken).api.get('/v1.1/balance')).http).toBe(200)

/** Pays a sale made before the rotation, so that no credentials are used on the way. */
async function deliver(shop: Merchant, txids: readonly { txid: string; amount: number }[], index: number) {
  await it.service.door.apply([railPayment(it.clock, txids[index]!)])
  await settle()
  return shop.calls().at(-1)!
}
const tokenIn = (call: ReceivedCall, shop: TestAccount): string => {
  const [scheme, basic] = String(call.headers.authorization).split(' ')
  expect(scheme).toBe('Basic')
  const text = Buffer.from(basic!, 'base64').toString('utf8')
  expect(text.startsWith(`${shop.apiKey}:`)).toBe(true)
  return text.slice(shop.apiKey.length + 1)
}
/** What a receiver computes from what it received. */
const signatureBy = (secret: string, { headers, text }: ReceivedCall): string => {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

async function shopWithSales(count: number) {
  const shop = await merchant()
  const sales = []
  for (let index = 0; index < count; index += 1) sales.push(await it.given.sale(shop, { maxAge: 43_200 }))
  return { shop, sales }
}

describe('a delivery carries', () => {
  test('Basic authentication with the key and the token', async () => {
    const { shop, sales } = await shopWithSales(1)
    const call = await deliver(shop, sales, 0)
    expect(call.headers.authorization).toBe(
      `Basic ${Buffer.from(`${shop.apiKey}:${shop.apiToken}`).toString('base64')}`,
    )
  })

  test('a signature that the secret of the registration verifies', async () => {
    const { shop, sales } = await shopWithSales(1)
    const call = await deliver(shop, sales, 0)
    expect(call.headers['webhook-signature']).toBe(signatureBy(shop.webhookSecret, call))
    expect(call.headers['webhook-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(Number(call.headers['webhook-timestamp'])).toBe(Math.floor(it.clock.now() / 1000))
  })

  test('its own account’s, also when many accounts are called together', async () => {
    const shops = await Promise.all(Array.from({ length: 5 }, () => shopWithSales(1)))
    await it.service.door.apply(shops.map(({ sales }) => railPayment(it.clock, sales[0]!)))
    await settle()
    for (const { shop } of shops) {
      const [call] = shop.calls()
      expect(tokenIn(call!, shop)).toBe(shop.apiToken)
      expect(call!.headers['webhook-signature']).toBe(signatureBy(shop.webhookSecret, call!))
    }
  })
})

describe('after a rotation of the token a delivery carries', () => {
  test('the old one until the new one is first used', async () => {
    const { shop, sales } = await shopWithSales(4)
    const fresh = await rotateToken(shop)
    expect(tokenIn(await deliver(shop, sales, 0), shop)).toBe(shop.apiToken)
    // The old one still works, and its use says nothing of the new one.
    await use(shop, shop.apiToken)
    expect(tokenIn(await deliver(shop, sales, 1), shop)).toBe(shop.apiToken)
    await use(shop, fresh)
    expect(tokenIn(await deliver(shop, sales, 2), shop)).toBe(fresh)
    await use(shop, shop.apiToken)
    expect(tokenIn(await deliver(shop, sales, 3), shop)).toBe(fresh)
  })

  test.each([
    [undefined, 24],
    [1, 1],
    [24, 24],
  ])('the old one at the latest until it ends: overlapHours %s', async (overlapHours, hours) => {
    const { shop, sales } = await shopWithSales(2)
    const fresh = await rotateToken(shop, overlapHours)
    it.clock.advance(hours * HOUR_MS - 1)
    expect(tokenIn(await deliver(shop, sales, 0), shop)).toBe(shop.apiToken)
    it.clock.advance(1)
    expect(tokenIn(await deliver(shop, sales, 1), shop)).toBe(fresh)
  })

  test('the new one at once without an overlap', async () => {
    const { shop, sales } = await shopWithSales(1)
    const fresh = await rotateToken(shop, 0)
    expect(tokenIn(await deliver(shop, sales, 0), shop)).toBe(fresh)
  })

  test('the one of now on a retry, not the one of the first attempt', async () => {
    const { shop, sales } = await shopWithSales(1)
    shop.answer(500)
    await deliver(shop, sales, 0)
    const fresh = await rotateToken(shop, 0)
    toNextRetry()
    await settle()
    expect(shop.calls().map((call) => tokenIn(call, shop))).toEqual([shop.apiToken, fresh])
  })

  test('never the one before the last', async () => {
    const { shop, sales } = await shopWithSales(3)
    const second = await rotateToken(shop)
    const third = await rotateToken(withToken(shop, second))
    expect(tokenIn(await deliver(shop, sales, 0), shop)).toBe(second)
    await use(shop, third)
    expect(tokenIn(await deliver(shop, sales, 1), shop)).toBe(third)
  })

  test('what another process rotated', async () => {
    const { shop, sales } = await shopWithSales(2)
    expect(tokenIn(await deliver(shop, sales, 0), shop)).toBe(shop.apiToken)
    const other = await anotherService(it)
    onTestFinished(() => other.close())
    const there = { ...shop, api: other.api.as({ 'x-api-key': shop.apiKey, 'x-api-token': shop.apiToken }) }
    const fresh = await rotateToken(there, 0)
    expect(tokenIn(await deliver(shop, sales, 1), shop)).toBe(fresh)
  })
})

describe('after a rotation of the webhook secret a delivery carries', () => {
  const signatures = (call: ReceivedCall) => String(call.headers['webhook-signature']).split(' ')

  test.each([
    [undefined, 24],
    [1, 1],
  ])('both signatures, the new one first, until the overlap ends: overlapHours %s', async (overlapHours, hours) => {
    const { shop, sales } = await shopWithSales(3)
    const fresh = await rotateSecret(shop, overlapHours)
    const during = await deliver(shop, sales, 0)
    expect(signatures(during)).toEqual([signatureBy(fresh, during), signatureBy(shop.webhookSecret, during)])
    it.clock.advance(hours * HOUR_MS - 1)
    const last = await deliver(shop, sales, 1)
    expect(signatures(last)).toEqual([signatureBy(fresh, last), signatureBy(shop.webhookSecret, last)])
    it.clock.advance(1)
    const after = await deliver(shop, sales, 2)
    expect(signatures(after)).toEqual([signatureBy(fresh, after)])
  })

  test('the new one alone without an overlap', async () => {
    const { shop, sales } = await shopWithSales(1)
    const fresh = await rotateSecret(shop, 0)
    const call = await deliver(shop, sales, 0)
    expect(signatures(call)).toEqual([signatureBy(fresh, call)])
  })

  test('those of the last two after two rotations', async () => {
    const { shop, sales } = await shopWithSales(1)
    const [second, third] = [await rotateSecret(shop), await rotateSecret(shop)]
    const call = await deliver(shop, sales, 0)
    expect(signatures(call)).toEqual([signatureBy(third, call), signatureBy(second, call)])
  })

  test('both on a retry of what was first sent before, under the same id', async () => {
    const { shop, sales } = await shopWithSales(1)
    shop.answer(500)
    await deliver(shop, sales, 0)
    const fresh = await rotateSecret(shop)
    toNextRetry()
    await settle()
    const [first, retry] = shop.calls()
    expect(signatures(first!)).toEqual([signatureBy(shop.webhookSecret, first!)])
    expect(signatures(retry!)).toEqual([signatureBy(fresh, retry!), signatureBy(shop.webhookSecret, retry!)])
    expect(retry!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  })

  test('the same token: they rotate apart', async () => {
    const { shop, sales } = await shopWithSales(2)
    await rotateSecret(shop)
    expect(tokenIn(await deliver(shop, sales, 0), shop)).toBe(shop.apiToken)
    await rotateToken(shop, 0)
    expect(signatures(await deliver(shop, sales, 1))).toHaveLength(2)
  })
})

describe('the secrets in memory', () => {
  const numberOf = async ({ id }: TestAccount) =>
    (await it.rows<{ id: AccountId }>('select id from account where uuid = $1', [id]))[0]!.id

  const fail = (error: unknown) => {
    throw error
  }

  test('are the same object until something changes', async () => {
    const shop = await merchant()
    const id = await numberOf(shop)
    const credentials = createDeliveryCredentials(it.service.secrets)
    const find = async () => (await credentials.find(it.service.db, [id, id], it.clock.now(), fail)).get(id)
    const first = await find()
    expect(await find()).toBe(first)
    await shop.api.post('/v1.1/sandbox/clock/advance', { hours: 2 })
    const ahead = await find()
    expect([ahead!.clockOffsetMs, ahead!.authorization]).toEqual([2 * HOUR_MS, first!.authorization])
    await rotateSecret(shop)
    expect((await find())!.webhookSecrets).toHaveLength(2)
    it.clock.advance(24 * HOUR_MS)
    expect((await find())!.webhookSecrets).toHaveLength(1)
  })

  test('of an account that is not are not found', async () => {
    const credentials = createDeliveryCredentials(it.service.secrets)
    expect(await credentials.find(it.service.db, [999_999_999 as AccountId], it.clock.now(), fail)).toEqual(new Map())
  })
})

import { describe, expect, onTestFinished, test } from 'vitest'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import {
  cancelCharge,
  cancelMandate,
  chargePayment,
  collectionNews,
  mandateNews,
  railSays,
  recurrences,
  simulateCollection,
  simulateRecurrence,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS } from '../../kernel/calendar.ts'
import type { Transaction } from '../../platform/database/database.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)

type Attempt = { eventType: string; status: string; request: { payload: string } }
/** Oldest first; those of one millisecond in no order that counts. */
async function attemptsOf(shop: Merchant, uuid: string, query = ''): Promise<Attempt[]> {
  const { http, body, text } = await shop.api.get(`/v1.1/transactions/${uuid}/webhook${query}`)
  expect([http, body.status], text).toEqual([200, 0])
  return body.notifications.reverse()
}
const namesOf = (attempts: readonly { eventType: string }[]) =>
  attempts.map(({ eventType }) => eventType.replace('RECURRENCE_', '')).toSorted()
const redeliver = (shop: Merchant, uuid: string) => shop.api.post(`/v1.1/transactions/${uuid}/webhook/redeliver`)

/** A mandate with a charge that failed, was retried and is paid, and another one at the payer's bank; each told at another time. */
async function twoCharges() {
  const shop = await merchant()
  // What is on its way arrives first: a clock that jumps ends its lease.
  const step = async (ms = 1_000) => {
    await settle()
    it.clock.advance(ms)
  }
  const first = await given.scheduledCharge(shop, {
    plan: { ...withRetries.plan, frequency: 'WEEKLY' },
    recurrence: withRetries.recurrence!,
    inDays: 4,
  })
  await step()
  await railSays(it, collectionNews(first, 'FAILED', { code: 'AM04' }))
  await step()
  await simulateCollection(shop, first.instructionId, 'retry')
  await step()
  await railSays(it, chargePayment(it, first))
  // The second one is due in ten days then.
  await step(DAY_MS)
  const { collections } = (await simulateRecurrence(shop, first.mandate, 'run-due')).body
  await settle()
  return { shop, mandate: first.mandate, first: first.sale.uuid, second: collections[0].saleToken as string }
}
const ofFirst = ['CHARGE_FAILED', 'CHARGE_PAID', 'CHARGE_SCHEDULED', 'CHARGE_SCHEDULED']

describe('news of a recurrence', () => {
  test('is found under the checkout, that of a charge under its sale too', async () => {
    const { shop, mandate, first, second } = await twoCharges()
    const all = await attemptsOf(shop, mandate.uuid)
    expect(namesOf(all)).toEqual(['AUTHORIZED', ...ofFirst, 'CHARGE_SCHEDULED'])
    expect(namesOf(await attemptsOf(shop, first))).toEqual(ofFirst)
    expect(namesOf(await attemptsOf(shop, second))).toEqual(['CHARGE_SCHEDULED'])
    for (const [uuid, attempts] of [
      [first, await attemptsOf(shop, first)],
      [second, await attemptsOf(shop, second)],
    ] as const)
      for (const { request } of attempts) expect(JSON.parse(request.payload).saleToken).toBe(uuid)
    expect(
      shop
        .calls()
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(all.map(({ request }) => request.payload).toSorted())
  })

  test('is found by the name of its event', async () => {
    const { shop, mandate, first } = await twoCharges()
    const failed = '?eventType=RECURRENCE_CHARGE_FAILED'
    expect(namesOf(await attemptsOf(shop, mandate.uuid, failed))).toEqual(['CHARGE_FAILED'])
    expect(namesOf(await attemptsOf(shop, first, failed))).toEqual(['CHARGE_FAILED'])
    expect(await attemptsOf(shop, first, '?eventType=RECURRENCE_AUTHORIZED')).toEqual([])
    expect(await attemptsOf(shop, mandate.uuid, '?eventType=PAYMENT_CONFIRMATION')).toEqual([])
    const wrong = await shop.api.get(`/v1.1/transactions/${first}/webhook?eventType=RECURRENCE_PAID`)
    expect([wrong.http, wrong.body.errors]).toEqual([400, [{ field: 'eventType', message: 'invalid value' }]])
  })

  test('is listed under the uuid of the checkout, each once', async () => {
    const { shop, mandate } = await twoCharges()
    const { body } = await shop.api.get('/v1.1/notifications')
    expect(body.totalElements).toBe(6)
    expect(namesOf(body.result)).toEqual(['AUTHORIZED', ...ofFirst, 'CHARGE_SCHEDULED'])
    for (const one of body.result)
      expect(one).toMatchObject({ transactionUUID: mandate.uuid, state: 'DELIVERED', attempts: 1, endpoint: shop.hook })
    const paid = (await shop.api.get('/v1.1/notifications?eventType=RECURRENCE_CHARGE_PAID')).body
    expect([paid.totalElements, paid.result[0].eventType]).toEqual([1, 'RECURRENCE_CHARGE_PAID'])
  })

  test('is nobody else’s', async () => {
    const { mandate, first } = await twoCharges()
    const other = await merchant()
    for (const uuid of [mandate.uuid, first]) {
      expect((await other.api.get(`/v1.1/transactions/${uuid}/webhook`)).http).toBe(404)
      expect((await redeliver(other, uuid)).http).toBe(404)
    }
    expect((await other.api.get('/v1.1/notifications')).body.totalElements).toBe(0)
  })
})

describe('news that is sent again', () => {
  const calledWith = (shop: Merchant) =>
    shop.calls().map(({ headers, text, body }) => ({
      id: headers['webhook-id'],
      text,
      name: body.eventType.replace('RECURRENCE_', ''),
      sale: body.saleToken,
    }))

  test('is the last of the checkout, or of the charge’s sale, to the byte', async () => {
    const { shop, mandate, first, second } = await twoCharges()
    const before = calledWith(shop)
    const expected = [
      [mandate.uuid, 'CHARGE_SCHEDULED', second],
      [first, 'CHARGE_PAID', first],
      [second, 'CHARGE_SCHEDULED', second],
    ] as const
    for (const [uuid, name, sale] of expected) {
      const { http, body } = await redeliver(shop, uuid)
      expect([http, body]).toEqual([202, { status: 0, message: 'success', queued: 1 }])
      await settle()
      const again = calledWith(shop).at(-1)!
      expect([again.name, again.sale]).toEqual([name, sale])
      expect(before).toContainEqual(again)
    }
    expect(shop.calls()).toHaveLength(before.length + 3)
    expect(await attemptsOf(shop, first)).toHaveLength(ofFirst.length + 1)
  })

  test('by GET as well, and says what it said then whatever has changed since', async () => {
    const shop = await merchant()
    const mandate = await given.approvedMandate(shop)
    await settle()
    await shop.api.put(`/v1.1/pix-automatic/plans/${mandate.planId}`, { description: 'Outra coisa' })
    expect((await shop.api.get(`/v1.1/transactions/${mandate.uuid}/webhook/redeliver`)).http).toBe(202)
    await settle()
    const [first, again] = calledWith(shop)
    expect(again).toEqual(first)
  })

  test('is many at once, by the name of the event', async () => {
    const { shop } = await twoCharges()
    const before = shop.calls().length
    const body = { eventType: 'RECURRENCE_CHARGE_SCHEDULED' }
    expect((await shop.api.post('/v1.1/notifications/redeliver', body)).body.queued).toBe(3)
    await settle()
    expect(
      new Set(
        calledWith(shop)
          .slice(before)
          .map(({ name }) => name),
      ),
    ).toEqual(new Set(['CHARGE_SCHEDULED']))
    expect(shop.calls()).toHaveLength(before + 3)
  })

  test('is nothing where nothing was told', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    const { http, body } = await redeliver(shop, mandate.uuid)
    expect([http, body.status, body.errors[0].field]).toEqual([404, 998, 'transactionUUID'])
  })
})

describe('where news goes', () => {
  test('the callbackURL of the checkout, before the account’s, for every event', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop, { checkout: { callbackURL: `${shop.hook}/own?a=1` } })
    await shop.api.post(`/v1.1/pix-automatic/sandbox/sim/recurrence/${mandate.idRec}/scenario/approve-and-settle`)
    await settle()
    expect(shop.calls()).toHaveLength(4)
    for (const { url } of shop.calls()) expect(url).toMatch(/^\/[0-9a-f-]+\/own\?a=1$/)
  })

  test('the address of payments, with nothing added to it, also when all others are off', async () => {
    const shop = await merchant((hook) => ({ payment: { url: hook }, reversal: { enabled: false, url: hook } }))
    const mandate = await given.approvedMandate(shop)
    await settle()
    expect(shop.calls().map(({ url, body }) => [url.includes('?'), body.idRec])).toEqual([[false, mandate.idRec]])
  })

  test('nowhere without an address: nothing is kept to be told', async () => {
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'PAID')
    await cancelMandate(account, charge.mandate)
    expect((await account.api.get('/v1.1/notifications')).body.totalElements).toBe(0)
  })

  test('to whom is told again until he listens: the next news waits for the first attempt only', async () => {
    const shop = await merchant()
    shop.answer(500)
    const mandate = await given.mandate(shop)
    await railSays(it, mandateNews(mandate, 'APPROVED'), mandateNews(mandate, 'CANCELLED'))
    await settle()
    expect(shop.calls().map(({ body }) => body.eventType)).toEqual(['RECURRENCE_AUTHORIZED', 'RECURRENCE_CANCELLED'])
    const { body } = await shop.api.get('/v1.1/notifications')
    expect(body.result.map(({ state, attempts }: { state: string; attempts: number }) => [state, attempts])).toEqual([
      ['PENDING', 1],
      ['PENDING', 1],
    ])
  })
})

test('the dispatcher hears of news after the commit, never before', async () => {
  const shop = await merchant()
  const [mandate, charge, voided] = [
    await given.mandate(shop),
    await given.scheduledCharge(shop),
    await given.scheduledCharge(shop),
  ]
  await settle()
  const { db, deliveries } = it.service
  const { inTransaction } = db
  const { written } = deliveries
  onTestFinished(() => {
    Object.assign(db, { inTransaction })
    Object.assign(deliveries, { written })
  })
  const order: string[] = []
  db.inTransaction = async <Value>(work: (tx: Transaction) => Promise<Value>) =>
    inTransaction(async (tx) => {
      const value = await work(tx)
      order.push('decided')
      return value
    })
  Object.assign(deliveries, {
    written(...args: Parameters<typeof written>) {
      order.push('told')
      written(...args)
    },
  })
  expect((await cancelMandate(shop, mandate)).http).toBe(200)
  expect((await cancelCharge(shop, charge)).http).toBe(200)
  expect((await shop.api.put(`/v1.1/transactions/${voided.sale.uuid}/void`)).http).toBe(200)
  expect(order).toEqual(['decided', 'told', 'decided', 'told', 'decided', 'told'])
})

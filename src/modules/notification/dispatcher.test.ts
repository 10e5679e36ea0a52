import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dispatcherBeside, heldOutgoing } from '../../../test/harness/dispatcher-beside.ts'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import {
  attemptsOf,
  listenAt,
  notificationsOf,
  type ReceivedCall,
  type Receiver,
  startReceiver,
} from '../../../test/harness/receiver.ts'
import { type TestService, testService } from '../../../test/harness/test-service.ts'

let receiver: Receiver
let elsewhere: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  elsewhere = await startReceiver()
})
beforeEach(() => {
  for (const one of [receiver, elsewhere]) {
    one.calls.length = 0
    one.answer(200)
  }
})
afterAll(() => Promise.all([receiver.stop(), elsewhere.stop()]))

const waitingFor = async (it: TestService, sale: TestSale) =>
  (
    await it.rows<{ due_at: number; attempts: number; attempts_left: number; held: boolean }>(
      'select due_at, attempts, attempts_left, held from notification_queue where resource_id = $1',
      [sale.uuid],
    )
  )[0]

const statusesOf = async (account: TestAccount, sale: TestSale) =>
  (await attemptsOf(account, sale)).map((attempt: { status: string }) => attempt.status)

const isSignedBy = ({ webhookSecret }: TestAccount, { headers, text }: ReceivedCall): boolean => {
  const key = Buffer.from(webhookSecret.replace('whsec_', ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

describe('a series', () => {
  const it = testService({ deliveries: true })

  test('that always fails is six attempts, each 60 to 63 seconds after the start of the one before', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    // A call takes a while: the next one is counted from its start all the same.
    receiver.answer((reply) => {
      it.clock.advance(7_000)
      reply.writeHead(500).end()
    })
    const sale = await it.given.sale(account)
    const started: number[] = [it.clock.now()]
    await pay(account, sale)
    await it.deliver()
    for (let made = 1; made < 6; made += 1) {
      expect(receiver.calls).toHaveLength(made)
      const waiting = (await waitingFor(it, sale))!
      expect(waiting).toMatchObject({ attempts: made, attempts_left: 6 - made, held: false })
      const pause = waiting.due_at - started.at(-1)!
      expect(pause).toBeGreaterThanOrEqual(60_000)
      expect(pause).toBeLessThanOrEqual(63_000)
      it.clock.advance(waiting.due_at - it.clock.now() - 1)
      await it.deliver()
      expect(receiver.calls).toHaveLength(made)
      it.clock.advance(1)
      started.push(it.clock.now())
      await it.deliver()
    }
    expect(receiver.calls).toHaveLength(6)
    expect(await waitingFor(it, sale)).toBeUndefined()
    expect(await notificationsOf(account)).toMatchObject([{ state: 'FAILED', attempts: 6 }])
    const dates = (await attemptsOf(account, sale)).map(({ date }: { date: string }) => Date.parse(`${date}-03:00`))
    expect(dates.reverse()).toEqual(started.map((at) => Math.floor(at / 1000) * 1000))
    it.clock.advance(86_400_000)
    await it.deliver()
    expect(receiver.calls).toHaveLength(6)
  })

  test.each([1, 2, 3, 4, 5, 6])('ends with its first success: attempt %i', async (success) => {
    const account = await listenAt(await it.given.account(), receiver.url)
    receiver.answer((reply) => void reply.writeHead(receiver.calls.length === success ? 200 : 404).end())
    const sale = await it.given.paidSale(account)
    for (let round = 1; round <= 7; round += 1) {
      await it.deliver()
      it.clock.advance(63_000)
    }
    expect(receiver.calls).toHaveLength(success)
    expect(await waitingFor(it, sale)).toBeUndefined()
    expect(await statusesOf(account, sale)).toEqual([
      'SUCCESS',
      ...Array(success - 1).fill('HTTP_STATUS_NOT_EQUALS_200'),
    ])
    expect(await notificationsOf(account)).toMatchObject([{ state: 'DELIVERED', attempts: success }])
  })

  test('sends the same bytes under the same id; only the timestamp and its signature are fresh', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    receiver.answer((reply) => void reply.writeHead(receiver.calls.length === 3 ? 200 : 500).end())
    const sale = await it.given.paidSale(account, { amount: 12.34, shopper: { ...shopperWithAccents } })
    const startedAt: number[] = []
    for (let round = 1; round <= 3; round += 1) {
      startedAt.push(it.clock.now())
      await it.deliver()
      it.clock.advance(64_000)
    }
    const [first, second, third] = receiver.calls as [ReceivedCall, ReceivedCall, ReceivedCall]
    expect([second.text, third.text]).toEqual([first.text, first.text])
    expect(first.body).toMatchObject({ saleToken: sale.uuid, amount: 12.34, newStatus: 'PAID' })
    const [notification] = await notificationsOf(account)
    const calls = [first, second, third]
    expect(calls.map(({ headers }) => headers['webhook-id'])).toEqual(Array(3).fill(notification.id))
    expect(calls.map(({ headers }) => headers['webhook-timestamp'])).toEqual(
      startedAt.map((at) => String(Math.floor(at / 1000))),
    )
    expect(new Set(calls.map(({ headers }) => headers['webhook-signature'])).size).toBe(3)
    expect(calls.every((call) => isSignedBy(account, call))).toBe(true)
    const attempts = await attemptsOf(account, sale)
    expect(attempts.map((attempt: { request: { payload: string } }) => attempt.request.payload)).toEqual(
      Array(3).fill(first.text),
    )
  })

  test('goes on by itself: nobody needs to ask for what has become due', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    receiver.answer((reply) => void reply.writeHead(receiver.calls.length === 1 ? 500 : 200).end())
    await it.given.paidSale(account)
    await it.deliver()
    expect(receiver.calls).toHaveLength(1)
    it.clock.advance(63_000)
    await receiver.received(2)
    await it.service.deliveries.idle()
    expect(await notificationsOf(account)).toMatchObject([{ state: 'DELIVERED', attempts: 2 }])
  })

  test('of one sale leaves the others alone', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    const [failing, fine] = [await it.given.sale(account), await it.given.sale(account)]
    receiver.answer((reply, { body }) => void reply.writeHead(body.saleToken === failing.uuid ? 500 : 200).end())
    await pay(account, failing)
    await pay(account, fine)
    for (let round = 1; round <= 6; round += 1) {
      await it.deliver()
      it.clock.advance(63_000)
    }
    expect(await statusesOf(account, fine)).toEqual(['SUCCESS'])
    expect(await statusesOf(account, failing)).toHaveLength(6)
  })
})

const shopperWithAccents = {
  name: 'João "Zé" D’Ávila \\ 😀',
  email: 'joao@example.com',
  document: { type: 'CPF', number: '52998224725' },
  phone: { type: 'MOBILE', number: '11987654321' },
}

describe('the address', () => {
  const it = testService({ deliveries: true })

  test('is the charge’s own, before the account’s', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    const callbackURL = `${elsewhere.url}/own?order=1`
    const own = await it.given.paidSale(account, { callbackURL })
    const plain = await it.given.paidSale(account)
    await it.deliver()
    expect(elsewhere.calls.map(({ url, body }) => [url, body.saleToken])).toEqual([['/own?order=1', own.uuid]])
    expect(receiver.calls.map(({ body }) => body.saleToken)).toEqual([plain.uuid])
    expect(await attemptsOf(account, own)).toMatchObject([{ endpoint: callbackURL, status: 'SUCCESS' }])
    expect(await attemptsOf(account, plain)).toMatchObject([{ endpoint: receiver.url, status: 'SUCCESS' }])
  })

  test('is the charge’s own also where the account has none', async () => {
    const account = await it.given.account()
    await it.given.paidSale(account, { callbackURL: `${elsewhere.url}/own` })
    await it.deliver()
    expect(elsewhere.calls).toHaveLength(1)
  })

  test('of a reversal is the account’s, never the charge’s', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    const sale = await it.given.paidSale(account, { callbackURL: `${elsewhere.url}/own` })
    await pay(account, sale)
    await receiver.received(1)
    expect(receiver.calls[0]!.url).toBe('/?reversing=true&type=reversing')
    await it.deliver()
    expect(elsewhere.calls).toHaveLength(1)
  })

  test.each(['another', 'none'])('stays as it was for retries, when the account has %s meanwhile', async (what) => {
    const account = await listenAt(await it.given.account(), `${receiver.url}/old`)
    receiver.answer((reply) => void reply.writeHead(receiver.calls.length < 3 ? 500 : 200).end())
    const sale = await it.given.paidSale(account)
    await it.deliver()
    const url = what === 'none' ? null : elsewhere.url
    await account.api.put('/v1.1/account/notifications', { payment: { url } })
    for (let round = 1; round <= 2; round += 1) {
      it.clock.advance(63_000)
      await it.deliver()
    }
    expect(receiver.calls.map(({ url: called }) => called)).toEqual(['/old', '/old', '/old'])
    expect(elsewhere.calls).toEqual([])
    const endpoints = (await attemptsOf(account, sale)).map(({ endpoint }: { endpoint: string }) => endpoint)
    expect(endpoints).toEqual(Array(3).fill(`${receiver.url}/old`))
  })

  test('without one nobody is told, and nothing waits', async () => {
    const account = await it.given.account()
    const sale = await it.given.paidSale(account)
    await pay(account, sale)
    await it.deliver()
    expect(await notificationsOf(account)).toEqual([])
    expect(await attemptsOf(account, sale)).toEqual([])
  })
})

describe('the pause between attempts', () => {
  const it = testService({ deliveries: true, env: { QUITADO_WEBHOOK_RETRY_SECONDS: '10' } })

  test('is QUITADO_WEBHOOK_RETRY_SECONDS, and up to a twentieth more', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    receiver.answer(500)
    const sale = await it.given.paidSale(account)
    await it.deliver()
    const pause = (await waitingFor(it, sale))!.due_at - it.clock.now()
    expect(pause).toBeGreaterThanOrEqual(10_000)
    expect(pause).toBeLessThanOrEqual(10_500)
    it.clock.advance(9_999)
    await it.deliver()
    expect(receiver.calls).toHaveLength(1)
    it.clock.advance(501)
    await it.deliver()
    expect(receiver.calls).toHaveLength(2)
  })

  test('differs between receivers that failed together', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    receiver.answer(500)
    const sales = await Promise.all(Array.from({ length: 20 }, () => it.given.sale(account)))
    await Promise.all(sales.map((sale) => pay(account, sale)))
    await it.deliver()
    const due = await Promise.all(sales.map(async (sale) => (await waitingFor(it, sale))!.due_at))
    expect(new Set(due).size).toBeGreaterThan(10)
  })
})

describe('the share that chance has in it', () => {
  const it = testService()

  test.each([
    [0, 60_000],
    [0.5, 61_500],
    [1, 63_000],
  ])('%d: the next attempt is due after %i ms', async (chance, pause) => {
    const account = await listenAt(await it.given.account(), receiver.url)
    const sale = await it.given.paidSale(account)
    const outgoing = heldOutgoing()
    const dispatcher = dispatcherBeside(it, { outgoing, jitter: () => chance })
    await dispatcher.look()
    await outgoing.posted(1)
    outgoing.posts[0]!.answer({ status: 500 })
    await dispatcher.idle()
    expect((await waitingFor(it, sale))!.due_at).toBe(it.clock.now() + pause)
  })
})

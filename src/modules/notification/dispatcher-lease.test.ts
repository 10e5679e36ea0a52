import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  type DispatcherBeside,
  dispatcherBeside,
  heldOutgoing,
  setLeftoversAside,
} from '../../../test/harness/dispatcher-beside.ts'
import { anotherService, loseConnection, onStatement } from '../../../test/harness/faulty-database.ts'
import type { TestAccount, TestSale } from '../../../test/harness/given.ts'
import { attemptsOf, listenAt, notificationsOf, type Receiver, startReceiver } from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'

// This process delivers nothing itself: its rows are due at once, for whichever dispatcher the test starts.
const it = testService()
const TIMEOUT_MS = 10_000
const LEASE_MS = TIMEOUT_MS + 20_000

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
beforeEach(async () => {
  receiver.calls.length = 0
  receiver.answer(200)
  await setLeftoversAside(it)
})
afterAll(() => receiver.stop())

async function paidSale(): Promise<{ account: TestAccount; sale: TestSale }> {
  const account = await listenAt(await it.given.account(), receiver.url)
  return { account, sale: await it.given.paidSale(account) }
}

const waitingFor = async (sale: TestSale) =>
  (
    await it.rows<{ due_at: number; held: boolean; claims: number; attempts: number; attempts_left: number }>(
      'select due_at, held, claims, attempts, attempts_left from notification_queue where resource_id = $1',
      [sale.uuid],
    )
  )[0]

const kept = async (sale: TestSale) =>
  (
    await it.rows<{ number: number; status: string; failure: string | null; last: boolean }>(
      `select a.number, a.status, a.failure, a.last from notification n
       join notification_attempt a on a.account_id = n.account_id and a.notification_id = n.id
       where n.resource_id = $1 order by a.number`,
      [sale.uuid],
    )
  ).map(({ number, status, failure, last }) => `${number} ${failure ?? status}${last ? ', the last' : ''}`)

/** It no longer looks for work; the calls that it made may still return. */
const die = ({ db }: DispatcherBeside) =>
  onStatement(
    db,
    'notification_due_accounts',
    {
      before: () => {
        throw new Error('this process is dead')
      },
    },
    Number.POSITIVE_INFINITY,
  )

/** A dispatcher that has started the call and will not hear of it again, unless the test answers. */
async function diesInTheCall() {
  const outgoing = heldOutgoing()
  const dispatcher = dispatcherBeside(it, { outgoing, timeoutMs: TIMEOUT_MS })
  await dispatcher.look()
  await outgoing.posted(1)
  die(dispatcher)
  return { dispatcher, call: outgoing.posts[0]! }
}

describe('two processes on one database', () => {
  test('call each notification once', async () => {
    const account = await listenAt(await it.given.account(), receiver.url)
    const sales = await Promise.all(Array.from({ length: 150 }, () => it.given.paidSale(account)))
    const services = [await anotherService(it), await anotherService(it)]
    onTestFinished(async () => {
      for (const service of services) await service.close()
    })
    // Both are about to claim before either has.
    let arrived = 0
    let meet = () => {}
    const met = new Promise<void>((done) => {
      meet = done
    })
    for (const { db } of services)
      onStatement(db, 'notification_claim', {
        before: () => {
          arrived += 1
          if (arrived === 2) meet()
          return met
        },
      })
    for (const { deliveries } of services) deliveries.start()
    await receiver.received(sales.length)
    for (const { deliveries } of services) await deliveries.idle()
    expect(await it.rows('select 1 from notification_queue where attempts = 0')).toEqual([])
    const told = receiver.calls.map(({ body }) => body.saleToken)
    expect(told.sort()).toEqual(sales.map(({ uuid }) => uuid).sort())
    expect((await notificationsOf(account)).every((one: { attempts: number }) => one.attempts === 1)).toBe(true)
  })

  test('a lease keeps others away until it lapses, and its holder may answer until then', async () => {
    const { account, sale } = await paidSale()
    const { dispatcher, call } = await diesInTheCall()
    const began = it.clock.now()
    expect(await waitingFor(sale)).toMatchObject({ held: true, due_at: began + LEASE_MS, claims: 2, attempts: 0 })
    it.clock.advance(LEASE_MS - 1)
    await dispatcherBeside(it).deliver()
    expect(receiver.calls).toHaveLength(0)
    call.answer({ status: 200 })
    await dispatcher.idle()
    expect(await kept(sale)).toEqual(['1 SUCCESS, the last'])
    expect(await notificationsOf(account)).toMatchObject([{ state: 'DELIVERED' }])
  })
})

describe('a process that dies in the middle of a call', () => {
  test('its call counts as lost, and another process calls at once', async () => {
    const { account, sale } = await paidSale()
    // A day ahead, so that the date of the lost call is seen to be account time.
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 1 })
    const began = it.clock.now()
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    await dispatcherBeside(it, { timeoutMs: TIMEOUT_MS }).deliver()
    expect(receiver.calls).toHaveLength(1)
    expect(await kept(sale)).toEqual(['1 lost', '2 SUCCESS, the last'])
    const [success, lost] = await attemptsOf(account, sale)
    const wire = (at: number) => new Date(at + 86_400_000 - 3 * 3_600_000).toISOString().replace('T', ' ').slice(0, 19)
    expect(lost).toEqual({
      date: wire(began),
      endpoint: receiver.url,
      eventType: 'PAYMENT_CONFIRMATION',
      status: 'HTTP_REQUEST_TIMEOUT',
      responseCode: 0,
      request: { headers: {}, payload: receiver.calls[0]!.text },
      response: { headers: {}, body: '' },
    })
    expect(success).toMatchObject({ date: wire(began + LEASE_MS), status: 'SUCCESS' })
    expect(await notificationsOf(account)).toMatchObject([{ state: 'DELIVERED', attempts: 2 }])
  })

  test.each(['SUCCESS', 'a failure'])('its late result is dropped: %s', async (what) => {
    const { sale } = await paidSale()
    const { dispatcher, call } = await diesInTheCall()
    it.clock.advance(LEASE_MS)
    receiver.answer(500)
    await dispatcherBeside(it).deliver()
    const before = await waitingFor(sale)
    call.answer(what === 'SUCCESS' ? { status: 200 } : { status: 0, failure: 'timeout' })
    await dispatcher.idle()
    expect(dispatcher.inFlight()).toBe(0)
    expect(await kept(sale)).toEqual(['1 lost', '2 HTTP_STATUS_NOT_EQUALS_200'])
    expect(await waitingFor(sale)).toEqual(before)
  })

  test('its late result is dropped also while the other one’s call is on its way', async () => {
    const { sale } = await paidSale()
    const { dispatcher, call } = await diesInTheCall()
    it.clock.advance(LEASE_MS)
    const outgoing = heldOutgoing()
    const other = dispatcherBeside(it, { outgoing })
    await other.look()
    await outgoing.posted(1)
    const before = await waitingFor(sale)
    expect(before).toMatchObject({ held: true, claims: 3, attempts: 1, attempts_left: 5 })
    call.answer({ status: 200 })
    await dispatcher.idle()
    expect(await kept(sale)).toEqual(['1 lost'])
    expect(await waitingFor(sale)).toEqual(before)
    outgoing.posts[0]!.answer({ status: 503 })
    await other.idle()
    expect(await kept(sale)).toEqual(['1 lost', '2 HTTP_STATUS_NOT_EQUALS_200'])
  })

  test('its late result is dropped also when the other one has not yet recorded it as lost', async () => {
    const { sale } = await paidSale()
    const { dispatcher, call } = await diesInTheCall()
    it.clock.advance(LEASE_MS)
    const other = dispatcherBeside(it)
    let reached = () => {}
    const arrived = new Promise<void>((done) => {
      reached = done
    })
    onStatement(other.db, 'notification_record', {
      before: async () => {
        call.answer({ status: 200 })
        await dispatcher.idle()
        reached()
      },
    })
    await arrived
    await receiver.received(1)
    await other.idle()
    expect(await kept(sale)).toEqual(['1 lost', '2 SUCCESS, the last'])
  })

  test('and then the next one, too: each lost call counts', async () => {
    const { sale } = await paidSale()
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    await diesInTheCall()
    expect(await waitingFor(sale)).toMatchObject({ claims: 3, attempts: 1, attempts_left: 5 })
    it.clock.advance(LEASE_MS)
    await dispatcherBeside(it).deliver()
    expect(await kept(sale)).toEqual(['1 lost', '2 lost', '3 SUCCESS, the last'])
  })

  test('a series with a lost call has six attempts in all', async () => {
    const { account, sale } = await paidSale()
    receiver.answer(500)
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    const dispatcher = dispatcherBeside(it)
    for (let round = 1; round <= 6; round += 1) {
      await dispatcher.deliver()
      it.clock.advance(60_000)
    }
    expect(receiver.calls).toHaveLength(5)
    expect(await kept(sale)).toEqual([
      '1 lost',
      ...[2, 3, 4, 5].map((number) => `${number} HTTP_STATUS_NOT_EQUALS_200`),
      '6 HTTP_STATUS_NOT_EQUALS_200, the last',
    ])
    expect(await notificationsOf(account)).toMatchObject([{ state: 'FAILED', attempts: 6 }])
  })

  test('in the fifth attempt: the sixth is the last', async () => {
    const { account, sale } = await paidSale()
    receiver.answer(500)
    const dispatcher = dispatcherBeside(it)
    for (let round = 1; round <= 4; round += 1) {
      await dispatcher.deliver()
      if (round === 4) die(dispatcher)
      it.clock.advance(60_000)
    }
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    await dispatcherBeside(it).deliver()
    expect(receiver.calls).toHaveLength(5)
    expect((await kept(sale)).slice(4)).toEqual(['5 lost', '6 HTTP_STATUS_NOT_EQUALS_200, the last'])
    expect(await notificationsOf(account)).toMatchObject([{ state: 'FAILED', attempts: 6 }])
  })

  test('in the sixth attempt: the series is over, and nobody calls', async () => {
    const { account, sale } = await paidSale()
    receiver.answer(500)
    const dispatcher = dispatcherBeside(it)
    for (let round = 1; round <= 5; round += 1) {
      await dispatcher.deliver()
      if (round === 5) die(dispatcher)
      it.clock.advance(60_000)
    }
    expect(receiver.calls).toHaveLength(5)
    const { dispatcher: dead, call } = await diesInTheCall()
    it.clock.advance(LEASE_MS)
    await dispatcherBeside(it).deliver()
    expect(receiver.calls).toHaveLength(5)
    expect((await kept(sale)).at(-1)).toBe('6 lost, the last')
    expect(await waitingFor(sale)).toBeUndefined()
    const failed = [{ state: 'FAILED', attempts: 6, lastAttempt: { responseCode: 0, failure: 'lost' } }]
    expect(await notificationsOf(account)).toMatchObject(failed)
    call.answer({ status: 200 })
    await dead.idle()
    expect(await notificationsOf(account)).toMatchObject(failed)
  })

  test('its call counts as lost also when the one that takes over cannot start: the credentials fail', async () => {
    const { sale } = await paidSale()
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    const dispatcher = dispatcherBeside(it)
    loseConnection(dispatcher.db, 'account_delivery_credentials', 'before')
    await receiver.received(1)
    await dispatcher.idle()
    expect(await kept(sale)).toEqual(['1 lost', '2 SUCCESS, the last'])
  })

  test('before it had read the credentials: nothing was sent, yet nobody can tell, so it counts', async () => {
    const { sale } = await paidSale()
    const dying = dispatcherBeside(it)
    let letGo = () => {}
    onStatement(dying.db, 'account_delivery_credentials', {
      before: () =>
        new Promise<void>((_done, fail) => {
          letGo = () => fail(new Error('this process is dead'))
        }),
    })
    onTestFinished(() => letGo())
    await dying.look()
    die(dying)
    it.clock.advance(LEASE_MS)
    await dispatcherBeside(it).deliver()
    expect(receiver.calls).toHaveLength(1)
    expect(await kept(sale)).toEqual(['1 lost', '2 SUCCESS, the last'])
  })
})

describe('a result whose connection breaks', () => {
  const ends = [
    ['200', ['1 SUCCESS, the last']],
    ['500', ['1 HTTP_STATUS_NOT_EQUALS_200']],
  ] as const
  const cases = (['before', 'after'] as const).flatMap((when) =>
    ends.map(([status, records]) => ({ when, status, records })),
  )

  test.each(cases)('$when its commit is recorded once: $status', async ({ when, status, records }) => {
    const { sale } = await paidSale()
    receiver.answer(Number(status))
    const dispatcher = dispatcherBeside(it)
    const fault = loseConnection(dispatcher.db, 'notification_record', when)
    await dispatcher.deliver()
    expect(fault.left()).toBe(0)
    expect(receiver.calls).toHaveLength(1)
    expect(await kept(sale)).toEqual(records)
    expect(dispatcher.inFlight()).toBe(0)
    if (status === '500')
      expect(await waitingFor(sale)).toMatchObject({ held: false, attempts: 1, due_at: it.clock.now() + 60_000 })
  })

  test('before its commit, being that of a lost call: it is recorded once, and the call follows', async () => {
    const { sale } = await paidSale()
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    const dispatcher = dispatcherBeside(it)
    loseConnection(dispatcher.db, 'notification_record', 'before')
    await dispatcher.deliver()
    expect(receiver.calls).toHaveLength(1)
    expect(await kept(sale)).toEqual(['1 lost', '2 SUCCESS, the last'])
  })

  test('after its commit, being that of a lost call: it is recorded once', async () => {
    const { sale } = await paidSale()
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    const dispatcher = dispatcherBeside(it)
    loseConnection(dispatcher.db, 'notification_record', 'after')
    await dispatcher.deliver()
    expect((await kept(sale))[0]).toBe('1 lost')
    expect((await kept(sale)).filter((one) => one.includes('lost'))).toHaveLength(1)
    expect((await waitingFor(sale))?.attempts ?? 2).toBe((await kept(sale)).length)
  })

  // The statement, sent again, must not take the notification for somebody else's: nobody would call until the lease
  // lapses, and then one more call would count as lost.
  test('after its commit, being that of a lost call: the call follows', async () => {
    const { sale } = await paidSale()
    await diesInTheCall()
    it.clock.advance(LEASE_MS)
    const dispatcher = dispatcherBeside(it)
    loseConnection(dispatcher.db, 'notification_record', 'after')
    await dispatcher.deliver()
    expect(receiver.calls).toHaveLength(1)
    expect(await kept(sale)).toEqual(['1 lost', '2 SUCCESS, the last'])
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { dispatcherBeside, heldOutgoing, setLeftoversAside } from '../../../test/harness/dispatcher-beside.ts'
import { loseConnection, onStatement } from '../../../test/harness/faulty-database.ts'
import type { TestAccount, TestSale } from '../../../test/harness/given.ts'
import { attemptsOf, listenAt, notificationsOf, type Receiver, startReceiver } from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'

// This process delivers nothing itself: its rows are due at once, for whichever dispatcher the test starts.
const it = testService()

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
const waitingFor = (sale: TestSale) =>
  it.rows<{ held: boolean; due_at: number; claims: number }>(
    'select held, due_at, claims, attempts from notification_queue where resource_id = $1',
    [sale.uuid],
  )
const statusesOf = async (account: TestAccount, sale: TestSale) =>
  (await attemptsOf(account, sale)).map((attempt: { status: string }) => attempt.status)
const failureOf = async (account: TestAccount) => (await notificationsOf(account))[0].lastAttempt?.failure

describe('the database goes away', () => {
  test('while a result is recorded: its slot waits, and it is recorded when the database is back', async () => {
    const { account, sale } = await paidSale()
    const dispatcher = dispatcherBeside(it)
    let back = false
    let tries = 0
    onStatement(
      dispatcher.db,
      'notification_record',
      {
        before: () => {
          tries += 1
          if (!back) throw new Error('Connection terminated unexpectedly')
        },
      },
      Number.POSITIVE_INFINITY,
    )
    await dispatcher.look()
    // As many as the batch sends before it gives up, and one more.
    await vi.waitUntil(() => tries > 9, { timeout: 40_000, interval: 20 })
    expect(dispatcher.troubles).toContain('record an attempt')
    expect(dispatcher.inFlight()).toBe(1)
    expect(await attemptsOf(account, sale)).toEqual([])
    expect(await waitingFor(sale)).toMatchObject([{ held: true, attempts: 0 }])
    back = true
    await dispatcher.idle()
    expect(dispatcher.inFlight()).toBe(0)
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
    expect(receiver.calls).toHaveLength(1)
  })

  test.each([
    ['at the look', 'notification_due_accounts', 'before', 'look for due notifications'],
    ['at the look, after it', 'notification_due_accounts', 'after', 'look for due notifications'],
    ['at the claim', 'notification_claim', 'before', 'claim notifications'],
    ['at the credentials', 'account_delivery_credentials', 'before', 'read credentials'],
    ['at the credentials, after they were read', 'account_delivery_credentials', 'after', 'read credentials'],
  ] as const)(
    '%s: it goes on afterwards, and no call is counted that was not made',
    async (_at, name, when, trouble) => {
      const { account, sale } = await paidSale()
      const dispatcher = dispatcherBeside(it)
      const fault = loseConnection(dispatcher.db, name, when, 3)
      await receiver.received(1)
      await dispatcher.idle()
      expect(fault.left()).toBe(0)
      expect(dispatcher.troubles).toEqual([trouble, trouble, trouble])
      expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
      expect(receiver.calls).toHaveLength(1)
      expect(dispatcher.inFlight()).toBe(0)
    },
  )

  test('when a notification is given back: it is given back later', async () => {
    const { account, sale } = await paidSale()
    const dispatcher = dispatcherBeside(it)
    loseConnection(dispatcher.db, 'account_delivery_credentials', 'before')
    const fault = loseConnection(dispatcher.db, 'notification_give_back', 'before', 2)
    await receiver.received(1)
    await dispatcher.idle()
    expect(fault.left()).toBe(0)
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
  })

  test('after a claim that it did not hear of: the lease lapses first', async () => {
    const { account, sale } = await paidSale()
    const dispatcher = dispatcherBeside(it)
    loseConnection(dispatcher.db, 'notification_claim', 'after')
    await vi.waitUntil(() => dispatcher.troubles.length > 0, { timeout: 20_000, interval: 5 })
    await dispatcher.deliver()
    expect(receiver.calls).toHaveLength(0)
    expect(await waitingFor(sale)).toMatchObject([{ held: true }])
    it.clock.advance(30_000)
    await dispatcher.deliver()
    expect(receiver.calls).toHaveLength(1)
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS', 'HTTP_REQUEST_TIMEOUT'])
  })
})

describe('one that cannot be recorded', () => {
  test('fails alone: its neighbours are recorded, its slot is free, and its call counts as lost', async () => {
    const told = await Promise.all(Array.from({ length: 5 }, paidSale))
    const poisoned = told[2]!
    const outgoing = heldOutgoing()
    const dispatcher = dispatcherBeside(it, { outgoing })
    await outgoing.posted(5)
    // No HTTP status is that large, and no column either: all results go into one statement, which fails.
    for (const { request, answer } of outgoing.posts)
      answer(request.body.includes(poisoned.sale.uuid) ? { status: 99_999 } : {})
    await dispatcher.idle()
    expect(dispatcher.inFlight()).toBe(0)
    expect(dispatcher.troubles).toEqual(['record an attempt'])
    for (const { account, sale } of told)
      expect(await statusesOf(account, sale)).toEqual(sale === poisoned.sale ? [] : ['SUCCESS'])
    expect(await waitingFor(poisoned.sale)).toMatchObject([{ held: true, attempts: 0 }])

    it.clock.advance(30_000)
    await outgoing.posted(6)
    outgoing.posts[5]!.answer({})
    await dispatcher.idle()
    expect(await statusesOf(poisoned.account, poisoned.sale)).toEqual(['SUCCESS', 'HTTP_REQUEST_TIMEOUT'])
  })
})

describe('one that breaks the call itself, every time', () => {
  test('keeps no slot, stops no neighbour, and ends after six calls that count as lost', async () => {
    const [broken, fine] = [await paidSale(), await paidSale()]
    const outgoing = heldOutgoing()
    const { post } = outgoing
    outgoing.post = (request) =>
      request.body.includes(broken.sale.uuid) ? Promise.reject(new Error('never seen before')) : post(request)
    const dispatcher = dispatcherBeside(it, { outgoing })
    await outgoing.posted(1)
    outgoing.posts[0]!.answer({})
    await dispatcher.idle()
    expect(await statusesOf(fine.account, fine.sale)).toEqual(['SUCCESS'])
    for (let lapse = 1; lapse <= 7; lapse += 1) {
      expect(dispatcher.inFlight()).toBe(0)
      it.clock.advance(30_000)
      await dispatcher.deliver()
    }
    expect(dispatcher.troubles).toEqual(Array(6).fill('deliver a notification'))
    expect(await notificationsOf(broken.account)).toMatchObject([
      { state: 'FAILED', attempts: 6, lastAttempt: { failure: 'lost' } },
    ])
    expect(outgoing.posts).toHaveLength(1)
  })
})

describe('an account whose secrets cannot be opened', () => {
  async function spoil(account: TestAccount) {
    const [row] = await it.rows<{ webhook_secret: Buffer }>('select webhook_secret from account where uuid = $1', [
      account.id,
    ])
    const write = (secret: Buffer) =>
      it.rows('update account set webhook_secret = $2 where uuid = $1', [account.id, secret])
    const spoilt = Buffer.from(row!.webhook_secret)
    spoilt[spoilt.length - 1]! ^= 1
    await write(spoilt)
    return { mend: () => write(row!.webhook_secret) }
  }

  test('is told when they can be', async () => {
    const { account, sale } = await paidSale()
    const { mend } = await spoil(account)
    const dispatcher = dispatcherBeside(it)
    await vi.waitUntil(() => dispatcher.troubles.length > 0, { timeout: 20_000, interval: 5 })
    await dispatcher.deliver()
    expect(receiver.calls).toHaveLength(0)
    await mend()
    it.clock.advance(60_000)
    await receiver.received(1)
    await dispatcher.idle()
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
    expect(await failureOf(account)).toBe(null)
  })

  // The credentials of all that are ready together are read together.
  test('does not stop its neighbours', async () => {
    const [first, second] = [await paidSale(), await paidSale()]
    const { mend } = await spoil(first.account)
    const dispatcher = dispatcherBeside(it)
    try {
      for (let looks = 1; looks <= 3; looks += 1) await dispatcher.deliver()
      expect(receiver.calls.map(({ body }) => body.saleToken)).toEqual([second.sale.uuid])
    } finally {
      await mend()
      it.clock.advance(60_000)
      await receiver.received(2)
      await dispatcher.idle()
    }
  })
})

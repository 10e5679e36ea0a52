import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { dispatcherBeside, setLeftoversAside } from '../../../test/harness/dispatcher-beside.ts'
import { anotherService, loseConnection, onStatement } from '../../../test/harness/faulty-database.ts'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { newEndToEnd, railPayment } from '../../../test/harness/rail-payment.ts'
import {
  attemptsOf,
  holdCalls,
  listenAt,
  notificationsOf,
  type Receiver,
  startReceiver,
} from '../../../test/harness/receiver.ts'
import { type TestService, testService } from '../../../test/harness/test-service.ts'
import { clientConfig } from '../../platform/database/database.ts'
import { slotLimits } from './slots.ts'

const LEASE_MS = 60_000 + 20_000
const env = { QUITADO_WEBHOOK_TIMEOUT_MS: '60000' }

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
beforeEach(() => {
  receiver.calls.length = 0
  receiver.answer(200)
})
afterAll(() => receiver.stop())

const listening = async (it: TestService) => listenAt(await it.given.account(), receiver.url)
/** Somebody whose payments never wait for those of the other. */
async function inAnotherLane(it: TestService, account: TestAccount): Promise<TestAccount> {
  const numberOf = async ({ id }: TestAccount) =>
    (await it.rows<{ id: number }>('select id from account where uuid::text = $1 or id::text = $1', [id]))[0]!.id
  for (;;) {
    const other = await it.given.account()
    if (((await numberOf(other)) - (await numberOf(account))) % 2 !== 0) return listenAt(other, receiver.url)
  }
}
const queueOf = (it: TestService, sale: TestSale) =>
  it.rows<{ turn: number; held: boolean; claims: number; attempts: number; due_at: number }>(
    'select turn, held, claims, attempts, due_at from notification_queue where resource_id = $1 order by turn',
    [sale.uuid],
  )
const statusesOf = async (account: TestAccount, sale: TestSale) =>
  (await attemptsOf(account, sale)).map((attempt: { status: string }) => attempt.status)
const told = () => receiver.calls.map(({ body }) => body.saleToken ?? `reversal of ${body.sale.uuid}`)
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

describe('a process that delivers', () => {
  const it = testService({ deliveries: true, env })
  beforeEach(() => setLeftoversAside(it))

  test('starts the first attempt right after the commit: the row is born in its hands, nobody claims it', async () => {
    const account = await listening(it)
    const held = holdCalls(receiver)
    const sale = await it.given.paidSale(account)
    await receiver.received(1)
    const due_at = it.clock.now() + LEASE_MS
    expect(await queueOf(it, sale)).toEqual([{ turn: 1, held: true, claims: 1, attempts: 0, due_at }])
    expect(it.service.deliveries.inFlight()).toBe(1)
    held.letGo()
    await it.service.deliveries.idle()
    expect(it.service.deliveries.inFlight()).toBe(0)
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
  })

  test('leaves later news of the sale to be claimed in its turn, and keeps no slot for it', async () => {
    const account = await listening(it)
    const held = holdCalls(receiver)
    const sale = await it.given.paidSale(account)
    await pay(account, sale)
    const due_at = it.clock.now()
    expect((await queueOf(it, sale))[1]).toEqual({ turn: 2, held: false, claims: 1, attempts: 0, due_at })
    // A claim that found nothing gives back what room it took.
    await vi.waitUntil(() => it.service.deliveries.inFlight() === 1, { timeout: 20_000, interval: 5 })
    held.letGo()
    await receiver.received(2)
    await it.service.deliveries.idle()
    expect(it.service.deliveries.inFlight()).toBe(0)
    expect(told()).toEqual([sale.uuid, `reversal of ${sale.uuid}`])
  })

  test('tells each of a hundred paid in one batch once, and keeps no slot', async () => {
    const account = await listening(it)
    const sales = await Promise.all(Array.from({ length: 100 }, () => it.given.sale(account)))
    await it.service.door.apply(sales.map((sale) => railPayment(it.clock, sale)))
    await receiver.received(100)
    await it.service.deliveries.idle()
    expect(told().sort()).toEqual(sales.map(({ uuid }) => uuid).sort())
    expect(it.service.deliveries.inFlight()).toBe(0)
    const attempts = (await notificationsOf(account)).map((one: { attempts: number }) => one.attempts)
    expect(attempts).toEqual(Array(100).fill(1))
  })

  test('takes no more than the account’s share of slots; the rest is due, and follows', async () => {
    const account = await listening(it)
    const held = holdCalls(receiver)
    const sales = await Promise.all(Array.from({ length: slotLimits.accountStart + 8 }, () => it.given.sale(account)))
    await it.service.door.apply(sales.map((sale) => railPayment(it.clock, sale)))
    await receiver.received(slotLimits.accountStart)
    await it.service.deliveries.look()
    const born = await it.rows<{ held: boolean; claims: number; rows: number }>(
      `select q.held, q.claims, count(*) as rows from notification_queue q join account a on a.id = q.account_id
       where a.uuid = $1 group by 1, 2 order by 1`,
      [account.id],
    )
    expect(born).toEqual([
      { held: false, claims: 1, rows: 8 },
      { held: true, claims: 1, rows: slotLimits.accountStart },
    ])
    expect(it.service.deliveries.inFlight()).toBe(slotLimits.accountStart)
    held.letGo()
    await receiver.received(sales.length)
    await it.service.deliveries.idle()
    expect(told().sort()).toEqual(sales.map(({ uuid }) => uuid).sort())
  })

  test('tells after the commit: a receiver that asks for the sale sees it PAID', async () => {
    const account = await listening(it)
    const seen: string[] = []
    receiver.answer((reply, { body }) => {
      void account.api.get(`/v1.1/transactions/${body.saleToken}`).then((answer) => {
        seen.push(answer.body.situation)
        reply.end()
      })
    })
    const sales = await Promise.all(Array.from({ length: 20 }, () => it.given.sale(account)))
    await Promise.all(
      sales.map((sale, index) =>
        account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {}, index % 2 === 0 ? {} : keyed(`see ${index}`)),
      ),
    )
    await receiver.received(20)
    await it.service.deliveries.idle()
    expect(seen).toEqual(Array(20).fill('PAID'))
  })

  test.each(['before', 'after'] as const)(
    'hears nothing of its commit, the connection breaks %s it: told once, and no call is counted that was not made',
    async (when) => {
      const account = await listening(it)
      const sale = await it.given.sale(account)
      const fault = loseConnection(it.service.db, 'door_apply_batch', when)
      expect((await pay(account, sale)).body.sale.situation).toBe('PAID')
      expect(fault.left()).toBe(0)
      await receiver.received(1)
      await it.deliver()
      expect(told()).toEqual([sale.uuid])
      expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
      expect(await notificationsOf(account)).toMatchObject([{ state: 'DELIVERED', attempts: 1 }])
      expect(it.service.deliveries.inFlight()).toBe(0)
    },
  )

  test('hears nothing of the commit of a whole batch: each is told once', async () => {
    const account = await listening(it)
    const sales = await Promise.all(Array.from({ length: 50 }, () => it.given.sale(account)))
    loseConnection(it.service.db, 'door_apply_batch', 'after')
    await it.service.door.apply(sales.map((sale) => railPayment(it.clock, sale)))
    await receiver.received(50)
    await it.deliver()
    expect(told().sort()).toEqual(sales.map(({ uuid }) => uuid).sort())
    expect(it.service.deliveries.inFlight()).toBe(0)
    for (const sale of sales) expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
  })

  test('loses the sale to another process: the slot is free, and each payment is told as what it became', async () => {
    const other = await anotherService(it)
    onTestFinished(() => other.close())
    const account = await listening(it)
    const sale = await it.given.sale(account)
    onStatement(it.service.db, 'door_apply_batch', {
      before: () => other.door.apply([railPayment(it.clock, sale)]),
    })
    const [outcome] = await it.service.door.apply([railPayment(it.clock, sale)])
    expect(outcome).toMatchObject({ outcome: 'reversed' })
    await receiver.received(2)
    await it.deliver()
    expect(told()).toEqual([sale.uuid, `reversal of ${sale.uuid}`])
    expect(it.service.deliveries.inFlight()).toBe(0)
  })
})

describe('a process that delivers nothing', () => {
  const it = testService()
  beforeEach(() => setLeftoversAside(it))

  test.each([
    ['', {}],
    [' with an Idempotency-Key', keyed('due at once')],
  ])('leaves its rows due at once, for anybody%s', async (_how, options) => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    expect((await account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {}, options)).http).toBe(200)
    await it.service.deliveries.look()
    const due_at = it.clock.now()
    expect(await queueOf(it, sale)).toEqual([{ turn: 1, held: false, claims: 1, attempts: 0, due_at }])
    expect(receiver.calls).toEqual([])
    expect(it.service.deliveries.inFlight()).toBe(0)
    await dispatcherBeside(it).deliver()
    expect(told()).toEqual([sale.uuid])
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
  })
})

describe('a commit', () => {
  const it = testService({ deliveries: true, env })
  const LOCK = 4711
  beforeAll(() =>
    it.rows(
      `do $do$ begin
         create function at_commit() returns trigger language plpgsql as $$ begin
           if exists (select 1 from notification n where n.id = new.notification_id and n.url like '%/waits') then
             perform pg_advisory_xact_lock_shared(${LOCK});
           end if;
           if exists (select 1 from notification n where n.id = new.notification_id and n.url like '%/refused') then
             raise 'refused at the commit';
           end if;
           return null;
         end $$;
         create constraint trigger at_commit after insert on notification_queue
           deferrable initially deferred for each row execute function at_commit();
       end $do$`,
    ),
  )
  beforeEach(() => setLeftoversAside(it))

  /** No notification for an address that waits commits until the test lets go. */
  async function holdCommits() {
    const client = new pg.Client(clientConfig(it.connection))
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('select pg_advisory_lock($1)', [LOCK])
    const blocked = `from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted
      and database = (select oid from pg_database where datname = current_database())`
    return {
      /** Resolves when a commit waits. */
      waiting: () =>
        vi.waitUntil(async () => (await client.query(`select pid ${blocked}`)).rows.length > 0, {
          timeout: 20_000,
          interval: 10,
        }),
      cut: () => client.query(`select pg_terminate_backend(pid) ${blocked}`),
      letGo: () => client.query('select pg_advisory_unlock($1)', [LOCK]),
    }
  }
  const ways: [string, (account: TestAccount, sale: TestSale) => Promise<{ http: number }>][] = [
    ['in a batch', pay],
    [
      'in a transaction with an Idempotency-Key',
      (account, sale) => account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {}, keyed(sale.uuid)),
    ],
  ]

  test.each(ways)('comes before the call: %s', async (_way, payBy) => {
    const account = await listenAt(await it.given.account(), `${receiver.url}/waits`)
    const bystanders = await inAnotherLane(it, account)
    const sale = await it.given.sale(account)
    const commits = await holdCommits()
    const paid = payBy(account, sale)
    await commits.waiting()
    // Whatever could have been started is started: a later payment of somebody else has been told.
    await it.service.deliveries.look()
    const bystander = await it.given.paidSale(bystanders)
    await receiver.received(1)
    expect(told()).toEqual([bystander.uuid])
    await commits.letGo()
    expect((await paid).http).toBe(200)
    await receiver.received(2)
    await it.deliver()
    expect(told()).toEqual([bystander.uuid, sale.uuid])
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
  })

  test.each(ways)('that fails tells nobody: %s', async (_way, payBy) => {
    const account = await listenAt(await it.given.account(), `${receiver.url}/refused`)
    const sale = await it.given.sale(account)
    expect((await payBy(account, sale)).http).toBe(500)
    await it.deliver()
    expect(receiver.calls).toEqual([])
    expect(await notificationsOf(account)).toEqual([])
    expect(it.service.deliveries.inFlight()).toBe(0)
    // The next one finds the account as free as before.
    await listenAt(account, receiver.url)
    expect((await pay(account, sale)).body.sale.situation).toBe('PAID')
    await receiver.received(1)
    await it.service.deliveries.idle()
    expect(told()).toEqual([sale.uuid])
  })

  test.each(ways)('whose connection is cut is made again, and told once: %s', async (_way, payBy) => {
    const account = await listenAt(await it.given.account(), `${receiver.url}/waits`)
    const sale = await it.given.sale(account)
    const commits = await holdCommits()
    const paid = payBy(account, sale)
    await commits.waiting()
    await commits.cut()
    await commits.letGo()
    const { http } = await paid
    expect([200, 503]).toContain(http)
    if (http === 503) expect((await payBy(account, sale)).http).toBe(200)
    await receiver.received(1)
    await it.deliver()
    expect(told()).toEqual([sale.uuid])
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
    expect(it.service.deliveries.inFlight()).toBe(0)
  })
})

describe('a payment that is reported again', () => {
  const it = testService({ deliveries: true, env, batches: { queueMax: 1, batchMax: 1, lanes: 1 } })
  beforeEach(() => setLeftoversAside(it))

  test('is not told again: the same rail id, by either way', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    const endToEnd = newEndToEnd()
    for (const options of [{}, {}, keyed('again 1'), keyed('again 2')]) {
      const again = await account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, { endToEnd }, options)
      expect([again.http, again.body.sale.situation]).toEqual([200, 'PAID'])
      await it.deliver()
    }
    expect(told()).toEqual([sale.uuid])
    expect(await notificationsOf(account)).toHaveLength(1)
  })

  test('is not told again: the stored answer of its Idempotency-Key', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    for (let time = 1; time <= 3; time += 1)
      await account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {}, keyed('once'))
    await it.deliver()
    expect(told()).toEqual([sale.uuid])
    expect(await notificationsOf(account)).toHaveLength(1)
  })

  test('is not told again: a transaction that committed and was not heard of', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    const { inTransaction } = it.service.db
    it.service.db.inTransaction = async (work) => {
      it.service.db.inTransaction = inTransaction
      // The process never gets as far as what follows the commit.
      await inTransaction((tx) => work({ ...tx, afterCommit: () => {} }))
      throw new Error('Connection terminated unexpectedly')
    }
    const paid = () => account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {}, keyed('unheard of'))
    expect((await paid()).http).toBe(503)
    expect((await paid()).body.sale.situation).toBe('PAID')
    await receiver.received(1)
    await it.deliver()
    expect(told()).toEqual([sale.uuid])
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
  })

  test('is told once by whichever of two processes was first', async () => {
    const other = await anotherService(it)
    other.deliveries.start()
    onTestFinished(() => other.close())
    const account = await listening(it)
    const payment = railPayment(it.clock, await it.given.sale(account))
    onStatement(it.service.db, 'door_apply_batch', { before: () => other.door.apply([payment]) })
    expect(await it.service.door.apply([payment])).toMatchObject([{ outcome: 'duplicate' }])
    await receiver.received(1)
    await other.deliveries.idle()
    await it.deliver()
    expect(receiver.calls).toHaveLength(1)
    expect(await notificationsOf(account)).toMatchObject([{ state: 'DELIVERED', attempts: 1 }])
  })

  test('after a 503, for want of room, is told once', async () => {
    const account = await listening(it)
    const sales = await Promise.all(
      Array.from({ length: 12 }, async () => {
        for (;;) {
          const made = await it.given.sale(account).catch(() => undefined)
          if (made) return made
        }
      }),
    )
    const answers = await Promise.all(sales.map((sale) => pay(account, sale)))
    const crowded = answers.filter(({ http }) => http === 503)
    expect(crowded.length).toBeGreaterThan(0)
    for (const sale of sales) {
      const endToEnd = newEndToEnd()
      const { situation } = (await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body
      if (situation === 'PENDING') await pay(account, sale, { endToEnd })
    }
    await receiver.received(12)
    await it.deliver()
    expect(told().sort()).toEqual(sales.map(({ uuid }) => uuid).sort())
    expect(it.service.deliveries.inFlight()).toBe(0)
  })
})

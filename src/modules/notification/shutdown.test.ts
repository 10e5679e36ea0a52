import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type DispatcherBeside, dispatcherBeside, setLeftoversAside } from '../../../test/harness/dispatcher-beside.ts'
import { anotherService, loseConnection, onStatement } from '../../../test/harness/faulty-database.ts'
import type { TestAccount, TestSale } from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import {
  attemptsOf,
  holdCalls,
  listenAt,
  notificationsOf,
  type Receiver,
  startReceiver,
} from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { Database } from '../../platform/database/database.ts'

// This process delivers nothing itself; those that the tests start and stop do.
const it = testService({ env: { QUITADO_WEBHOOK_TIMEOUT_MS: '60000' } })

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

const listening = async () => listenAt(await it.given.account(), receiver.url)
async function paidSale(): Promise<{ account: TestAccount; sale: TestSale }> {
  const account = await listening()
  return { account, sale: await it.given.paidSale(account) }
}
const queueOf = (sale: TestSale) =>
  it.rows<Record<string, unknown>>(
    'select held, attempts, due_at from notification_queue where resource_id = $1 order by turn',
    [sale.uuid],
  )
const dueNow = () => ({ held: false, attempts: 0, due_at: it.clock.now() })
const statusesOf = async (account: TestAccount, sale: TestSale) =>
  (await attemptsOf(account, sale)).map((attempt: { status: string }) => attempt.status)

/** The next such statement is kept from being sent, or from being answered, until the test lets go. */
function gate(db: Database, name: string, when: 'before' | 'after') {
  let letGo = () => {}
  const open = new Promise<void>((done) => {
    letGo = done
  })
  let reached = () => {}
  const arrived = new Promise<void>((done) => {
    reached = done
  })
  onStatement(db, name, {
    [when]: () => {
      reached()
      return open
    },
  })
  onTestFinished(letGo)
  return { arrived, letGo }
}

/** Stands for whichever process is left: what was given back is delivered by it, and no call counts as lost. */
async function another(account: TestAccount, sale: TestSale) {
  await dispatcherBeside(it).deliver()
  expect(receiver.calls.map(({ body }) => body.saleToken)).toEqual([sale.uuid])
  expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
}

async function starting() {
  const service = await anotherService(it)
  service.deliveries.start()
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= service.close()
    return closing
  }
  onTestFinished(close)
  return { ...service, close }
}

describe('a stop', () => {
  test.each([
    ['that was claimed just now', 'notification_claim', 'after'],
    ['whose credentials are not read yet', 'account_delivery_credentials', 'before'],
    ['whose credentials are read', 'account_delivery_credentials', 'after'],
  ] as const)('gives back at once what is not started: one %s', async (_which, name, when) => {
    const { account, sale } = await paidSale()
    const dispatcher = dispatcherBeside(it)
    const at = gate(dispatcher.db, name, when)
    await at.arrived
    const stopped = dispatcher.stop()
    at.letGo()
    await stopped
    expect(receiver.calls).toEqual([])
    expect(await queueOf(sale)).toEqual([dueNow()])
    expect(dispatcher.inFlight()).toBe(0)
    expect(dispatcher.troubles).toEqual([])
    await another(account, sale)
  })

  test('lets a call on its way end, and records it', async () => {
    const service = await starting()
    const account = await listening()
    const sale = await it.given.sale(account)
    const held = holdCalls(receiver)
    await service.door.apply([railPayment(it.clock, sale)])
    await receiver.received(1)
    const closed = service.close()
    held.letGo()
    await closed
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
    expect(await queueOf(sale)).toEqual([])
  })

  test('waits for a result that is being recorded', async () => {
    const { account, sale } = await paidSale()
    const dispatcher = dispatcherBeside(it)
    const at = gate(dispatcher.db, 'notification_record', 'before')
    await at.arrived
    let over = false
    const stopped = dispatcher.stop().then(() => {
      over = true
    })
    await new Promise(setImmediate)
    expect(over).toBe(false)
    at.letGo()
    await stopped
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS'])
    expect(dispatcher.troubles).toEqual([])
  })

  test('starts nothing more: what is paid, poked or looked for from now on is left to the others', async () => {
    const service = await starting()
    const account = await listening()
    const sales = [await it.given.sale(account), await it.given.sale(account), await it.given.sale(account)] as const
    const held = holdCalls(receiver)
    await service.door.apply([railPayment(it.clock, sales[0])])
    await receiver.received(1)
    const stopped = service.deliveries.stop()
    // Its call is still on its way.
    await service.door.apply([railPayment(it.clock, sales[1])])
    expect(await queueOf(sales[1])).toEqual([dueNow()])
    expect(await service.deliveries.look()).toBe(false)
    expect(receiver.calls).toHaveLength(1)
    // Others need not wait for its end.
    const other = dispatcherBeside(it)
    await receiver.received(2)
    held.letGo()
    await Promise.all([stopped, other.idle()])
    expect(await statusesOf(account, sales[0])).toEqual(['SUCCESS'])
    expect(await statusesOf(account, sales[1])).toEqual(['SUCCESS'])
    await other.stop()

    // It is over.
    await service.door.apply([railPayment(it.clock, sales[2])])
    const [row] = await it.rows<{ id: number }>('select id from account where uuid = $1', [account.id])
    service.deliveries.poke(row!.id as never)
    expect(await service.deliveries.look()).toBe(false)
    await service.deliveries.idle()
    expect(receiver.calls).toHaveLength(2)
    expect(await queueOf(sales[2])).toEqual([dueNow()])
    expect(service.deliveries.inFlight()).toBe(0)
  })

  test('does not start the next news of a sale whose call has just ended', async () => {
    const service = await starting()
    const account = await listening()
    const sale = await it.given.sale(account)
    const held = holdCalls(receiver)
    await service.door.apply([railPayment(it.clock, sale)])
    await receiver.received(1)
    await service.door.apply([railPayment(it.clock, sale)])
    const closed = service.close()
    held.letGo()
    await closed
    expect(receiver.calls).toHaveLength(1)
    expect(await queueOf(sale)).toEqual([dueNow()])
  })

  test('with a database that does not take back what is given back ends all the same', async () => {
    const { sale } = await paidSale()
    const dispatcher: DispatcherBeside = dispatcherBeside(it)
    const at = gate(dispatcher.db, 'account_delivery_credentials', 'after')
    await at.arrived
    onStatement(dispatcher.db, 'notification_give_back', {
      before: () => {
        throw new Error('Connection terminated unexpectedly')
      },
    })
    const stopped = dispatcher.stop()
    at.letGo()
    await stopped
    expect(dispatcher.troubles).toEqual(['give back notifications'])
    expect(await queueOf(sale)).toMatchObject([{ held: true }])
  })

  test.each(['before', 'after'] as const)(
    'waits for a payment that is on its way, held %s its commit, and gives its notification back',
    async (when) => {
      const service = await starting()
      const account = await listening()
      const sale = await it.given.sale(account)
      const at = gate(service.db, 'door_apply_batch', when)
      const paid = service.door.apply([railPayment(it.clock, sale)])
      await at.arrived
      const closed = service.close()
      await new Promise(setImmediate)
      at.letGo()
      expect(await paid).toMatchObject([{ outcome: 'applied' }])
      await closed
      expect(service.deliveries.inFlight()).toBe(0)
      expect(await queueOf(sale)).toEqual([dueNow()])
      await another(account, sale)
    },
  )

  test.each(['before', 'after'] as const)(
    'gives back a payment whose connection breaks %s its commit, meanwhile',
    async (when) => {
      const service = await starting()
      const account = await listening()
      const sale = await it.given.sale(account)
      loseConnection(service.db, 'door_apply_batch', when)
      const at = gate(service.db, 'door_apply_batch', 'before')
      const paid = service.door.apply([railPayment(it.clock, sale)])
      await at.arrived
      const closed = service.close()
      at.letGo()
      expect(await paid).toMatchObject([{ outcome: when === 'before' ? 'applied' : 'duplicate' }])
      await closed
      expect(await queueOf(sale)).toEqual([dueNow()])
      await another(account, sale)
    },
  )

  // Left in its hands, it would count as lost a second time, though nobody has called.
  test('gives back what it took over from a dead process and did not call', async () => {
    const { account, sale } = await paidSale()
    const dead = dispatcherBeside(it)
    const silent = gate(dead.db, 'account_delivery_credentials', 'before')
    await silent.arrived
    dead.db.query = () => Promise.reject(new Error('this process is dead'))
    it.clock.advance(30_000)
    const dispatcher = dispatcherBeside(it)
    const at = gate(dispatcher.db, 'notification_record', 'before')
    await at.arrived
    const stopped = dispatcher.stop()
    at.letGo()
    await stopped
    expect(await statusesOf(account, sale)).toEqual(['HTTP_REQUEST_TIMEOUT'])
    expect(await queueOf(sale)).toEqual([{ held: false, attempts: 1, due_at: it.clock.now() }])
  })
})

describe('a stop that takes long', () => {
  test('ends after eight seconds the calls that hang, and records them as stopped; others go on', async () => {
    const service = await starting()
    const account = await listening()
    const sales = [await it.given.sale(account), await it.given.sale(account)] as const
    holdCalls(receiver)
    await service.door.apply(sales.map((sale) => railPayment(it.clock, sale)))
    await receiver.received(2)
    await service.close()
    for (const sale of sales) {
      expect(await attemptsOf(account, sale)).toMatchObject([
        { status: 'HTTP_REQUEST_TIMEOUT', responseCode: 0, response: { headers: {}, body: '' } },
      ])
      const [waiting] = await queueOf(sale)
      expect(waiting).toMatchObject({ held: false, attempts: 1 })
      expect(waiting!['due_at']).toBeGreaterThanOrEqual(it.clock.now() + 60_000)
    }
    const failures = (await notificationsOf(account)).map(
      ({ state, lastAttempt }: { state: string; lastAttempt: { failure: string } }) =>
        `${state} ${lastAttempt.failure}`,
    )
    expect(failures).toEqual(['PENDING stopped', 'PENDING stopped'])

    receiver.answer(200)
    it.clock.advance(63_000)
    await dispatcherBeside(it).deliver()
    for (const sale of sales) expect(await statusesOf(account, sale)).toEqual(['SUCCESS', 'HTTP_REQUEST_TIMEOUT'])
    expect(receiver.calls).toHaveLength(4)
  })

  test('gives up on results that the database does not take, says so, and leaves them to their lease', async () => {
    const { account, sale } = await paidSale()
    const dispatcher = dispatcherBeside(it)
    const at = gate(dispatcher.db, 'notification_record', 'before')
    await at.arrived
    await dispatcher.stop()
    expect(dispatcher.troubles).toEqual(['stop'])
    expect(await queueOf(sale)).toMatchObject([{ held: true, attempts: 0 }])
    it.clock.advance(30_000)
    await dispatcherBeside(it).deliver()
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS', 'HTTP_REQUEST_TIMEOUT'])
    // Too late: somebody else has recorded it.
    at.letGo()
    await dispatcher.idle()
    expect(await statusesOf(account, sale)).toEqual(['SUCCESS', 'HTTP_REQUEST_TIMEOUT'])
  })
})

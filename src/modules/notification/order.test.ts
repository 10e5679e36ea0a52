import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { dispatcherBeside, heldOutgoing, setLeftoversAside } from '../../../test/harness/dispatcher-beside.ts'
import { anotherService, loseConnection } from '../../../test/harness/faulty-database.ts'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import {
  type Answering,
  attemptsOf,
  holdCalls,
  listenAt,
  type ReceivedCall,
  type Receiver,
  startReceiver,
} from '../../../test/harness/receiver.ts'
import { type TestService, testService } from '../../../test/harness/test-service.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
beforeEach(() => {
  receiver.calls.length = 0
  receiver.answer(200)
})
afterAll(() => receiver.stop())

/** Which sale a call is about, and whether it confirms or reverses. */
const about = ({ body }: ReceivedCall): string => body.saleToken ?? `reversal of ${body.sale.uuid}`
const reversalOf = ({ uuid }: TestSale) => `reversal of ${uuid}`
const told = () => receiver.calls.map(about)
const listening = async (it: TestService) => listenAt(await it.given.account(), receiver.url)
const confirmation = (sale: TestSale, answering: Answering): Answering => {
  return (reply, call, request) => (about(call) === sale.uuid ? answering(reply, call, request) : void reply.end())
}

/** By event: attempts that began in the same millisecond are listed in no particular order. */
const statusesOf = async (account: TestAccount, sale: TestSale) =>
  Object.fromEntries(
    (await attemptsOf(account, sale)).map(({ eventType, status }: Record<string, string>) => [eventType, status]),
  )

/** Paid twice: a confirmation, and a reversal that comes after it. */
async function payTwice(account: TestAccount, sale: TestSale) {
  expect((await pay(account, sale)).body.reversal).toBe(null)
  expect((await pay(account, sale)).body.reversal).toMatchObject({ reason: 'ALREADY_PAID' })
}

describe('news of one sale', () => {
  const it = testService({ deliveries: true, env: { QUITADO_WEBHOOK_TIMEOUT_MS: '60000' } })
  beforeEach(() => setLeftoversAside(it))

  /** Whatever could have been started is started: all news of a later sale of the same account has been told. */
  async function othersGetThrough(account: TestAccount) {
    await it.service.deliveries.look()
    const bystander = await it.given.sale(account)
    await payTwice(account, bystander)
    await vi.waitUntil(() => told().includes(reversalOf(bystander)), { timeout: 20_000, interval: 5 })
    await it.service.deliveries.look()
    return bystander
  }

  const ends: [string, Answering, string][] = [
    ['200', (reply) => void reply.writeHead(200).end(), 'SUCCESS'],
    ['500', (reply) => void reply.writeHead(500).end(), 'HTTP_STATUS_NOT_EQUALS_200'],
    ['a reset', (reply) => void reply.socket!.resetAndDestroy(), 'HTTP_REQUEST_TIMEOUT'],
  ]

  test.each(ends)(
    'waits for the first attempt before it, which ends with %s; other sales do not',
    async (_end, answer, status) => {
      const account = await listening(it)
      const sale = await it.given.sale(account)
      let end = () => {}
      receiver.answer(
        confirmation(sale, (reply, call, request) => {
          end = () => answer(reply, call, request)
        }),
      )
      await payTwice(account, sale)
      await receiver.received(1)
      const bystander = await othersGetThrough(account)
      expect(told()).toEqual([sale.uuid, bystander.uuid, reversalOf(bystander)])
      end()
      await receiver.received(4)
      expect(told().at(-1)).toBe(reversalOf(sale))
      await it.service.deliveries.idle()
      expect(await statusesOf(account, sale)).toEqual({ REVERSAL_CREATE: 'SUCCESS', PAYMENT_CONFIRMATION: status })
    },
  )

  test('is told one by one, in the order of the commits', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    let open = 0
    const tangled: string[] = []
    receiver.answer((reply, call) => {
      open += 1
      if (open > 1) tangled.push(about(call))
      setImmediate(() => {
        open -= 1
        reply.writeHead(receiver.calls.length % 2 === 0 ? 200 : 500).end()
      })
    })
    const reversals: string[] = []
    await pay(account, sale)
    for (let turn = 2; turn <= 6; turn += 1) reversals.push((await pay(account, sale)).body.reversal.uuid)
    await receiver.received(6)
    await it.service.deliveries.idle()
    expect(receiver.calls.map(({ body }) => body.uuid ?? body.saleToken)).toEqual([sale.uuid, ...reversals])
    expect(tangled).toEqual([])
  })

  test('is not held back by a retry, whether it waits or is on its way', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    receiver.answer(500)
    await pay(account, sale)
    await it.deliver()
    // The retry of the first is still to come.
    receiver.answer(200)
    await pay(account, sale)
    await receiver.received(2)
    expect(told()).toEqual([sale.uuid, reversalOf(sale)])
    await it.service.deliveries.idle()

    let end = () => {}
    receiver.answer(
      confirmation(sale, (reply) => {
        end = () => reply.end()
      }),
    )
    it.clock.advance(63_000)
    await receiver.received(3)
    // The retry of the first is on its way.
    await pay(account, sale)
    await receiver.received(4)
    expect(told()).toEqual([sale.uuid, reversalOf(sale), sale.uuid, reversalOf(sale)])
    end()
    await it.service.deliveries.idle()
  })

  test('does not wait for a series that starts again', async () => {
    const account = await listening(it)
    const sale = await it.given.paidSale(account)
    await it.deliver()
    const held = holdCalls(receiver)
    expect((await account.api.post(`/v1.1/transactions/${sale.uuid}/webhook/redeliver`)).http).toBe(202)
    await receiver.received(2)
    await pay(account, sale)
    await receiver.received(3)
    expect(told()).toEqual([sale.uuid, sale.uuid, reversalOf(sale)])
    held.letGo()
    await it.service.deliveries.idle()
  })
})

describe('news of one sale, in two processes', () => {
  const it = testService({ deliveries: true, env: { QUITADO_WEBHOOK_TIMEOUT_MS: '60000' } })
  beforeEach(() => setLeftoversAside(it))

  async function second() {
    const other = await anotherService(it)
    other.deliveries.start()
    onTestFinished(() => other.close())
    return other
  }

  test('waits for the first attempt of the other process', async () => {
    const other = await second()
    const account = await listening(it)
    const sale = await it.given.sale(account)
    let end = () => {}
    receiver.answer(
      confirmation(sale, (reply) => {
        end = () => reply.writeHead(500).end()
      }),
    )
    await it.service.door.apply([railPayment(it.clock, sale)])
    await receiver.received(1)
    await other.door.apply([railPayment(it.clock, sale)])
    await other.deliveries.look()
    const bystander = await it.given.sale(account)
    await other.door.apply([railPayment(it.clock, bystander)])
    await receiver.received(2)
    await other.deliveries.look()
    await it.service.deliveries.look()
    expect(told()).toEqual([sale.uuid, bystander.uuid])
    end()
    await receiver.received(3)
    expect(told().at(-1)).toBe(reversalOf(sale))
  })

  test('of many sales, all due at once: each sale’s in order, one by one, each once', async () => {
    const [SALES, TURNS] = [30, 5]
    const account = await listening(it)
    const open = new Map<string, number>()
    const wrong: string[] = []
    const next = new Map<string, number>()
    receiver.answer((reply, { body: { resource, turn } }) => {
      if (turn !== (next.get(resource) ?? 1) || (open.get(resource) ?? 0) > 0) wrong.push(`${resource} ${turn}`)
      next.set(resource, turn + 1)
      open.set(resource, 1)
      setImmediate(() => {
        open.set(resource, 0)
        reply.writeHead(turn % 2 === 0 ? 200 : 503).end()
      })
    })
    // The later turns stand first in the queue.
    await it.rows(
      `with told as (
         insert into notification (account_id, id, resource_id, turn, event, created_at, url, payload)
         select a.id, gen_random_uuid(), r.id, t, 'REVERSAL_CREATE', $2, $3, json_build_object('resource', r.id, 'turn', t)::text
         from account a, (select gen_random_uuid() as id from generate_series(1, $4)) r, generate_series(1, $5) t
         where a.uuid = $1 returning account_id, resource_id, turn, id
       )
       insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left)
       select account_id, resource_id, turn, id, $2::timestamptz - turn * interval '1 second', false, 1, 0, 6 from told`,
      [account.id, new Date(it.clock.now()).toISOString(), receiver.url, SALES, TURNS],
    )
    const other = await second()
    await receiver.received(SALES * TURNS)
    await Promise.all([it.service.deliveries.idle(), other.deliveries.idle()])
    expect(wrong).toEqual([])
    expect([...next.values()]).toEqual(Array(SALES).fill(TURNS + 1))
    expect(receiver.calls).toHaveLength(SALES * TURNS)
  })
})

describe('news of one sale, after a first attempt without an answer', () => {
  const it = testService({ deliveries: true, env: { QUITADO_WEBHOOK_TIMEOUT_MS: '500' } })

  test('comes when that has timed out', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    receiver.answer(confirmation(sale, () => {}))
    await payTwice(account, sale)
    await receiver.received(2)
    await it.service.deliveries.idle()
    expect(await statusesOf(account, sale)).toEqual({
      REVERSAL_CREATE: 'SUCCESS',
      PAYMENT_CONFIRMATION: 'HTTP_REQUEST_TIMEOUT',
    })
  })
})

describe('news of one sale, for a process that no longer looks', () => {
  const it = testService()

  test('is known to wait when the first attempt before it ends, and starts at once', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    await pay(account, sale)
    const outgoing = heldOutgoing()
    const dispatcher = dispatcherBeside(it, { outgoing })
    await dispatcher.look()
    await outgoing.posted(1)
    loseConnection(dispatcher.db, 'notification_due_accounts', 'before', Number.POSITIVE_INFINITY)
    for (let turn = 2; turn <= 3; turn += 1) await pay(account, sale)
    for (let turn = 1; turn <= 3; turn += 1) {
      await outgoing.posted(turn)
      outgoing.posts[turn - 1]!.answer({ status: turn === 2 ? 500 : 200 })
    }
    await dispatcher.idle()
    expect(await attemptsOf(account, sale)).toHaveLength(3)
  })
})

describe('news of one sale, after a first attempt that was lost', () => {
  const it = testService()

  test('waits until its lease has lapsed, and no longer', async () => {
    const account = await listening(it)
    const sale = await it.given.sale(account)
    await pay(account, sale)
    const dead = heldOutgoing()
    const dying = dispatcherBeside(it, { outgoing: dead })
    await dying.look()
    await dead.posted(1)
    await pay(account, sale)
    const outgoing = heldOutgoing()
    const heir = dispatcherBeside(it, { outgoing })
    await heir.deliver()
    expect(outgoing.posts).toHaveLength(0)
    // Only one of them looks on.
    await dying.look()
    dying.db.query = () => Promise.reject(new Error('this process is dead'))
    it.clock.advance(30_000)
    await outgoing.posted(2)
    expect(outgoing.posts.map(({ request }) => JSON.parse(request.body).newStatus ?? 'reversal')).toEqual([
      'PAID',
      'reversal',
    ])
    for (const { answer } of outgoing.posts) answer({})
    await heir.idle()
    expect(await attemptsOf(account, sale)).toHaveLength(3)
  })
})

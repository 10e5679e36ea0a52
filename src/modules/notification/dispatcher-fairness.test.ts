import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { setLeftoversAside } from '../../../test/harness/dispatcher-beside.ts'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import {
  type HeldCalls,
  holdCalls,
  listenAt,
  notificationsOf,
  type Receiver,
  startReceiver,
} from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { slotLimits } from './slots.ts'

const it = testService({ deliveries: true, env: { QUITADO_WEBHOOK_TIMEOUT_MS: '60000' } })
const { accountStart: START, accountMin: MIN } = slotLimits

let hanging: Receiver
let healthy: Receiver
beforeAll(async () => {
  hanging = await startReceiver()
  healthy = await startReceiver()
})
beforeEach(async () => {
  for (const receiver of [hanging, healthy]) {
    receiver.calls.length = 0
    receiver.answer(200)
  }
  await setLeftoversAside(it)
})
afterAll(() => Promise.all([hanging.stop(), healthy.stop()]))

/** As many notifications of other sales, due since a moment ago. */
const backlog = (account: TestAccount, count: number, url = hanging.url) =>
  it.rows(
    `with told as (
       insert into notification (account_id, id, resource_id, turn, event, created_at, url, payload)
       select a.id, gen_random_uuid(), gen_random_uuid(), 1, 'PAYMENT_CONFIRMATION', $2, $3, json_build_object('place', place)::text
       from account a, generate_series(1, $4) place where a.uuid = $1
       returning account_id, resource_id, id, (payload::json->>'place')::integer as place
     )
     insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left)
     select account_id, resource_id, 1, id, $2::timestamptz - ($4 - place) * interval '1 millisecond', false, 1, 0, 6 from told`,
    [account.id, new Date(it.clock.now() - 1_000).toISOString(), url, count],
  )
const left = async ({ id }: TestAccount) =>
  (
    await it.rows<{ left: number; held: number }>(
      `select count(*) as left, count(*) filter (where q.held) as held
       from notification_queue q join account a on a.id = q.account_id where a.uuid = $1`,
      [id],
    )
  )[0]

/** Looks several times over: whoever had room would have been called. */
async function lookAround() {
  for (let time = 1; time <= 5; time += 1) await it.service.deliveries.look()
}
const waitFor = (held: HeldCalls, count: number) =>
  vi.waitUntil(() => held.waiting() >= count, { timeout: 30_000, interval: 5 })

describe('an account', () => {
  test('whose receiver hangs has its share of slots, whatever its backlog; the others get through meanwhile', async () => {
    const BACKLOG = 3_000
    const [stuck, other] = [await it.given.account(), await listenAt(await it.given.account(), healthy.url)]
    const held = holdCalls(hanging)
    await backlog(stuck, BACKLOG)
    await waitFor(held, START)
    await lookAround()
    expect(hanging.calls).toHaveLength(START)
    expect(await left(stuck)).toEqual({ left: BACKLOG, held: START })

    const sales = await Promise.all(Array.from({ length: 60 }, () => it.given.paidSale(other)))
    await healthy.received(60)
    expect(healthy.calls.map(({ body }) => body.saleToken).sort()).toEqual(sales.map(({ uuid }) => uuid).sort())
    await lookAround()
    expect(hanging.calls).toHaveLength(START)

    // Nor does what is only found by looking wait behind it.
    await backlog(await it.given.account(), 40, healthy.url)
    await healthy.received(100)
    expect(hanging.calls).toHaveLength(START)

    held.letGo()
    await hanging.received(BACKLOG)
    await it.deliver()
    expect(await left(stuck)).toEqual({ left: 0, held: 0 })
    const places = hanging.calls.map(({ body }) => body.place)
    expect(new Set(places).size).toBe(BACKLOG)
    expect(places).toHaveLength(BACKLOG)
    // Whatever waited longest went first.
    expect(places.slice(0, START).sort((a, b) => a - b)).toEqual(Array.from({ length: START }, (_, place) => place + 1))
    expect(it.service.deliveries.inFlight()).toBe(0)
  })

  test('whose receiver fails gets fewer at a time, down to a few, and more again when it answers', async () => {
    const stuck = await it.given.account()
    const resets: (() => void)[] = []
    hanging.answer((reply) => void resets.push(() => reply.socket!.resetAndDestroy()))
    await backlog(stuck, 500)
    await vi.waitUntil(() => resets.length === START, { timeout: 30_000, interval: 5 })
    const held = holdCalls(hanging)
    for (const reset of resets) reset()
    await waitFor(held, MIN)
    await lookAround()
    expect(held.waiting()).toBe(MIN)

    // Each answer makes room for one more.
    held.answer(MIN - 1)
    await waitFor(held, 2 * MIN - 1)
    await lookAround()
    expect(held.waiting()).toBe(2 * MIN - 1)
    held.letGo()
    await hanging.received(500)
    await it.deliver()
  })

  test('whose receiver answers gets more at a time while it answers', async () => {
    const account = await it.given.account()
    const held = holdCalls(hanging)
    await backlog(account, 1_000)
    await waitFor(held, START)
    let limit = START
    while (limit < 100) {
      held.answer(limit - 1)
      limit = 2 * limit - 1
      await waitFor(held, limit)
      await lookAround()
      expect(held.waiting()).toBe(limit)
    }
    held.letGo()
    await hanging.received(1_000)
    await it.deliver()
    expect(await left(account)).toEqual({ left: 0, held: 0 })
  })

  test('with work that waits longer: a new payment is not preferred to it, nor held by anybody', async () => {
    const stuck = await listenAt(await it.given.account(), hanging.url)
    const held = holdCalls(hanging)
    await backlog(stuck, START + 10)
    await waitFor(held, START)
    const sale = await it.given.paidSale(stuck)
    expect(
      await it.rows('select held, claims, due_at from notification_queue where resource_id = $1', [sale.uuid]),
    ).toEqual([{ held: false, claims: 1, due_at: it.clock.now() }])
    held.letGo()
    await hanging.received(START + 11)
    await it.deliver()
    expect(await left(stuck)).toEqual({ left: 0, held: 0 })
    expect(hanging.calls.filter(({ body }) => body.saleToken === sale.uuid)).toHaveLength(1)
  })

  test('with room but work that waits longer: a new payment is left in its turn', async () => {
    const account = await listenAt(await it.given.account(), hanging.url)
    const sale = await it.given.sale(account)
    const held = holdCalls(hanging)
    const [row] = await it.rows<{ id: number }>('select id from account where uuid = $1', [account.id])
    // Known to have something due, from now until the claim that follows.
    it.service.deliveries.poke(row!.id as never)
    expect(it.service.deliveries.reserve(row!.id as never)).toBe(false)
    await it.deliver()
    expect(it.service.deliveries.reserve(row!.id as never)).toBe(true)
    const outgo = { notification: { accountId: row!.id }, leased: true } as never
    it.service.deliveries.dropped(outgo)
    await pay(account, sale)
    await hanging.received(1)
    held.letGo()
    await it.deliver()
    expect(await notificationsOf(account)).toMatchObject([{ state: 'DELIVERED', attempts: 1 }])
  })
})

describe('many accounts whose receivers hang', () => {
  test('leave room for one more', async () => {
    const held = holdCalls(hanging)
    const stuck = await Promise.all(Array.from({ length: 12 }, () => it.given.account()))
    for (const account of stuck) await backlog(account, 100)
    await waitFor(held, 12 * START)
    await lookAround()
    expect(hanging.calls).toHaveLength(12 * START)
    const other = await listenAt(await it.given.account(), healthy.url)
    await it.given.paidSale(other)
    await healthy.received(1)
    held.letGo()
    await hanging.received(1_200)
    await it.deliver()
    for (const account of stuck) expect(await left(account)).toEqual({ left: 0, held: 0 })
  })
})

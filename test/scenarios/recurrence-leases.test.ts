import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/kernel/calendar.ts'
import type { CollectionNews } from '../../src/rail/rail.ts'
import { accepted } from '../../src/rail/sandbox/sandbox-rail.ts'
import { sweepRecurrences } from '../../src/worker/sweeps.ts'
import { anotherService, loseConnection, onStatement } from '../harness/faulty-database.ts'
import type { TestAccount } from '../harness/given.ts'
import { moneyOf } from '../harness/money-out.ts'
import {
  approvedMandate,
  cancelMandate,
  chargeDue,
  daysTold,
  done,
  eventsOf,
  givenPlan,
  listeningAccount,
  railNews,
  setDuesAside,
  simCharge,
  statesOf,
  type TestMandate,
  watchRail,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const START = '2026-11-16 12:00:00'
const LEASE_MS = 20 * SECOND_MS
beforeEach(() => setDuesAside(it))

const salesOf = (mandate: TestMandate) =>
  it.rows<{ id: string; amount_cents: number; state: string }>(
    'select id, amount_cents, state from sale where mandate_id = $1 order by created_at, id',
    [mandate.uuid],
  )
async function monthly(account: TestAccount, initialDate = '2026-12-31', fields: Record<string, unknown> = {}) {
  return approvedMandate(account, { planId: await givenPlan(account), initialDate, ...fields })
}

/** Registered on the 21st of December. */
async function beforeRegistration(
  price = 100,
): Promise<{ mandate: TestMandate; setPrice(to: number): Promise<unknown> }> {
  it.clock.set(START)
  const account = await listeningAccount(it)
  const planId = await givenPlan(account, { recurrenceAmount: price, minimumRecurrenceAmount: 1 })
  const amount = { valueType: 'VARIABLE' }
  const mandate = await approvedMandate(account, { planId, initialDate: '2026-12-31', amount })
  it.clock.set('2026-12-21 00:00:00')
  const setPrice = (to: number) =>
    done(account.api.put(`/v1.1/pix-automatic/plans/${planId}`, { recurrenceAmount: to }))
  return { mandate, setPrice }
}
const waits = ['2026-12-31 PENDING_SCHEDULE', '2027-01-31 PENDING_SCHEDULE']
const isAtTheBank = ['2026-12-31 SCHEDULED', '2027-01-31 PENDING_SCHEDULE']

/** The price of the first day and one sale, whatever the plan says meanwhile. */
async function isSoldOnce(mandate: TestMandate, state = 'PENDING') {
  expect(await salesOf(mandate)).toEqual([{ id: expect.any(String), amount_cents: 10_000, state }])
}

describe('the engine dies between the reservation and the bank’s answer', () => {
  test('the bank is out of reach: the price and the sale stay, and the same order is sent when the lease has ended', async () => {
    const { mandate, setPrice } = await beforeRegistration()
    const orders = watchRail(it.service.rail, async () => {
      throw new Error('connect ECONNREFUSED')
    })
    await expect(sweepRecurrences(it.service.sweeps)).rejects.toThrow('ECONNREFUSED')
    expect(await statesOf(mandate)).toEqual(waits)
    await isSoldOnce(mandate)
    await setPrice(333)

    const again = watchRail(it.service.rail, async (asked) => asked.map(accepted))
    it.clock.advance(LEASE_MS - 1)
    await it.sweep()
    expect(again).toEqual([])
    it.clock.advance(1)
    await it.sweep()
    expect(again).toEqual(orders)
    expect(await statesOf(mandate)).toEqual(isAtTheBank)
    await isSoldOnce(mandate)
    expect((await eventsOf(it, mandate)).at(-1)).toMatchObject({ chargeAmount: 100, amount: 333 })
  })

  test.each([
    ['before the reservation was written', 'before', []],
    ['after it was written', 'after', [{ amount_cents: 10_000 }]],
  ] as const)('the database goes away %s: one sale in the end', async (_, when, sales) => {
    const { mandate, setPrice } = await beforeRegistration()
    const orders = watchRail(it.service.rail)
    loseConnection(it.service.db, 'recurrence_write_batch', when)
    await expect(sweepRecurrences(it.service.sweeps)).rejects.toThrow('Connection terminated')
    expect(await salesOf(mandate)).toMatchObject(sales)
    if (sales.length > 0) await setPrice(333)
    it.clock.advance(LEASE_MS)
    await it.sweep()
    expect(orders).toHaveLength(1)
    expect(await statesOf(mandate)).toEqual(isAtTheBank)
    await isSoldOnce(mandate)
  })

  test.each(['before', 'after'] as const)(
    'the bank has answered and its word is lost %s it is written: told once',
    async (when) => {
      const { mandate } = await beforeRegistration()
      let writes = 0
      onStatement(
        it.service.db,
        'recurrence_write_batch',
        {
          // The reservation is the first, the bank's word the second.
          [when]: () => {
            writes += 1
            if (writes === 2) throw new Error('Connection terminated unexpectedly')
          },
        },
        2,
      )
      await it.sweep()
      expect(await statesOf(mandate)).toEqual(isAtTheBank)
      expect(await daysTold(it, mandate, 'CHARGE_SCHEDULED')).toEqual(['2026-12-31'])
      await isSoldOnce(mandate)
    },
  )

  test('the database goes away after the money was booked: booked once', async () => {
    const { mandate } = await beforeRegistration()
    await it.sweep()
    it.clock.set('2026-12-31 08:00:00')
    loseConnection(it.service.db, 'door_pay_charges_batch', 'after')
    await it.sweep()
    expect(await daysTold(it, mandate, 'CHARGE_PAID')).toEqual(['2026-12-31'])
    expect(await moneyOf(mandate.account)).toEqual({ available: 99.01, blocked: 0 })
    await isSoldOnce(mandate, 'PAID')
  })

  test('the lease is its own until it ends: no second order while the first waits for its answer', async () => {
    const { mandate } = await beforeRegistration()
    const other = await anotherService(it)
    onTestFinished(() => other.close())
    const gate = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const orders = watchRail(it.service.rail, async (sent) => {
      asked.resolve()
      await gate.promise
      return sent.map(accepted)
    })
    const others = watchRail(other.rail)
    const sweep = sweepRecurrences(it.service.sweeps)
    await asked.promise
    it.clock.advance(LEASE_MS - 1)
    await sweepRecurrences(other.sweeps)
    expect(others).toEqual([])
    // It may be dead by now: the other one sends the same again.
    it.clock.advance(1)
    await sweepRecurrences(other.sweeps)
    expect(others).toEqual(orders)
    gate.resolve()
    await sweep
    expect(await statesOf(mandate)).toEqual(isAtTheBank)
    expect(await daysTold(it, mandate, 'CHARGE_SCHEDULED')).toEqual(['2026-12-31'])
    await isSoldOnce(mandate)
  })

  test('a retry is sent again as the same attempt', async () => {
    const { mandate } = await beforeRegistration()
    await it.sweep()
    it.clock.set('2026-12-31 07:00:00')
    await done(simCharge(mandate, (await chargeDue(mandate, '2026-12-31')).instructionId, 'failed'))
    it.clock.set('2027-01-02 00:00:00')
    const orders = watchRail(it.service.rail, async () => {
      throw new Error('connect ECONNREFUSED')
    })
    await expect(sweepRecurrences(it.service.sweeps)).rejects.toThrow('ECONNREFUSED')
    const again = watchRail(it.service.rail, async (asked) => asked.map(accepted))
    it.clock.advance(LEASE_MS)
    await it.sweep()
    expect(again).toEqual(orders)
    expect(again).toMatchObject([{ attempt: 1, dueDate: '2026-12-31', collectOn: '2027-01-02', amount: 10_000 }])
    expect(await daysTold(it, mandate, 'CHARGE_SCHEDULED')).toEqual(['2026-12-31', '2026-12-31'])
    await isSoldOnce(mandate)
  })
})

describe('a bank that does not answer at once', () => {
  test('is asked again after two hours, and its word is heard by the door whenever it comes', async () => {
    const { mandate, setPrice } = await beforeRegistration()
    const orders = watchRail(it.service.rail, async () => [])
    await it.sweep()
    expect([orders.length, await statesOf(mandate)]).toEqual([1, waits])
    await setPrice(333)
    it.clock.advance(2 * HOUR_MS - 1)
    await it.sweep()
    expect(orders).toHaveLength(1)
    it.clock.advance(1)
    await it.sweep()
    expect(orders).toEqual([orders[0], orders[0]])
    await isSoldOnce(mandate)

    const { instructionId } = await chargeDue(mandate, '2026-12-31')
    const say = async (state: CollectionNews['state'], rest = {}) =>
      (await it.service.door.apply([railNews(instructionId, state, rest)]))[0]!.outcome
    expect([await say('SCHEDULED'), await say('SCHEDULED')]).toEqual(['applied', 'duplicate'])
    expect(await statesOf(mandate)).toEqual(isAtTheBank)
    it.clock.advance(3 * HOUR_MS)
    await it.sweep()
    expect(orders).toHaveLength(2)
    it.clock.set('2026-12-31 08:00:00')
    await it.sweep()
    expect(await daysTold(it, mandate, 'CHARGE_PAID')).toEqual(['2026-12-31'])
    expect(await say('FAILED', { code: 'AM04' })).toBe('conflict')
    await isSoldOnce(mandate, 'PAID')
  })

  test('tells by the door before the call returns: the charge is collected at its time', async () => {
    it.clock.set(START)
    const account = await listeningAccount(it)
    // So late that it is collected within the two hours in which an answer would be waited for.
    const mandate = await monthly(account, '2026-11-18')
    it.clock.set('2026-11-18 07:00:00')
    watchRail(it.service.rail, async (orders) => {
      await it.service.door.apply(orders.map(accepted))
      return []
    })
    await it.sweep()
    expect((await statesOf(mandate))[0]).toBe('2026-11-18 SCHEDULED')
    it.clock.set('2026-11-18 08:00:00')
    await it.sweep()
    expect((await statesOf(mandate))[0]).toBe('2026-11-18 PAID')
  })

  test('rejects in the end what it was told twice', async () => {
    const { mandate } = await beforeRegistration()
    const orders = watchRail(it.service.rail, async () => [])
    await it.sweep()
    const { instructionId } = await chargeDue(mandate, '2026-12-31')
    const rejected = railNews(instructionId, 'REJECTED', { code: 'AC03' })
    expect((await it.service.door.apply([rejected])).map(({ outcome }) => outcome)).toEqual(['applied'])
    expect((await it.service.door.apply([rejected])).map(({ outcome }) => outcome)).toEqual(['duplicate'])
    it.clock.advance(3 * HOUR_MS)
    await it.sweep()
    expect(orders).toHaveLength(1)
    await isSoldOnce(mandate, 'CANCELLED')
    expect((await eventsOf(it, mandate)).slice(1).map(({ chargeStatus }) => chargeStatus)).toEqual([
      'SCHEDULED',
      'REJECTED',
    ])
  })

  test('answers some and not others: only those are asked again', async () => {
    it.clock.set(START)
    const account = await listeningAccount(it)
    const mandates = [await monthly(account), await monthly(account), await monthly(account)]
    it.clock.set('2026-12-21 00:00:00')
    const orders = watchRail(it.service.rail, async (asked) => asked.slice(1).map(accepted))
    await it.sweep()
    const states = (await Promise.all(mandates.map(statesOf))).map(([first]) => first)
    expect(states.toSorted()).toEqual(['2026-12-31 PENDING_SCHEDULE', '2026-12-31 SCHEDULED', '2026-12-31 SCHEDULED'])
    it.clock.advance(2 * HOUR_MS)
    await it.sweep()
    expect(orders).toHaveLength(4)
    expect(orders[3]).toEqual(orders[0])
  })

  test('is not asked any more when the mandate was cancelled meanwhile', async () => {
    const { mandate } = await beforeRegistration()
    const orders = watchRail(it.service.rail, async () => [])
    await it.sweep()
    await done(cancelMandate(mandate))
    it.clock.advance(DAY_MS)
    await it.sweep()
    expect(orders).toHaveLength(1)
    const { instructionId } = await chargeDue(mandate, '2026-12-31')
    expect((await it.service.door.apply([railNews(instructionId, 'SCHEDULED')]))[0]!.outcome).toBe('duplicate')
    expect(await statesOf(mandate)).toEqual(['2026-12-31 CANCELLED', '2027-01-31 CANCELLED'])
    await isSoldOnce(mandate, 'CANCELLED')
  })
})

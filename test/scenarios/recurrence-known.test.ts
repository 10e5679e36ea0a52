import { beforeEach, expect, test } from 'vitest'
import { accepted } from '../../src/rail/sandbox/sandbox-rail.ts'
import { onStatement } from '../harness/faulty-database.ts'
import {
  approvedMandate,
  cancelMandate,
  done,
  eventsOf,
  givenPlan,
  listeningAccount,
  setCycleAmount,
  setDuesAside,
  statesOf,
  type TestMandate,
  watchRail,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const READ = 'recurrence_of_charges'
const MANY = 100
beforeEach(() => setDuesAside(it))

/** Its first charge is registered on the 21st of December and collected on the 31st. */
async function variable(): Promise<TestMandate> {
  it.clock.set('2026-11-16 12:00:00')
  const account = await listeningAccount(it)
  const planId = await givenPlan(account, { minimumRecurrenceAmount: 1 })
  return approvedMandate(account, { planId, initialDate: '2026-12-31', amount: { valueType: 'VARIABLE' } })
}

async function readsOfSweepAt(time: string): Promise<number> {
  it.clock.set(time)
  const reads = onStatement(it.service.db, READ, {}, MANY)
  await it.sweep()
  return MANY - reads.left()
}

test('a charge is read once to be registered, and once to be collected', async () => {
  const mandate = await variable()
  expect(await readsOfSweepAt('2026-12-21 00:00:00')).toBe(1)
  expect(await statesOf(mandate)).toEqual(['2026-12-31 SCHEDULED', '2027-01-31 PENDING_SCHEDULE'])
  expect(await readsOfSweepAt('2026-12-31 08:00:00')).toBe(1)
  expect(await statesOf(mandate)).toEqual(['2026-12-31 PAID', '2027-01-31 PENDING_SCHEDULE'])
})

test('a mandate that changes while the bank is asked is read again, and nothing of the change is lost', async () => {
  const mandate = await variable()
  watchRail(it.service.rail, async (orders) => {
    await done(setCycleAmount(mandate, 77))
    return orders.map(accepted)
  })
  expect(await readsOfSweepAt('2026-12-21 00:00:00')).toBe(2)
  expect(await statesOf(mandate)).toEqual(['2026-12-31 SCHEDULED', '2027-01-31 PENDING_SCHEDULE'])
  const [row] = await it.rows('select one_off_cents from mandate where id = $1', [mandate.uuid])
  expect(row).toEqual({ one_off_cents: 7_700 })
})

test('a mandate that is cancelled between its charge is read and its payment is heard takes no money', async () => {
  const mandate = await variable()
  await readsOfSweepAt('2026-12-21 00:00:00')
  onStatement(it.service.db, 'door_pay_charges_batch', { before: () => done(cancelMandate(mandate)) })
  expect(await readsOfSweepAt('2026-12-31 08:00:00')).toBe(2)
  expect(await statesOf(mandate)).toEqual(['2026-12-31 CANCELLED', '2027-01-31 CANCELLED'])
  expect((await eventsOf(it, mandate)).map(({ eventType }) => eventType)).not.toContain('RECURRENCE_CHARGE_PAID')
})

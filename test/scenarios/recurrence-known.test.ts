import { beforeEach, expect, test } from 'vitest'
import { accepted } from '../../src/rail/sandbox/sandbox-rail.ts'
import { onStatement } from '../harness/faulty-database.ts'
import {
  approvedMandate,
  authorizationOf,
  cancelCharge,
  cancelMandate,
  chargeDue,
  done,
  dueNow,
  eventsOf,
  givenMandate,
  givenPlan,
  listeningAccount,
  setCycleAmount,
  setDuesAside,
  simMandate,
  statesOf,
  type TestMandate,
  watchRail,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const READ = 'recurrence_of_charges'
const WRITE = 'recurrence_write_batch'
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

test('a mandate that changes before the price is settled: the bank hears of the new price alone, in the same sweep', async () => {
  const mandate = await variable()
  const orders = watchRail(it.service.rail)
  onStatement(it.service.db, WRITE, { before: () => done(setCycleAmount(mandate, 77)) })
  expect(await readsOfSweepAt('2026-12-21 00:00:00')).toBe(2)
  expect(orders).toMatchObject([{ amount: 7_700, dueDate: '2026-12-31', collectOn: '2026-12-31' }])
  expect(await statesOf(mandate)).toEqual(['2026-12-31 SCHEDULED', '2027-01-31 PENDING_SCHEDULE'])
})

test.each([
  ['it is read', READ],
  ['its price is settled', WRITE],
])('a charge that is cancelled just before %s is not sent', async (_what, statement) => {
  const mandate = await variable()
  const orders = watchRail(it.service.rail)
  const { instructionId } = await chargeDue(mandate, '2026-12-31')
  onStatement(it.service.db, statement, { before: () => done(cancelCharge(mandate, instructionId)) })
  await readsOfSweepAt('2026-12-21 00:00:00')
  expect(orders).toEqual([])
  expect(await statesOf(mandate)).toEqual(['2026-12-31 CANCELLED', '2027-01-31 PENDING_SCHEDULE'])
})

test('a mandate that begins to be cancelled just before its charge is read is not charged', async () => {
  const mandate = await variable()
  const orders = watchRail(it.service.rail)
  onStatement(it.service.db, READ, { before: () => done(simMandate(mandate, 'cancelling')) })
  await readsOfSweepAt('2026-12-21 00:00:00')
  expect(orders).toEqual([])
  expect(await statesOf(mandate)).toEqual(['2026-12-31 PENDING_SCHEDULE'])
})

test('a mandate that its payer looks at while it expires is looked at again: it expires in the same sweep', async () => {
  it.clock.set('2026-11-16 12:00:00')
  const account = await listeningAccount(it)
  const mandate = await givenMandate(account, { planId: await givenPlan(account), initialDate: '2026-12-31' })
  it.clock.set('2026-11-17 12:00:01')
  onStatement(it.service.db, WRITE, { before: () => done(simMandate(mandate, 'approving')) })
  await it.sweep()
  expect((await authorizationOf(mandate)).status).toBe('EXPIRED')
  expect(await dueNow(it)).toEqual([])
})

test('a mandate that is cancelled between its charge is read and its payment is heard takes no money', async () => {
  const mandate = await variable()
  await readsOfSweepAt('2026-12-21 00:00:00')
  onStatement(it.service.db, 'door_pay_charges_batch', { before: () => done(cancelMandate(mandate)) })
  expect(await readsOfSweepAt('2026-12-31 08:00:00')).toBe(2)
  expect(await statesOf(mandate)).toEqual(['2026-12-31 CANCELLED', '2027-01-31 CANCELLED'])
  expect((await eventsOf(it, mandate)).map(({ eventType }) => eventType)).not.toContain('RECURRENCE_CHARGE_PAID')
})

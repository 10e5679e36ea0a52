import { expect, test } from 'vitest'
import {
  type CalendarDay,
  DAY_MS,
  hourOfDay,
  type Instant,
  instantFromWire,
  plusDays,
  plusMs,
  SECOND_MS,
  startOfDay,
} from '../../src/kernel/calendar.ts'
import type { TestAccount } from '../harness/given.ts'
import { moneyOf, payOut } from '../harness/money-out.ts'
import {
  advance,
  approvedMandate,
  chargeDue,
  chargesOf,
  done,
  eventsOf,
  givenMandate,
  givenPlan,
  listeningAccount,
  setCycleAmount,
  simCharge,
  simRecurrence,
  type TestMandate,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const START = '2026-11-16 12:00:00'
const YEAR_LATER = '2027-11-16 12:00:00'

type World = { readonly account: TestAccount; readonly mandates: readonly TestMandate[] }

/** The same start for everybody: mandates of every kind, and something else that falls due beside them. */
async function world(): Promise<World> {
  const account = await listeningAccount(it)
  const plan = (fields: Record<string, unknown>) => givenPlan(account, fields)
  const variable = { valueType: 'VARIABLE', debitorMinimumAmount: 50 }
  const mandates = [
    await approvedMandate(account, { planId: await plan({}), initialDate: '2026-12-31', amount: variable }),
    await approvedMandate(account, {
      planId: await plan({ frequency: 'WEEKLY', recurrenceAmount: 11.5 }),
      initialDate: '2026-11-18',
    }),
    await approvedMandate(account, {
      planId: await plan({ frequency: 'QUARTERLY', recurrenceAmount: 222 }),
      initialDate: '2026-11-30',
    }),
    await approvedMandate(account, {
      planId: await plan({ period: 5, recurrenceAmount: 33 }),
      initialDate: '2026-12-29',
    }),
    await approvedMandate(account, {
      planId: await plan({ recurrenceAmount: 44 }),
      initialDate: '2027-01-30',
      finalDate: '2027-06-29',
    }),
    // Approved after its first days have gone.
    await approvedMandate(account, {
      planId: await plan({ frequency: 'WEEKLY', period: 3, recurrenceAmount: 5 }),
      initialDate: '2026-11-16',
    }),
    await givenMandate(account, {
      planId: await plan({ imediateAmount: 7 }),
      initialDate: '2026-12-01',
      immediatePayment: true,
      checkout: { maxAge: 600 },
    }),
  ]
  await done(simRecurrence(mandates[0]!, 'fail/AM04'))
  await done(simRecurrence(mandates[2]!, 'fail/AC06'))
  await it.given.sale(account, { maxAge: 10_000 })
  await it.given.paidSale(account, { amount: 500 })
  await done(payOut(account, { amount: 100 }))
  return { account, mandates }
}

/** Ids are random, references are counted. */
const withoutIds = ({ idRec, externalId, planId, contractId, saleToken, ...event }: Record<string, unknown>) => event

/** All that a merchant can tell two accounts apart by. */
async function storyOf({ account, mandates }: World) {
  const told = []
  for (const mandate of mandates)
    told.push({
      events: (await eventsOf(it, mandate)).map(withoutIds),
      charges: (await chargesOf(mandate)).map(({ status, dueDate, amount, rejectionCode, sale }) => ({
        status,
        dueDate,
        amount,
        rejectionCode,
        situation: sale?.situation ?? null,
      })),
    })
  const statement = []
  for (let page = 1; ; page += 1) {
    const { result, totalPages } = await done(account.api.get(`/v1.1/statement?page=${page}`))
    // What falls due at one instant is done in the order of ids.
    statement.push(...result.map((row: Record<string, unknown>) => `${row['date']} ${row['type']} ${row['amount']}`))
    if (page >= totalPages) break
  }
  const { now } = await done(account.api.get('/v1.1/sandbox/clock'))
  return { told, statement: statement.sort(), money: await moneyOf(account), now }
}

const asOneJump = ({ account }: World) => advance(account, YEAR_LATER)
async function inMonths({ account }: World) {
  for (let month = 12; month <= 22; month += 1)
    await advance(account, new Date(Date.UTC(2026, month, 16, 15)).toISOString())
  await advance(account, YEAR_LATER)
}
async function inDays({ account }: World) {
  for (let days = 0; days < 365; days += 1) await advance(account, { days: 1 })
}

/** Of the mandate that nobody answers, the sale and the payout. */
async function oddDues({ account }: World): Promise<Instant[]> {
  const rows = await it.rows<{ at: Instant }>(
    `select due_at as at from recurrence_due d join account a on a.id = d.account_id where a.uuid = $1 and d.kind = 'expire'
     union all select s.expires_at + interval '1 ms' from sale s join account a on a.id = s.account_id
       where a.uuid = $1 and s.state = 'PENDING' and s.charge_id is null`,
    [account.id],
  )
  return [...rows.map(({ at }) => at), plusMs(it.clock.now(), 2 * SECOND_MS)]
}

test('in real time, with a sweep whenever something may be due: what a jump does is what the engine does', async () => {
  it.clock.set(START)
  const [jumping, waiting] = [await world(), await world()]
  const dues = await oddDues(waiting)
  await advance(jumping.account, '2027-03-16 12:00:00')
  const jumped = await storyOf(jumping)
  // Everything else falls due at midnight or at eight.
  const times = [...dues, instantFromWire(START)!, instantFromWire('2027-03-16 12:00:00')!]
  for (let days = 1; days <= 120; days += 1) {
    const on = plusDays('2026-11-16' as CalendarDay, days)
    times.push(startOfDay(on), hourOfDay(on, 8))
  }
  for (const at of times.sort((a, b) => a - b)) {
    it.clock.advance(at - it.clock.now())
    await it.sweep()
  }
  expect(await storyOf(waiting)).toEqual(jumped)
})

test('a year in one jump, in twelve, and day by day: the same events, charges and money', async () => {
  it.clock.set(START)
  const worlds = [await world(), await world(), await world(), await world()] as const
  await asOneJump(worlds[0])
  await asOneJump(worlds[1])
  await inMonths(worlds[2])
  await inDays(worlds[3])
  const [first, ...others] = await Promise.all(worlds.map(storyOf))
  expect(first!.now).toBe(YEAR_LATER)
  const events = first!.told.flatMap(({ events }) => events)
  expect(new Set(events.map(({ eventType }) => eventType))).toEqual(
    new Set([
      'RECURRENCE_AUTHORIZED',
      'RECURRENCE_CHARGE_SCHEDULED',
      'RECURRENCE_CHARGE_PAID',
      'RECURRENCE_CHARGE_FAILED',
      'RECURRENCE_CONCLUDED',
      'RECURRENCE_EXPIRED',
    ]),
  )
  expect(events.length).toBeGreaterThan(150)
  for (const other of others) expect(other).toEqual(first)
})

test('the same merchant’s calls on the way, at the same times: the same again', async () => {
  const story = async (steps: (world: World, to: string) => Promise<unknown>) => {
    it.clock.set(START)
    const one = await world()
    const [mandate, weekly] = one.mandates as [TestMandate, TestMandate]
    await steps(one, '2026-12-25 09:00:00')
    await done(setCycleAmount(mandate, 77.77))
    await done(simCharge(weekly, (await chargeDue(weekly, '2026-12-30')).instructionId, 'failed'))
    await steps(one, '2027-01-31 07:59:59')
    await done(simCharge(mandate, (await chargeDue(mandate, '2027-01-31')).instructionId, 'reject/AM02'))
    await steps(one, '2027-03-01 00:00:00')
    await done(one.account.api.put(`/v1.1/pix-automatic/authorizations/${weekly.idRec}/cancel`))
    await steps(one, '2027-05-01 12:00:00')
    return storyOf(one)
  }
  const first = await story(({ account }, to) => advance(account, to))
  const byDays = await story(async ({ account }, to) => {
    for (;;) {
      const { now } = await done(account.api.get('/v1.1/sandbox/clock'))
      const next = new Date(Date.parse(`${now.replace(' ', 'T')}-03:00`) + DAY_MS)
      if (next.toISOString() >= new Date(`${to.replace(' ', 'T')}-03:00`).toISOString()) return advance(account, to)
      await advance(account, { days: 1 })
    }
  })
  expect(byDays).toEqual(first)
})

import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../src/kernel/calendar.ts'
import { sweepRecurrences } from '../../src/worker/sweeps.ts'
import { anotherService, deadlocksBetweenTwo } from '../harness/faulty-database.ts'
import { situationOf, type TestAccount } from '../harness/given.ts'
import { accepted, moneyOf, payOut } from '../harness/money-out.ts'
import {
  advance,
  approvedMandate,
  authorizationOf,
  cancelCharge,
  chargeDue,
  chargesOf,
  daysTold,
  done,
  eventsOf,
  givenMandate,
  givenPlan,
  listeningAccount,
  setCycleAmount,
  simCharge,
  simMandate,
  statesOf,
  type TestMandate,
  watchRail,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const START = '2026-11-16 12:00:00'

async function atStart(settings?: Record<string, unknown>): Promise<TestAccount> {
  it.clock.set(START)
  return listeningAccount(it, settings)
}
const weekly = async (account: TestAccount, initialDate: string, fields: Record<string, unknown> = {}) =>
  approvedMandate(account, { planId: await givenPlan(account, { frequency: 'WEEKLY' }), initialDate, ...fields })
const monthly = async (account: TestAccount, initialDate = '2026-12-31', fields: Record<string, unknown> = {}) =>
  approvedMandate(account, { planId: await givenPlan(account), initialDate, ...fields })
const timesOf = async (mandate: TestMandate): Promise<string[]> =>
  (await eventsOf(it, mandate)).map(
    ({ eventType, eventDate }) => `${eventDate} ${eventType.replace('RECURRENCE_', '')}`,
  )

describe('a jump over many kinds of due things', () => {
  /** Which of our transactions wrote the row last: the order in which they were made. */
  const writtenBy = async (table: string, id: string): Promise<number> => {
    const [row] = await it.rows<{ n: number }>(`select xmin::text::bigint as n from ${table} where id = $1`, [id])
    return row!.n
  }

  test('does them in the order of their times, each by the account’s clock', async () => {
    const account = await atStart()
    await it.given.paidSale(account, { amount: 500 })
    const planId = await givenPlan(account)
    const unanswered = (days: number) =>
      givenMandate(account, { planId, initialDate: '2026-12-31', checkout: { maxAge: days * 24 * 60 } })
    const sale = (days: number) => it.given.sale(account, { maxAge: days * 24 * 60 })
    // Made in another order than they are due.
    const charged = await weekly(account, '2026-11-19')
    const [late, early] = [await sale(12), await sale(2)]
    const [expiresLate, expiresEarly] = [await unanswered(8), await unanswered(1)]
    const payout = await accepted(payOut(account, { amount: 50 }))
    const between = await sale(4)
    const { processed } = await advance(account, { days: 13 })

    const [first, second] = (await it.rows<{ id: string }>(
      `select id from charge where mandate_id = $1 order by cycle`,
      [charged.uuid],
    )) as [{ id: string }, { id: string }]
    const order = [
      ['payout', payout], // two seconds later
      ['mandate', expiresEarly.uuid], // the 17th
      ['sale', early.uuid], // the 18th
      ['charge', first.id], // the 19th at eight
      ['sale', between.uuid], // the 20th
      ['mandate', expiresLate.uuid], // the 24th
      ['charge', second.id], // the 26th at eight
      ['sale', late.uuid], // the 28th
    ] as const
    const written = await Promise.all(order.map(([table, id]) => writtenBy(table, id)))
    expect(written).toEqual(written.toSorted((a, b) => a - b))
    expect(new Set(written).size).toBe(order.length)
    expect(await timesOf(charged)).toEqual([
      '2026-11-16 12:00:00 AUTHORIZED',
      '2026-11-16 12:00:00 CHARGE_SCHEDULED',
      '2026-11-16 12:00:00 CHARGE_SCHEDULED',
      '2026-11-19 08:00:00 CHARGE_PAID',
      '2026-11-23 00:00:00 CHARGE_SCHEDULED',
      '2026-11-26 08:00:00 CHARGE_PAID',
    ])
    expect(await timesOf(expiresEarly)).toEqual(['2026-11-17 12:00:00 EXPIRED'])
    expect(await timesOf(expiresLate)).toEqual(['2026-11-24 12:00:00 EXPIRED'])
    // Three registrations, two payments, two mandates, three sales and a payout.
    expect(processed).toBe(11)
    expect((await done(account.api.get('/v1.1/statement'))).result.map(({ date }: { date: string }) => date)).toEqual([
      ...Array(2).fill('2026-11-26 08:00:00'),
      ...Array(2).fill('2026-11-19 08:00:00'),
      ...Array(3).fill(START),
    ])
    expect(await moneyOf(account)).toEqual({ available: 643.07, blocked: 0 })
  })

  test('what falls due on the way because of it happens on the way, in its place', async () => {
    const account = await atStart()
    const mandate = await weekly(account, '2026-11-20', {})
    await advance(account, '2026-11-20 07:00:00')
    await done(simCharge(mandate, (await chargeDue(mandate, '2026-11-20')).instructionId, 'failed'))
    const between = await it.given.sale(account, { maxAge: 24 * 60 })
    await advance(account, '2026-11-28')
    expect(await timesOf(mandate)).toEqual([
      '2026-11-16 12:00:00 AUTHORIZED',
      '2026-11-16 12:00:00 CHARGE_SCHEDULED',
      '2026-11-17 00:00:00 CHARGE_SCHEDULED',
      '2026-11-20 07:00:00 CHARGE_FAILED',
      '2026-11-21 00:00:00 CHARGE_SCHEDULED',
      '2026-11-21 08:00:00 CHARGE_PAID',
      '2026-11-24 00:00:00 CHARGE_SCHEDULED',
      '2026-11-27 08:00:00 CHARGE_PAID',
    ])
    expect(await situationOf(account, between)).toBe('CANCELLED')
  })

  test('a mandate and its first sale that nobody pays end at one instant, each once', async () => {
    const account = await atStart()
    const planId = await givenPlan(account)
    const fields = { planId, initialDate: '2026-12-31', immediatePayment: true, checkout: { amount: 5, maxAge: 60 } }
    const mandate = await givenMandate(account, fields)
    expect((await advance(account, { minutes: 60 })).processed).toBe(0)
    expect((await authorizationOf(mandate)).status).toBe('CREATED')
    expect((await advance(account, { minutes: 1 })).processed).toBe(2)
    expect((await authorizationOf(mandate)).status).toBe('EXPIRED')
    expect(await situationOf(account, mandate)).toBe('CANCELLED')
    expect(await timesOf(mandate)).toEqual(['2026-11-16 13:00:00 EXPIRED'])
  })

  test('it breaks in the middle: the clock stands at the last thing done, and the next jump goes on from there', async () => {
    const account = await atStart()
    const mandate = await monthly(account)
    let left = 2
    watchRail(it.service.rail, async (orders) => {
      if (left-- === 0) throw new Error('connect ECONNREFUSED')
      return orders.map(({ txid, attempt }) => ({
        kind: 'collection',
        rail: 'sandbox',
        txid,
        attempt,
        state: 'SCHEDULED',
        code: null,
      }))
    })
    const broken = await account.api.post('/v1.1/sandbox/clock/advance', { to: '2027-04-01' })
    expect(broken.http).toBe(500)
    expect((await done(account.api.get('/v1.1/sandbox/clock'))).now).toBe('2027-01-31 08:00:00')
    expect(await statesOf(mandate)).toEqual(['2026-12-31 PAID', '2027-01-31 PAID', '2027-02-28 PENDING_SCHEDULE'])
    const { processed } = await advance(account, '2027-04-01')
    expect(processed).toBe(4)
    expect(await daysTold(it, mandate, 'CHARGE_PAID')).toEqual(['2026-12-31', '2027-01-31', '2027-02-28', '2027-03-31'])
  })

  test('1,830 days of a weekly mandate', async () => {
    const account = await atStart()
    const mandate = await weekly(account, '2026-11-18')
    const began = performance.now()
    const { processed, now } = await advance(account, { days: 1_830 })
    console.log(`1,830 days of a weekly mandate: ${Math.round(performance.now() - began)} ms`)
    expect(now).toBe('2031-11-20 12:00:00')
    const days: string[] = []
    for (let on = Date.UTC(2026, 10, 18); on <= Date.UTC(2031, 10, 20); on += 7 * DAY_MS)
      days.push(new Date(on).toISOString().slice(0, 10))
    expect(days).toHaveLength(262)
    expect(await daysTold(it, mandate, 'CHARGE_PAID')).toEqual(days)
    // And one at the bank.
    expect(processed).toBe(2 * 262 + 1)
    expect(await moneyOf(account)).toEqual({ available: Math.round(262 * 9_901) / 100, blocked: 0 })
    expect((await done(account.api.get('/v1.1/transactions?situation=PENDING'))).totalElements).toBe(1)
  })
})

describe('a jump while others act on the same account', () => {
  test('the merchant sets prices, a worker sweeps: the jump arrives, and every cycle is charged once', async () => {
    const account = await atStart()
    const planId = await givenPlan(account, { minimumRecurrenceAmount: 1 })
    const fields = { planId, initialDate: '2026-12-31', amount: { valueType: 'VARIABLE' } }
    const mandates = await Promise.all(Array.from({ length: 4 }, () => approvedMandate(account, fields)))
    const refused: string[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async ([one, other]) => {
      const { apiKey, apiToken } = account
      const headers = { 'x-api-key': apiKey, 'x-api-token': apiToken }
      let isThere = false
      const jump = one.api
        .as(headers)
        .post('/v1.1/sandbox/clock/advance', { days: 400 })
        .then((reply) => {
          isThere = true
          if (reply.http !== 200) refused.push(`jump ${reply.http} ${reply.text}`)
        })
      const meanwhile = async (work: (turn: number) => Promise<unknown>) => {
        for (let turn = 0; !isThere; turn += 1) await work(turn)
      }
      const priced = (mandate: TestMandate) =>
        meanwhile(async (turn) => {
          const mine = { ...mandate, account: { ...account, api: other.api.as(headers) } }
          const reply = await setCycleAmount(mine, 50 + (turn % 50))
          if (reply.http !== 200) refused.push(`price ${reply.http} ${reply.text}`)
        })
      await Promise.all([jump, ...mandates.map(priced), meanwhile(() => sweepRecurrences(other.sweeps))])
    })
    expect([refused, deadlocks]).toEqual([[], 0])
    for (const mandate of mandates) {
      const paid = (await chargesOf(mandate)).filter(({ status }) => status === 'PAID')
      expect(paid).toHaveLength(12)
      expect((await daysTold(it, mandate, 'CHARGE_PAID')).sort()).toEqual(
        paid.map(({ dueDate }) => dueDate.slice(0, 10)),
      )
    }
  })
})

describe('an account whose clock runs ahead', () => {
  test('is swept by its own clock, in the background as real time passes, and nobody else by it', async () => {
    const [account, neighbour] = [await atStart(), await atStart()]
    const [ahead, here] = [await monthly(account), await monthly(neighbour)]
    const unanswered = await givenMandate(account, {
      planId: await givenPlan(account),
      initialDate: '2027-01-31',
      checkout: { maxAge: 43_200 },
    })
    await advance(account, '2026-12-20 22:00:00')
    await it.sweep()
    expect(await timesOf(ahead)).toEqual(['2026-11-16 12:00:00 AUTHORIZED'])
    it.clock.advance(2 * HOUR_MS)
    await it.sweep()
    expect(await timesOf(ahead)).toEqual(['2026-11-16 12:00:00 AUTHORIZED', '2026-12-21 00:00:00 CHARGE_SCHEDULED'])
    expect((await authorizationOf(unanswered)).status).toBe('EXPIRED')
    it.clock.advance(10 * DAY_MS + 8 * HOUR_MS)
    await it.sweep()
    expect((await timesOf(ahead)).slice(2)).toEqual(['2026-12-31 08:00:00 CHARGE_PAID'])
    expect(await timesOf(here)).toEqual(['2026-11-16 12:00:00 AUTHORIZED'])
    expect((await done(account.api.get('/v1.1/statement'))).result[0].date).toBe('2026-12-31 08:00:00')
  })

  test('retries run by it too', async () => {
    const account = await atStart()
    const mandate = await monthly(account)
    await advance(account, '2026-12-31 07:00:00')
    await done(simCharge(mandate, (await chargeDue(mandate, '2026-12-31')).instructionId, 'failed'))
    it.clock.advance(DAY_MS + 16 * HOUR_MS)
    await it.sweep()
    expect((await timesOf(mandate)).length).toBe(3)
    it.clock.advance(HOUR_MS)
    await it.sweep()
    expect((await timesOf(mandate)).at(-1)).toBe('2027-01-02 00:00:00 CHARGE_SCHEDULED')
    it.clock.advance(8 * HOUR_MS)
    await it.sweep()
    expect((await timesOf(mandate)).at(-1)).toBe('2027-01-02 08:00:00 CHARGE_PAID')
  })

  test('of two processes that sweep it together each thing is done by one', async () => {
    const account = await atStart()
    const mandates = await Promise.all(Array.from({ length: 20 }, () => monthly(account)))
    await advance(account, '2026-12-20 22:00:00')
    it.clock.advance(10 * HOUR_MS + 10 * DAY_MS)
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await Promise.all([...services, ...services].map(({ sweeps }) => sweepRecurrences(sweeps)))
      await Promise.all(services.map(({ sweeps }) => sweepRecurrences(sweeps)))
    })
    expect(deadlocks).toBe(0)
    for (const mandate of mandates)
      expect((await timesOf(mandate)).slice(1).map((time) => time.slice(20))).toEqual([
        'CHARGE_SCHEDULED',
        'CHARGE_PAID',
      ])
    expect(await moneyOf(account)).toEqual({ available: 1980.2, blocked: 0 })
  })
})

describe('a clock that is set back', () => {
  const reset = ({ api }: TestAccount) => done(api.post('/v1.1/sandbox/clock/reset'))

  test('what was done stays done, and what is open waits for its day to come again', async () => {
    const account = await atStart()
    const mandate = await monthly(account)
    await advance(account, '2027-02-20')
    const before = await eventsOf(it, mandate)
    expect(await statesOf(mandate)).toEqual([
      '2026-12-31 PAID',
      '2027-01-31 PAID',
      '2027-02-28 SCHEDULED',
      '2027-03-31 PENDING_SCHEDULE',
    ])
    await reset(account)
    it.clock.advance(DAY_MS)
    await it.sweep()
    expect((await advance(account, '2027-02-20')).processed).toBe(0)
    expect(await eventsOf(it, mandate)).toEqual(before)
    await reset(account)
    it.clock.set('2027-02-28 08:00:00')
    await it.sweep()
    it.clock.set('2027-03-21 00:00:00')
    await it.sweep()
    expect((await timesOf(mandate)).slice(before.length)).toEqual([
      '2027-02-28 08:00:00 CHARGE_PAID',
      '2027-03-21 00:00:00 CHARGE_SCHEDULED',
    ])
  })

  test('a charge at the bank can still be cancelled, fail and be paid', async () => {
    const account = await atStart()
    const mandates = [await monthly(account), await monthly(account), await monthly(account)] as const
    await advance(account, '2026-12-22')
    await reset(account)
    const [cancelled, failed, paid] = await Promise.all(
      mandates.map(async (one) => (await chargesOf(one))[0]!.instructionId),
    )
    await done(cancelCharge(mandates[0], cancelled!))
    await done(simCharge(mandates[1], failed!, 'failed'))
    await done(simCharge(mandates[2], paid!, 'concluded'))
    expect((await Promise.all(mandates.map(statesOf))).map(([first]) => first!.slice(11))).toEqual([
      'CANCELLED',
      'FAILED',
      'PAID',
    ])
    await advance(account, '2027-01-03')
    expect((await timesOf(mandates[1])).slice(-2)).toEqual([
      '2027-01-02 00:00:00 CHARGE_SCHEDULED',
      '2027-01-02 08:00:00 CHARGE_PAID',
    ])
    expect(await moneyOf(account)).toEqual({ available: 198.02, blocked: 0 })
  })

  test('a mandate made ahead is approved today: its first cycle that can still be charged is the first of all', async () => {
    const account = await atStart()
    await advance(account, '2027-06-01')
    const planId = await givenPlan(account)
    const mandate = await givenMandate(account, { planId, initialDate: '2027-06-10' })
    await reset(account)
    await done(simMandate(mandate, 'approved'))
    expect(await statesOf(mandate)).toEqual(['2027-06-10 PENDING_SCHEDULE'])
    it.clock.set('2027-05-31 00:00:00')
    await it.sweep()
    expect(await statesOf(mandate)).toEqual(['2027-06-10 SCHEDULED', '2027-07-10 PENDING_SCHEDULE'])
  })

  test('another process that has just read the clock sweeps nothing twice', async () => {
    const account = await atStart()
    const mandate = await monthly(account)
    const other = await anotherService(it)
    await advance(account, '2026-12-31 07:59:59')
    it.clock.advance(1_000)
    await Promise.all([sweepRecurrences(other.sweeps), reset(account), sweepRecurrences(it.service.sweeps)])
    await other.close()
    await advance(account, '2027-01-01')
    expect(await daysTold(it, mandate, 'CHARGE_PAID')).toEqual(['2026-12-31'])
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })
})

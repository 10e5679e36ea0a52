import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../harness/given.ts'
import { moneyOf } from '../harness/money-out.ts'
import {
  advance,
  approvedMandate,
  authorizationOf,
  chargeDue,
  chargesOf,
  done,
  eventsOf,
  givenPlan,
  listeningAccount,
  setCycleAmount,
  simCharge,
  type TestEvent,
  type TestMandate,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()

/** One line an event: when, what, the next cycle, and of a charge its day, amount and end. */
function line(event: TestEvent): string {
  const { eventDate, eventType, nextRecurrenceDate, chargeDueDate, chargeAmount, chargeStatus, rejectionCode } = event
  const told = [eventDate.slice(0, 16), eventType.replace('RECURRENCE_', ''), `next ${day(nextRecurrenceDate)}`]
  if (chargeDueDate) told.push(`due ${day(chargeDueDate)}`, chargeAmount.toFixed(2), chargeStatus)
  if (rejectionCode) told.push(rejectionCode, event.retryScheduled ? 'again' : 'never again')
  return told.join(' ')
}
const day = (timestamp: string | null) => timestamp?.slice(0, 10) ?? 'none'

const linesOfStatement = async ({ api }: TestAccount): Promise<string[]> =>
  (await done(api.get('/v1.1/statement'))).result
    .toReversed()
    .map(
      ({ date, type, amount, balance }: { date: string; type: string; amount: number; balance: number }) =>
        `${date} ${type} ${amount.toFixed(2)} ${balance.toFixed(2)}`,
    )

/** The bank says no in the morning of the day, before it would have paid. */
async function refusedOn(mandate: TestMandate, on: string, how: string, due = on) {
  await advance(mandate.account, `${on} 07:00:00`)
  const { instructionId } = await chargeDue(mandate, due)
  await done(simCharge(mandate, instructionId, how))
}

const monthEnds = (first: string) =>
  Array.from({ length: 12 }, (_, month) => {
    const [year, from] = first.split('-').map(Number) as [number, number]
    return new Date(Date.UTC(year, from + month, 0)).toISOString().slice(0, 10)
  })

describe('twelve months from the 31st', () => {
  test('VARIABLE: a month without funds, a month above the payer’s limit, a new price, a price for once', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const account = await listeningAccount(it)
    const planId = await givenPlan(account, { minimumRecurrenceAmount: 80 })
    const amount = { valueType: 'VARIABLE' }
    const mandate = await approvedMandate(account, { planId, initialDate: '2026-12-31', amount })
    const began = performance.now()

    await refusedOn(mandate, '2027-01-31', 'failed')
    await refusedOn(mandate, '2027-02-02', 'failed', '2027-01-31')
    await advance(account, '2027-02-20')
    // February's charge is at the bank already and keeps its price.
    await done(account.api.put(`/v1.1/pix-automatic/plans/${planId}`, { recurrenceAmount: 120 }))
    await advance(account, '2027-04-10')
    await done(setCycleAmount(mandate, 999))
    await done(setCycleAmount(mandate, 150))
    for (const on of ['2027-06-30', '2027-07-02', '2027-07-04', '2027-07-06'])
      await refusedOn(mandate, on, 'reject/AM02', '2027-06-30')
    await advance(account, '2027-12-01')
    console.log(`a VARIABLE year: ${Math.round(performance.now() - began)} ms`)

    expect((await chargesOf(mandate)).map(({ dueDate }) => day(dueDate))).toEqual([
      ...monthEnds('2026-12'),
      '2027-12-31',
    ])
    expect((await chargesOf(mandate)).map(({ status, amount }) => `${status} ${amount}`)).toEqual([
      'PAID 100',
      'PAID 100',
      'PAID 100',
      'PAID 120',
      'PAID 150',
      'PAID 120',
      'FAILED 120',
      ...Array(5).fill('PAID 120'),
      'PENDING_SCHEDULE 120',
    ])
    expect((await eventsOf(it, mandate)).map(line)).toEqual([
      '2026-11-16 12:00 AUTHORIZED next 2026-12-31',
      '2026-12-21 00:00 CHARGE_SCHEDULED next 2027-01-31 due 2026-12-31 100.00 SCHEDULED',
      '2026-12-31 08:00 CHARGE_PAID next 2027-01-31 due 2026-12-31 100.00 PAID',
      '2027-01-21 00:00 CHARGE_SCHEDULED next 2027-02-28 due 2027-01-31 100.00 SCHEDULED',
      '2027-01-31 07:00 CHARGE_FAILED next 2027-02-28 due 2027-01-31 100.00 FAILED AM04 again',
      '2027-02-02 00:00 CHARGE_SCHEDULED next 2027-02-28 due 2027-01-31 100.00 SCHEDULED',
      '2027-02-02 07:00 CHARGE_FAILED next 2027-02-28 due 2027-01-31 100.00 FAILED AM04 again',
      '2027-02-04 00:00 CHARGE_SCHEDULED next 2027-02-28 due 2027-01-31 100.00 SCHEDULED',
      '2027-02-04 08:00 CHARGE_PAID next 2027-02-28 due 2027-01-31 100.00 PAID',
      '2027-02-18 00:00 CHARGE_SCHEDULED next 2027-03-31 due 2027-02-28 100.00 SCHEDULED',
      '2027-02-28 08:00 CHARGE_PAID next 2027-03-31 due 2027-02-28 100.00 PAID',
      '2027-03-21 00:00 CHARGE_SCHEDULED next 2027-04-30 due 2027-03-31 120.00 SCHEDULED',
      '2027-03-31 08:00 CHARGE_PAID next 2027-04-30 due 2027-03-31 120.00 PAID',
      '2027-04-20 00:00 CHARGE_SCHEDULED next 2027-05-31 due 2027-04-30 150.00 SCHEDULED',
      '2027-04-30 08:00 CHARGE_PAID next 2027-05-31 due 2027-04-30 150.00 PAID',
      '2027-05-21 00:00 CHARGE_SCHEDULED next 2027-06-30 due 2027-05-31 120.00 SCHEDULED',
      '2027-05-31 08:00 CHARGE_PAID next 2027-06-30 due 2027-05-31 120.00 PAID',
      '2027-06-20 00:00 CHARGE_SCHEDULED next 2027-07-31 due 2027-06-30 120.00 SCHEDULED',
      '2027-06-30 07:00 CHARGE_FAILED next 2027-07-31 due 2027-06-30 120.00 REJECTED AM02 again',
      '2027-07-02 00:00 CHARGE_SCHEDULED next 2027-07-31 due 2027-06-30 120.00 SCHEDULED',
      '2027-07-02 07:00 CHARGE_FAILED next 2027-07-31 due 2027-06-30 120.00 REJECTED AM02 again',
      '2027-07-04 00:00 CHARGE_SCHEDULED next 2027-07-31 due 2027-06-30 120.00 SCHEDULED',
      '2027-07-04 07:00 CHARGE_FAILED next 2027-07-31 due 2027-06-30 120.00 REJECTED AM02 again',
      '2027-07-06 00:00 CHARGE_SCHEDULED next 2027-07-31 due 2027-06-30 120.00 SCHEDULED',
      '2027-07-06 07:00 CHARGE_FAILED next 2027-07-31 due 2027-06-30 120.00 REJECTED AM02 never again',
      '2027-07-21 00:00 CHARGE_SCHEDULED next 2027-08-31 due 2027-07-31 120.00 SCHEDULED',
      '2027-07-31 08:00 CHARGE_PAID next 2027-08-31 due 2027-07-31 120.00 PAID',
      '2027-08-21 00:00 CHARGE_SCHEDULED next 2027-09-30 due 2027-08-31 120.00 SCHEDULED',
      '2027-08-31 08:00 CHARGE_PAID next 2027-09-30 due 2027-08-31 120.00 PAID',
      '2027-09-20 00:00 CHARGE_SCHEDULED next 2027-10-31 due 2027-09-30 120.00 SCHEDULED',
      '2027-09-30 08:00 CHARGE_PAID next 2027-10-31 due 2027-09-30 120.00 PAID',
      '2027-10-21 00:00 CHARGE_SCHEDULED next 2027-11-30 due 2027-10-31 120.00 SCHEDULED',
      '2027-10-31 08:00 CHARGE_PAID next 2027-11-30 due 2027-10-31 120.00 PAID',
      '2027-11-20 00:00 CHARGE_SCHEDULED next 2027-12-31 due 2027-11-30 120.00 SCHEDULED',
      '2027-11-30 08:00 CHARGE_PAID next 2027-12-31 due 2027-11-30 120.00 PAID',
    ])
    expect(await linesOfStatement(account)).toEqual([
      '2026-12-31 08:00:00 RECURRENCE 100.00 100.00',
      '2026-12-31 08:00:00 FEE -0.99 99.01',
      '2027-02-04 08:00:00 RECURRENCE 100.00 199.01',
      '2027-02-04 08:00:00 FEE -0.99 198.02',
      '2027-02-28 08:00:00 RECURRENCE 100.00 298.02',
      '2027-02-28 08:00:00 FEE -0.99 297.03',
      '2027-03-31 08:00:00 RECURRENCE 120.00 417.03',
      '2027-03-31 08:00:00 FEE -1.19 415.84',
      '2027-04-30 08:00:00 RECURRENCE 150.00 565.84',
      '2027-04-30 08:00:00 FEE -1.49 564.35',
      '2027-05-31 08:00:00 RECURRENCE 120.00 684.35',
      '2027-05-31 08:00:00 FEE -1.19 683.16',
      '2027-07-31 08:00:00 RECURRENCE 120.00 803.16',
      '2027-07-31 08:00:00 FEE -1.19 801.97',
      '2027-08-31 08:00:00 RECURRENCE 120.00 921.97',
      '2027-08-31 08:00:00 FEE -1.19 920.78',
      '2027-09-30 08:00:00 RECURRENCE 120.00 1040.78',
      '2027-09-30 08:00:00 FEE -1.19 1039.59',
      '2027-10-31 08:00:00 RECURRENCE 120.00 1159.59',
      '2027-10-31 08:00:00 FEE -1.19 1158.40',
      '2027-11-30 08:00:00 RECURRENCE 120.00 1278.40',
      '2027-11-30 08:00:00 FEE -1.19 1277.21',
    ])
    expect(await moneyOf(account)).toEqual({ available: 1277.21, blocked: 0 })
    expect(await authorizationOf(mandate)).toMatchObject({ status: 'APPROVED', amount: 120, finalDate: null })
    expect(await salesOf(account)).toEqual({ PAID: 11, CANCELLED: 1 })
  })

  test('FIXED, over a leap year: no price changes it, and the last of its cycles concludes it', async () => {
    it.clock.set('2027-08-01 12:00:00')
    const account = await listeningAccount(it)
    const planId = await givenPlan(account, { period: 12, recurrenceAmount: 49.9 })
    const mandate = await approvedMandate(account, { planId, initialDate: '2027-08-31' })
    const began = performance.now()

    await advance(account, '2027-10-01')
    await done(account.api.put(`/v1.1/pix-automatic/plans/${planId}`, { recurrenceAmount: 120, period: 3 }))
    expect((await setCycleAmount(mandate, 150)).http).toBe(400)
    await refusedOn(mandate, '2028-02-29', 'failed')
    await refusedOn(mandate, '2028-03-02', 'failed', '2028-02-29')
    await refusedOn(mandate, '2028-05-31', 'reject/AC03')
    const { processed } = await advance(account, '2029-08-01')
    // June and July; after that nothing is ever due again.
    expect(processed).toBe(4)
    console.log(`a FIXED year: ${Math.round(performance.now() - began)} ms`)

    const charges = await chargesOf(mandate)
    expect(charges.map(({ dueDate }) => day(dueDate))).toEqual(monthEnds('2027-08'))
    expect(charges.map(({ status }) => status)).toEqual([...Array(9).fill('PAID'), 'FAILED', 'PAID', 'PAID'])
    expect(charges.map(({ amount }) => amount)).toEqual(Array(12).fill(49.9))
    const plain = (due: string, next: string) => [
      `${daysBefore(due, 10)} 00:00 CHARGE_SCHEDULED next ${next} due ${due} 49.90 SCHEDULED`,
      `${due} 08:00 CHARGE_PAID next ${next} due ${due} 49.90 PAID`,
    ]
    const march = 'next 2028-03-31 due 2028-02-29 49.90'
    expect((await eventsOf(it, mandate)).map(line)).toEqual([
      '2027-08-01 12:00 AUTHORIZED next 2027-08-31',
      ...plain('2027-08-31', '2027-09-30'),
      ...plain('2027-09-30', '2027-10-31'),
      ...plain('2027-10-31', '2027-11-30'),
      ...plain('2027-11-30', '2027-12-31'),
      ...plain('2027-12-31', '2028-01-31'),
      ...plain('2028-01-31', '2028-02-29'),
      `2028-02-19 00:00 CHARGE_SCHEDULED ${march} SCHEDULED`,
      `2028-02-29 07:00 CHARGE_FAILED ${march} FAILED AM04 again`,
      `2028-03-02 00:00 CHARGE_SCHEDULED ${march} SCHEDULED`,
      `2028-03-02 07:00 CHARGE_FAILED ${march} FAILED AM04 again`,
      `2028-03-04 00:00 CHARGE_SCHEDULED ${march} SCHEDULED`,
      `2028-03-04 08:00 CHARGE_PAID ${march} PAID`,
      ...plain('2028-03-31', '2028-04-30'),
      ...plain('2028-04-30', '2028-05-31'),
      '2028-05-21 00:00 CHARGE_SCHEDULED next 2028-06-30 due 2028-05-31 49.90 SCHEDULED',
      '2028-05-31 07:00 CHARGE_FAILED next 2028-06-30 due 2028-05-31 49.90 REJECTED AC03 never again',
      ...plain('2028-06-30', '2028-07-31'),
      ...plain('2028-07-31', 'none'),
      '2028-07-31 08:00 CONCLUDED next none',
    ])
    const events = await eventsOf(it, mandate)
    expect(new Set(events.map(({ finalDate }) => finalDate))).toEqual(new Set(['2028-07-31 00:00:00']))
    expect(events.map(({ status }) => status)).toEqual([...Array(events.length - 1).fill('APPROVED'), 'CONCLUDED'])
    // 11 payments of 49.90 at a fee of 0.49 each.
    expect(await moneyOf(account)).toEqual({ available: 543.51, blocked: 0 })
    expect((await linesOfStatement(account)).at(-1)).toBe('2028-07-31 08:00:00 FEE -0.49 543.51')
    expect(await authorizationOf(mandate)).toMatchObject({
      status: 'CONCLUDED',
      nextRecurrenceDate: null,
      finalDate: '2028-07-31',
    })
    expect(await salesOf(account)).toEqual({ PAID: 11, CANCELLED: 1 })
  })

  test('every payment names its sale and its own end-to-end id, on both sides', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const account = await listeningAccount(it)
    const mandate = await approvedMandate(account, { planId: await givenPlan(account), initialDate: '2026-12-31' })
    await advance(account, { days: 365 })
    const paid = (await chargesOf(mandate)).filter(({ status }) => status === 'PAID')
    expect(paid).toHaveLength(11)
    expect(new Set(paid.map(({ endToEnd }) => endToEnd)).size).toBe(11)
    const told = (await eventsOf(it, mandate)).filter(({ eventType }) => eventType === 'RECURRENCE_CHARGE_PAID')
    expect(told.map(({ saleToken }) => saleToken)).toEqual(paid.map(({ sale }) => sale!.uuid))
    for (const { sale, endToEnd, dueDate } of paid) {
      const asked = (await done(account.api.get(`/v1.1/transactions/${sale!.uuid}`))) as Record<string, unknown>
      expect(asked).toMatchObject({ situation: 'PAID', amount: 100, processingDate: dueDate.replace('00:', '08:') })
      const payer = await done(account.api.get(`/v1.1/transactions/${sale!.uuid}/payment_info`))
      expect(JSON.stringify(payer)).toContain(endToEnd)
    }
  })
})

const daysBefore = (on: string, days: number) =>
  new Date(Date.parse(`${on}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)

/** How many sales of the account stand in which situation. */
async function salesOf({ api }: TestAccount): Promise<Record<string, number>> {
  const { result } = await done(api.get('/v1.1/transactions'))
  const counts: Record<string, number> = {}
  for (const { situation } of result as { situation: string }[]) counts[situation] = (counts[situation] ?? 0) + 1
  return counts
}

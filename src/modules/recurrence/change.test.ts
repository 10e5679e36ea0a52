import { describe, expect, test } from 'vitest'
import { type CalendarDay, dayOf, hourOfDay, type Instant, plusDays, startOfDay } from '../../kernel/calendar.ts'
import { cents, type ShareUnits } from '../../kernel/cents.ts'
import type { AccountId, ChargeId, EndToEndId, IdRec, MandateId, NumberId, PlanId, SaleId } from '../../kernel/ids.ts'
import { type Changing, changing, dueOfCharge } from './change.ts'
import type { Charge } from './charge.ts'
import type { Mandate } from './mandate.ts'

const TODAY = '2026-11-16' as CalendarDay
const NOON = hourOfDay(TODAY, 12)
const ID = 'charge' as ChargeId

/** In force, 100.00 a month and at least 20.00, the first time in five days. */
const mandateWith = (fields: Partial<Mandate> = {}): Mandate => ({
  accountId: 1 as AccountId,
  id: 'mandate' as MandateId,
  number: 1 as NumberId,
  idRec: 'RR' as IdRec,
  planId: 'plan' as PlanId,
  version: 3,
  turns: 2,
  state: 'APPROVED',
  valueType: 'VARIABLE',
  amount: null,
  minimum: cents(2_000),
  oneOff: null,
  initialDate: plusDays(TODAY, 5),
  periodicity: 'MONTHLY',
  finalDate: null,
  lastCycle: null,
  retries: true,
  immediate: false,
  nextCycle: 0,
  openCharges: 1,
  referenceCode: 'r',
  callbackUrl: null,
  shopper: {} as Mandate['shopper'],
  payer: { document: '1', name: 'P', ispb: null },
  createdAt: startOfDay(TODAY),
  updatedAt: startOfDay(TODAY),
  expiresAt: startOfDay(plusDays(TODAY, 30)),
  approvedAt: startOfDay(TODAY),
  ...fields,
})

/** It waits for its registration. */
const chargeWith = (fields: Partial<Charge> = {}): Charge => ({
  accountId: 1 as AccountId,
  id: ID,
  number: 2 as NumberId,
  mandateId: 'mandate' as MandateId,
  cycle: 0,
  state: 'PENDING_SCHEDULE',
  dueDate: plusDays(TODAY, 5),
  amount: null,
  saleId: null,
  saleNumber: null,
  attempt: 0,
  nextAttempt: null,
  endToEnd: null,
  rejectionCode: null,
  cancelReason: null,
  createdAt: startOfDay(TODAY),
  ...fields,
})
const sold = { amount: cents(10_000), saleId: 'sale' as SaleId, saleNumber: 3 as NumberId }
/** Its first retry is to come. */
const retrying = { ...sold, state: 'FAILED', nextAttempt: 1, rejectionCode: 'AM04' } as const

function deciding(mandate: Mandate, charges: readonly Charge[], at: Instant = NOON): Changing {
  let made = 10
  return changing(
    { mandate, plan: { title: 't', description: null, recurrenceAmount: cents(10_000) }, charges },
    {
      at,
      account: { pixFee: { share: 9_900 as ShareUnits, fixed: cents(0) } },
      newId: () => `id-${++made}`,
      nextNumber: () => ++made as NumberId,
    },
  )
}

describe('whoever decides on what is no longer so changes nothing', () => {
  const reserve = (work: Changing) => work.reserve(ID)
  const missRetry = (work: Changing) => work.missRetry(ID)
  const longAfter = startOfDay(plusDays(TODAY, 60))

  test.each<[string, Partial<Mandate>, Partial<Charge>, (work: Changing) => boolean, Instant?]>([
    ['registers a charge that was cancelled', {}, { state: 'CANCELLED', amount: cents(10_000) }, reserve],
    ['registers a charge a second time', {}, sold, reserve],
    ['registers a charge of a mandate that is being cancelled', { state: 'CANCELLING' }, {}, reserve],
    ['puts off a retry of a mandate that is being cancelled', { state: 'CANCELLING' }, retrying, missRetry, longAfter],
    ['puts off a retry of a charge without one', {}, { ...sold, state: 'FAILED' }, missRetry, longAfter],
    ['sends a charge that has no price yet', {}, {}, (work) => work.schedule(ID)],
    ['sends a charge that failed for good', {}, { ...sold, state: 'FAILED' }, (work) => work.schedule(ID)],
    ['pays a charge that waits', {}, sold, (work) => work.pay(ID, 'e' as EndToEndId)],
    ['cancels a charge that failed', {}, retrying, (work) => work.cancel(ID, null)],
  ])('%s', (_what, mandate, charge, decide, at) => {
    const work = deciding(mandateWith(mandate), [chargeWith(charge)], at)
    expect(decide(work)).toBe(false)
    const { newCharges, charges, newSales, cancelledSales, news } = work.change()
    expect([newCharges, charges, newSales, cancelledSales, news]).toEqual([[], [], [], [], []])
  })
})

describe('a mandate that is approved', () => {
  test.each([
    ['in time for its first cycle', plusDays(TODAY, 3), 0],
    ['a day too late for it', plusDays(TODAY, 4), 1],
  ])('%s: the day of the approval decides, not that of the checkout', (_what, day, cycle) => {
    const asked = { state: 'APPROVING', nextCycle: null, openCharges: 0, approvedAt: null } as const
    const work = deciding(mandateWith(asked), [], startOfDay(day))
    expect(work.move('approve')).toBe(true)
    expect(work.change().newCharges).toMatchObject([{ cycle }])
  })
})

describe('a charge that is sent again', () => {
  test('has no reason any more, and counts as that retry', () => {
    const work = deciding(mandateWith(), [chargeWith(retrying)])
    expect(work.schedule(ID)).toBe(true)
    expect(work.charge(ID)).toMatchObject({ state: 'SCHEDULED', attempt: 1, nextAttempt: null, rejectionCode: null })
  })
})

describe('a first retry, two days after the due date, that nobody sent', () => {
  test.each([
    [2, 'is sent', 1],
    [3, 'is put off to the second', 2],
    [4, 'is put off to the second, which is sent today', 2],
    [5, 'is put off to the third', 3],
    [6, 'is put off to the third, which is sent today', 3],
    [7, 'was the last', null],
  ])('%d days after it: %s', (days, _what, nextAttempt) => {
    const charge = chargeWith(retrying)
    const work = deciding(
      mandateWith({ nextCycle: 1, openCharges: 2 }),
      [charge],
      hourOfDay(plusDays(charge.dueDate, days), 10),
    )
    expect(work.missRetry(ID)).toBe(days > 2)
    expect(work.charge(ID)).toMatchObject({ state: 'FAILED', attempt: 0, nextAttempt })
    const told = work
      .change()
      .news.map(({ event, body }) => [event, (body() as Record<string, unknown>)['chargeStatus']])
    expect(told).toEqual(nextAttempt === null ? [['RECURRENCE_CHARGE_FAILED', 'FAILED']] : [])
  })
})

test('whoever sets a price changes the mandate, and its time of change', () => {
  const work = deciding(mandateWith(), [])
  work.setOneOff(cents(3_000))
  expect(work.change().mandate).toMatchObject({ oneOff: 3_000, updatedAt: NOON, version: 4, turns: 2 })
})

describe('a charge is due to be registered', () => {
  const registrationOf = (dueIn: number) =>
    dueOfCharge(chargeWith({ dueDate: plusDays(TODAY, dueIn), createdAt: NOON }), mandateWith())

  test('ten days before, but not before it was made', () => {
    expect(registrationOf(11)).toEqual({ kind: 'register', at: startOfDay(plusDays(TODAY, 1)) })
    expect(registrationOf(10)).toEqual({ kind: 'register', at: NOON })
    expect(registrationOf(5)).toEqual({ kind: 'register', at: NOON })
  })
})

describe('the sale of a charge can be paid', () => {
  test.each([
    ['MONTHLY', false, 0],
    ['MONTHLY', true, 6],
    ['WEEKLY', false, 0],
    ['WEEKLY', true, 5],
  ] as const)('%s, retries %s: to the end of the day, %d days after it is due', (periodicity, retries, days) => {
    const work = deciding(mandateWith({ periodicity, retries }), [chargeWith()])
    expect(work.reserve(ID)).toBe(true)
    const [sale] = work.change().newSales
    const last = plusDays(chargeWith().dueDate, days)
    expect([dayOf(sale!.expiresAt), sale!.expiresAt]).toEqual([last, startOfDay(plusDays(last, 1)) - 1])
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CalendarDay,
  dayOf,
  daysBetween,
  type Instant,
  instantFromWire,
  plusDays,
  startOfDay,
  wireTimestamp,
} from '../../kernel/calendar.ts'
import {
  type Calendar,
  cancellableUntil,
  collectionAt,
  collectionDay,
  cycleAfter,
  dueDateOf,
  firstChargeableDay,
  firstCycleFrom,
  isInDueWindow,
  lastCycleOf,
  nextRetry,
  type Periodicity,
  periodicities,
  RETRIES_MAX,
  registrationAt,
} from './cycle.ts'

const RUNS = { numRuns: 10_000, seed: 2026 }

const day = (text: string) => text as CalendarDay
const at = (text: string) => instantFromWire(text)!
const daysFrom = (first: string, last: string): fc.Arbitrary<CalendarDay> =>
  fc.integer({ min: 0, max: daysBetween(day(first), day(last)) }).map((days) => plusDays(day(first), days))
/** Every day that has a name, months' ends more often than chance would have them. */
const anyDay = fc
  .tuple(daysFrom('0001-01-01', '9999-12-31'), fc.constantFrom('', '', '28', '29', '30', '31'))
  .map(([any, end]) => plusDays(day(`${any.slice(0, 8)}01`), Number(end || any.slice(8)) - 1))
  .filter((any) => any.length === 10)
const anyPeriodicity = fc.constantFrom(...periodicities)
const openEnded = fc.record({ initialDate: anyDay, periodicity: anyPeriodicity, lastCycle: fc.constant(null) })

const monthsOf: Record<Periodicity, number> = { WEEKLY: 0, MONTHLY: 1, QUARTERLY: 3, SEMIANNUAL: 6, ANNUALLY: 12 }
const partsOf = (any: CalendarDay) => any.split(/(?<=\d)-/).map(Number) as [year: number, month: number, date: number]
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const lastOfMonth = (year: number, month: number) =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31

describe('the cycles of a mandate', () => {
  // biome-ignore format: a table
  const vectors: readonly (readonly [Periodicity, readonly string[]])[] = [
    ['MONTHLY',    ['2025-10-31', '2025-11-30', '2025-12-31', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
    ['MONTHLY',    ['2026-01-30', '2026-02-28', '2026-03-30', '2026-04-30']],
    ['QUARTERLY',  ['2026-11-30', '2027-02-28', '2027-05-30', '2027-08-30', '2027-11-30', '2028-02-29']],
    ['SEMIANNUAL', ['2026-08-31', '2027-02-28', '2027-08-31', '2028-02-29']],
    ['ANNUALLY',   ['2028-02-29', '2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']],
    ['WEEKLY',     ['2026-11-16', '2026-11-23', '2026-11-30', '2026-12-07']],
  ]
  test.each(vectors)('%s: %j', (periodicity, days) => {
    const calendar = { initialDate: day(days[0]!), periodicity }
    expect(days.map((_, cycle) => dueDateOf(calendar, cycle))).toEqual(days)
  })

  test('come one a period, none twice, on the day of the first one or the last of a shorter month', () => {
    fc.assert(
      fc.property(openEnded, fc.integer({ min: 0, max: 1_200 }), (calendar, cycle) => {
        const { initialDate, periodicity } = calendar
        const due = dueDateOf(calendar, cycle)
        expect(dueDateOf(calendar, 0)).toBe(initialDate)
        expect(daysBetween(due, dueDateOf(calendar, cycle + 1))).toBeGreaterThan(0)
        if (periodicity === 'WEEKLY') return void expect(daysBetween(initialDate, due)).toBe(7 * cycle)
        const [firstYear, firstMonth, date] = partsOf(initialDate)
        const [year, month] = partsOf(due)
        expect(12 * (year - firstYear) + month - firstMonth).toBe(monthsOf[periodicity] * cycle)
        expect(partsOf(due)[2]).toBe(Math.min(date, lastOfMonth(year, month)))
      }),
      RUNS,
    )
  })
})

describe('the first cycle from a day on', () => {
  const firstFrom = (calendar: Omit<Calendar, 'lastCycle'>, from: CalendarDay, lastCycle: number | null = null) =>
    firstCycleFrom({ ...calendar, lastCycle }, from)

  test('is the least that is not due before it', () => {
    fc.assert(
      fc.property(openEnded, anyDay, fc.integer({ min: -800, max: 20_000 }), (calendar, far, near) => {
        for (const from of [far, plusDays(calendar.initialDate, near)]) {
          const cycle = firstCycleFrom(calendar, from)!
          expect(cycle).toBeGreaterThanOrEqual(0)
          expect(daysBetween(from, dueDateOf(calendar, cycle))).toBeGreaterThanOrEqual(0)
          if (cycle > 0) expect(daysBetween(dueDateOf(calendar, cycle - 1), from)).toBeGreaterThan(0)
        }
      }),
      RUNS,
    )
  })

  test('is the cycle itself on its due date, and the next one a day later', () => {
    fc.assert(
      fc.property(openEnded, fc.integer({ min: 0, max: 600 }), (calendar, cycle) => {
        const due = dueDateOf(calendar, cycle)
        expect(firstCycleFrom(calendar, due)).toBe(cycle)
        expect(firstCycleFrom(calendar, plusDays(due, 1))).toBe(cycle + 1)
      }),
      RUNS,
    )
  })

  test('is none when the mandate has ended by then', () => {
    fc.assert(
      fc.property(
        openEnded,
        fc.integer({ min: -40, max: 8_000 }),
        fc.integer({ min: 0, max: 120 }),
        (calendar, days, last) => {
          const from = plusDays(calendar.initialDate, days)
          const cycle = firstFrom(calendar, from)!
          expect(firstFrom(calendar, from, last)).toBe(cycle <= last ? cycle : undefined)
        },
      ),
      RUNS,
    )
  })

  test('is found in the last year that has a name, and beyond', () => {
    const calendar = { initialDate: day('2026-11-10'), periodicity: 'ANNUALLY' } as const
    expect(firstFrom(calendar, day('9999-11-10'))).toBe(7_973)
    expect(firstFrom(calendar, day('9999-11-11'))).toBe(7_974)
    expect(firstFrom(calendar, plusDays(day('9999-12-31'), 1))).toBe(7_974)
  })
})

describe('the last cycle', () => {
  const monthly = { initialDate: day('2026-01-31'), periodicity: 'MONTHLY' } as const
  test.each([
    [0, null, null],
    [1, null, 0],
    [12, null, 11],
    [0, '2026-02-27', 0],
    [0, '2026-02-28', 1],
    [0, '2026-01-31', 0],
    [0, '2026-01-30', undefined],
    [12, '2026-01-30', undefined],
    [12, '2026-03-30', 1],
    [2, '2026-03-31', 1],
    [3, '2026-03-31', 2],
    [4, '2026-03-31', 2],
    [0, '9999-12-31', 95_687],
  ])('of %d cycles until %s is %s', (period, finalDate, last) => {
    expect(lastCycleOf(monthly, { period, finalDate: finalDate as CalendarDay | null })).toBe(last)
  })

  test('never passes the number of cycles nor the last day, and is the greatest that does not', () => {
    const end = fc.record({
      period: fc.integer({ min: 0, max: 100 }),
      days: fc.oneof(fc.constant(null), fc.integer({ min: -100, max: 9_000 })),
    })
    fc.assert(
      fc.property(openEnded, end, (calendar, { period, days }) => {
        const finalDate = days === null ? null : plusDays(calendar.initialDate, days)
        const fits = (cycle: number) =>
          (period === 0 || cycle < period) &&
          (finalDate === null || daysBetween(dueDateOf(calendar, cycle), finalDate) >= 0)
        const last = lastCycleOf(calendar, { period, finalDate })
        if (last === null) return void expect([period, finalDate]).toEqual([0, null])
        if (last === undefined) return void expect(fits(0)).toBe(false)
        expect([fits(last), fits(last + 1)]).toEqual([true, false])
      }),
      RUNS,
    )
  })

  test('is where one cycle after the other leads, through each of them once', () => {
    fc.assert(
      fc.property(openEnded, fc.integer({ min: 1, max: 100 }), (calendar, period) => {
        const lastCycle = lastCycleOf(calendar, { period, finalDate: null })!
        const walked: number[] = []
        for (
          let cycle: number | undefined = 0;
          cycle !== undefined;
          cycle = cycleAfter({ ...calendar, lastCycle }, cycle)
        )
          walked.push(cycle)
        expect(walked).toEqual(Array.from({ length: period }, (_, cycle) => cycle))
      }),
      RUNS,
    )
  })

  test('never comes when there is none', () => {
    expect(cycleAfter({ ...monthly, lastCycle: null }, 95_687)).toBe(95_688)
  })
})

describe('a charge is registered', () => {
  const DUE = day('2027-01-12')

  test('from midnight ten days before it is due', () => {
    expect(wireTimestamp(registrationAt(DUE))).toBe('2027-01-02 00:00:00')
  })

  test.each([
    ['2027-01-01', false],
    ['2027-01-02', true],
    ['2027-01-10', true],
    ['2027-01-11', false],
    ['2027-01-12', false],
  ])('on %s: %s', (today, taken) => {
    expect(isInDueWindow(DUE, day(today))).toBe(taken)
  })

  test('on the days from ten to two before it is due, and its instant begins the first of them', () => {
    const someDay = daysFrom('1970-02-01', '9999-12-01')
    fc.assert(
      fc.property(someDay, fc.integer({ min: -5, max: 20 }), (due, before) => {
        expect(isInDueWindow(due, plusDays(due, -before))).toBe(before >= 2 && before <= 10)
        const begins = registrationAt(due)
        expect(isInDueWindow(due, dayOf(begins))).toBe(true)
        expect(isInDueWindow(due, dayOf((begins - 1) as Instant))).toBe(false)
      }),
      RUNS,
    )
  })

  test('first of all for what is due in two days', () => {
    fc.assert(
      fc.property(daysFrom('1970-01-01', '9999-12-01'), (today) => {
        const first = firstChargeableDay(today)
        expect(isInDueWindow(first, today)).toBe(true)
        expect(isInDueWindow(plusDays(first, -1), today)).toBe(false)
      }),
      RUNS,
    )
  })
})

describe('a charge is collected', () => {
  test('at eight in the morning, and can be cancelled until ten in the evening before', () => {
    expect(wireTimestamp(collectionAt(day('2027-01-12')))).toBe('2027-01-12 08:00:00')
    expect(wireTimestamp(cancellableUntil(day('2027-01-12')))).toBe('2027-01-11 22:00:00')
    expect(wireTimestamp(cancellableUntil(day('2027-01-01')))).toBe('2026-12-31 22:00:00')
  })

  test('by the clock on the wall, also in the summers that had a time of their own', () => {
    expect(wireTimestamp(collectionAt(day('2018-11-04')))).toBe('2018-11-04 08:00:00')
    expect(wireTimestamp(cancellableUntil(day('2018-11-05')))).toBe('2018-11-04 22:00:00')
  })
})

describe('a charge that failed', () => {
  const attempts = Array.from({ length: RETRIES_MAX }, (_, made) => made + 1)
  const windowDays = (periodicity: Periodicity) => (periodicity === 'WEEKLY' ? 5 : 7)

  // biome-ignore format: a table
  test.each([
    ['WEEKLY',     ['2026-11-17', '2026-11-19', '2026-11-21']],
    ['MONTHLY',    ['2026-11-18', '2026-11-20', '2026-11-22']],
    ['QUARTERLY',  ['2026-11-18', '2026-11-20', '2026-11-22']],
    ['SEMIANNUAL', ['2026-11-18', '2026-11-20', '2026-11-22']],
    ['ANNUALLY',   ['2026-11-18', '2026-11-20', '2026-11-22']],
  ] as const)('%s is tried again on %j', (periodicity, days) => {
    expect(attempts.map((attempt) => collectionDay(day('2026-11-16'), periodicity, attempt))).toEqual(days)
  })

  test('is tried again three times at most, on different days, in its window and before the next cycle', () => {
    expect(RETRIES_MAX).toBe(3)
    fc.assert(
      fc.property(openEnded, fc.integer({ min: 0, max: 600 }), (calendar, cycle) => {
        const { periodicity } = calendar
        const [due, next] = [dueDateOf(calendar, cycle), dueDateOf(calendar, cycle + 1)]
        expect(collectionDay(due, periodicity, 0)).toBe(due)
        const after = attempts.map((attempt) => daysBetween(due, collectionDay(due, periodicity, attempt)!))
        expect(new Set(after).size).toBe(3)
        expect(after).toEqual([...after].sort((one, other) => one - other))
        expect(after[0]).toBeGreaterThan(0)
        expect(after[2]).toBeLessThanOrEqual(windowDays(periodicity))
        expect(after[2]).toBeLessThan(daysBetween(due, next))
        expect(collectionDay(due, periodicity, RETRIES_MAX + 1)).toBeUndefined()
      }),
      RUNS,
    )
  })

  const failed = (attempt: number) => ({ dueDate: day('2026-11-16'), attempt })
  // biome-ignore format: a table
  test.each([
    // periodicity  made  told of it              next
    ['MONTHLY',     0,    '2026-11-01 12:00:00',  1],
    ['MONTHLY',     0,    '2026-11-16 08:00:00',  1],
    ['MONTHLY',     0,    '2026-11-17 23:59:59',  1],
    ['MONTHLY',     0,    '2026-11-18 00:00:00',  2],
    ['MONTHLY',     1,    '2026-11-18 08:00:00',  2],
    ['MONTHLY',     1,    '2026-11-20 00:00:00',  3],
    ['MONTHLY',     2,    '2026-11-20 08:00:00',  3],
    ['MONTHLY',     2,    '2026-11-21 23:59:59',  3],
    ['MONTHLY',     2,    '2026-11-22 00:00:00',  undefined],
    ['MONTHLY',     3,    '2026-11-16 08:00:00',  undefined],
    ['WEEKLY',      0,    '2026-11-16 23:59:59',  1],
    ['WEEKLY',      0,    '2026-11-17 00:00:00',  2],
    ['WEEKLY',      0,    '2026-11-20 23:59:59',  3],
    ['WEEKLY',      0,    '2026-11-21 00:00:00',  undefined],
    ['WEEKLY',      3,    '2026-11-16 08:00:00',  undefined],
  ] as const)('%s, %d retries made, told %s: the next retry is %s', (periodicity, attempt, told, next) => {
    expect(nextRetry(failed(attempt), periodicity, at(told))).toBe(next)
  })

  test('is tried again on the first of its days that has not begun, and never on one that has', () => {
    const someDue = daysFrom('1970-02-01', '9999-12-01')
    const told = fc.integer({ min: -3 * 86_400, max: 9 * 86_400 })
    fc.assert(
      fc.property(
        someDue,
        anyPeriodicity,
        fc.integer({ min: 0, max: 3 }),
        told,
        (dueDate, periodicity, made, seconds) => {
          const heard = (startOfDay(dueDate) + seconds * 1_000) as Instant
          const open = attempts.filter(
            (attempt) => attempt > made && startOfDay(collectionDay(dueDate, periodicity, attempt)!) > heard,
          )
          expect(nextRetry({ dueDate, attempt: made }, periodicity, heard)).toBe(open[0])
        },
      ),
      RUNS,
    )
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CalendarDay,
  calendarDay,
  DAY_MS,
  dayAfter,
  dayOf,
  daysBetween,
  HOUR_MS,
  hourOf,
  hourOfDay,
  type Instant,
  instantFromWire,
  plusDays,
  plusMonths,
  startOfDay,
  wireTimestamp,
} from './calendar.ts'

const RUNS = { numRuns: 10_000, seed: 2026 }

const utc = (text: string) => Date.parse(text) as Instant
const instantsFrom = (first: string, last: string) =>
  fc.integer({ min: utc(first) / 1000, max: utc(last) / 1000 }).map((seconds) => (seconds * 1000) as Instant)
const sinceTheEpoch = instantsFrom('1970-01-01T00:00:00Z', '9999-12-31T00:00:00Z')
/** Since 2020 no hour of São Paulo was skipped or came twice. */
const withoutSummerTime = instantsFrom('2020-01-01T00:00:00Z', '9999-12-31T00:00:00Z')
const anyDay = instantsFrom('0001-01-01T00:00:00Z', '9999-12-31T00:00:00Z').map(
  (at) => new Date(at).toISOString().slice(0, 10) as CalendarDay,
)

const reference = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
/** `yyyy-MM-dd HH:mm:ss` as the platform's own calendar tells it. */
function byTheBook(at: Instant): string {
  const part = Object.fromEntries(reference.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']}:${part['second']}`
}

describe('a timestamp on the wire', () => {
  test.each([
    ['2026-11-16T15:00:00Z', '2026-11-16 12:00:00'],
    ['2026-11-16T02:59:59.999Z', '2026-11-15 23:59:59'],
    ['2026-11-16T03:00:00Z', '2026-11-16 00:00:00'],
    ['2027-01-01T02:59:59Z', '2026-12-31 23:59:59'],
    ['2028-03-01T02:00:00Z', '2028-02-29 23:00:00'],
    ['2018-12-25T12:00:00Z', '2018-12-25 10:00:00'],
    ['1970-01-01T00:00:00Z', '1969-12-31 21:00:00'],
  ])('%s is written %s, São Paulo', (at, text) => {
    expect(wireTimestamp(utc(at))).toBe(text)
    expect(dayOf(utc(at))).toBe(text.slice(0, 10))
  })

  test('is what the platform says, summer time and all', () => {
    const atAnyMs = fc.tuple(sinceTheEpoch, fc.integer({ min: 0, max: 999 })).map(([at, ms]) => (at + ms) as Instant)
    fc.assert(
      fc.property(atAnyMs, (at) => {
        expect(wireTimestamp(at)).toBe(byTheBook(at))
        expect(dayOf(at)).toBe(byTheBook(at).slice(0, 10))
      }),
      RUNS,
    )
  })

  test('comes back', () => {
    fc.assert(
      fc.property(withoutSummerTime, (at) => {
        expect(instantFromWire(wireTimestamp(at))).toBe(at)
        expect(instantFromWire(new Date(at).toISOString())).toBe(at)
      }),
      RUNS,
    )
  })

  test('comes back as the same text also where the clocks were put back', () => {
    fc.assert(
      fc.property(sinceTheEpoch, (at) => {
        expect(wireTimestamp(instantFromWire(wireTimestamp(at))!)).toBe(wireTimestamp(at))
      }),
      RUNS,
    )
  })
})

describe('reading a moment', () => {
  test.each([
    ['2026-11-16', '2026-11-16T03:00:00.000Z'],
    ['2026-11-16 09:08:07', '2026-11-16T12:08:07.000Z'],
    ['2026-11-16T12:08Z', '2026-11-16T12:08:00.000Z'],
    ['2026-11-16T12:08:07Z', '2026-11-16T12:08:07.000Z'],
    ['2026-11-16T12:08:07.123456789Z', '2026-11-16T12:08:07.123Z'],
    ['2026-11-16T09:08:07-03:00', '2026-11-16T12:08:07.000Z'],
    ['2026-11-17T01:08:07+13:00', '2026-11-16T12:08:07.000Z'],
  ])('%s is %s', (text, at) => {
    expect(new Date(instantFromWire(text)!).toISOString()).toBe(at)
  })

  test.each([
    '',
    '2026',
    '2026-11',
    '2026-02-30',
    '2026-13-01',
    '0000-01-01',
    '26-11-16',
    '2026-11-16 ',
    '2026-11-16 24:00:00',
    '2026-11-16 12:60:00',
    '2026-11-16 12:00:60',
    '2026-11-16 12:00',
    '2026-11-16  12:00:00',
    '2026-11-16T12:00:00',
    '2026-11-16T12:00:00z',
    '2026-11-16T12:00:00+0300',
    '2026-11-16T12:00:00+99:99',
    '2026-11-16T12:00:00.Z',
    '2026-11-16T12:00:00Z ',
    '16/11/2026',
    '+002026-11-16',
  ])('%j is none', (text) => {
    expect(instantFromWire(text)).toBeUndefined()
  })

  test('a moment that needs five digits for its year, or none, is none: the database could not take it', () => {
    expect(instantFromWire('9999-12-31 20:59:59')).toBe(utc('9999-12-31T23:59:59Z'))
    expect(instantFromWire('9999-12-31 21:00:00')).toBeUndefined()
    expect(instantFromWire('9999-12-31T23:59:59-01:00')).toBeUndefined()
    expect(instantFromWire('0001-01-01')).toBe(utc('0001-01-01T03:00:00Z'))
    expect(instantFromWire('0001-01-01T00:00:00+01:00')).toBeUndefined()
  })

  test('never throws', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^\d{4}-\d{2}-\d{2}[ T]?[\d:.Z+-]{0,20}$/))
    fc.assert(
      fc.property(texts, (text) => {
        const at = instantFromWire(text)
        expect(at === undefined || Number.isSafeInteger(at)).toBe(true)
      }),
      RUNS,
    )
  })
})

describe('a day in São Paulo', () => {
  test.each(['2026-11-16', '2028-02-29', '0001-01-01', '9999-12-31'])('%s is one', (text) => {
    expect(calendarDay(text)).toBe(text)
  })

  test.each(['2027-02-29', '2026-00-10', '2026-11-31', '0000-12-31', '2026-1-1', ' 2026-11-16', '2026-11-16\n', ''])(
    '%j is none',
    (text) => {
      expect(calendarDay(text)).toBeUndefined()
    },
  )

  test.each([
    ['2026-11-16', '2026-11-16T03:00:00.000Z'],
    ['2018-12-25', '2018-12-25T02:00:00.000Z'],
    // Summer time began at midnight: the day had no 00:00 and began at 01:00.
    ['2018-11-04', '2018-11-04T03:00:00.000Z'],
    ['2019-02-17', '2019-02-17T03:00:00.000Z'],
    ['0001-01-01', '0001-01-01T03:00:00.000Z'],
    ['9999-12-31', '9999-12-31T03:00:00.000Z'],
  ])('%s begins at %s', (day, at) => {
    expect(new Date(startOfDay(day as CalendarDay)).toISOString()).toBe(at)
  })

  test.each([
    ['2026-11-16', '2026-11-17'],
    ['2026-12-31', '2027-01-01'],
    ['2028-02-28', '2028-02-29'],
  ])('after %s comes %s', (day, next) => {
    expect(dayAfter(day as CalendarDay)).toBe(next)
  })

  test('the last day that has a name ends as well', () => {
    const last = '9999-12-31' as CalendarDay
    expect(dayAfter(last)).toBe('+010000-01-01')
    expect(startOfDay(dayAfter(last))).toBe(startOfDay(last) + DAY_MS)
  })

  test('begins on a whole hour, on that day, and ends where the next one begins', () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const [start, end] = [startOfDay(day), startOfDay(dayAfter(day))]
        expect([start, end].filter((at) => !Number.isInteger(at / HOUR_MS))).toEqual([])
        expect(dayOf(start)).toBe(day)
        expect(dayOf((start - 1) as Instant)).not.toBe(day)
        expect(dayOf((end - 1) as Instant)).toBe(day)
        expect(hourOf(end) - hourOf(start)).toSatisfy((hours: number) => hours >= 23 && hours <= 25)
      }),
      RUNS,
    )
  })
})

describe('counting days', () => {
  test.each([
    ['2026-11-16', 0, '2026-11-16'],
    ['2026-11-16', 15, '2026-12-01'],
    ['2026-12-31', 1, '2027-01-01'],
    ['2027-01-01', -1, '2026-12-31'],
    ['2028-02-28', 2, '2028-03-01'],
    ['2027-02-28', 1, '2027-03-01'],
    ['2100-02-28', 1, '2100-03-01'],
    // Summer time began and ended: a day is a day all the same.
    ['2018-11-03', 2, '2018-11-05'],
    ['2019-02-16', 2, '2019-02-18'],
    ['9999-12-31', 31, '+010000-01-31'],
  ])('%s and %d days is %s', (day, days, other) => {
    expect(plusDays(day as CalendarDay, days)).toBe(other)
    expect(daysBetween(day as CalendarDay, other as CalendarDay)).toBe(days)
  })

  test('one by one is all at once, and back again is where it began', () => {
    fc.assert(
      fc.property(anyDay, fc.integer({ min: -4_000, max: 4_000 }), (day, days) => {
        const other = plusDays(day, days)
        expect(plusDays(plusDays(day, days - 1), 1)).toBe(other)
        expect(plusDays(other, -days)).toBe(day)
        expect(daysBetween(day, other)).toBe(days)
      }),
      RUNS,
    )
  })
})

describe('counting months', () => {
  test.each([
    ['2026-01-31', 0, '2026-01-31'],
    ['2026-01-31', 1, '2026-02-28'],
    ['2028-01-31', 1, '2028-02-29'],
    ['2026-01-31', 2, '2026-03-31'],
    ['2026-03-31', 1, '2026-04-30'],
    ['2026-03-30', -1, '2026-02-28'],
    ['2026-12-15', 1, '2027-01-15'],
    ['2026-01-15', -1, '2025-12-15'],
    ['2028-02-29', 12, '2029-02-28'],
    ['2028-02-29', 48, '2032-02-29'],
    ['2096-02-29', 48, '2100-02-28'],
    ['0001-01-31', 1, '0001-02-28'],
    ['9999-12-31', 2, '+010000-02-29'],
  ])('%s and %d months is %s', (day, months, other) => {
    expect(plusMonths(day as CalendarDay, months)).toBe(other)
  })

  test('lands in the month that is meant, on the same day or its last', () => {
    const laterYears = instantsFrom('0100-01-01T00:00:00Z', '9900-12-31T00:00:00Z').map(
      (at) => new Date(at).toISOString().slice(0, 10) as CalendarDay,
    )
    fc.assert(
      fc.property(laterYears, fc.integer({ min: -1_188, max: 1_188 }), (day, months) => {
        const other = plusMonths(day, months)
        const monthNumber = (any: string) => 12 * Number(any.slice(0, 4)) + Number(any.slice(5, 7))
        expect(monthNumber(other) - monthNumber(day)).toBe(months)
        if (other.slice(8) === day.slice(8)) return
        expect(Number(other.slice(8))).toBeLessThan(Number(day.slice(8)))
        expect(plusDays(other, 1).slice(8)).toBe('01')
      }),
      RUNS,
    )
  })
})

describe('an hour of a day', () => {
  test.each([
    ['2026-11-16', 0, '2026-11-16T03:00:00.000Z'],
    ['2026-11-16', 8, '2026-11-16T11:00:00.000Z'],
    ['2026-11-16', 22, '2026-11-17T01:00:00.000Z'],
    ['2018-12-25', 8, '2018-12-25T10:00:00.000Z'],
    // Midnight was skipped: the clocks showed 01:00 at once.
    ['2018-11-04', 0, '2018-11-04T03:00:00.000Z'],
    ['2018-11-04', 8, '2018-11-04T10:00:00.000Z'],
    ['2019-02-17', 8, '2019-02-17T11:00:00.000Z'],
    ['9999-12-31', 22, '+010000-01-01T01:00:00.000Z'],
  ])('%s, %d hours is %s', (day, hour, at) => {
    expect(new Date(hourOfDay(day as CalendarDay, hour)).toISOString()).toBe(at)
  })

  test('is what the clock on the wall shows', () => {
    fc.assert(
      fc.property(withoutSummerTime, fc.integer({ min: 0, max: 23 }), (at, hour) => {
        const day = dayOf(at)
        expect(wireTimestamp(hourOfDay(day, hour))).toBe(`${day} ${String(hour).padStart(2, '0')}:00:00`)
        expect(hourOfDay(day, 0)).toBe(startOfDay(day))
      }),
      RUNS,
    )
  })
})

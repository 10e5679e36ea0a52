import { Type } from 'typebox'
import {
  type CalendarDay,
  calendarDay,
  dayAfter,
  hourOf,
  type Instant,
  instantFromWire,
  plusMs,
  SECOND_MS,
  startOfDay,
} from '../../kernel/calendar.ts'
import { anything, type Field } from '../../kernel/reader.ts'
import { HOUR_MAX, HOUR_MIN } from '../database/hour-pages.ts'

const PAGE_SIZE_MAX = 100

/** 1-based; 0 reads as 1. */
export const pageField: Field<number, false> = clampedField({ min: 1, max: 1_000_000_000, fallback: 1 })
export const pageSizeField: Field<number, false> = clampedField({
  min: 1,
  max: PAGE_SIZE_MAX,
  fallback: PAGE_SIZE_MAX,
})

type Clamp = { min: number; max: number; fallback: number; description?: string }

/** A number outside of its range is taken as the nearest one inside. */
export function clampedField({ min, max, fallback, ...says }: Clamp): Field<number, false> {
  return {
    ...anything(Type.Integer({ minimum: min, maximum: max, default: fallback, ...says })),
    read(value, field, faults) {
      if (typeof value === 'string' && /^-?\d{1,12}$/.test(value)) return Math.min(Math.max(Number(value), min), max)
      faults.push({ field, message: 'invalid value' })
      return undefined
    },
  }
}

export const dayField: Field<CalendarDay, false> = {
  schema: Type.String({ format: 'date', description: '`yyyy-MM-dd`, inclusive, São Paulo.' }),
  required: false,
  read(value, field, faults) {
    const day = typeof value === 'string' ? calendarDay(value) : undefined
    if (day === undefined) faults.push({ field, message: 'invalid value' })
    return day
  },
}

const MOMENT = '`yyyy-MM-dd`, `yyyy-MM-dd HH:mm:ss` (São Paulo) or ISO 8601 with an offset.'

const momentReader = (description: string, parse: (text: string) => Instant | undefined): Field<Instant, false> => ({
  schema: Type.String({ description }),
  required: false,
  read(value, field, faults) {
    const at = typeof value === 'string' ? parse(value) : undefined
    if (at === undefined) faults.push({ field, message: 'must be a date or a date and time' })
    return at
  },
})

export const momentField: Field<Instant, false> = momentReader(MOMENT, instantFromWire)

/** The first instant that no longer belongs: a day is meant to its end, a time to its second. */
export const throughField: Field<Instant, false> = momentReader(`${MOMENT} A day is meant to its end.`, (text) => {
  const day = calendarDay(text)
  const at = instantFromWire(text)
  return day === undefined ? at && (Math.min(plusMs(at, SECOND_MS), LAST_INSTANT) as Instant) : endOfDay(day)
})

/** 9999-12-31 ends a moment early: PostgreSQL would not read the year 10000 as we write it. */
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')
const endOfDay = (day: CalendarDay): Instant => Math.min(startOfDay(dayAfter(day)), LAST_INSTANT) as Instant

/** From the first instant of a range of days up to, and without, the one after it. */
export const instantsOfDays = (initial: CalendarDay | undefined, final: CalendarDay | undefined) => ({
  from: initial && startOfDay(initial),
  before: final && endOfDay(final),
})

/** Days begin on whole hours in São Paulo, so a range of days is exactly a range of hours. */
export const hoursOfDays = (initial: CalendarDay | undefined, final: CalendarDay | undefined) => ({
  hourFrom: initial === undefined ? HOUR_MIN : hourOf(startOfDay(initial)),
  hourTo: final === undefined ? HOUR_MAX : hourOf(startOfDay(dayAfter(final))),
})

export const pagedAnswer = <Item>(total: number, size: number, result: readonly Item[]) => ({
  totalElements: total,
  totalPages: Math.ceil(total / size),
  resultSize: result.length,
  result,
})

import { Type } from 'typebox'
import { type CalendarDay, calendarDay, dayAfter, hourOf, startOfDay } from '../../kernel/calendar.ts'
import { anything, type Field } from '../../kernel/reader.ts'
import { HOUR_MAX, HOUR_MIN } from '../database/hour-pages.ts'

const PAGE_SIZE_MAX = 100

/** 1-based; 0 reads as 1. */
export const pageField: Field<number, false> = clamped({ name: 'page', min: 1, max: 1_000_000_000, fallback: 1 })
export const pageSizeField: Field<number, false> = clamped({
  name: 'maxPageResults',
  min: 1,
  max: PAGE_SIZE_MAX,
  fallback: PAGE_SIZE_MAX,
})

function clamped({
  min,
  max,
  fallback,
}: {
  name: string
  min: number
  max: number
  fallback: number
}): Field<number, false> {
  return {
    ...anything(Type.Integer({ minimum: min, maximum: max, default: fallback })),
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

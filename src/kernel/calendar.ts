import type { Brand } from './brand.ts'

/** Milliseconds since 1970 in UTC. */
export type Instant = Brand<number, 'Instant'>
/** `yyyy-MM-dd`, a day in São Paulo. */
export type CalendarDay = Brand<string, 'CalendarDay'>
/** Whole hours since 1970 in UTC: the grain of our counters. */
export type HourNumber = Brand<number, 'HourNumber'>

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

export const plusMs = (at: Instant, ms: number): Instant => (at + ms) as Instant
export const hourOf = (at: Instant): HourNumber => Math.floor(at / HOUR_MS) as HourNumber

const zone = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'America/Sao_Paulo',
  dateStyle: 'short',
  timeStyle: 'medium',
})
const offsetByHour = new Map<number, number>()

/** São Paulo minus UTC. Zones change on whole hours, so one look-up an hour is exact and formatting stays arithmetic. */
function offsetMs(at: number): number {
  const hour = Math.floor(at / HOUR_MS)
  const known = offsetByHour.get(hour)
  if (known !== undefined) return known
  const start = hour * HOUR_MS
  const offset = Date.parse(`${zone.format(start).replace(' ', 'T')}Z`) - start
  if (offsetByHour.size > 10_000) offsetByHour.clear()
  offsetByHour.set(hour, offset)
  return offset
}

/** `yyyy-MM-dd HH:mm:ss` in São Paulo: every timestamp on the wire. */
export function wireTimestamp(at: Instant): string {
  const iso = new Date(at + offsetMs(at)).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
}

export const dayOf = (at: Instant): CalendarDay => new Date(at + offsetMs(at)).toISOString().slice(0, 10) as CalendarDay

/** Refuses days that no calendar has, such as 2026-02-30. */
export function calendarDay(text: string): CalendarDay | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text ? undefined : (text as CalendarDay)
}

export const startOfDay = (day: CalendarDay): Instant => localInstant(Date.parse(`${day}T00:00:00Z`))

export function dayAfter(day: CalendarDay): CalendarDay {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10) as CalendarDay
}

/** Reads `yyyy-MM-dd`, `yyyy-MM-dd HH:mm:ss` (both São Paulo) or ISO 8601 with an offset. */
export function instantFromWire(text: string): Instant | undefined {
  const day = calendarDay(text.slice(0, 10))
  if (day === undefined) return undefined
  if (text.length === 10) return startOfDay(day)
  if (/^ ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text.slice(10))) {
    return localInstant(Date.parse(`${day}T${text.slice(11)}Z`))
  }
  if (!/^T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text.slice(10))) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : (ms as Instant)
}

function localInstant(asIfUtc: number): Instant {
  const guess = asIfUtc - offsetMs(asIfUtc)
  return (asIfUtc - offsetMs(guess)) as Instant
}

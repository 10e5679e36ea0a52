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

/** Outside of these years nothing happens here, but a filter may name a day of them: "from 0001-01-01", "to 9999-12-31". */
const ZONE_KNOWN_FROM = Date.UTC(1970, 0)
const ZONE_KNOWN_BEFORE = Date.UTC(9999, 11, 31)
const STANDARD_OFFSET_MS = -3 * HOUR_MS

/** São Paulo minus UTC. Zones change on whole hours, so one look-up an hour is exact and formatting stays arithmetic. */
function offsetMs(at: number): number {
  if (at < ZONE_KNOWN_FROM || at >= ZONE_KNOWN_BEFORE) return STANDARD_OFFSET_MS
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

/** Refuses days that no calendar has, such as 2026-02-30 or one of the year 0. */
export function calendarDay(text: string): CalendarDay | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text ? undefined : (text as CalendarDay)
}

export const startOfDay = (day: CalendarDay): Instant => localInstant(Date.parse(`${day}T00:00:00Z`))

/** After 9999-12-31 comes +010000-01-01: no day of the wire, but that one ends too. */
export const dayAfter = (day: CalendarDay): CalendarDay => plusDays(day, 1)

export const plusDays = (day: CalendarDay, days: number): CalendarDay =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().split('T')[0] as CalendarDay

/** Whole days from one to the other; below 0 when the other comes first. */
export const daysBetween = (from: CalendarDay, to: CalendarDay): number =>
  (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS

/** A month that has no such day gives its last one: 31 January and one month is 28 or 29 February. */
export function plusMonths(day: CalendarDay, months: number): CalendarDay {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  const at = new Date(0)
  at.setUTCFullYear(year, month - 1 + months + 1, 0)
  at.setUTCDate(Math.min(date, at.getUTCDate()))
  return at.toISOString().split('T')[0] as CalendarDay
}

/** An hour of a day, by the clock on the wall. */
export const hourOfDay = (day: CalendarDay, hour: number): Instant =>
  localInstant(Date.parse(`${day}T00:00:00Z`) + hour * HOUR_MS)

/** Years of four digits, in UTC: what PostgreSQL reads back as we write it. */
const INSTANT_MIN = Date.parse('0001-01-01T00:00:00Z')
const INSTANT_MAX = Date.parse('9999-12-31T23:59:59.999Z')

/** Reads `yyyy-MM-dd`, `yyyy-MM-dd HH:mm:ss` (both São Paulo) or ISO 8601 with an offset. */
export function instantFromWire(text: string): Instant | undefined {
  const day = calendarDay(text.slice(0, 10))
  const at = day === undefined ? Number.NaN : instantOn(day, text.slice(10))
  return at >= INSTANT_MIN && at <= INSTANT_MAX ? (at as Instant) : undefined
}

/** NaN when the text after the day is no time. */
function instantOn(day: CalendarDay, rest: string): number {
  if (rest === '') return startOfDay(day)
  if (/^ ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(rest)) return localInstant(Date.parse(`${day}T${rest.slice(1)}Z`))
  const isIso = /^T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(rest)
  return isIso ? Date.parse(day + rest) : Number.NaN
}

function localInstant(asIfUtc: number): Instant {
  const guess = asIfUtc - offsetMs(asIfUtc)
  const at = asIfUtc - offsetMs(guess)
  // A time in the hour that the beginning of summer time skipped is the one an hour later.
  return (at + offsetMs(at) === asIfUtc ? at : Math.max(guess, at)) as Instant
}

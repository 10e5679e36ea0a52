import {
  type CalendarDay,
  dayOf,
  daysBetween,
  hourOfDay,
  type Instant,
  plusDays,
  plusMonths,
  startOfDay,
} from '../../kernel/calendar.ts'

export const periodicities = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMIANNUAL', 'ANNUALLY'] as const
export type Periodicity = (typeof periodicities)[number]

const months: Record<Exclude<Periodicity, 'WEEKLY'>, number> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  SEMIANNUAL: 6,
  ANNUALLY: 12,
}

/** When a mandate's cycles fall due. */
export type Calendar = {
  readonly initialDate: CalendarDay
  readonly periodicity: Periodicity
  /** From 0; null when it is open-ended. */
  readonly lastCycle: number | null
}

/** Always counted from the first day, so that a month's end never drifts: 31 January, 28 February, 31 March. */
export const dueDateOf = ({ initialDate, periodicity }: Omit<Calendar, 'lastCycle'>, cycle: number): CalendarDay =>
  periodicity === 'WEEKLY' ? plusDays(initialDate, 7 * cycle) : plusMonths(initialDate, months[periodicity] * cycle)

const isWithin = ({ lastCycle }: Calendar, cycle: number): boolean => lastCycle === null || cycle <= lastCycle

/** The first cycle that falls on the day or after it; undefined when the mandate ends before. */
export function firstCycleFrom(calendar: Calendar, day: CalendarDay): number | undefined {
  let cycle = Math.max(0, cyclesAtLeast(calendar, day))
  // Days counted and not texts compared: 9999-12-31 is how some write "for ever", and the year after it has five digits.
  while (daysBetween(dueDateOf(calendar, cycle), day) > 0) cycle += 1
  return isWithin(calendar, cycle) ? cycle : undefined
}

/** So many periods surely fit before the day: none is longer than its months of 31 days. */
const cyclesAtLeast = ({ initialDate, periodicity }: Calendar, day: CalendarDay): number =>
  Math.floor(daysBetween(initialDate, day) / (periodicity === 'WEEKLY' ? 7 : 31 * months[periodicity]))

export const cycleAfter = (calendar: Calendar, cycle: number): number | undefined =>
  isWithin(calendar, cycle + 1) ? cycle + 1 : undefined

/** The earlier of a number of cycles, where 0 sets no end, and a last day; undefined when no cycle is left at all. */
export function lastCycleOf(
  calendar: Omit<Calendar, 'lastCycle'>,
  { period, finalDate }: { period: number; finalDate: CalendarDay | null },
): number | null | undefined {
  const byPeriod = period === 0 ? null : period - 1
  if (finalDate === null) return byPeriod
  const after = firstCycleFrom({ ...calendar, lastCycle: null }, plusDays(finalDate, 1))!
  if (after === 0) return undefined
  return byPeriod === null ? after - 1 : Math.min(byPeriod, after - 1)
}

// ---- The days of one charge ----

const REGISTERED_DAYS_BEFORE = { earliest: 10, latest: 2 } as const
const COLLECTED_AT_HOUR = 8
const CANCELLED_UNTIL_HOUR = 22

/** The first cycle that can still be registered on a day. */
export const firstChargeableDay = (today: CalendarDay): CalendarDay => plusDays(today, REGISTERED_DAYS_BEFORE.latest)

export const registrationAt = (dueDate: CalendarDay): Instant =>
  startOfDay(plusDays(dueDate, -REGISTERED_DAYS_BEFORE.earliest))

/** Whether the payer's bank takes the charge on a day: from 10 to 2 days before it is due. */
export const isInDueWindow = (dueDate: CalendarDay, today: CalendarDay): boolean =>
  dueDate >= plusDays(today, REGISTERED_DAYS_BEFORE.latest) &&
  dueDate <= plusDays(today, REGISTERED_DAYS_BEFORE.earliest)

/** How many days after the due date each retry is made: at most 3, within 7 days, and in a week before the next cycle. */
const retryDays = (periodicity: Periodicity): readonly number[] => (periodicity === 'WEEKLY' ? [1, 3, 5] : [2, 4, 6])
export const RETRIES_MAX = 3

/** The day on which an attempt is collected: 0 is the due date itself, undefined is one too many. */
export function collectionDay(
  dueDate: CalendarDay,
  periodicity: Periodicity,
  attempt: number,
): CalendarDay | undefined {
  const days = attempt === 0 ? 0 : retryDays(periodicity)[attempt - 1]
  return days === undefined ? undefined : plusDays(dueDate, days)
}

export const collectionAt = (day: CalendarDay): Instant => hourOfDay(day, COLLECTED_AT_HOUR)

/** A merchant may cancel a charge up to this instant. */
export const cancellableUntil = (dueDate: CalendarDay): Instant =>
  hourOfDay(plusDays(dueDate, -1), CANCELLED_UNTIL_HOUR)

/** The next retry whose day has not begun; a charge that is told late may have missed one. */
export function nextRetry(
  { dueDate, attempt }: { readonly dueDate: CalendarDay; readonly attempt: number },
  periodicity: Periodicity,
  at: Instant,
): number | undefined {
  for (let next = attempt + 1; next <= RETRIES_MAX; next += 1)
    if (dayOf(at) < collectionDay(dueDate, periodicity, next)!) return next
  return undefined
}

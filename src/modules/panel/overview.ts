import {
  type CalendarDay,
  dayOf,
  HOUR_MS,
  hourOf,
  type Instant,
  plusDays,
  startOfDay,
  wireTimestamp,
} from '../../kernel/calendar.ts'
import { type Cents, cents, centsToWire } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { findBalance, findReceived } from '../ledger/index.ts'
import { findSaleHours } from '../sale/index.ts'

const HOURS = 48
const DAYS = 30

type Count = { created: number; paidOfThem: number; paid: number; received: Cents }
const nothing = (): Count => ({ created: 0, paidOfThem: 0, paid: 0, received: cents(0) })

function add(to: Count, more: Partial<Count>): void {
  to.created += more.created ?? 0
  to.paidOfThem += more.paidOfThem ?? 0
  to.paid += more.paid ?? 0
  to.received = cents(to.received + (more.received ?? 0))
}

const countWire = (from: string, count: Count) => ({
  from,
  charges: count.created,
  paid: count.paid,
  /** Of the charges made then, how many are paid by now; null where there was none. */
  conversion: count.created === 0 ? null : Math.round((count.paidOfThem / count.created) * 10_000) / 10_000,
  received: centsToWire(count.received),
})

/** By the hours' counts: a month is at most 744 rows of two tables, however many sales there are. */
export async function findOverview(db: Queryable, accountId: AccountId, now: Instant) {
  const today = dayOf(now)
  const firstDay = plusDays(today, 1 - DAYS)
  const hourTo = hourOf(now) + 1
  const range = { hourFrom: Math.min(hourOf(startOfDay(firstDay)), hourTo - HOURS), hourTo }
  const [sales, received, balance] = await Promise.all([
    findSaleHours(db, accountId, range),
    findReceived(db, accountId, range),
    findBalance(db, accountId),
  ])
  const hours = new Map(Array.from({ length: HOURS }, (_, n) => [hourTo - HOURS + n, nothing()]))
  const days = new Map(Array.from({ length: DAYS }, (_, n) => [plusDays(firstDay, n), nothing()]))
  for (const counted of [...sales, ...received]) {
    const inHour = hours.get(counted.hour)
    const inDay = days.get(dayOf((counted.hour * HOUR_MS) as Instant))
    if (inHour) add(inHour, counted)
    if (inDay) add(inDay, counted)
  }
  const { available, blocked } = balance!
  return {
    now: wireTimestamp(now),
    balance: {
      available: centsToWire(available),
      blocked: centsToWire(blocked),
      total: centsToWire(cents(available + blocked)),
    },
    hours: [...hours].map(([hour, count]) => countWire(wireTimestamp((hour * HOUR_MS) as Instant), count)),
    days: [...days].map(([day, count]: [CalendarDay, Count]) => countWire(day, count)),
  }
}

import { type CalendarDay, dayOf, type Instant, plusDays } from '../../src/kernel/calendar.ts'
import { lastCollectionDay } from '../harness/mandate-rows.ts'

/**
 * What is to happen, decided before anything does. Some accounts live in real time: their charges are overdue, and a wave
 * of them is let go before each kill. The others' clocks run ahead, day after day, while their payers lack money.
 */
export type Planned = {
  readonly reference: string
  /** Which of the accounts. */
  readonly account: number
  /** Undefined: of an account whose clock runs ahead. */
  readonly wave: number | undefined
  readonly firstDue: CalendarDay
  readonly amount: number
  readonly fate: Fate
}
/** How often the payer has no money, or whether the bank rejects the charge for good. */
export type Fate = 0 | 1 | 2 | 4 | 'rejected'

export const PRESENT_ACCOUNTS = 6
export const AHEAD_ACCOUNTS = 4
const WAVE = 240
const AHEAD_EACH = 70
const AHEAD_DAYS = 12
const fates: readonly Fate[] = [0, 0, 0, 1, 2, 4, 'rejected']

export type Plan = { readonly waves: number; readonly aheadDue: CalendarDay; readonly charges: readonly Planned[] }

export function planOf(waves: number, random: () => number, now: Instant): Plan {
  const aheadDue = plusDays(dayOf(now), AHEAD_DAYS)
  const presentDue = lastCollectionDay(now)
  const amount = () => 100 + Math.floor(random() * 20_000)
  const present = Array.from({ length: waves * WAVE }, (_, index): Planned => {
    const [account, wave] = [index % PRESENT_ACCOUNTS, Math.floor(index / WAVE)]
    return { reference: `present-${index}`, account, wave, firstDue: presentDue, amount: amount(), fate: 0 }
  })
  const ahead = Array.from({ length: AHEAD_ACCOUNTS * AHEAD_EACH }, (_, index): Planned => {
    const account = PRESENT_ACCOUNTS + (index % AHEAD_ACCOUNTS)
    const fate = fates[Math.floor(random() * fates.length)]!
    return { reference: `ahead-${index}`, account, wave: undefined, firstDue: aheadDue, amount: amount(), fate }
  })
  return { waves, aheadDue, charges: [...present, ...ahead] }
}

/** Whether the charge fails at an attempt: 0 is the first. */
export const failsAt = (fate: Fate, attempt: number): boolean => (fate === 'rejected' ? attempt === 0 : attempt < fate)
export const isPaid = (fate: Fate): boolean => fate !== 'rejected' && fate < 4

/** What the merchant hears of the charge, in order. */
export function toldOf(fate: Fate): string[] {
  if (fate === 'rejected') return ['SCHEDULED', 'REJECTED']
  const failures = Array.from({ length: fate }, (_, attempt) => ['SCHEDULED', `FAILED${attempt < 3 ? ' again' : ''}`])
  return [...failures.flat(), ...(isPaid(fate) ? ['SCHEDULED', 'PAID'] : [])]
}

/** 0.99 % of the amount, rounded half up to the cent, at least one: as a new sandbox account pays. */
export const feeOf = (amount: number): number => Math.max(1, Math.floor((amount * 99 + 5_000) / 10_000))

import type { Instant } from '../kernel/calendar.ts'

/** Real time. Account time is real time plus the account's offset (modules/account). */
export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => Date.now() as Instant }

import { type Instant, instantFromWire } from '../../src/kernel/calendar.ts'
import type { Clock } from '../../src/platform/clock.ts'

/** Time stands still until a test moves it. */
export type ManualClock = Clock & {
  advance(ms: number): void
  /** São Paulo: `2026-11-16 12:00:00`. */
  set(at: string): void
}

export function manualClock(start = '2026-11-16 12:00:00'): ManualClock {
  let now = instantFromWire(start)!
  return {
    now: () => now,
    advance(ms) {
      now = (now + ms) as Instant
    },
    set(at) {
      now = instantFromWire(at)!
    },
  }
}

import type { Clock } from '../platform/clock.ts'

const KEYS_MAX = 50_000

export type RateLimiter = {
  /** 0 when the request may pass, else the seconds to wait. */
  take(key: string, perSecond: number): number
}

/** One second's worth may come at once, then an even flow (GCRA). Each process of a host grants its share. */
export function createRateLimiter(clock: Clock, processes: number): RateLimiter {
  const nextFreeAt = new Map<string, number>()
  return {
    take(key, perSecond) {
      const now = clock.now()
      const interval = 1000 / Math.max(1, perSecond / processes)
      const free = Math.max(now, nextFreeAt.get(key) ?? 0)
      // Half an interval of leeway: most rates have no exact interval in floating point.
      if (free - now > 1000 - interval / 2) return Math.max(1, Math.ceil((free - now - 1000 + interval) / 1000))
      if (nextFreeAt.size >= KEYS_MAX) nextFreeAt.clear()
      nextFreeAt.set(key, free + interval)
      return 0
    },
  }
}

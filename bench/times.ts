import { round } from './load.ts'

export type Times = { add(ms: number): void; count(): number; at(share: number): number }

/** Milliseconds as they come, asked for by share: 0.5 is the median, 1 the longest. */
export function createTimes(): Times {
  const all: number[] = []
  let sorted = new Float64Array()
  return {
    add: (ms) => void all.push(ms),
    count: () => all.length,
    at(share) {
      if (sorted.length !== all.length) sorted = Float64Array.from(all).sort()
      return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
    },
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

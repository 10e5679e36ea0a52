import { describe, expect, test } from 'vitest'
import { manualClock } from '../../test/harness/manual-clock.ts'
import { createRateLimiter } from './rate-limit.ts'

const count = (times: number, take: () => number): number =>
  Array.from({ length: times }, take).filter((wait) => wait === 0).length

describe('the rate limiter', () => {
  test.each([1, 2, 7, 1_000])('lets a second’s worth of %d through at once, then an even flow', (perSecond) => {
    const clock = manualClock()
    const limiter = createRateLimiter(clock, 1)
    const take = () => limiter.take('key', perSecond)
    expect(count(perSecond * 2, take)).toBe(perSecond)
    clock.advance(Math.ceil(1_000 / perSecond))
    expect(count(10, take)).toBe(1)
    clock.advance(60_000)
    expect(count(perSecond * 2, take)).toBe(perSecond)
  })

  test('over a minute no more than the rate passes, whatever the pace', () => {
    const clock = manualClock()
    const limiter = createRateLimiter(clock, 1)
    let passed = 0
    for (let tick = 0; tick < 600; tick += 1) {
      passed += count(5, () => limiter.take('key', 10))
      clock.advance(100)
    }
    expect(passed).toBe(609)
  })

  test('the wait that it names is enough', () => {
    for (const perSecond of [1, 3, 100]) {
      const clock = manualClock()
      const limiter = createRateLimiter(clock, 1)
      let wait = 0
      while (wait === 0) wait = limiter.take('key', perSecond)
      expect(Number.isInteger(wait) && wait >= 1).toBe(true)
      clock.advance(wait * 1_000)
      expect(limiter.take('key', perSecond)).toBe(0)
    }
  })

  test('being refused does not make the wait longer', () => {
    const clock = manualClock()
    const limiter = createRateLimiter(clock, 1)
    limiter.take('key', 1)
    for (let times = 0; times < 100; times += 1) expect(limiter.take('key', 1)).toBe(1)
    clock.advance(1_000)
    expect(limiter.take('key', 1)).toBe(0)
  })

  test('each key has its own', () => {
    const limiter = createRateLimiter(manualClock(), 1)
    expect([limiter.take('one', 1), limiter.take('two', 1), limiter.take('one', 1)]).toEqual([0, 0, 1])
  })

  test('each process of a host grants its share, at least one a second', () => {
    const share = (perSecond: number) => {
      const limiter = createRateLimiter(manualClock(), 4)
      return count(200, () => limiter.take('key', perSecond))
    }
    expect([share(100), share(8), share(2)]).toEqual([25, 2, 1])
  })
})

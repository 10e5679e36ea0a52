import { describe, expect, test } from 'vitest'
import { askAgainAfter, type Charge, timeLeft } from './charge.ts'

describe('the time left', () => {
  test.each([
    [-3, 0, '00:00'],
    [0.2, 0, '00:01'],
    [59, 0, '00:59'],
    [61, 0, '01:01'],
    [3_600, 0, '01:00:00'],
    [86_399, 0, '23:59:59'],
    [86_400, 1, '00:00:00'],
    [90_061, 1, '01:01:01'],
  ])('of %d seconds is %i days and %s', (seconds, days, clock) => expect(timeLeft(seconds)).toEqual({ days, clock }))
})

test('a pending charge is asked about soon, a cancelled one later, a paid one never again', () => {
  const asked = (state: Charge['state']) => askAgainAfter({ state } as Charge)
  expect([asked('PENDING'), asked('CANCELLED'), asked('EXPIRED'), asked('PAID')]).toEqual([
    2_000,
    15_000,
    15_000,
    false,
  ])
  expect(askAgainAfter(undefined)).toBe(2_000)
})

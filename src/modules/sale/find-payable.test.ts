import { describe, expect, test } from 'vitest'
import type { Instant } from '../../kernel/calendar.ts'
import { payableState } from './find-payable.ts'

const at = (ms: number) => ms as Instant

describe('what a payer is shown', () => {
  test.each([
    ['PENDING', 99, 'PENDING'],
    ['PENDING', 100, 'PENDING'],
    ['PENDING', 101, 'EXPIRED'],
    ['CANCELLED', 100, 'CANCELLED'],
    ['CANCELLED', 101, 'EXPIRED'],
    ['PAID', 99, 'PAID'],
    ['PAID', 101, 'PAID'],
  ] as const)('a %s sale that expires at 100 is at %i %s', (state, now, shown) =>
    expect(payableState({ state, expiresAt: at(100) }, at(now))).toBe(shown),
  )
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Instant } from '../../kernel/calendar.ts'
import { CENTS_MAX, type Cents, type ShareUnits } from '../../kernel/cents.ts'
import { accountNow, feeFor, methodsOpenTo, newAccountFees } from './account.ts'

const fee = (amount: number, share: number, fixed = 0): number =>
  feeFor(amount as Cents, { share: share as ShareUnits, fixed: fixed as Cents })

describe('the fee of a charge', () => {
  // biome-ignore format: a table
  test.each([
    // amount, share (1 = 0.0001 %), fixed → fee
    [10_000, 9_900, 0, 99], [10_050, 9_900, 0, 99], [10_051, 9_900, 0, 100], [25_000, 9_900, 0, 248],
    [1, 9_900, 0, 1], [50, 9_900, 0, 1], [10_000, 0, 0, 0], [10_000, 0, 35, 35], [10_000, 9_900, 35, 134],
    [10_000, 1_000_000, 0, 10_000], [10_000, 1_000_000, 500, 10_000], [10, 0, 500, 10], [1, 1, 0, 1],
    [1_000_000_00, 1, 0, 100], [999_999_999_999, 1_000_000, 0, 999_999_999_999],
  ])('of %d cents at %d and %d cents is %d', (amount, share, fixed, expected) =>
    expect(fee(amount, share, fixed)).toBe(expected))

  test('is 0.99 per cent for a new account', () =>
    expect(newAccountFees).toEqual({ pix: { share: 9_900, fixed: 0 }, payoutFixed: 0 }))

  test('is whole cents, never above the amount, and never falls when the amount grows', () => {
    const amount = fc.integer({ min: 1, max: CENTS_MAX - 1 })
    const share = fc.integer({ min: 0, max: 1_000_000 })
    const fixed = fc.integer({ min: 0, max: 100_000 })
    fc.assert(
      fc.property(amount, share, fixed, (cents, units, flat) => {
        const charged = fee(cents, units, flat)
        expect(Number.isSafeInteger(charged)).toBe(true)
        expect(charged).toBeGreaterThanOrEqual(0)
        expect(charged).toBeLessThanOrEqual(cents)
        expect(fee(cents + 1, units, flat)).toBeGreaterThanOrEqual(charged)
      }),
    )
  })
})

describe('account terms', () => {
  test('account time is real time plus the account’s offset', () =>
    expect(accountNow({ clockOffsetMs: 86_400_000 }, 1_000 as Instant)).toBe(86_401_000))

  test('boleto needs both the switch and a fee', () => {
    const open = (boletoEnabled: boolean, boletoFee: number | null) =>
      methodsOpenTo({ boletoEnabled, boletoFee: boletoFee as Cents | null })
    expect([open(false, null), open(true, null), open(false, 0)]).toEqual([['PIX'], ['PIX'], ['PIX']])
    expect(open(true, 0)).toEqual(['PIX', 'BOLETO', 'BOLETO_PIX'])
  })
})

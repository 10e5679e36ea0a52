import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  amountFromWire,
  amountOrZeroFromWire,
  CENTS_MAX,
  type Cents,
  cents,
  centsToWire,
  SHARE_WHOLE,
  type ShareUnits,
  shareFromWire,
  shareRoundedHalfUp,
  shareToWire,
} from './cents.ts'

const RUNS = { numRuns: 10_000, seed: 2026 }

const anyCents = fc.oneof(fc.integer({ min: 1, max: CENTS_MAX }), fc.integer({ min: 1, max: 100_000 }))
const anyShare = fc.integer({ min: 0, max: SHARE_WHOLE })
/** 12345 as 123.45, by its digits. */
const twoDecimals = (value: number): string => {
  const digits = String(value).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
const read = (value: unknown) => {
  const amount = amountFromWire(value)
  return amount.ok ? amount.value : amount.refusal
}

describe('an amount from the wire', () => {
  test.each<[unknown, number]>([
    [0.01, 1],
    ['0.01', 1],
    [0.3, 30],
    [1, 100],
    ['1', 100],
    ['1.5', 150],
    ['99.00', 9_900],
    ['0099.9', 9_990],
    [1e2, 10_000],
    [9999999999.99, CENTS_MAX],
    ['9999999999.99', CENTS_MAX],
  ])('%j is %d cents', (value, expected) => {
    expect(read(value)).toBe(expected)
  })

  test.each([0, -0, -0.01, -1, -5e-324, '0', '0.0', '0.00'])('%j is too little', (value) => {
    expect(read(value)).toBe('min')
  })

  test.each([
    ['three decimals', 0.001],
    ['three decimals as text', '1.005'],
    ['a sum that is not 0.3', 0.1 + 0.2],
    ['the first cent beyond the limit', 10_000_000_000],
    ['the first cent beyond the limit as text', '10000000000.00'],
    ['a decimal beyond the limit', 9999999999.995],
    ['a number that prints with an exponent', 1e21],
    ['a tiny number that prints with an exponent', 1e-7],
    ['more than any number', Number.POSITIVE_INFINITY],
    ['no number', Number.NaN],
    ['a plus', '+1'],
    ['a minus as text', '-1'],
    ['an exponent as text', '1e2'],
    ['a comma', '1,00'],
    ['a space before', ' 1'],
    ['a space after', '1 '],
    ['a line end', '1\n'],
    ['a point without decimals', '1.'],
    ['a point without a whole part', '.5'],
    ['two points', '1.0.0'],
    ['a hexadecimal', '0x10'],
    ['a thousands separator', '1_000'],
    ['digits of another script', '١٢'],
    ['words', 'ten'],
    ['nothing', ''],
    ['true', true],
    ['a list', [1]],
    ['an object', { valueOf: () => 1 }],
    ['null', null],
    ['undefined', undefined],
    ['a bigint', 100n],
  ])('%s is none', (_, value) => {
    expect(read(value)).toBe('invalid')
  })

  test('what leaves comes back: as a number, through JSON, and as text', () => {
    fc.assert(
      fc.property(anyCents, (value) => {
        const wire = centsToWire(value as Cents)
        expect(read(wire)).toBe(value)
        expect(read(JSON.parse(JSON.stringify(wire)))).toBe(value)
        expect(read(twoDecimals(value))).toBe(value)
        expect(JSON.stringify(wire)).toMatch(/^\d{1,10}(\.\d{1,2})?$/)
      }),
      RUNS,
    )
  })

  test('a number is one exactly when it is the nearest double to some cents', () => {
    const numbers = fc.oneof(
      fc.double(),
      fc.double({ min: 0, max: 1e10 }),
      anyCents.map((value) => value / 100),
    )
    fc.assert(
      fc.property(numbers, (value) => {
        const nearest = Math.round(value * 100)
        const exact = nearest / 100 === value && nearest >= 1 && nearest <= CENTS_MAX
        expect(amountFromWire(value).ok).toBe(exact)
      }),
      RUNS,
    )
  })

  test('a text is one exactly when the contract says so', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.stringMatching(/^[-+ 0-9.,eE]{0,14}$/),
      fc.stringMatching(/^\d{1,12}(\.\d{0,4})?$/),
    )
    fc.assert(
      fc.property(texts, (value) => {
        const shaped = /^\d{1,10}(\.\d{1,2})?$/.test(value)
        expect(amountFromWire(value).ok).toBe(shaped && /[1-9]/.test(value))
      }),
      RUNS,
    )
  })
})

describe('an amount that may be nought', () => {
  test.each<[unknown, number | undefined]>([
    [0, 0],
    ['0.00', 0],
    [0.01, 1],
    [-0.01, undefined],
    ['-0', undefined],
    [0.001, undefined],
  ])('%j is %s cents', (value, expected) => {
    expect(amountOrZeroFromWire(value)).toBe(expected)
  })
})

describe('a percentage', () => {
  test.each<[unknown, number | undefined]>([
    [0, 0],
    [0.99, 9_900],
    ['0.99', 9_900],
    [33.3333, 333_333],
    [0.0001, 1],
    [100, 1_000_000],
    ['100.0000', 1_000_000],
    [100.0001, undefined],
    [0.00001, undefined],
    [-1, undefined],
    ['1e1', undefined],
    [null, undefined],
  ])('%j is %s ten-thousandths of one per cent', (value, expected) => {
    expect(shareFromWire(value)).toBe(expected)
  })

  test('what leaves comes back', () => {
    fc.assert(
      fc.property(anyShare, (share) => {
        expect(shareFromWire(shareToWire(share as ShareUnits))).toBe(share)
      }),
      RUNS,
    )
  })
})

describe('a share of an amount', () => {
  test.each<[string, number, number, number]>([
    ['0.99 % of 250.00 is 2.475, half a cent goes up', 25_000, 9_900, 248],
    ['0.99 % of 100.00', 10_000, 9_900, 99],
    ['0.99 % of 0.50 is under half a cent', 50, 9_900, 0],
    ['0.99 % of 0.51 is over half a cent', 51, 9_900, 1],
    ['50 % of a cent', 1, 500_000, 1],
    ['49.9999 % of a cent', 1, 499_999, 0],
    ['all of the largest', CENTS_MAX, 1_000_000, CENTS_MAX],
    ['none', 10_000, 0, 0],
  ])('%s', (_, amount, share, expected) => {
    expect(shareRoundedHalfUp(amount as Cents, share as ShareUnits)).toBe(expected)
  })

  test('is the rational number rounded half up, exactly', () => {
    fc.assert(
      fc.property(anyCents, anyShare, (amount, share) => {
        const product = BigInt(amount) * BigInt(share)
        const floor = product / 1_000_000n
        const rest = product - floor * 1_000_000n
        const expected = rest * 2n >= 1_000_000n ? floor + 1n : floor
        expect(BigInt(shareRoundedHalfUp(amount as Cents, share as ShareUnits))).toBe(expected)
      }),
      RUNS,
    )
  })
})

describe('cents', () => {
  test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%d is our bug', (value) => {
    expect(() => cents(value)).toThrow('whole number of cents')
  })

  test('whole numbers are cents, below nought too', () => {
    expect([cents(0), cents(12), cents(-12)]).toEqual([0, 12, -12])
  })
})

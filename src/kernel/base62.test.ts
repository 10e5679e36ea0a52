import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBase62, encodeBase62, uuidFromBase62, uuidToBase62 } from './base62.ts'

const RUNS = { numRuns: 10_000 }
const PROPERTY = { timeout: 60_000 }

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const uuidMax = 2n ** 128n - 1n

/** By the definition, one digit at a time. */
const numberOf = (text: string): bigint =>
  Array.from(text).reduce((value, digit) => value * 62n + BigInt(digits.indexOf(digit)), 0n)

function uuidOf(value: bigint): string {
  const hex = value.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

const uuidValues = fc.oneof(
  fc.bigInt({ min: 0n, max: uuidMax }),
  // Limbs of nothing but zeros or ones, where a lost carry would show.
  fc
    .tuple(...Array.from({ length: 4 }, () => fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n - 1n)))
    .map((limbs) => limbs.reduce((value, limb) => (value << 32n) | limb)),
)

describe('base62', () => {
  test.each<[bigint | number, number, string]>([
    [0n, 1, '0'],
    [0n, 3, '000'],
    [9n, 1, '9'],
    [10n, 1, 'A'],
    [35n, 1, 'Z'],
    [36n, 1, 'a'],
    [61n, 1, 'z'],
    [62n, 2, '10'],
    [62, 3, '010'],
    [62n ** 6n - 1n, 6, 'zzzzzz'],
    [Number.MAX_SAFE_INTEGER, 9, 'fFgnDxSe7'],
    [62n ** 20n - 1n, 20, 'z'.repeat(20)],
    [62n ** 20n, 21, `1${'0'.repeat(20)}`],
  ])('%d in %d characters', (value, width, text) => {
    expect(encodeBase62(value, width)).toBe(text)
    expect(decodeBase62(text)).toBe(BigInt(value))
  })

  test.each<[string, bigint | number, number, string]>([
    ['a value over the width', 62n, 1, 'does not fit'],
    ['a large value over the width', 62n ** 10n, 10, 'does not fit'],
    ['a large value in a small width', 62n ** 10n, 8, 'does not fit'],
    ['a negative value', -1n, 3, 'from zero'],
    ['a fraction', 1.5, 3, 'whole numbers'],
    ['a number that may not be exact', 2 ** 53, 22, 'not exact'],
    ['no width', 0n, 0, '1 to 64'],
    ['a width over the limit', 0n, 65, '1 to 64'],
  ])('%s is our bug', (_, value, width, why) => {
    expect(() => encodeBase62(value, width)).toThrow(why)
  })

  test.each(['', '-', '0 ', 'A_', 'é', '\u0130', '\u0660', '\ud83d\ude00', '0'.repeat(65)])(
    '%j is no number',
    (text) => {
      expect(decodeBase62(text)).toBeUndefined()
    },
  )

  test('every value of every width comes back, as the definition says', PROPERTY, () => {
    const valuesInWidth = fc
      .integer({ min: 1, max: 64 })
      .chain((width) => fc.tuple(fc.bigInt({ min: 0n, max: 62n ** BigInt(width) - 1n }), fc.constant(width)))
    fc.assert(
      fc.property(valuesInWidth, ([value, width]) => {
        const text = encodeBase62(value, width)
        expect(text.length).toBe(width)
        expect(numberOf(text)).toBe(value)
        expect(decodeBase62(text)).toBe(value)
      }),
      RUNS,
    )
  })

  test('texts sort as their values', PROPERTY, () => {
    fc.assert(
      fc.property(uuidValues, uuidValues, (a, b) => {
        expect(encodeBase62(a, 22) < encodeBase62(b, 22)).toBe(a < b)
      }),
      RUNS,
    )
  })
})

describe('a UUID in 22 characters', () => {
  test.each([
    ['00000000-0000-0000-0000-000000000000', '0000000000000000000000'],
    ['00000000-0000-0000-0000-00000000003e', '0000000000000000000010'],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7n42DGM5Tflk9n8mt7Fhc7'],
  ])('%s is %s', (uuid, text) => {
    expect(uuidToBase62(uuid)).toBe(text)
    expect(uuidFromBase62(text)).toBe(uuid)
  })

  test('is the same in capitals', () => {
    const uuid = '0198c0de-ABCD-7EF0-8123-456789abcdef'
    expect(uuidFromBase62(uuidToBase62(uuid))).toBe(uuid.toLowerCase())
  })

  test.each([
    '',
    '0198c0deabcd7ef08123456789abcdef',
    '0198c0de-abcd-7ef0-8123-456789abcdeg',
    '0198c0dé-abcd-7ef0-8123-456789abcdef',
    '0198c0de-abcd-7ef0-8123-456789abcdef0',
    '0198c0de-abcd-7ef0-8123-456789abcde',
    '0198c0de0abcd-7ef0-8123-456789abcdef',
    '0198c0de-abcd07ef0-8123-456789abcdef',
    '0198c0de-abcd-7ef008123-456789abcdef',
    '0198c0de-abcd-7ef0-81230456789abcdef',
  ])('%j is our bug', (uuid) => {
    expect(() => uuidToBase62(uuid)).toThrow('not a UUID')
  })

  test.each<[string, string]>([
    ['2^128', encodeBase62(uuidMax + 1n, 22)],
    ['2^128 + 2^96', encodeBase62(uuidMax + 1n + 2n ** 96n, 22)],
    ['the largest text', 'z'.repeat(22)],
    ['21 characters', '0'.repeat(21)],
    ['23 characters', '0'.repeat(23)],
    ['nothing', ''],
    ...Array.from(
      { length: 22 },
      (_, at) => [`a hyphen at ${at}`, `${'0'.repeat(at)}-${'0'.repeat(21 - at)}`] as [string, string],
    ),
    ['an accent', `${'0'.repeat(21)}é`],
  ])('%s is none', (_, text) => {
    expect(uuidFromBase62(text)).toBeUndefined()
  })

  test('every UUID comes back, and is its number in base62', PROPERTY, () => {
    fc.assert(
      fc.property(uuidValues, (value) => {
        const text = uuidToBase62(uuidOf(value))
        expect(text.length).toBe(22)
        expect(numberOf(text)).toBe(value)
        expect(uuidFromBase62(text)).toBe(uuidOf(value))
      }),
      RUNS,
    )
  })

  test('any 22 characters are a UUID exactly when their number is below 2^128', PROPERTY, () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Za-z]{22}$/), (text) => {
        const value = numberOf(text)
        expect(uuidFromBase62(text)).toBe(value > uuidMax ? undefined : uuidOf(value))
      }),
      RUNS,
    )
  })
})

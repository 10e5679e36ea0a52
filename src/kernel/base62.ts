// Base62 of a fixed width, digits in ASCII order: texts of one width sort as their numbers do.

import { assert } from './assert.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const WIDTH_MAX = 64
const UUID_WIDTH = 22

// BigInt is slow, and 62^8 is the largest power whose digits a plain number can carry together with a remainder.
const CHUNK_WIDTH = 8
const CHUNK = 62n ** BigInt(CHUNK_WIDTH)

const NO_DIGIT = 0xff
const LIMB = 2 ** 32
const CUBE = 62 ** 3

/** From a character code to its value. All codes over 127 share the last place, which is no digit. */
function valuesOf(...alphabets: string[]): Uint8Array {
  const values = new Uint8Array(129).fill(NO_DIGIT)
  for (const digits of alphabets) {
    for (let value = 0; value < digits.length; value++) values[digits.charCodeAt(value)] = value
  }
  return values
}
const base62Values = valuesOf(ALPHABET)
const hexValues = valuesOf('0123456789abcdef', '0123456789ABCDEF')
const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const base62Pairs = Array.from(
  { length: 62 * 62 },
  (_, value) => ALPHABET[Math.floor(value / 62)]! + ALPHABET[value % 62]!,
)

const valueAt = (values: Uint8Array, text: string, at: number): number => values[Math.min(text.charCodeAt(at), 128)]!

function encodeSmall(value: number, width: number): string {
  let text = ''
  let rest = value
  for (let at = 0; at < width; at++) {
    text = ALPHABET[rest % 62]! + text
    rest = Math.floor(rest / 62)
  }
  assert(rest === 0, 'the value does not fit the width')
  return text
}

export function encodeBase62(value: bigint | number, width: number): string {
  assert(width > 0 && width <= WIDTH_MAX, 'a base62 text has 1 to 64 characters')
  assert(value >= 0, 'base62 is for whole numbers from zero')
  if (value <= Number.MAX_SAFE_INTEGER) {
    const small = Number(value)
    assert(Number.isInteger(small), 'base62 is for whole numbers from zero')
    return encodeSmall(small, width)
  }
  assert(typeof value === 'bigint', 'a number this large is not exact')
  assert(width > CHUNK_WIDTH, 'the value does not fit the width')
  return encodeBase62(value / CHUNK, width - CHUNK_WIDTH) + encodeSmall(Number(value % CHUNK), CHUNK_WIDTH)
}

function decodeSmall(text: string, from: number, to: number): number | undefined {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = valueAt(base62Values, text, at)
    if (digit === NO_DIGIT) return undefined
    value = value * 62 + digit
  }
  return value
}

export function decodeBase62(text: string): bigint | undefined {
  if (text.length === 0 || text.length > WIDTH_MAX) return undefined
  let value = 0n
  // The first chunk takes what is over a multiple of the chunk width, so that all others are whole.
  let from = 0
  for (let to = text.length % CHUNK_WIDTH || CHUNK_WIDTH; to <= text.length; to += CHUNK_WIDTH) {
    const chunk = decodeSmall(text, from, to)
    if (chunk === undefined) return undefined
    value = value * CHUNK + BigInt(chunk)
    from = to
  }
  return value
}

function quadOf(uuid: string, at: number): number {
  const first = valueAt(hexValues, uuid, at)
  const second = valueAt(hexValues, uuid, at + 1)
  const third = valueAt(hexValues, uuid, at + 2)
  const fourth = valueAt(hexValues, uuid, at + 3)
  assert((first | second | third | fourth) < 16, 'not a UUID')
  return (first << 12) | (second << 8) | (third << 4) | fourth
}

/** Eight hex digits, which a hyphen may part into two times four. */
const limbOf = (uuid: string, high: number, low: number): number => quadOf(uuid, high) * 65_536 + quadOf(uuid, low)

/**
 * 22 characters. Runs for every charge: a UUID is four 32-bit limbs, and three digits at a time are divided off them.
 * A remainder below 62^3 and a limb together stay below 2^50, where plain numbers and the floor of a quotient are
 * exact; the operator `%` is several times slower on numbers this large.
 */
export function uuidToBase62(uuid: string): string {
  const hyphens = uuid[8] === '-' && uuid[13] === '-' && uuid[18] === '-' && uuid[23] === '-'
  assert(uuid.length === 36 && hyphens, 'not a UUID')
  let a = limbOf(uuid, 0, 4)
  let b = limbOf(uuid, 9, 14)
  let c = limbOf(uuid, 19, 24)
  let d = limbOf(uuid, 28, 32)
  let text = ''
  for (let left = UUID_WIDTH - 1; left > 0; left -= 3) {
    const aOver = Math.floor(a / CUBE)
    const withB = (a - aOver * CUBE) * LIMB + b
    const bOver = Math.floor(withB / CUBE)
    const withC = (withB - bOver * CUBE) * LIMB + c
    const cOver = Math.floor(withC / CUBE)
    const withD = (withC - cOver * CUBE) * LIMB + d
    const dOver = Math.floor(withD / CUBE)
    const digits = withD - dOver * CUBE
    const pair = Math.floor(digits / 62)
    text = base62Pairs[pair]! + ALPHABET[digits - pair * 62]! + text
    a = aOver
    b = bOver
    c = cOver
    d = dOver
  }
  // 2^128 is less than 8 times 62^21, so one digit is left.
  return ALPHABET[d]! + text
}

const hexOf = (limb: number): string =>
  hexPairs[limb >>> 24]! + hexPairs[(limb >>> 16) & 0xff]! + hexPairs[(limb >>> 8) & 0xff]! + hexPairs[limb & 0xff]!

/** Undefined unless the text is the 22 characters of a value below 2^128. */
export function uuidFromBase62(text: string): string | undefined {
  if (text.length !== UUID_WIDTH) return undefined
  let a = 0
  let b = 0
  let c = 0
  let d = valueAt(base62Values, text, 0)
  let wrong = d
  for (let at = 1; at < UUID_WIDTH; at += 3) {
    const first = valueAt(base62Values, text, at)
    const second = valueAt(base62Values, text, at + 1)
    const third = valueAt(base62Values, text, at + 2)
    wrong |= first | second | third
    const newD = d * CUBE + (first * 62 + second) * 62 + third
    const overD = Math.floor(newD / LIMB)
    const newC = c * CUBE + overD
    const overC = Math.floor(newC / LIMB)
    const newB = b * CUBE + overC
    const overB = Math.floor(newB / LIMB)
    d = newD - overD * LIMB
    c = newC - overC * LIMB
    b = newB - overB * LIMB
    a = a * CUBE + overB
  }
  if (wrong >= 64 || a >= LIMB) return undefined
  const [hexA, hexB, hexC, hexD] = [hexOf(a), hexOf(b), hexOf(c), hexOf(d)]
  return `${hexA}-${hexB.slice(0, 4)}-${hexB.slice(4)}-${hexC.slice(0, 4)}-${hexC.slice(4)}${hexD}`
}

import { assert } from './assert.ts'
import type { Brand } from './brand.ts'
import { ok, type Result, refuse } from './result.ts'

/** Whole cents. A safe integer holds R$ 90 trillion; every sum that could pass it is asserted. */
export type Cents = Brand<number, 'Cents'>

/** Ten-thousandths of one per cent: 0.99 % is 9,900 and 100 % is 1,000,000. */
export type ShareUnits = Brand<number, 'ShareUnits'>

export const SHARE_WHOLE = 1_000_000 as ShareUnits
export const CENTS_MAX = 999_999_999_999 as Cents

export type AmountFault = 'min' | 'invalid'

const decimal = (decimals: number) => new RegExp(`^(\\d{1,10})(?:\\.(\\d{1,${decimals}}))?$`)
const amountText = decimal(2)
const shareText = decimal(4)

export function cents(value: number): Cents {
  assert(Number.isSafeInteger(value), 'an amount is not a whole number of cents')
  return value as Cents
}

/** Exact: a JSON number prints back the digits it came with, so 0.3 passes and 0.1 + 0.2 does not. */
export function amountFromWire(value: unknown): Result<Cents, AmountFault> {
  if (typeof value === 'number' && value <= 0) return refuse('min')
  const scaled = scaledDecimal(value, amountText, 2)
  if (scaled === undefined) return refuse('invalid')
  return scaled < 1 ? refuse('min') : ok(scaled as Cents)
}

/** As `amountFromWire`, but nought is an amount too: a fee or a limit may be 0. */
export function amountOrZeroFromWire(value: unknown): Cents | undefined {
  return scaledDecimal(value, amountText, 2) as Cents | undefined
}

/** A percentage with up to four decimals, 0 to 100. */
export function shareFromWire(value: unknown): ShareUnits | undefined {
  const units = scaledDecimal(value, shareText, 4)
  return units === undefined || units > SHARE_WHOLE ? undefined : (units as ShareUnits)
}

function scaledDecimal(value: unknown, pattern: RegExp, decimals: number): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const digits = pattern.exec(String(value))
  return digits ? Number(digits[1]! + (digits[2] ?? '').padEnd(decimals, '0')) : undefined
}

/** The nearest double to a two-decimal value prints as that value, so this leaves as at most two decimals. */
export const centsToWire = (amount: Cents): number => amount / 100
export const shareToWire = (share: ShareUnits): number => share / 10_000

/** The product passes 2^53 for large amounts, hence BigInt. What is less than a cent stays with whoever shares. */
export const shareRoundedDown = (amount: Cents, share: ShareUnits): Cents =>
  Number((BigInt(amount) * BigInt(share)) / BigInt(SHARE_WHOLE)) as Cents

/** Half a cent goes up. */
export function shareRoundedHalfUp(amount: Cents, share: ShareUnits): Cents {
  const whole = BigInt(SHARE_WHOLE)
  return Number((BigInt(amount) * BigInt(share) * 2n + whole) / (2n * whole)) as Cents
}

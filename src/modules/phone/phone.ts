import type { Brand } from '../../kernel/brand.ts'
import type { Instant } from '../../kernel/calendar.ts'
import { CENTS_MAX, type Cents, cents } from '../../kernel/cents.ts'
import { cpfOf } from '../../kernel/documents.ts'
import type { EndToEndId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Payer, PaymentReceived } from '../../rail/rail.ts'
import { PHONE_ISPB, SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { INSUFFICIENT_FUNDS } from '../recurrence/index.ts'
import type { MandateOffer } from './offer.ts'

export type PhoneId = Brand<string, 'PhoneId'>
export type ReadingId = Brand<string, 'ReadingId'>

/** A payer with an account at a toy bank. Name and CPF never change: they are part of what the bank has reported. */
export type Phone = {
  readonly id: PhoneId
  readonly name: string
  readonly document: string
  readonly balance: Cents
  /** How many lines its statement has. */
  readonly entries: number
}

export const OPENING_BALANCE = cents(500_000)
export const TOP_UP_MAX = cents(100_000_000)

const names = ['Ana Souza', 'Bruno Lima', 'Carla Dias', 'Diego Rocha', 'Elisa Prado', 'Felipe Nunes', 'Gabi Torres']

/** Somebody who does not exist. */
export function inventPayer(random: Buffer): Pick<Phone, 'name' | 'document'> {
  const digits = Array.from(random.subarray(0, 8), (byte) => byte % 10).join('')
  // A last digit other than the first: a CPF of one digit only was never issued.
  return { name: names[random[8]! % names.length]!, document: cpfOf(`${digits}${(Number(digits[0]) + 1) % 10}`) }
}

export const payerOf = ({ name, document }: Phone): Payer => ({ name, document, ispb: PHONE_ISPB })

export type EntryKind = 'OPENING' | 'TOP_UP' | 'PAYMENT' | 'COLLECTION' | 'GIVEN_BACK'
/** SENT: debited, and not yet known what the receiver's bank made of it. */
export type EntryOutcome = 'SENT' | 'PAID' | 'REVERSED'

/** A line of the statement. */
export type Entry = {
  readonly seq: number
  /** What makes it one: whoever asks for the same again gets this line. */
  readonly key: string
  readonly kind: EntryKind
  /** Below zero: it left the account. */
  readonly amount: number
  readonly balanceAfter: Cents
  readonly counterparty: string | null
  readonly endToEnd: EndToEndId | null
  readonly txid: string | null
  readonly settledAt: Instant
  readonly outcome: EntryOutcome | null
}
export type NewEntry = Omit<Entry, 'seq' | 'balanceAfter'>

/** Lines at the end of a statement, and the account after them. Whoever adds them has seen that there is money enough. */
export function append(phone: Phone, added: readonly NewEntry[]): { phone: Phone; entries: Entry[] } {
  let { balance, entries: count } = phone
  const entries = added.map((entry): Entry => {
    balance = cents(balance + entry.amount)
    count += 1
    return { ...entry, seq: count, balanceAfter: balance }
  })
  return { phone: { ...phone, balance, entries: count }, entries }
}

/** What the bank tells of a payment that left the account. */
export const reportOf = (phone: Phone, { endToEnd, txid, amount, settledAt }: Entry): PaymentReceived => ({
  kind: 'payment',
  rail: SANDBOX_RAIL,
  endToEnd: endToEnd!,
  txid,
  amount: cents(-amount),
  settledAt,
  payer: payerOf(phone),
})

/** A code that was read, and can be paid. */
export type Reading = {
  readonly id: ReadingId
  readonly txid: string
  readonly amount: Cents
  readonly receiver: string
  /** The mandate that is given with the payment. */
  readonly idRec: string | null
  readonly refused: boolean
}

/** The key of a payment: a second click on the same button finds the first one's. */
export const paymentKey = (reading: ReadingId, copy: number): string => `pay ${reading} ${copy}`

export type PayRefusal = { readonly code: 'reading.unknown' | 'reading.refused' | 'balance.insufficient' }

/**
 * Which payments of a reading are still to be made. One reading is paid once, and twice only for whoever asks for that:
 * what was made before counts.
 */
export function copiesToPay(
  { balance }: Pick<Phone, 'balance'>,
  { id, amount, refused }: Reading,
  made: ReadonlySet<string>,
  asked: { readonly times: 1 | 2; readonly amount?: Cents | undefined },
): Result<readonly { readonly key: string; readonly amount: Cents }[], PayRefusal> {
  if (refused) return refuse({ code: 'reading.refused' })
  const keys = Array.from({ length: asked.times }, (_, at) => paymentKey(id, at + 1)).filter((key) => !made.has(key))
  const each = asked.amount ?? amount
  if (each * keys.length > balance) return refuse({ code: 'balance.insufficient' })
  return ok(keys.map((key) => ({ key, amount: each })))
}

export type TopUpRefusal = { readonly code: 'balance.tooHigh' }

export const mayTopUp = ({ balance }: Pick<Phone, 'balance'>, amount: Cents): boolean => balance + amount <= CENTS_MAX

export const ABOVE_MAXIMUM = 'AM02'

/** Why the payer's bank does not collect a charge; undefined when it does. An order above the maximum is not even tried. */
export function whyNotCollected(
  { balance }: Pick<Phone, 'balance'>,
  amount: Cents,
  maximum: Cents | null,
): typeof ABOVE_MAXIMUM | typeof INSUFFICIENT_FUNDS | undefined {
  if (maximum !== null && amount > maximum) return ABOVE_MAXIMUM
  return amount > balance ? INSUFFICIENT_FUNDS : undefined
}

export type MaximumRefusal = { readonly code: 'maximum.notVariable' | 'maximum.belowFloor' }

/** A payer limits only what may vary, and not below what the receiver asked for. */
export function checkMaximum(
  { amount, floor }: Pick<MandateOffer, 'amount' | 'floor'>,
  maximum: Cents | null,
): MaximumRefusal | undefined {
  if (maximum === null) return undefined
  if (amount !== null) return { code: 'maximum.notVariable' }
  return maximum < (floor ?? 0) ? { code: 'maximum.belowFloor' } : undefined
}

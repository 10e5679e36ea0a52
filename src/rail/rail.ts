import type { CalendarDay, Instant } from '../kernel/calendar.ts'
import type { Cents } from '../kernel/cents.ts'
import type { EndToEndId, IdRec } from '../kernel/ids.ts'
import type { Txid } from '../kernel/txid.ts'

/** A charge that payers may pay, under a txid that we made: opening it twice is opening it once. */
export type ChargeToOpen = {
  readonly txid: Txid
  /** The mandate that whoever pays it gives with the payment. */
  readonly recurrence: Txid | null
  readonly amount: Cents
  readonly expiresAt: Instant
  readonly merchantName: string
  readonly merchantCity: string
}

export type OpenedCharge = {
  /** Where the payer's bank reads the charge, without a scheme. */
  readonly location: string
  /** The text of the QR code, also to copy and paste. */
  readonly brCode: string
}

/** No answer came: nobody knows what arrived. Any other error says that something among what was sent is wrong. */
export class RailAway extends Error {}

/**
 * The outgoing half of the port to PIX. News from the rail come in by the door (modules/door) only. Whoever implements it
 * gives up after some seconds and throws.
 */
export interface Rail {
  readonly name: string
  /** In the order asked. Repeatable: the same txid gives the same charge. */
  openCharges(charges: readonly ChargeToOpen[]): Promise<readonly OpenedCharge[]>
  /**
   * Orders money out. Repeatable: the same reference is the same order, so whoever gets no answer sends it again. How each
   * one ends comes in by the door.
   */
  sendOut(orders: readonly OutflowOrder[]): Promise<void>
  /**
   * Asks orders back, in the order asked. Repeatable. WITHDRAWN is a promise: such an order is never paid, also if it
   * arrives after this. A rail that cannot promise it answers KEPT, and how the order ends comes in by the door.
   */
  cancelOut(references: readonly Txid[]): Promise<readonly Withdrawal[]>
  /** How orders stand, in the order asked. Repeatable. For those of which nothing was heard for long. */
  lookUpOut(references: readonly Txid[]): Promise<readonly OutflowStanding[]>
  /** In the order asked. Repeatable: the same reference is the same mandate. */
  openMandates(mandates: readonly MandateToOpen[]): Promise<readonly OpenedMandate[]>
  /**
   * Has the payer's bank collect charges of mandates, each on a day. Repeatable: the same txid and attempt is the same
   * order. Answers what the rail says at once; the rest comes in by the door.
   */
  collect(orders: readonly CollectionOrder[]): Promise<readonly CollectionNews[]>
}

/** What a payer is to authorize. */
export type MandateToOpen = {
  /** Account and mandate in 31 characters, made by us. */
  readonly reference: Txid
  /** Eleven letters and digits for a rail that lets us name the mandate. */
  readonly suffix: string
  readonly retries: boolean
  readonly createdOn: CalendarDay
  /** The charge that is paid with the authorization. */
  readonly charge: ChargeToOpen | null
  readonly merchantName: string
  readonly merchantCity: string
}

export type OpenedMandate = {
  readonly idRec: IdRec
  readonly brCode: string
}

export type CollectionOrder = {
  readonly txid: Txid
  readonly idRec: IdRec
  readonly amount: Cents
  readonly dueDate: CalendarDay
  /** 0 on the due date, then the retries. */
  readonly attempt: number
  readonly collectOn: CalendarDay
}

/** How a mandate stands at the payer's bank. */
export type MandateNews = {
  readonly kind: 'mandate'
  readonly rail: string
  readonly idRec: string
  readonly state: 'APPROVING' | 'APPROVED' | 'REJECTED' | 'EXPIRED' | 'CANCELLING' | 'CANCELLED' | 'CONCLUDED'
  /** Known once it is approved. */
  readonly payer: Payer | null
}

/** How an attempt to collect a charge stands at the payer's bank. That it was paid comes as the payment itself. */
export type CollectionNews = {
  readonly kind: 'collection'
  readonly rail: string
  readonly txid: string
  readonly attempt: number
  readonly state: 'SCHEDULED' | 'FAILED' | 'REJECTED' | 'CANCELLED'
  /** Why, in our words; null where there is nothing to say. */
  readonly code: string | null
}

export type Withdrawal = 'WITHDRAWN' | 'KEPT'

/** Under way; never heard of; or how it ended, as the rail would have reported it. */
export type OutflowStanding = 'PENDING' | 'UNKNOWN' | OutflowSettled

export const outflowKinds = ['REFUND', 'REVERSAL', 'PAYOUT'] as const
export type OutflowKind = (typeof outflowKinds)[number]

/** Back to whoever paid, by the payment's own id; or to an account or a PIX key. */
export type OutflowInstruction = {
  readonly amount: Cents
  readonly endToEnd: EndToEndId | null
  readonly beneficiary: Readonly<Record<string, unknown>> | null
}

export type OutflowOrder = OutflowInstruction & {
  readonly kind: OutflowKind
  /** Account and order in 31 characters, made by us: what the rail says of it finds its way back. */
  readonly reference: Txid
}

export const payoutErrors = ['PE0001', 'PE0002', 'PE0003', 'PE0004'] as const
export type PayoutError = (typeof payoutErrors)[number]

/** Money went out, or came back to us. */
export type OutflowSettled = {
  readonly kind: 'outflow'
  readonly rail: string
  readonly order: OutflowKind
  readonly reference: string
  readonly outcome: 'PAID' | 'CANCELLED' | 'FAILED'
  readonly error: PayoutError | null
  /** Why it failed, in the rail's words; no part of what makes two reports one. */
  readonly detail?: string | null
  readonly settledAt: Instant
}

export type Payer = { readonly document: string | null; readonly name: string | null; readonly ispb: string | null }

/** Money arrived. The rail's settlement time decides what it pays, not when we hear of it. */
export type PaymentReceived = {
  readonly kind: 'payment'
  readonly rail: string
  readonly endToEnd: EndToEndId
  /** As the rail wrote it; null for a payment that names no charge. */
  readonly txid: string | null
  readonly amount: Cents
  readonly settledAt: Instant
  readonly payer: Payer
}

export type RailEvent = PaymentReceived | MandateNews | CollectionNews

import type { Instant } from '../kernel/calendar.ts'
import type { Cents } from '../kernel/cents.ts'
import type { EndToEndId } from '../kernel/ids.ts'
import type { Txid } from '../kernel/txid.ts'

/** A charge that payers may pay, under a txid that we made: opening it twice is opening it once. */
export type ChargeToOpen = {
  readonly txid: Txid
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

/** The outgoing half of the port to PIX. News from the rail come in by the door (modules/door) only. */
export interface Rail {
  readonly name: string
  /** In the order asked. Repeatable: the same txid gives the same charge. */
  openCharges(charges: readonly ChargeToOpen[]): Promise<readonly OpenedCharge[]>
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

export type RailEvent = PaymentReceived

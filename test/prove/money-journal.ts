import type { RegisteredAccount } from '../harness/running-service.ts'

/** An account of the proof; amounts in cents. */
export type Shop = RegisteredAccount & {
  readonly autoSettle: boolean
  /** A poor one asks for more than it has; the others never do. */
  readonly poor: boolean
  /** Wants to hear of refunds and payouts. */
  readonly told: boolean
  readonly saleFee: number
  readonly payoutFee: number
}

export type Kind = 'refund' | 'payout'
export type End = 'PAID' | 'CANCELLED' | 'FAILED'

/** A refund or payout that a client wants; its reference is in what it sends, so it can be found whatever became of it. */
export type Asked = {
  readonly what: 'asked'
  readonly reference: string
  readonly kind: Kind
  readonly account: string
  readonly sale: string | null
  readonly amount: number
}

/** What the clients asked for and were told, one a line. */
export type Entry =
  | { readonly what: 'paid'; readonly sale: string; readonly account: string; readonly amount: number }
  | Asked
  /** Without a uuid it was refused. `lost`: it had been done by an earlier try, whose answer never came. */
  | { readonly what: 'answered'; readonly reference: string; readonly uuid: string | null; readonly lost: boolean }
  | { readonly what: 'ended'; readonly uuid: string; readonly as: End }
  /** Somebody wanted this end and was told that it has another. */
  | { readonly what: 'refusedEnd'; readonly uuid: string; readonly as: End }
  | { readonly what: 'balance'; readonly account: string; readonly available: number; readonly blocked: number }
  /** Seen by the client itself. */
  | { readonly what: 'wrong'; readonly how: string }

export const cents = (reais: number): number => Math.round(reais * 100)

import { type Instant, MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import { type Cents, cents } from '../../kernel/cents.ts'
import type { AccountId, ChargeId, EndToEndId, MandateId, NumberId, SaleId } from '../../kernel/ids.ts'
import { findMove, type Move } from '../../kernel/moves.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { chargeTxidOf, type Txid, txidOf } from '../../kernel/txid.ts'
import type { Posting } from '../ledger/index.ts'
import type { Leg, Settlement } from '../split/index.ts'

export const saleStates = ['PENDING', 'PAID', 'CANCELLED'] as const
export type SaleState = (typeof saleStates)[number]
export type SaleTrigger = 'pay' | 'void' | 'expire' | 'renew'
export type SaleMove = Move<SaleState, SaleTrigger>

// biome-ignore format: the table is the specification's
export const saleMoves: readonly SaleMove[] = [
  // from        on        to
  ['PENDING',   'pay',    'PAID'],
  ['PENDING',   'void',   'CANCELLED'],
  ['PENDING',   'expire', 'CANCELLED'],
  ['CANCELLED', 'renew',  'PENDING'],
]

export type Sale = {
  readonly accountId: AccountId
  readonly id: SaleId
  readonly number: NumberId
  readonly amount: Cents
  /** Frozen at checkout. */
  readonly fee: Cents
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly paidAt: Instant | null
  readonly renewals: number
  readonly state: SaleState
  readonly endToEnd: EndToEndId | null
  readonly referenceCode: string
  readonly callbackUrl: string | null
  readonly shopper: Shopper
  /** How many legs share it, and what they take together. */
  readonly legs: number
  readonly splitTotal: Cents
  /** What its refunds take together, those that were cancelled left out. */
  readonly refunded: Cents
  /** Set on a recipient-side transaction: the sale that it has a share of, and how far its credit has come. */
  readonly parentId: SaleId | null
  readonly settlement: Settlement | null
  /** The mandate that it is a charge of, or whose first payment it is: then it has the mandate's id. */
  readonly mandateId: MandateId | null
  readonly chargeId: ChargeId | null
}

export type Shopper = {
  readonly id: string | null
  readonly name: string
  readonly email: string
  readonly document?: { readonly type: string; readonly number: string }
  readonly phone?: { readonly type?: string; readonly number?: string }
  readonly bankDetails?: { readonly bank?: string; readonly branch?: string; readonly account?: string }
}

export const MAX_AGE_MINUTES = { default: 1_440, min: 1, max: 43_200 } as const

export const expiryOf = (from: Instant, maxAgeMinutes: number): Instant => plusMs(from, maxAgeMinutes * MINUTE_MS)
export const currentTxid = ({
  accountId,
  id,
  renewals,
  chargeId,
}: Pick<Sale, 'accountId' | 'id' | 'renewals' | 'chargeId'>): Txid =>
  chargeId === null ? txidOf({ accountId, saleId: id, renewals }) : chargeTxidOf({ accountId, chargeId })

/** A recipient-side transaction has no charge of its own at the rail, and that of a recurrence is collected without a code. */
export const hasQrCode = ({ parentId, chargeId }: Pick<Sale, 'parentId' | 'chargeId'>): boolean =>
  parentId === null && chargeId === null

export type PaymentMisfit = 'SALE_NOT_PENDING' | 'ALREADY_PAID' | 'AMOUNT_DIFFERS' | 'UNKNOWN_CHARGE'

/** What of a payment decides whether it fits a sale. */
export type IncomingPayment = { readonly amount: Cents; readonly settledAt: Instant; readonly renewals: number }
/** What of a sale decides it. */
export type PayableSale = Pick<Sale, 'amount' | 'expiresAt' | 'state' | 'renewals'>

/**
 * The rail's settlement time decides, not the arrival: settled at or before the expiry, it pays a PENDING sale
 * however late we hear of it. Any txid ever issued for the sale pays it.
 */
export function fitPayment(sale: PayableSale | undefined, payment: IncomingPayment): Result<SaleMove, PaymentMisfit> {
  if (sale === undefined || payment.renewals > sale.renewals) return refuse('UNKNOWN_CHARGE')
  const move = findMove(saleMoves, sale.state, 'pay')
  if (move === undefined) return refuse(sale.state === 'PAID' ? 'ALREADY_PAID' : 'SALE_NOT_PENDING')
  if (payment.amount !== sale.amount) return refuse('AMOUNT_DIFFERS')
  if (payment.settledAt > sale.expiresAt) return refuse('SALE_NOT_PENDING')
  return ok(move)
}

/**
 * The merchant gets what its legs leave and then pays its fee: two lines on its statement. The legs' money never passes
 * through its balance.
 */
export const postingsForPaidSale = (
  sale: Pick<Sale, 'amount' | 'fee' | 'splitTotal'>,
  legs: readonly Pick<Leg, 'leg' | 'amount'>[],
): readonly Posting[] => [
  { kind: 'salePaid', leg: 0, amount: cents(sale.amount - sale.splitTotal) },
  ...legs.map(({ leg, amount }): Posting => ({ kind: 'splitOut', leg, amount })),
  { kind: 'saleFee', leg: 0, amount: sale.fee },
]

/** A charge of a recurrence is never shared. */
export const postingsForPaidCharge = (sale: Pick<Sale, 'amount' | 'fee'>): readonly Posting[] => [
  { kind: 'chargePaid', leg: 0, amount: sale.amount },
  { kind: 'saleFee', leg: 0, amount: sale.fee },
]

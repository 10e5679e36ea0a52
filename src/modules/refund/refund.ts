import { DAY_MS, type Instant, plusMs, wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, cents, centsToWire } from '../../kernel/cents.ts'
import type { AccountId, NumberId, RefundId, SaleId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Balance, Posting } from '../ledger/index.ts'
import type { News } from '../notification/index.ts'
import type { Sale } from '../sale/index.ts'

export const refundStates = ['PENDING', 'PAID', 'CANCELLED'] as const
export type RefundState = (typeof refundStates)[number]

/** Money that a merchant gives back to the payer of a sale. */
export type Refund = {
  readonly accountId: AccountId
  readonly id: RefundId
  readonly number: NumberId
  readonly saleId: SaleId
  readonly amount: Cents
  readonly reason: string | null
  readonly callbackUrl: string | null
  readonly state: RefundState
  readonly createdAt: Instant
  readonly closedAt: Instant | null
}

const REFUND_DAYS = 90

export type RefundRefusal = {
  readonly code:
    | 'sale.notFound'
    | 'split.childRefundNotAllowed'
    | 'sale.notPaid'
    | 'refund.expired'
    | 'refund.tooMuch'
    | 'refund.insufficientBalance'
}

/**
 * A paid sale of one's own, within 90 days, up to what was paid; the balance and the overdraft cover all of it, also what
 * recipients got.
 */
export function mayRefund(
  sale: Sale | undefined,
  amount: Cents,
  now: Instant,
  balance: Balance,
): Result<Sale, RefundRefusal> {
  if (sale === undefined) return refuse({ code: 'sale.notFound' })
  if (sale.parentId !== null) return refuse({ code: 'split.childRefundNotAllowed' })
  if (sale.state !== 'PAID' || sale.paidAt === null) return refuse({ code: 'sale.notPaid' })
  if (now > plusMs(sale.paidAt, REFUND_DAYS * DAY_MS)) return refuse({ code: 'refund.expired' })
  if (sale.refunded + amount > sale.amount) return refuse({ code: 'refund.tooMuch' })
  if (balance.available + balance.overdraftLimit < amount) return refuse({ code: 'refund.insufficientBalance' })
  return ok(sale)
}

export const postingsForRefund: Record<RefundState, (amount: Cents) => readonly Posting[]> = {
  PENDING: (amount) => [{ kind: 'refundHeld', leg: 0, amount }],
  PAID: (amount) => [{ kind: 'refundPaid', leg: 0, amount }],
  CANCELLED: (amount) => [{ kind: 'refundReturned', leg: 0, amount }],
}

/** Told when a refund is paid. */
export const refundNews = (refund: Refund, sale: Sale, at: Instant): News => ({
  accountId: refund.accountId,
  event: 'REFUND_PAID',
  resourceId: sale.id,
  alsoId: refund.id,
  callbackUrl: refund.callbackUrl,
  at,
  body: () => ({
    saleToken: sale.id,
    referenceCode: sale.referenceCode,
    currency: 'BRL',
    originalAmount: centsToWire(sale.amount),
    reversedAmount: centsToWire(refund.amount),
    amountRefunded: centsToWire(refund.amount),
    bankDetails: bankDetailsOf(sale),
    receipt: '',
    status: refund.state,
    refund: {
      id: refund.number,
      uuid: refund.id,
      status: refund.state,
      amount: centsToWire(refund.amount),
      creation: wireTimestamp(refund.createdAt),
      creditDate: wireTimestamp(at),
    },
    reason: refund.reason ?? '',
    date: wireTimestamp(at),
  }),
})

/** The payer's account is the rail's secret; what the shopper told the merchant is all there is. */
export const bankDetailsOf = ({ shopper }: Pick<Sale, 'shopper'>) => ({
  bank: shopper.bankDetails?.bank ?? '',
  branch: shopper.bankDetails?.branch ?? '',
  account: shopper.bankDetails?.account ?? '',
})

export const totalToRefund = (sale: Pick<Sale, 'refunded'>, amount: Cents): Cents => cents(sale.refunded + amount)

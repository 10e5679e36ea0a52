import type { CalendarDay, Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, ChargeId, EndToEndId, MandateId, NumberId, SaleId } from '../../kernel/ids.ts'
import type { Move } from '../../kernel/moves.ts'

export const chargeStates = ['PENDING_SCHEDULE', 'SCHEDULED', 'PAID', 'FAILED', 'CANCELLED'] as const
export type ChargeState = (typeof chargeStates)[number]
export type ChargeTrigger = 'schedule' | 'retry' | 'pay' | 'fail' | 'reject' | 'cancel'

// biome-ignore format: the table is the specification's
export const chargeMoves: readonly Move<ChargeState, ChargeTrigger>[] = [
  // from               on          to
  ['PENDING_SCHEDULE', 'schedule', 'SCHEDULED'],
  ['PENDING_SCHEDULE', 'cancel',   'CANCELLED'],
  ['SCHEDULED',        'pay',      'PAID'],
  ['SCHEDULED',        'fail',     'FAILED'],
  ['SCHEDULED',        'reject',   'FAILED'],
  ['SCHEDULED',        'cancel',   'CANCELLED'],
  ['FAILED',           'retry',    'SCHEDULED'],
]

/** One cycle's charge: `scheduled payment` and `collection` on the wire. It is a sale from its registration on. */
export type Charge = {
  readonly accountId: AccountId
  readonly id: ChargeId
  readonly number: NumberId
  readonly mandateId: MandateId
  readonly cycle: number
  readonly state: ChargeState
  readonly dueDate: CalendarDay
  /** Null until it is registered or cancelled: until then the price may change. */
  readonly amount: Cents | null
  readonly saleId: SaleId | null
  readonly saleNumber: NumberId | null
  /** 0 is the collection on the due date, then the retries. */
  readonly attempt: number
  /** The retry to come. */
  readonly nextAttempt: number | null
  readonly endToEnd: EndToEndId | null
  readonly rejectionCode: string | null
  readonly cancelReason: string | null
  readonly createdAt: Instant
}

/** It may still be paid. */
export const isOpen = ({ state, nextAttempt }: Pick<Charge, 'state' | 'nextAttempt'>): boolean =>
  state === 'PENDING_SCHEDULE' || state === 'SCHEDULED' || nextAttempt !== null

export const CANCELLATION = 'SLCR'
export const INSUFFICIENT_FUNDS = 'AM04'

/** Why a charge was not paid, and whether trying again may help. */
const reasons: Readonly<Record<string, { readonly means: string; readonly mayRetry: boolean }>> = {
  FAIL: { means: "Insufficient funds in the payer's account.", mayRetry: true },
  AM04: { means: "Insufficient funds in the payer's account.", mayRetry: true },
  AC06: { means: "Payer's account is blocked.", mayRetry: true },
  AC03: { means: 'Invalid payer account.', mayRetry: false },
  AC01: { means: 'Invalid payer account.', mayRetry: false },
  MD01: { means: 'Authorization missing or revoked.', mayRetry: false },
  SL02: { means: 'Recurrence limit exceeded.', mayRetry: true },
  AG03: { means: 'Operation not allowed for the account.', mayRetry: false },
  AB09: { means: "Failure at the payer's provider.", mayRetry: true },
  SLCR: { means: 'Cancellation requested.', mayRetry: false },
  AM09: { means: 'Charge amount differs from the authorized fixed amount.', mayRetry: false },
  AM02: { means: 'Charge exceeds the maximum the payer configured.', mayRetry: true },
}
export const reasonCodes = Object.keys(reasons)

/** The rail may know codes that we do not: they are told as they are. */
export const meaningOf = (code: string): string => reasons[code]?.means ?? code
export const mayRetryAfter = (code: string): boolean => reasons[code]?.mayRetry ?? false

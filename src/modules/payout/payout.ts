import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, cents, centsToWire } from '../../kernel/cents.ts'
import type { AccountId, NumberId, PayoutId } from '../../kernel/ids.ts'
import { findMove, type Move } from '../../kernel/moves.ts'
import type { OutflowSettled, PayoutError } from '../../rail/rail.ts'
import type { Balance, Posting } from '../ledger/index.ts'
import type { News } from '../notification/index.ts'

export const payoutStates = ['PENDING', 'PAID', 'CANCELLED', 'FAILED'] as const
export type PayoutState = (typeof payoutStates)[number]
/** Every move ends it. */
export type PayoutEndState = Exclude<PayoutState, 'PENDING'>
export type PayoutTrigger = 'paid' | 'cancelled' | 'failed'

// biome-ignore format: the table is the specification's
const payoutMoves: readonly Move<PayoutState, PayoutTrigger>[] = [
  // from      on           to
  ['PENDING', 'paid',      'PAID'],
  ['PENDING', 'cancelled', 'CANCELLED'],
  ['PENDING', 'failed',    'FAILED'],
]
export const movePayout = (from: PayoutState, on: PayoutTrigger) =>
  findMove(payoutMoves, from, on)?.[2] as PayoutEndState | undefined

/** What the rail cancels of itself has failed; cancelled is only what its merchant wanted back. */
export const triggerOf = (outcome: OutflowSettled['outcome'], cancelAsked: boolean): PayoutTrigger =>
  outcome === 'PAID' ? 'paid' : outcome === 'CANCELLED' && cancelAsked ? 'cancelled' : 'failed'

export type Beneficiary = {
  readonly name: string
  readonly email?: string
  readonly document?: { readonly type: string; readonly number: string }
  readonly bankDetails?: {
    readonly type?: string
    readonly bankCode?: string
    readonly branch?: string
    readonly account?: string
    readonly pixKey?: string
  }
}

/** Money that a merchant sends out. */
export type Payout = {
  readonly accountId: AccountId
  readonly id: PayoutId
  readonly number: NumberId
  readonly amount: Cents
  readonly fee: Cents
  readonly referenceCode: string
  readonly beneficiary: Beneficiary
  readonly callbackUrl: string | null
  readonly notes: string | null
  readonly state: PayoutState
  readonly errorCode: PayoutError | null
  /** Why it failed, in the rail's words. */
  readonly errorDetail: string | null
  readonly createdAt: Instant
  readonly closedAt: Instant | null
}

/** The balance alone covers it: an overdraft is for refunds. */
export const covers = (balance: Balance, payout: Pick<Payout, 'amount' | 'fee'>): boolean =>
  balance.available >= payout.amount + payout.fee

export const payoutTotal = ({ amount, fee }: Pick<Payout, 'amount' | 'fee'>): Cents => cents(amount + fee)

type Moved = Pick<Payout, 'amount' | 'fee'>
/** A payout that comes to nothing gives back its fee too. */
const givenBack = ({ amount, fee }: Moved): readonly Posting[] => [
  { kind: 'payoutReturned', leg: 0, amount },
  { kind: 'payoutFeeReturned', leg: 0, amount: fee },
]
export const postingsForPayout: Record<PayoutState, (payout: Moved) => readonly Posting[]> = {
  PENDING: ({ amount, fee }) => [
    { kind: 'payoutHeld', leg: 0, amount },
    { kind: 'payoutFee', leg: 0, amount: fee },
  ],
  PAID: ({ amount }) => [{ kind: 'payoutPaid', leg: 0, amount }],
  CANCELLED: givenBack,
  FAILED: givenBack,
}

const errorMessages: Record<PayoutError, string> = {
  PE0001: 'Bank data supplied is not valid.',
  PE0002: 'Account holder does not match the document given.',
  PE0003: 'The account does not accept movements.',
  PE0004: 'Other.',
}

const DETAIL_MAX = 200
/** As the rail wrote it, but on one line and not too long. */
export const cleanDetail = (detail: string | null | undefined): string | null =>
  (detail ?? '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, DETAIL_MAX) || null

const messageOf = ({ errorCode, errorDetail }: Pick<Payout, 'errorCode' | 'errorDetail'>): string =>
  errorCode === null ? 'success' : [errorMessages[errorCode], errorDetail].filter(Boolean).join(' ')

/** Told when a payout is paid or has failed; one that its merchant cancelled is no news. */
export const payoutNews = (payout: Payout, at: Instant): News => {
  const failed = payout.errorCode !== null
  const { bankDetails } = payout.beneficiary
  return {
    accountId: payout.accountId,
    event: failed ? 'PAYOUT_FAILED' : 'PAYOUT_PAID',
    resourceId: payout.id,
    alsoId: null,
    callbackUrl: payout.callbackUrl,
    at,
    body: () => ({
      success: !failed,
      message: messageOf(payout),
      ...(failed && { error_code: payout.errorCode }),
      id: payout.number,
      uuid: payout.id,
      currency: 'BRL',
      amount: centsToWire(payout.amount),
      status: failed ? 'CANCELLED' : payout.state,
      referenceCode: payout.referenceCode,
      bankDetails: {
        bank: bankDetails?.bankCode ?? '',
        branch: bankDetails?.branch ?? '',
        account: bankDetails?.account ?? bankDetails?.pixKey ?? '',
      },
      creation: wireTimestamp(payout.createdAt),
      receipt: '',
      date: wireTimestamp(at),
      receiptDate: failed ? '' : wireTimestamp(at),
    }),
  }
}

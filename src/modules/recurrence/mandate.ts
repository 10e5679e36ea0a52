import type { CalendarDay, Instant } from '../../kernel/calendar.ts'
import { type Cents, cents } from '../../kernel/cents.ts'
import type { AccountId, IdRec, MandateId, NumberId, PlanId } from '../../kernel/ids.ts'
import type { Move } from '../../kernel/moves.ts'
import type { EventName } from '../notification/index.ts'
import type { Shopper } from '../sale/index.ts'
import { type Calendar, dueDateOf, type Periodicity } from './cycle.ts'

export const mandateStates = [
  'CREATED',
  'APPROVING',
  'APPROVED',
  'REJECTED',
  'EXPIRED',
  'CANCELLING',
  'CANCELLED',
  'CONCLUDED',
] as const
export type MandateState = (typeof mandateStates)[number]
export type MandateTrigger = 'present' | 'approve' | 'reject' | 'expire' | 'askCancel' | 'cancel' | 'conclude'

// biome-ignore format: the table is the specification's
export const mandateMoves: readonly Move<MandateState, MandateTrigger>[] = [
  // from         on           to
  ['CREATED',    'present',   'APPROVING'],
  ['CREATED',    'reject',    'REJECTED'],
  ['CREATED',    'expire',    'EXPIRED'],
  ['CREATED',    'cancel',    'CANCELLED'],
  ['APPROVING',  'approve',   'APPROVED'],
  ['APPROVING',  'reject',    'REJECTED'],
  ['APPROVING',  'expire',    'EXPIRED'],
  ['APPROVING',  'cancel',    'CANCELLED'],
  ['APPROVED',   'askCancel', 'CANCELLING'],
  ['APPROVED',   'cancel',    'CANCELLED'],
  ['APPROVED',   'conclude',  'CONCLUDED'],
  ['CANCELLING', 'cancel',    'CANCELLED'],
]

/** What the merchant hears of when a mandate gets there. */
export const toldOfMandate: Partial<Record<MandateState, EventName>> = {
  APPROVED: 'RECURRENCE_AUTHORIZED',
  REJECTED: 'RECURRENCE_REJECTED',
  EXPIRED: 'RECURRENCE_EXPIRED',
  CANCELLED: 'RECURRENCE_CANCELLED',
  CONCLUDED: 'RECURRENCE_CONCLUDED',
}

export const isFinal = (state: MandateState): boolean => !mandateMoves.some(([from]) => from === state)
export const awaitsPayer = (state: MandateState): boolean => state === 'CREATED' || state === 'APPROVING'

export const valueTypes = ['FIXED', 'VARIABLE'] as const
export type ValueType = (typeof valueTypes)[number]

/** What a payer authorizes: `authorization` on the wire. */
export type Mandate = Calendar & {
  readonly accountId: AccountId
  readonly id: MandateId
  readonly number: NumberId
  readonly idRec: IdRec
  readonly planId: PlanId
  /** Counts its changes: whoever decided on an older one decides again. */
  readonly version: number
  /** Counts its news, which are told in this order. */
  readonly turns: number
  readonly state: MandateState
  readonly valueType: ValueType
  /** Of every charge, when it is FIXED. */
  readonly amount: Cents | null
  /** Of every charge at least, when it is VARIABLE. */
  readonly minimum: Cents | null
  /** A price for the next cycle only. */
  readonly oneOff: Cents | null
  readonly finalDate: CalendarDay | null
  readonly retries: boolean
  /** A first payment comes with the authorization: a sale of the mandate's own id. */
  readonly immediate: boolean
  /** The cycle whose charge waits to be registered. */
  readonly nextCycle: number | null
  /** Charges that may still be paid. */
  readonly openCharges: number
  readonly referenceCode: string
  readonly callbackUrl: string | null
  readonly shopper: Shopper
  readonly payer: { readonly document: string; readonly name: string; readonly ispb: string | null }
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly expiresAt: Instant
  readonly approvedAt: Instant | null
}

/**
 * A first payment has the mandate's id, so their news are told in one order. The sale's turns lie beyond those of a mandate that was
 * approved without it, and a mandate that it approves goes on beyond the sale's: the payment is told before what it caused.
 */
export const TURNS_BEFORE = { firstPayment: 1_000_000_000, approvalByIt: 1_500_000_000 } as const

/** What a plan says at the moment; a mandate keeps its own calendar. */
export type ContractTerms = {
  readonly title: string
  readonly description: string | null
  readonly recurrenceAmount: Cents
}

type Priced = Pick<Mandate, 'valueType' | 'amount' | 'minimum' | 'oneOff'>

/** FIXED: as authorized. VARIABLE: the one-off price, else the plan's, never below the minimum. */
export const priceOfNextCycle = (mandate: Priced, plan: Pick<ContractTerms, 'recurrenceAmount'>): Cents =>
  mandate.valueType === 'FIXED'
    ? mandate.amount!
    : cents(Math.max(mandate.oneOff ?? plan.recurrenceAmount, mandate.minimum!))

export const nextDueDate = (mandate: Calendar & Pick<Mandate, 'nextCycle'>): CalendarDay | null =>
  mandate.nextCycle === null ? null : dueDateOf(mandate, mandate.nextCycle)

/** The agreed last day, else that of the last of so many cycles; null when it is open-ended. */
export const endOfMandate = (mandate: Calendar & Pick<Mandate, 'finalDate'>): CalendarDay | null =>
  mandate.finalDate ?? (mandate.lastCycle === null ? null : dueDateOf(mandate, mandate.lastCycle))

export type { Periodicity }

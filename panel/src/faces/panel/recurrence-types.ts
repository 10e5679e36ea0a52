import type { Tone } from '../../kit/index.ts'

export const frequencies = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMIANNUAL', 'ANNUALLY'] as const
export type Frequency = (typeof frequencies)[number]
export const retryPolicies = ['NOT_ACCEPT', 'ACCEPT_3R_7D'] as const

export type PlanRow = {
  readonly id: string
  readonly title: string
  readonly description: string | null
  readonly frequency: Frequency
  readonly period: number
  readonly imediateAmount: number | null
  readonly recurrenceAmount: number
  readonly minimumRecurrenceAmount: number
  readonly retryPolicy: (typeof retryPolicies)[number]
  readonly enabled: boolean
  readonly creation: string
  readonly totalAuthorizations: number
}
export type PlanAnswer = PlanRow & {
  readonly authorizations: readonly {
    readonly idRec: string
    readonly status: MandateState
    readonly payer: { readonly name: string }
    readonly nextRecurrenceDate: string | null
  }[]
}

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

export type MandateRow = {
  readonly idRec: string
  readonly status: MandateState
  readonly periodicity: Frequency
  readonly valueType: 'FIXED' | 'VARIABLE'
  readonly amount: number
  readonly minimumAmount: number | null
  readonly initialDate: string
  readonly finalDate: string | null
  readonly nextRecurrenceDate: string | null
  readonly creation: string
  readonly payer: { readonly name: string }
  readonly contract: { readonly id: string; readonly description: string }
}

export type Mandate = MandateRow & {
  readonly payer: { readonly name: string; readonly document: string; readonly ispb: string | null }
  readonly uuid: string
  readonly plan: { readonly id: string; readonly title: string }
  readonly referenceCode: string
  readonly callbackURL: string | null
  readonly expiration: string
  readonly firstPayment: boolean
  readonly retry: boolean
  readonly cycleAmount: number | null
  readonly canCancel: boolean
}

export const chargeStates = ['PENDING_SCHEDULE', 'SCHEDULED', 'PAID', 'FAILED', 'CANCELLED'] as const
export type ChargeState = (typeof chargeStates)[number]

export type ScheduledRow = {
  readonly id: number
  readonly instructionId: string
  readonly status: ChargeState
  readonly dueDate: string
  readonly amount: number
  readonly endToEnd: string | null
  readonly rejectionCode: string | null
  readonly creation: string
  readonly authorization: { readonly idRec: string }
  readonly sale: { readonly uuid: string; readonly situation: string } | null
}

export type Charge = Omit<ScheduledRow, 'authorization'> & {
  readonly cycle: number
  readonly attempt: number
  readonly cancelReason: string | null
  readonly retryDate: string | null
  readonly cancellableUntil: string
  readonly canCancel: boolean
}

export type MandateAnswer = {
  readonly mandate: Mandate & { readonly code: { readonly plain: string; readonly image: string } | null }
  readonly charges: readonly Charge[]
}
export type ChargeAnswer = { readonly mandate: Mandate; readonly charge: Charge }

/** Lists of mandates and of scheduled payments. */
export type Results<Item> = {
  readonly totalElements: number
  readonly totalPages: number
  readonly results: readonly Item[]
}

/** It may still be paid. */
export const isToCome = ({ status, retryDate }: Charge): boolean =>
  status === 'PENDING_SCHEDULE' || status === 'SCHEDULED' || retryDate !== null

export const toneOfMandate: Readonly<Record<MandateState, Tone>> = {
  CREATED: 'waiting',
  APPROVING: 'waiting',
  APPROVED: 'good',
  REJECTED: 'bad',
  EXPIRED: 'neutral',
  CANCELLING: 'waiting',
  CANCELLED: 'neutral',
  CONCLUDED: 'info',
}

export const toneOfCharge: Readonly<Record<ChargeState, Tone>> = {
  PENDING_SCHEDULE: 'neutral',
  SCHEDULED: 'waiting',
  PAID: 'good',
  FAILED: 'bad',
  CANCELLED: 'neutral',
}

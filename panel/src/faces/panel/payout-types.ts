export const payoutStates = ['PENDING', 'PAID', 'CANCELLED', 'FAILED'] as const
export type PayoutState = (typeof payoutStates)[number]
export const payoutErrors = ['PE0001', 'PE0002', 'PE0003', 'PE0004'] as const
export type PayoutError = (typeof payoutErrors)[number]

/** As the list of transactions has it. */
export type PayoutRow = {
  readonly uuid: string
  readonly situation: PayoutState
  readonly amount: number
  readonly total: number
  readonly referenceCode: string
  readonly creation: string
}

export type Payout = {
  readonly id: number
  readonly uuid: string
  readonly situation: PayoutState
  readonly amount: number
  readonly serviceFee: number
  readonly total: number
  readonly referenceCode: string
  readonly creation: string
  readonly processingDate: string | null
  readonly error_code?: PayoutError
  readonly notes: string | null
  readonly beneficiary: {
    readonly name: string
    readonly email?: string
    readonly document?: { readonly type: string; readonly number: string }
    readonly bankDetails?: {
      readonly type?: 'CHECKING' | 'SAVING'
      readonly bankCode?: string
      readonly branch?: string
      readonly account?: string
      readonly pixKey?: string
    }
  }
}

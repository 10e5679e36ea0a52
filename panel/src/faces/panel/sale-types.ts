import type { Tone } from '../../kit/index.ts'

export type Situation = 'PENDING' | 'PAID' | 'CANCELLED'
export type SaleRow = {
  readonly id: number
  readonly uuid: string
  readonly situation: Situation
  readonly amount: number
  readonly fee: number
  readonly refunded: number
  readonly referenceCode: string
  readonly creation: string
  readonly maxAge: string
  readonly paidAt: string | null
  readonly endToEnd: string | null
  readonly shopper: { readonly name: string; readonly email: string; readonly document: string | null }
  readonly recipients: number
  readonly isShare: boolean
  readonly isRecurring: boolean
}

export type Page<Item> = {
  readonly totalElements: number
  readonly totalPages: number
  readonly result: readonly Item[]
}

export type Attempt = {
  readonly number: number
  readonly date: string
  readonly durationMs: number
  readonly endpoint: string
  readonly status: string
  readonly responseCode: number
  readonly failure: string | null
  readonly request: { readonly headers: Readonly<Record<string, unknown>>; readonly payload: string }
  readonly response: { readonly headers: Readonly<Record<string, unknown>>; readonly body: string }
}

export type Delivery = {
  readonly id: string
  readonly eventType: string
  readonly state: 'PENDING' | 'DELIVERED' | 'FAILED'
  readonly endpoint: string
  readonly attempts: readonly Attempt[]
}

export type Happening = { readonly at: string | null } & (
  | { readonly kind: 'created'; readonly amount: number }
  | { readonly kind: 'renewed'; readonly times: number }
  | {
      readonly kind: 'paid'
      readonly amount: number
      readonly endToEnd: string | null
      readonly payer: { readonly name: string | null; readonly document: string | null } | null
    }
  | { readonly kind: 'cancelled' }
  | {
      readonly kind: 'refund' | 'reversal'
      readonly uuid: string
      readonly amount: number
      readonly reason: string | null
    }
  | {
      readonly kind: 'refund.closed' | 'reversal.closed'
      readonly uuid: string
      readonly amount: number
      readonly situation: Situation
    }
  | {
      readonly kind: 'transfer'
      readonly transfer: string
      readonly from: string
      readonly to: string
      readonly amount: number
      readonly sequence: number
      /** Whose share it is. */
      readonly recipient: { readonly recipientId: string; readonly name: string | null } | null
    }
  | ({ readonly kind: 'notification' } & Delivery)
)

export type SaleAnswer = {
  readonly sale: SaleRow & {
    readonly txid: string | null
    readonly callbackURL: string | null
    readonly split: {
      readonly recipients?: readonly {
        readonly recipientId: string
        readonly name: string | null
        readonly amount: number
        readonly settlementStatus: 'PENDING' | 'PROCESSING' | 'SETTLED' | 'FAILED'
      }[]
    } | null
  }
  readonly recurrence: {
    readonly authorization: { readonly idRec: string; readonly status: string }
    readonly scheduledPayment: { readonly status: string; readonly dueDate: string } | null
  } | null
  readonly events: readonly Happening[]
}

/** Money that goes back to a payer and of which the bank has not said how it ended. */
export type OpenOutflow = Extract<Happening, { readonly kind: 'refund' | 'reversal' }>

export const openOutflows = (events: readonly Happening[]): readonly OpenOutflow[] => {
  const closed = new Set(
    events.flatMap((event) => (event.kind.endsWith('.closed') && 'uuid' in event ? event.uuid : [])),
  )
  return events.filter(
    (event): event is OpenOutflow => (event.kind === 'refund' || event.kind === 'reversal') && !closed.has(event.uuid),
  )
}

export const toneOf: Readonly<Record<string, Tone>> = {
  PENDING: 'waiting',
  PAID: 'good',
  CANCELLED: 'neutral',
  DELIVERED: 'good',
  FAILED: 'bad',
  PROCESSING: 'waiting',
  SETTLED: 'good',
}

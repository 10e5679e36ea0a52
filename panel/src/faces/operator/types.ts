import type { Tone } from '../../kit/index.ts'

export type Page<Row> = { readonly totalElements: number; readonly totalPages: number; readonly result: readonly Row[] }

export type Status = 'ACTIVE' | 'SUSPENDED' | 'CLOSED'

export type Account = {
  readonly id: string
  readonly number: number
  readonly name: string
  readonly email: string | null
  readonly document: string | null
  readonly status: Status
  readonly creation: string
  readonly clockOffsetSeconds: number
  readonly splitEnabled: boolean
  readonly uniqueReferenceCode: boolean
  readonly autoSettle: boolean
  readonly overdraftLimit: number
  readonly fees: {
    readonly PIX: { readonly percent: number; readonly fixed: number }
    readonly PAYOUT: { readonly fixed: number }
  }
  readonly boleto: { readonly enabled: boolean; readonly fee: number | null }
  readonly splitRecipientsMax: number
  readonly rateLimitPerSecond: number | null
}

export type Credentials = { readonly apiKey: string; readonly apiToken: string; readonly webhookSecret?: string }

export type Recipient = {
  readonly recipientId: string
  readonly name: string
  readonly document: string | null
  readonly status: 'ACTIVE' | 'INACTIVE'
}

export type Reversal = {
  readonly uuid: string
  readonly reversedAmount: number
  readonly status: 'PENDING' | 'PAID' | 'CANCELLED'
  readonly endToEnd: string
  readonly reason: string
  readonly creation: string
  readonly date: string | null
}

export type Conflict = {
  readonly id: string
  readonly rail: string
  readonly kind: string
  readonly railId: string
  readonly received: string
  readonly event: Readonly<Record<string, unknown>>
  readonly first: {
    readonly accountNumber: number
    readonly outcome: 'APPLIED' | 'REVERSED'
    readonly uuid: string
    readonly amount: number | null
    readonly received: string
  } | null
}

export type Rule = {
  readonly rule: string
  readonly holds: boolean
  readonly count: number
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

export type Audit = {
  readonly state: 'RUNNING' | 'DONE' | 'FAILED'
  readonly startedAt: string
  readonly endedAt: string | null
  readonly trouble: 'TIME_LIMIT' | 'STOPPED' | null
  readonly broken: number
  readonly rules: readonly Rule[]
}

export const toneOf: Readonly<Record<Status, Tone>> = { ACTIVE: 'good', SUSPENDED: 'waiting', CLOSED: 'bad' }

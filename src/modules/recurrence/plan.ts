import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, PlanId } from '../../kernel/ids.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Periodicity } from './cycle.ts'

export const retryPolicies = ['ACCEPT_3R_7D', 'NOT_ACCEPT'] as const
export type RetryPolicy = (typeof retryPolicies)[number]

/** What a merchant offers; a payer authorizes a mandate under it. */
export type Plan = {
  readonly accountId: AccountId
  readonly id: PlanId
  readonly title: string
  readonly description: string | null
  readonly frequency: Periodicity
  /** How many cycles; 0 is open-ended. */
  readonly period: number
  /** What is paid when the mandate is given. */
  readonly immediateAmount: Cents | null
  readonly recurrenceAmount: Cents
  /** The least that a mandate of variable value lets be charged. */
  readonly minimumAmount: Cents
  readonly retryPolicy: RetryPolicy
  readonly enabled: boolean
  readonly createdAt: Instant
  /** How many were ever made under it. */
  readonly mandates: number
}

/** What its merchant decides. */
export type PlanTerms = Omit<Plan, 'accountId' | 'id' | 'createdAt' | 'mandates'>
export type NewPlanTerms = Partial<PlanTerms> & Pick<PlanTerms, 'title' | 'frequency' | 'recurrenceAmount'>

export const newPlan = (made: Pick<Plan, 'accountId' | 'id' | 'createdAt'>, terms: NewPlanTerms): Plan => ({
  description: null,
  period: 0,
  immediateAmount: null,
  minimumAmount: terms.recurrenceAmount,
  retryPolicy: 'NOT_ACCEPT',
  enabled: true,
  ...terms,
  ...made,
  mandates: 0,
})

/** One term never follows another: a new amount leaves the minimum where it is. */
export const changedPlan = (plan: Plan, changes: Partial<PlanTerms>): Plan => ({ ...plan, ...changes })

/** Its first half is the creation, so the key is the list order. */
export const newPlanId = (ids: RandomIds, at: Instant): PlanId =>
  (at.toString(16).padStart(12, '0') + ids.bytes(6).toString('hex')) as PlanId

/** As with any path id, what has another shape is simply not found. */
export const planIdFromWire = (text: string): PlanId | undefined =>
  /^[0-9a-f]{24}$/i.test(text) ? (text.toLowerCase() as PlanId) : undefined

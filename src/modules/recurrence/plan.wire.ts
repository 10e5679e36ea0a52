import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import {
  amount,
  type Fields,
  flag,
  integer,
  oneOf,
  type Read,
  required,
  text,
  withoutUndefined,
} from '../../kernel/reader.ts'
import { nullable } from '../../kernel/schema.ts'
import { clampedField } from '../../platform/http/paging.ts'
import { periodicities } from './cycle.ts'
import type { PlanMandate, PlanQuery } from './plan.store.ts'
import { type NewPlanTerms, type Plan, type PlanTerms, retryPolicies } from './plan.ts'

const frequency = oneOf(periodicities, { code: 'frequency.invalid', example: 'MONTHLY' })

/** Of an update: what is not sent stays. */
export const planChangeFields = {
  title: text({ min: 3, max: 100, code: 'title.length', example: 'Plano mensal' }),
  description: text({ max: 255, code: 'description.length' }),
  frequency,
  recurrenceAmount: amount({ example: 49.9 }),
  period: integer({
    min: 0,
    max: 100,
    code: 'period.limit',
    description: 'How many cycles; 0, the default, has no end.',
  }),
  imediateAmount: amount({ description: 'What is paid when the payer authorizes.' }),
  minimumRecurrenceAmount: amount({ description: 'As recurrenceAmount by default.' }),
  retryPolicy: oneOf(retryPolicies, { code: 'retryPolicy.invalid', description: 'NOT_ACCEPT by default.' }),
  enabled: flag({ code: 'enabled.invalid', description: 'True by default.' }),
} satisfies Fields

export const planFields = {
  ...planChangeFields,
  title: required(planChangeFields.title),
  frequency: required(frequency),
  recurrenceAmount: required(planChangeFields.recurrenceAmount),
} satisfies Fields

export const planExample = { title: 'Plano mensal', frequency: 'MONTHLY', recurrenceAmount: 49.9 }

export const planTermsFrom = (read: Read<typeof planFields>): NewPlanTerms => ({
  ...planChangesFrom(read),
  title: read.title,
  frequency: read.frequency,
  recurrenceAmount: read.recurrenceAmount,
})

export const planChangesFrom = (read: Read<typeof planChangeFields>): Partial<PlanTerms> =>
  withoutUndefined({
    title: read.title,
    description: read.description,
    frequency: read.frequency,
    recurrenceAmount: read.recurrenceAmount,
    period: read.period,
    immediateAmount: read.imediateAmount,
    minimumAmount: read.minimumRecurrenceAmount,
    retryPolicy: read.retryPolicy,
    enabled: read.enabled,
  })

const PAGE_SIZE = 20
export const planListFields = {
  title: text({ max: 100, description: 'A part of it, in any case.' }),
  enabled: oneOf(['true', 'false']),
  frequency,
  page: clampedField({ min: 0, max: 1_000_000_000, fallback: 0, description: 'From 0.' }),
  maxPageResults: clampedField({ min: 1, max: 100, fallback: PAGE_SIZE }),
}

export const planQueryFrom = (read: Read<typeof planListFields>): Omit<PlanQuery, 'accountId'> => {
  const { title, frequency, page = 0, maxPageResults: limit = PAGE_SIZE } = read
  const enabled = read.enabled === undefined ? undefined : read.enabled === 'true'
  return { title, enabled, frequency, offset: page * limit, limit }
}

export const planSchema = Type.Object({
  id: Type.String(),
  title: Type.String(),
  description: nullable(Type.String()),
  frequency: Type.String({ enum: [...periodicities] }),
  period: Type.Integer(),
  imediateAmount: nullable(Type.Number()),
  recurrenceAmount: Type.Number(),
  minimumRecurrenceAmount: Type.Number(),
  retryPolicy: Type.String({ enum: [...retryPolicies] }),
  enabled: Type.Boolean(),
  creation: Type.String(),
  totalAuthorizations: Type.Integer(),
})

export const planWire = (plan: Plan): Static<typeof planSchema> => ({
  id: plan.id,
  title: plan.title,
  description: plan.description,
  frequency: plan.frequency,
  period: plan.period,
  imediateAmount: plan.immediateAmount === null ? null : centsToWire(plan.immediateAmount),
  recurrenceAmount: centsToWire(plan.recurrenceAmount),
  minimumRecurrenceAmount: centsToWire(plan.minimumAmount),
  retryPolicy: plan.retryPolicy,
  enabled: plan.enabled,
  creation: wireTimestamp(plan.createdAt),
  totalAuthorizations: plan.mandates,
})

export const planMandateSchema = Type.Object({
  id: Type.Integer(),
  idRec: Type.String(),
  status: Type.String(),
  payer: Type.Object({ document: Type.String(), name: Type.String(), ispb: nullable(Type.String()) }),
  nextRecurrenceDate: nullable(Type.String({ description: '`yyyy-MM-dd`; null when nothing is to come.' })),
})

export const planMandateWire = (mandate: PlanMandate): Static<typeof planMandateSchema> => ({
  id: mandate.number,
  idRec: mandate.idRec,
  status: mandate.state,
  payer: mandate.payer,
  nextRecurrenceDate: mandate.nextDueDate,
})

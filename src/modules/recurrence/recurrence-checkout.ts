import { Type } from 'typebox'
import { type CalendarDay, calendarDay, dayOf, type Instant, instantFromWire, plusDays } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import {
  amount,
  type Fault,
  type Field,
  fault,
  flag,
  object,
  objectSchema,
  oneOf,
  type Read,
  required,
  text,
  url,
} from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { checkoutHead, knownShopperField, MAX_AGE_MINUTES, type Shopper, shopperFrom } from '../sale/index.ts'
import { lastCycleOf, type Periodicity, periodicities } from './cycle.ts'
import { type Mandate, type ValueType, valueTypes } from './mandate.ts'
import type { Plan } from './plan.ts'

/** A day of São Paulo; a date and time with an offset is the day it falls on there. */
const wireDay = (code: string): Field<CalendarDay, false> => ({
  schema: Type.String({
    description: '`yyyy-MM-dd`, or ISO 8601 with an offset, read as a day of São Paulo.',
    examples: ['2026-12-31'],
  }),
  required: false,
  read(value, field, faults) {
    const at = typeof value === 'string' ? instantFromWire(value) : undefined
    const day = typeof value === 'string' ? (calendarDay(value) ?? (at && dayOf(at))) : undefined
    if (day === undefined) faults.push(fault(field, 'must be a date, or a date and time with an offset', code))
    return day
  },
})

/** In the order in which faults are reported. */
const fields = (verifyDigits: boolean) => ({
  currency: checkoutHead.currency,
  amount: amount({ description: 'Of the immediate payment.' }),
  referenceCode: checkoutHead.referenceCode,
  maxAge: checkoutHead.maxAge,
  callbackURL: url({ code: 'callbackURL.invalid', description: 'Hears of the mandate and its charges.' }),
  shopper: knownShopperField(verifyDigits),
  recurrence: required(
    object(
      {
        planId: required(text({ max: 100, code: 'recurrence.planId.invalid' })),
        immediatePayment: flag({
          code: 'recurrence.immediatePayment.invalid',
          description: 'One code pays now and authorizes.',
        }),
        retry: flag({
          code: 'recurrence.retry.invalid',
          description: 'Failed charges are tried again, where the plan accepts it.',
        }),
        amount: object(
          {
            valueType: oneOf(valueTypes, { code: 'recurrence.amount.valueType.invalid' }),
            recurrenceAmount: amount({ codePrefix: 'recurrence.amount.recurrenceAmount' }),
            debitorMinimumAmount: amount({ codePrefix: 'recurrence.amount.debitorMinimumAmount' }),
          },
          { code: 'recurrence.amount.invalid' },
        ),
        calendar: required(
          object(
            {
              initialDate: required(wireDay('recurrence.calendar.initialDate.invalid')),
              finalDate: wireDay('recurrence.calendar.finalDate.invalid'),
              periodicity: oneOf(periodicities, { code: 'recurrence.calendar.periodicity.invalid' }),
            },
            { code: 'recurrence.calendar.invalid' },
          ),
        ),
      },
      { code: 'recurrence.invalid' },
    ),
  ),
})

const example = {
  currency: 'BRL',
  referenceCode: 'subscription-1',
  shopper: { name: 'Maria da Silva', email: 'maria@example.com', document: { type: 'CPF', number: '529.982.247-25' } },
  recurrence: {
    planId: '0193a5c0d1e2f3a4b5c6d7e8',
    immediatePayment: false,
    retry: true,
    amount: { valueType: 'FIXED' },
    calendar: { initialDate: '2026-12-31', periodicity: 'MONTHLY' },
  },
}

export const recurrenceCheckoutFields = fields
export const recurrenceCheckoutSchema = objectSchema(fields(false), { examples: [example] })
export type RecurrenceRequest = Read<ReturnType<typeof fields>>

/** What the payer is to authorize, settled. */
export type MandateTerms = Pick<
  Mandate,
  | 'valueType'
  | 'amount'
  | 'minimum'
  | 'periodicity'
  | 'initialDate'
  | 'finalDate'
  | 'lastCycle'
  | 'retries'
  | 'immediate'
> & {
  /** Of the immediate payment. */
  readonly payNow: Cents | null
  readonly maxAgeMinutes: number
  readonly referenceCode: string
  readonly callbackUrl: string | null
  readonly shopper: Shopper
}

/** Beyond it nobody plans. */
const INITIAL_DAYS_MAX = 3_660

/** What depends on the plan and on today; all broken rules at once, in the order of the fields. */
export function settleTerms(
  request: RecurrenceRequest,
  plan: Plan | undefined,
  now: Instant,
): Result<MandateTerms, readonly Fault[]> {
  const { recurrence } = request
  const { initialDate, finalDate = null, periodicity } = recurrence.calendar
  const known = plan?.enabled ? plan : undefined
  const immediate = recurrence.immediatePayment ?? false
  const payNow = immediate ? (request.amount ?? known?.immediateAmount ?? null) : null
  const today = dayOf(now)
  const faults: Fault[] = []
  const rule = (holds: boolean, field: string, message: string, code?: string) => {
    if (!holds) faults.push(fault(field, message, code))
  }
  rule(!known || !immediate || payNow !== null, 'amount', 'may not be null')
  const why = plan === undefined ? 'non-existent plan' : 'plan is not enabled'
  rule(known !== undefined, 'recurrence.planId', why, 'recurrence.planId.invalid')
  const first = 'recurrence.calendar.initialDate'
  rule(initialDate >= today, first, 'must not lie in the past', `${first}.invalid`)
  rule(initialDate <= plusDays(today, INITIAL_DAYS_MAX), first, 'must lie within ten years', `${first}.invalid`)
  const last = 'recurrence.calendar.finalDate'
  rule(finalDate === null || finalDate >= initialDate, last, 'must not lie before the initial date', `${last}.invalid`)
  const period = 'recurrence.calendar.periodicity'
  const samePeriod = !known || periodicity === undefined || periodicity === known.frequency
  rule(samePeriod, period, 'must be that of the plan', `${period}.invalid`)
  if (!known || faults.length > 0) return refuse(faults)
  const calendar = { initialDate, periodicity: known.frequency }
  return ok({
    ...amountsOf(recurrence.amount, known),
    ...calendar,
    finalDate,
    lastCycle: lastCycleOf(calendar, { period: known.period, finalDate })!,
    retries: (recurrence.retry ?? false) && known.retryPolicy === 'ACCEPT_3R_7D',
    immediate,
    payNow,
    maxAgeMinutes: request.maxAge ?? MAX_AGE_MINUTES.default,
    referenceCode: request.referenceCode,
    callbackUrl: request.callbackURL ?? null,
    shopper: shopperFrom(request.shopper),
  })
}

type Amounts = Pick<Mandate, 'valueType' | 'amount' | 'minimum'>

function amountsOf(asked: RecurrenceRequest['recurrence']['amount'], plan: Plan): Amounts {
  const valueType: ValueType = asked?.valueType ?? 'FIXED'
  return valueType === 'FIXED'
    ? { valueType, amount: asked?.recurrenceAmount ?? plan.recurrenceAmount, minimum: null }
    : { valueType, amount: null, minimum: asked?.debitorMinimumAmount ?? plan.minimumAmount }
}

export type { Periodicity }

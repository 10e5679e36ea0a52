import { type CalendarDay, type Instant, startOfDay, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import type { EventName, News } from '../notification/index.ts'
import { type Charge, meaningOf } from './charge.ts'
import { type ContractTerms, endOfMandate, type Mandate, nextDueDate, priceOfNextCycle } from './mandate.ts'

type Told = { readonly mandate: Mandate; readonly plan: ContractTerms; readonly at: Instant }

export type ChargeNews =
  | { readonly event: 'RECURRENCE_CHARGE_SCHEDULED'; readonly status: 'SCHEDULED' }
  | { readonly event: 'RECURRENCE_CHARGE_PAID'; readonly status: 'PAID' }
  | { readonly event: 'RECURRENCE_CHARGE_FAILED'; readonly status: 'FAILED' | 'REJECTED' | 'CANCELLED' }

const dayOrNull = (day: CalendarDay | null): string | null => (day === null ? null : wireTimestamp(startOfDay(day)))

const mandateFields = ({ mandate, plan }: Told, event: EventName) => ({
  eventType: event,
  idRec: mandate.idRec,
  externalId: mandate.referenceCode,
  planId: mandate.planId,
  contractId: mandate.planId,
  contractDescription: contractDescription(plan),
  // The interface has no other word for a mandate that is in force until its cancellation is confirmed.
  status: mandate.state === 'CANCELLING' ? 'APPROVED' : mandate.state,
  periodicity: mandate.periodicity,
  valueType: mandate.valueType,
  amount: centsToWire(priceOfNextCycle(mandate, plan)),
  payerDocument: mandate.payer.document,
  payerName: mandate.payer.name,
  initialDate: wireTimestamp(startOfDay(mandate.initialDate)),
  finalDate: dayOrNull(endOfMandate(mandate)),
  nextRecurrenceDate: dayOrNull(nextDueDate(mandate)),
})

export const contractDescription = ({ title, description }: Pick<ContractTerms, 'title' | 'description'>): string =>
  description ?? title

export const mandateNews = (told: Told, event: EventName): News => ({
  ...newsOf(told, event, null),
  body: () => ({ ...mandateFields(told, event), eventDate: wireTimestamp(told.at) }),
})

/** Told of one charge; a failure also says why, and whether it will be tried again. */
export const chargeNews = (told: Told & { readonly charge: Charge }, { event, status }: ChargeNews): News => {
  const { charge, at } = told
  return {
    ...newsOf(told, event, charge.saleId),
    body: () => ({
      ...mandateFields(told, event),
      saleToken: charge.saleId,
      chargeAmount: centsToWire(charge.amount!),
      chargeDueDate: wireTimestamp(startOfDay(charge.dueDate)),
      chargeStatus: status,
      ...(event === 'RECURRENCE_CHARGE_FAILED' && {
        rejectionCode: charge.rejectionCode,
        rejectionReason: meaningOf(charge.rejectionCode!),
        retryScheduled: charge.nextAttempt !== null,
      }),
      eventDate: wireTimestamp(at),
    }),
  }
}

const newsOf = ({ mandate, at }: Told, event: EventName, alsoId: string | null): Omit<News, 'body'> => ({
  accountId: mandate.accountId,
  event,
  resourceId: mandate.id,
  alsoId,
  callbackUrl: mandate.callbackUrl,
  at,
})

import { type Static, Type } from 'typebox'
import { type CalendarDay, startOfDay, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import { nullable } from '../../kernel/schema.ts'
import { chargeTxidOf } from '../../kernel/txid.ts'
import { success } from '../../platform/http/context.ts'
import { shopperSchema } from '../sale/index.ts'
import { chargeStates, meaningOf } from './charge.ts'
import type { CreatedMandate } from './create-mandate.ts'
import type { ChargeInWords, MandateInWords } from './find-mandates.ts'
import { endOfMandate, mandateStates, nextDueDate, priceOfNextCycle } from './mandate.ts'
import { contractDescription } from './recurrence-news.ts'

const envelope = { status: Type.Integer(), message: Type.String() }
export const doneSchema = Type.Object(envelope)
const stateSchema = Type.String({ enum: [...mandateStates] })
const paging = { totalElements: Type.Integer(), totalPages: Type.Integer(), resultSize: Type.Integer() }
const dayTime = (day: CalendarDay): string => wireTimestamp(startOfDay(day))

export type MandateImage = { readonly url: string; readonly base64?: string }

export const recurrenceCheckoutAnswerSchema = Type.Object({
  ...envelope,
  idRec: Type.String(),
  response: Type.Object({
    id: Type.Integer(),
    uuid: Type.String({ format: 'uuid' }),
    idRec: Type.String(),
    referenceCode: Type.String(),
    amount: Type.Number({ description: 'Of the immediate payment, else of the next charge.' }),
    saleCode: Type.String(),
    shopper: shopperSchema,
    authorization: Type.Object({ id: Type.Integer(), idRec: Type.String(), status: stateSchema }),
    instructions: Type.Object({
      chosen: Type.String(),
      name: Type.String(),
      label: Type.String(),
      qrCode: Type.Object({ plain: Type.String(), url: Type.String(), base64: Type.Optional(Type.String()) }),
    }),
  }),
})

export const recurrenceCheckoutAnswer = (
  { mandate, sale, opened }: CreatedMandate,
  plan: MandateInWords['plan'],
  image: MandateImage,
): Static<typeof recurrenceCheckoutAnswerSchema> => {
  const id = sale?.number ?? mandate.number
  return {
    ...success,
    idRec: mandate.idRec,
    response: {
      id,
      uuid: mandate.id,
      idRec: mandate.idRec,
      referenceCode: mandate.referenceCode,
      amount: centsToWire(sale?.amount ?? priceOfNextCycle(mandate, plan)),
      saleCode: String(id).padStart(8, '0'),
      shopper: mandate.shopper,
      authorization: { id: mandate.number, idRec: mandate.idRec, status: mandate.state },
      instructions: {
        chosen: 'PIX_RECURRENCE',
        name: 'PIX_RECURRENCE',
        label: 'Pix Automático',
        qrCode: { plain: opened.brCode, ...image },
      },
    },
  }
}

const authorizationSchema = Type.Object({
  id: Type.Integer(),
  idRec: Type.String(),
  status: stateSchema,
  periodicity: Type.String(),
  valueType: Type.String(),
  amount: Type.Number({ description: 'The fixed amount, or the price of the next cycle.' }),
  minimumAmount: nullable(Type.Number()),
  initialDate: Type.String(),
  finalDate: nullable(Type.String()),
  nextRecurrenceDate: nullable(Type.String()),
  creation: Type.String(),
  payer: Type.Object({ document: Type.String(), name: Type.String(), ispb: nullable(Type.String()) }),
  contract: Type.Object({ id: Type.String(), description: Type.String() }),
})

export const authorizationWire = ({ mandate, plan }: MandateInWords): Static<typeof authorizationSchema> => ({
  id: mandate.number,
  idRec: mandate.idRec,
  status: mandate.state,
  periodicity: mandate.periodicity,
  valueType: mandate.valueType,
  amount: centsToWire(priceOfNextCycle(mandate, plan)),
  minimumAmount: mandate.minimum === null ? null : centsToWire(mandate.minimum),
  initialDate: mandate.initialDate,
  finalDate: endOfMandate(mandate),
  nextRecurrenceDate: nextDueDate(mandate),
  creation: wireTimestamp(mandate.createdAt),
  payer: { ...mandate.payer },
  contract: { id: mandate.planId, description: contractDescription(plan) },
})
export const authorizationListSchema = Type.Object({ ...envelope, ...paging, results: Type.Array(authorizationSchema) })

const paymentFields = {
  id: Type.Integer(),
  instructionId: Type.String(),
  status: Type.String({ enum: [...chargeStates] }),
  dueDate: Type.String(),
  amount: Type.Number(),
  endToEnd: nullable(Type.String()),
  rejectionCode: nullable(Type.String()),
  rejectionReason: nullable(Type.String()),
  creation: Type.String(),
}
const shortAuthorizationSchema = Type.Object({
  id: Type.Integer(),
  idRec: Type.String(),
  initialDate: Type.String(),
  finalDate: nullable(Type.String()),
  creation: Type.String(),
})
const shortSaleSchema = nullable(
  Type.Object({ id: Type.Integer(), uuid: Type.String({ format: 'uuid' }), situation: Type.String() }),
)
const paymentSchema = Type.Object(paymentFields)
const scheduledPaymentSchema = Type.Object({
  ...paymentFields,
  authorization: shortAuthorizationSchema,
  sale: shortSaleSchema,
})

const paymentWire = ({ charge, mandate, plan }: ChargeInWords): Static<typeof paymentSchema> => ({
  id: charge.number,
  instructionId: chargeTxidOf({ accountId: charge.accountId, chargeId: charge.id }),
  status: charge.state,
  dueDate: dayTime(charge.dueDate),
  amount: centsToWire(charge.amount ?? priceOfNextCycle(mandate, plan)),
  endToEnd: charge.endToEnd,
  rejectionCode: charge.rejectionCode,
  rejectionReason: charge.rejectionCode === null ? null : meaningOf(charge.rejectionCode),
  creation: wireTimestamp(charge.createdAt),
})

const shortAuthorizationWire = ({ mandate }: MandateInWords): Static<typeof shortAuthorizationSchema> => ({
  id: mandate.number,
  idRec: mandate.idRec,
  initialDate: mandate.initialDate,
  finalDate: endOfMandate(mandate),
  creation: wireTimestamp(mandate.createdAt),
})

/** A charge is no sale before it is registered. */
const shortSaleWire = ({ charge, situation }: ChargeInWords): Static<typeof shortSaleSchema> =>
  charge.saleId === null ? null : { id: charge.saleNumber!, uuid: charge.saleId, situation: situation! }

export const scheduledPaymentWire = (found: ChargeInWords): Static<typeof scheduledPaymentSchema> => ({
  ...paymentWire(found),
  authorization: shortAuthorizationWire(found),
  sale: shortSaleWire(found),
})
export const scheduledPaymentListSchema = Type.Object({
  ...envelope,
  ...paging,
  results: Type.Array(scheduledPaymentSchema),
})
export const scheduledPaymentAnswerSchema = Type.Object({
  ...envelope,
  paymentSchedule: paymentSchema,
  authorization: shortAuthorizationSchema,
  sale: shortSaleSchema,
})
export const scheduledPaymentAnswer = (found: ChargeInWords): Static<typeof scheduledPaymentAnswerSchema> => ({
  ...success,
  paymentSchedule: paymentWire(found),
  authorization: shortAuthorizationWire(found),
  sale: shortSaleWire(found),
})

export const authorizationAnswerSchema = Type.Object({
  ...envelope,
  authorization: authorizationSchema,
  paymentSchedules: Type.Array(Type.Object({ ...paymentFields, sale: shortSaleSchema })),
})
export const authorizationAnswer = (
  found: MandateInWords,
  charges: readonly ChargeInWords[],
): Static<typeof authorizationAnswerSchema> => ({
  ...success,
  authorization: authorizationWire(found),
  paymentSchedules: charges.map((charge) => ({ ...paymentWire(charge), sale: shortSaleWire(charge) })),
})

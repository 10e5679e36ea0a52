import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { MandateId } from '../../kernel/ids.ts'
import { amount, objectSchema, oneOf, readFields, required, text } from '../../kernel/reader.ts'
import { ok, refuse } from '../../kernel/result.ts'
import { chargeOfTxid, partsOfTxid } from '../../kernel/txid.ts'
import { jsonBody, readBody, readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { clampedField, dayField, instantsOfDays } from '../../platform/http/paging.ts'
import { RequestInvalid, RequestUnusable, unwrap } from '../../platform/http/refusals.ts'
import { type NumberBlocks, reserveNumbers } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Rail } from '../../rail/rail.ts'
import type { Outbox } from '../notification/index.ts'
import { type QrImages, wantsImage } from '../sale/index.ts'
import { type ChargeRefusal, cancelCharge, cancelMandate, type MandateRefusal, setCycleAmount } from './cancel.ts'
import { type ChangeMandateContext, NUMBERS_PER_CHANGE } from './change-mandate.ts'
import { chargeStates } from './charge.ts'
import { createMandate, referenceOfMandate } from './create-mandate.ts'
import {
  chargeSorts,
  findCharge,
  findCharges,
  findChargesOfMandate,
  findMandates,
  mandateSorts,
  sortOrders,
} from './find-mandates.ts'
import { mandateStates } from './mandate.ts'
import { findMandateCode } from './mandate-code.ts'
import { findMandateKeys, findRecurrences } from './recurrence.store.ts'
import {
  authorizationAnswer,
  authorizationAnswerSchema,
  authorizationListSchema,
  authorizationWire,
  doneSchema,
  type MandateImage,
  recurrenceCheckoutAnswer,
  recurrenceCheckoutAnswerSchema,
  scheduledPaymentAnswer,
  scheduledPaymentAnswerSchema,
  scheduledPaymentListSchema,
  scheduledPaymentWire,
} from './recurrence.wire.ts'
import { recurrenceCheckoutFields, recurrenceCheckoutSchema } from './recurrence-checkout.ts'

export type RecurrenceRoutesContext = CommandContext & {
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly outbox: Outbox
  readonly rail: Rail
  readonly images: QrImages
  readonly publicUrl: string
  /** Check digits are verified where money is real. */
  readonly verifyDigits: boolean
}

const pageFromZero = clampedField({ min: 0, max: 1_000_000_000, fallback: 0, description: 'From 0.' })
const pageSize = clampedField({ min: 1, max: 100, fallback: 20 })
const DEFAULT_SIZE = 20

const mandateListFields = {
  situation: oneOf(mandateStates),
  payerName: text({ max: 255, description: 'Contains, in any case.' }),
  initialDate: dayField,
  finalDate: dayField,
  page: pageFromZero,
  maxPageResults: pageSize,
  sortBy: oneOf(mandateSorts),
  order: oneOf(sortOrders),
}
const chargeListFields = {
  status: oneOf(chargeStates),
  initialDueDate: dayField,
  finalDueDate: dayField,
  page: pageFromZero,
  maxPageResults: pageSize,
  sortBy: oneOf(chargeSorts),
  order: oneOf(sortOrders),
}
const reasonFields = { reason: text({ max: 255 }) }
const cycleAmountFields = { amount: required(amount({ example: 49.9 })) }

const mandateFields = {
  'mandate.notFound': 'idRec',
  'mandate.notCancellable': 'idRec',
  'mandate.notVariable': 'idRec',
  'mandate.final': 'idRec',
} satisfies Record<MandateRefusal['code'], string>
const chargeFields = {
  'charge.notFound': 'instructionId',
  'charge.notCancellable': 'instructionId',
} satisfies Record<ChargeRefusal['code'], string>

const paged = (total: number, size: number, results: readonly unknown[]) => ({
  totalElements: total,
  totalPages: Math.ceil(total / size),
  resultSize: results.length,
})

const imageUrl = (publicUrl: string, reference: string): string => `${publicUrl}/qr/rec/${reference}.png`
const idRecParams = Type.Object({ idRec: Type.String() })
const instructionParams = Type.Object({ instructionId: Type.String() })

export function recurrenceRoutes(context: RecurrenceRoutesContext) {
  const { db, clock, ids, outbox, rail } = context
  const checkoutFields = recurrenceCheckoutFields(context.verifyDigits)

  const changeIn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    work: (inside: ChangeMandateContext) => Promise<void>,
  ) => {
    const numbers = await reserveNumbers(context.numbers, NUMBERS_PER_CHANGE)
    return runCommand(context, request, reply, async (tx) => {
      await work({ tx, ids, numbers, outbox, now: clock.now() })
      return { http: 200, body: success }
    })
  }

  const imageOf = (request: FastifyRequest, reply: FastifyReply, reference: string, brCode: string): MandateImage => {
    const url = imageUrl(context.publicUrl, reference)
    if (!wantsImage(request)) return { url }
    reply.header('preference-applied', 'return=representation')
    return { url, base64: `data:image/png;base64,${context.images.png(brCode).toString('base64')}` }
  }

  return async (app: FastifyInstance) => {
    app.post(
      '/v1.1/checkout/pix-automatic',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Ask a payer for a mandate: charges that repeat',
          body: recurrenceCheckoutSchema,
          response: { 200: recurrenceCheckoutAnswerSchema },
        },
      },
      async (request, reply) => {
        const numbers = await reserveNumbers(context.numbers, 2)
        return runCommand(context, request, reply, async (tx) => {
          const read = readFields(checkoutFields, jsonBody(request))
          if (!read.ok) throw new RequestInvalid(read.refusal, { repeatsFirst: true })
          const created = await createMandate(
            { tx, ids, numbers, rail, now: clock.now() },
            request.accountId,
            read.value,
          )
          if (!created.ok) throw new RequestInvalid(created.refusal, { repeatsFirst: true })
          const { mandate, opened } = created.value
          const [found] = await findRecurrences(tx, [{ accountId: mandate.accountId, mandateId: mandate.id }])
          const image = imageOf(request, reply, referenceOfMandate(mandate), opened.brCode)
          return { http: 200, body: recurrenceCheckoutAnswer(created.value, found!.plan, image) }
        })
      },
    )

    app.get(
      '/v1.1/pix-automatic/authorizations',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Mandates',
          querystring: objectSchema(mandateListFields),
          response: { 200: authorizationListSchema },
        },
      },
      async (request) => {
        const query = readQuery(request, mandateListFields)
        const size = query.maxPageResults ?? DEFAULT_SIZE
        const { total, mandates } = await findMandates(db, {
          accountId: request.accountId,
          state: query.situation,
          payerName: query.payerName,
          ...instantsOfDays(query.initialDate, query.finalDate),
          sortBy: query.sortBy ?? 'updatedAt',
          order: query.order ?? 'DESC',
          offset: (query.page ?? 0) * size,
          limit: size,
        })
        return { ...success, ...paged(total, size, mandates), results: mandates.map(authorizationWire) }
      },
    )

    app.get<{ Params: { idRec: string } }>(
      '/v1.1/pix-automatic/authorizations/:idRec',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'A mandate and its charges',
          params: idRecParams,
          response: { 200: authorizationAnswerSchema },
        },
      },
      async (request) => {
        const { accountId } = request
        const [key] = await findMandateKeys(db, [request.params.idRec])
        const [found] = key?.accountId === accountId ? await findRecurrences(db, [key]) : []
        const { mandate, plan } = unwrap(
          found ? ok(found) : refuse({ code: 'mandate.notFound' as const }),
          mandateFields,
        )
        return authorizationAnswer({ mandate, plan }, await findChargesOfMandate(db, accountId, mandate.id))
      },
    )

    app.put<{ Params: { idRec: string } }>(
      '/v1.1/pix-automatic/authorizations/:idRec/cancel',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Cancel a mandate and its open charges',
          params: idRecParams,
          body: objectSchema(reasonFields, { examples: [{ reason: 'the customer moved' }] }),
          response: { 200: doneSchema },
        },
      },
      (request, reply) =>
        changeIn(request, reply, async (inside) => {
          readBody(request, reasonFields)
          const { idRec } = request.params
          unwrap(await cancelMandate(inside, { accountId: request.accountId, idRec }), mandateFields)
        }),
    )

    app.put<{ Params: { idRec: string } }>(
      '/v1.1/pix-automatic/authorizations/:idRec/cycle-amount',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'A price for the next cycle of a VARIABLE mandate only',
          params: idRecParams,
          body: objectSchema(cycleAmountFields, { examples: [{ amount: 49.9 }] }),
          response: { 200: doneSchema },
        },
      },
      (request, reply) =>
        changeIn(request, reply, async (inside) => {
          const { amount } = readBody(request, cycleAmountFields)
          const { idRec } = request.params
          unwrap(await setCycleAmount(inside, { accountId: request.accountId, idRec, amount }), mandateFields)
        }),
    )

    app.get(
      '/v1.1/pix-automatic/scheduled-payments',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Charges of mandates',
          querystring: objectSchema(chargeListFields),
          response: { 200: scheduledPaymentListSchema },
        },
      },
      async (request) => {
        const query = readQuery(request, chargeListFields)
        const size = query.maxPageResults ?? DEFAULT_SIZE
        const { total, charges } = await findCharges(db, {
          accountId: request.accountId,
          state: query.status,
          dueFrom: query.initialDueDate,
          dueTo: query.finalDueDate,
          sortBy: query.sortBy ?? 'creation',
          order: query.order ?? 'DESC',
          offset: (query.page ?? 0) * size,
          limit: size,
        })
        return { ...success, ...paged(total, size, charges), results: charges.map(scheduledPaymentWire) }
      },
    )

    app.get<{ Params: { instructionId: string } }>(
      '/v1.1/pix-automatic/scheduled-payments/:instructionId',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'One charge of a mandate',
          params: instructionParams,
          response: { 200: scheduledPaymentAnswerSchema },
        },
      },
      async (request) => {
        const key = chargeOfTxid(request.params.instructionId)
        const found = key?.accountId === request.accountId && (await findCharge(db, key.accountId, key.chargeId))
        return scheduledPaymentAnswer(
          unwrap(found ? ok(found) : refuse({ code: 'charge.notFound' as const }), chargeFields),
        )
      },
    )

    app.put<{ Params: { instructionId: string } }>(
      '/v1.1/pix-automatic/scheduled-payments/:instructionId/cancel',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Cancel a charge, until 22:00 of the day before it is due',
          params: instructionParams,
          body: objectSchema(reasonFields, { examples: [{ reason: 'paid in the shop' }] }),
          response: { 200: doneSchema },
        },
      },
      (request, reply) =>
        changeIn(request, reply, async (inside) => {
          const { reason = null } = readBody(request, reasonFields)
          const { instructionId } = request.params
          const asked = { accountId: request.accountId, instructionId, reason }
          unwrap(await cancelCharge(inside, asked), chargeFields)
        }),
    )
  }
}

/** Public, like a sale's: the code of a mandate never changes, so neither does its image. */
export function mandateImageRoutes({ db, rail, images }: Pick<RecurrenceRoutesContext, 'db' | 'rail' | 'images'>) {
  const codeOfReference = async (reference: string): Promise<string | undefined> => {
    const parts = partsOfTxid(reference)
    if (parts === undefined || parts.renewals !== 0) return undefined
    const { accountId, saleId } = parts
    const [found] = await findRecurrences(db, [{ accountId, mandateId: saleId as string as MandateId }])
    return found && findMandateCode(db, rail, found.mandate)
  }
  return async (app: FastifyInstance) => {
    app.get<{ Params: { reference: string } }>(
      '/qr/rec/:reference.png',
      {
        schema: {
          tags: ['Public'],
          summary: 'QR code of a mandate as a PNG',
          security: [],
          params: Type.Object({ reference: Type.String() }),
        },
      },
      async (request, reply) => {
        const brCode = await codeOfReference(request.params.reference)
        if (brCode === undefined) throw new RequestUnusable(404, 'there is no such QR code')
        return reply
          .type('image/png')
          .header('cache-control', 'public, max-age=31536000, immutable')
          .send(images.png(brCode))
      },
    )
  }
}

import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, centsToWire } from '../../kernel/cents.ts'
import { type ReversalId, type SaleId, uuidFromWire } from '../../kernel/ids.ts'
import { amount, type Fault, objectSchema, oneOf, required, text, url } from '../../kernel/reader.ts'
import { ok, refuse } from '../../kernel/result.ts'
import { nullable } from '../../kernel/schema.ts'
import { readBody, readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { dayField, instantsOfDays, pagedAnswer, pageField, pageSizeField } from '../../platform/http/paging.ts'
import { RequestInvalid, unwrap } from '../../platform/http/refusals.ts'
import { type NumberBlocks, reserveNumbers } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { shopperSchema } from '../sale/index.ts'
import { type RefundRefusal, totalToRefund } from './refund.ts'
import { requestRefund } from './request-refund.ts'
import { findReversal, findReversals, type Reversal, reversalStates } from './reversal.ts'

export type RefundRoutesContext = CommandContext & {
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  /** Orders wait to be sent. */
  readonly send: () => void
}

const envelope = { status: Type.Integer(), message: Type.String() }
const refundFields = {
  amount: required(amount({ example: 10.5 })),
  reason: text({ max: 255 }),
  callbackURL: url({}),
}
const refundAnswerSchema = Type.Object({
  ...envelope,
  uuid: Type.String({ format: 'uuid', description: 'Of the refund.' }),
  currency: Type.String(),
  originalAmount: Type.Number(),
  totalToRefund: Type.Number({ description: 'This refund and those before it that were not cancelled.' }),
  currentBalance: Type.Number({ description: 'Available after this refund.' }),
  discounts: Type.Number(),
  shopper: shopperSchema,
})

/** Field errors of a refund, in the words of the contract. */
const refundFaults: Partial<Record<RefundRefusal['code'], Fault>> = {
  'refund.expired': { field: 'saleUUID', message: 'was paid over 90 days ago', code: 'refund.expired' },
  'refund.tooMuch': { field: 'amount', message: 'is more than the sale has left to refund', code: 'refund.tooMuch' },
  'refund.insufficientBalance': {
    field: 'amount',
    message: 'the balance does not cover the refund',
    code: 'refund.insufficientBalance',
  },
}
const childFault: Fault = { field: 'saleToken', message: 'split.childRefundNotAllowed' }
const refundRefusals: Record<RefundRefusal['code'], string> = {
  'sale.notFound': 'saleToken',
  'sale.notPaid': 'transactionToken',
  'split.childRefundNotAllowed': 'saleToken',
  'refund.expired': 'saleUUID',
  'refund.tooMuch': 'amount',
  'refund.insufficientBalance': 'amount',
}

const listFields = {
  initialDate: dayField,
  finalDate: dayField,
  situation: oneOf(reversalStates),
  page: pageField,
  maxPageResults: pageSizeField,
}
const reversalSchema = Type.Object({
  id: Type.Integer(),
  uuid: Type.String({ format: 'uuid' }),
  currency: Type.String(),
  originalAmount: nullable(Type.Number()),
  reversedAmount: Type.Number(),
  status: Type.String({ enum: [...reversalStates] }),
  sale: nullable(Type.Object({ uuid: Type.String() })),
  endToEnd: Type.String(),
  reason: Type.String(),
  creation: Type.String(),
  date: nullable(Type.String({ description: 'When it ended.' })),
  receipt: nullable(Type.String()),
})
export const reversalWire = (reversal: Reversal): Static<typeof reversalSchema> => ({
  id: reversal.number,
  uuid: reversal.id,
  currency: 'BRL',
  originalAmount: reversal.originalAmount === null ? null : centsToWire(reversal.originalAmount),
  reversedAmount: centsToWire(reversal.amount),
  status: reversal.state,
  sale: reversal.saleId === null ? null : { uuid: reversal.saleId },
  endToEnd: reversal.endToEnd,
  reason: reversal.reason,
  creation: wireTimestamp(reversal.createdAt),
  date: reversal.closedAt === null ? null : wireTimestamp(reversal.closedAt),
  receipt: null,
})
export const reversalListSchema = Type.Object({
  ...envelope,
  totalElements: Type.Integer(),
  totalPages: Type.Integer(),
  resultSize: Type.Integer(),
  result: Type.Array(reversalSchema),
})

export function refundRoutes(context: RefundRoutesContext) {
  const { db, clock, ids } = context
  return async (app: FastifyInstance) => {
    app.put<{ Params: { saleUUID: string } }>(
      '/v1.1/transactions/:saleUUID/refund',
      {
        schema: {
          tags: ['Refunds'],
          summary: 'Give a sale back to its payer, in full or in part',
          params: Type.Object({ saleUUID: Type.String({ format: 'uuid' }) }),
          body: objectSchema(refundFields, { examples: [{ amount: 10.5, reason: 'returned goods' }] }),
          response: { 200: refundAnswerSchema },
        },
      },
      async (request, reply) => {
        const numbers = await reserveNumbers(context.numbers, 1)
        return runCommand(context, request, reply, async (tx) => {
          const read = readBody(request, refundFields)
          const requested = await requestRefund(
            { tx, ids, numbers, now: clock.now() },
            {
              accountId: request.accountId,
              saleId: uuidFromWire<SaleId>(request.params.saleUUID),
              amount: read.amount,
              reason: read.reason ?? null,
              callbackUrl: read.callbackURL ?? null,
            },
          )
          if (!requested.ok) {
            const { code } = requested.refusal
            if (code === 'split.childRefundNotAllowed') throw new RequestInvalid([childFault], { checkout: true })
            const broken = refundFaults[code]
            if (broken) throw new RequestInvalid([broken])
          }
          const { refund, sale, available } = unwrap(requested, refundRefusals)
          tx.afterCommit(context.send)
          const body = {
            ...success,
            uuid: refund.id,
            currency: 'BRL',
            originalAmount: centsToWire(sale.amount),
            totalToRefund: centsToWire(totalToRefund(sale, refund.amount)),
            currentBalance: centsToWire(available as Cents),
            discounts: 0,
            shopper: sale.shopper,
          }
          return { http: 200, body }
        })
      },
    )

    app.get(
      '/v1.1/reversals',
      {
        schema: {
          tags: ['Refunds'],
          summary: 'Payments that fitted no sale, newest first',
          querystring: objectSchema(listFields),
          response: { 200: reversalListSchema },
        },
      },
      async (request) => {
        const query = readQuery(request, listFields)
        const size = query.maxPageResults ?? 100
        const { total, reversals } = await findReversals(db, {
          accountId: request.accountId,
          ...instantsOfDays(query.initialDate, query.finalDate),
          state: query.situation,
          offset: ((query.page ?? 1) - 1) * size,
          limit: size,
        })
        return { ...success, ...pagedAnswer(total, size, reversals.map(reversalWire)) }
      },
    )

    app.get<{ Params: { uuid: string } }>(
      '/v1.1/reversals/:uuid',
      {
        schema: {
          tags: ['Refunds'],
          summary: 'One reversal',
          params: Type.Object({ uuid: Type.String({ format: 'uuid' }) }),
          response: { 200: Type.Object({ ...envelope, reversal: reversalSchema }) },
        },
      },
      async (request) => {
        const id = uuidFromWire<ReversalId>(request.params.uuid)
        const found = id && (await findReversal(db, request.accountId, id))
        const reversal = unwrap(found ? ok(found) : refuse({ code: 'reversal.notFound' as const }), {
          'reversal.notFound': 'uuid',
        })
        return { ...success, reversal: reversalWire(reversal) }
      },
    )
  }
}

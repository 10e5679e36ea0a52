import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type PayoutId, uuidFromWire } from '../../kernel/ids.ts'
import { type Fault, isObject, objectSchema, readFields, required, text } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { jsonBody, readBody } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { RequestInvalid, RequestRefused, RequestUnusable, unwrap } from '../../platform/http/refusals.ts'
import { type NumberBlocks, reserveNumbers } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Rail } from '../../rail/rail.ts'
import type { Outbox } from '../notification/index.ts'
import {
  type ConcludeContext,
  cancelPayout,
  concludeCancel,
  type WantedPayout,
  withdrawPayout,
} from './cancel-payout.ts'
import { createPayouts, type NewPayout } from './create-payout.ts'
import { findPayout } from './payout.store.ts'
import type { Payout } from './payout.ts'
import { payoutExample, payoutFields, payoutFrom, payoutSchema, payoutWire } from './payout.wire.ts'
import type { PayoutRefusal } from './settle-payout.ts'

export type PayoutRoutesContext = CommandContext & {
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly outbox: Outbox
  readonly rail: Pick<Rail, 'name' | 'cancelOut'>
  /** What the rail says of an order, by the door. */
  readonly hear: ConcludeContext['hear']
  /** Orders wait to be sent. */
  readonly send: () => void
  readonly trouble: (error: unknown, doing: string) => void
}

const envelope = { status: Type.Integer(), message: Type.String() }
const answerSchema = Type.Object({ ...envelope, ...payoutSchema.properties })
const rejectedSchema = Type.Object({
  index: Type.Integer({ description: 'From 0.' }),
  errors: Type.Array(Type.Object({ field: Type.String(), message: Type.String(), code: Type.Optional(Type.String()) })),
})
const batchSchema = Type.Object({
  ...envelope,
  result: Type.Array(payoutSchema),
  rejectedItems: Type.Optional(Type.Array(rejectedSchema)),
})
const cancelFields = { reason: text({ max: 255 }) }
const cancelAliasFields = { uuid: required(text({ max: 36 })), reason: text({ max: 255 }) }
const uuidParams = Type.Object({ uuid: Type.String({ format: 'uuid' }) })
const PAYMENTS_MAX = 100
/** Room for all of them at their largest. */
const BATCH_BYTES_MAX = 512 * 1024

const notCovered: Fault = {
  field: 'amount',
  message: 'the balance does not cover the amount and its fee',
  code: 'payout.insufficientBalance',
}
const cancelRefusals = {
  'payout.notFound': 'uuid',
  'payout.notPending': 'transactionToken',
  'payout.notWithdrawn': 'transactionToken',
}

/** Leaves the transaction: the rail is asked outside of it. */
class MustAsk extends Error {
  readonly wanted: WantedPayout
  constructor(wanted: WantedPayout) {
    super('only the rail can say')
    this.wanted = wanted
  }
}

export function payoutRoutes(context: PayoutRoutesContext) {
  const { db, clock, ids, outbox } = context

  /** Numbers are taken before the transaction begins, at most as many as may be needed. */
  const create = async (request: FastifyRequest, count: number) => {
    const numbers = await reserveNumbers(context.numbers, count)
    return (tx: Parameters<typeof createPayouts>[0]['tx'], asked: readonly NewPayout[]) => {
      tx.afterCommit(context.send)
      return createPayouts({ tx, ids, numbers, now: clock.now() }, request.accountId, asked)
    }
  }

  type AskedCancel = { readonly uuid: string; readonly reason?: string | undefined }
  const answerOf = (payout: Payout) => ({ http: 200, body: { ...success, ...payoutWire(payout) } })

  /** At once, while the order has not left us. What may be at the rail is asked for there, outside of any transaction. */
  async function cancel(request: FastifyRequest, reply: FastifyReply, read: () => AskedCancel): Promise<FastifyReply> {
    try {
      return await runCommand(context, request, reply, async (tx) => {
        const { uuid, reason = null } = read()
        const asked = { accountId: request.accountId, id: uuidFromWire<PayoutId>(uuid), reason }
        const done = await cancelPayout({ tx, ids, outbox, now: clock.now() }, asked)
        if (!done.ok && done.refusal.code === 'payout.givenOut') throw new MustAsk(done.refusal.wanted)
        return answerOf(unwrap(done as Result<Payout, PayoutRefusal>, cancelRefusals))
      })
    } catch (error) {
      if (!(error instanceof MustAsk)) throw error
      return askAndConclude(request, reply, error.wanted)
    }
  }

  async function askAndConclude(request: FastifyRequest, reply: FastifyReply, wanted: WantedPayout) {
    const answer = await withdrawPayout(context, wanted).catch((error) => {
      context.trouble(error, 'ask the rail for an order back')
      throw new RequestUnusable(503, 'the bank has not said yet whether it lets go: look at the payout, or ask again')
    })
    return runCommand(context, request, reply, async (tx) => {
      const concluding = { tx, now: clock.now(), rail: context.rail, hear: context.hear }
      const concluded = await concludeCancel(concluding, wanted, answer)
      if (concluded.ok) return answerOf(concluded.value)
      const { code } = concluded.refusal
      return request.server.envelopeOf(new RequestRefused(code, cancelRefusals[code]))
    })
  }

  return async (app: FastifyInstance) => {
    app.post(
      '/v1.1/payout/create',
      {
        schema: {
          tags: ['Payouts'],
          summary: 'Send money to a bank account or a PIX key',
          body: objectSchema(payoutFields, { examples: [payoutExample] }),
          response: { 200: answerSchema },
        },
      },
      async (request, reply) => {
        const make = await create(request, 1)
        return runCommand(context, request, reply, async (tx) => {
          const [made] = await make(tx, [payoutFrom(readBody(request, payoutFields))])
          if (!made!.ok) throw new RequestInvalid([notCovered])
          return { http: 200, body: { ...success, ...payoutWire(made!.value) } }
        })
      },
    )

    app.post(
      '/v1.1/payout/create/batch',
      {
        bodyLimit: BATCH_BYTES_MAX,
        schema: {
          tags: ['Payouts'],
          summary: 'Several payouts; those that cannot be made are named, the others are made',
          body: Type.Object(
            { payments: Type.Array(objectSchema(payoutFields), { maxItems: PAYMENTS_MAX }) },
            { examples: [{ payments: [payoutExample] }] },
          ),
          response: { 200: batchSchema },
        },
      },
      async (request, reply) => {
        const make = await create(request, PAYMENTS_MAX)
        return runCommand(context, request, reply, async (tx) => {
          const read = paymentsOf(jsonBody(request)).map((payment) => readFields(payoutFields, payment))
          const made = await make(
            tx,
            read.flatMap((one) => (one.ok ? [payoutFrom(one.value)] : [])),
          )
          let next = 0
          const results = read.map((one) => (one.ok ? made[next++]! : one))
          const result = results.flatMap((one) => (one.ok ? [payoutWire(one.value as never)] : []))
          const rejectedItems = results.flatMap((one, index) =>
            one.ok ? [] : [{ index, errors: Array.isArray(one.refusal) ? one.refusal : [notCovered] }],
          )
          if (rejectedItems.length === 0) return { http: 200, body: { ...success, result } }
          return { http: 200, body: { status: 1, message: 'partial success', result, rejectedItems } }
        })
      },
    )

    app.put<{ Params: { uuid: string } }>(
      '/v1.1/payout/:uuid/cancel',
      {
        schema: {
          tags: ['Payouts'],
          summary: 'Cancel a payout that is still pending',
          description:
            'At once while its order has not gone out. Else the bank is asked for it: 400 when it keeps it, 503 when it has not said yet; then it stays PENDING, and is CANCELLED should the bank let go.',
          params: uuidParams,
          body: objectSchema(cancelFields),
          response: { 200: answerSchema },
        },
      },
      (request, reply) =>
        cancel(request, reply, () => ({ uuid: request.params.uuid, ...readBody(request, cancelFields) })),
    )

    app.delete(
      '/v1.1/payout',
      {
        schema: {
          tags: ['Payouts'],
          summary: 'The same by DELETE, for clients that use it',
          body: objectSchema(cancelAliasFields),
          response: { 200: answerSchema },
        },
      },
      (request, reply) => cancel(request, reply, () => readBody(request, cancelAliasFields)),
    )

    app.get<{ Params: { uuid: string } }>(
      '/v1.1/payout/:uuid',
      {
        schema: { tags: ['Payouts'], summary: 'Query a payout', params: uuidParams, response: { 200: answerSchema } },
      },
      async (request) => {
        const id = uuidFromWire<PayoutId>(request.params.uuid)
        const found = id && (await findPayout(db, request.accountId, id))
        const payout = unwrap(found ? ok(found) : refuse({ code: 'payout.notFound' as const }), {
          'payout.notFound': 'uuid',
        })
        return { ...success, ...payoutWire(payout) }
      },
    )
  }
}

function paymentsOf(body: unknown): readonly unknown[] {
  const payments = isObject(body) ? body['payments'] : undefined
  if (payments === undefined || payments === null)
    throw new RequestInvalid([{ field: 'payments', message: 'may not be null' }])
  if (!Array.isArray(payments) || payments.length === 0 || payments.length > PAYMENTS_MAX)
    throw new RequestInvalid([{ field: 'payments', message: `must be a list of 1 to ${PAYMENTS_MAX} payouts` }])
  return payments
}

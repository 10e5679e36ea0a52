import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type Instant, MINUTE_MS, plusMs, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import { type SaleId, uuidFromWire } from '../../kernel/ids.ts'
import { amount, integer, object, objectSchema, text } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { nullable } from '../../kernel/schema.ts'
import type { Batcher } from '../../platform/batcher.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { readBody } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import {
  type Answer,
  type CommandContext,
  keepRefusal,
  replay,
  requestKeyOf,
  runCommand,
} from '../../platform/http/idempotently.ts'
import { momentField } from '../../platform/http/paging.ts'
import { RequestInvalid, RequestRefused, RequestUnusable, unwrap } from '../../platform/http/refusals.ts'
import { findKey } from '../../platform/idempotency/idempotency.store.ts'
import { numbersInTurn } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Rail } from '../../rail/rail.ts'
import { type DoorContext, insideDoor, type RailEventOutcome } from '../door/index.ts'
import { NUMBERS_PER_CHANGE } from '../recurrence/index.ts'
import { findReversal } from '../refund/index.ts'
import {
  type Advanced,
  type AdvanceRefusal,
  advanceClock,
  type ClockReading,
  type JumpAnswer,
  readClock,
  resetClock,
} from './advance-clock.ts'
import { type AskedPayment, paySales, type SimulatedPayment } from './pay-sales.ts'
import { Outrun } from './play-recurrence.ts'
import { untilNotOutrun } from './until-not-outrun.ts'

export type SimulatorContext = CommandContext & {
  readonly ids: RandomIds
  /** Payments asked for at the same time are made together. */
  readonly payments: Batcher<AskedPayment, SimulatedPayment>
  readonly doorContext: DoorContext
  readonly rail: Rail
}

const answerSchema = (fields: Record<string, TSchema>) =>
  Type.Object({ status: Type.Integer(), message: Type.String(), ...fields })

const paidFields = {
  amount: amount({ description: 'The amount of the sale by default.' }),
  payer: object({
    document: text({ max: 25 }),
    name: text({ max: 140 }),
    ispb: text({ min: 8, max: 8, pattern: /^[0-9A-Z]{8}$/, message: 'must have 8 digits or capital letters' }),
  }),
  endToEnd: text({
    min: 32,
    max: 32,
    pattern: /^[0-9A-Za-z]{32}$/,
    message: 'must have 32 letters or digits',
    description: 'Without it each call is a new payment.',
  }),
  settledAt: momentField,
}

const clockFields = {
  days: integer({ min: 0, max: 1_830 }),
  hours: integer({ min: 0, max: 1_000_000 }),
  minutes: integer({ min: 0, max: 100_000_000 }),
  to: momentField,
}

const paidSchema = answerSchema({
  sale: Type.Object({ uuid: Type.String(), situation: Type.String() }),
  endToEnd: Type.String(),
  reversal: nullable(
    Type.Object({
      id: Type.Integer(),
      uuid: Type.String(),
      status: Type.String(),
      reason: Type.String(),
      reversedAmount: Type.Number(),
    }),
  ),
})
const clockSchema = { now: Type.String(), offsetSeconds: Type.Integer() }

const clockWire = ({ now, offsetMs }: { now: Instant; offsetMs: number }) => ({
  now: wireTimestamp(now),
  offsetSeconds: Math.round(offsetMs / 1000),
})

function unwrapClock<Value>(result: Result<Value, AdvanceRefusal>, field: string): Value {
  if (!result.ok && result.refusal.code === 'clock.busy') throw new RequestUnusable(409, 'the clock is moving already')
  return unwrap(result, { 'clock.backwards': field, 'clock.tooFar': field, 'clock.busy': field })
}

/** Money that fitted nothing, now or when it was first reported. */
const reversalOf = (told: RailEventOutcome): string | undefined => {
  if (told.outcome === 'reversed') return told.reversalId
  return told.outcome === 'duplicate' && told.of?.outcome === 'REVERSED' ? told.of.outcomeId : undefined
}

/** One end-to-end id with two contents. */
class Contradiction extends RequestInvalid {}

/** Speaks to the door, never around it. */
export function simulatorRoutes(context: SimulatorContext) {
  const { db, clock } = context
  const clocks = { db, clock, door: context.doorContext, rail: context.rail }

  async function paidBody(sale: AskedPayment, paid: SimulatedPayment, reader: Queryable) {
    const { payment, state, told } = unwrap(
      paid.outcome === 'told' ? ok(paid) : refuse({ code: 'sale.notFound' as const }),
      { 'sale.notFound': 'saleToken' },
    )
    if (told.outcome === 'conflict')
      throw new Contradiction([{ field: 'endToEnd', message: 'was reported before with other content' }])
    const reversalId = reversalOf(told)
    const reversal = reversalId && (await findReversal(reader, sale.accountId, reversalId as never))
    return {
      ...success,
      sale: { uuid: sale.saleId, situation: state },
      endToEnd: payment.endToEnd,
      reversal: reversal
        ? {
            id: reversal.number,
            uuid: reversal.id,
            status: reversal.state,
            reason: reversal.reason,
            reversedAmount: centsToWire(reversal.amount),
          }
        : null,
    }
  }

  function askedPayment(request: FastifyRequest<{ Params: { saleUUID: string } }>): AskedPayment {
    const asked = readBody(request, paidFields)
    const saleId = uuidFromWire<SaleId>(request.params.saleUUID)
    const found = saleId ? ok(saleId) : refuse({ code: 'sale.notFound' as const })
    return { accountId: request.accountId, saleId: unwrap(found, { 'sale.notFound': 'saleToken' }), asked }
  }

  /** A jump commits step by step; its Idempotency-Key commits with the last step. */
  function answerOnce<Reading>(
    request: FastifyRequest,
    reply: FastifyReply,
    render: (reading: Reading) => Answer['body'],
  ): JumpAnswer<Reading> {
    const key = requestKeyOf(request)
    return {
      async repeat() {
        const known = key === null ? undefined : await findKey(db, key, clock.now())
        if (known !== undefined) replay(context, reply, key!, known)
        return known !== undefined
      },
      async keep(lastStep) {
        await runCommand(context, request, reply, async (tx) => ({ http: 200, body: render(await lastStep(tx)) }))
      },
    }
  }

  async function keepingRefusals(request: FastifyRequest, reply: FastifyReply, work: () => Promise<void>) {
    try {
      await work()
      return reply
    } catch (error) {
      const key = requestKeyOf(request)
      if (key === null || !(error instanceof RequestRefused || error instanceof RequestInvalid)) throw error
      return keepRefusal(context, request, reply, key, error)
    }
  }

  return async (app: FastifyInstance) => {
    app.post<{ Params: { saleUUID: string } }>(
      '/v1.1/sandbox/sim/sale/:saleUUID/paid',
      {
        config: { isFull: context.payments.isFull },
        schema: {
          tags: ['Sandbox'],
          summary: 'A payer pays the sale',
          params: Type.Object({ saleUUID: Type.String({ format: 'uuid' }) }),
          body: objectSchema(paidFields, {
            examples: [{ payer: { name: 'Pagador de Teste', document: '52998224725' } }],
          }),
          response: { 200: paidSchema },
        },
      },
      async (request, reply) => {
        if (request.headers['idempotency-key'] === undefined) {
          const item = askedPayment(request)
          return paidBody(item, await context.payments.submit(item), db)
        }
        // A payment may become a reversal, or give a mandate.
        const reserved = await context.doorContext.numbers.take(1 + NUMBERS_PER_CHANGE)
        return untilNotOutrun(() =>
          runCommand(context, request, reply, async (tx) => {
            const item = askedPayment(request)
            const numbers = numbersInTurn(reserved)
            const [paid] = await paySales(insideDoor({ ...context.doorContext, numbers }, tx), [item])
            if (typeof paid !== 'object') throw new Outrun()
            // A contradiction is refused and yet kept aside, so its transaction must commit.
            return paidBody(item, paid, tx).then(
              (body) => ({ http: 200, body }),
              (error) => (error instanceof Contradiction ? request.server.envelopeOf(error) : Promise.reject(error)),
            )
          }),
        )
      },
    )

    app.get(
      '/v1.1/sandbox/clock',
      { schema: { tags: ['Sandbox'], summary: "The account's clock", response: { 200: answerSchema(clockSchema) } } },
      async ({ accountId }) => ({ ...success, ...clockWire(await readClock(context, accountId)) }),
    )

    app.post(
      '/v1.1/sandbox/clock/advance',
      {
        schema: {
          tags: ['Sandbox'],
          summary: "The account's clock jumps ahead; everything due on the way happens before the answer",
          body: objectSchema(clockFields, { examples: [{ days: 1 }] }),
          response: { 200: answerSchema({ ...clockSchema, processed: Type.Integer() }) },
        },
      },
      (request, reply) =>
        keepingRefusals(request, reply, async () => {
          const { days = 0, hours = 0, minutes = 0, to } = readBody(request, clockFields)
          const target = (now: Instant) => to ?? plusMs(now, ((days * 24 + hours) * 60 + minutes) * MINUTE_MS)
          const field = to === undefined ? 'days' : 'to'
          const answer = answerOnce(request, reply, ({ processed, ...reading }: Advanced) => ({
            ...success,
            ...clockWire(reading),
            processed,
          }))
          unwrapClock(await advanceClock(clocks, request.accountId, target, answer), field)
        }),
    )

    app.post(
      '/v1.1/sandbox/clock/reset',
      { schema: { tags: ['Sandbox'], summary: 'Back to real time', response: { 200: answerSchema(clockSchema) } } },
      async (request, reply) => {
        const answer = answerOnce(request, reply, (reading: ClockReading) => ({ ...success, ...clockWire(reading) }))
        unwrapClock(await resetClock(clocks, request.accountId, answer), 'to')
        return reply
      },
    )
  }
}

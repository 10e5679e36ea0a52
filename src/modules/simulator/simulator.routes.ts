import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type Instant, MINUTE_MS, plusMs, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import { type EndToEndId, type SaleId, uuidFromWire } from '../../kernel/ids.ts'
import { amount, integer, object, objectSchema, text } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { nullable } from '../../kernel/schema.ts'
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
import type { PaymentReceived, Rail } from '../../rail/rail.ts'
import { SANDBOX_ISPB, SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { applyRailEvents, type Door, type DoorContext, insideDoor, type RailEventOutcome } from '../door/index.ts'
import { NUMBERS_PER_CHANGE } from '../recurrence/index.ts'
import { findReversal } from '../refund/index.ts'
import { currentTxid, findSale, type Sale } from '../sale/index.ts'
import {
  type Advanced,
  type AdvanceRefusal,
  advanceClock,
  type ClockReading,
  type JumpAnswer,
  readClock,
  resetClock,
} from './advance-clock.ts'
import { Outrun } from './play-recurrence.ts'
import { untilNotOutrun } from './until-not-outrun.ts'

export type SimulatorContext = CommandContext & {
  readonly ids: RandomIds
  readonly door: Door
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

const defaultPayer = { document: '52998224725', name: 'Pagador de Teste', ispb: SANDBOX_ISPB }

/** `E`, the payer's bank, the minute in UTC and eleven random characters. */
function newEndToEnd(at: Instant, ispb: string, ids: RandomIds): EndToEndId {
  const minute = new Date(at).toISOString().replace(/\D/g, '').slice(0, 12)
  return `E${ispb}${minute}${ids.alphanumeric(11)}` as EndToEndId
}

/** One end-to-end id with two contents. */
class Contradiction extends RequestInvalid {}

/** Speaks to the door, never around it. */
export function simulatorRoutes(context: SimulatorContext) {
  const { db, clock, ids } = context
  const clocks = { db, clock, door: context.doorContext, rail: context.rail }

  async function paymentFor(
    sale: Sale,
    body: ReturnType<typeof readBody<typeof paidFields>>,
    reader: Queryable,
  ): Promise<PaymentReceived> {
    const { now } = await readClock({ db: reader, clock }, sale.accountId)
    const ispb = body.payer?.ispb ?? defaultPayer.ispb
    return {
      kind: 'payment',
      rail: SANDBOX_RAIL,
      endToEnd: (body.endToEnd as EndToEndId | undefined) ?? newEndToEnd(now, ispb, ids),
      txid: currentTxid(sale),
      amount: body.amount ?? sale.amount,
      settledAt: body.settledAt ?? now,
      payer: {
        document: body.payer?.document ?? defaultPayer.document,
        name: body.payer?.name ?? defaultPayer.name,
        ispb,
      },
    }
  }

  async function paidBody(sale: Sale, payment: PaymentReceived, outcome: RailEventOutcome, reader: Queryable) {
    if (outcome.outcome === 'conflict')
      throw new Contradiction([{ field: 'endToEnd', message: 'was reported before with other content' }])
    const reversalId =
      outcome.outcome === 'reversed'
        ? outcome.reversalId
        : outcome.outcome === 'duplicate' && outcome.of?.outcome === 'REVERSED'
          ? outcome.of.outcomeId
          : undefined
    const reversal = reversalId && (await findReversal(reader, sale.accountId, reversalId as never))
    const after = (await findSale(reader, sale.accountId, sale.id))!
    return {
      ...success,
      sale: { uuid: after.id, situation: after.state },
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

  async function pay(
    request: FastifyRequest<{ Params: { saleUUID: string } }>,
    reader: Queryable,
    report: (payment: PaymentReceived) => Promise<RailEventOutcome>,
  ) {
    const body = readBody(request, paidFields)
    const saleId = uuidFromWire<SaleId>(request.params.saleUUID)
    const sought = saleId && (await findSale(reader, request.accountId, saleId))
    // Nobody pays a recipient-side transaction: it is paid with its parent.
    const found = sought?.parentId === null ? sought : undefined
    const sale = unwrap(found ? ok(found) : refuse({ code: 'sale.notFound' as const }), {
      'sale.notFound': 'saleToken',
    })
    const payment = await paymentFor(sale, body, reader)
    return paidBody(sale, payment, await report(payment), reader)
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
        if (request.headers['idempotency-key'] === undefined)
          return pay(request, db, async (payment) => (await context.door.apply([payment]))[0]!)
        // A payment may become a reversal, or give a mandate.
        const reserved = await context.doorContext.numbers.take(1 + NUMBERS_PER_CHANGE)
        return untilNotOutrun(() =>
          runCommand(context, request, reply, async (tx) => {
            const numbers = numbersInTurn(reserved)
            const paid = pay(request, tx, async (payment) => {
              const [outcome] = await applyRailEvents(insideDoor({ ...context.doorContext, numbers }, tx), [payment])
              if (typeof outcome !== 'object') throw new Outrun()
              return outcome
            })
            // A contradiction is refused and yet kept aside, so its transaction must commit.
            return paid.then(
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

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { dayOf, startOfDay, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import {
  type AccountId,
  type ChargeId,
  type MandateId,
  type NumberId,
  type SaleId,
  uuidFromWire,
} from '../../kernel/ids.ts'
import { ok, refuse } from '../../kernel/result.ts'
import { nullable } from '../../kernel/schema.ts'
import { chargeOfTxid, chargeTxidOf } from '../../kernel/txid.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { RequestInvalid, unwrap } from '../../platform/http/refusals.ts'
import { numbersInTurn } from '../../platform/number-blocks.ts'
import type { Rail } from '../../rail/rail.ts'
import type { DoorContext } from '../door/index.ts'
import {
  CANCELLATION,
  type Charge,
  findChargeOfSale,
  findMandateKeys,
  findRecurrencesOfCharges,
  isInDueWindow,
  type Mandate,
  priceOfNextCycle,
  type Recurrence,
  reasonCodes,
} from '../recurrence/index.ts'
import {
  beginPlay,
  type ChargeAction,
  failedForFunds,
  type MandateAction,
  mandateActions,
  nextOpenCharge,
  type Play,
  playCharge,
  playMandate,
  playScenario,
  type Scenario,
  scenarios,
} from './play-recurrence.ts'
import { untilNotOutrun } from './until-not-outrun.ts'

export type RecurrenceSimulatorContext = CommandContext & { readonly doorContext: DoorContext; readonly rail: Rail }

const BASE = '/v1.1/pix-automatic/sandbox/sim'
/** A scenario plans at most two charges and makes one sale of each. */
const NUMBERS = 16

const answerSchema = (fields: Record<string, TSchema>) =>
  Type.Object({ status: Type.Integer(), message: Type.String(), ...fields })
const authorizationSchema = Type.Object({ id: Type.Integer(), idRec: Type.String(), status: Type.String() })
const collectionSchema = Type.Object({
  txId: Type.String(),
  instructionId: Type.String(),
  saleToken: nullable(Type.String()),
  amount: Type.Number(),
  dueDate: Type.String(),
  status: Type.String(),
})

const paramSchemas = {
  idRec: Type.String(),
  txId: Type.String({ description: 'An instructionId, or the uuid or id of the charge’s sale.' }),
  code: Type.String({ enum: reasonCodes }),
  name: Type.String({ enum: [...scenarios] }),
}
/** Those that a path names. */
const paramsOf = (path: string) =>
  Type.Object(Object.fromEntries(Object.entries(paramSchemas).filter(([name]) => path.split('/').includes(`:${name}`))))

const authorizationWire = ({ number, idRec, state }: Mandate) => ({ id: number, idRec, status: state })

function collectionWire(charge: Charge, { mandate, plan }: Pick<Recurrence, 'mandate' | 'plan'>) {
  const txid = chargeTxidOf({ accountId: charge.accountId, chargeId: charge.id })
  return {
    txId: txid,
    instructionId: txid,
    saleToken: charge.saleId,
    amount: centsToWire(charge.amount ?? priceOfNextCycle(mandate, plan)),
    dueDate: wireTimestamp(startOfDay(charge.dueDate)),
    status: charge.state,
  }
}

const fields = {
  'mandate.notFound': 'idRec',
  'mandate.final': 'idRec',
  'charge.notFound': 'instructionId',
  'charge.final': 'txId',
}

const knownOr400 = <Value extends string>(value: string, known: readonly Value[], field: string): Value => {
  if (!known.includes(value as Value)) throw new RequestInvalid([{ field, message: 'invalid value' }])
  return value as Value
}

/** An instructionId, a sale's uuid or a sale's number. */
async function findChargeId(db: Queryable, accountId: AccountId, txId: string): Promise<ChargeId | undefined> {
  const named = chargeOfTxid(txId)
  if (named) return named.accountId === accountId ? named.chargeId : undefined
  const saleId = uuidFromWire<SaleId>(txId)
  if (saleId) return findChargeOfSale(db, accountId, { id: saleId })
  return /^\d{1,15}$/.test(txId) ? findChargeOfSale(db, accountId, { number: Number(txId) as NumberId }) : undefined
}

/** What a payer and the payer's bank would do, at a call: through the rail's door only. */
export function recurrenceSimulatorRoutes(context: RecurrenceSimulatorContext) {
  const { doorContext, rail } = context

  async function playing(
    request: FastifyRequest,
    reply: FastifyReply,
    find: (db: Queryable, accountId: AccountId) => Promise<{ mandateId: MandateId } & Found>,
    act: (play: Play, found: Found) => Promise<Record<string, unknown>>,
  ) {
    const reserved = await doorContext.numbers.take(NUMBERS)
    return untilNotOutrun(() =>
      runCommand(context, request, reply, async (tx) => {
        const found = await find(tx, request.accountId)
        const at = { accountId: request.accountId, mandateId: found.mandateId }
        const numbers = numbersInTurn(reserved)
        const play = await beginPlay({ door: { ...doorContext, numbers }, rail }, tx, at)
        return { http: 200, body: { ...success, ...(await act(play, found)) } }
      }),
    )
  }

  const withMandate = (
    request: FastifyRequest<{ Params: { idRec: string } }>,
    reply: FastifyReply,
    act: (play: Play) => Promise<Record<string, unknown>>,
  ) =>
    playing(
      request,
      reply,
      async (db, accountId) => {
        const [key] = await findMandateKeys(db, [request.params.idRec])
        const found = key?.accountId === accountId ? ok(key) : refuse({ code: 'mandate.notFound' as const })
        return { mandateId: unwrap(found, fields).mandateId, chargeId: null }
      },
      act,
    )

  const withCharge = (
    request: FastifyRequest<{ Params: { txId: string } }>,
    reply: FastifyReply,
    asked: () => ChargeAction,
  ) =>
    playing(
      request,
      reply,
      async (db, accountId) => {
        const chargeId = await findChargeId(db, accountId, request.params.txId)
        const [found] = chargeId ? await findRecurrencesOfCharges(db, [{ accountId, chargeId }]) : []
        const { charge } = unwrap(found ? ok(found) : refuse({ code: 'charge.notFound' as const }), fields)
        return { mandateId: charge.mandateId, chargeId: charge.id }
      },
      (play, { chargeId }) => actOn(play, chargeId!, asked()),
    )

  const actOn = async (play: Play, chargeId: ChargeId, asked: ChargeAction) => {
    unwrap(await playCharge(play, chargeId, asked), fields)
    return { collection: collectionWire(await play.charge(chargeId), await play.recurrence()) }
  }

  const codeOf = (request: FastifyRequest) => knownOr400((request.params as { code: string }).code, reasonCodes, 'code')

  return async (app: FastifyInstance) => {
    const post = (path: string, summary: string, answer: Record<string, TSchema>) =>
      [
        `${BASE}${path}`,
        { schema: { tags: ['Sandbox'], summary, params: paramsOf(path), response: { 200: answerSchema(answer) } } },
      ] as const

    for (const action of mandateActions)
      app.post<{ Params: { idRec: string } }>(
        ...post(`/mandate/:idRec/${action}`, mandateSummaries[action], { authorization: authorizationSchema }),
        (request, reply) =>
          withMandate(request, reply, async (play) => {
            unwrap(await playMandate(play, action), fields)
            return { authorization: authorizationWire((await play.recurrence()).mandate) }
          }),
      )

    app.post<{ Params: { idRec: string } }>(
      ...post('/recurrence/:idRec/run-due', 'The next charge is registered, if its day is 2 to 10 days ahead', {
        generated: Type.Integer(),
        collections: Type.Array(collectionSchema),
      }),
      (request, reply) =>
        withMandate(request, reply, async (play) => {
          const recurrence = await play.recurrence()
          const waiting = recurrence.charges.find(({ state }) => state === 'PENDING_SCHEDULE')
          const isDue =
            waiting !== undefined &&
            recurrence.mandate.state === 'APPROVED' &&
            isInDueWindow(waiting.dueDate, dayOf(await play.now()))
          if (!isDue) return { generated: 0, collections: [] }
          const { collection } = await actOn(play, waiting.id, { action: 'active' })
          return { generated: 1, collections: [collection] }
        }),
    )

    app.post<{ Params: { idRec: string; code: string } }>(
      ...post('/recurrence/:idRec/fail/:code', 'The next open charge fails with a reason', {
        collection: collectionSchema,
      }),
      (request, reply) =>
        withMandate(request, reply, async (play) => {
          const code = codeOf(request)
          const open = nextOpenCharge(await play.recurrence())
          const charge = unwrap(open ? ok(open) : refuse({ code: 'mandate.final' as const }), fields)
          return actOn(play, charge.id, { action: 'failed', code })
        }),
    )

    app.post<{ Params: { idRec: string; name: string } }>(
      ...post('/recurrence/:idRec/scenario/:name', `A story: ${scenarios.join(', ')}`, {
        scenario: Type.String(),
        authorization: authorizationSchema,
        collections: Type.Array(collectionSchema),
      }),
      (request, reply) =>
        withMandate(request, reply, async (play) => {
          const name: Scenario = knownOr400(request.params.name, scenarios, 'name')
          const played = unwrap(await playScenario(play, name), fields)
          const after = await play.recurrence()
          const charges = await Promise.all(played.map((id) => play.charge(id)))
          return {
            scenario: name,
            authorization: authorizationWire(after.mandate),
            collections: charges.map((charge) => collectionWire(charge, after)),
          }
        }),
    )

    const plain: [string, string, ChargeAction][] = [
      ['active', "The charge is at the payer's bank", { action: 'active' }],
      ['concluded', 'The charge is paid', { action: 'concluded' }],
      ['failed', 'The charge fails for lack of funds', failedForFunds],
      ['canceled', 'The payer cancels the charge', { action: 'canceled', code: CANCELLATION }],
      ['retry', 'A failed charge gets its next retry now', { action: 'retry' }],
    ]
    for (const [path, summary, asked] of plain)
      app.post<{ Params: { txId: string } }>(
        ...post(`/collection/:txId/${path}`, summary, { collection: collectionSchema }),
        (request, reply) => withCharge(request, reply, () => asked),
      )

    app.post<{ Params: { txId: string; code: string } }>(
      ...post('/collection/:txId/reject/:code', "The payer's bank rejects the charge", {
        collection: collectionSchema,
      }),
      (request, reply) => withCharge(request, reply, () => ({ action: 'rejected', code: codeOf(request) })),
    )
  }
}

type Found = { readonly chargeId: ChargeId | null }

const mandateSummaries: Record<MandateAction, string> = {
  approving: 'The payer looks at the mandate',
  approved: 'The payer approves the mandate',
  rejected: 'The payer rejects the mandate',
  expired: 'Nobody answers in time',
  cancelling: 'The mandate is being cancelled',
  cancelled: 'The payer cancels the mandate',
}

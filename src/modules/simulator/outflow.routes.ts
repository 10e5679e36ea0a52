import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { uuidFromWire } from '../../kernel/ids.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { RequestInvalid, unwrap } from '../../platform/http/refusals.ts'
import { type OutflowKind, type PayoutError, payoutErrors } from '../../rail/rail.ts'
import { type DoorContext, insideDoor } from '../door/index.ts'
import { type Ending, paid, simulateEnd } from './settle-outflow.ts'

export type OutflowSimulatorContext = CommandContext & { readonly doorContext: DoorContext }

const cancelled: Ending = { outcome: 'CANCELLED', error: null }
const refusals = { 'outflow.notFound': 'uuid', 'outflow.final': 'uuid' }
type Params = { uuid: string; code?: string }

// biome-ignore format: a table
const routes: readonly (readonly [path: string, kind: OutflowKind, name: string, ending: (code: string) => Ending | undefined, summary: string])[] = [
  ['refund/:uuid/paid',          'REFUND',   'refund',   () => paid,      'The refund reaches the payer'],
  ['refund/:uuid/cancelled',     'REFUND',   'refund',   () => cancelled, 'The refund comes to nothing'],
  ['reversal/:uuid/paid',        'REVERSAL', 'reversal', () => paid,      'The payment is given back'],
  ['reversal/:uuid/cancelled',   'REVERSAL', 'reversal', () => cancelled, 'The payment cannot be given back'],
  ['payout/:uuid/paid',          'PAYOUT',   'payout',   () => paid,      'The payout arrives'],
  ['payout/:uuid/failed/:code',  'PAYOUT',   'payout',   failedWith,      'The payout fails'],
]

function failedWith(code: string): Ending | undefined {
  return payoutErrors.includes(code as PayoutError) ? { outcome: 'FAILED', error: code as PayoutError } : undefined
}

/** What the payee's bank says of money on its way out. Bodies are ignored. */
export function outflowSimulatorRoutes(context: OutflowSimulatorContext) {
  return async (app: FastifyInstance) => {
    for (const [path, kind, name, endingOf, summary] of routes)
      app.post<{ Params: Params }>(
        `/v1.1/sandbox/sim/${path}`,
        {
          schema: {
            tags: ['Sandbox'],
            summary,
            params: Type.Object({
              uuid: Type.String({ format: 'uuid' }),
              ...(path.includes(':code') && { code: Type.String({ enum: [...payoutErrors] }) }),
            }),
            response: {
              200: Type.Object({
                status: Type.Integer(),
                message: Type.String(),
                [name]: Type.Object({ uuid: Type.String(), status: Type.String() }),
              }),
            },
          },
        },
        (request, reply) =>
          runCommand(context, request, reply, async (tx) => {
            const { uuid, code = '' } = request.params
            const ending = endingOf(code)
            if (ending === undefined) throw new RequestInvalid([{ field: 'code', message: 'invalid value' }])
            const id = uuidFromWire<string>(uuid)
            const asked = { accountId: request.accountId, id, kind, ending }
            const state = unwrap(await simulateEnd(insideDoor(context.doorContext, tx), tx, asked), refusals)
            return { http: 200, body: { ...success, [name]: { uuid: id, status: state } } }
          }),
      )
  }
}

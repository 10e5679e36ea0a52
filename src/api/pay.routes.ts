import type { FastifyInstance } from 'fastify'
import { wireTimestamp } from '../kernel/calendar.ts'
import { centsToWire } from '../kernel/cents.ts'
import { addressBlock } from '../modules/account/index.ts'
import { findPayable, type Payable } from '../modules/sale/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { success } from '../platform/http/context.ts'
import { RequestUnusable } from '../platform/http/refusals.ts'
import type { Rail } from '../rail/rail.ts'
import { guardPages } from './page-guard.ts'
import { createRateLimiter } from './rate-limit.ts'

export type PayRoutesContext = {
  readonly db: Database
  readonly clock: Clock
  readonly rail: Rail
  readonly publicUrl: string
  readonly processes: number
}

/** A page asks every other second; a shop full of people may share one address. */
const REQUESTS_PER_SECOND = 50

/** The one public reading of a charge: what its payer needs, and nothing else of anybody. */
export function payRoutes(context: PayRoutesContext) {
  const rateLimiter = createRateLimiter(context.clock, context.processes)
  return async (app: FastifyInstance) => {
    guardPages(app, context.publicUrl)
    app.get<{ Params: { txid: string } }>('/pay/api/:txid', async (request, reply) => {
      const waitSeconds = rateLimiter.take(addressBlock(request.ip), REQUESTS_PER_SECOND)
      if (waitSeconds > 0) {
        reply.header('retry-after', String(waitSeconds))
        throw new RequestUnusable(429, 'too many requests from this address')
      }
      const payable = await findPayable(context, request.params.txid)
      if (payable === undefined) throw new RequestUnusable(404, 'there is no such charge')
      return { ...success, charge: chargeWire(payable) }
    })
  }
}

const chargeWire = ({ txid, state, sale, receiver, now, brCode }: Payable) => ({
  txid,
  state,
  amount: centsToWire(sale.amount),
  receiver,
  secondsLeft: state === 'PENDING' ? Math.max(0, (sale.expiresAt - now) / 1000) : 0,
  expiresAt: wireTimestamp(sale.expiresAt),
  paidAt: sale.paidAt === null ? null : wireTimestamp(sale.paidAt),
  brCode,
})

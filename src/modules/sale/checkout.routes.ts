import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type SaleId, uuidFromWire } from '../../kernel/ids.ts'
import { integer, objectSchema, readFields } from '../../kernel/reader.ts'
import type { Txid } from '../../kernel/txid.ts'
import { type Batcher, DEFERRED } from '../../platform/batcher.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { isUniqueViolation } from '../../platform/database/trouble.ts'
import { jsonBody } from '../../platform/http/body.ts'
import { type CommandContext, keepRefusal, replay, requestKeyOf, runCommand } from '../../platform/http/idempotently.ts'
import { RequestInvalid, RequestUnusable, unwrap } from '../../platform/http/refusals.ts'
import { findKey, type RequestKey } from '../../platform/idempotency/idempotency.store.ts'
import { type NumberBlocks, reserveNumbers } from '../../platform/number-blocks.ts'
import type { OpenedCharge, Rail } from '../../rail/rail.ts'
import { parentBlock } from '../split/index.ts'
import type { CheckoutParser } from './checkout.ts'
import { type CreateSale, type CreateSaleOutcome, chargeOf, type createSales } from './create-sales.ts'
import type { QrImages } from './qr-images.ts'
import { type RenewSaleRefusal, renewSale } from './renew-sale.ts'
import { currentTxid, MAX_AGE_MINUTES, type Sale } from './sale.ts'
import { checkoutAnswer, checkoutAnswerSchema, type QrImage } from './sale.wire.ts'

export type CheckoutRoutesContext = CommandContext & {
  readonly rail: Rail
  readonly parser: CheckoutParser
  readonly creations: Batcher<CreateSale, CreateSaleOutcome>
  /** No new charge is taken at the moment. */
  readonly isFull: () => boolean
  /** The same, alone and inside a transaction. */
  readonly createIn: (
    inside: { readonly db: Transaction; readonly numbers: NumberBlocks },
    items: readonly CreateSale[],
  ) => ReturnType<typeof createSales>
  readonly numbers: NumberBlocks
  readonly images: QrImages
  readonly publicUrl: string
}

export const qrImageUrl = (publicUrl: string, txid: Txid): string => `${publicUrl}/qr/${txid}.png`

export const wantsImage = (request: FastifyRequest): boolean =>
  String(request.headers['prefer'] ?? '')
    .split(',')
    .some((preference) => preference.trim().toLowerCase() === 'return=representation')

const renewFields = {
  maxAge: integer({ ...MAX_AGE_MINUTES, code: 'maxAge.limit', description: 'Minutes; 1440 by default.' }),
}
const renewSaleFields = {
  'sale.notFound': 'saleToken',
  'sale.notCancelled': 'transactionToken',
  'sale.legsRefused': 'split',
} satisfies Record<RenewSaleRefusal['code'], string>

export function checkoutRoutes(context: CheckoutRoutesContext) {
  const imageOf = (request: FastifyRequest, reply: FastifyReply, sale: Sale, charge: OpenedCharge): QrImage => {
    const url = qrImageUrl(context.publicUrl, currentTxid(sale))
    if (!wantsImage(request)) return { url }
    reply.header('preference-applied', 'return=representation')
    return { url, base64: `data:image/png;base64,${context.images.png(charge.brCode).toString('base64')}` }
  }

  return async (app: FastifyInstance) => {
    app.post(
      '/v1.1/checkout/transparent',
      {
        config: { isFull: context.isFull },
        schema: {
          tags: ['Checkout'],
          summary: 'Create a PIX charge',
          body: context.parser.schema,
          response: { 200: checkoutAnswerSchema },
        },
      },
      async (request, reply) => {
        const requestKey = requestKeyOf(request)
        const parsed = context.parser.parse(jsonBody(request))
        if (!parsed.ok) return refuseCheckout(context, request, reply, requestKey, parsed.refusal)
        const item: CreateSale = {
          accountId: request.accountId,
          request: parsed.value,
          requestKey,
          render: (sale, charge, legs) => {
            const split = legs.length === 0 ? undefined : parentBlock(sale.amount, legs, () => 'PENDING')
            const image = imageOf(request, reply, sale, charge)
            return reply.serializeInput(checkoutAnswer(sale, charge, image, split), '200') as string
          },
        }
        const outcome = await context.creations.submit(item)
        if (outcome.outcome === 'created') return reply.type('application/json; charset=utf-8').send(outcome.answer)
        if (outcome.outcome === 'refused') return refuseCheckout(context, request, reply, requestKey, outcome.faults)
        if (outcome.outcome === 'keyBusy') return createAfterOther(context, request, reply, item)
        return replayCheckout(context, reply, requestKey!)
      },
    )

    app.put<{ Params: { uuid: string } }>(
      '/v1.1/checkout/transparent/:uuid',
      {
        schema: {
          tags: ['Checkout'],
          summary: 'Renew a cancelled charge: same sale, new QR code',
          body: objectSchema(renewFields, { examples: [{ maxAge: 60 }] }),
          response: { 200: checkoutAnswerSchema },
        },
      },
      async (request, reply) => {
        const body = jsonBody(request)
        return runCommand(context, request, reply, async (tx) => {
          // In here, because a field's refusal is stored under the request's key like any other.
          const read = readFields(renewFields, body)
          if (!read.ok) throw new RequestInvalid(read.refusal, { checkout: true })
          const renewed = await renewSale(
            { tx, now: context.clock.now() },
            {
              accountId: request.accountId,
              saleId: uuidFromWire<SaleId>(request.params.uuid),
              maxAgeMinutes: read.value.maxAge ?? MAX_AGE_MINUTES.default,
            },
          )
          if (!renewed.ok && renewed.refusal.code === 'sale.legsRefused')
            throw new RequestInvalid(renewed.refusal.faults, { checkout: true })
          const { sale, account, legs } = unwrap(renewed, renewSaleFields)
          const split = legs.length === 0 ? undefined : parentBlock(sale.amount, legs, () => 'PENDING')
          const [charge] = await context.rail.openCharges([chargeOf(sale, account)])
          return { http: 200, body: checkoutAnswer(sale, charge!, imageOf(request, reply, sale, charge!), split) }
        })
      },
    )
  }
}

async function refuseCheckout(
  context: CheckoutRoutesContext,
  request: FastifyRequest,
  reply: FastifyReply,
  requestKey: RequestKey | null,
  faults: RequestInvalid['faults'],
) {
  const invalid = new RequestInvalid(faults, { checkout: true })
  if (requestKey === null) throw invalid
  return keepRefusal(context, request, reply, requestKey, invalid)
}

/** Waits for the request that holds the key; if that one comes to nothing, this one is the first. */
async function createAfterOther(
  context: CheckoutRoutesContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { draft: _decidedBefore, ...item }: CreateSale,
) {
  const shares = item.request.split?.split
  const numbers = await reserveNumbers(context.numbers, 1 + (Array.isArray(shares) ? shares.length : 0))
  try {
    return await runCommand(context, request, reply, async (tx) => {
      const [outcome] = await context.createIn({ db: tx, numbers }, [{ ...item, requestKey: null }])
      if (outcome === undefined || outcome === DEFERRED) throw triedAgain()
      if (outcome.outcome === 'created') return { http: 200, body: JSON.parse(outcome.answer) }
      throw outcome.outcome === 'refused' ? new RequestInvalid(outcome.faults, { checkout: true }) : triedAgain()
    })
  } catch (error) {
    // Another batch took the same unique reference in between.
    throw isUniqueViolation(error) ? triedAgain() : error
  }
}

const triedAgain = () => new RequestUnusable(503, 'another request came in between: send this one again')

async function replayCheckout(context: CheckoutRoutesContext, reply: FastifyReply, key: RequestKey) {
  const known = await findKey(context.db, key, context.clock.now())
  if (known === undefined) throw new RequestUnusable(503, 'the key lapsed just now: send the request again')
  return replay(context, reply, key, known)
}

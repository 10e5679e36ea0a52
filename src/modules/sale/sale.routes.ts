import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type AccountId, type EndToEndId, type SaleId, uuidFromWire } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { partsOfTxid } from '../../kernel/txid.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { RequestRefused, RequestUnusable, unwrap } from '../../platform/http/refusals.ts'
import type { Payer, Rail } from '../../rail/rail.ts'
import { findAccountTerms } from '../account/index.ts'
import { qrImageUrl } from './checkout.routes.ts'
import { chargeOf } from './create-sales.ts'
import type { QrImages } from './qr-images.ts'
import { findSale } from './sale.store.ts'
import { currentTxid, hasQrCode, type Sale } from './sale.ts'
import { paymentInfoSchema, qrCodeAnswerSchema } from './sale.wire.ts'
import { type VoidSaleRefusal, voidSale } from './void-sale.ts'

export type SaleRoutesContext = CommandContext & {
  readonly rail: Rail
  readonly images: QrImages
  readonly publicUrl: string
  /** Cancels the charge of a recurrence that the sale is; false when it cannot be cancelled any more. */
  readonly voidCharge: (tx: Transaction, accountId: AccountId, saleId: SaleId) => Promise<boolean>
  /** Who paid is what the rail said, so the door knows it. */
  readonly findPayer: (endToEnd: EndToEndId) => Promise<Payer | undefined>
}

type SaleNotFound = { code: 'sale.notFound' }
const saleTokenFields = { 'sale.notFound': 'saleToken' }
const voidFields = {
  'sale.notFound': 'saleToken',
  'sale.notPending': 'transactionToken',
  'sale.isCharge': 'transactionToken',
} satisfies Record<VoidSaleRefusal['code'], string>
const paymentInfoFields = { 'sale.informedNotFound': 'sale_uuid', 'sale.mustBePaid': 'sale_uuid' }

const uuidParams = (name: string) => Type.Object({ [name]: Type.String({ format: 'uuid' }) })
const voidAnswerSchema = Type.Object({ status: Type.Integer(), message: Type.String() })

/** A recipient-side transaction is paid by its parent: who paid that one is not the recipient's to know. */
const isPaidByPayer = ({ parentId }: Sale): boolean => parentId === null

export function saleRoutes(context: SaleRoutesContext) {
  const { db } = context
  const find = async (
    accountId: AccountId,
    uuid: string,
    isMeant: (sale: Sale) => boolean,
  ): Promise<Result<Sale, SaleNotFound>> => {
    const id = uuidFromWire<SaleId>(uuid)
    const sale = id && (await findSale(db, accountId, id))
    return sale && isMeant(sale) ? ok(sale) : refuse({ code: 'sale.notFound' })
  }
  const brCodeOf = async (sale: Sale) => {
    const account = (await findAccountTerms(db, [sale.accountId])).get(sale.accountId)!
    const [charge] = await context.rail.openCharges([chargeOf(sale, account)])
    return charge!.brCode
  }

  return async (app: FastifyInstance) => {
    app.get<{ Params: { transactionUUID: string } }>(
      '/v1.1/transactions/pix/:transactionUUID',
      {
        schema: {
          tags: ['Transactions'],
          summary: 'PIX QR data of a sale',
          params: uuidParams('transactionUUID'),
          response: { 200: qrCodeAnswerSchema },
        },
      },
      async (request) => {
        const sale = unwrap(await find(request.accountId, request.params.transactionUUID, hasQrCode), saleTokenFields)
        const plain = await brCodeOf(sale)
        const base64 = context.images.png(plain).toString('base64')
        return { ...success, qrCode: { plain, base64, url: qrImageUrl(context.publicUrl, currentTxid(sale)) } }
      },
    )

    app.put<{ Params: { saleUUID: string } }>(
      '/v1.1/transactions/:saleUUID/void',
      {
        schema: {
          tags: ['Transactions'],
          summary: 'Cancel a pending sale',
          params: uuidParams('saleUUID'),
          response: { 200: voidAnswerSchema },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const saleId = uuidFromWire<SaleId>(request.params.saleUUID)
          const voided = await voidSale(tx, { accountId: request.accountId, saleId })
          const isCharge = !voided.ok && voided.refusal.code === 'sale.isCharge'
          if (!isCharge) unwrap(voided, voidFields)
          else if (!(await context.voidCharge(tx, request.accountId, saleId!)))
            throw new RequestRefused('sale.notPending', voidFields['sale.notPending'])
          return { http: 200, body: success }
        }),
    )

    app.get<{ Params: { sale_uuid: string } }>(
      '/v1.1/transactions/:sale_uuid/payment_info',
      {
        schema: {
          tags: ['Transactions'],
          summary: 'Who paid a sale',
          params: uuidParams('sale_uuid'),
          response: { 200: paymentInfoSchema },
        },
      },
      async (request) => {
        const found = await find(request.accountId, request.params.sale_uuid, isPaidByPayer)
        const sale = unwrap(found.ok ? found : refuse({ code: 'sale.informedNotFound' as const }), paymentInfoFields)
        const endToEnd = unwrap(
          sale.endToEnd === null ? refuse({ code: 'sale.mustBePaid' as const }) : ok(sale.endToEnd),
          paymentInfoFields,
        )
        const payer = await context.findPayer(endToEnd)
        return {
          ...success,
          sale_id: sale.number,
          payment_bank: 'PIX',
          end_to_end: endToEnd,
          payer: { document: payer?.document ?? null, name: payer?.name ?? null },
        }
      },
    )
  }
}

/** Public: a payer's page shows the image without credentials. A txid's code never changes, so neither does its image. */
export function qrImageRoutes({ db, rail, images }: Pick<SaleRoutesContext, 'db' | 'rail' | 'images'>) {
  return async (app: FastifyInstance) => {
    app.get<{ Params: { txid: string } }>(
      '/qr/:txid.png',
      {
        schema: {
          tags: ['Public'],
          summary: 'QR code as a PNG',
          security: [],
          params: Type.Object({ txid: Type.String() }),
        },
      },
      async (request, reply) => {
        const parts = partsOfTxid(request.params.txid)
        const sale = parts && (await findSale(db, parts.accountId, parts.saleId))
        if (!sale || !hasQrCode(sale) || parts.renewals > sale.renewals)
          throw new RequestUnusable(404, 'there is no such QR code')
        const account = (await findAccountTerms(db, [sale.accountId])).get(sale.accountId)!
        const [charge] = await rail.openCharges([chargeOf({ ...sale, renewals: parts.renewals }, account)])
        return reply
          .type('image/png')
          .header('cache-control', 'public, max-age=31536000, immutable')
          .send(images.png(charge!.brCode))
      },
    )
  }
}

import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, centsToWire } from '../../kernel/cents.ts'
import { nullable } from '../../kernel/schema.ts'
import { success } from '../../platform/http/context.ts'
import type { OpenedCharge } from '../../rail/rail.ts'
import { type SplitBlock, splitBlockSchema } from '../split/index.ts'
import type { Sale } from './sale.ts'

const currency = 'BRL'

export const shopperSchema = Type.Object({
  id: nullable(Type.String()),
  name: Type.String(),
  email: Type.String(),
  document: Type.Optional(Type.Object({ type: Type.String(), number: Type.String() })),
  phone: Type.Optional(Type.Object({ type: Type.Optional(Type.String()), number: Type.Optional(Type.String()) })),
  bankDetails: Type.Optional(
    Type.Object({
      bank: Type.Optional(Type.String()),
      branch: Type.Optional(Type.String()),
      account: Type.Optional(Type.String()),
    }),
  ),
})

const envelope = { status: Type.Integer(), message: Type.String() }

export const checkoutAnswerSchema = Type.Object({
  ...envelope,
  split: Type.Optional(splitBlockSchema),
  response: Type.Object({
    id: Type.Integer(),
    uuid: Type.String({ format: 'uuid' }),
    saleCode: Type.String({ description: 'The id with at least eight digits.' }),
    amount: Type.Number(),
    referenceCode: Type.String(),
    shopper: shopperSchema,
    instructions: Type.Object({
      chosen: Type.String(),
      name: Type.String(),
      label: Type.String(),
      qrCode: Type.Object({
        plain: Type.String({ description: 'The BR Code: what the QR image says, also to copy and paste.' }),
        url: Type.String({ description: 'A public PNG of the QR code.' }),
        base64: Type.Optional(Type.String({ description: 'A data URI, with `Prefer: return=representation` only.' })),
      }),
      steps: Type.Array(Type.String()),
    }),
  }),
})

const steps = [
  'Abra o aplicativo do seu banco e escolha pagar com Pix.',
  'Escaneie o QR code ou cole o código copia e cola.',
  'Confira os dados e confirme o pagamento.',
]

export type QrImage = { readonly url: string; readonly base64?: string }

export const checkoutAnswer = (
  sale: Sale,
  charge: OpenedCharge,
  image: QrImage,
  split: SplitBlock | undefined,
): Static<typeof checkoutAnswerSchema> => ({
  ...success,
  ...(split && { split }),
  response: {
    id: sale.number,
    uuid: sale.id,
    saleCode: String(sale.number).padStart(8, '0'),
    amount: centsToWire(sale.amount),
    referenceCode: sale.referenceCode,
    shopper: sale.shopper,
    instructions: {
      chosen: 'PIX',
      name: 'PIX',
      label: 'Pix',
      qrCode: { plain: charge.brCode, ...image },
      steps,
    },
  },
})

export const refundsSchema = Type.Object({
  quantity: Type.Integer(),
  requested: Type.Number(),
  available: Type.Number(),
  transactions: Type.Array(
    Type.Object({
      uuid: Type.String(),
      total: Type.Number(),
      status: Type.String(),
      creation: Type.String(),
      creditDate: nullable(Type.String()),
      remark: nullable(Type.String()),
      bankDetails: Type.Unknown(),
    }),
  ),
})

const transactionFields = {
  id: Type.Integer(),
  uuid: Type.String({ format: 'uuid' }),
  type: Type.String({ enum: ['SALE', 'REFUND', 'PAYOUT'] }),
  situation: Type.String({ enum: ['PENDING', 'PAID', 'CANCELLED', 'FAILED'] }),
  currency: Type.String(),
  amount: Type.Number(),
  shipping: nullable(Type.Number()),
  discounts: nullable(Type.Number()),
  total: Type.Number(),
  appliedRate: nullable(Type.Number({ description: 'The fee.' })),
  referenceCode: nullable(Type.String()),
  creation: Type.String(),
  maxAge: nullable(Type.String({ description: 'When the charge expires.' })),
  processingDate: nullable(Type.String()),
  paymentMethod: nullable(Type.String()),
  callbackURL: nullable(Type.String()),
  shopper: nullable(shopperSchema),
  refunds: nullable(refundsSchema),
  split: Type.Optional(splitBlockSchema),
}
export const transactionSchema = Type.Object(transactionFields)
export const transactionAnswerSchema = Type.Object({ ...envelope, ...transactionFields })

/** Booked for a recipient when its share is credited. */
const processedAt = ({ paidAt, settlement }: Sale) =>
  paidAt === null || (settlement !== null && settlement !== 'SETTLED') ? null : wireTimestamp(paidAt)

export type RefundItem = Static<typeof refundsSchema>['transactions'][number]
/** What of a sale lies with other modules: who shares it, and what went back. */
export type SaleCompany = {
  readonly split?: SplitBlock | undefined
  readonly refunds?: SaleRefunds | undefined
}
/** Read together: what was asked for is the sum of those that were not cancelled. */
export type SaleRefunds = { readonly requested: Cents; readonly items: readonly RefundItem[] }
const noRefunds: SaleRefunds = { requested: 0 as Cents, items: [] }

export const transactionWire = (
  sale: Sale,
  { split, refunds = noRefunds }: SaleCompany,
): Static<typeof transactionSchema> => ({
  id: sale.number,
  uuid: sale.id,
  type: 'SALE',
  situation: sale.state,
  currency,
  amount: centsToWire(sale.amount),
  shipping: 0,
  discounts: 0,
  total: centsToWire(sale.amount),
  appliedRate: centsToWire(sale.fee),
  referenceCode: sale.referenceCode,
  creation: wireTimestamp(sale.createdAt),
  maxAge: wireTimestamp(sale.expiresAt),
  processingDate: processedAt(sale),
  paymentMethod: 'PIX',
  callbackURL: sale.callbackUrl,
  shopper: sale.shopper,
  refunds: {
    quantity: refunds.items.length,
    requested: centsToWire(refunds.requested),
    // Refunds are the parent's business.
    available:
      sale.state === 'PAID' && sale.parentId === null ? centsToWire((sale.amount - refunds.requested) as Cents) : 0,
    transactions: [...refunds.items],
  },
  ...(split && { split }),
})

export const transactionListSchema = Type.Object({
  ...envelope,
  totalElements: Type.Integer(),
  totalPages: Type.Integer(),
  resultSize: Type.Integer({ description: 'Items in this answer.' }),
  result: Type.Array(transactionSchema),
})

export const qrCodeAnswerSchema = Type.Object({
  ...envelope,
  qrCode: Type.Object({
    plain: Type.String(),
    base64: Type.String({ description: 'The PNG, in bare Base64.' }),
    url: Type.String(),
  }),
})

export const paymentInfoSchema = Type.Object({
  ...envelope,
  sale_id: Type.Integer(),
  payment_bank: Type.String(),
  end_to_end: Type.String(),
  payer: Type.Object({ document: nullable(Type.String()), name: nullable(Type.String()) }),
})

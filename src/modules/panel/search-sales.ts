import type { AccountId, RefundId, ReversalId, SaleId } from '../../kernel/ids.ts'
import { uuidFromWire } from '../../kernel/ids.ts'
import { chargeOfTxid, partsOfTxid } from '../../kernel/txid.ts'
import type { Database } from '../../platform/database/database.ts'
import { HOUR_MAX, HOUR_MIN } from '../../platform/database/hour-pages.ts'
import { findPaymentOutcome } from '../door/index.ts'
import { findCharge } from '../recurrence/index.ts'
import { findRefund, findReversal } from '../refund/index.ts'
import { findSale, findSales, type Sale } from '../sale/index.ts'

export type SearchContext = { readonly db: Database; readonly railName: string }
type Search = { accountId: AccountId; text: string; offset: number; limit: number }

/**
 * Sales by any name that they go by: uuid (also of a refund or a reversal), txid, end-to-end id, else the merchant's
 * reference, whole. Each has an index; parts of names have none and are not looked for.
 */
export async function searchSales(context: SearchContext, { accountId, text, offset, limit }: Search) {
  const id = await saleIdOf(context, accountId, text)
  const sale = id && (await findSale(context.db, accountId, id))
  if (sale) return { total: 1, sales: offset === 0 ? [sale] : ([] as Sale[]) }
  const everything = { by: 'CREATION', hourFrom: HOUR_MIN, hourTo: HOUR_MAX } as const
  return findSales(context.db, { accountId, referenceCode: text, ...everything, offset, limit })
}

async function saleIdOf(context: SearchContext, accountId: AccountId, text: string): Promise<SaleId | undefined> {
  const uuid = uuidFromWire<string>(text)
  if (uuid !== undefined) return (await saleIdBehind(context, accountId, uuid)) ?? (uuid as SaleId)
  const sale = partsOfTxid(text)
  if (sale?.accountId === accountId) return sale.saleId
  const charge = chargeOfTxid(text)
  if (charge?.accountId === accountId)
    return (await findCharge(context.db, accountId, charge.chargeId))?.charge.saleId ?? undefined
  if (!/^[A-Za-z0-9]{32}$/.test(text)) return undefined
  const payment = await findPaymentOutcome(context.db, accountId, context.railName, text)
  return (
    payment && (payment.outcome === 'APPLIED' ? (payment.id as SaleId) : saleIdBehind(context, accountId, payment.id))
  )
}

/** The sale that a refund or a reversal belongs to. */
async function saleIdBehind({ db }: SearchContext, accountId: AccountId, uuid: string): Promise<SaleId | undefined> {
  const [refund, reversal] = await Promise.all([
    findRefund(db, accountId, uuid as RefundId),
    findReversal(db, accountId, uuid as ReversalId),
  ])
  return refund?.saleId ?? reversal?.saleId ?? undefined
}

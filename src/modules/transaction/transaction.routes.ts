import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, cents, centsToWire } from '../../kernel/cents.ts'
import { type AccountId, uuidFromWire } from '../../kernel/ids.ts'
import { amount, objectSchema, oneOf, text } from '../../kernel/reader.ts'
import { ok, refuse } from '../../kernel/result.ts'
import type { Database } from '../../platform/database/database.ts'
import { readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { dayField, hoursOfDays, pagedAnswer, pageField, pageSizeField } from '../../platform/http/paging.ts'
import { unwrap } from '../../platform/http/refusals.ts'
import { findPayoutsById, type Payout, payoutTotal } from '../payout/index.ts'
import { bankDetailsOf, findRefundsById, findRefundsOf, type Refund } from '../refund/index.ts'
import {
  findSales,
  findSalesById,
  findSplitBlocks,
  type RefundItem,
  type Sale,
  transactionAnswerSchema,
  transactionListSchema,
  type transactionSchema,
  transactionWire,
} from '../sale/index.ts'
import { type Found, findTransactions, type TransactionKind, transactionKinds } from './find-transactions.ts'

type Transaction = Static<typeof transactionSchema>

const kindsOf: Record<string, readonly TransactionKind[]> = {
  SALE: ['SALE'],
  REFUND: ['REFUND'],
  WITHDRAW: ['PAYOUT'],
  PAYOUT: ['PAYOUT'],
}
const listFields = {
  initialDate: dayField,
  finalDate: dayField,
  currency: text({ min: 3, max: 3, pattern: /^[A-Z]{3}$/ }),
  amount: amount({ description: 'Exact.' }),
  referenceCode: text({ max: 100 }),
  situation: oneOf(['PENDING', 'PAID', 'CANCELLED', 'FAILED'], { description: 'FAILED is of payouts only.' }),
  type: oneOf(['SALE', 'REFUND', 'WITHDRAW', 'PAYOUT'], { description: 'PAYOUT is an alias of WITHDRAW.' }),
  queryMode: oneOf(['CREATION', 'PROCESSED', 'REGULAR'], {
    description: 'What the dates mean. REGULAR reads as CREATION.',
  }),
  page: pageField,
  maxPageResults: pageSizeField,
}

const nothing = {
  shipping: null,
  discounts: null,
  appliedRate: null,
  referenceCode: null,
  maxAge: null,
  paymentMethod: null,
  shopper: null,
  refunds: null,
}

/** A refund goes by its sale's reference. */
const refundTransaction = (refund: Refund, { referenceCode }: Pick<Sale, 'referenceCode'>): Transaction => ({
  ...nothing,
  id: refund.number,
  uuid: refund.id,
  type: 'REFUND',
  situation: refund.state,
  currency: 'BRL',
  amount: centsToWire(refund.amount),
  total: centsToWire(refund.amount),
  referenceCode,
  creation: wireTimestamp(refund.createdAt),
  processingDate: refund.state === 'PAID' ? wireTimestamp(refund.closedAt!) : null,
  callbackURL: refund.callbackUrl,
})

const payoutTransaction = (payout: Payout): Transaction => ({
  ...nothing,
  id: payout.number,
  uuid: payout.id,
  type: 'PAYOUT',
  situation: payout.state,
  currency: 'BRL',
  amount: centsToWire(payout.amount),
  total: centsToWire(payoutTotal(payout)),
  appliedRate: centsToWire(payout.fee),
  referenceCode: payout.referenceCode,
  creation: wireTimestamp(payout.createdAt),
  processingDate: payout.state === 'PAID' ? wireTimestamp(payout.closedAt!) : null,
  callbackURL: payout.callbackUrl,
})

const refundItem = (refund: Refund, sale: Sale): RefundItem => ({
  uuid: refund.id,
  total: centsToWire(refund.amount),
  status: refund.state,
  creation: wireTimestamp(refund.createdAt),
  creditDate: refund.state === 'PAID' ? wireTimestamp(refund.closedAt!) : null,
  remark: refund.reason,
  bankDetails: bankDetailsOf(sale),
})

const sumAsked = (refunds: readonly Refund[]): Cents =>
  cents(refunds.reduce((sum, { state, amount }) => (state === 'CANCELLED' ? sum : sum + amount), 0))

/** Sales, refunds and payouts are one list to a merchant. */
export function transactionRoutes({ db }: { readonly db: Database }) {
  async function salesOnTheWire(accountId: AccountId, sales: readonly Sale[]): Promise<Map<string, Transaction>> {
    const paid = sales.filter((sale) => sale.state === 'PAID').map((sale) => sale.id)
    const [blocks, refunds] = await Promise.all([findSplitBlocks(db, sales), findRefundsOf(db, accountId, paid)])
    return new Map(
      sales.map((sale) => {
        const some = refunds.get(sale.id) ?? []
        const items = some.map((refund) => refundItem(refund, sale))
        const company = { split: blocks.get(sale.id), refunds: { requested: sumAsked(some), items } }
        return [sale.id, transactionWire(sale, company)]
      }),
    )
  }

  /** In the order found. */
  async function onTheWire(accountId: AccountId, found: readonly Found[]): Promise<Transaction[]> {
    const ids = (kind: TransactionKind) => found.filter((one) => one.kind === kind).map((one) => one.id)
    const [sales, refunds, payouts] = await Promise.all([
      findSalesById(db, accountId, ids('SALE')),
      findRefundsById(db, accountId, ids('REFUND')),
      findPayoutsById(db, accountId, ids('PAYOUT')),
    ])
    const [byId, refunded] = await Promise.all([
      salesOnTheWire(accountId, sales),
      findSalesById(db, accountId, [...new Set(refunds.map(({ saleId }) => saleId))]),
    ])
    const saleOf = new Map(refunded.map((sale) => [sale.id, sale]))
    for (const refund of refunds) byId.set(refund.id, refundTransaction(refund, saleOf.get(refund.saleId)!))
    for (const payout of payouts) byId.set(payout.id, payoutTransaction(payout))
    return found.map(({ id }) => byId.get(id)!)
  }

  return async (app: FastifyInstance) => {
    app.get<{ Params: { uuid: string } }>(
      '/v1.1/transactions/:uuid',
      {
        schema: {
          tags: ['Transactions'],
          summary: 'Query a sale, a refund or a payout',
          params: Type.Object({ uuid: Type.String({ format: 'uuid' }) }),
          response: { 200: transactionAnswerSchema },
        },
      },
      async ({ accountId, params }) => {
        const id = uuidFromWire<string>(params.uuid)
        const sought = id === undefined ? [] : transactionKinds.map((kind): Found => ({ kind, id }))
        const [found] = (await onTheWire(accountId, sought)).filter((one) => one !== undefined)
        const transaction = unwrap(found ? ok(found) : refuse({ code: 'sale.notFound' as const }), {
          'sale.notFound': 'saleToken',
        })
        return { ...success, ...transaction }
      },
    )

    app.get(
      '/v1.1/transactions',
      {
        schema: {
          tags: ['Transactions'],
          summary: 'List transactions, newest first',
          querystring: objectSchema(listFields),
          response: { 200: transactionListSchema },
        },
      },
      async (request) => {
        const { accountId } = request
        const query = readQuery(request, listFields)
        const limit = query.maxPageResults ?? 100
        const asked = {
          accountId,
          by: query.queryMode === 'PROCESSED' ? ('PROCESSED' as const) : ('CREATION' as const),
          ...hoursOfDays(query.initialDate, query.finalDate),
          amount: query.amount,
          referenceCode: query.referenceCode,
          offset: ((query.page ?? 1) - 1) * limit,
          limit,
        }
        // BRL is the only currency there is.
        if ((query.currency ?? 'BRL') !== 'BRL') return { ...success, ...pagedAnswer(0, limit, []) }
        if (query.type === 'SALE' && query.situation !== 'FAILED') {
          const { total, sales } = await findSales(db, { ...asked, state: query.situation })
          const byId = await salesOnTheWire(accountId, sales)
          const result = sales.map((sale) => byId.get(sale.id)!)
          return { ...success, ...pagedAnswer(total, limit, result) }
        }
        const kinds = query.type === undefined ? transactionKinds : kindsOf[query.type]!
        const { total, found } = await findTransactions(db, { ...asked, kinds, state: query.situation })
        return { ...success, ...pagedAnswer(total, limit, await onTheWire(accountId, found)) }
      },
    )
  }
}

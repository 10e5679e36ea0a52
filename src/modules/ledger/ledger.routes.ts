import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, centsToWire } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { objectSchema } from '../../kernel/reader.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { dayField, hoursOfDays, pagedAnswer, pageField, pageSizeField } from '../../platform/http/paging.ts'
import { findBalance } from './book.store.ts'
import { findStatement } from './statement.ts'

const balanceSchema = Type.Object({
  status: Type.Integer(),
  message: Type.String(),
  balance: Type.Number({ description: 'available + blocked' }),
  available: Type.Number(),
  blocked: Type.Number({ description: 'Open refund and payout holds.' }),
  date: Type.String(),
})

const statementSchema = Type.Object({
  status: Type.Integer(),
  message: Type.String(),
  totalElements: Type.Integer(),
  totalPages: Type.Integer(),
  resultSize: Type.Integer(),
  result: Type.Array(
    Type.Object({
      id: Type.Integer(),
      date: Type.String(),
      type: Type.String(),
      saleToken: Type.String(),
      description: Type.String(),
      amount: Type.Number(),
      balance: Type.Number({ description: 'Available balance after this line.' }),
    }),
  ),
})

const statementFields = { initialDate: dayField, finalDate: dayField, page: pageField, maxPageResults: pageSizeField }

export type LedgerRoutesContext = {
  readonly db: Queryable
  readonly accountTime: (accountId: AccountId) => Promise<Instant>
}

export function ledgerRoutes({ db, accountTime }: LedgerRoutesContext) {
  return async (app: FastifyInstance) => {
    app.get(
      '/v1.1/balance',
      { schema: { tags: ['Money'], summary: 'Balance', response: { 200: balanceSchema } } },
      async ({ accountId }) => {
        const [balance, now] = await Promise.all([findBalance(db, accountId), accountTime(accountId)])
        const { available, blocked } = balance!
        return {
          ...success,
          balance: centsToWire((available + blocked) as Cents),
          available: centsToWire(available),
          blocked: centsToWire(blocked),
          date: wireTimestamp(now),
        }
      },
    )

    app.get(
      '/v1.1/statement',
      {
        schema: {
          tags: ['Money'],
          summary: 'Every line that touched the available balance, newest first',
          querystring: objectSchema(statementFields),
          response: { 200: statementSchema },
        },
      },
      async (request) => {
        const { initialDate, finalDate, page = 1, maxPageResults: size = 100 } = readQuery(request, statementFields)
        const days = hoursOfDays(initialDate, finalDate)
        const { total, lines } = await findStatement(db, request.accountId, {
          ...days,
          offset: (page - 1) * size,
          limit: size,
        })
        const result = lines.map((line) => ({
          id: line.sequence,
          date: wireTimestamp(line.date),
          type: line.type,
          saleToken: line.subjectId,
          description: line.description,
          amount: centsToWire(line.amount),
          balance: centsToWire(line.balance),
        }))
        return { ...success, ...pagedAnswer(total, size, result) }
      },
    )
  }
}

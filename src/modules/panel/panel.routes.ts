import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { type AccountId, type SaleId, uuidFromWire } from '../../kernel/ids.ts'
import { amount, oneOf, required, text } from '../../kernel/reader.ts'
import { ok, refuse } from '../../kernel/result.ts'
import { readBody, readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import type { CommandContext } from '../../platform/http/idempotently.ts'
import { runCommand } from '../../platform/http/idempotently.ts'
import { dayField, hoursOfDays, pagedAnswer, pageField, pageSizeField } from '../../platform/http/paging.ts'
import { unwrap } from '../../platform/http/refusals.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import {
  accountNow,
  findAccountTerms,
  findCredentialFacts,
  findNotificationSettings,
  listAllRecipients,
  recipientWire,
} from '../account/index.ts'
import { findDeliveries, type Outbox, sendTest } from '../notification/index.ts'
import { findSales } from '../sale/index.ts'
import { findOverview } from './overview.ts'
import { deliveryWire, saleRowWire } from './panel.wire.ts'
import { searchSales } from './search-sales.ts'
import { statementCsv } from './statement-csv.ts'
import { findTimeLine } from './time-line.ts'

export type PanelContext = CommandContext & {
  readonly ids: RandomIds
  readonly outbox: Outbox
  readonly railName: string
}

const dayFields = { initialDate: dayField, finalDate: dayField }
const pageFields = { page: pageField, maxPageResults: pageSizeField }
const saleFields = {
  ...dayFields,
  ...pageFields,
  situation: oneOf(['PENDING', 'PAID', 'CANCELLED']),
  amount: amount(),
  search: text({ max: 100 }),
}
const testFields = { group: required(oneOf(['payment', 'reversal', 'refund', 'payout'])) }
const saleField = { 'sale.notFound': 'saleToken' }
const PAGE_SIZE = 25

/** What the merchant panel needs and no route of the API gives. */
export function panelRoutes(context: PanelContext) {
  const { db, clock } = context
  const accountTime = async (id: AccountId) => accountNow((await findAccountTerms(db, [id])).get(id)!, clock.now())

  return async (app: FastifyInstance) => {
    app.get('/overview', async ({ accountId }) => ({
      ...success,
      ...(await findOverview(db, accountId, await accountTime(accountId))),
    }))

    app.get('/sales', async (request) => {
      const { accountId } = request
      const query = readQuery(request, saleFields)
      const limit = query.maxPageResults ?? PAGE_SIZE
      const offset = ((query.page ?? 1) - 1) * limit
      const search = query.search?.trim()
      const { total, sales } = search
        ? await searchSales(context, { accountId, text: search, offset, limit })
        : await findSales(db, {
            accountId,
            by: 'CREATION',
            ...hoursOfDays(query.initialDate, query.finalDate),
            state: query.situation,
            amount: query.amount,
            offset,
            limit,
          })
      return { ...success, ...pagedAnswer(total, limit, sales.map(saleRowWire)) }
    })

    app.get<{ Params: { uuid: string } }>('/sales/:uuid', async (request) => {
      const id = uuidFromWire<SaleId>(request.params.uuid)
      const found = id && (await findTimeLine(context, request.accountId, id))
      return { ...success, ...unwrap(found ? ok(found) : refuse({ code: 'sale.notFound' as const }), saleField) }
    })

    app.get<{ Params: { uuid: string } }>('/deliveries/:uuid', async (request) => {
      const id = uuidFromWire<string>(request.params.uuid)
      const deliveries = id === undefined ? [] : await findDeliveries(db, request.accountId, [id])
      return { ...success, deliveries: deliveries.map(deliveryWire) }
    })

    app.post('/notifications/test', (request, reply) =>
      runCommand(context, request, reply, async (tx) => {
        const { group } = readBody(request, testFields)
        const sent = await sendTest({ ...context, tx, now: clock.now() }, { accountId: request.accountId, group })
        const { resourceId } = unwrap(sent, { 'notifications.noAddress': `${group}.url` })
        return { http: 202, body: { ...success, transactionUUID: resourceId } }
      }),
    )

    app.get('/statement.csv', async (request, reply) => {
      const { initialDate, finalDate } = readQuery(request, dayFields)
      const rows = statementCsv(db, request.accountId, hoursOfDays(initialDate, finalDate))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="statement.csv"')
        .send(Readable.from(rows))
    })

    app.get('/recipients', async (request) => {
      const { page = 1, maxPageResults: limit = PAGE_SIZE } = readQuery(request, pageFields)
      const { total, recipients } = await listAllRecipients(db, request.accountId, {
        offset: (page - 1) * limit,
        limit,
      })
      return { ...success, ...pagedAnswer(total, limit, recipients.map(recipientWire)) }
    })

    // Without the webhook's secret: that is asked for when somebody wants to see it.
    app.get('/notifications/settings', async ({ accountId }) => {
      const { settings } = (await findNotificationSettings(db, context.secrets, accountId))!
      return { ...success, ...settings }
    })

    app.get('/credentials', async ({ accountId }) => {
      const facts = await findCredentialFacts(db, accountId, clock.now())
      const time = (at: typeof facts.rotatedAt | null) => (at === null ? null : wireTimestamp(at))
      return {
        ...success,
        apiKey: facts.apiKey,
        // Of real time, as the overlap is.
        rotatedAt: time(facts.rotatedAt),
        firstUsedAt: time(facts.firstUsedAt),
        previousTokenEndsAt: time(facts.previousTokenEndsAt),
        previousSecretEndsAt: time(facts.previousSecretEndsAt),
      }
    })
  }
}

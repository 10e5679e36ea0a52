import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type AccountId, uuidFromWire } from '../../kernel/ids.ts'
import { flag, integer, objectSchema, oneOf, text } from '../../kernel/reader.ts'
import { refuse } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { readBody, readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import {
  dayField,
  instantsOfDays,
  momentField,
  pagedAnswer,
  pageField,
  pageSizeField,
  throughField,
} from '../../platform/http/paging.ts'
import { unwrap } from '../../platform/http/refusals.ts'
import { attemptStatuses } from './attempt.ts'
import { eventNames } from './event.ts'
import { findAttempts } from './find-attempts.ts'
import { findNotifications } from './find-notifications.ts'
import { notificationStates } from './notification.ts'
import {
  attemptsAnswerSchema,
  attemptWire,
  notificationListSchema,
  notificationWire,
  queuedSchema,
} from './notification.wire.ts'
import { redeliverLast, redeliverMany } from './redeliver.ts'

export type NotificationRoutesContext = CommandContext & {
  /** Whether the account has a sale, refund, reversal, payout or recurrence checkout of this uuid. */
  readonly isKnown: (accountId: AccountId, uuid: string) => Promise<boolean>
  /** Something of the account is due now. */
  readonly poke: (accountId: AccountId) => void
}

const attemptFields = {
  endpoint: text({ max: 255, description: 'The URL called, exactly.' }),
  eventType: oneOf(eventNames),
  status: oneOf(attemptStatuses),
  responseCode: integer({ min: 0, max: 999 }),
}
const listFields = {
  state: oneOf(notificationStates),
  eventType: oneOf(eventNames),
  initialDate: dayField,
  finalDate: dayField,
  page: pageField,
  maxPageResults: pageSizeField,
}
const manyFields = {
  from: momentField,
  to: throughField,
  eventType: oneOf(eventNames),
  onlyFailed: flag({ description: 'False by default: everything that is not waiting to be sent anyway.' }),
}
const uuidParams = Type.Object({ transactionUUID: Type.String({ format: 'uuid' }) })
const notFoundFields = { 'sale.informedNotFound': 'transactionUUID' }

export function notificationRoutes(context: NotificationRoutesContext) {
  const { db, clock } = context

  const redeliver = async (tx: Transaction, accountId: AccountId, uuid: string) => {
    const resourceId = uuidFromWire<string>(uuid)
    unwrap(await redeliverLast(tx, { accountId, resourceId, now: clock.now() }), notFoundFields)
    tx.afterCommit(() => context.poke(accountId))
    return { http: 202, body: { ...success, queued: 1 } }
  }

  return async (app: FastifyInstance) => {
    app.get<{ Params: { transactionUUID: string } }>(
      '/v1.1/transactions/:transactionUUID/webhook',
      {
        schema: {
          tags: ['Notifications'],
          summary: 'Every webhook attempt of a sale, refund, reversal, payout or recurrence checkout, newest first',
          params: uuidParams,
          querystring: objectSchema(attemptFields),
          response: { 200: attemptsAnswerSchema },
        },
      },
      async (request) => {
        const { accountId } = request
        const { eventType: event, ...filter } = readQuery(request, attemptFields)
        const uuid = uuidFromWire<string>(request.params.transactionUUID)
        const attempts = uuid === undefined ? [] : await findAttempts(db, accountId, uuid, { ...filter, event })
        if (attempts.length === 0 && !(uuid && (await context.isKnown(accountId, uuid))))
          unwrap(refuse({ code: 'sale.informedNotFound' as const }), notFoundFields)
        return { ...success, notifications: attempts.map(attemptWire) }
      },
    )

    const redeliverSchema = {
      tags: ['Notifications'],
      summary: 'Send the last notification again, now: the same bytes, a new series of attempts',
      params: uuidParams,
      response: { 202: queuedSchema },
    }
    app.post<{ Params: { transactionUUID: string } }>(
      '/v1.1/transactions/:transactionUUID/webhook/redeliver',
      { schema: redeliverSchema },
      (request, reply) =>
        runCommand(context, request, reply, (tx) => redeliver(tx, request.accountId, request.params.transactionUUID)),
    )
    app.get<{ Params: { transactionUUID: string } }>(
      '/v1.1/transactions/:transactionUUID/webhook/redeliver',
      // A HEAD that somebody sends to look must not send anything.
      {
        exposeHeadRoute: false,
        config: { changes: true },
        schema: { ...redeliverSchema, summary: 'The same by GET, for clients that use it' },
      },
      async (request, reply) => {
        const { transactionUUID } = request.params
        const { http, body } = await db.inTransaction((tx) => redeliver(tx, request.accountId, transactionUUID))
        return reply.code(http).send(body)
      },
    )

    app.get(
      '/v1.1/notifications',
      {
        schema: {
          tags: ['Notifications'],
          summary: 'What the account was told or is to be told, newest first',
          querystring: objectSchema(listFields),
          response: { 200: notificationListSchema },
        },
      },
      async (request) => {
        const query = readQuery(request, listFields)
        const size = query.maxPageResults ?? 100
        const { total, notifications } = await findNotifications(db, {
          accountId: request.accountId,
          state: query.state,
          event: query.eventType,
          ...instantsOfDays(query.initialDate, query.finalDate),
          offset: ((query.page ?? 1) - 1) * size,
          limit: size,
        })
        return { ...success, ...pagedAnswer(total, size, notifications.map(notificationWire)) }
      },
    )

    app.post(
      '/v1.1/notifications/redeliver',
      {
        schema: {
          tags: ['Notifications'],
          summary: 'Send many notifications again',
          body: objectSchema(manyFields, { examples: [{ from: '2026-11-01', to: '2026-11-02', onlyFailed: true }] }),
          response: { 202: queuedSchema },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const { accountId } = request
          const { from, to, eventType, onlyFailed = false } = readBody(request, manyFields)
          const asked = { accountId, from, before: to, event: eventType, onlyFailed, now: clock.now() }
          const queued = await redeliverMany(tx, asked)
          tx.afterCommit(() => context.poke(accountId))
          return { http: 202, body: { ...success, queued } }
        }),
    )
  }
}

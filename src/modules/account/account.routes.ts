import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { flag, integer, object, objectSchema, type Read, url } from '../../kernel/reader.ts'
import { nullable } from '../../kernel/schema.ts'
import { readBody } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { RequestInvalid } from '../../platform/http/refusals.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { findAccountTerms } from './account.store.ts'
import { methodsOpenTo, type PaymentMethod } from './account.ts'
import type { Authenticator } from './authenticate.ts'
import {
  findNotificationSettings,
  type NotificationSettings,
  type Switch,
  switchableGroups,
  updateNotificationSettings,
} from './notification-settings.ts'
import { OVERLAP_HOURS_MAX, rotateToken, rotateWebhookSecret } from './rotate-credentials.ts'

export type AccountRoutesContext = CommandContext & { readonly ids: RandomIds; readonly authenticator: Authenticator }

const envelope = { status: Type.Integer(), message: Type.String() }
const methodLabels: Record<PaymentMethod, string> = {
  PIX: 'Pix',
  BOLETO: 'Boleto',
  BOLETO_PIX: 'Boleto with Pix',
  CREDIT_CARD: 'Credit card',
  INITIATOR: 'Payment initiator',
}
const methodsSchema = Type.Object({
  ...envelope,
  payment_methods: Type.Array(Type.Object({ label: Type.String(), type: Type.String(), value: Type.String() })),
})

const address = url({ code: 'url.invalid' })
const switchFields = { url: address, enabled: flag() }
const notificationFields = {
  payment: object({ url: address }),
  reversal: object(switchFields),
  refund: object(switchFields),
  payout: object(switchFields),
}
const switchSchema = Type.Object({ url: nullable(Type.String()), enabled: Type.Boolean() })
const notificationsSchema = Type.Object({
  ...envelope,
  payment: Type.Object({ url: nullable(Type.String()) }),
  reversal: switchSchema,
  refund: switchSchema,
  payout: switchSchema,
  webhookSecret: nullable(Type.String()),
})

const rotateFields = { overlapHours: integer({ min: 0, max: OVERLAP_HOURS_MAX, description: '24 by default.' }) }
const rotatedSchema = Type.Object({
  ...envelope,
  credentials: Type.Object({ apiKey: Type.String(), apiToken: Type.String() }),
  previousTokenEndsAt: Type.String(),
})
const secretRotatedSchema = Type.Object({
  ...envelope,
  webhookSecret: Type.String(),
  previousSecretEndsAt: Type.String(),
})

/** Only the groups that were sent; a null address clears it. */
function changesFrom(read: Read<typeof notificationFields>): Partial<NotificationSettings> {
  const changes: { -readonly [Group in keyof NotificationSettings]?: NotificationSettings[Group] } = {}
  if (read.payment) changes.payment = { url: read.payment.url ?? null }
  for (const group of switchableGroups) {
    const sent = read[group]
    if (sent) changes[group] = { url: sent.url ?? null, enabled: sent.enabled ?? false } satisfies Switch
  }
  return changes
}

export function accountRoutes(context: AccountRoutesContext) {
  const { db, clock, secrets, ids, authenticator } = context
  return async (app: FastifyInstance) => {
    app.get(
      '/v1.1/available_payment_methods',
      {
        schema: { tags: ['Account'], summary: 'Payment methods open to the account', response: { 200: methodsSchema } },
      },
      async ({ accountId }) => {
        const account = (await findAccountTerms(db, [accountId])).get(accountId)!
        const entry = (method: PaymentMethod) => ({
          label: methodLabels[method],
          type: method.toLowerCase(),
          value: method,
        })
        return { ...success, payment_methods: methodsOpenTo(account).map(entry) }
      },
    )

    app.get(
      '/v1.1/account/notifications',
      { schema: { tags: ['Account'], summary: 'Where notifications go', response: { 200: notificationsSchema } } },
      async ({ accountId }) => {
        const { settings, webhookSecret } = (await findNotificationSettings(db, secrets, accountId))!
        return { ...success, ...settings, webhookSecret }
      },
    )

    app.put(
      '/v1.1/account/notifications',
      {
        schema: {
          tags: ['Account'],
          summary: 'Say where notifications go: groups that are sent are replaced, others stay',
          body: objectSchema(notificationFields, { examples: [{ payment: { url: 'http://localhost:9000/hook' } }] }),
          response: { 200: notificationsSchema },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const changes = changesFrom(readBody(request, notificationFields))
          const updated = await updateNotificationSettings(tx, request.accountId, changes)
          if (!updated.ok)
            throw new RequestInvalid(
              updated.refusal.groups.map((group) => ({ field: `${group}.url`, message: 'may not be null' })),
            )
          const { webhookSecret } = (await findNotificationSettings(tx, secrets, request.accountId))!
          return { http: 200, body: { ...success, ...updated.value, webhookSecret }, holdsCredentials: true }
        }),
    )

    app.post(
      '/v1.1/account/credentials/rotate',
      {
        schema: {
          tags: ['Account'],
          summary: 'A new token, shown once; the old one works until the overlap ends',
          body: objectSchema(rotateFields, { examples: [{ overlapHours: 24 }] }),
          response: { 200: rotatedSchema },
        },
      },
      async (request, reply) => {
        const answer = await runCommand(context, request, reply, async (tx) => {
          const { overlapHours = OVERLAP_HOURS_MAX } = readBody(request, rotateFields)
          const rotated = await rotateToken(
            { tx, ids, secrets, now: clock.now() },
            { accountId: request.accountId, overlapHours },
          )
          const { apiKey, apiToken, previousTokenEndsAt } = rotated!
          const body = {
            ...success,
            credentials: { apiKey, apiToken },
            previousTokenEndsAt: wireTimestamp(previousTokenEndsAt),
          }
          return { http: 200, body, holdsCredentials: true }
        })
        authenticator.forget(request.apiKey)
        return answer
      },
    )

    app.post(
      '/v1.1/account/webhook-secret/rotate',
      {
        schema: {
          tags: ['Account'],
          summary: 'A new webhook secret; deliveries are signed with both until the overlap ends',
          body: objectSchema(rotateFields, { examples: [{ overlapHours: 24 }] }),
          response: { 200: secretRotatedSchema },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const { overlapHours = OVERLAP_HOURS_MAX } = readBody(request, rotateFields)
          const rotated = await rotateWebhookSecret(
            { tx, ids, secrets, now: clock.now() },
            { accountId: request.accountId, overlapHours },
          )
          const { webhookSecret, previousSecretEndsAt } = rotated!
          const body = { ...success, webhookSecret, previousSecretEndsAt: wireTimestamp(previousSecretEndsAt) }
          return { http: 200, body, holdsCredentials: true }
        }),
    )
  }
}

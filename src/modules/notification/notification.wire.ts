import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { nullable } from '../../kernel/schema.ts'
import { attemptStatuses } from './attempt.ts'
import { eventNames } from './event.ts'
import type { Attempt } from './find-attempts.ts'
import type { ListedNotification } from './find-notifications.ts'
import { notificationStates } from './notification.ts'

const envelope = { status: Type.Integer(), message: Type.String() }
const headers = Type.Object({}, { additionalProperties: true })

const attemptSchema = Type.Object({
  date: Type.String(),
  endpoint: Type.String({ description: 'The URL called.' }),
  eventType: Type.String({ enum: [...eventNames] }),
  status: Type.String({ enum: [...attemptStatuses] }),
  responseCode: Type.Integer({ description: '0 when there was no answer.' }),
  request: Type.Object({
    headers,
    payload: Type.String({ description: 'The body that was sent, byte for byte.' }),
  }),
  response: Type.Object({
    headers,
    body: Type.String({ description: 'At most 16 KiB of the answer.' }),
  }),
})
export const attemptsAnswerSchema = Type.Object({ ...envelope, notifications: Type.Array(attemptSchema) })

export const attemptWire = (attempt: Attempt): Static<typeof attemptSchema> => ({
  date: wireTimestamp(attempt.at),
  endpoint: attempt.url,
  eventType: attempt.event,
  status: attempt.status,
  responseCode: attempt.responseCode,
  request: { headers: attempt.requestHeaders, payload: attempt.payload },
  response: { headers: attempt.responseHeaders, body: attempt.responseBody },
})

const notificationSchema = Type.Object({
  id: Type.String({ description: 'The `webhook-id` of every attempt.' }),
  transactionUUID: Type.String({ description: 'The sale, recurrence checkout or payout that it tells of.' }),
  eventType: Type.String({ enum: [...eventNames] }),
  state: Type.String({ enum: [...notificationStates] }),
  endpoint: Type.String(),
  creation: Type.String(),
  attempts: Type.Integer(),
  lastAttempt: nullable(
    Type.Object({
      date: Type.String(),
      status: Type.String({ enum: [...attemptStatuses] }),
      responseCode: Type.Integer(),
      failure: nullable(
        Type.String({
          description:
            'Why there was no whole answer: timeout, refused, unreachable, reset, name, tls, forbidden, invalid, stopped or lost.',
        }),
      ),
    }),
  ),
})
export const notificationListSchema = Type.Object({
  ...envelope,
  totalElements: Type.Integer(),
  totalPages: Type.Integer(),
  resultSize: Type.Integer(),
  result: Type.Array(notificationSchema),
})

export const notificationWire = (one: ListedNotification): Static<typeof notificationSchema> => ({
  id: one.id,
  transactionUUID: one.resourceId,
  eventType: one.event,
  state: one.state,
  endpoint: one.url,
  creation: wireTimestamp(one.createdAt),
  attempts: one.attempts,
  lastAttempt: one.last && {
    date: wireTimestamp(one.last.at),
    status: one.last.status,
    responseCode: one.last.responseCode,
    failure: one.last.failure,
  },
})

export const queuedSchema = Type.Object({ ...envelope, queued: Type.Integer() })

import type { KeyObject } from 'node:crypto'
import { type Instant, plusMs } from '../../kernel/calendar.ts'
import type { OutgoingAnswer } from '../../platform/outgoing/outgoing.ts'
import type { DeliverySecrets } from '../account/index.ts'
import { nextAttemptAt, type RetryPolicy, statusOf } from './attempt.ts'
import type { AttemptRecord, Claimed } from './queue.store.ts'
import { signatureHeaders, signingKey } from './signature.ts'

const fixedHeaders = {
  'content-type': 'application/json',
  'user-agent': 'Quitado-Webhooks/1.0',
  accept: '*/*',
  // Never unpacked: a small answer could hold a very large one.
  'accept-encoding': 'identity',
}
const HIDDEN = 'Basic [hidden]'

/** A call about to be made: what is sent, and what is kept of it. */
export type Call = {
  readonly of: Claimed
  readonly startedAt: Instant
  readonly clockOffsetMs: number
  readonly headers: Readonly<Record<string, string>>
  /** Without the Authorization value. */
  readonly keptHeaders: string
}

const preparedKeys = new WeakMap<DeliverySecrets, readonly KeyObject[]>()

/** An account's secrets are the same object until they change, so its keys are prepared once. */
function signingKeysOf(secrets: DeliverySecrets): readonly KeyObject[] {
  const known = preparedKeys.get(secrets)
  if (known) return known
  const keys = secrets.webhookSecrets.map(signingKey)
  preparedKeys.set(secrets, keys)
  return keys
}

export function callFor(claimed: Claimed, secrets: DeliverySecrets, now: Instant): Call {
  const signed = { id: claimed.notificationId, at: now, payload: claimed.payload }
  const signature = signatureHeaders(signed, signingKeysOf(secrets))
  const headers = { ...fixedHeaders, ...signature, authorization: secrets.authorization }
  return {
    of: claimed,
    startedAt: now,
    clockOffsetMs: secrets.clockOffsetMs,
    headers,
    keptHeaders: JSON.stringify({ ...headers, authorization: HIDDEN }),
  }
}

export function recordOf(call: Call, answer: OutgoingAnswer, durationMs: number, retry: RetryPolicy): AttemptRecord {
  const status = statusOf(answer)
  const { of, startedAt } = call
  return {
    of,
    at: plusMs(startedAt, call.clockOffsetMs),
    durationMs: Math.round(durationMs),
    status,
    responseCode: answer.status,
    failure: answer.failure,
    requestHeaders: call.keptHeaders,
    responseHeaders: JSON.stringify(answer.headers),
    responseBody: answer.body,
    next: nextAttemptAt({ status, startedAt, attemptsLeft: of.attemptsLeft }, retry),
  }
}

const nothing = Buffer.alloc(0)

/** A call whose process died: it may have arrived, so it counts. Ours is still to come, unless it was the last one. */
export const recordOfLost = (claimed: Claimed, lostAt: Instant, clockOffsetMs: number): AttemptRecord => ({
  of: claimed,
  at: plusMs(lostAt, clockOffsetMs),
  durationMs: 0,
  status: 'HTTP_REQUEST_TIMEOUT',
  responseCode: 0,
  failure: 'lost',
  requestHeaders: '{}',
  responseHeaders: '{}',
  responseBody: nothing,
  next: claimed.attemptsLeft <= 1 ? null : 'held',
})

import { type Instant, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { OutgoingAnswer } from '../../platform/outgoing/outgoing.ts'

/** The first attempt and five retries. */
export const ATTEMPTS_IN_SERIES = 6

export const attemptStatuses = ['SUCCESS', 'HTTP_STATUS_NOT_EQUALS_200', 'HTTP_REQUEST_TIMEOUT'] as const
export type AttemptStatus = (typeof attemptStatuses)[number]

/** Only a 200 that arrived whole succeeds. Another status has decided already, however its body ends. */
export function statusOf({ status, failure }: Pick<OutgoingAnswer, 'status' | 'failure'>): AttemptStatus {
  if (status !== 0 && status !== 200) return 'HTTP_STATUS_NOT_EQUALS_200'
  return failure === null ? 'SUCCESS' : 'HTTP_REQUEST_TIMEOUT'
}

export type RetryPolicy = {
  readonly retrySeconds: number
  /** From 0 to 1: receivers that failed together are not called together again. */
  readonly jitter: () => number
}
const JITTER_SHARE = 0.05

/** When the next attempt is due, counted from the start of this one; null when the series ends with it. */
export function nextAttemptAt(
  { status, startedAt, attemptsLeft }: { status: AttemptStatus; startedAt: Instant; attemptsLeft: number },
  { retrySeconds, jitter }: RetryPolicy,
): Instant | null {
  if (status === 'SUCCESS' || attemptsLeft <= 1) return null
  return plusMs(startedAt, Math.round(retrySeconds * SECOND_MS * (1 + JITTER_SHARE * jitter())))
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Instant, plusMs } from '../../kernel/calendar.ts'
import type { OutgoingFailure } from '../../platform/outgoing/outgoing.ts'
import { ATTEMPTS_IN_SERIES, type AttemptStatus, attemptStatuses, nextAttemptAt, statusOf } from './attempt.ts'

const SEED = 2026
const noon = Date.UTC(2026, 10, 16, 15) as Instant
const failures: readonly OutgoingFailure[] = [
  'timeout',
  'refused',
  'unreachable',
  'reset',
  'name',
  'tls',
  'forbidden',
  'invalid',
  'stopped',
]

describe('the status of an attempt', () => {
  test('is SUCCESS for a whole 200 and nothing else', () => {
    expect(statusOf({ status: 200, failure: null })).toBe('SUCCESS')
  })

  test.each([201, 202, 204, 299, 301, 302, 304, 400, 401, 404, 429, 500, 502, 503, 599, 600, 999, 100, 199])(
    'is HTTP_STATUS_NOT_EQUALS_200 for a whole %i',
    (status) => expect(statusOf({ status, failure: null })).toBe('HTTP_STATUS_NOT_EQUALS_200'),
  )

  test.each(failures)('is HTTP_REQUEST_TIMEOUT without a status: %s', (failure) => {
    expect(statusOf({ status: 0, failure })).toBe('HTTP_REQUEST_TIMEOUT')
  })

  test.each(failures)('is HTTP_REQUEST_TIMEOUT for a 200 whose body did not come in whole: %s', (failure) => {
    expect(statusOf({ status: 200, failure })).toBe('HTTP_REQUEST_TIMEOUT')
  })

  test.each(failures)('stays HTTP_STATUS_NOT_EQUALS_200 however the body of another status ends: %s', (failure) => {
    for (const status of [204, 301, 404, 500]) expect(statusOf({ status, failure })).toBe('HTTP_STATUS_NOT_EQUALS_200')
  })

  test('is one of the three, for every status and failure', () => {
    for (let status = 0; status <= 999; status += 1)
      for (const failure of [null, ...failures]) {
        const expected: AttemptStatus =
          status === 200 && failure === null
            ? 'SUCCESS'
            : status === 0 || status === 200
              ? 'HTTP_REQUEST_TIMEOUT'
              : 'HTTP_STATUS_NOT_EQUALS_200'
        // No status and no failure cannot be: there is always a reason for the silence.
        if (status !== 0 || failure !== null) expect(statusOf({ status, failure })).toBe(expected)
      }
    expect(attemptStatuses).toEqual(['SUCCESS', 'HTTP_STATUS_NOT_EQUALS_200', 'HTTP_REQUEST_TIMEOUT'])
  })
})

describe('the next attempt', () => {
  const failed = { status: 'HTTP_REQUEST_TIMEOUT', startedAt: noon, attemptsLeft: 6 } as const
  const dueAfter = (jitter: number, retrySeconds = 60) => nextAttemptAt(failed, { retrySeconds, jitter: () => jitter })

  test('is due 60 seconds after the start of the one before, and up to three later', () => {
    expect(dueAfter(0)).toBe(plusMs(noon, 60_000))
    expect(dueAfter(0.5)).toBe(plusMs(noon, 61_500))
    expect(dueAfter(1)).toBe(plusMs(noon, 63_000))
  })

  test.each([1, 2, 60, 3_600, 86_400])('follows the setting: every %i seconds', (retrySeconds) => {
    expect(dueAfter(0, retrySeconds)).toBe(plusMs(noon, retrySeconds * 1_000))
    expect(dueAfter(1, retrySeconds)).toBe(plusMs(noon, retrySeconds * 1_050))
  })

  test('is a whole millisecond', () => {
    expect(Number.isInteger(dueAfter(0.123_456_789, 1))).toBe(true)
  })

  test.each(attemptStatuses.filter((status) => status !== 'SUCCESS'))(
    'comes after %s while attempts are left',
    (status) => {
      const left = [6, 5, 4, 3, 2].map((attemptsLeft) =>
        nextAttemptAt({ status, startedAt: noon, attemptsLeft }, { retrySeconds: 60, jitter: () => 0 }),
      )
      expect(left).toEqual(Array(5).fill(plusMs(noon, 60_000)))
      const last = { status, startedAt: noon, attemptsLeft: 1 }
      expect(nextAttemptAt(last, { retrySeconds: 60, jitter: () => 0 })).toBeNull()
    },
  )

  test.each([6, 5, 4, 3, 2, 1])('does not come after a success with %i left', (attemptsLeft) => {
    const succeeded = { status: 'SUCCESS', startedAt: noon, attemptsLeft } as const
    expect(nextAttemptAt(succeeded, { retrySeconds: 60, jitter: () => 0 })).toBeNull()
  })

  test('a series is the first attempt and five retries', () => expect(ATTEMPTS_IN_SERIES).toBe(6))
})

/** What happens to one notification: each attempt takes a while and ends somehow. */
const story = fc.record({
  retrySeconds: fc.integer({ min: 1, max: 86_400 }),
  attempts: fc.array(
    fc.record({
      status: fc.constantFrom(...attemptStatuses),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      delayMs: fc.nat(90_000),
    }),
    { minLength: 12, maxLength: 12 },
  ),
})

test('a series of any story: six attempts at most, none after a success, none sooner than the setting says', () => {
  fc.assert(
    fc.property(story, ({ retrySeconds, attempts }) => {
      let startedAt = noon
      let made = 0
      for (let left = ATTEMPTS_IN_SERIES; ; left -= 1) {
        const { status, jitter, delayMs } = attempts[made]!
        made += 1
        const next = nextAttemptAt({ status, startedAt, attemptsLeft: left }, { retrySeconds, jitter: () => jitter })
        if (next === null) {
          expect(status === 'SUCCESS' || made === 6).toBe(true)
          break
        }
        expect(status).not.toBe('SUCCESS')
        expect(next - startedAt).toBeGreaterThanOrEqual(retrySeconds * 1_000)
        expect(next - startedAt).toBeLessThanOrEqual(retrySeconds * 1_050)
        startedAt = plusMs(next, delayMs)
      }
      expect(made).toBeLessThanOrEqual(6)
      const firstSuccess = attempts.findIndex(({ status }) => status === 'SUCCESS')
      expect(made).toBe(firstSuccess >= 0 && firstSuccess < 6 ? firstSuccess + 1 : 6)
    }),
    { seed: SEED, numRuns: 10_000 },
  )
})

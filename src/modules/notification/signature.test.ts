import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Instant } from '../../kernel/calendar.ts'
import type { NotificationId } from '../../kernel/ids.ts'
import { signatureHeaders, signingKey } from './signature.ts'

// The example of the Standard Webhooks libraries.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const example = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek' as NotificationId,
  at: 1_614_265_330_000 as Instant,
  payload: '{"test": 2432232314}',
}
const signed = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

/** As a receiver computes it, from what it received and from its secret. */
const expected = (key: string, { id, payload }: { id: string; payload: string }, seconds: string) =>
  `v1,${createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
    .update(`${id}.${seconds}.${payload}`)
    .digest('base64')}`

describe('the headers of Standard Webhooks', () => {
  test('are those of its published example', () => {
    expect(signatureHeaders(example, [signingKey(secret)])).toEqual({
      'webhook-id': example.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': signed,
    })
  })

  test('hold one signature a key, the key in force first, during a rotation', () => {
    const before = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
    const { 'webhook-signature': both } = signatureHeaders(example, [signingKey(secret), signingKey(before)])
    expect(both.split(' ')).toEqual([signed, expected(before, example, '1614265330')])
  })

  test('hold no signature for an account without a secret', () => {
    expect(signatureHeaders(example, [])['webhook-signature']).toBe('')
  })

  test.each([
    [1_614_265_330_000, '1614265330'],
    [1_614_265_330_999, '1614265330'],
    [1_614_265_331_000, '1614265331'],
  ])('say whole seconds, rounded down: %i', (at, seconds) => {
    const headers = signatureHeaders({ ...example, at: at as Instant }, [signingKey(secret)])
    expect(headers['webhook-timestamp']).toBe(seconds)
    expect(headers['webhook-signature']).toBe(expected(secret, example, seconds))
  })

  test('sign the bytes of any text, with any secret, as a receiver would', () => {
    const bytes = fc.uint8Array({ minLength: 24, maxLength: 64 })
    fc.assert(
      fc.property(bytes, fc.string({ unit: 'binary' }), fc.nat(4_000_000_000), (key, payload, seconds) => {
        const whsec = `whsec_${Buffer.from(key).toString('base64')}`
        const headers = signatureHeaders({ ...example, payload, at: (seconds * 1000) as Instant }, [signingKey(whsec)])
        expect(headers['webhook-signature']).toBe(expected(whsec, { ...example, payload }, String(seconds)))
      }),
      { seed: 2026, numRuns: 2_000 },
    )
  })

  test.each([
    ['the id', { ...example, id: 'msg_other' as NotificationId }],
    ['the time', { ...example, at: (example.at + 1000) as Instant }],
    ['a byte of the body', { ...example, payload: '{"test": 2432232315}' }],
  ])('change with %s', (_what, other) => {
    expect(signatureHeaders(other, [signingKey(secret)])['webhook-signature']).not.toBe(signed)
  })
})

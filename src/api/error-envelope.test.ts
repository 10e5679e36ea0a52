import { describe, expect, test } from 'vitest'
import { Overloaded, Unavailable } from '../platform/batcher.ts'
import { RequestInvalid, RequestRefused, RequestUnusable } from '../platform/http/refusals.ts'
import { envelopeOf, errorEnvelopes, forbidden } from './error-envelope.ts'

describe('the one error table', () => {
  test('says what the interface says', () => {
    const printed = Object.entries(errorEnvelopes).map(
      ([code, [http, status, message, detail]]) => `${code} ${http} ${status} ${message} / ${detail}`,
    )
    expect(printed).toEqual(
      expect.arrayContaining([
        'sale.notFound 404 998 transaction not found / non-existent transaction',
        'sale.informedNotFound 404 998 transaction not found / the sale informed does not exist',
        'sale.notPending 400 999 transaction not PENDING / invalid transaction situation',
        'sale.notCancelled 400 999 transaction not CANCELLED / invalid transaction situation',
        "sale.mustBePaid 400 -1 sale must be PAID / the transaction status must be 'PAID'",
        'split.recipientNotFound 404 -1 validation failure / split.recipientNotFound',
        'plan.notFound 404 998 plan not found / non-existent plan',
        'account.overdraftInUse 400 -1 field validation failure / must cover what the account uses already',
      ]),
    )
  })

  test('has no row that is not a refusal', () => {
    for (const [code, [http, status, message, detail]] of Object.entries(errorEnvelopes)) {
      expect(http >= 400 && http < 500, code).toBe(true)
      expect([-1, 998, 999], code).toContain(status)
      expect(message && detail, code).toBeTruthy()
      expect(status === 998, code).toBe(message.endsWith('not found'))
    }
  })

  test('gives every code its answer, with the field that the route names', () => {
    for (const [code, [http, status, message, detail]] of Object.entries(errorEnvelopes)) {
      const envelope = envelopeOf(new RequestRefused(code, 'theField'))
      const split = code.startsWith('split.') ? { main_error_message: detail } : {}
      expect(envelope).toEqual({
        http,
        body: { status, message, errorCount: 1, errors: [{ field: 'theField', message: detail }], ...split },
      })
    }
  })
})

describe('an answer to anything thrown', () => {
  const plain = (http: number, message: string) => ({ http, body: { status: -1, message, errorCount: 0, errors: [] } })
  const oops = plain(500, 'something went wrong on our side')

  test.each([
    ['a bug', new Error('column "token" of relation "credential"'), oops],
    ['a code without a row', new RequestRefused('no.such.code', 'x'), oops],
    ['an error of the framework’s own', Object.assign(new Error('secret'), { statusCode: 500 }), oops],
    ['a unique violation that nobody expected', Object.assign(new Error('duplicate key'), { code: '23505' }), oops],
    ['text', 'thrown text', oops],
    [
      'a lost connection',
      Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
      plain(503, 'the service is not available right now: try again shortly'),
    ],
    [
      'a server that shuts down',
      Object.assign(new Error('x'), { code: '57P01' }),
      plain(503, 'the service is not available right now: try again shortly'),
    ],
    [
      'a batch without a database',
      new Unavailable('x'),
      plain(503, 'the service is not available right now: try again shortly'),
    ],
    ['a full queue', new Overloaded('x'), plain(503, 'too many requests at once: try again shortly')],
    ['a body over the limit', { statusCode: 413 }, plain(413, 'the body is larger than this route takes')],
    ['a refusal of the framework that has no words yet', { statusCode: 418 }, plain(418, 'the request was refused')],
    ['an unusable request', new RequestUnusable(429, 'slower'), plain(429, 'slower')],
  ])('%s', (_name, error, expected) => expect(envelopeOf(error)).toEqual(expected))

  test('all faults of a request are in it, in order; a checkout repeats the first message', () => {
    const faults = [
      { field: 'b', message: 'may not be null' },
      { field: 'a', message: 'is wrong', code: 'a.invalid' },
    ]
    const body = { status: -1, errorCount: 2, errors: faults }
    expect(envelopeOf(new RequestInvalid(faults))).toEqual({
      http: 400,
      body: { ...body, message: 'field validation failure' },
    })
    expect(envelopeOf(new RequestInvalid(faults, { checkout: true }))).toEqual({
      http: 400,
      body: { ...body, message: 'validation failure', main_error_message: 'may not be null' },
    })
  })

  test('Forbidden is exactly the interface’s', () =>
    expect(forbidden).toEqual({
      http: 403,
      body: {
        status: -1,
        message: 'field validation failure',
        errorCount: 1,
        errors: [{ error: 'Forbidden', message: 'Access Denied' }],
      },
    }))
})

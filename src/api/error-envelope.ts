import type { Fault } from '../kernel/reader.ts'
import { Overloaded, Unavailable } from '../platform/batcher.ts'
import { troubleOf } from '../platform/database/trouble.ts'
import type { Envelope } from '../platform/http/context.ts'
import { RequestInvalid, RequestRefused, RequestUnusable } from '../platform/http/refusals.ts'

type Row = readonly [http: number, status: -1 | 998 | 999, message: string, detail: string]

/** Every refusal's answer: the one table. A code without a row is a bug and answers 500. */
// biome-ignore format: a table
export const errorEnvelopes: Readonly<Record<string, Row>> = {
  // code                     http status  message                     errors[0].message
  'sale.notFound':            [404, 998, 'transaction not found',     'non-existent transaction'],
  'sale.informedNotFound':    [404, 998, 'transaction not found',     'the sale informed does not exist'],
  'sale.notPending':          [400, 999, 'transaction not PENDING',   'invalid transaction situation'],
  'sale.notPaid':             [400, 999, 'transaction not PAID',      'invalid transaction situation'],
  'outflow.notFound':         [404, 998, 'transaction not found',     'non-existent transaction'],
  'outflow.final':            [400,  -1, 'field validation failure',  'payment cannot be updated'],
  'payout.notFound':          [404, 998, 'transaction not found',     'non-existent transaction'],
  'payout.notPending':        [400, 999, 'transaction not PENDING',   'invalid transaction situation'],
  'payout.notWithdrawn':      [400, 999, 'transaction not PENDING',   'the bank is paying it already'],
  'reversal.notFound':        [404, 998, 'transaction not found',     'non-existent transaction'],
  'sale.notCancelled':        [400, 999, 'transaction not CANCELLED', 'invalid transaction situation'],
  'sale.mustBePaid':          [400,  -1, 'sale must be PAID',         "the transaction status must be 'PAID'"],
  'mandate.notFound':         [404, 998, 'authorization not found',   'non-existent authorization'],
  'mandate.notCancellable':   [400,  -1, 'field validation failure',  'authorization cannot be canceled'],
  'mandate.notVariable':      [400,  -1, 'field validation failure',  'authorization is not variable'],
  'mandate.final':            [400,  -1, 'field validation failure',  'authorization cannot be updated'],
  'charge.notFound':          [404, 998, 'scheduled payment not found', 'non-existent scheduled payment'],
  'charge.notCancellable':    [400,  -1, 'field validation failure',  'payment cannot be canceled'],
  'charge.final':             [400,  -1, 'field validation failure',  'payment cannot be updated'],
  'split.notEnabled':         [403,  -1, 'validation failure',        'split.notEnabled'],
  'split.recipientNotFound':  [404,  -1, 'validation failure',        'split.recipientNotFound'],
  'plan.notFound':            [404, 998, 'plan not found',            'non-existent plan'],
  'account.notFound':         [404, 998, 'account not found',         'non-existent account'],
  'account.emailTaken':       [400,  -1, 'field validation failure',  'is used by another account'],
  'account.overdraftInUse':   [400,  -1, 'field validation failure',  'must cover what the account uses already'],
  'notifications.noAddress':  [400,  -1, 'field validation failure',  'there is no address to send it to'],
  'clock.backwards':          [400,  -1, 'field validation failure',  'the clock does not go backwards'],
  'clock.tooFar':             [400,  -1, 'field validation failure',  'a jump is at most 1830 days'],
}

/** Split's envelope repeats its first message, in recipients too. */
const repeatsFirstMessage = (code: string): boolean => code.startsWith('split.')

export function envelopeOf(error: unknown): Envelope {
  if (error instanceof RequestRefused) return refusedEnvelope(error)
  if (error instanceof RequestInvalid) {
    const message = error.checkout ? 'validation failure' : 'field validation failure'
    return envelope(400, -1, message, error.faults, error.repeatsFirst)
  }
  if (error instanceof RequestUnusable) return envelope(error.http, -1, error.message, error.faults)
  if (error instanceof Overloaded) return envelope(503, -1, 'too many requests at once: try again shortly')
  if (error instanceof Unavailable || troubleOf(error) === 'lost')
    return envelope(503, -1, 'the service is not available right now: try again shortly')
  return frameworkEnvelope(error) ?? envelope(500, -1, 'something went wrong on our side')
}

function refusedEnvelope({ code, field }: RequestRefused): Envelope {
  const row = errorEnvelopes[code]
  if (row === undefined) return envelope(500, -1, 'something went wrong on our side')
  const [http, status, message, detail] = row
  return envelope(http, status, message, [{ field, message: detail }], repeatsFirstMessage(code))
}

/** What Fastify refuses by itself, in our words. */
const frameworkMessages: Readonly<Record<number, string>> = {
  400: 'the request is not valid HTTP',
  404: 'there is no such route',
  408: 'the request took too long to arrive',
  413: 'the body is larger than this route takes',
  414: 'the address is too long',
  415: 'the content type must be application/json',
  417: 'the expectation cannot be met',
  431: 'the headers are too large',
}

function frameworkEnvelope(error: unknown): Envelope | undefined {
  const { statusCode } = error as { statusCode?: number }
  if (statusCode === undefined || statusCode >= 500) return undefined
  return envelope(statusCode, -1, frameworkMessages[statusCode] ?? 'the request was refused')
}

export const forbidden: Envelope = {
  http: 403,
  body: {
    status: -1,
    message: 'field validation failure',
    errorCount: 1,
    errors: [{ error: 'Forbidden', message: 'Access Denied' }],
  },
}

function envelope(
  http: number,
  status: number,
  message: string,
  errors: readonly Fault[] = [],
  repeat = false,
): Envelope {
  const body = { status, message, errorCount: errors.length, errors }
  return { http, body: repeat && errors[0] ? { ...body, main_error_message: errors[0].message } : body }
}

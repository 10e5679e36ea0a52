import { type TSchema, Type } from 'typebox'
import { nullable } from '../kernel/schema.ts'
import { type EventName, queryOf } from '../modules/notification/index.ts'
import { splitBlockSchema } from '../modules/split/index.ts'
import { payoutErrors } from '../rail/rail.ts'

const moment = (description?: string) =>
  Type.String({ description: ['`yyyy-MM-dd HH:mm:ss`, São Paulo.', description].filter(Boolean).join(' ') })
const uuid = (description: string) => Type.String({ format: 'uuid', description })
const always = (value: string) => Type.String({ enum: [value] })
const bankDetails = Type.Object(
  { bank: Type.String(), branch: Type.String(), account: Type.String() },
  { description: 'Empty texts where nothing is known.' },
)
const currency = always('BRL')

const confirmation = Type.Object({
  saleToken: uuid('The sale. Confirmations are to be taken once per saleToken.'),
  referenceCode: Type.String({ description: 'Of a recipient-side transaction: the parent sale.' }),
  currency,
  amount: Type.Number(),
  shopper: Type.Object({
    id: Type.String(),
    firstName: Type.String(),
    lastName: Type.String(),
    email: Type.String(),
    agency: Type.String(),
    account: Type.String(),
  }),
  date: moment(),
  newStatus: always('PAID'),
  split: Type.Optional(splitBlockSchema),
})

const reversal = (status: string) =>
  Type.Object({
    id: Type.Integer(),
    uuid: uuid('The reversal.'),
    currency,
    originalAmount: Type.Number({ description: 'Of the sale.' }),
    reversedAmount: Type.Number({ description: 'Of the payment that did not fit.' }),
    status: always(status),
    bankDetails,
    sale: Type.Object({ id: Type.Integer(), uuid: Type.String() }),
    creation: moment(),
    receipt: nullable(Type.String()),
    reason: Type.String({ enum: ['SALE_NOT_PENDING', 'ALREADY_PAID', 'AMOUNT_DIFFERS'] }),
    date: moment(),
  })

const refund = Type.Object({
  saleToken: uuid('The sale.'),
  referenceCode: Type.String(),
  currency,
  originalAmount: Type.Number({ description: 'Of the sale.' }),
  reversedAmount: Type.Number({ description: 'Of this refund.' }),
  amountRefunded: Type.Number({ description: 'The same again.' }),
  bankDetails,
  receipt: Type.String(),
  status: always('PAID'),
  refund: Type.Object({
    id: Type.Integer(),
    uuid: Type.String(),
    status: always('PAID'),
    amount: Type.Number(),
    creation: moment(),
    creditDate: moment(),
  }),
  reason: Type.String(),
  date: moment(),
})

const payout = (failed: boolean) =>
  Type.Object({
    success: Type.Boolean({ description: `Always ${!failed}.` }),
    message: Type.String({ description: failed ? 'What went wrong, then the bank’s reasons, if any.' : '`success`' }),
    ...(failed && { error_code: Type.String({ enum: [...payoutErrors] }) }),
    id: Type.Integer(),
    uuid: uuid('The payout.'),
    currency,
    amount: Type.Number(),
    status: always(failed ? 'CANCELLED' : 'PAID'),
    referenceCode: Type.String(),
    bankDetails,
    creation: moment(),
    receipt: Type.String(),
    date: moment(),
    receiptDate: failed ? Type.String({ description: 'Empty.' }) : moment(),
  })

const mandateFields = (event: EventName, statuses: readonly string[]) => ({
  eventType: always(event),
  idRec: Type.String({ description: 'The authorization.' }),
  externalId: Type.String({ description: 'Your referenceCode.' }),
  planId: Type.String(),
  contractId: Type.String({ description: 'The same as planId.' }),
  contractDescription: Type.String(),
  status: Type.String({ enum: [...statuses] }),
  periodicity: Type.String({ enum: ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMIANNUAL', 'ANNUALLY'] }),
  valueType: Type.String({ enum: ['FIXED', 'VARIABLE'] }),
  amount: Type.Number({ description: 'The fixed amount, or the price of the next cycle.' }),
  payerDocument: Type.String(),
  payerName: Type.String(),
  initialDate: moment(),
  finalDate: nullable(moment('Null when open-ended.')),
  nextRecurrenceDate: nullable(moment('Null when there is none.')),
})
const mandate = (event: EventName, status: string) =>
  Type.Object({ ...mandateFields(event, [status]), eventDate: moment() })

const openOrEnded = ['APPROVED', 'CANCELLED', 'CONCLUDED']
const charge = (event: EventName, statuses: readonly string[]) =>
  Type.Object({
    ...mandateFields(event, openOrEnded),
    saleToken: uuid('The charge’s sale.'),
    chargeAmount: Type.Number(),
    chargeDueDate: moment(),
    chargeStatus: Type.String({ enum: [...statuses] }),
    ...(event === 'RECURRENCE_CHARGE_FAILED' && {
      rejectionCode: Type.String(),
      rejectionReason: Type.String(),
      retryScheduled: Type.Boolean({ description: 'True when it will be tried again.' }),
    }),
    eventDate: moment(),
  })

const test = Type.Object({
  type: always('TEST'),
  uuid: uuid('Of this test; nothing else has it.'),
  group: Type.String({ enum: ['payment', 'reversal', 'refund', 'payout'], description: 'Whose address is tried.' }),
  date: moment(),
})

type Webhook = readonly [event: EventName, summary: string, body: TSchema]
const described: readonly Webhook[] = [
  ['PAYMENT_CONFIRMATION', 'A sale was paid; or your share of one is being credited', confirmation],
  ['REVERSAL_CREATE', 'A payment did not fit its sale and goes back', reversal('PENDING')],
  ['REVERSAL_PAID', 'Such a payment has gone back', reversal('PAID')],
  ['REVERSAL_CANCEL', 'Such a payment could not go back: it was credited to you', reversal('CANCELLED')],
  ['REFUND_PAID', 'A refund has reached the payer', refund],
  ['PAYOUT_PAID', 'A payout has arrived', payout(false)],
  ['PAYOUT_FAILED', 'A payout came to nothing: amount and fee are back', payout(true)],
  ['RECURRENCE_AUTHORIZED', 'A payer approved', mandate('RECURRENCE_AUTHORIZED', 'APPROVED')],
  ['RECURRENCE_REJECTED', 'A payer rejected', mandate('RECURRENCE_REJECTED', 'REJECTED')],
  ['RECURRENCE_EXPIRED', 'A payer did not answer in time', mandate('RECURRENCE_EXPIRED', 'EXPIRED')],
  ['RECURRENCE_CANCELLED', 'You or the payer cancelled', mandate('RECURRENCE_CANCELLED', 'CANCELLED')],
  ['RECURRENCE_CONCLUDED', 'The agreed period ended', mandate('RECURRENCE_CONCLUDED', 'CONCLUDED')],
  [
    'RECURRENCE_CHARGE_SCHEDULED',
    'A charge was registered at the payer’s bank',
    charge('RECURRENCE_CHARGE_SCHEDULED', ['SCHEDULED']),
  ],
  ['RECURRENCE_CHARGE_PAID', 'A charge was paid', charge('RECURRENCE_CHARGE_PAID', ['PAID'])],
  [
    'RECURRENCE_CHARGE_FAILED',
    'A charge failed, was rejected or was cancelled',
    charge('RECURRENCE_CHARGE_FAILED', ['FAILED', 'REJECTED', 'CANCELLED']),
  ],
  ['TEST', 'Somebody pressed "send a test" in the panel: nothing happened', test],
]

const header = (name: string, description: string) => ({
  in: 'header',
  name,
  required: true,
  description,
  schema: { type: 'string' },
})
const signatureHeaders = [
  header('webhook-id', 'Of the notification: the same on every attempt and when it is sent again.'),
  header('webhook-timestamp', 'When this attempt was made, in seconds.'),
  header('webhook-signature', '`v1,` and Base64; two of them, with a space between, while a secret is being changed.'),
]
const queryParameters = (event: EventName) =>
  [...new URLSearchParams(queryOf(event))].map(([name, value]) => ({
    in: 'query',
    name,
    required: true,
    schema: { type: 'string', enum: [value] },
  }))

/** What the service calls, by event: the `webhooks` of the OpenAPI document. */
export const webhooks = Object.fromEntries(
  described.map(([event, summary, body]) => [
    event,
    {
      post: {
        tags: ['Webhooks'],
        summary,
        security: [{ webhook: [] }],
        parameters: [...queryParameters(event), ...signatureHeaders],
        requestBody: { required: true, content: { 'application/json': { schema: body } } },
        responses: { 200: { description: 'Heard. Anything else, or nothing within 10 s, is tried again.' } },
      },
    },
  ]),
)

export const webhooksTag = {
  name: 'Webhooks',
  description: `What the service calls: \`POST\` with JSON, to the address of the charge, refund or payout (\`callbackURL\`), else to
that of \`PUT /v1.1/account/notifications\`. Refunds, reversals and payouts are told only while their group is \`enabled\`, whatever
their callbackURL. The query string below is appended to the address. Answer 200 within 10 s; anything else is tried again five times, a minute
apart, with the same bytes.

**Who calls.** \`Authorization\` is Basic with your api key and api token. And the call is signed: \`webhook-signature\` holds, after
\`v1,\`, the Base64 of HMAC-SHA256 over \`webhook-id.webhook-timestamp.body\`, keyed with the bytes that your \`webhookSecret\` has in
Base64 after \`whsec_\`. Take the body as it arrived, before parsing it, compare in constant time, accept any of several signatures, and
refuse timestamps that are minutes old.

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto'

function isFromQuitado(headers, rawBody, webhookSecret, nowInSeconds) {
  const key = Buffer.from(webhookSecret.slice('whsec_'.length), 'base64')
  const signed = \`\${headers['webhook-id']}.\${headers['webhook-timestamp']}.\${rawBody}\`
  const expected = Buffer.from(\`v1,\${createHmac('sha256', key).update(signed).digest('base64')}\`)
  const fresh = Math.abs(nowInSeconds - Number(headers['webhook-timestamp'])) < 300
  return fresh && headers['webhook-signature'].split(' ').some((given) =>
    given.length === expected.length && timingSafeEqual(Buffer.from(given), expected))
}
\`\`\``,
}

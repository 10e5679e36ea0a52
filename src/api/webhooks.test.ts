import { beforeAll, describe, expect, test } from 'vitest'
import { pay, shopper } from '../../test/harness/given.ts'
import { type Merchant, merchants } from '../../test/harness/merchants.ts'
import { accepted, payOut, refund, simulate } from '../../test/harness/money-out.ts'
import type { ReceivedCall } from '../../test/harness/receiver.ts'
import { testService } from '../../test/harness/test-service.ts'
import type { AccountId } from '../kernel/ids.ts'
import { sendTest } from '../modules/notification/index.ts'
import { systemRandomIds } from '../platform/random-ids.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)

type Schema = {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
}
type Parameter = { in: string; name: string; required: boolean; schema: Schema }
type Webhook = {
  tags: string[]
  summary: string
  security: unknown
  parameters: Parameter[]
  requestBody: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { description: string }>
}
// biome-ignore lint/suspicious/noExplicitAny: the document is looked at from all sides
let document: any
beforeAll(async () => {
  document = (await it.api.get('/openapi.json')).body
})
const webhookOf = (event: string): Webhook => document.webhooks[event].post

/** The account and the call that it gets last. */
type Cause = (shop: Merchant) => Promise<unknown>
const reversalOf = async (shop: Merchant): Promise<string> =>
  (await pay(shop, await it.given.paidSale(shop))).body.reversal.uuid
const paidPayout = async (shop: Merchant, how: string) => {
  await it.given.paidSale(shop)
  const uuid = await accepted(payOut(shop))
  await settle()
  return simulate(shop, 'payout', uuid, how)
}
const endReversal = async (shop: Merchant, how: string) => {
  const uuid = await reversalOf(shop)
  await settle()
  return simulate(shop, 'reversal', uuid, how)
}
async function simulateMandate({ api }: Merchant, what: string, how: string): Promise<void> {
  const plan = (
    await api.post('/v1.1/pix-automatic/plans', {
      title: 'Gold',
      frequency: 'MONTHLY',
      recurrenceAmount: 50,
      retryPolicy: 'ACCEPT_3R_7D',
    })
  ).body.id
  const recurrence = { planId: plan, retry: true, calendar: { initialDate: '2026-12-16' } }
  const asked = { currency: 'BRL', referenceCode: 'r', shopper, recurrence }
  const { idRec } = (await api.post('/v1.1/checkout/pix-automatic', asked)).body
  const { http, text } = await api.post(`/v1.1/pix-automatic/sandbox/sim/${what}/${idRec}/${how}`)
  expect(http, text).toBe(200)
}
const sendTestTo: Cause = async (shop) => {
  const { service, clock } = it
  const [row] = await it.rows<{ id: AccountId }>('select id from account where uuid = $1', [shop.id])
  const outside = { ids: systemRandomIds(), outbox: service.deliveries, now: clock.now() }
  await service.db.inTransaction((tx) => sendTest({ tx, ...outside }, { accountId: row!.id, group: 'payment' }))
}
const causes: [event: string, cause: Cause][] = [
  ['PAYMENT_CONFIRMATION', (shop) => it.given.paidSale(shop)],
  ['REVERSAL_CREATE', reversalOf],
  ['REVERSAL_PAID', (shop) => endReversal(shop, 'paid')],
  ['REVERSAL_CANCEL', (shop) => endReversal(shop, 'cancelled')],
  [
    'REFUND_PAID',
    async (shop) => {
      const uuid = await accepted(refund(shop, await it.given.paidSale(shop), { amount: 1 }))
      await settle()
      return simulate(shop, 'refund', uuid, 'paid')
    },
  ],
  ['PAYOUT_PAID', (shop) => paidPayout(shop, 'paid')],
  ['PAYOUT_FAILED', (shop) => paidPayout(shop, 'failed/PE0003')],
  ['RECURRENCE_AUTHORIZED', (shop) => simulateMandate(shop, 'mandate', 'approved')],
  ['RECURRENCE_REJECTED', (shop) => simulateMandate(shop, 'mandate', 'rejected')],
  ['RECURRENCE_EXPIRED', (shop) => simulateMandate(shop, 'mandate', 'expired')],
  ['RECURRENCE_CANCELLED', (shop) => simulateMandate(shop, 'mandate', 'cancelled')],
  ['RECURRENCE_CONCLUDED', (shop) => simulateMandate(shop, 'recurrence', 'scenario/approve-and-settle')],
  ['RECURRENCE_CHARGE_SCHEDULED', (shop) => simulateMandate(shop, 'recurrence', 'scenario/approve-and-settle')],
  ['RECURRENCE_CHARGE_PAID', (shop) => simulateMandate(shop, 'recurrence', 'scenario/approve-and-settle')],
  ['RECURRENCE_CHARGE_FAILED', (shop) => simulateMandate(shop, 'recurrence', 'scenario/no-funds-3x')],
  ['TEST', sendTestTo],
]

async function shop(): Promise<Merchant> {
  const account = await merchant((hook) => ({
    payment: { url: hook },
    refund: { url: hook, enabled: true },
    reversal: { url: hook, enabled: true },
    payout: { url: hook, enabled: true },
  }))
  await account.api.put('/v1.1/sandbox/account', { autoSettle: false, splitEnabled: true })
  return account
}
async function callOf(cause: Cause, event?: string): Promise<{ account: Merchant; call: ReceivedCall }> {
  const account = await shop()
  await cause(account)
  await settle()
  const calls = event?.startsWith('RECURRENCE_')
    ? account.calls().filter(({ body }) => body.eventType === event)
    : account.calls()
  return { account, call: calls.at(-1)! }
}

const typeOf = (value: unknown) =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value
/** Where a body and its schema differ: a field too many or too few, another type or value. */
function differences(value: unknown, schema: Schema, at = ''): string[] {
  const types = [(schema as { anyOf?: Schema[] }).anyOf?.flatMap(({ type }) => type) ?? schema.type].flat()
  const actual = typeOf(value)
  const fits = types.includes(actual) || (actual === 'integer' && types.includes('number'))
  if (!fits) return [`${at} is ${actual}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is ${value}`]
  if (Array.isArray(value)) return value.flatMap((item, index) => differences(item, schema.items!, `${at}[${index}]`))
  if (actual !== 'object') return []
  const fields = value as Record<string, unknown>
  const missing = (schema.required ?? []).filter((name) => !(name in fields)).map((name) => `${at}.${name} is missing`)
  const found = Object.entries(fields).flatMap(([name, field]) => {
    const known = schema.properties?.[name]
    return known ? differences(field, known, `${at}.${name}`) : [`${at}.${name} is not described`]
  })
  return [...missing, ...found]
}

describe('the webhooks of the OpenAPI document', () => {
  test('are those that are sent, each with its summary, its place and who calls', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual(causes.map(([event]) => event).sort())
    for (const event of Object.keys(document.webhooks)) {
      const { summary, tags, security, responses } = webhookOf(event)
      expect([Boolean(summary), tags, security, Object.keys(responses)]).toEqual([
        true,
        ['Webhooks'],
        [{ webhook: [] }],
        ['200'],
      ])
    }
    expect(document.tags.map(({ name }: { name: string }) => name)).toContain('Webhooks')
    expect(document.components.securitySchemes.webhook).toMatchObject({ type: 'http', scheme: 'basic' })
  })

  test.each(causes)('%s: body, query string and headers are as it says', async (event, cause) => {
    const { call } = await callOf(cause, event)
    const { parameters, requestBody } = webhookOf(event)
    const { schema } = requestBody.content['application/json']
    expect(differences(call.body, schema)).toEqual([])
    const query = parameters.filter((parameter) => parameter.in === 'query')
    expect(call.url.split('?')[1] ?? '').toBe(
      query.map(({ name, schema: { enum: of } }) => `${name}=${of![0]}`).join('&'),
    )
    for (const { name } of parameters.filter((parameter) => parameter.in === 'header'))
      expect(call.headers[name], name).toBeTruthy()
  })

  test('PAYMENT_CONFIRMATION of a shared sale too, the parent’s and the recipient’s', async () => {
    const [parent, recipient] = [await shop(), await shop()]
    await it.operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId: recipient.id })
    await it.given.paidSale(parent, { split: [{ recipientId: recipient.id, percentage: 10 }] })
    await it.service.settlements.run()
    await settle()
    const { schema } = webhookOf('PAYMENT_CONFIRMATION').requestBody.content['application/json']
    for (const { calls } of [parent, recipient])
      expect([calls().length, differences(calls()[0]!.body, schema), typeof calls()[0]!.body.split]).toEqual([
        1,
        [],
        'object',
      ])
  })

  test('show how to verify a signature, and that does', async () => {
    const { description } = document.tags.find(({ name }: { name: string }) => name === 'Webhooks')
    const code = /```js\n([\s\S]+?)```/.exec(description)![1]!
    const { isFromQuitado } = await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(`${code}\nexport { isFromQuitado }`)}`
    )
    const { account, call } = await callOf((one) => it.given.paidSale(one))
    const now = it.clock.now() / 1000
    const verdict = (headers: object, text = call.text, secret = account.webhookSecret, at = now) =>
      isFromQuitado({ ...call.headers, ...headers }, text, secret, at)
    expect(verdict({})).toBe(true)
    expect(verdict({ 'webhook-signature': `v1,older ${call.headers['webhook-signature']}` })).toBe(true)
    expect(verdict({}, call.text.replace('PAID', 'FREE'))).toBe(false)
    expect(verdict({}, call.text, (await shop()).webhookSecret)).toBe(false)
    expect(verdict({ 'webhook-id': 'other' })).toBe(false)
    expect(verdict({}, call.text, account.webhookSecret, now + 600)).toBe(false)
  })
})

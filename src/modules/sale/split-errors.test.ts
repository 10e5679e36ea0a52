import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkoutBody, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const CHECKOUT = '/v1.1/checkout/transparent'

type Json = Record<string, unknown>
type Fault = { field: string; message: string; code?: string }

/** Shares with anna and bruno; carla is switched off, and the fee of 100.00 is 0.99. */
let parent: TestAccount
let off: TestAccount
let stranger: TestAccount
let anna: string
let bruno: string
let carla: string
const more: string[] = []
beforeAll(async () => {
  parent = await it.given.account({ splitEnabled: true })
  off = await it.given.account()
  stranger = await it.given.account({ splitEnabled: true })
  const newRecipient = async (owner: TestAccount) =>
    (await owner.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })).body.recipient.recipientId as string
  anna = await newRecipient(parent)
  bruno = await newRecipient(parent)
  carla = await newRecipient(parent)
  await parent.api.put(`/v1.1/sandbox/recipients/${carla}`, { active: false })
  for (let made = 0; made < 21; made += 1) more.push(await newRecipient(parent))
})

const checkout = (fields: Json, account = parent) => account.api.post(CHECKOUT, checkoutBody(fields))
const envelope = (...faults: Fault[]) => ({
  status: -1,
  message: 'validation failure',
  errorCount: faults.length,
  errors: faults,
  main_error_message: faults[0]!.message,
})
const whole = (code: string): Fault => ({ field: 'split', message: code })
const ofLeg = (place: number, field: string, code: string): Fault => ({
  field: `split[${place}].${field}`,
  message: code,
})
const taxData: Fault = {
  field: 'taxData',
  code: 'taxData.unsupportedSaleType',
  message: 'is not supported together with split',
}
const toAnna = (fields: Json = { amount: 1 }) => ({ recipientId: anna, ...fields })
const toBruno = (fields: Json = { amount: 1 }) => ({ recipientId: bruno, ...fields })
const legsTo = (count: number) => more.slice(0, count).map((recipientId) => ({ recipientId, amount: 0.01 }))

/** What is wrong is asked for when the test runs: recipients exist then. */
type Row = [what: string, ask: () => Json, faults: () => Fault[], account?: () => TestAccount]
const splitting = (...legs: unknown[]) => ({ split: legs })

const table: Row[] = [
  ['split is not enabled', () => splitting(toAnna()), () => [whole('split.notEnabled')], () => off],
  ...['BOLETO', 'BOLETO_PIX', 'CREDIT_CARD', 'INITIATOR'].map(
    (paymentMethod): Row => [
      `paymentMethod is ${paymentMethod}`,
      () => ({ ...splitting(toAnna()), paymentMethod }),
      () => [whole('split.unsupportedPaymentMethod')],
    ],
  ),
  ...[{ planId: 'x' }, {}, [], true].map(
    (recurrence): Row => [
      `recurrence is ${JSON.stringify(recurrence)}`,
      () => ({ ...splitting(toAnna()), recurrence }),
      () => [whole('split.unsupportedRecurrence')],
    ],
  ),
  ...['scheduledDate', 'schedule', 'scheduling'].flatMap((name) =>
    ['2026-12-01', {}, 0, false].map(
      (value): Row => [
        `${name} is ${JSON.stringify(value)}`,
        () => ({ ...splitting(toAnna()), [name]: value }),
        () => [whole('split.unsupportedSchedule')],
      ],
    ),
  ),
  ...[[{ seller: 1 }], [], {}].map(
    (sellersTransactions): Row => [
      `sellersTransactions is ${JSON.stringify(sellersTransactions)}`,
      () => ({ ...splitting(toAnna()), sellersTransactions }),
      () => [whole('split.contractConflict')],
    ],
  ),
  ...[{}, { icms: 1 }].map(
    (sent): Row => [
      `taxData is ${JSON.stringify(sent)}`,
      () => ({ ...splitting(toAnna()), taxData: sent }),
      () => [taxData],
    ],
  ),
  ...[[], {}, 'x', '', ' ', 0, 5, false, true].map(
    (split): Row => [`split is ${JSON.stringify(split)}`, () => ({ split }), () => [whole('split.valueRequired')]],
  ),
  ['21 legs', () => splitting(...legsTo(21)), () => [whole('split.tooManyRecipients')]],
  ['a leg without a value', () => splitting(toAnna({})), () => [ofLeg(0, 'amount', 'split.valueRequired')]],
  [
    'a leg with both',
    () => splitting(toAnna({ amount: 1, percentage: 1 })),
    () => [ofLeg(0, 'amount', 'split.valueConflict')],
  ],
  ...[0.009, 0, -1, 1.005, '0.009', 'x', true, {}].map(
    (amount): Row => [
      `an amount of ${JSON.stringify(amount)}`,
      () => splitting(toAnna({ amount })),
      () => [ofLeg(0, 'amount', 'split.amountTooLow')],
    ],
  ),
  [
    'a percentage that comes to less than a cent',
    () => splitting(toAnna({ percentage: 0.0099 })),
    () => [ofLeg(0, 'percentage', 'split.amountTooLow')],
  ],
  ...[0, -1, 100.0001, 33.33333, '100.0001', 'x', true, {}].map(
    (percentage): Row => [
      `a percentage of ${JSON.stringify(percentage)}`,
      () => splitting(toAnna({ percentage })),
      () => [ofLeg(0, 'percentage', 'split.percentageOutOfRange')],
    ],
  ),
  [
    'one recipient twice',
    () => splitting(toAnna(), toBruno(), toAnna()),
    () => [ofLeg(2, 'recipientId', 'split.duplicateRecipient')],
  ],
  [
    'one recipient twice, in another case',
    () => splitting(toAnna(), { recipientId: anna.toUpperCase(), amount: 1 }),
    () => [ofLeg(1, 'recipientId', 'split.duplicateRecipient')],
  ],
  [
    'the caller itself',
    () => splitting({ recipientId: parent.id, amount: 1 }),
    () => [ofLeg(0, 'recipientId', 'split.recipientEqualsParent')],
  ],
  ...(
    [
      ['nobody', () => randomUUID()],
      ['an account that is not linked', () => off.id],
      ['the operator', () => '00000000-0000-7000-8000-000000000001'],
      ['no uuid', () => 'x'],
      ['nothing', () => undefined],
      ['null', () => null],
      ['a number', () => 5],
      ['NUL', () => '\u0000'],
    ] as const
  ).map(
    ([who, recipientId]): Row => [
      `a recipient that is ${who}`,
      () => splitting({ recipientId: recipientId(), amount: 1 }),
      () => [ofLeg(0, 'recipientId', 'split.recipientNotFound')],
    ],
  ),
  [
    'a recipient of another parent',
    () => splitting(toAnna()),
    () => [ofLeg(0, 'recipientId', 'split.recipientNotFound')],
    () => stranger,
  ],
  [
    'an inactive recipient',
    () => splitting({ recipientId: carla, amount: 1 }),
    () => [ofLeg(0, 'recipientId', 'split.recipientInactive')],
  ],
  [
    'a reference of 101 characters',
    () => splitting(toAnna({ amount: 1, externalReference: 'a'.repeat(101) })),
    () => [ofLeg(0, 'externalReference', 'split.externalReferenceTooLong')],
  ],
  [
    'legs of a cent more than the amount',
    () => splitting(toAnna({ amount: 50.01 }), toBruno({ percentage: 50 })),
    () => [whole('split.sumExceedsAmount')],
  ],
  [
    'a rest of a cent less than the fee',
    () => splitting(toAnna({ amount: 49.02 }), toBruno({ percentage: 50 })),
    () => [whole('split.parentAmountInsufficientForFees')],
  ],
  [
    'legs of the whole amount, with a fee',
    () => splitting(toAnna({ percentage: 100 })),
    () => [whole('split.parentAmountInsufficientForFees')],
  ],
]

describe('the table of split errors', () => {
  test.each(table)('%s', async (_, ask, faults, account = () => parent) => {
    const { http, body } = await checkout(ask(), account())
    expect([http, body]).toEqual([400, envelope(...faults())])
  })

  test('every code of a checkout is in it', () => {
    const codes = new Set(table.flatMap(([, , faults]) => faults().map(({ code, message }) => code ?? message)))
    expect([...codes].sort()).toEqual(
      [
        'split.notEnabled',
        'split.unsupportedPaymentMethod',
        'split.unsupportedRecurrence',
        'split.unsupportedSchedule',
        'split.contractConflict',
        'split.valueRequired',
        'split.valueConflict',
        'split.tooManyRecipients',
        'split.amountTooLow',
        'split.percentageOutOfRange',
        'split.duplicateRecipient',
        'split.recipientEqualsParent',
        'split.recipientNotFound',
        'split.recipientInactive',
        'split.externalReferenceTooLong',
        'split.sumExceedsAmount',
        'split.parentAmountInsufficientForFees',
        'taxData.unsupportedSaleType',
      ].sort(),
    )
  })

  test('what is refused leaves nothing behind, for the parent or the recipients', async () => {
    const account = await it.given.account({ splitEnabled: true })
    const { recipient, credentials } = (await account.api.post('/v1.1/sandbox/recipients', { name: 'Ana' })).body
    const api = it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken })
    for (const amount of [0, 100, 1_000])
      await checkout(splitting({ recipientId: recipient.recipientId, amount }), account)
    for (const one of [account.api, api])
      expect((await one.get('/v1.1/transactions')).body).toMatchObject({ totalElements: 0, result: [] })
  })
})

describe('from the other side of each limit', () => {
  test.each<[what: string, ask: () => Json]>([
    ['0.01', () => splitting(toAnna({ amount: 0.01 }))],
    ['a percentage that comes to exactly a cent', () => splitting(toAnna({ percentage: 0.01 }))],
    ['20 legs', () => splitting(...legsTo(20))],
    ['100 characters', () => splitting(toAnna({ amount: 1, externalReference: 'a'.repeat(100) }))],
    [
      '101 characters of which one is cleaned away',
      () => splitting(toAnna({ amount: 1, externalReference: `${'a'.repeat(100)}\u0000` })),
    ],
    ['a rest of exactly the fee', () => splitting(toAnna({ amount: 49.01 }), toBruno({ percentage: 50 }))],
    ['split null is no split', () => ({ split: null, paymentMethod: 'PIX', recurrence: {}, taxData: {} })],
    [
      'nulls beside it',
      () => ({
        ...splitting(toAnna()),
        recurrence: null,
        scheduledDate: null,
        schedule: null,
        scheduling: null,
        sellersTransactions: null,
        taxData: null,
      }),
    ],
  ])('%s', async (_, ask) => {
    const reply = await checkout(ask())
    expect([reply.http, reply.body.status], reply.text).toEqual([200, 0])
  })

  test('100 % is a percentage: with no fee the parent keeps nothing', async () => {
    const account = await it.given.account({ splitEnabled: true, fees: { PIX: { percent: 0, fixed: 0 } } })
    const { recipientId } = (await account.api.post('/v1.1/sandbox/recipients', { name: 'Ana' })).body.recipient
    const all = await checkout({ split: [{ recipientId, percentage: 100 }] }, account)
    expect([all.http, all.body.split.parentAmount, all.body.split.recipients[0].amount]).toEqual([200, 0, 100])
    const equal = await checkout({ split: [{ recipientId, amount: 100 }] }, account)
    expect([equal.http, equal.body.split.parentAmount]).toEqual([200, 0])
    const over = await checkout({ split: [{ recipientId, amount: 100.01 }] }, account)
    expect([over.http, over.body]).toEqual([400, envelope(whole('split.sumExceedsAmount'))])
  })

  test('0.0001 % is a percentage where it comes to a cent', async () => {
    const { http, body } = await checkout({ amount: 10_000, ...splitting(toAnna({ percentage: 0.0001 })) })
    expect([http, body.split.recipients[0]]).toMatchObject([200, { amount: 0.01, percentage: 0.0001 }])
    const less = await checkout({ amount: 9_999.99, ...splitting(toAnna({ percentage: 0.0001 })) })
    expect(less.body).toEqual(envelope(ofLeg(0, 'percentage', 'split.amountTooLow')))
  })
})

describe('precedence', () => {
  /** In the order of the contract, each broken beside all that follow. */
  const checks: [code: string, broken: () => Json][] = [
    ['split.unsupportedPaymentMethod', () => ({ paymentMethod: 'BOLETO' })],
    ['split.unsupportedRecurrence', () => ({ recurrence: {} })],
    ['split.unsupportedSchedule', () => ({ scheduling: {} })],
    ['split.contractConflict', () => ({ sellersTransactions: [] })],
    ['taxData.unsupportedSaleType', () => ({ taxData: {} })],
  ]
  const codeOf = ({ code, message }: Fault) => code ?? message
  const answer = async (fields: Json, account = parent): Promise<string[]> =>
    (await checkout(fields, account)).body.errors.map(codeOf)
  const allBroken = (from: number) => Object.assign({}, ...checks.slice(from).map(([, broken]) => broken()))

  test('split.notEnabled before everything of the split', async () => {
    for (const split of [[], 'x', legsTo(21), [null]])
      expect(await answer({ split, ...allBroken(0) }, off)).toEqual(['split.notEnabled'])
  })

  test.each(checks.map(([code], at) => [code, at] as const))('%s before the checks after it', async (code, at) => {
    for (const split of [[], legsTo(21), [toAnna({ amount: 0 })]])
      expect(await answer({ split, ...allBroken(at) })).toEqual([code])
  })

  test.each(checks.slice(1).map(([code, broken], at) => [checks[at]![0], code, checks[at]![1], broken] as const))(
    '%s before %s',
    async (first, _, one, other) =>
      expect(await answer({ ...splitting(toAnna()), ...one(), ...other() })).toEqual([first]),
  )

  test('too many legs before what is wrong with any of them', async () =>
    expect(await answer(splitting(...Array(21).fill(null)))).toEqual(['split.tooManyRecipients']))

  test('broken legs before their sum, and their sum before the fee', async () => {
    const over = toAnna({ amount: 500 })
    expect(await answer(splitting(over, toBruno({ amount: 0 })))).toEqual(['split.amountTooLow'])
    expect(await answer(splitting(over))).toEqual(['split.sumExceedsAmount'])
  })

  test('broken fields before the split, which is not looked at then', async () => {
    for (const [fields, expected] of [
      [{ amount: 0 }, ['amount']],
      [{ currency: 'USD', shopper: null }, ['currency', 'shopper']],
      [{ maxAge: 0, taxData: [] }, ['maxAge', 'taxData']],
      [{ paymentMethod: 'BITCOIN' }, ['paymentMethod']],
      [{ paymentMethod: 'BB_TRANSFER' }, ['paymentMethod']],
    ] as const)
      for (const account of [parent, off]) {
        const { http, body } = await checkout({ split: [toAnna({ amount: 0 })], ...fields }, account)
        expect([http, body.errors.map(({ field }: Fault) => field)]).toEqual([400, expected])
      }
  })

  test('a reference that was used before is told after the split', async () => {
    const account = await it.given.account({ splitEnabled: true, uniqueReferenceCode: true })
    const { recipientId } = (await account.api.post('/v1.1/sandbox/recipients', { name: 'Ana' })).body.recipient
    const share = (amount: number) => checkout({ referenceCode: 'once', split: [{ recipientId, amount }] }, account)
    expect((await share(1)).http).toBe(200)
    expect((await share(0)).body).toEqual(envelope(ofLeg(0, 'amount', 'split.amountTooLow')))
    expect((await share(1)).body.errors).toEqual([
      { field: 'referenceCode', message: 'was used before', code: 'referenceCode.duplicated' },
    ])
  })
})

describe('several broken legs', () => {
  test('are all in one answer, in the order of the legs and of their fields', async () => {
    const { http, body } = await checkout(
      splitting(
        { externalReference: 'a'.repeat(101), percentage: 101, recipientId: carla },
        toAnna(),
        { amount: 0, recipientId: parent.id },
        null,
        { recipientId: randomUUID(), amount: 1, percentage: 1 },
        toAnna({ externalReference: ['x'], amount: '1,00' }),
        toBruno({ percentage: 0.001 }),
      ),
    )
    expect([http, body]).toEqual([
      400,
      envelope(
        ofLeg(0, 'recipientId', 'split.recipientInactive'),
        ofLeg(0, 'percentage', 'split.percentageOutOfRange'),
        ofLeg(0, 'externalReference', 'split.externalReferenceTooLong'),
        ofLeg(2, 'recipientId', 'split.recipientEqualsParent'),
        ofLeg(2, 'amount', 'split.amountTooLow'),
        ofLeg(3, 'recipientId', 'split.recipientNotFound'),
        ofLeg(3, 'amount', 'split.valueRequired'),
        ofLeg(4, 'recipientId', 'split.recipientNotFound'),
        ofLeg(4, 'amount', 'split.valueConflict'),
        ofLeg(5, 'recipientId', 'split.duplicateRecipient'),
        ofLeg(5, 'amount', 'split.amountTooLow'),
        ofLeg(5, 'externalReference', 'split.externalReferenceTooLong'),
        ofLeg(6, 'percentage', 'split.amountTooLow'),
      ),
    ])
  })

  test('the twentieth is named by its place', async () => {
    const legs = legsTo(20)
    legs[19]!.amount = 0
    expect((await checkout({ split: legs })).body).toEqual(envelope(ofLeg(19, 'amount', 'split.amountTooLow')))
  })

  test('numbers are read by their text: exponents, and what JSON has no word for', async () => {
    const send = async (value: string) => {
      const text = JSON.stringify(checkoutBody(splitting(toAnna({ amount: 'VALUE' })))).replace('"VALUE"', value)
      const { http, body } = await parent.api.post(CHECKOUT, {}, { raw: text })
      return http === 200 ? body.split.recipients[0].amount : `${http} ${body.main_error_message ?? ''}`.trim()
    }
    expect(await send('1e1')).toBe(10)
    expect(await send('1.50')).toBe(1.5)
    expect(await send('1e-2')).toBe(0.01)
    expect(await send('1e-3')).toBe('400 split.amountTooLow')
    expect(await send('1e400')).toBe('400 split.amountTooLow')
    expect(await send('-0')).toBe('400 split.amountTooLow')
    expect(await send('NaN')).toBe('400')
  })
})

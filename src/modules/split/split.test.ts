import { describe, expect, test } from 'vitest'
import type { Cents, ShareUnits } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid } from '../../kernel/ids.ts'
import type { LinkedRecipient } from '../account/index.ts'
import { namedRecipients, renewalFaults, resolveLegs, splitTotal, wholeFault } from './split.ts'
import { parentBlock, recipientBlock } from './split.wire.ts'

const uuidOf = (place: number) => `00000000-0000-7000-8000-${String(place).padStart(12, '0')}` as AccountUuid
const PARENT = { id: 1 as AccountId, uuid: uuidOf(1) }
const [ANNA, BRUNO, CARLA] = [uuidOf(11), uuidOf(12), uuidOf(13)]
const INACTIVE = uuidOf(99)

const linked = (place: number, active = true): LinkedRecipient => ({
  parentId: PARENT.id,
  id: place as AccountId,
  uuid: uuidOf(place),
  active,
  clockOffsetMs: 0,
})
const known = new Map(
  [11, 12, 13, ...Array.from({ length: 30 }, (_, at) => 100 + at)].map((n) => [uuidOf(n), linked(n)]),
)
known.set(INACTIVE, linked(99, false))
const find = (uuid: AccountUuid) => known.get(uuid)

type Sale = { amount?: number; fee?: number }
const resolve = (legs: readonly unknown[], { amount = 10_000, fee = 99 }: Sale = {}) =>
  resolveLegs(legs, { amount: amount as Cents, fee: fee as Cents, parent: PARENT, find })
/** `field code`, in order; nothing when the legs are right. */
const faultsOf = (legs: readonly unknown[], sale?: Sale): string[] => {
  const resolved = resolve(legs, sale)
  return resolved.ok ? [] : resolved.refusal.map(({ field, message }) => `${field} ${message}`)
}
const centsOf = (legs: readonly unknown[], sale?: Sale): number[] => {
  const resolved = resolve(legs, sale)
  expect(resolved).toMatchObject({ ok: true })
  return resolved.ok ? resolved.value.map(({ amount }) => amount) : []
}
const anna = (fields: Record<string, unknown>) => ({ recipientId: ANNA, ...fields })

describe('the checks of the whole', () => {
  const right = {
    split: [{}],
    paymentMethod: 'PIX',
    recurrence: false,
    scheduled: false,
    sellersTransactions: false,
    taxData: false,
  }
  const on = { splitEnabled: true, splitRecipientsMax: 20 }
  /** Each breaks one check; in the order in which they answer. */
  const breaks: [code: string, request: Partial<typeof right>, account: Partial<typeof on>][] = [
    ['split.notEnabled', {}, { splitEnabled: false }],
    ['split.unsupportedPaymentMethod', { paymentMethod: 'BOLETO' }, {}],
    ['split.unsupportedRecurrence', { recurrence: true }, {}],
    ['split.unsupportedSchedule', { scheduled: true }, {}],
    ['split.contractConflict', { sellersTransactions: true }, {}],
    ['taxData.unsupportedSaleType', { taxData: true }, {}],
    ['split.valueRequired', { split: [] }, {}],
  ]
  const answerTo = (request: object, account: object) => {
    const fault = wholeFault({ ...right, ...request }, { ...on, ...account })
    return fault?.code ?? fault?.message
  }

  test('let a right request pass', () => expect(answerTo({}, {})).toBeUndefined())

  test.each(breaks)('%s alone', (code, request, account) => expect(answerTo(request, account)).toBe(code))

  test.each(breaks.map((first, at) => [first[0], first, breaks.slice(at + 1)] as const))(
    '%s comes before each check after it',
    (code, [, request, account], later) => {
      for (const [, otherRequest, otherAccount] of later)
        expect(answerTo({ ...request, ...otherRequest }, { ...account, ...otherAccount })).toBe(code)
      const tooMany = { split: Array(21).fill({}), ...request }
      expect(answerTo(tooMany, account)).toBe(code)
    },
  )

  test.each([null, 'x', '', 5, false, true, {}, { length: 1, 0: {} }])('%j is no list of legs', (split) =>
    expect(answerTo({ split }, {})).toBe('split.valueRequired'),
  )

  test.each([
    [1, 20, undefined],
    [20, 20, undefined],
    [21, 20, 'split.tooManyRecipients'],
    [1, 1, undefined],
    [2, 1, 'split.tooManyRecipients'],
    [21, 21, undefined],
  ])('%i legs where %i are allowed: %s', (legs, splitRecipientsMax, answer) =>
    expect(answerTo({ split: Array(legs).fill({}) }, { splitRecipientsMax })).toBe(answer),
  )

  test('name `split`, but taxData by its own field, with its code apart', () => {
    expect(wholeFault({ ...right, split: [] }, on)).toEqual({ field: 'split', message: 'split.valueRequired' })
    expect(wholeFault({ ...right, taxData: true }, on)).toEqual({
      field: 'taxData',
      code: 'taxData.unsupportedSaleType',
      message: 'is not supported together with split',
    })
  })
})

describe('the amount of a leg', () => {
  test.each([
    [0.01, 1],
    [1, 100],
    [12.5, 1_250],
    [0.3, 30],
    ['0.01', 1],
    ['12.5', 1_250],
    ['99', 9_900],
    [99.01, 9_901],
  ])('%j is %i cents', (amount, cents) => expect(centsOf([anna({ amount })])).toEqual([cents]))

  test.each([
    0,
    -0,
    0.009,
    0.001,
    -0.01,
    -1,
    1.005,
    0.1 + 0.2,
    1e-7,
    '0',
    '0.00',
    '0.009',
    '-1',
    '+1',
    '1e2',
    '1,00',
    ' 1',
    '1 ',
    '',
    'NaN',
    'x',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    false,
    [1],
    [],
    {},
    { value: 1 },
  ])('%j is split.amountTooLow', (amount) =>
    expect(faultsOf([anna({ amount })])).toEqual(['split[0].amount split.amountTooLow']),
  )
})

describe('an amount beyond every charge', () => {
  test.each([10_000_000_000, '10000000000', 1e15])('%j is too much, not too low', (amount) =>
    expect(faultsOf([anna({ amount })])).toEqual(['split split.sumExceedsAmount']),
  )
})

describe('the percentage of a leg', () => {
  test.each([
    [50, 5_000],
    [33.3333, 3_333],
    [12.5, 1_250],
    ['12.5', 1_250],
    ['12.5000', 1_250],
    [0.01, 1],
    [0.0199, 1],
    [0.0299, 2],
    [99.01, 9_901],
    [66.6666, 6_666],
  ])('%j of 100.00 is %i cents, rounded down', (percentage, cents) =>
    expect(centsOf([anna({ percentage })])).toEqual([cents]),
  )

  test.each([
    [29, 100, 29],
    [58, 100, 58],
    [0.57, 10_000, 57],
    [0.0001, 999_999_999_999, 999_999],
    [100, 999_999_999_999, 999_999_999_999],
    [99.9999, 999_999_999_999, 999_998_999_999],
    [33.3333, 999_999_999_999, 333_332_999_999],
  ])('%j of %i cents is %i: exact, whatever a float would make of it', (percentage, amount, cents) =>
    expect(centsOf([anna({ percentage })], { amount, fee: 0 })).toEqual([cents]),
  )

  test.each([
    0,
    -0,
    -1,
    -0.0001,
    100.0001,
    101,
    1_000,
    0.00001,
    33.33333,
    1e-7,
    1e3,
    '0',
    '0.0000',
    '100.0001',
    '33.33333',
    '12.50000',
    '-5',
    '+5',
    '5%',
    '1e1',
    ' 5',
    '',
    'x',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    false,
    [5],
    {},
  ])('%j is split.percentageOutOfRange', (percentage) =>
    expect(faultsOf([anna({ percentage })])).toEqual(['split[0].percentage split.percentageOutOfRange']),
  )

  test.each([
    [0.0099, 10_000],
    [0.0001, 999_999],
    [99.9999, 1],
    [50, 1],
  ])('%j of %i cents is less than a cent: split.amountTooLow on the percentage', (percentage, amount) =>
    expect(faultsOf([anna({ percentage })], { amount, fee: 0 })).toEqual(['split[0].percentage split.amountTooLow']),
  )

  test.each([
    [0.01, 10_000],
    [0.0001, 1_000_000],
    [50, 2],
    [100, 1],
  ])('%j of %i cents is exactly a cent, or all there is', (percentage, amount) =>
    expect(centsOf([anna({ percentage })], { amount, fee: 0 })).toEqual([1]),
  )
})

describe('amount and percentage of one leg', () => {
  test.each([{}, { amount: null }, { percentage: null }, { amount: null, percentage: null }])(
    '%j: one is needed',
    (value) => expect(faultsOf([anna(value)])).toEqual(['split[0].amount split.valueRequired']),
  )

  test.each([
    { amount: 1, percentage: 1 },
    { amount: 0, percentage: 0 },
    { amount: 'x', percentage: {} },
    { amount: '', percentage: '' },
    { amount: false, percentage: false },
  ])('%j: not both, right or wrong', (value) =>
    expect(faultsOf([anna(value)])).toEqual(['split[0].amount split.valueConflict']),
  )

  test.each([
    [{ amount: 5, percentage: null }, 500, null],
    [{ amount: null, percentage: 5 }, 500, 50_000],
  ])('%j: a null one is absent', (value, cents, share) => {
    const resolved = resolve([anna(value)])
    expect(resolved).toMatchObject({ ok: true, value: [{ amount: cents, share }] })
  })
})

describe('the recipient of a leg', () => {
  const one = { amount: 1 }

  test.each([
    undefined,
    null,
    '',
    'x',
    5,
    true,
    {},
    [ANNA],
    ANNA.slice(1),
    `${ANNA}0`,
    `{${ANNA}}`,
    ANNA.replaceAll('-', ''),
    uuidOf(500),
  ])('%j is split.recipientNotFound', (recipientId) =>
    expect(faultsOf([{ recipientId, ...one }])).toEqual(['split[0].recipientId split.recipientNotFound']),
  )

  test('of another case, or with blanks around, is the same one', () => {
    for (const recipientId of [ANNA.toUpperCase(), ` ${ANNA}\n`]) {
      const resolved = resolve([{ recipientId, ...one }])
      expect(resolved).toMatchObject({ ok: true, value: [{ recipientUuid: ANNA, recipient: { id: 11 } }] })
    }
  })

  test('that is linked but inactive is split.recipientInactive', () =>
    expect(faultsOf([{ recipientId: INACTIVE, ...one }])).toEqual(['split[0].recipientId split.recipientInactive']))

  test('that is the parent is split.recipientEqualsParent, linked or not', () => {
    for (const recipientId of [PARENT.uuid, PARENT.uuid.toUpperCase()])
      expect(faultsOf([{ recipientId, ...one }])).toEqual(['split[0].recipientId split.recipientEqualsParent'])
    known.set(PARENT.uuid, linked(1))
    expect(faultsOf([{ recipientId: PARENT.uuid, ...one }])).toEqual([
      'split[0].recipientId split.recipientEqualsParent',
    ])
    known.delete(PARENT.uuid)
  })

  test('named twice is a duplicate on every later leg, in whatever case', () => {
    const legs = [ANNA, BRUNO, ANNA.toUpperCase(), ` ${ANNA}`, BRUNO].map((recipientId) => ({ recipientId, ...one }))
    expect(faultsOf(legs)).toEqual([
      'split[2].recipientId split.duplicateRecipient',
      'split[3].recipientId split.duplicateRecipient',
      'split[4].recipientId split.duplicateRecipient',
    ])
  })

  test('named twice and wrong each time has the same fault each time', () => {
    const twice = (recipientId: string) =>
      faultsOf([recipientId, recipientId].map((id) => ({ recipientId: id, ...one })))
    const both = (code: string) => [`split[0].recipientId ${code}`, `split[1].recipientId ${code}`]
    expect(twice(PARENT.uuid)).toEqual(both('split.recipientEqualsParent'))
    expect(twice(uuidOf(500))).toEqual(both('split.recipientNotFound'))
    expect(twice(INACTIVE)).toEqual(both('split.recipientInactive'))
  })

  test('is looked up when it can be read, once for each leg that names one', () => {
    expect(
      namedRecipients([anna({}), { recipientId: 'x' }, {}, null, 'x', { recipientId: BRUNO.toUpperCase() }]),
    ).toEqual([ANNA, BRUNO])
    for (const nothing of [null, undefined, {}, 'x', 5]) expect(namedRecipients(nothing)).toEqual([])
  })
})

describe('the external reference of a leg', () => {
  const referenceOf = (externalReference: unknown) => {
    const resolved = resolve([anna({ amount: 1, externalReference })])
    return resolved.ok ? resolved.value[0]!.externalReference : resolved.refusal
  }
  const tooLong = [{ field: 'split[0].externalReference', message: 'split.externalReferenceTooLong' }]

  test.each([
    ['pedido-1', 'pedido-1'],
    ['  pedido 1\t\n', 'pedido 1'],
    ['a\u0000b\u0007c\u001fd\u007fe\u0080f\u009fg', 'abcdefg'],
    ['linha 1\r\nlinha 2', 'linha 1linha 2'],
    ['\u0000 a \u0000', 'a'],
    ['\u00a0ação\u3000', 'ação'],
    ['👍🏽', '👍🏽'],
  ])('%j is kept as %j', (sent, kept) => expect(referenceOf(sent)).toBe(kept))

  test.each([undefined, null, '', '   ', '\u0000\u0001', ' \t\r\n ', '\u0000 \u0000'])('%j is none', (sent) =>
    expect(referenceOf(sent)).toBeNull(),
  )

  test.each([
    ['letters', 'a', 100],
    ['accents', 'ç', 100],
    ['emoji, one character each', '👍', 100],
  ])('up to 100 characters: %s', (_, character, most) => {
    expect(referenceOf(character.repeat(most))).toBe(character.repeat(most))
    expect(referenceOf(character.repeat(most + 1))).toEqual(tooLong)
  })

  test('is measured when it is clean', () => {
    const most = 'a'.repeat(100)
    expect(referenceOf(`  ${'\u0000'.repeat(50)}${most}\n\n`)).toBe(most)
    expect(referenceOf(`${'a'.repeat(50)} ${'a'.repeat(50)}`)).toEqual(tooLong)
  })

  test.each([42, 0, true, false, [], ['a'], {}, { a: 1 }])('%j is no text', (sent) =>
    expect(referenceOf(sent)).toEqual(tooLong),
  )
})

describe('several broken legs', () => {
  test('are told together, leg by leg, and in each leg recipient, value, reference', () => {
    const long = 'a'.repeat(101)
    expect(
      faultsOf([
        { externalReference: long, percentage: 0, recipientId: PARENT.uuid },
        anna({ amount: 1 }),
        { externalReference: long, amount: 1, percentage: 1, recipientId: INACTIVE },
        { recipientId: 'x' },
        anna({ amount: 0, externalReference: {} }),
        { recipientId: BRUNO, percentage: 0.001 },
      ]),
    ).toEqual([
      'split[0].recipientId split.recipientEqualsParent',
      'split[0].percentage split.percentageOutOfRange',
      'split[0].externalReference split.externalReferenceTooLong',
      'split[2].recipientId split.recipientInactive',
      'split[2].amount split.valueConflict',
      'split[2].externalReference split.externalReferenceTooLong',
      'split[3].recipientId split.recipientNotFound',
      'split[3].amount split.valueRequired',
      'split[4].recipientId split.duplicateRecipient',
      'split[4].amount split.amountTooLow',
      'split[4].externalReference split.externalReferenceTooLong',
      'split[5].percentage split.amountTooLow',
    ])
  })

  test.each([null, undefined, 'x', 5, true, [], [ANNA]])('%j as a leg lacks everything', (leg) =>
    expect(faultsOf([leg])).toEqual([
      'split[0].recipientId split.recipientNotFound',
      'split[0].amount split.valueRequired',
    ]),
  )

  test('come before their sum, and their sum before the fee', () => {
    const over = { recipientId: BRUNO, amount: 200 }
    expect(faultsOf([over, anna({ amount: 0 })])).toEqual(['split[1].amount split.amountTooLow'])
    expect(faultsOf([over], { fee: 10_000 })).toEqual(['split split.sumExceedsAmount'])
  })
})

describe('the sum of the legs', () => {
  const legs = (first: number, second: number) => [
    anna({ amount: first }),
    { recipientId: BRUNO, percentage: 50 },
    { recipientId: CARLA, amount: second },
  ]

  test('may be the whole amount when there is no fee, and not a cent more', () => {
    expect(centsOf(legs(25, 25), { fee: 0 })).toEqual([2_500, 5_000, 2_500])
    expect(faultsOf(legs(25, 25.01), { fee: 0 })).toEqual(['split split.sumExceedsAmount'])
  })

  test('leaves the parent at least its fee, to the cent', () => {
    expect(centsOf(legs(25, 24.01), { fee: 99 })).toEqual([2_500, 5_000, 2_401])
    expect(faultsOf(legs(25, 24.02), { fee: 99 })).toEqual(['split split.parentAmountInsufficientForFees'])
    expect(faultsOf(legs(25, 25), { fee: 1 })).toEqual(['split split.parentAmountInsufficientForFees'])
  })

  test('of percentages is what each is rounded to: the rest is the parent’s', () => {
    const thirds = [ANNA, BRUNO, CARLA].map((recipientId) => ({ recipientId, percentage: 33.3333 }))
    expect(centsOf(thirds, { amount: 100, fee: 0 })).toEqual([33, 33, 33])
    const example = [anna({ percentage: 33.3333 }), { recipientId: BRUNO, percentage: 12.5 }]
    expect(centsOf(example)).toEqual([3_333, 1_250])
  })

  test('over 100 % is too much, unless rounding makes it fit', () => {
    const two = (percentage: number) => [anna({ percentage: 50 }), { recipientId: BRUNO, percentage }]
    expect(faultsOf(two(50.01), { fee: 0 })).toEqual(['split split.sumExceedsAmount'])
    expect(centsOf(two(50.0099), { fee: 0 })).toEqual([5_000, 5_000])
  })

  test('of twenty legs is added up exactly', () => {
    const twenty = Array.from({ length: 20 }, (_, at) => ({ recipientId: uuidOf(100 + at), amount: 4.95 }))
    expect(splitTotal(centsOf(twenty).map((amount) => ({ amount: amount as Cents })))).toBe(9_900)
  })
})

describe('the legs of a renewed sale', () => {
  const legsOf = (...uuids: AccountUuid[]) => uuids.map((recipientUuid) => ({ recipientUuid }))

  test('pass while their recipients are linked and active', () =>
    expect(renewalFaults(legsOf(ANNA, BRUNO), find)).toEqual([]))

  test('are all told by their place when they are not', () =>
    expect(renewalFaults(legsOf(INACTIVE, ANNA, uuidOf(500), INACTIVE), find)).toEqual([
      { field: 'split[0].recipientId', message: 'split.recipientInactive' },
      { field: 'split[2].recipientId', message: 'split.recipientNotFound' },
      { field: 'split[3].recipientId', message: 'split.recipientInactive' },
    ]))
})

describe('the block', () => {
  const leg = (fields: Record<string, unknown> = {}) => ({
    recipientUuid: ANNA,
    transactionId: uuidOf(700) as never,
    amount: 3_333 as Cents,
    share: 333_333 as ShareUnits | null,
    externalReference: 'a' as string | null,
    ...fields,
  })

  test('of a parent has exactly the fields of the contract, numbers as numbers', () => {
    const legs = [leg(), leg({ recipientUuid: BRUNO, amount: 1 as Cents, share: null, externalReference: null })]
    const states = ['SETTLED', 'FAILED'] as const
    expect(parentBlock(10_000 as Cents, legs, (one) => states[legs.indexOf(one as never)]!)).toEqual({
      feePayer: 'PARENT',
      refundLiability: 'PARENT',
      grossAmount: 100,
      parentAmount: 66.66,
      recipients: [
        {
          recipientId: ANNA,
          transactionId: uuidOf(700),
          amount: 33.33,
          percentage: 33.3333,
          externalReference: 'a',
          settlementStatus: 'SETTLED',
        },
        {
          recipientId: BRUNO,
          transactionId: uuidOf(700),
          amount: 0.01,
          percentage: null,
          externalReference: null,
          settlementStatus: 'FAILED',
        },
      ],
    })
  })

  test.each(['PENDING', 'PROCESSING', 'SETTLED', 'FAILED'] as const)('of a recipient, %s', (settlement) =>
    expect(recipientBlock(5_100 as Cents, settlement)).toEqual({
      role: 'RECIPIENT',
      origin: 'SPLIT',
      refundLiability: 'PARENT',
      amountReceived: 51,
      settlementStatus: settlement,
    }),
  )
})

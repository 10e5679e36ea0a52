import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Reply } from '../../../test/harness/api-client.ts'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import { shopper, type TestAccount } from '../../../test/harness/given.ts'
import { AUTHORIZATIONS, checkOut, recurrenceBody, recurrences } from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const given = recurrences(it)

/** Today is 2026-11-16. */
let account: TestAccount
let planId: string
beforeAll(async () => {
  account = await it.given.account()
  planId = await given.plan(account, { frequency: 'MONTHLY' })
})

type Json = Record<string, unknown>
type Fault = readonly [field: string, message: string, code?: string]
const DAY = '2026-11-21'
/** A checkout that is right but for these fields. */
const checkoutWith = (fields: Json) => checkOut(account, { ...recurrenceBody(planId, DAY), ...fields })
const withShopper = (fields: Json) => ({ shopper: { ...shopper, ...fields } })
const withDocument = (type: unknown, number: unknown) => withShopper({ document: { type, number } })
/** `initialDate` is right unless it is among them. */
const recurrence = (fields: Json, calendar: Json = {}) => ({
  recurrence: { planId, calendar: { initialDate: DAY, ...calendar }, ...fields },
})
const calendar = (fields: Json) => recurrence({}, fields)
const amounts = (fields: Json) => recurrence({ amount: fields })
const characters = (count: number) => 'a'.repeat(count)

const errorsOf = (faults: readonly Fault[]) =>
  faults.map(([field, message, code]) => (code === undefined ? { field, message } : { field, message, code }))
function expectRefused(reply: Reply, ...faults: readonly Fault[]) {
  expect([reply.http, reply.body]).toEqual([
    400,
    {
      status: -1,
      message: 'field validation failure',
      errorCount: faults.length,
      errors: errorsOf(faults),
      main_error_message: faults[0]![1],
    },
  ])
}

const tooLittle = (field: string): Fault => [field, 'must be at least 0.01', `${field}.min`]
const noAmount = (field: string): Fault => [
  field,
  'must be a decimal number with at most two decimals, up to 9999999999.99',
  `${field}.invalid`,
]
const badReference: Fault = ['referenceCode', 'must have 1 to 100 characters', 'referenceCode.length']
const badMaxAge: Fault = ['maxAge', 'must be a whole number from 1 to 43200', 'maxAge.limit']
const badCallback: Fault = [
  'callbackURL',
  'must be an http or https address of at most 255 characters',
  'callbackURL.invalid',
]
const badDocument = (message: string): Fault => ['shopper.document.number', message, 'shopper.document.number.invalid']
const noFlag = (name: string): Fault => [`recurrence.${name}`, 'must be true or false', `recurrence.${name}.invalid`]
const noObject = (field: string): Fault => [field, 'must be an object', `${field}.invalid`]
const noPlan: Fault = ['recurrence.planId', 'non-existent plan', 'recurrence.planId.invalid']
const planOff: Fault = ['recurrence.planId', 'plan is not enabled', 'recurrence.planId.invalid']
const first = 'recurrence.calendar.initialDate'
const last = 'recurrence.calendar.finalDate'
const period = 'recurrence.calendar.periodicity'
const noDate = (field: string): Fault => [
  field,
  'must be a date, or a date and time with an offset',
  `${field}.invalid`,
]
const inThePast: Fault = [first, 'must not lie in the past', `${first}.invalid`]
const tooFar: Fault = [first, 'must lie within ten years', `${first}.invalid`]
const endsEarly: Fault = [last, 'must not lie before the initial date', `${last}.invalid`]
const otherPeriod: Fault = [period, 'must be that of the plan', `${period}.invalid`]
const noPeriod: Fault = [period, 'must be one of WEEKLY, MONTHLY, QUARTERLY, SEMIANNUAL, ANNUALLY', `${period}.invalid`]
const recurrenceAmount = 'recurrence.amount.recurrenceAmount'
const minimum = 'recurrence.amount.debitorMinimumAmount'

const refused: [what: string, fields: () => Json, fault: Fault][] = [
  ['no currency', () => ({ currency: null }), ['currency', 'may not be null']],
  ['a blank currency', () => ({ currency: ' ' }), ['currency', 'may not be empty']],
  ['another currency', () => ({ currency: 'USD' }), ['currency', 'must be BRL', 'currency.invalid']],
  ['an amount of nothing', () => ({ amount: 0 }), tooLittle('amount')],
  ['an amount of three decimals', () => ({ amount: 1.001 }), noAmount('amount')],
  ['an amount of words', () => ({ amount: 'R$ 1' }), noAmount('amount')],
  ['no reference', () => ({ referenceCode: undefined }), ['referenceCode', 'may not be null']],
  ['a blank reference', () => ({ referenceCode: '  ' }), ['referenceCode', 'may not be empty']],
  ['a long reference', () => ({ referenceCode: characters(101) }), badReference],
  ['a numeric reference', () => ({ referenceCode: 5 }), badReference],
  ['no time at all', () => ({ maxAge: 0 }), badMaxAge],
  ['a minute too much', () => ({ maxAge: 43_201 }), badMaxAge],
  ['half a minute', () => ({ maxAge: 1.5 }), badMaxAge],
  ['a callback without a scheme', () => ({ callbackURL: 'example.com' }), badCallback],
  ['a long callback', () => ({ callbackURL: `https://example.com/${characters(236)}` }), badCallback],
  ['no shopper', () => ({ shopper: null }), ['shopper', 'may not be null', 'shopper.is_null']],
  ['a shopper of words', () => ({ shopper: 'x' }), ['shopper', 'must be an object', 'shopper.is_null']],
  ['no name', () => withShopper({ name: null }), ['shopper.name', 'may not be null', 'shopper.name.is_null']],
  ['no e-mail', () => withShopper({ email: null }), ['shopper.email', 'may not be null']],
  [
    'no real e-mail',
    () => withShopper({ email: 'x' }),
    ['shopper.email', 'must be an e-mail address', 'shopper.email.invalid'],
  ],
  [
    'nobody known',
    () => withShopper({ document: undefined }),
    ['shopper.document', 'may not be null', 'shopper.document.is_null'],
  ],
  [
    'a document of words',
    () => withShopper({ document: 'x' }),
    ['shopper.document', 'must be an object', 'shopper.document.number.invalid'],
  ],
  ['a document without a type', () => withDocument(null, '52998224725'), ['shopper.document.type', 'may not be null']],
  ['a document without a number', () => withDocument('CPF', ''), ['shopper.document.number', 'may not be empty']],
  [
    'another document',
    () => withDocument('OTHER', 'X1'),
    ['shopper.document.type', 'must be CPF or CNPJ', 'shopper.document.type.invalid'],
  ],
  ['a short CPF', () => withDocument('CPF', '5299822472'), badDocument('must be a CPF')],
  ['a CPF as CNPJ', () => withDocument('CNPJ', '52998224725'), badDocument('must be a CNPJ')],
  [
    'another phone',
    () => withShopper({ phone: { type: 'FAX' } }),
    ['shopper.phone.type', 'must be one of MOBILE, HOME, WORK, OTHER', 'shopper.phone.type.invalid'],
  ],

  ['no recurrence', () => ({ recurrence: undefined }), ['recurrence', 'may not be null']],
  ['a recurrence of words', () => ({ recurrence: 'x' }), noObject('recurrence')],
  ['a list of recurrences', () => ({ recurrence: [] }), noObject('recurrence')],
  ['no plan', () => recurrence({ planId: null }), ['recurrence.planId', 'may not be null']],
  ['a blank plan', () => recurrence({ planId: '' }), ['recurrence.planId', 'may not be empty']],
  [
    'a numeric plan',
    () => recurrence({ planId: 5 }),
    ['recurrence.planId', 'must have at most 100 characters', 'recurrence.planId.invalid'],
  ],
  ['a plan that is not', () => recurrence({ planId: '0'.repeat(24) }), noPlan],
  ['a plan of another shape', () => recurrence({ planId: 'mensal' }), noPlan],
  ['a payment of maybe', () => recurrence({ immediatePayment: 'true' }), noFlag('immediatePayment')],
  ['a retry of one', () => recurrence({ retry: 1 }), noFlag('retry')],
  ['amounts of words', () => recurrence({ amount: 'x' }), noObject('recurrence.amount')],
  ['amounts as one number', () => recurrence({ amount: 10 }), noObject('recurrence.amount')],
  [
    'another type of value',
    () => amounts({ valueType: 'fixed' }),
    ['recurrence.amount.valueType', 'must be one of FIXED, VARIABLE', 'recurrence.amount.valueType.invalid'],
  ],
  ['a fixed amount of nothing', () => amounts({ recurrenceAmount: 0 }), tooLittle(recurrenceAmount)],
  ['a fixed amount of three decimals', () => amounts({ recurrenceAmount: '1.005' }), noAmount(recurrenceAmount)],
  ['a minimum of nothing', () => amounts({ valueType: 'VARIABLE', debitorMinimumAmount: '0.00' }), tooLittle(minimum)],
  ['a minimum below nothing', () => amounts({ debitorMinimumAmount: -1 }), tooLittle(minimum)],
  ['a minimum too large', () => amounts({ debitorMinimumAmount: 10_000_000_000 }), noAmount(minimum)],
  ['no calendar', () => recurrence({ calendar: null }), ['recurrence.calendar', 'may not be null']],
  ['a calendar of words', () => recurrence({ calendar: 'x' }), noObject('recurrence.calendar')],
  ['no first day', () => calendar({ initialDate: null }), [first, 'may not be null']],
  ['a blank first day', () => calendar({ initialDate: '' }), [first, 'may not be empty']],
  ['a first day of no calendar', () => calendar({ initialDate: '2027-02-29' }), noDate(first)],
  ['a first day as in Brazil', () => calendar({ initialDate: '21/11/2026' }), noDate(first)],
  ['a first day without an offset', () => calendar({ initialDate: '2026-11-21T10:00:00' }), noDate(first)],
  ['a first day as a number', () => calendar({ initialDate: 20_261_121 }), noDate(first)],
  ['a first day in the past', () => calendar({ initialDate: '2026-11-15' }), inThePast],
  ['a first day that is past in São Paulo', () => calendar({ initialDate: '2026-11-16T02:59:59Z' }), inThePast],
  ['a first day that nobody sees', () => calendar({ initialDate: '2036-11-24' }), tooFar],
  ['a last day of no calendar', () => calendar({ finalDate: '2026-13-01' }), noDate(last)],
  ['a last day before the first', () => calendar({ finalDate: '2026-11-20' }), endsEarly],
  ['another period', () => calendar({ periodicity: 'DAILY' }), noPeriod],
  ['a period in small letters', () => calendar({ periodicity: 'monthly' }), noPeriod],
  ['not the plan’s period', () => calendar({ periodicity: 'WEEKLY' }), otherPeriod],
  [
    'a payment now of nobody knows how much',
    () => recurrence({ immediatePayment: true }),
    ['amount', 'may not be null'],
  ],
]

const accepted: [what: string, fields: () => Json][] = [
  ['the longest reference', () => ({ referenceCode: characters(100) })],
  ['a reference once more', () => ({ referenceCode: 'again' })],
  ['a reference once more', () => ({ referenceCode: 'again' })],
  ['numbers as text', () => ({ maxAge: '60', amount: '10.00' })],
  ['the longest time', () => ({ maxAge: 43_200 })],
  ['nulls', () => ({ amount: null, maxAge: null, callbackURL: null })],
  ['blanks', () => ({ amount: '', maxAge: '', callbackURL: '' })],
  ['an alphanumeric CNPJ', () => withDocument('CNPJ', '12.ABC.345/01DE-35')],
  ['an invented CPF, in a sandbox', () => withDocument('CPF', '11111111111')],
  ['a shopper without an id', () => withShopper({ id: null })],
  ['a numeric shopper', () => withShopper({ id: 7 })],
  ['no flags', () => recurrence({ immediatePayment: null, retry: null, amount: {} })],
  ['today', () => calendar({ initialDate: '2026-11-16' })],
  ['ten years', () => calendar({ initialDate: '2036-11-23' })],
  ['one day', () => calendar({ finalDate: DAY })],
  ['for ever', () => calendar({ finalDate: '9999-12-31' })],
  ['the plan’s period', () => calendar({ periodicity: 'MONTHLY' })],
  ['what nobody knows', () => ({ paymentMethod: 'BOLETO', unknown: { field: 1 }, status: 'PAID', idRec: 'mine' })],
]

describe('a recurrence checkout', () => {
  test.each(refused)('with %s is refused', async (_what, fields, fault) => {
    expectRefused(await checkoutWith(fields()), fault)
  })

  test.each(accepted)('with %s is accepted', async (_what, fields) => {
    const reply = await checkoutWith(fields())
    expect([reply.http, reply.body.status], reply.text).toEqual([200, 0])
  })

  test('takes no disabled plan and says so, until it is enabled', async () => {
    const disabled = await given.plan(account, { enabled: false })
    expectRefused(await checkoutWith(recurrence({ planId: disabled })), planOff)
    await account.api.put(`/v1.1/pix-automatic/plans/${disabled}`, { enabled: true })
    expect((await checkoutWith(recurrence({ planId: disabled }))).http).toBe(200)
  })

  test('knows no plan of another account', async () => {
    const theirs = await given.plan(await it.given.account())
    expectRefused(await checkoutWith(recurrence({ planId: theirs })), noPlan)
  })

  test('is forbidden without credentials', async () => {
    const { http, body } = await it.api.post('/v1.1/checkout/pix-automatic', recurrenceBody(planId, DAY))
    expect([http, body.errors]).toEqual([403, [{ error: 'Forbidden', message: 'Access Denied' }]])
  })

  test('verifies check digits where money is real', async () => {
    const production = await anotherService(it, { env: 'production' })
    onTestFinished(() => production.close())
    const api = production.api.as({ 'x-api-key': account.apiKey, 'x-api-token': account.apiToken })
    const ask = (type: string, number: string) =>
      checkOut({ ...account, api }, { ...recurrenceBody(planId, DAY), ...withDocument(type, number) })
    expectRefused(await ask('CPF', '11111111111'), badDocument('must be a CPF'))
    expectRefused(await ask('CNPJ', '11222333000180'), badDocument('must be a CNPJ'))
    expect((await ask('CPF', '52998224725')).http).toBe(200)
  })
})

describe('several faults', () => {
  test('of the fields are all in one answer, in the documented order', async () => {
    const { http, body } = await checkOut(account, {
      recurrence: {
        calendar: { periodicity: 'x', finalDate: 'x', initialDate: 'x' },
        amount: { debitorMinimumAmount: 'x', recurrenceAmount: 'x', valueType: 'x' },
        retry: 'x',
        immediatePayment: 'x',
        planId: 5,
      },
      shopper: {
        bankDetails: 1,
        phone: { number: characters(26), type: 'x' },
        document: { number: 'x', type: 'x' },
        email: 'x',
        name: '',
        id: [],
      },
      callbackURL: 'x',
      maxAge: 0,
      referenceCode: characters(101),
      amount: 'x',
      currency: 'x',
    })
    expect(http).toBe(400)
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'currency',
      'amount',
      'referenceCode',
      'maxAge',
      'callbackURL',
      'shopper.id',
      'shopper.name',
      'shopper.email',
      'shopper.document.type',
      'shopper.document.number',
      'shopper.phone.type',
      'shopper.phone.number',
      'shopper.bankDetails',
      'recurrence.planId',
      'recurrence.immediatePayment',
      'recurrence.retry',
      'recurrence.amount.valueType',
      recurrenceAmount,
      minimum,
      first,
      last,
      period,
    ])
    expect([body.errorCount, body.main_error_message]).toEqual([22, 'must be BRL'])
  })

  test('of what the plan and the day say, too', async () => {
    const wrong = { initialDate: '2026-11-15', finalDate: '2026-11-14', periodicity: 'WEEKLY' }
    expectRefused(
      await checkoutWith(recurrence({ immediatePayment: true }, wrong)),
      ['amount', 'may not be null'],
      inThePast,
      endsEarly,
      otherPeriod,
    )
    expectRefused(await checkoutWith(recurrence({ planId: 'mensal' }, wrong)), noPlan, inThePast, endsEarly)
  })

  test.each([{}, null, [], 'text', 5, undefined])('a body of %j lacks every required field', async (body) => {
    expectRefused(
      await checkOut(account, body),
      ['currency', 'may not be null'],
      ['referenceCode', 'may not be null'],
      ['shopper', 'may not be null', 'shopper.is_null'],
      ['recurrence', 'may not be null'],
    )
  })

  test('leave nothing behind', async () => {
    const fresh = await it.given.account()
    const plan = await given.plan(fresh)
    const body = recurrenceBody(plan, '2026-11-15', { amount: 5 }, { immediatePayment: true })
    expectRefused(await checkOut(fresh, body), inThePast)
    expect((await fresh.api.get(AUTHORIZATIONS)).body.totalElements).toBe(0)
    expect((await fresh.api.get('/v1.1/transactions')).body.totalElements).toBe(0)
    expect((await fresh.api.get(`/v1.1/pix-automatic/plans/${plan}`)).body.totalAuthorizations).toBe(0)
  })
})

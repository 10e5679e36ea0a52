import { beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../../../test/harness/api-client.ts'
import { checkoutBody, shopper, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()

let account: TestAccount
beforeAll(async () => {
  account = await it.given.account()
})

type Json = Record<string, unknown>
const checkout = (body: unknown): Promise<Reply> => account.api.post('/v1.1/checkout/transparent', body)
/** A checkout that is right but for these fields. */
const checkoutWith = (fields: Json) => checkout(checkoutBody(fields))
const withShopper = (fields: Json) => ({ shopper: { ...shopper, ...fields } })
const withDocument = (type: unknown, number: unknown) => withShopper({ document: { type, number } })
const characters = (count: number) => 'a'.repeat(count)
const urlOf = (length: number) => `https://example.com/${characters(length - 20)}`
const jsonOfBytes = (bytes: number) => ({ a: characters(bytes - '{"a":""}'.length) })

const tooLittle = ['amount', 'must be at least 0.01', 'amount.min'] as const
const noAmount = [
  'amount',
  'must be a decimal number with at most two decimals, up to 9999999999.99',
  'amount.invalid',
] as const
const reference = ['referenceCode', 'must have 1 to 100 characters', 'referenceCode.length'] as const
const maxAge = ['maxAge', 'must be a whole number from 1 to 43200', 'maxAge.limit'] as const
const method = ['paymentMethod', 'unknown payment method', 'paymentMethod.invalid'] as const
const discontinued = [
  'paymentMethod',
  'bank transfer and cash deposit are discontinued',
  'bank_transfer.discontinued',
] as const
const callback = [
  'callbackURL',
  'must be an http or https address of at most 255 characters',
  'callbackURL.invalid',
] as const
const noShopper = ['shopper', 'may not be null', 'shopper.is_null'] as const
const mail = ['shopper.email', 'must be an e-mail address', 'shopper.email.invalid'] as const
const name = ['shopper.name', 'must have at most 255 characters', 'shopper.name.length'] as const
const documentType = [
  'shopper.document.type',
  'must be one of CPF, CNPJ, OTHER',
  'shopper.document.type.invalid',
] as const
const documentNumber = (message: string) =>
  ['shopper.document.number', message, 'shopper.document.number.invalid'] as const
const phoneType = [
  'shopper.phone.type',
  'must be one of MOBILE, HOME, WORK, OTHER',
  'shopper.phone.type.invalid',
] as const
const taxData = ['taxData', 'must be JSON of at most 8192 bytes', 'taxData.invalid'] as const

type Fault = readonly [field: string, message: string, code?: string]

const refused: [fields: Json, fault: Fault][] = [
  [{ currency: undefined }, ['currency', 'may not be null']],
  [{ currency: null }, ['currency', 'may not be null']],
  [{ currency: ' ' }, ['currency', 'may not be empty']],
  [{ currency: 'USD' }, ['currency', 'must be BRL', 'currency.invalid']],
  [{ currency: 'brl' }, ['currency', 'must be BRL', 'currency.invalid']],
  [{ currency: 986 }, ['currency', 'must be BRL', 'currency.invalid']],

  [{ amount: null }, ['amount', 'may not be null']],
  [{ amount: '' }, ['amount', 'may not be empty']],
  [{ amount: 0 }, tooLittle],
  [{ amount: -1 }, tooLittle],
  [{ amount: '0.00' }, tooLittle],
  [{ amount: 0.001 }, noAmount],
  [{ amount: '1.005' }, noAmount],
  [{ amount: 10_000_000_000 }, noAmount],
  [{ amount: '10000000000' }, noAmount],
  [{ amount: '9999999999.999' }, noAmount],
  [{ amount: '1,00' }, noAmount],
  [{ amount: '+1' }, noAmount],
  [{ amount: '-1' }, noAmount],
  [{ amount: '1e2' }, noAmount],
  [{ amount: ' 1' }, noAmount],
  [{ amount: 'R$ 1' }, noAmount],
  [{ amount: true }, noAmount],
  [{ amount: [1] }, noAmount],
  [{ amount: { value: 1 } }, noAmount],

  [{ referenceCode: null }, ['referenceCode', 'may not be null']],
  [{ referenceCode: '   ' }, ['referenceCode', 'may not be empty']],
  [{ referenceCode: characters(101) }, reference],
  [{ referenceCode: 'a\u0000b' }, reference],
  [{ referenceCode: 5 }, reference],
  [{ referenceCode: ['a'] }, reference],

  [{ maxAge: 0 }, maxAge],
  [{ maxAge: 43_201 }, maxAge],
  [{ maxAge: -1 }, maxAge],
  [{ maxAge: 1.5 }, maxAge],
  [{ maxAge: 'soon' }, maxAge],
  [{ maxAge: true }, maxAge],
  [{ maxAge: [5] }, maxAge],

  [{ paymentMethod: null }, ['paymentMethod', 'may not be null']],
  [{ paymentMethod: '' }, ['paymentMethod', 'may not be empty']],
  [{ paymentMethod: 'pix' }, method],
  [{ paymentMethod: 'BITCOIN' }, method],
  [{ paymentMethod: 5 }, method],
  [{ paymentMethod: ['PIX'] }, method],
  [{ paymentMethod: 'BOLETO' }, method],
  [{ paymentMethod: 'BOLETO_PIX' }, method],
  [{ paymentMethod: 'CREDIT_CARD' }, method],
  [{ paymentMethod: 'INITIATOR' }, method],
  ...['BB', 'BRADESCO', 'CAIXA', 'ITAU', 'SANTANDER', 'ORIGINAL', 'INTER', 'BS2'].map((bank): [Json, Fault] => [
    { paymentMethod: `${bank}_TRANSFER` },
    discontinued,
  ]),
  ...['BB', 'ITAU', 'SANTANDER'].map((bank): [Json, Fault] => [{ paymentMethod: `${bank}_CASH` }, discontinued]),

  [{ callbackURL: 'example.com' }, callback],
  [{ callbackURL: 'ftp://example.com' }, callback],
  [{ callbackURL: 'https://' }, callback],
  [{ callbackURL: urlOf(256) }, callback],
  [{ callbackURL: 'https://exam\nple.com' }, callback],
  [{ callbackURL: 5 }, callback],
  [
    { redirectURL: 'example.com' },
    ['redirectURL', 'must be an http or https address of at most 255 characters', 'redirectURL.invalid'],
  ],
  [{ observation: characters(256) }, ['observation', 'must have at most 255 characters', 'observation.length']],

  [{ shopper: undefined }, noShopper],
  [{ shopper: null }, noShopper],
  [{ shopper: '' }, ['shopper', 'may not be empty', 'shopper.is_null']],
  [{ shopper: [] }, ['shopper', 'must be an object', 'shopper.is_null']],
  [{ shopper: 'Maria' }, ['shopper', 'must be an object', 'shopper.is_null']],
  [withShopper({ id: characters(256) }), ['shopper.id', 'must have at most 255 characters', 'shopper.id.invalid']],
  [withShopper({ id: {} }), ['shopper.id', 'must have at most 255 characters', 'shopper.id.invalid']],
  [withShopper({ name: null }), ['shopper.name', 'may not be null', 'shopper.name.is_null']],
  [withShopper({ name: ' ' }), ['shopper.name', 'may not be empty', 'shopper.name.is_null']],
  [withShopper({ name: characters(256) }), name],
  [withShopper({ name: 'Maria\u0000' }), name],
  [withShopper({ name: 5 }), name],
  [withShopper({ email: null }), ['shopper.email', 'may not be null']],
  [withShopper({ email: '' }), ['shopper.email', 'may not be empty']],
  [withShopper({ email: 'maria' }), mail],
  [withShopper({ email: 'maria@example' }), mail],
  [withShopper({ email: 'a b@example.com' }), mail],
  [withShopper({ email: `${characters(244)}@example.com` }), mail],
  [withShopper({ document: 'x' }), ['shopper.document', 'must be an object', 'shopper.document.number.invalid']],
  [withDocument(null, '52998224725'), ['shopper.document.type', 'may not be null']],
  [withDocument('RG', '52998224725'), documentType],
  [withDocument('cpf', '52998224725'), documentType],
  [withDocument('CPF', null), ['shopper.document.number', 'may not be null']],
  [withDocument('CPF', ''), ['shopper.document.number', 'may not be empty']],
  [withDocument('CPF', '5299822472'), documentNumber('must be a CPF')],
  [withDocument('CPF', '529982247255'), documentNumber('must be a CPF')],
  [withDocument('CPF', '5299822472A'), documentNumber('must be a CPF')],
  [withDocument('CPF', 52998224725), documentNumber('must have 2 to 25 characters')],
  [withDocument('CNPJ', '52998224725'), documentNumber('must be a CNPJ')],
  [withDocument('CNPJ', '12ABC34501DE3X'), documentNumber('must be a CNPJ')],
  [withDocument('OTHER', 'x'), documentNumber('must have 2 to 25 characters')],
  [withDocument('OTHER', characters(26)), documentNumber('must have 2 to 25 characters')],
  [withShopper({ phone: 'x' }), ['shopper.phone', 'must be an object', 'shopper.phone.type.invalid']],
  [withShopper({ phone: { type: 'FAX', number: '1' } }), phoneType],
  [
    withShopper({ phone: { type: 'HOME', number: characters(26) } }),
    ['shopper.phone.number', 'must have at most 25 characters', 'shopper.phone.number.invalid'],
  ],
  [
    withShopper({ bankDetails: { bank: characters(61) } }),
    ['shopper.bankDetails.bank', 'must have at most 60 characters', 'shopper.bankDetails.bank.invalid'],
  ],

  [{ taxData: [] }, taxData],
  [{ taxData: 'x' }, taxData],
  [{ taxData: jsonOfBytes(8_193) }, taxData],

  [{ split: [] }, ['split', 'split.notEnabled']],
  [{ split: [{ recipientId: 'x', amount: 1 }] }, ['split', 'split.notEnabled']],
  [{ split: 'x' }, ['split', 'split.notEnabled']],
  [{ split: false }, ['split', 'split.notEnabled']],
  [{ split: [], paymentMethod: 'BOLETO' }, ['split', 'split.notEnabled']],
  [{ split: [], paymentMethod: 'BITCOIN' }, method],
  [{ split: [], paymentMethod: 'BB_TRANSFER' }, discontinued],
]

const accepted: Json[] = [
  { amount: 0.01 },
  { amount: 0.3 },
  { amount: 9999999999.99 },
  { amount: '9999999999.99' },
  { amount: '1' },
  { referenceCode: 'a' },
  { referenceCode: characters(100) },
  { referenceCode: '👍'.repeat(100) },
  { maxAge: 1 },
  { maxAge: 43_200 },
  { maxAge: '60' },
  { maxAge: null },
  { callbackURL: urlOf(255) },
  { callbackURL: 'http://127.0.0.1:9/hook?a=1' },
  { callbackURL: null },
  { callbackURL: '' },
  { redirectURL: urlOf(255), observation: characters(255) },
  withShopper({ id: null }),
  withShopper({ id: 7 }),
  withShopper({ name: characters(255) }),
  withShopper({ email: `${characters(243)}@example.com` }),
  withShopper({ document: null, phone: null, bankDetails: null }),
  withDocument('CPF', '529.982.247-25'),
  withDocument('CPF', '11111111111'),
  withDocument('CNPJ', '11.222.333/0001-81'),
  withDocument('CNPJ', '12.ABC.345/01DE-35'),
  withDocument('CNPJ', '12abc34501de35'),
  withDocument('OTHER', 'X1'),
  withDocument('OTHER', characters(25)),
  ...['MOBILE', 'HOME', 'WORK', 'OTHER'].map((type) => withShopper({ phone: { type, number: characters(25) } })),
  withShopper({ phone: {} }),
  withShopper({ bankDetails: { bank: '001', branch: '0001', account: '1-9' } }),
  { taxData: jsonOfBytes(8_192) },
  { taxData: {} },
  { sellersTransactions: [{ any: 'thing' }], recurrence: { any: 'thing' } },
  { scheduledDate: 'whenever', schedule: 5, scheduling: [] },
  { split: null },
  { dueDate: 'ignored', unknown: { field: 1 }, status: 'PAID', id: 1, uuid: 'mine' },
  { taxData: { text: 'NUL \u0000 in kept JSON is only kept' } },
]

describe('a checkout', () => {
  test.each(refused)('with %j is refused', async (fields, [field, message, code]) => {
    const reply = await checkoutWith(fields)
    expect([reply.http, reply.body]).toEqual([
      400,
      {
        status: -1,
        message: 'validation failure',
        errorCount: 1,
        errors: [code === undefined ? { field, message } : { field, message, code }],
        main_error_message: message,
      },
    ])
  })

  test.each(accepted.map((fields) => [fields]))('with %j is accepted', async (fields) => {
    const reply = await checkoutWith(fields)
    expect([reply.http, reply.body.status], reply.text).toEqual([200, 0])
  })
})

describe('several broken fields', () => {
  const allBroken = {
    split: [{ amount: 'x' }],
    taxData: 1,
    shopper: {
      bankDetails: 1,
      phone: { number: characters(26), type: 'x' },
      document: { number: 'x', type: 'x' },
      email: 'x',
      name: '',
      id: [],
    },
    redirectURL: 'x',
    observation: 5,
    callbackURL: 'x',
    paymentMethod: 'x',
    maxAge: 0,
    referenceCode: characters(101),
    amount: 'x',
    currency: 'x',
  }

  test('are all in one answer, in the documented order, and split waits for the fields', async () => {
    const { http, body } = await checkout(allBroken)
    expect(http).toBe(400)
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'currency',
      'amount',
      'referenceCode',
      'maxAge',
      'paymentMethod',
      'callbackURL',
      'observation',
      'redirectURL',
      'shopper.id',
      'shopper.name',
      'shopper.email',
      'shopper.document.type',
      'shopper.document.number',
      'shopper.phone.type',
      'shopper.phone.number',
      'shopper.bankDetails',
      'taxData',
    ])
    expect([body.errorCount, body.main_error_message]).toEqual([17, 'must be BRL'])
  })

  test.each([{}, null, [], 'text', 5])('a body of %j lacks every required field', async (body) => {
    const reply = await account.api.post('/v1.1/checkout/transparent', body)
    expect([reply.http, reply.body.errors]).toEqual([
      400,
      [
        { field: 'currency', message: 'may not be null' },
        { field: 'amount', message: 'may not be null' },
        { field: 'referenceCode', message: 'may not be null' },
        { field: 'paymentMethod', message: 'may not be null' },
        { field: 'shopper', message: 'may not be null', code: 'shopper.is_null' },
      ],
    ])
  })

  test('leave nothing behind: no sale, no count, no reference taken', async () => {
    const fresh = await it.given.account({ uniqueReferenceCode: true })
    await fresh.api.post('/v1.1/checkout/transparent', checkoutBody({ referenceCode: 'once', amount: 0 }))
    expect((await fresh.api.get('/v1.1/transactions')).body).toMatchObject({ totalElements: 0, result: [] })
    await it.given.sale(fresh, { referenceCode: 'once' })
  })
})

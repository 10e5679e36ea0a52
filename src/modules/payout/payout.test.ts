import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import {
  accepted,
  hear,
  linesOf,
  moneyOf,
  payOut,
  payoutBody,
  railReport,
  simulate,
} from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { SECOND_MS } from '../../kernel/calendar.ts'
import { movePayout, type PayoutState, payoutStates } from './payout.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const NOON = '2026-11-16 12:00:00'
const FEE = { fees: { PAYOUT: { fixed: 1.5 } } }

/** 99.01 available; nothing settles by itself. */
async function shop(settings: Record<string, unknown> = {}): Promise<TestAccount> {
  const account = await it.given.account({ autoSettle: false, ...settings })
  await it.given.paidSale(account)
  return account
}
const query = (account: TestAccount, uuid: string) => account.api.get(`/v1.1/payout/${uuid}`)
const cancel = (account: TestAccount, uuid: string, body?: unknown) =>
  account.api.put(`/v1.1/payout/${uuid}/cancel`, body)
const unknown = {
  status: 998,
  message: 'transaction not found',
  errorCount: 1,
  errors: [{ field: 'uuid', message: 'non-existent transaction' }],
}
const notPending = {
  status: 999,
  message: 'transaction not PENDING',
  errorCount: 1,
  errors: [{ field: 'transactionToken', message: 'invalid transaction situation' }],
}
const notCovered = {
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [
    {
      field: 'amount',
      message: 'the balance does not cover the amount and its fee',
      code: 'payout.insufficientBalance',
    },
  ],
}
const bank = { type: 'CHECKING', bankCode: '341', branch: '0001', account: '12345-6' }

describe('the states of a payout', () => {
  test('PENDING ends once, as PAID, CANCELLED or FAILED', () => {
    const table = payoutStates.flatMap((from) =>
      (['paid', 'cancelled', 'failed'] as const).map((on) => `${from} ${on} ${movePayout(from, on) ?? '-'}`),
    )
    const final = (['PAID', 'CANCELLED', 'FAILED'] as PayoutState[]).flatMap((from) =>
      ['paid', 'cancelled', 'failed'].map((on) => `${from} ${on} -`),
    )
    expect(table).toEqual(['PENDING paid PAID', 'PENDING cancelled CANCELLED', 'PENDING failed FAILED', ...final])
  })
})

describe('a payout that is accepted', () => {
  test('answers with all of it, and so does its query', async () => {
    it.clock.set(NOON)
    const account = await shop(FEE)
    const beneficiary = {
      name: 'Fornecedor Ltda',
      email: 'fornecedor@example.com',
      document: { type: 'CNPJ', number: '11222333000181' },
      bankDetails: bank,
    }
    const made = await payOut(account, { amount: '25.50', referenceCode: 'p 1', beneficiary, notes: 'março' })
    const expected = {
      status: 0,
      message: 'success',
      id: expect.any(Number),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'PAYOUT',
      situation: 'PENDING',
      currency: 'BRL',
      amount: 25.5,
      serviceFee: 1.5,
      total: 27,
      referenceCode: 'p 1',
      creation: NOON,
      processingDate: null,
      notes: 'março',
      beneficiary,
    }
    expect([made.http, made.body]).toEqual([200, expected])
    expect((await query(account, made.body.uuid)).body).toEqual(made.body)
  })

  test.each([
    ['a whole bank account', { bankDetails: bank }, { bankDetails: bank }],
    ['a savings account', { bankDetails: { ...bank, type: 'SAVING' } }, { bankDetails: { ...bank, type: 'SAVING' } }],
    ['a PIX key among the bank details', { bankDetails: { pixKey: 'k' } }, { bankDetails: { pixKey: 'k' } }],
    ['a PIX key of the beneficiary', { pixKey: 'k' }, { bankDetails: { pixKey: 'k' } }],
    ['one PIX key said twice', { pixKey: 'k', bankDetails: { pixKey: 'k' } }, { bankDetails: { pixKey: 'k' } }],
    ['an account beside an empty PIX key', { pixKey: '', bankDetails: bank }, { bankDetails: bank }],
  ])('goes to %s', async (_what, asked, kept) => {
    const account = await shop()
    const { body } = await payOut(account, { beneficiary: { name: 'Ana', ...asked } })
    expect(body.beneficiary).toEqual({ name: 'Ana', ...kept })
  })

  test('is held with its fee from the start, and gone when it is paid', async () => {
    it.clock.set(NOON)
    const account = await shop(FEE)
    const uuid = await accepted(payOut(account, { amount: 40 }))
    expect(await moneyOf(account)).toEqual({ available: 57.51, blocked: 40 })
    it.clock.advance(60 * SECOND_MS)
    await simulate(account, 'payout', uuid, 'paid')
    expect(await moneyOf(account)).toEqual({ available: 57.51, blocked: 0 })
    expect((await query(account, uuid)).body).toMatchObject({
      situation: 'PAID',
      processingDate: '2026-11-16 12:01:00',
    })
    expect((await linesOf(account)).slice(0, 2)).toEqual([
      ['PAYOUT_FEE', -1.5],
      ['PAYOUT', -40],
    ])
  })

  test('is in the statement under its own uuid', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account, { amount: 40 }))
    const [line] = (await account.api.get('/v1.1/statement')).body.result
    expect(line).toMatchObject({ type: 'PAYOUT', saleToken: uuid, amount: -40, balance: 59.01 })
  })

  test('is made once per key', async () => {
    const account = await shop()
    const headers = { 'idempotency-key': randomUUID() }
    const body = payoutBody({ amount: 60 })
    const ask = () => account.api.post('/v1.1/payout/create', body, { headers })
    const [first, again] = [await ask(), await ask()]
    expect([again.http, again.headers['idempotency-replayed'], again.body]).toEqual([200, 'true', first.body])
    expect(await moneyOf(account)).toEqual({ available: 39.01, blocked: 60 })
  })
})

describe('the money for a payout', () => {
  test('is the amount and the fee, to the cent', async () => {
    const account = await shop(FEE)
    const refused = await payOut(account, { amount: 97.52 })
    expect([refused.http, refused.body]).toEqual([400, notCovered])
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
    await accepted(payOut(account, { amount: 97.51 }))
    expect(await moneyOf(account)).toEqual({ available: 0, blocked: 97.51 })
    expect((await payOut(account, { amount: 0.01 })).body).toEqual(notCovered)
  })

  test('is the balance alone: the overdraft is for refunds', async () => {
    const account = await shop({ overdraftLimit: 1_000 })
    expect((await payOut(account, { amount: 99.02 })).body).toEqual(notCovered)
    await accepted(payOut(account, { amount: 99.01 }))
  })

  test('keeps the fee of the day it was made', async () => {
    const account = await shop(FEE)
    const uuid = await accepted(payOut(account, { amount: 10 }))
    await account.api.put('/v1.1/sandbox/account', { fees: { PAYOUT: { fixed: 5 } } })
    expect((await cancel(account, uuid)).body.serviceFee).toBe(1.5)
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })
})

describe('a payout is refused', () => {
  test.each([
    ['amount', { amount: undefined }],
    ['amount', { amount: 0 }],
    ['amount', { amount: -1 }],
    ['amount', { amount: 1.005 }],
    ['currency', { currency: undefined }],
    ['currency', { currency: 'USD' }],
    ['referenceCode', { referenceCode: ' ' }],
    ['referenceCode', { referenceCode: 'x'.repeat(101) }],
    ['beneficiary', { beneficiary: undefined }],
    ['beneficiary', { beneficiary: 'Ana' }],
    ['beneficiary.name', { beneficiary: { pixKey: 'k' } }],
    ['beneficiary.email', { beneficiary: { name: 'Ana', pixKey: 'k', email: 'x' } }],
    ['beneficiary.document.type', { beneficiary: { name: 'Ana', pixKey: 'k', document: { number: '123' } } }],
    ['beneficiary.pixKey', { beneficiary: { name: 'Ana', pixKey: 'k'.repeat(78) } }],
    ['beneficiary.bankDetails', { beneficiary: { name: 'Ana' } }],
    ['beneficiary.bankDetails', { beneficiary: { name: 'Ana', pixKey: ' ' } }],
    ['beneficiary.bankDetails', { beneficiary: { name: 'Ana', bankDetails: 'x' } }],
    ['beneficiary.pixKey', { beneficiary: { name: 'Ana', pixKey: 'k', bankDetails: { pixKey: 'other' } } }],
    ['beneficiary.bankDetails', { beneficiary: { name: 'Ana', pixKey: 'k', bankDetails: bank } }],
    ['beneficiary.bankDetails', { beneficiary: { name: 'Ana', bankDetails: { ...bank, pixKey: 'k' } } }],
    ['beneficiary.bankDetails', { beneficiary: { name: 'Ana', bankDetails: { account: '1', pixKey: 'k' } } }],
    ['beneficiary.bankDetails.type', { beneficiary: { name: 'Ana', bankDetails: { ...bank, type: 'OTHER' } } }],
    ['beneficiary.bankDetails.bankCode', { beneficiary: { name: 'Ana', bankDetails: { ...bank, bankCode: null } } }],
    ['beneficiary.bankDetails.branch', { beneficiary: { name: 'Ana', bankDetails: { ...bank, branch: '' } } }],
    ['beneficiary.bankDetails.account', { beneficiary: { name: 'Ana', bankDetails: { ...bank, account: null } } }],
    ['callbackURL', { callbackURL: 'javascript:alert(1)' }],
    ['notes', { notes: 'x'.repeat(256) }],
  ])('for its %s: %o', async (field, fields) => {
    const account = await shop()
    const { http, body } = await payOut(account, fields)
    expect([http, body.status, body.message]).toEqual([400, -1, 'field validation failure'])
    expect(body.errors.map((error: { field: string }) => error.field)).toEqual([field])
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })

  const ofBank = ['type', 'bankCode', 'branch', 'account'].map((name) => `beneficiary.bankDetails.${name}`)
  test.each([
    ['nobody and nowhere', {}, ['beneficiary.name', 'beneficiary.bankDetails']],
    ['an empty account', { bankDetails: {} }, ['beneficiary.name', ...ofBank]],
    ['half an account', { name: 'Ana', bankDetails: { branch: '1' } }, [ofBank[0], ofBank[1], ofBank[3]]],
    [
      'a wrong account that is not whole',
      { name: 'Ana', email: 'x', bankDetails: { type: 'OTHER', branch: '1'.repeat(11) } },
      ['beneficiary.email', ...ofBank],
    ],
    [
      'a wrong key and no name',
      { bankDetails: { pixKey: 'k'.repeat(78) }, document: {} },
      [
        'beneficiary.name',
        'beneficiary.document.type',
        'beneficiary.document.number',
        'beneficiary.bankDetails.pixKey',
      ],
    ],
  ])('for all that is wrong with its beneficiary: %s', async (_what, beneficiary, fields) => {
    const { http, body } = await payOut(await shop(), { beneficiary })
    expect([http, body.errors.map((error: { field: string }) => error.field)]).toEqual([400, fields])
  })

  test('in words that say what would do', async () => {
    const account = await shop()
    const messagesOf = async (beneficiary: object) =>
      (await payOut(account, { beneficiary: { name: 'Ana', ...beneficiary } })).body.errors.map(
        ({ message }: { message: string }) => message,
      )
    expect(await messagesOf({})).toEqual(['must have a pixKey, or a type, bankCode, branch and account'])
    expect(await messagesOf({ bankDetails: {} })).toEqual(Array(4).fill('may not be null'))
    expect(await messagesOf({ pixKey: 'k', bankDetails: bank })).toEqual(['must have a pixKey or an account, not both'])
    expect(await messagesOf({ pixKey: 'k', bankDetails: { pixKey: 'l' } })).toEqual(['differs from bankDetails.pixKey'])
  })

  test('for all of its fields in one answer, in their order', async () => {
    const { body } = await (await shop()).api.post('/v1.1/payout/create', { notes: 7 })
    expect(body.errors.map((error: { field: string }) => error.field)).toEqual([
      'amount',
      'currency',
      'referenceCode',
      'beneficiary',
      'notes',
    ])
  })
})

describe('a payout is cancelled by its merchant', () => {
  const ways = [
    ['PUT', (account: TestAccount, uuid: string) => cancel(account, uuid, { reason: 'changed my mind' })],
    [
      'DELETE',
      (account: TestAccount, uuid: string) => account.api.send('DELETE', '/v1.1/payout', { uuid, reason: 'x' }),
    ],
  ] as const

  test.each(ways)('by %s while it is pending: amount and fee come back', async (_method, way) => {
    const account = await shop(FEE)
    const uuid = await accepted(payOut(account, { amount: 40 }))
    const { http, body } = await way(account, uuid)
    expect([http, body]).toMatchObject([200, { status: 0, uuid, situation: 'CANCELLED', processingDate: null }])
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
    expect((await linesOf(account)).slice(0, 4)).toEqual([
      ['PAYOUT_RETURNED', 1.5],
      ['PAYOUT_RETURNED', 40],
      ['PAYOUT_FEE', -1.5],
      ['PAYOUT', -40],
    ])
  })

  test.each(ways)('by %s never twice, nor after it has ended', async (_method, way) => {
    const account = await shop()
    const [twice, paid, failed] = [
      await accepted(payOut(account)),
      await accepted(payOut(account)),
      await accepted(payOut(account)),
    ]
    await cancel(account, twice)
    await simulate(account, 'payout', paid, 'paid')
    await simulate(account, 'payout', failed, 'failed/PE0004')
    for (const uuid of [twice, paid, failed]) {
      const { http, body } = await way(account, uuid)
      expect([http, body]).toEqual([400, notPending])
    }
    expect(await moneyOf(account)).toEqual({ available: 89.01, blocked: 0 })
  })

  test.each(ways)('by %s is not found when it is unknown, another’s, or no uuid', async (_method, way) => {
    const [account, other] = [await shop(), await shop()]
    const foreign = await accepted(payOut(other))
    for (const uuid of [randomUUID(), foreign, 'nothing']) {
      const { http, body } = await way(account, uuid)
      expect([http, body]).toEqual([404, unknown])
    }
    expect((await query(other, foreign)).body.situation).toBe('PENDING')
  })

  test.each([undefined, {}, { uuid: null }])('by DELETE needs a uuid: %o', async (body) => {
    const reply = await (await shop()).api.send('DELETE', '/v1.1/payout', body)
    expect([reply.http, reply.body.errors]).toEqual([400, [{ field: 'uuid', message: 'may not be null' }]])
  })

  test('needs no body, and keeps the reason of one that has it', async () => {
    const account = await shop()
    const [plain, told] = [await accepted(payOut(account)), await accepted(payOut(account))]
    expect((await cancel(account, plain)).http).toBe(200)
    await cancel(account, told, { reason: 'wrong key' })
    expect((await cancel(account, told, { reason: 'x'.repeat(256) })).body.errors[0].field).toBe('reason')
    const rows = await it.rows(
      'select cancel_reason from payout where id = any($1::uuid[]) order by cancel_reason nulls first',
      [[plain, told]],
    )
    expect(rows).toEqual([{ cancel_reason: null }, { cancel_reason: 'wrong key' }])
  })

  test('takes its order back: what the rail says of it afterwards changes nothing', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account))
    await cancel(account, uuid)
    expect(await hear(it, await railReport(it, account, 'PAYOUT', uuid))).toBe('conflict')
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })
})

describe('the query of a payout', () => {
  test('does not find one that is unknown, another’s, or no uuid', async () => {
    const [account, other] = [await shop(), await shop()]
    const foreign = await accepted(payOut(other))
    for (const uuid of [randomUUID(), foreign, 'nothing']) {
      const { http, body } = await query(account, uuid)
      expect([http, body]).toEqual([404, unknown])
    }
  })
})

describe('a payout fails', () => {
  test.each(['PE0001', 'PE0002', 'PE0003', 'PE0004'])('with %s: amount and fee come back', async (code) => {
    const account = await shop(FEE)
    const uuid = await accepted(payOut(account, { amount: 40 }))
    await simulate(account, 'payout', uuid, `failed/${code}`)
    expect((await query(account, uuid)).body).toMatchObject({ situation: 'FAILED', error_code: code })
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })
})

describe('PAYOUT_PAID and PAYOUT_FAILED', () => {
  const told = (hook: string) => ({ payout: { url: hook, enabled: true } })
  async function toldShop(settings = told) {
    const account = await merchant(settings)
    await account.api.put('/v1.1/sandbox/account', { autoSettle: false })
    await it.given.paidSale(account)
    return account
  }
  const body = (uuid: string, id: number) => ({
    id,
    uuid,
    currency: 'BRL',
    amount: 40,
    status: 'PAID',
    referenceCode: 'p 1',
    bankDetails: { bank: '341', branch: '0001', account: '12345-6' },
    creation: NOON,
    receipt: '',
    date: '2026-11-16 12:01:00',
    receiptDate: '2026-11-16 12:01:00',
  })
  const asked = { amount: 40, referenceCode: 'p 1', beneficiary: { name: 'Ana', bankDetails: bank } }

  test('success: in the fields of the interface, with type=payout', async () => {
    it.clock.set(NOON)
    const account = await toldShop()
    const { uuid, id } = (await payOut(account, asked)).body
    it.clock.advance(60 * SECOND_MS)
    await simulate(account, 'payout', uuid, 'paid')
    await settle()
    expect(account.calls().map((call) => [call.url.split('?')[1], call.text])).toEqual([
      ['type=payout', JSON.stringify({ success: true, message: 'success', ...body(uuid, id) })],
    ])
  })

  test.each([
    ['PE0001', 'Bank data supplied is not valid.'],
    ['PE0002', 'Account holder does not match the document given.'],
    ['PE0003', 'The account does not accept movements.'],
    ['PE0004', 'Other.'],
  ])('failure %s: with error_code, and payout=true', async (code, message) => {
    it.clock.set(NOON)
    const account = await toldShop()
    const { uuid, id } = (await payOut(account, asked)).body
    it.clock.advance(60 * SECOND_MS)
    await simulate(account, 'payout', uuid, `failed/${code}`)
    await settle()
    const rest = { ...body(uuid, id), status: 'CANCELLED', receiptDate: '' }
    expect(account.calls().map((call) => [call.url.split('?')[1], call.text])).toEqual([
      ['payout=true', JSON.stringify({ success: false, message, error_code: code, ...rest })],
    ])
  })

  test('names a PIX key where an account would be', async () => {
    const account = await toldShop()
    const uuid = await accepted(payOut(account))
    await simulate(account, 'payout', uuid, 'paid')
    await settle()
    expect(account.calls()[0]!.body.bankDetails).toEqual({ bank: '', branch: '', account: 'fornecedor@example.com' })
  })

  test('go to the payout’s own callbackURL, and are found under the payout', async () => {
    const [account, own] = [await toldShop(), await merchant()]
    const uuid = await accepted(payOut(account, { callbackURL: own.hook }))
    await simulate(account, 'payout', uuid, 'paid')
    await settle()
    expect([own.calls().map((call) => call.body.uuid), account.calls()]).toEqual([[uuid], []])
    const attempts = (await account.api.get(`/v1.1/transactions/${uuid}/webhook`)).body.notifications
    expect(attempts.map(({ eventType }: { eventType: string }) => eventType)).toEqual(['PAYOUT_PAID'])
  })

  test('are not told of one that its merchant cancelled, nor while the group is off', async () => {
    const [account, silent] = [await toldShop(), await toldShop((hook) => ({ payout: { url: hook, enabled: false } }))]
    await cancel(account, await accepted(payOut(account)))
    await simulate(silent, 'payout', await accepted(payOut(silent)), 'paid')
    await settle()
    expect([account.calls(), silent.calls()]).toEqual([[], []])
  })
})

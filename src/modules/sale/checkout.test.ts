import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { checkoutBody, pay, shopper, situationOf } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { decodeBrCode } from '../../kernel/br-code.ts'
import { checkoutAnswerSchema } from './sale.wire.ts'

const it = testService()
const CHECKOUT = '/v1.1/checkout/transparent'

describe('the answer to a checkout', () => {
  test('has the fields of the contract', async () => {
    const account = await it.given.account()
    const { http, body } = await account.api.post(CHECKOUT, checkoutBody({ amount: '99.90', referenceCode: 'order 1' }))
    expect(http).toBe(200)
    expect(Value.Check(checkoutAnswerSchema, body)).toBe(true)
    const { id, uuid, saleCode, instructions, ...response } = body.response
    expect({ ...body, response }).toEqual({
      status: 0,
      message: 'success',
      response: { amount: 99.9, referenceCode: 'order 1', shopper },
    })
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.isSafeInteger(id)).toBe(true)
    expect(saleCode).toBe(String(id).padStart(8, '0'))
    expect(instructions).toMatchObject({ chosen: 'PIX', name: 'PIX', label: 'Pix' })
    expect(instructions.steps.length).toBeGreaterThan(0)
    expect(Object.keys(instructions.qrCode)).toEqual(['plain', 'url'])
    expect(instructions.qrCode.url).toMatch(/^http:\/\/pay\.test\/qr\/[0-9A-Za-z]{31}\.png$/)
  })

  test('has a BR Code that leads to the charge, and no split block', async () => {
    const account = await it.given.account()
    const { body } = await account.api.post(CHECKOUT, checkoutBody())
    const { plain, url } = body.response.instructions.qrCode
    const [, txid] = /\/qr\/(\w+)\.png$/.exec(url)!
    expect(decodeBrCode(plain)).toMatchObject({
      ok: true,
      value: { kind: 'dynamic', locationUrl: `pay.test/pix/${txid}` },
    })
    expect(Object.keys(body)).toEqual(['status', 'message', 'response'])
  })

  test.each([
    [0.01, '0.01'],
    [0.3, '0.3'],
    ['100', '100'],
    ['99.00', '99'],
    ['1234.50', '1234.5'],
    [9999999999.99, '9999999999.99'],
  ])('repeats the amount %j as %s', async (amount, written) => {
    const account = await it.given.account()
    const { text } = await account.api.post(CHECKOUT, checkoutBody({ amount }))
    expect(/"amount":([^,]+),/.exec(text)![1]).toBe(written)
  })

  test('repeats the shopper: what was not sent is not there, a number is text, documents are plain', async () => {
    const account = await it.given.account()
    const shopperOf = async (sent: Record<string, unknown>) =>
      (await account.api.post(CHECKOUT, checkoutBody({ shopper: sent }))).body.response.shopper
    expect(await shopperOf({ name: 'Ana', email: 'a@b.c' })).toEqual({ id: null, name: 'Ana', email: 'a@b.c' })
    const more = {
      id: 42,
      name: ' Ana "Ação" 👍 ',
      email: 'a@b.c',
      document: { type: 'CNPJ', number: '12.abc.345/01de-35' },
      phone: { type: 'HOME' },
      bankDetails: { bank: '001', branch: '1', account: '2' },
      address: { street: 'ignored' },
    }
    expect(await shopperOf(more)).toEqual({
      id: '42',
      name: ' Ana "Ação" 👍 ',
      email: 'a@b.c',
      document: { type: 'CNPJ', number: '12ABC34501DE35' },
      phone: { type: 'HOME' },
      bankDetails: { bank: '001', branch: '1', account: '2' },
    })
  })

  test('carries the picture when it is asked for', async () => {
    const account = await it.given.account()
    for (const prefer of ['return=representation', 'wait=5, Return=Representation']) {
      const { body, headers } = await account.api.post(CHECKOUT, checkoutBody(), { headers: { prefer } })
      expect(Value.Check(checkoutAnswerSchema, body)).toBe(true)
      expect(body.response.instructions.qrCode.base64).toMatch(/^data:image\/png;base64,iVBORw0KGgo[\w+/]+=*$/)
      expect(headers['preference-applied']).toBe('return=representation')
    }
    const minimal = await account.api.post(CHECKOUT, checkoutBody(), { headers: { prefer: 'return=minimal' } })
    expect(minimal.body.response.instructions.qrCode.base64).toBeUndefined()
    expect(minimal.headers['preference-applied']).toBeUndefined()
  })
})

describe('a checkout', () => {
  test('is taken with a trailing slash', async () => {
    const account = await it.given.account()
    expect((await account.api.post(`${CHECKOUT}/`, checkoutBody())).http).toBe(200)
  })

  test('makes a sale that can be queried at once, by the account’s clock, with a day to pay', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-16 12:00:00')
    await account.api.post('/v1.1/sandbox/clock/advance', { hours: 13 })
    const sale = await it.given.sale(account)
    expect((await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body).toMatchObject({
      situation: 'PENDING',
      creation: '2026-11-17 01:00:00',
      maxAge: '2026-11-18 01:00:00',
    })
  })

  test.each([
    [1, '12:01:00'],
    [60, '13:00:00'],
    ['90', '13:30:00'],
  ])('with a maxAge of %j minutes expires at %s', async (maxAge, time) => {
    const account = await it.given.account()
    it.clock.set('2026-11-18 12:00:00')
    const sale = await it.given.sale(account, { maxAge })
    expect((await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body.maxAge).toBe(`2026-11-18 ${time}`)
  })

  test('keeps what the merchant sent along', async () => {
    const account = await it.given.account()
    const kept = {
      observation: 'a "note"',
      redirectURL: 'https://example.com/back',
      taxData: { items: [{ ncm: '1', value: 1.5 }], empty: {} },
      sellersTransactions: [{ seller: 'x' }],
      recurrence: { any: true },
    }
    const sale = await it.given.sale(account, { ...kept, scheduledDate: '2030-01-01' })
    const [row] = await it.rows<{ extra: string }>('select extra from sale where id = $1', [sale.uuid])
    expect(JSON.parse(row!.extra)).toEqual(kept)
  })

  test('neither keeps nor logs what it does not know, such as a card', async () => {
    const account = await it.given.account()
    const card = { number: '4111111111111111', cvv: '737' }
    const made = await account.api.post(CHECKOUT, checkoutBody({ creditCard: card, card }))
    expect(made.http).toBe(200)
    const refused = await account.api.post(CHECKOUT, checkoutBody({ paymentMethod: 'CREDIT_CARD', creditCard: card }))
    expect(refused.body.errors[0].code).toBe('paymentMethod.invalid')
    const rows = await it.rows('select s::text as all_of_it from sale s where id = $1', [made.body.response.uuid])
    expect(JSON.stringify([made.text, refused.text, rows, it.logged])).not.toContain(card.number)
  })

  test('by boleto is refused also for an account that has boleto', async () => {
    const account = await it.given.account({ boleto: { enabled: true, fee: 2 } })
    for (const paymentMethod of ['BOLETO', 'BOLETO_PIX']) {
      const { http, body } = await account.api.post(CHECKOUT, checkoutBody({ paymentMethod }))
      expect([http, body.errors[0].code]).toEqual([400, 'paymentMethod.invalid'])
    }
  })

  test('numbers its sales apart, many at once and over accounts', async () => {
    const accounts = await Promise.all([it.given.account(), it.given.account()])
    const sales = await Promise.all(
      accounts.flatMap((account) => Array.from({ length: 40 }, () => it.given.sale(account))),
    )
    expect(new Set(sales.map(({ id }) => id)).size).toBe(80)
    expect(new Set(sales.map(({ uuid }) => uuid)).size).toBe(80)
    expect(new Set(sales.map(({ txid }) => txid)).size).toBe(80)
  })
})

describe('the body of a checkout', () => {
  const body = JSON.stringify(checkoutBody())

  test.each([
    ['without a content type', undefined],
    ['as JSON of a named charset', 'application/json; charset=utf-8'],
    ['as a kind of JSON', 'application/vnd.shop+json'],
  ])('is read %s', async (_, type) => {
    const account = await it.given.account()
    const headers = type === undefined ? {} : { 'content-type': type }
    expect((await account.api.post(CHECKOUT, undefined, { raw: body, headers })).http).toBe(200)
  })

  test.each([
    ['of another type', 415, 'text/plain', body],
    ['of a form', 415, 'application/x-www-form-urlencoded', 'currency=BRL'],
    ['that is not JSON', 400, 'application/json', '{"currency":'],
    ['that is too large', 413, 'application/json', JSON.stringify({ observation: 'x'.repeat(70_000) })],
    ['that is too deep', 400, 'application/json', `{"taxData":${'['.repeat(40)}${']'.repeat(40)}}`],
  ])('%s is refused with a %d and a plain sentence', async (_, http, type, raw) => {
    const account = await it.given.account()
    const reply = await account.api.post(CHECKOUT, undefined, { raw, headers: { 'content-type': type } })
    expect([reply.http, reply.body]).toEqual([
      http,
      { status: -1, message: expect.any(String), errorCount: 0, errors: [] },
    ])
  })

  test('that is empty is absent, also as JSON', async () => {
    const account = await it.given.account()
    const { http, body } = await account.api.post(CHECKOUT, undefined, {
      headers: { 'content-type': 'application/json' },
    })
    expect([http, body.errorCount]).toEqual([400, 5])
  })

  test('is not looked at without credentials', async () => {
    const { http, body } = await it.api.post(CHECKOUT, undefined, {
      raw: '{',
      headers: { 'content-type': 'text/plain' },
    })
    expect([http, body]).toEqual([
      403,
      {
        status: -1,
        message: 'field validation failure',
        errorCount: 1,
        errors: [{ error: 'Forbidden', message: 'Access Denied' }],
      },
    ])
  })
})

describe('a reference code', () => {
  const duplicated = {
    status: -1,
    message: 'validation failure',
    errorCount: 1,
    errors: [{ field: 'referenceCode', message: 'was used before', code: 'referenceCode.duplicated' }],
    main_error_message: 'was used before',
  }
  const again = checkoutBody({ referenceCode: 'again' })

  test('may repeat', async () => {
    const account = await it.given.account()
    for (const _ of [1, 2]) expect((await account.api.post(CHECKOUT, again)).http).toBe(200)
  })

  test('may not repeat in an account that asked for unique ones; other accounts do not count', async () => {
    const [account, other] = [
      await it.given.account({ uniqueReferenceCode: true }),
      await it.given.account({ uniqueReferenceCode: true }),
    ]
    expect((await other.api.post(CHECKOUT, again)).http).toBe(200)
    expect((await account.api.post(CHECKOUT, again)).http).toBe(200)
    const { http, body } = await account.api.post(CHECKOUT, again)
    expect([http, body]).toEqual([400, duplicated])
    expect((await account.api.get('/v1.1/transactions')).body.totalElements).toBe(1)
  })

  test('that was used before the setting came on does not count, nor one used while it was off', async () => {
    const account = await it.given.account()
    await it.given.sale(account, { referenceCode: 'old' })
    await account.api.put('/v1.1/sandbox/account', { uniqueReferenceCode: true })
    await it.given.sale(account, { referenceCode: 'old' })
    expect((await account.api.post(CHECKOUT, checkoutBody({ referenceCode: 'old' }))).body).toEqual(duplicated)
    await account.api.put('/v1.1/sandbox/account', { uniqueReferenceCode: false })
    await it.given.sale(account, { referenceCode: 'old' })
  })

  test('of a cancelled or paid sale stays taken', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    await it.given.cancelledSale(account, { referenceCode: 'cancelled' })
    await it.given.paidSale(account, { referenceCode: 'paid' })
    for (const referenceCode of ['cancelled', 'paid'])
      expect((await account.api.post(CHECKOUT, checkoutBody({ referenceCode }))).body).toEqual(duplicated)
  })

  test('is given to one of many that ask for it at once', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    const replies = await Promise.all(Array.from({ length: 12 }, () => account.api.post(CHECKOUT, again)))
    expect(replies.filter(({ http }) => http === 200)).toHaveLength(1)
    for (const reply of replies.filter(({ http }) => http !== 200)) expect(reply.body).toEqual(duplicated)
    expect((await account.api.get('/v1.1/transactions')).body.totalElements).toBe(1)
  })
})

describe('the fee of a sale', () => {
  test.each([
    [100, 0.99],
    ['250.00', 2.48],
    [0.5, 0.01],
    [0.01, 0.01],
  ])('of %j is %d: 0.99 %, half up, at least a cent', async (amount, fee) => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount })
    expect((await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body.appliedRate).toBe(fee)
  })

  test('is at most the amount', async () => {
    const account = await it.given.account({ fees: { PIX: { percent: 0, fixed: 5 } } })
    const sale = await it.given.paidSale(account, { amount: 3 })
    expect((await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body.appliedRate).toBe(3)
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(0)
  })

  test('is frozen: a price change reaches later sales only', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 100 })
    await account.api.put('/v1.1/sandbox/account', { fees: { PIX: { percent: 50 } } })
    await pay(account, sale)
    expect(await situationOf(account, sale)).toBe('PAID')
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(99.01)
  })
})

import { describe, expect, test } from 'vitest'
import { checkoutBody, pay, situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS } from '../../kernel/calendar.ts'

const it = testService()
const CHECKOUT = '/v1.1/checkout/transparent'

const keyed = (key: string, more: Record<string, string> = {}) => ({ headers: { 'idempotency-key': key, ...more } })
const salesOf = async (account: TestAccount): Promise<number> =>
  (await account.api.get('/v1.1/transactions')).body.totalElements
const otherRequest = {
  status: -1,
  message: 'the key was used for another request',
  errorCount: 1,
  errors: [{ field: 'Idempotency-Key', message: 'was used for another request' }],
}

describe('the same checkout again under one key', () => {
  test('gets the stored answer, byte for byte, and makes no second sale', async () => {
    const account = await it.given.account()
    const body = checkoutBody({ amount: '12.30' })
    const first = await account.api.post(CHECKOUT, body, keyed('k'))
    expect([first.http, first.headers['idempotency-replayed']]).toEqual([200, undefined])
    for (const path of [CHECKOUT, `${CHECKOUT}/`, `${CHECKOUT}?trace=1`]) {
      const again = await account.api.post(path, body, keyed('k'))
      expect([again.http, again.headers['idempotency-replayed'], again.text]).toEqual([200, 'true', first.text])
      expect(again.headers['content-type']).toBe(first.headers['content-type'])
    }
    expect(await salesOf(account)).toBe(1)
  })

  test('gets it also when the sale has moved on: it is the answer of then', async () => {
    const account = await it.given.account()
    const body = checkoutBody()
    const first = await account.api.post(CHECKOUT, body, keyed('k'))
    await pay(account, first.body.response)
    expect((await account.api.post(CHECKOUT, body, keyed('k'))).text).toBe(first.text)
  })

  test('without a key makes another sale each time', async () => {
    const account = await it.given.account()
    const body = checkoutBody()
    for (const _ of [1, 2]) await account.api.post(CHECKOUT, body)
    expect(await salesOf(account)).toBe(2)
  })

  test('under another key makes another sale', async () => {
    const account = await it.given.account()
    const body = checkoutBody()
    for (const key of ['a', 'A', 'a ', 'b']) await account.api.post(CHECKOUT, body, keyed(`${key}.`))
    expect(await salesOf(account)).toBe(4)
  })
})

describe('another request under a known key', () => {
  test('is a 422 and does nothing: other body, other bytes, other path, other method', async () => {
    const account = await it.given.account()
    const body = checkoutBody()
    const first = await account.api.post(CHECKOUT, body, keyed('k'))
    const cancel = `/v1.1/transactions/${first.body.response.uuid}/void`
    const replies = [
      await account.api.post(CHECKOUT, { ...body, amount: 5 }, keyed('k')),
      await account.api.post(CHECKOUT, { ...body, amount: 'x' }, keyed('k')),
      await account.api.post(CHECKOUT, body, { ...keyed('k'), raw: ` ${JSON.stringify(body)}` }),
      await account.api.put(cancel, undefined, keyed('k')),
      await account.api.put(`${CHECKOUT}/${first.body.response.uuid}`, body, keyed('k')),
    ]
    for (const { http, body: refusal } of replies) expect([http, refusal]).toEqual([422, otherRequest])
    expect(await salesOf(account)).toBe(1)
    expect(await situationOf(account, first.body.response)).toBe('PENDING')
    expect((await account.api.post(CHECKOUT, body, keyed('k'))).text).toBe(first.text)
  })

  test('is no other request when another account sends it', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const [body, otherBody] = [checkoutBody(), checkoutBody()]
    const first = await account.api.post(CHECKOUT, body, keyed('shared'))
    const second = await other.api.post(CHECKOUT, otherBody, keyed('shared'))
    expect([second.http, second.headers['idempotency-replayed']]).toEqual([200, undefined])
    expect(second.body.response.uuid).not.toBe(first.body.response.uuid)
    expect((await other.api.post(CHECKOUT, body, keyed('shared'))).http).toBe(422)
  })
})

describe('a key', () => {
  test('lives for 24 h of real time, whatever the account’s clock says', async () => {
    const account = await it.given.account()
    const body = checkoutBody()
    const first = await account.api.post(CHECKOUT, body, keyed('k'))
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 30 })
    it.clock.advance(DAY_MS - 1)
    expect((await account.api.post(CHECKOUT, body, keyed('k'))).text).toBe(first.text)
    it.clock.advance(1)
    const later = await account.api.post(CHECKOUT, body, keyed('k'))
    expect(later.headers['idempotency-replayed']).toBeUndefined()
    expect(later.body.response.uuid).not.toBe(first.body.response.uuid)
    expect((await account.api.post(CHECKOUT, body, keyed('k'))).text).toBe(later.text)
  })

  test('that has lapsed is free for another request, of any kind', async () => {
    const account = await it.given.account()
    const first = await account.api.post(CHECKOUT, checkoutBody({ maxAge: 43_200 }), keyed('k'))
    it.clock.advance(DAY_MS)
    const cancelled = await account.api.put(
      `/v1.1/transactions/${first.body.response.uuid}/void`,
      undefined,
      keyed('k'),
    )
    expect([cancelled.http, cancelled.headers['idempotency-replayed']]).toEqual([200, undefined])
  })

  test.each([
    ['one character', 'k'],
    ['255 characters', 'k'.repeat(255)],
    ['all that prints', ' !"#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~'.trim()],
  ])('may be %s', async (_, key) => {
    const account = await it.given.account()
    const body = checkoutBody()
    const first = await account.api.post(CHECKOUT, body, keyed(key))
    expect((await account.api.post(CHECKOUT, body, keyed(key))).text).toBe(first.text)
  })

  test.each([
    ['256 characters', 'k'.repeat(256)],
    ['nothing', ''],
    ['what does not print', 'a\tb'],
    ['an accent', 'ação'],
  ])('of %s is a 400 on its field, and nothing happens', async (_, key) => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const field = { field: 'Idempotency-Key', message: 'must have 1 to 255 printable characters' }
    for (const reply of [
      await account.api.post(CHECKOUT, checkoutBody(), keyed(key)),
      await account.api.put(`/v1.1/transactions/${sale.uuid}/void`, undefined, keyed(key)),
    ])
      expect([reply.http, reply.body]).toEqual([
        400,
        { status: -1, message: 'field validation failure', errorCount: 1, errors: [field] },
      ])
    expect([await salesOf(account), await situationOf(account, sale)]).toEqual([1, 'PENDING'])
  })
})

describe('a refusal under a key', () => {
  test('is stored too: the same request hears it again, although it would pass by now', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    const body = checkoutBody({ referenceCode: 'taken' })
    await account.api.post(CHECKOUT, body)
    const refused = await account.api.post(CHECKOUT, body, keyed('k'))
    expect([refused.http, refused.body.errors[0].code]).toEqual([400, 'referenceCode.duplicated'])
    await account.api.put('/v1.1/sandbox/account', { uniqueReferenceCode: false })
    const again = await account.api.post(CHECKOUT, body, keyed('k'))
    expect([again.http, again.headers['idempotency-replayed'], again.text]).toEqual([400, 'true', refused.text])
    expect(await salesOf(account)).toBe(1)
  })

  test.each([
    ['of a field', { amount: 0 }],
    ['of the account', { split: [] }],
  ])('%s is stored, and the right request then needs another key', async (_, fields) => {
    const account = await it.given.account()
    const body = checkoutBody()
    const refused = await account.api.post(CHECKOUT, { ...body, ...fields }, keyed('k'))
    const again = await account.api.post(CHECKOUT, { ...body, ...fields }, keyed('k'))
    expect([again.http, again.headers['idempotency-replayed'], again.text]).toEqual([400, 'true', refused.text])
    expect((await account.api.post(CHECKOUT, body, keyed('k'))).http).toBe(422)
    expect((await account.api.post(CHECKOUT, body, keyed('l'))).http).toBe(200)
  })

  test.each([
    ['a 403', 403, { 'x-api-token': 'wrong' }, undefined],
    ['a 415', 415, { 'content-type': 'text/plain' }, undefined],
    ['malformed JSON', 400, {}, '{"currency":'],
    ['a body that is too large', 413, {}, ' '.repeat(70_000)],
  ])('is not stored when it is %s: the key stays free', async (_, http, headers, raw) => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const body = checkoutBody()
    const options = { ...keyed('k', headers), ...(raw === undefined ? {} : { raw }) }
    expect((await account.api.post(CHECKOUT, body, options)).http).toBe(http)
    expect((await account.api.put(`${CHECKOUT}/${sale.uuid}`, {}, options)).http).toBe(http)
    const first = await account.api.post(CHECKOUT, body, keyed('k'))
    expect([first.http, first.headers['idempotency-replayed']]).toEqual([200, undefined])
  })

  test('malformed JSON is malformed also under a known key', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    await account.api.post(CHECKOUT, checkoutBody(), keyed('k'))
    for (const [method, path] of [
      ['POST', CHECKOUT],
      ['PUT', `${CHECKOUT}/${sale.uuid}`],
    ] as const)
      expect((await account.api.send(method, path, {}, { ...keyed('k'), raw: '{' })).http).toBe(400)
  })
})

describe('a unique reference under a key', () => {
  test('is answered again, not refused as its own duplicate', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    const body = checkoutBody()
    const first = await account.api.post(CHECKOUT, body, keyed('k'))
    const again = await account.api.post(CHECKOUT, body, keyed('k'))
    expect([again.http, again.text]).toEqual([200, first.text])
    expect((await account.api.post(CHECKOUT, body, keyed('l'))).body.errors[0].code).toBe('referenceCode.duplicated')
    expect(await salesOf(account)).toBe(1)
  })

  test('is refused as a duplicate once the key has lapsed', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    const body = checkoutBody()
    await account.api.post(CHECKOUT, body, keyed('k'))
    it.clock.advance(DAY_MS)
    expect((await account.api.post(CHECKOUT, body, keyed('k'))).body.errors[0].code).toBe('referenceCode.duplicated')
    expect(await salesOf(account)).toBe(1)
  })
})

describe('a cancellation under a key', () => {
  test('is done once and answered again', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const cancel = (slash = '') =>
      account.api.put(`/v1.1/transactions/${sale.uuid}/void${slash}`, undefined, keyed('k'))
    expect((await cancel()).headers['idempotency-replayed']).toBeUndefined()
    const again = await cancel('/')
    expect([again.http, again.body]).toEqual([200, { status: 0, message: 'success' }])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect((await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)).http).toBe(400)
  })

  test('that was refused stays refused', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const cancel = () => account.api.put(`/v1.1/transactions/${sale.uuid}/void`, undefined, keyed('k'))
    const refused = await cancel()
    expect([refused.http, refused.body.status]).toEqual([400, 999])
    await account.api.put(`${CHECKOUT}/${sale.uuid}`)
    const again = await cancel()
    expect([again.headers['idempotency-replayed'], again.text]).toEqual(['true', refused.text])
    expect(await situationOf(account, sale)).toBe('PENDING')
  })
})

describe('a renewal under a key', () => {
  test('is done once and answered again', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const renew = () => account.api.put(`${CHECKOUT}/${sale.uuid}`, { maxAge: 5 }, keyed('k'))
    const first = await renew()
    await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
    const again = await renew()
    expect([again.http, again.headers['idempotency-replayed'], again.text]).toEqual([200, 'true', first.text])
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('whose field is wrong is stored as well', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const renew = (maxAge: number) => account.api.put(`${CHECKOUT}/${sale.uuid}`, { maxAge }, keyed('k'))
    const refused = await renew(0)
    expect([refused.http, refused.body.errors[0].code]).toEqual([400, 'maxAge.limit'])
    const again = await renew(0)
    expect([again.headers['idempotency-replayed'], again.text]).toEqual(['true', refused.text])
    expect((await renew(5)).http).toBe(422)
  })
})

describe('a payment in the simulator under a key', () => {
  test('is made once', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const paid = () => account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, undefined, keyed('k'))
    const first = await paid()
    expect(first.body).toMatchObject({ sale: { situation: 'PAID' }, reversal: null })
    const again = await paid()
    expect([again.headers['idempotency-replayed'], again.text]).toEqual(['true', first.text])
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(99.01)
  })
})

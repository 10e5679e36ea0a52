import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { pay, situationOf, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { EndToEndId } from '../../kernel/ids.ts'
import { partsOfTxid, type Txid, txidOf } from '../../kernel/txid.ts'
import { checkoutAnswerSchema } from './sale.wire.ts'

const it = testService()

const renew = (account: TestAccount, { uuid }: Pick<TestSale, 'uuid'>, body?: unknown) =>
  account.api.put(`/v1.1/checkout/transparent/${uuid}`, body)
const cancel = (account: TestAccount, { uuid }: TestSale) => account.api.put(`/v1.1/transactions/${uuid}/void`)
const query = async (account: TestAccount, { uuid }: TestSale) =>
  (await account.api.get(`/v1.1/transactions/${uuid}`)).body
const txidOfAnswer = (body: { response: { instructions: { qrCode: { url: string } } } }) =>
  /\/qr\/(\w+)\.png$/.exec(body.response.instructions.qrCode.url)![1] as Txid

let payments = 0
/** As the rail reports it: by txid, whichever the payer used. */
const payByTxid = async (txid: string, amount = 10_000) => {
  payments += 1
  const [outcome] = await it.service.door.apply([
    {
      kind: 'payment',
      rail: 'sandbox',
      endToEnd: `E99999004202611161200${String(payments).padStart(11, '0')}` as EndToEndId,
      txid,
      amount: amount as Cents,
      settledAt: it.clock.now(),
      payer: { document: null, name: null, ispb: null },
    },
  ])
  return outcome!.outcome
}

describe('the renewal of a cancelled sale', () => {
  test('answers like a checkout: same sale, new QR code', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account, { amount: '12.34', referenceCode: 'order' })
    const { http, body } = await renew(account, sale)
    expect(http).toBe(200)
    expect(Value.Check(checkoutAnswerSchema, body)).toBe(true)
    expect(body.response).toMatchObject({ uuid: sale.uuid, id: sale.id, amount: 12.34, referenceCode: 'order' })
    expect(txidOfAnswer(body)).not.toBe(sale.txid)
    expect(body.response.instructions.qrCode.plain).toContain(txidOfAnswer(body))
    expect(await situationOf(account, sale)).toBe('PENDING')
  })

  test('counts in the txid', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const first = txidOfAnswer((await renew(account, sale)).body)
    await cancel(account, sale)
    const second = txidOfAnswer((await renew(account, sale)).body)
    const { renewals: _, ...parts } = partsOfTxid(sale.txid)!
    expect([first, second]).toEqual([txidOf({ ...parts, renewals: 1 }), txidOf({ ...parts, renewals: 2 })])
  })

  test('carries the picture when it is asked for', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const { body } = await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}/`, undefined, {
      headers: { prefer: 'return=representation' },
    })
    expect(body.response.instructions.qrCode.base64).toMatch(/^data:image\/png;base64,/)
  })

  test('gives a day from now on the account’s clock, or what is asked', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-16 12:00:00')
    const sale = await it.given.sale(account, { maxAge: 60 })
    await account.api.post('/v1.1/sandbox/clock/advance', { hours: 48 })
    expect(await situationOf(account, sale)).toBe('CANCELLED')
    await renew(account, sale)
    expect((await query(account, sale)).maxAge).toBe('2026-11-19 12:00:00')
    await cancel(account, sale)
    await renew(account, sale, { maxAge: 90 })
    expect(await query(account, sale)).toMatchObject({ maxAge: '2026-11-18 13:30:00', creation: '2026-11-16 12:00:00' })
  })

  test.each([undefined, null, {}, { maxAge: null }, { maxAge: '' }, { other: 1 }])(
    'takes a body of %j',
    async (body) => {
      const account = await it.given.account()
      const sale = await it.given.cancelledSale(account)
      expect((await renew(account, sale, body)).http).toBe(200)
    },
  )

  test('keeps amount and fee as at the checkout', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account, { amount: 100 })
    await account.api.put('/v1.1/sandbox/account', { fees: { PIX: { percent: 50 } } })
    await renew(account, sale)
    await pay(account, sale)
    expect(await query(account, sale)).toMatchObject({ amount: 100, appliedRate: 0.99 })
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(99.01)
  })

  test('leaves a unique reference with its sale', async () => {
    const account = await it.given.account({ uniqueReferenceCode: true })
    const sale = await it.given.cancelledSale(account, { referenceCode: 'mine' })
    expect((await renew(account, sale)).http).toBe(200)
  })
})

describe('after a renewal', () => {
  test('any txid that was ever issued pays, and the sale is paid once', async () => {
    const account = await it.given.account()
    for (const which of [0, 1, 2]) {
      const sale = await it.given.cancelledSale(account)
      const txids = [sale.txid, txidOfAnswer((await renew(account, sale)).body)]
      await cancel(account, sale)
      txids.push(txidOfAnswer((await renew(account, sale)).body))
      expect(await payByTxid(txids[which]!)).toBe('applied')
      expect(await situationOf(account, sale)).toBe('PAID')
      for (const txid of txids) expect(await payByTxid(txid)).toBe('reversed')
    }
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(297.03)
  })

  test('a txid that was not issued yet pays nothing', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    await renew(account, sale)
    expect(await payByTxid(txidOf({ ...partsOfTxid(sale.txid)!, renewals: 2 }))).toBe('reversed')
    expect(await situationOf(account, sale)).toBe('PENDING')
  })

  test('the new expiry counts, for an old txid too', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-20 12:00:00')
    const sale = await it.given.sale(account, { maxAge: 1 })
    it.clock.set('2026-11-20 12:02:00')
    await it.sweep()
    await renew(account, sale, { maxAge: 10 })
    it.clock.set('2026-11-20 12:11:00')
    expect(await payByTxid(sale.txid)).toBe('applied')
  })

  test('the sale expires again', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    await renew(account, sale, { maxAge: 10 })
    await account.api.post('/v1.1/sandbox/clock/advance', { minutes: 11 })
    expect(await situationOf(account, sale)).toBe('CANCELLED')
    expect((await renew(account, sale)).http).toBe(200)
  })
})

describe('a renewal is refused', () => {
  const notCancelled = {
    status: 999,
    message: 'transaction not CANCELLED',
    errorCount: 1,
    errors: [{ field: 'transactionToken', message: 'invalid transaction situation' }],
  }

  test('for a sale that is not cancelled; it stays as it is', async () => {
    const account = await it.given.account()
    const [pending, paid] = [await it.given.sale(account), await it.given.paidSale(account)]
    for (const sale of [pending, paid]) {
      const before = await query(account, sale)
      const { http, body } = await renew(account, sale)
      expect([http, body]).toEqual([400, notCancelled])
      expect(await query(account, sale)).toEqual(before)
    }
  })

  test('for a sale that does not exist, has no uuid, or is another’s', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const theirs = await it.given.cancelledSale(other)
    for (const uuid of ['019a8d3c-0000-7000-8000-000000000001', 'x', theirs.uuid]) {
      const { http, body } = await renew(account, { uuid })
      expect([http, body]).toEqual([
        404,
        {
          status: 998,
          message: 'transaction not found',
          errorCount: 1,
          errors: [{ field: 'saleToken', message: 'non-existent transaction' }],
        },
      ])
    }
    expect(await situationOf(other, theirs)).toBe('CANCELLED')
  })

  test.each([0, 43_201, 1.5, 'x', true])('for a maxAge of %j, as at a checkout', async (maxAge) => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const message = 'must be a whole number from 1 to 43200'
    const { http, body } = await renew(account, sale, { maxAge })
    expect([http, body]).toEqual([
      400,
      {
        status: -1,
        message: 'validation failure',
        errorCount: 1,
        errors: [{ field: 'maxAge', message, code: 'maxAge.limit' }],
        main_error_message: message,
      },
    ])
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('but for one of many at once', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const replies = await Promise.all(Array.from({ length: 8 }, () => renew(account, sale)))
    expect(replies.map(({ http }) => http).sort()).toEqual([200, ...Array(7).fill(400)])
  })
})

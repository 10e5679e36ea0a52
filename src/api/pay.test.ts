import { describe, expect, test } from 'vitest'
import { shopper, type TestAccount, type TestSale } from '../../test/harness/given.ts'
import { startTestService, testService } from '../../test/harness/test-service.ts'
import { MINUTE_MS } from '../kernel/calendar.ts'

const it = testService()
const asked = async (txid: string) => (await it.api.get(`/pay/api/${txid}`)).body.charge
const renew = (account: TestAccount, sale: TestSale) =>
  account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 30 })

describe('a charge as its payer sees it', () => {
  test('is its amount, its receiver, its code and the time left, and is kept by nobody', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 25.9, maxAge: 10 })
    const { http, headers, body } = await it.api.get(`/pay/api/${sale.txid}`)
    expect([http, headers['cache-control']]).toEqual([200, 'no-store'])
    const { qrCode } = (await account.api.get(`/v1.1/transactions/pix/${sale.uuid}`)).body
    expect(body.charge).toEqual({
      txid: sale.txid,
      state: 'PENDING',
      amount: 25.9,
      receiver: expect.stringMatching(/^Loja \d+$/),
      secondsLeft: 600,
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      paidAt: null,
      brCode: qrCode.plain,
    })
  })

  test('tells nothing of the shopper, of the merchant’s own references or of who paid', async () => {
    const account = await it.given.account()
    const fields = { referenceCode: 'secret-order', callbackURL: 'http://127.0.0.1:9/hook' }
    for (const sale of [await it.given.sale(account, fields), await it.given.paidSale(account, fields)]) {
      const { text } = await it.api.get(`/pay/api/${sale.txid}`)
      const told = [shopper.name, shopper.email, shopper.document.number, 'secret-order', 'hook', sale.uuid, account.id]
      for (const secret of [...told, account.apiKey, String(sale.id)]) expect(text).not.toContain(secret)
    }
  })

  test('is paid, cancelled or expired, each at once and without a code', async () => {
    const account = await it.given.account()
    const paid = await it.given.paidSale(account)
    const cancelled = await it.given.cancelledSale(account)
    const late = await it.given.sale(account, { maxAge: 1 })
    expect(await asked(paid.txid)).toMatchObject({ state: 'PAID', paidAt: expect.any(String), brCode: null })
    expect(await asked(cancelled.txid)).toMatchObject({ state: 'CANCELLED', secondsLeft: 0, brCode: null })
    // The account's own clock decides, not the service's.
    expect((await account.api.post('/v1.1/sandbox/clock/advance', { minutes: 2 })).http).toBe(200)
    expect(await asked(late.txid)).toMatchObject({ state: 'EXPIRED', secondsLeft: 0, brCode: null })
  })

  test('before a sweep has looked, time alone makes it expired', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(MINUTE_MS)
    expect(await asked(sale.txid)).toMatchObject({ state: 'PENDING', secondsLeft: 0 })
    it.clock.advance(1)
    expect(await asked(sale.txid)).toMatchObject({ state: 'EXPIRED' })
  })

  test('an old link leads to the sale as it is after a renewal', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    expect((await renew(account, sale)).http).toBe(200)
    const charge = await asked(sale.txid)
    expect(charge).toMatchObject({ state: 'PENDING', secondsLeft: 1800 })
    expect(charge.txid).not.toBe(sale.txid)
    expect((await asked(charge.txid)).brCode).toBe(charge.brCode)
  })

  test.each([
    ['nonsense', () => 'nonsense'],
    ['a uuid', ({ uuid }: TestSale) => uuid],
    ['another account’s number', ({ txid }: TestSale) => `000001${txid.slice(6)}`],
    ['a renewal that never was', ({ txid }: TestSale) => `${txid.slice(0, -1)}9`],
    ['the mark of a recurrence', ({ txid }: TestSale) => `${txid.slice(0, -3)}zzz`],
  ])('by %s there is none', async (_name, txidFrom) => {
    const sale = await it.given.sale(await it.given.account())
    const { http, body } = await it.api.get(`/pay/api/${txidFrom(sale)}`)
    expect([http, body.message]).toEqual([404, 'there is no such charge'])
  })

  test('a page of another site cannot ask, and nobody can change anything here', async () => {
    const sale = await it.given.sale(await it.given.account())
    const foreign = await it.api.get(`/pay/api/${sale.txid}`, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect(foreign.http).toBe(403)
    expect((await it.api.post(`/pay/api/${sale.txid}`, {})).http).toBe(405)
  })

  test('an address has a limit of its own', async () => {
    const own = await startTestService({ env: { QUITADO_PROCESSES: '1' } })
    const sale = await own.given.sale(await own.given.account())
    const codes: number[] = []
    for (let n = 0; n < 51; n += 1) codes.push((await own.api.get(`/pay/api/${sale.txid}`)).http)
    expect(codes.slice(0, 50)).toEqual(Array(50).fill(200))
    const refused = await own.api.get(`/pay/api/${sale.txid}`)
    expect([codes[50], refused.headers['retry-after']]).toEqual([429, '1'])
    own.clock.advance(1000)
    expect((await own.api.get(`/pay/api/${sale.txid}`)).http).toBe(200)
    await own.stop()
  })
})

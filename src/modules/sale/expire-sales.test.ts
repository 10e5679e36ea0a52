import { describe, expect, test } from 'vitest'
import { pay, situationOf, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { HOUR_MS, MINUTE_MS } from '../../kernel/calendar.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { sweepLateExpiries } from '../../worker/sweeps.ts'
import { expireSale, expireSales } from './expire-sales.ts'

const it = testService()

const advance = (account: TestAccount, by: Record<string, unknown>) =>
  account.api.post('/v1.1/sandbox/clock/advance', by)
const situations = (account: TestAccount, sales: readonly TestSale[]) =>
  Promise.all(sales.map((sale) => situationOf(account, sale)))

describe('a sale whose maxAge passes in real time', () => {
  test('is cancelled by the sweep the moment after its expiry, not at it', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 10 })
    it.clock.advance(10 * MINUTE_MS)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('PENDING')
    it.clock.advance(1)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('has no processing date and no line in the books', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(2 * MINUTE_MS)
    await it.sweep()
    expect((await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body).toMatchObject({
      situation: 'CANCELLED',
      processingDate: null,
    })
    expect((await account.api.get('/v1.1/statement')).body.totalElements).toBe(0)
  })

  test('lives for a day when nothing else was asked', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    it.clock.advance(24 * HOUR_MS)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('PENDING')
    it.clock.advance(1)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('is found after the service was down for long, and with it everything else that is due', async () => {
    const account = await it.given.account()
    const sales = []
    for (const maxAge of [1, 60, 600, 1_440, 10_000]) sales.push(await it.given.sale(account, { maxAge }))
    const paid = await it.given.paidSale(account, { maxAge: 1 })
    it.clock.advance(30 * 24 * HOUR_MS)
    await it.sweep()
    expect(await situations(account, sales)).toEqual(Array(5).fill('CANCELLED'))
    expect(await situationOf(account, paid)).toBe('PAID')
  })

  test('is found although an earlier sweep had to stop in the middle', async () => {
    const account = await it.given.account()
    const sales = await Promise.all(Array.from({ length: 7 }, () => it.given.sale(account, { maxAge: 5 })))
    it.clock.advance(HOUR_MS)
    const inTwos = []
    for (let sweeps = 0; sweeps < 5; sweeps += 1)
      inTwos.push((await expireSales(it.service.db, it.clock.now(), 2)).cancelled)
    expect(inTwos).toEqual([2, 2, 2, 1, 0])
    expect(await situations(account, sales)).toEqual(Array(7).fill('CANCELLED'))
  })

  test('is cancelled once by many sweeps at once', async () => {
    const account = await it.given.account()
    const sales = await Promise.all(Array.from({ length: 6 }, () => it.given.sale(account, { maxAge: 5 })))
    it.clock.advance(6 * MINUTE_MS)
    const now = it.clock.now()
    const counts = await Promise.all([1, 2, 3, 4].map(() => expireSales(it.service.db, now, 100)))
    expect(counts.reduce((sum, { cancelled }) => sum + cancelled, 0)).toBe(6)
    expect(await situations(account, sales)).toEqual(Array(6).fill('CANCELLED'))
  })

  test('is found by the next sweep when somebody held it during this one', async () => {
    const account = await it.given.account()
    const [held, free] = [await it.given.sale(account, { maxAge: 5 }), await it.given.sale(account, { maxAge: 6 })]
    it.clock.advance(7 * MINUTE_MS)
    await it.service.db.inTransaction(async (tx) => {
      await tx.query({ name: '', text: 'select 1 from sale where id = $1 for no key update' }, [held.uuid])
      await it.sweep()
    })
    expect(await situations(account, [held, free])).toEqual(['PENDING', 'CANCELLED'])
    await it.sweep()
    expect(await situations(account, [held])).toEqual(['CANCELLED'])
  })

  test('lives on when it is renewed between the look and the cancel', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 5 })
    it.clock.advance(6 * MINUTE_MS)
    const now = it.clock.now()
    await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
    await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 30 })
    const [row] = await it.rows<{ account_id: AccountId }>('select account_id from sale where id = $1', [sale.uuid])
    const found = { accountId: row!.account_id, saleId: sale.uuid as SaleId, now }
    expect(await it.service.db.inTransaction((tx) => expireSale(tx, found))).toBe(false)
    expect(await situationOf(account, sale)).toBe('PENDING')
  })

  test('is found although it was committed behind the watermark', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 5 })
    it.clock.advance(6 * MINUTE_MS)
    await it.rows('update sale_expiry_watermark set swept_to = $1', [new Date(it.clock.now() - 1).toISOString()])
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('PENDING')
    expect(await sweepLateExpiries(it.service.sweeps)).toBe(1)
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('or is paid at the same moment: one of both, and no money is lost', async () => {
    const account = await it.given.account()
    const sales = await Promise.all(Array.from({ length: 10 }, () => it.given.sale(account, { maxAge: 5 })))
    const settledAt = new Date(it.clock.now()).toISOString()
    it.clock.advance(6 * MINUTE_MS)
    const [replies] = await Promise.all([
      Promise.all(sales.map((sale) => pay(account, sale, { settledAt }))),
      it.sweep(),
    ])
    for (const { body } of replies)
      expect(body.reversal === null ? 'PAID' : 'CANCELLED').toBe(await situationOf(account, body.sale))
  })
})

describe('a sale on an account’s own clock', () => {
  test('is cancelled by the jump before the answer, and counted', async () => {
    const account = await it.given.account()
    const sales = [await it.given.sale(account, { maxAge: 10 }), await it.given.sale(account, { maxAge: 60 })]
    expect((await advance(account, { minutes: 10 })).body.processed).toBe(0)
    expect(await situations(account, sales)).toEqual(['PENDING', 'PENDING'])
    expect((await advance(account, { minutes: 1 })).body.processed).toBe(1)
    expect(await situations(account, sales)).toEqual(['CANCELLED', 'PENDING'])
    expect((await advance(account, { days: 400 })).body.processed).toBe(1)
    expect(await situations(account, sales)).toEqual(['CANCELLED', 'CANCELLED'])
  })

  test('expires there only: other accounts keep their time', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const [mine, theirs] = [await it.given.sale(account, { maxAge: 10 }), await it.given.sale(other, { maxAge: 10 })]
    await advance(account, { hours: 1 })
    await it.sweep()
    expect([await situationOf(account, mine), await situationOf(other, theirs)]).toEqual(['CANCELLED', 'PENDING'])
  })

  test('that was made after the jump expires as real time passes', async () => {
    const account = await it.given.account()
    await advance(account, { days: 10 })
    const sale = await it.given.sale(account, { maxAge: 10 })
    it.clock.advance(10 * MINUTE_MS)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('PENDING')
    it.clock.advance(1)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('that was made ahead waits for real time when the clock is set back', async () => {
    const account = await it.given.account()
    await advance(account, { days: 1 })
    const sale = await it.given.sale(account, { maxAge: 10 })
    await account.api.post('/v1.1/sandbox/clock/reset')
    it.clock.advance(HOUR_MS)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('PENDING')
    it.clock.advance(24 * HOUR_MS)
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })
})

describe('expiry and payment: the settlement time decides', () => {
  const iso = (ms: number) => new Date(ms).toISOString()
  async function saleForTenMinutes(account: TestAccount) {
    const sale = await it.given.sale(account, { maxAge: 10 })
    return { sale, expiresAt: it.clock.now() + 10 * MINUTE_MS }
  }

  test.each([
    ['long before', -HOUR_MS],
    ['a millisecond before', -1],
    ['exactly at the expiry', 0],
  ])('settled %s it pays a pending sale, however late we hear of it', async (_, ms) => {
    const account = await it.given.account()
    const { sale, expiresAt } = await saleForTenMinutes(account)
    it.clock.advance(HOUR_MS)
    const { body } = await pay(account, sale, { settledAt: iso(expiresAt + ms) })
    expect(body).toMatchObject({ sale: { situation: 'PAID' }, reversal: null })
    await it.sweep()
    expect(await situationOf(account, sale)).toBe('PAID')
  })

  test('settled a millisecond after, it is a reversal although the sale is pending', async () => {
    const account = await it.given.account()
    const { sale, expiresAt } = await saleForTenMinutes(account)
    const { body } = await pay(account, sale, { settledAt: iso(expiresAt + 1) })
    expect(body).toMatchObject({ sale: { situation: 'PENDING' }, reversal: { reason: 'SALE_NOT_PENDING' } })
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(0)
    expect((await pay(account, sale)).body.reversal).toBeNull()
  })

  test('settled in time but heard of after the sweep, it is a reversal', async () => {
    const account = await it.given.account()
    const { sale, expiresAt } = await saleForTenMinutes(account)
    it.clock.advance(HOUR_MS)
    await it.sweep()
    const { body } = await pay(account, sale, { settledAt: iso(expiresAt - MINUTE_MS) })
    expect(body).toMatchObject({ sale: { situation: 'CANCELLED' }, reversal: { reason: 'SALE_NOT_PENDING' } })
  })

  test('without a word on it, the payment is settled now, by the account’s clock', async () => {
    const account = await it.given.account()
    await advance(account, { days: 3 })
    const sale = await it.given.sale(account, { maxAge: 10 })
    it.clock.advance(10 * MINUTE_MS)
    expect((await pay(account, sale)).body.reversal).toBeNull()
    const late = await it.given.sale(account, { maxAge: 10 })
    it.clock.advance(10 * MINUTE_MS + 1)
    expect((await pay(account, late)).body.reversal.reason).toBe('SALE_NOT_PENDING')
  })
})

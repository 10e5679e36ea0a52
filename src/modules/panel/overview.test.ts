import { describe, expect, test } from 'vitest'
import { pay } from '../../../test/harness/given.ts'
import { signedIn } from '../../../test/harness/pages.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, HOUR_MS } from '../../kernel/calendar.ts'

const it = testService()
type Count = { from: string; charges: number; paid: number; conversion: number | null; received: number }
const busy = (counts: readonly Count[]) => counts.filter(({ charges, paid }) => charges > 0 || paid > 0)

describe('the overview', () => {
  test('counts charges, payments, conversion and money by hour and by day', async () => {
    const shop = await signedIn(it)
    await it.given.paidSale(shop, { amount: 100 })
    await it.given.sale(shop, { amount: 50 })
    const late = await it.given.sale(shop, { amount: 25.5 })
    it.clock.advance(2 * HOUR_MS - 1000)
    expect((await pay(shop, late)).http).toBe(200)
    await it.given.cancelledSale(shop)
    const { body } = await shop.panel.get('/panel/api/overview')
    expect(body.hours).toHaveLength(48)
    expect(body.days).toHaveLength(30)
    expect(busy(body.hours)).toEqual([
      { from: expect.stringMatching(/:00:00$/), charges: 3, paid: 1, conversion: 0.6667, received: 100 },
      { from: expect.stringMatching(/:00:00$/), charges: 1, paid: 1, conversion: 0, received: 25.5 },
    ])
    const sum = (of: keyof Count) => busy(body.days).reduce((total, count) => total + Number(count[of]), 0)
    expect([sum('charges'), sum('paid'), sum('received')]).toEqual([4, 2, 125.5])
    const { available } = (await shop.api.get('/v1.1/balance')).body
    expect(body.balance).toEqual({ available, blocked: 0, total: available })
  })

  test('is of account time, and an empty hour is an hour too', async () => {
    const shop = await signedIn(it)
    await it.given.paidSale(shop)
    expect((await shop.panel.post('/panel/api/v1.1/sandbox/clock/advance', { days: 29 })).http).toBe(200)
    const { body } = await shop.panel.get('/panel/api/overview')
    expect(busy(body.hours)).toEqual([])
    expect(busy(body.days)).toEqual([{ ...body.days[0], charges: 1, paid: 1, conversion: 1, received: 100 }])
    expect(body.hours.at(-1).from.slice(0, 13)).toBe(body.now.slice(0, 13))
    expect(body.days.at(-1)).toEqual({
      from: body.now.slice(0, 10),
      charges: 0,
      paid: 0,
      conversion: null,
      received: 0,
    })
    it.clock.advance(DAY_MS)
    expect(busy((await signedInAgain(shop)).days)).toEqual([])
  })

  const signedInAgain = async (shop: Awaited<ReturnType<typeof signedIn>>) => {
    const { asPage, cookieOf, PASSWORD } = await import('../../../test/harness/pages.ts')
    const reply = await asPage(it.api).post('/panel/api/session', { email: shop.email, password: PASSWORD })
    return (await it.api.get('/panel/api/overview', { headers: { cookie: cookieOf(reply) } })).body
  }

  test('knows nothing of other accounts', async () => {
    const [one, two] = [await signedIn(it), await signedIn(it)]
    await it.given.paidSale(one)
    const { body } = await two.panel.get('/panel/api/overview')
    expect([busy(body.hours), busy(body.days), body.balance.total]).toEqual([[], [], 0])
  })
})

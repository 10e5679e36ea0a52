import { describe, expect, test } from 'vitest'
import { pay, shopper } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, type Instant, plusMs, wireTimestamp } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })
const { merchant, settle, exhaust, toNextRetry } = merchants(it)

const notificationsOf = (saleId: string) => it.rows('select * from notification where resource_id = $1', [saleId])

describe('the confirmation of a payment', () => {
  test('has exactly the fields of the interface, in their order, and arrives as these bytes', async () => {
    const shop = await merchant()
    const sale = await it.given.sale(shop, { amount: 150.5, referenceCode: 'order "7"' })
    await pay(shop, sale)
    await settle()
    const date = wireTimestamp(it.clock.now())
    expect(shop.calls().map(({ text }) => text)).toEqual([
      `{"saleToken":"${sale.uuid}","referenceCode":"order \\"7\\"","currency":"BRL","amount":150.5,` +
        `"shopper":{"id":"7","firstName":"Maria","lastName":"da Silva","email":"maria@example.com","agency":"","account":""},` +
        `"date":"${date}","newStatus":"PAID"}`,
    ])
  })

  test('is a POST of JSON, with the headers that say so', async () => {
    const shop = await merchant()
    await it.given.paidSale(shop)
    await settle()
    expect(shop.calls()[0]!.headers).toMatchObject({ 'content-type': 'application/json' })
  })

  test.each([
    [0.01, '0.01'],
    [1, '1'],
    [100.1, '100.1'],
    [99.99, '99.99'],
    ['99.00', '99'],
    [9_999_999_999.99, '9999999999.99'],
  ])('says %s as the number %s', async (amount, written) => {
    const shop = await merchant()
    await it.given.paidSale(shop, { amount })
    await settle()
    expect(shop.calls()[0]!.text).toContain(`"amount":${written},`)
  })

  test('of a sale that nobody asked to hear of is not written', async () => {
    const silent = await merchant(() => ({}))
    const sale = await it.given.paidSale(silent)
    await settle()
    expect(await notificationsOf(sale.uuid)).toEqual([])
  })

  test.each(['voided', 'expired'])('does not tell of a sale that was %s', async (how) => {
    const shop = await merchant()
    const sale = await it.given.sale(shop, { maxAge: 1 })
    if (how === 'voided') await shop.api.put(`/v1.1/transactions/${sale.uuid}/void`)
    else {
      it.clock.advance(2 * 60_000)
      await it.sweep()
    }
    expect((await shop.api.get(`/v1.1/transactions/${sale.uuid}`)).body.situation).toBe('CANCELLED')
    await settle()
    expect([shop.calls(), await notificationsOf(sale.uuid)]).toEqual([[], []])
  })

  test('is told once, however often the rail reports the payment', async () => {
    const shop = await merchant()
    const payment = railPayment(it.clock, await it.given.sale(shop))
    for (const _time of [1, 2, 3]) await it.service.door.apply([payment])
    await settle()
    expect(shop.calls()).toHaveLength(1)
  })

  test('arrives when the sale can be read as PAID', async () => {
    const shop = await merchant()
    const sale = await it.given.sale(shop)
    const seen: string[] = []
    shop.answer((reply) => {
      void shop.api.get(`/v1.1/transactions/${sale.uuid}`).then(({ body }) => {
        seen.push(body.situation)
        reply.end()
      })
    })
    await pay(shop, sale)
    await settle()
    expect(seen).toEqual(['PAID'])
  })

  test('goes to the charge’s own callbackURL instead of the account’s', async () => {
    const [shop, elsewhere] = [await merchant(), await merchant()]
    await it.given.paidSale(shop, { callbackURL: `${elsewhere.hook}/own?order=7` })
    await settle()
    expect([shop.calls().length, elsewhere.calls().map(({ url }) => url.replace(/^\/[^/]*/, ''))]).toEqual([
      0,
      ['/own?order=7'],
    ])
  })

  test('goes to the callbackURL also of an account that has no address', async () => {
    const [silent, elsewhere] = [await merchant(() => ({})), await merchant()]
    const sale = await it.given.paidSale(silent, { callbackURL: elsewhere.hook })
    await settle()
    expect(elsewhere.calls().map(({ body }) => body.saleToken)).toEqual([sale.uuid])
  })
})

describe('the shopper in it', () => {
  const unknown = { id: '', agency: '', account: '' }
  const email = 'm@example.com'

  // biome-ignore format: a table
  const shoppers: readonly (readonly [string, Record<string, unknown>, Record<string, string>])[] = [
    ['two words', { name: 'Maria Silva' }, { firstName: 'Maria', lastName: 'Silva' }],
    ['one word', { name: 'Maria' }, { firstName: 'Maria', lastName: '' }],
    ['many words', { name: 'Maria da Silva e Souza' }, { firstName: 'Maria', lastName: 'da Silva e Souza' }],
    ['several spaces between words', { name: 'Maria   da    Silva' }, { firstName: 'Maria', lastName: 'da Silva' }],
    ['spaces around', { name: '  Maria Silva  ' }, { firstName: 'Maria', lastName: 'Silva' }],
    ['a tab between', { name: 'Maria\tSilva' }, { firstName: 'Maria', lastName: 'Silva' }],
    ['accents', { name: 'João Conceição Araújo' }, { firstName: 'João', lastName: 'Conceição Araújo' }],
    ['an emoji and another script', { name: '🎉 王 小明' }, { firstName: '🎉', lastName: '王 小明' }],
    ['quotes, a backslash and braces', { name: 'D"Ávila \\"{}\' O\'Neill' }, { firstName: 'D"Ávila', lastName: '\\"{}\' O\'Neill' }],
    ['a lone half of a character', { name: 'Ana \ud800' }, { firstName: 'Ana', lastName: '\ud800' }],
    ['an id of letters', { name: 'Ana', id: 'cust-9' }, { firstName: 'Ana', lastName: '', id: 'cust-9' }],
    ['a number as id', { name: 'Ana', id: 42 }, { firstName: 'Ana', lastName: '', id: '42' }],
    ['null as id', { name: 'Ana', id: null }, { firstName: 'Ana', lastName: '' }],
    ['bank details', { name: 'Ana', bankDetails: { bank: '001', branch: '0001', account: '12345-6' } }, { firstName: 'Ana', lastName: '', agency: '0001', account: '12345-6' }],
    ['a branch only', { name: 'Ana', bankDetails: { branch: '0001' } }, { firstName: 'Ana', lastName: '', agency: '0001' }],
    ['an account only', { name: 'Ana', bankDetails: { account: '77' } }, { firstName: 'Ana', lastName: '', account: '77' }],
  ]
  test.each(shoppers)('with %s', async (_what, sent, expected) => {
    const shop = await merchant()
    await it.given.paidSale(shop, { shopper: { email, ...sent } })
    await settle()
    const [call] = shop.calls()
    expect(call!.body.shopper).toEqual({ email, ...unknown, ...expected })
    expect(Object.keys(call!.body.shopper)).toEqual(['id', 'firstName', 'lastName', 'email', 'agency', 'account'])
    expect(call!.text).toBe(JSON.stringify(call!.body))
  })

  test('says nothing of the document and the phone', async () => {
    const shop = await merchant()
    await it.given.paidSale(shop)
    await settle()
    expect(shop.calls()[0]!.text).not.toContain(shopper.document.number)
    expect(shop.calls()[0]!.text).not.toContain(shopper.phone.number)
  })
})

describe('its date', () => {
  test('is the account’s time of the payment, the sale’s processingDate', async () => {
    const shop = await merchant()
    await shop.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    const sale = await it.given.sale(shop)
    it.clock.advance(61_000)
    await pay(shop, sale)
    const date = wireTimestamp(plusMs(it.clock.now(), 3 * DAY_MS))
    it.clock.advance(5_000)
    await settle()
    expect(shop.calls()[0]!.body.date).toBe(date)
    expect((await shop.api.get(`/v1.1/transactions/${sale.uuid}`)).body.processingDate).toBe(date)
  })

  test('is when the payment was heard of, not when the payer’s bank settled it', async () => {
    const shop = await merchant()
    const sale = await it.given.sale(shop)
    const payment = railPayment(it.clock, sale)
    it.clock.advance(5_000)
    await it.service.door.apply([payment])
    await settle()
    expect(shop.calls()[0]!.body.date).toBe(wireTimestamp(it.clock.now() as Instant))
  })
})

describe('once written', () => {
  test('it is frozen: no later change of the account changes address or bytes of a retry', async () => {
    const [shop, other] = [await merchant(), await merchant()]
    shop.answer(500)
    const sale = await it.given.paidSale(shop)
    await settle()
    await shop.api.put('/v1.1/account/notifications', { payment: { url: other.hook } })
    await shop.api.post('/v1.1/sandbox/clock/advance', { days: 10 })
    await exhaust()
    expect([shop.calls().length, other.calls().length]).toEqual([6, 0])
    expect(new Set(shop.calls().map(({ text }) => text)).size).toBe(1)
    const { notifications } = (await shop.api.get(`/v1.1/transactions/${sale.uuid}/webhook`)).body
    expect(
      notifications.map(({ endpoint, request }: never) => [endpoint, (request as { payload: string }).payload]),
    ).toEqual(Array(6).fill([shop.hook, shop.calls()[0]!.text]))
  })

  test('it is told although the address was taken away meanwhile', async () => {
    const shop = await merchant()
    shop.answer(500)
    await it.given.paidSale(shop)
    await settle()
    await shop.api.put('/v1.1/account/notifications', { payment: { url: null } })
    shop.answer(200)
    toNextRetry()
    await settle()
    expect(shop.calls()).toHaveLength(2)
  })
})

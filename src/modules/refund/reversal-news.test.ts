import { describe, expect, test } from 'vitest'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, plusMs, wireTimestamp } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })
const { merchant, settle, toNextRetry } = merchants(it)

const bothTold = (hook: string) => ({ payment: { url: hook }, reversal: { url: `${hook}/back`, enabled: true } })
const onlyReversals = (hook: string) => ({ reversal: { url: hook, enabled: true } })
const attemptsOf = async (account: TestAccount, uuid: string) =>
  (await account.api.get(`/v1.1/transactions/${uuid}/webhook`)).body.notifications as {
    eventType: string
    endpoint: string
  }[]
const eventsOf = async (account: TestAccount, uuid: string) =>
  (await attemptsOf(account, uuid)).map(({ eventType }) => eventType)
const QUERY = '?reversing=true&type=reversing'

describe('REVERSAL_CREATE', () => {
  test('has exactly the fields of the interface, in their order', async () => {
    const shop = await merchant(onlyReversals)
    const sale = await it.given.sale(shop, { amount: 80 })
    const { reversal } = (await pay(shop, sale, { amount: 79.99 })).body
    await settle()
    const now = wireTimestamp(it.clock.now())
    expect(shop.calls().map(({ text }) => JSON.stringify(JSON.parse(text)) === text && JSON.parse(text))).toEqual([
      {
        id: reversal.id,
        uuid: reversal.uuid,
        currency: 'BRL',
        originalAmount: 80,
        reversedAmount: 79.99,
        status: 'PENDING',
        bankDetails: { bank: '', branch: '', account: '' },
        sale: { id: sale.id, uuid: sale.uuid },
        creation: now,
        receipt: null,
        reason: 'AMOUNT_DIFFERS',
        date: now,
      },
    ])
    // biome-ignore format: the order of the interface
    expect(Object.keys(shop.calls()[0]!.body)).toEqual([
      'id', 'uuid', 'currency', 'originalAmount', 'reversedAmount', 'status', 'bankDetails', 'sale', 'creation', 'receipt', 'reason', 'date',
    ])
  })

  test.each([
    ['ALREADY_PAID', 'paidSale'],
    ['SALE_NOT_PENDING', 'cancelledSale'],
  ] as const)('says why: %s', async (reason, made) => {
    const shop = await merchant(onlyReversals)
    await pay(shop, await it.given[made](shop, { amount: 12.34 }))
    await settle()
    expect(shop.calls().map(({ body }) => [body.reason, body.originalAmount, body.reversedAmount])).toEqual([
      [reason, 12.34, 12.34],
    ])
  })

  test('goes to the address of its group, with its query behind what is there', async () => {
    const shop = await merchant((hook) => ({ reversal: { url: `${hook}/back?shop=7`, enabled: true } }))
    await pay(shop, await it.given.paidSale(shop))
    await settle()
    expect(shop.calls().map(({ url }) => url.replace(/^\/[^/]*/, ''))).toEqual([
      '/back?shop=7&reversing=true&type=reversing',
    ])
  })

  test('does not go to the charge’s own callbackURL: that is for the payment', async () => {
    const [shop, own] = [await merchant(onlyReversals), await merchant()]
    await pay(shop, await it.given.paidSale(shop, { callbackURL: own.hook }))
    await settle()
    expect(own.calls().map(({ body }) => body.newStatus)).toEqual(['PAID'])
    expect(shop.calls().map(({ body }) => body.reason)).toEqual(['ALREADY_PAID'])
  })

  test.each([
    ['off, with an address', (hook: string) => ({ payment: { url: hook }, reversal: { url: hook, enabled: false } })],
    ['never set', (hook: string) => ({ payment: { url: hook } })],
  ])('is not told while the group is %s', async (_how, settings) => {
    const shop = await merchant(settings)
    const sale = await it.given.paidSale(shop)
    const { uuid } = (await pay(shop, sale)).body.reversal
    await settle()
    expect(await eventsOf(shop, sale.uuid)).toEqual(['PAYMENT_CONFIRMATION'])
    expect(await eventsOf(shop, uuid)).toEqual([])
    expect(await it.rows('select 1 from notification where also_id = $1', [uuid])).toEqual([])
  })

  test('of money for no known charge is told to nobody', async () => {
    const before = await it.rows('select id from notification')
    await it.service.door.apply([railPayment(it.clock, { txid: 'nobody', amount: 5 })])
    await settle()
    expect(await it.rows('select id from notification')).toEqual(before)
  })

  test('of money for a charge of another account is told to nobody either', async () => {
    const shop = await merchant(onlyReversals)
    const { txid } = await it.given.sale(shop)
    await it.service.door.apply([railPayment(it.clock, { txid: `${txid.slice(0, -1)}~`, amount: 5 })])
    await settle()
    expect(shop.calls()).toEqual([])
  })

  test('is dated by the account’s clock', async () => {
    const shop = await merchant(onlyReversals)
    const sale = await it.given.paidSale(shop)
    await shop.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    await pay(shop, sale)
    await settle()
    const date = wireTimestamp(plusMs(it.clock.now(), 3 * DAY_MS))
    expect(shop.calls().map(({ body }) => [body.creation, body.date])).toEqual([[date, date]])
  })

  test('is told for every payment that does not fit, each with its own uuid', async () => {
    const shop = await merchant(onlyReversals)
    const sale = await it.given.paidSale(shop)
    const uuids: string[] = []
    for (const _payment of [1, 2, 3]) uuids.push((await pay(shop, sale)).body.reversal.uuid)
    await settle()
    expect(shop.calls().map(({ body }) => body.uuid)).toEqual(uuids)
    expect(new Set(uuids).size).toBe(3)
  })
})

describe('its attempts are found', () => {
  test('under the sale’s uuid, with those of the confirmation, and under the reversal’s own', async () => {
    const shop = await merchant(bothTold)
    const sale = await it.given.paidSale(shop)
    await settle()
    it.clock.advance(1_000)
    const { uuid } = (await pay(shop, sale)).body.reversal
    await settle()
    expect(await eventsOf(shop, sale.uuid)).toEqual(['REVERSAL_CREATE', 'PAYMENT_CONFIRMATION'])
    expect(await attemptsOf(shop, uuid)).toMatchObject([
      { eventType: 'REVERSAL_CREATE', endpoint: `${shop.hook}/back${QUERY}` },
    ])
  })

  test('not under another sale or another reversal', async () => {
    const shop = await merchant(bothTold)
    const [one, two] = [await it.given.paidSale(shop), await it.given.paidSale(shop)]
    const [first, second] = [(await pay(shop, one)).body.reversal, (await pay(shop, two)).body.reversal]
    await settle()
    const payloadOf = async (uuid: string) =>
      JSON.parse(((await attemptsOf(shop, uuid)) as unknown as { request: { payload: string } }[])[0]!.request.payload)
    expect([(await payloadOf(first.uuid)).sale.uuid, (await payloadOf(second.uuid)).sale.uuid]).toEqual([
      one.uuid,
      two.uuid,
    ])
  })
})

describe('the news of one sale is told in order', () => {
  const turnsOf = (saleId: string) =>
    it.rows('select event, turn from notification where resource_id = $1 order by turn', [saleId])

  test('the reversal waits until the first attempt of the confirmation has ended', async () => {
    const shop = await merchant(bothTold)
    const sale = await it.given.sale(shop)
    const recordedBefore: string[][] = []
    let release = () => {}
    shop.answer((reply, { body }) => {
      if (body.newStatus) release = () => reply.end()
      else void eventsOf(shop, sale.uuid).then((events) => reply.end(String(recordedBefore.push(events))))
    })
    await pay(shop, sale)
    await shop.received(1)
    await pay(shop, sale)
    for (const _look of [1, 2, 3]) await it.service.deliveries.look()
    expect(
      await it.rows('select turn, held from notification_queue where resource_id = $1 order by 1', [sale.uuid]),
    ).toEqual([
      { turn: 1, held: true },
      { turn: 2, held: false },
    ])
    release()
    await settle()
    expect(shop.calls().map(({ body }) => body.newStatus ?? body.reason)).toEqual(['PAID', 'ALREADY_PAID'])
    expect(recordedBefore).toEqual([['PAYMENT_CONFIRMATION']])
    expect(await turnsOf(sale.uuid)).toEqual([
      { event: 'PAYMENT_CONFIRMATION', turn: 1 },
      { event: 'REVERSAL_CREATE', turn: 2 },
    ])
  })

  test('it does not wait for the retries of a confirmation that failed', async () => {
    const shop = await merchant(bothTold)
    shop.answer((reply, { body }) => void reply.writeHead(body.newStatus ? 500 : 200).end())
    const sale = await it.given.paidSale(shop)
    await pay(shop, sale)
    await settle()
    expect(await eventsOf(shop, sale.uuid)).toHaveLength(2)
    toNextRetry()
    await settle()
    expect(shop.calls().map(({ body }) => body.newStatus ?? body.reason)).toEqual(['PAID', 'ALREADY_PAID', 'PAID'])
  })

  test('a payment that did not fit comes before the one that did', async () => {
    const shop = await merchant(bothTold)
    const sale = await it.given.sale(shop)
    const held = shop.hold()
    await pay(shop, sale, { amount: 1 })
    await pay(shop, sale)
    held.release()
    await settle()
    expect(shop.calls().map(({ body }) => body.newStatus ?? body.reason)).toEqual(['AMOUNT_DIFFERS', 'PAID'])
    expect(await turnsOf(sale.uuid)).toEqual([
      { event: 'REVERSAL_CREATE', turn: 1 },
      { event: 'PAYMENT_CONFIRMATION', turn: 2 },
    ])
  })

  test('turns count what was told, not what was left untold', async () => {
    const shop = await merchant((hook) => ({ payment: { url: hook } }))
    const sale = await it.given.paidSale(shop)
    await pay(shop, sale)
    await shop.api.put('/v1.1/account/notifications', onlyReversals(shop.hook))
    await pay(shop, sale)
    await settle()
    expect(await turnsOf(sale.uuid)).toEqual([
      { event: 'PAYMENT_CONFIRMATION', turn: 1 },
      { event: 'REVERSAL_CREATE', turn: 2 },
    ])
    expect(shop.calls()).toHaveLength(2)
  })

  test('payment and reversal reported together', async () => {
    const shop = await merchant(bothTold)
    const sale = await it.given.sale(shop)
    await it.service.door.apply([railPayment(it.clock, sale), railPayment(it.clock, sale)])
    await settle()
    expect(shop.calls().map(({ body }) => body.newStatus ?? body.reason)).toEqual(['PAID', 'ALREADY_PAID'])
  })
})

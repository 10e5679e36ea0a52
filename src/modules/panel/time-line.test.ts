import { describe, expect, test } from 'vitest'
import { pay } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import { signedIn } from '../../../test/harness/pages.ts'
import { approvedMandate, chargesOf, done, givenPlan } from '../../../test/harness/recurring.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { type CalendarDay, plusDays as plus } from '../../kernel/calendar.ts'

const plusDays = (day: string, days: number) => plus(day as CalendarDay, days)
const it = testService({ deliveries: true })
const { merchant, settle, exhaust } = merchants(it)
type Event = { at: string | null; kind: string } & Record<string, unknown>
const kinds = (events: Event[]) => events.map(({ kind }) => kind)

describe('the time line of a sale', () => {
  test('has everything that happened, in order', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', {
      payment: { url: `${receiver.hook}/x` },
      refund: { url: `${receiver.hook}/x`, enabled: true },
    })
    const sale = await it.given.sale(shop)
    it.clock.advance(60_000)
    await pay(shop, sale, { payer: { name: 'Quem Paga', document: '52998224725' } })
    await settle()
    it.clock.advance(60_000)
    await shop.api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 30, reason: 'broken' })
    it.clock.advance(60_000)
    await it.service.orders.run()
    await it.sweep()
    await it.sweep()
    await settle()
    const reply = await shop.panel.get(`/panel/api/sales/${sale.uuid}`)
    expect(reply.http, reply.text).toBe(200)
    const { sale: shown, events, recurrence } = reply.body
    expect(shown).toMatchObject({
      uuid: sale.uuid,
      situation: 'PAID',
      txid: sale.txid,
      amount: 100,
      refunded: 30,
      split: null,
    })
    expect(recurrence).toBeNull()
    expect(kinds(events).slice(0, 6)).toEqual(['created', 'paid', 'transfer', 'transfer', 'notification', 'refund'])
    expect(events.map(({ at }: Event) => at)).toEqual(events.map(({ at }: Event) => at).sort())
    expect(events[1]).toMatchObject({ payer: { name: 'Quem Paga', document: '***.982.247-**' } })
    expect(events[2]).toMatchObject({ transfer: 'salePaid', from: 'clearing', to: 'available', amount: 100 })
    expect(events[3]).toMatchObject({ transfer: 'saleFee', amount: 0.99 })
    expect(events[4]).toMatchObject({ eventType: 'PAYMENT_CONFIRMATION', state: 'DELIVERED' })
    expect(events[5]).toMatchObject({ amount: 30, reason: 'broken' })
    expect(reply.text).not.toContain('52998224725')
  })

  test('shows every attempt with request and response, and no secret', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    receiver.answer((reply) => void reply.writeHead(500, { 'set-cookie': 'sid=very-secret', 'x-seen': '1' }).end('no!'))
    await shop.api.put('/v1.1/account/notifications', { payment: { url: receiver.hook } })
    const sale = await it.given.paidSale(shop)
    await exhaust()
    const { body, text } = await shop.panel.get(`/panel/api/sales/${sale.uuid}`)
    const told = body.events.find(({ kind }: Event) => kind === 'notification')
    expect([told.state, told.attempts.length]).toEqual(['FAILED', 6])
    expect(told.attempts[0]).toMatchObject({
      number: 1,
      endpoint: receiver.hook,
      status: 'HTTP_STATUS_NOT_EQUALS_200',
      responseCode: 500,
      request: { payload: told.payload },
      response: { body: 'no!', headers: { 'x-seen': '1', 'set-cookie': '***' } },
    })
    expect(JSON.parse(told.payload).saleToken).toBe(sale.uuid)
    expect(told.attempts[0].request.headers['webhook-id']).toBe(told.id)
    const basic = Buffer.from(`${shop.apiKey}:${shop.apiToken}`).toString('base64')
    for (const secret of [basic, shop.apiToken, shop.webhookSecret, 'very-secret']) expect(text).not.toContain(secret)
  })

  test('a cancelled sale, a payment that came too late, and a split', async () => {
    const shop = await signedIn(it)
    await shop.panel.put('/panel/api/v1.1/sandbox/account', { splitEnabled: true })
    const recipient = (await shop.panel.post('/panel/api/v1.1/sandbox/recipients', { name: 'Sócio' })).body.recipient
    const shared = await it.given.paidSale(shop, { split: [{ recipientId: recipient.recipientId, amount: 40 }] })
    const { body } = await shop.panel.get(`/panel/api/sales/${shared.uuid}`)
    expect(body.sale.split.recipients).toEqual([
      expect.objectContaining({
        recipientId: recipient.recipientId,
        name: 'Sócio',
        amount: 40,
        settlementStatus: expect.any(String),
      }),
    ])
    expect(body.events.filter(({ transfer }: Event) => transfer === 'splitOut')).toMatchObject([
      { amount: 40, recipient: { recipientId: recipient.recipientId, name: 'Sócio' } },
    ])
    const cancelled = await it.given.cancelledSale(shop)
    await pay(shop, cancelled)
    const late = (await shop.panel.get(`/panel/api/sales/${cancelled.uuid}`)).body
    expect(kinds(late.events).slice(0, 3)).toEqual(['created', 'cancelled', 'reversal'])
    expect(late.events[1].at).toBeNull()
    expect(late.events[2]).toMatchObject({ reason: 'SALE_NOT_PENDING' })
  })

  test('each share of a split says whose it is, and a recipient hears of nobody else', async () => {
    const shop = await signedIn(it)
    await shop.panel.put('/panel/api/v1.1/sandbox/account', { splitEnabled: true })
    const linked = async (name: string) =>
      (await shop.panel.post('/panel/api/v1.1/sandbox/recipients', { name })).body.recipient.recipientId as string
    const other = await signedIn(it)
    await it.operator.post(`/operator/v1/accounts/${shop.id}/recipients`, { recipientId: other.id })
    const legs = [
      { recipientId: await linked('Zélia'), amount: 7 },
      { recipientId: other.id, amount: 11 },
      { recipientId: await linked('Ana'), amount: 5 },
    ]
    const sale = await it.given.paidSale(shop, { split: legs })
    const { events, sale: shown } = (await shop.panel.get(`/panel/api/sales/${sale.uuid}`)).body
    const shares = events.filter(({ transfer }: Event) => transfer === 'splitOut')
    const told = shares.map(({ amount, recipient }: Event) => [amount, (recipient as { name: string }).name])
    const names = shown.split.recipients.map(({ amount, name }: { amount: number; name: string }) => [amount, name])
    expect(told).toEqual(names)
    expect(told).toEqual([
      [7, 'Zélia'],
      [11, expect.stringMatching(/^Loja da Pessoa/)],
      [5, 'Ana'],
    ])
    expect(events.filter(({ transfer }: Event) => transfer === 'saleFee')).toMatchObject([{ recipient: null }])

    await it.service.settlements.run()
    const [share] = (await other.panel.get('/panel/api/sales')).body.result
    const seen = await other.panel.get(`/panel/api/sales/${share.uuid}`)
    expect(seen.http).toBe(200)
    for (const name of ['Zélia', 'Ana']) expect(seen.text).not.toContain(name)
  })

  test('a charge of a recurrence shows its mandate', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', { payment: { url: receiver.hook } })
    const day = (await shop.panel.get('/panel/api/overview')).body.now.slice(0, 10)
    const mandate = await approvedMandate(shop, { planId: await givenPlan(shop), initialDate: plusDays(day, 5) })
    await done(shop.api.post(`/v1.1/pix-automatic/sandbox/sim/recurrence/${mandate.idRec}/run-due`))
    await settle()
    const [charge] = await chargesOf(mandate)
    const [{ sale_id: uuid } = { sale_id: '' }] = await it.rows<{ sale_id: string }>(
      'select sale_id from charge where sale_id is not null and mandate_id = $1',
      [mandate.uuid],
    )
    const { body, text } = await shop.panel.get(`/panel/api/sales/${uuid}`)
    expect(body.recurrence, text).toMatchObject({
      authorization: { idRec: mandate.idRec, status: 'APPROVED' },
      scheduledPayment: { instructionId: charge!.instructionId, status: 'SCHEDULED' },
    })
    expect(body.events.map(({ eventType }: { eventType?: string }) => eventType)).toContain(
      'RECURRENCE_CHARGE_SCHEDULED',
    )
    // The bytes that were sent are shown as they were; everything else hides the document.
    expect(JSON.stringify([body.sale, body.recurrence])).not.toContain('52998224725')
  })

  test("another account's sale is not found", async () => {
    const [one, two] = [await signedIn(it), await signedIn(it)]
    const sale = await it.given.paidSale(one)
    expect((await two.panel.get(`/panel/api/sales/${sale.uuid}`)).http).toBe(404)
    expect((await two.panel.get(`/panel/api/deliveries/${sale.uuid}`)).body.deliveries).toEqual([])
    expect((await two.panel.get('/panel/api/sales/nonsense')).http).toBe(404)
  })
})

describe('a test notification', () => {
  test('is sent like any other, recorded and shown', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', { refund: { url: `${receiver.hook}/refund`, enabled: false } })
    const sent = await shop.panel.post('/panel/api/notifications/test', { group: 'refund' })
    expect(sent.http, sent.text).toBe(202)
    await receiver.received(1)
    await settle()
    const [call] = receiver.calls()
    expect(call!.body).toEqual({
      type: 'TEST',
      uuid: sent.body.transactionUUID,
      group: 'refund',
      date: expect.any(String),
    })
    expect(call!.headers['authorization']).toMatch(/^Basic /)
    const { deliveries } = (await shop.panel.get(`/panel/api/deliveries/${sent.body.transactionUUID}`)).body
    expect(deliveries).toHaveLength(1)
    expect(deliveries[0]).toMatchObject({ eventType: 'TEST', state: 'DELIVERED', endpoint: `${receiver.hook}/refund` })
    expect(deliveries[0].attempts[0].request.headers.authorization).toBe('***')
  })

  test('needs an address', async () => {
    const shop = await signedIn(it)
    const refused = await shop.panel.post('/panel/api/notifications/test', { group: 'payout' })
    expect([refused.http, refused.body.errors]).toEqual([
      400,
      [{ field: 'payout.url', message: 'there is no address to send it to' }],
    ])
    expect((await shop.panel.post('/panel/api/notifications/test', { group: 'all' })).http).toBe(400)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loseConnection } from '../../../test/harness/faulty-database.ts'
import { checkoutBody, pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { type ReceivedCall, type Receiver, startReceiver } from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS, SECOND_MS } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })

/** One endpoint for everybody: who is told is in the path. */
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
beforeEach(() => {
  receiver.calls.length = 0
  receiver.answer(200)
})
afterAll(() => receiver.stop())

type Json = Record<string, unknown>
type Shared = TestSale & { readonly block: Json; readonly shares: readonly string[] }

const listen = async (account: TestAccount, path: string): Promise<void> => {
  const url = `${receiver.url}${path}`
  expect((await account.api.put('/v1.1/account/notifications', { payment: { url } })).http).toBe(200)
}
async function newRecipient(parent: TestAccount, path?: string): Promise<TestAccount> {
  const { recipient, credentials } = (await parent.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })).body
  const api = it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken })
  const account = { api, id: recipient.recipientId, ...credentials }
  if (path !== undefined) await listen(account, path)
  return account
}
/** A parent that is told at /parent, a recipient that is told at /anna, and one that is not told. */
async function family() {
  const parent = await it.given.account({ splitEnabled: true })
  await listen(parent, '/parent')
  return { parent, anna: await newRecipient(parent, '/anna'), bruno: await newRecipient(parent) }
}
async function sharedSale(parent: TestAccount, recipients: readonly TestAccount[], fields: Json = {}): Promise<Shared> {
  const split = recipients.map(({ id }) => ({ recipientId: id, percentage: 12.5, externalReference: 'nota' }))
  const { body } = await parent.api.post('/v1.1/checkout/transparent', checkoutBody({ split, ...fields }))
  const { uuid, amount, id, instructions } = body.response
  return {
    ...{ uuid, amount, id, txid: /\/qr\/(\w+)\.png$/.exec(instructions.qrCode.url)![1]! },
    block: body.split,
    shares: body.split.recipients.map(({ transactionId }: { transactionId: string }) => transactionId),
  }
}
const settle = () => it.service.settlements.run()
const callsTo = (path: string): ReceivedCall[] => receiver.calls.filter(({ url }) => url === path)
const pathsCalled = () => receiver.calls.map(({ url }) => url).sort()
const settlementOf = async ({ api }: TestAccount, uuid: string): Promise<string> =>
  (await api.get(`/v1.1/transactions/${uuid}`)).body.split.settlementStatus
/** Until the next attempt of a series is due. */
const nextAttempt = async () => {
  it.clock.advance(63 * SECOND_MS)
  await it.deliver()
}
const shopper = {
  id: '7',
  firstName: 'Maria',
  lastName: 'da Silva',
  email: 'maria@example.com',
  agency: '',
  account: '',
}

describe('the parent’s confirmation', () => {
  test('carries the block as it stood at the payment: every leg PENDING', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno], { referenceCode: 'pedido-1' })
    await pay(parent, sale)
    await it.deliver()
    expect(callsTo('/parent').map(({ body }) => body)).toEqual([
      {
        saleToken: sale.uuid,
        referenceCode: 'pedido-1',
        currency: 'BRL',
        amount: 100,
        shopper,
        date: '2026-11-16 12:00:00',
        newStatus: 'PAID',
        split: sale.block,
      },
    ])
    expect(sale.block).toMatchObject({
      parentAmount: 75,
      recipients: [{ settlementStatus: 'PENDING' }, { settlementStatus: 'PENDING' }],
    })
  })

  test('is the same bytes on every retry, although the legs are settled by then', async () => {
    const { parent, bruno } = await family()
    const sale = await sharedSale(parent, [bruno])
    receiver.answer(500)
    await pay(parent, sale)
    await it.deliver()
    await settle()
    expect((await parent.api.get(`/v1.1/transactions/${sale.uuid}`)).body.split.recipients[0].settlementStatus).toBe(
      'SETTLED',
    )
    for (let retries = 0; retries < 5; retries += 1) await nextAttempt()
    receiver.answer(200)
    await parent.api.post(`/v1.1/transactions/${sale.uuid}/webhook/redeliver`)
    await it.deliver()
    const texts = callsTo('/parent').map(({ text }) => text)
    expect(texts).toHaveLength(7)
    expect(new Set(texts).size).toBe(1)
    expect(JSON.parse(texts[0]!).split).toEqual(sale.block)
    const { notifications } = (await parent.api.get(`/v1.1/transactions/${sale.uuid}/webhook`)).body
    expect(new Set(notifications.map(({ request }: { request: { payload: string } }) => request.payload))).toEqual(
      new Set([texts[0]]),
    )
  })

  test('carries no block when the sale is not shared', async () => {
    const { parent } = await family()
    await it.given.paidSale(parent)
    await it.deliver()
    expect(callsTo('/parent')).toHaveLength(1)
    expect(callsTo('/parent')[0]!.body).not.toHaveProperty('split')
  })

  test('is told once: nothing follows when the legs are settled', async () => {
    const { parent, bruno } = await family()
    const sale = await sharedSale(parent, [bruno])
    await pay(parent, sale)
    await it.deliver()
    await settle()
    await nextAttempt()
    expect(pathsCalled()).toEqual(['/parent'])
  })

  test('does not wait for the recipients, nor they for it', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    receiver.answer((reply, { url }) => void reply.writeHead(url === '/parent' ? 500 : 200).end())
    await pay(parent, sale)
    await settle()
    await it.deliver()
    expect(pathsCalled()).toEqual(['/anna', '/parent'])
    receiver.answer(200)
    await nextAttempt()
    expect(pathsCalled()).toEqual(['/anna', '/parent', '/parent'])
  })
})

describe('a recipient’s confirmation', () => {
  test('says PAID, names the parent’s sale, and has its own block with PROCESSING', async () => {
    it.clock.set('2026-11-17 12:00:00')
    const { parent, anna, bruno } = await family()
    await anna.api.post('/v1.1/sandbox/clock/advance', { days: 1 })
    const sale = await sharedSale(parent, [bruno, anna])
    await pay(parent, sale)
    await it.deliver()
    expect(callsTo('/anna')).toEqual([])
    it.clock.set('2026-11-17 12:00:05')
    await settle()
    await it.deliver()
    const [call] = callsTo('/anna')
    expect(call!.body).toEqual({
      saleToken: sale.shares[1],
      referenceCode: sale.uuid,
      currency: 'BRL',
      amount: 12.5,
      shopper,
      date: '2026-11-18 12:00:05',
      newStatus: 'PAID',
      split: {
        role: 'RECIPIENT',
        origin: 'SPLIT',
        refundLiability: 'PARENT',
        amountReceived: 12.5,
        settlementStatus: 'PROCESSING',
      },
    })
    const basic = Buffer.from(`${anna.apiKey}:${anna.apiToken}`).toString('base64')
    expect(call!.headers.authorization).toBe(`Basic ${basic}`)
    expect(pathsCalled()).toEqual(['/anna', '/parent'])
  })

  test('goes to each recipient that has an address, and to nobody for one that has none', async () => {
    const { parent, anna, bruno } = await family()
    const carla = await newRecipient(parent, '/carla')
    const sale = await sharedSale(parent, [anna, bruno, carla])
    await pay(parent, sale)
    await settle()
    await it.deliver()
    expect(pathsCalled()).toEqual(['/anna', '/carla', '/parent'])
    expect((await bruno.api.get('/v1.1/notifications')).body.totalElements).toBe(0)
    expect((await bruno.api.get(`/v1.1/transactions/${sale.shares[1]}/webhook`)).body.notifications).toEqual([])
  })

  test('never goes to the charge’s own callbackURL: that is the parent’s', async () => {
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno], { callbackURL: `${receiver.url}/charge` })
    await pay(parent, sale)
    await settle()
    await it.deliver()
    expect(pathsCalled()).toEqual(['/anna', '/charge'])
  })

  test('is told where the parent is not', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const anna = await newRecipient(parent, '/anna')
    await pay(parent, await sharedSale(parent, [anna]))
    await settle()
    await it.deliver()
    expect(pathsCalled()).toEqual(['/anna'])
  })

  test('goes where the recipient wants it when its share is taken up', async () => {
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno])
    await pay(parent, sale)
    await listen(anna, '/moved')
    await listen(bruno, '/late')
    await settle()
    await it.deliver()
    expect(pathsCalled()).toEqual(['/late', '/moved', '/parent'])
  })

  test('is the same bytes on every retry, and nothing is told of what follows', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    receiver.answer(500)
    await pay(parent, sale)
    await settle()
    expect(await settlementOf(anna, sale.shares[0]!)).toBe('SETTLED')
    await it.deliver()
    for (let retries = 0; retries < 6; retries += 1) await nextAttempt()
    const texts = callsTo('/anna').map(({ text }) => text)
    expect(texts).toHaveLength(6)
    expect(new Set(texts).size).toBe(1)
    expect(new Set(callsTo('/anna').map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(JSON.parse(texts[0]!).split.settlementStatus).toBe('PROCESSING')
    receiver.answer(200)
    expect((await anna.api.post(`/v1.1/transactions/${sale.shares[0]}/webhook/redeliver`)).http).toBe(202)
    await it.deliver()
    expect(callsTo('/anna').at(-1)!.text).toBe(texts[0])
  })

  test('is in the recipient’s own records only, and the parent’s in the parent’s', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    await pay(parent, sale)
    await settle()
    await it.deliver()
    const [share] = sale.shares as [string]
    const attemptsOf = async ({ api }: TestAccount, uuid: string) => {
      const { http, body } = await api.get(`/v1.1/transactions/${uuid}/webhook`)
      return http === 200 ? body.notifications.map(({ eventType, status }: Json) => [eventType, status]) : http
    }
    const confirmed = [['PAYMENT_CONFIRMATION', 'SUCCESS']]
    expect([await attemptsOf(parent, sale.uuid), await attemptsOf(anna, share)]).toEqual([confirmed, confirmed])
    expect([await attemptsOf(parent, share), await attemptsOf(anna, sale.uuid)]).toEqual([404, 404])
    expect((await anna.api.get('/v1.1/notifications')).body.totalElements).toBe(1)
    expect((await parent.api.post(`/v1.1/transactions/${share}/webhook/redeliver`)).http).toBe(404)
  })

  test('finds its transaction PAID and taken up when it asks from its handler', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const seen: Json[] = []
    receiver.answer((reply, { url, body }) => {
      if (url !== '/anna') return void reply.end()
      void anna.api.get(`/v1.1/transactions/${body.saleToken}`).then((answer) => {
        seen.push(answer.body)
        reply.end()
      })
    })
    await pay(parent, sale)
    await settle()
    await it.deliver()
    expect(seen).toMatchObject([
      { situation: 'PAID', split: { settlementStatus: expect.stringMatching(/PROCESSING|SETTLED/) } },
    ])
  })

  test('is told once also when its share fails and is tried again', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const setStatus = (status: string) => it.operator.send('PATCH', `/operator/v1/accounts/${anna.id}`, { status })
    await setStatus('CLOSED')
    await pay(parent, sale)
    await settle()
    const failed = (await parent.api.get(`/v1.1/transactions/${sale.uuid}`)).body.split.recipients[0]
    expect(failed.settlementStatus).toBe('FAILED')
    await setStatus('ACTIVE')
    it.clock.advance(60 * MINUTE_MS)
    await settle()
    await it.deliver()
    expect(await settlementOf(anna, sale.shares[0]!)).toBe('SETTLED')
    await nextAttempt()
    expect(callsTo('/anna')).toHaveLength(1)
    expect(callsTo('/anna')[0]!.body.split.settlementStatus).toBe('PROCESSING')
  })

  test.each([
    ['sale_take_up_shares', 'before'],
    ['sale_take_up_shares', 'after'],
    ['sale_credit_shares', 'before'],
    ['sale_credit_shares', 'after'],
  ] as const)('is told once when the connection breaks: %s, %s its effect', async (name, when) => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    await pay(parent, sale)
    const fault = loseConnection(it.service.db, name, when)
    await settle()
    expect(fault.left()).toBe(0)
    it.clock.advance(60 * MINUTE_MS)
    await settle()
    await it.deliver()
    await nextAttempt()
    expect(await settlementOf(anna, sale.shares[0]!)).toBe('SETTLED')
    expect(callsTo('/anna')).toHaveLength(1)
  })

  test('of many shares of one payment is one for each', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const recipients: TestAccount[] = []
    for (let made = 0; made < 7; made += 1) recipients.push(await newRecipient(parent, `/${made}`))
    const sales = [await sharedSale(parent, recipients), await sharedSale(parent, recipients)]
    await it.service.door.apply(sales.map((sale) => railPayment(it.clock, sale)))
    await settle()
    await it.deliver()
    const tokens = receiver.calls.map(({ body }) => body.saleToken)
    expect(tokens.sort()).toEqual(sales.flatMap(({ shares }) => shares).sort())
    for (const [at] of recipients.entries()) expect(callsTo(`/${at}`)).toHaveLength(2)
  })
})

describe('nobody is told', () => {
  test('of a checkout, a void, an expiry, a renewal, or a payment that did not fit', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna], { maxAge: 10 })
    await parent.api.put(`/v1.1/transactions/${sale.uuid}/void`)
    await parent.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 10 })
    await pay(parent, sale, { amount: 12.5 })
    it.clock.advance(11 * MINUTE_MS)
    await it.sweep()
    await pay(parent, sale)
    await settle()
    await it.deliver()
    expect(pathsCalled()).toEqual([])
  })
})

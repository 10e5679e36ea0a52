import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { onStatement } from '../../../test/harness/faulty-database.ts'
import {
  checkoutBody,
  pay,
  shopper,
  situationOf,
  type TestAccount,
  type TestSale,
} from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, MINUTE_MS } from '../../kernel/calendar.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { txidOf } from '../../kernel/txid.ts'

const it = testService()

type Json = Record<string, unknown>
type Listed = { uuid: string; split?: Json }
type Share = { uuid: string; recipient: TestAccount }
type Shared = TestSale & { readonly block: Json; readonly shares: readonly [Share, ...Share[]] }

async function newRecipient(parent: TestAccount, name = 'Fornecedor'): Promise<TestAccount> {
  const { recipient, credentials } = (await parent.api.post('/v1.1/sandbox/recipients', { name })).body
  const api = it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken })
  return { api, id: recipient.recipientId, ...credentials }
}
async function family(settings: Json = {}) {
  const parent = await it.given.account({ splitEnabled: true, ...settings })
  return { parent, anna: await newRecipient(parent, 'Ana'), bruno: await newRecipient(parent, 'Bruno') }
}
/** A sale of 100.00 that gives the first recipient 30.00, the second 20.00, and so on down. */
async function sharedSale(parent: TestAccount, recipients: readonly TestAccount[], fields: Json = {}): Promise<Shared> {
  const split = recipients.map(({ id }, at) => ({ recipientId: id, amount: 30 - 10 * at }))
  const { http, body, text } = await parent.api.post('/v1.1/checkout/transparent', checkoutBody({ split, ...fields }))
  expect(http, text).toBe(200)
  const { uuid, amount, id, instructions } = body.response
  const shares = body.split.recipients.map((leg: { transactionId: string }, at: number) => ({
    uuid: leg.transactionId,
    recipient: recipients[at],
  }))
  return { uuid, amount, id, txid: /\/qr\/(\w+)\.png$/.exec(instructions.qrCode.url)![1]!, block: body.split, shares }
}
const settle = () => it.service.settlements.run()
const look = ({ api }: TestAccount, uuid: string) => api.get(`/v1.1/transactions/${uuid}`)
const lookAt = ({ uuid, recipient }: Share) => look(recipient, uuid).then(({ body }) => body)
const list = async ({ api }: TestAccount, query = '') => (await api.get(`/v1.1/transactions${query}`)).body
const idsOf = async (account: TestAccount, query = ''): Promise<string[]> =>
  (await list(account, query)).result.map(({ uuid }: Listed) => uuid)
const situations = async (parent: TestAccount, sale: Shared) => [
  await situationOf(parent, sale),
  ...(await Promise.all(sale.shares.map((share) => situationOf(share.recipient, share)))),
]
const settlements = async (parent: TestAccount, { uuid }: TestSale): Promise<string[]> =>
  (await look(parent, uuid)).body.split.recipients.map((leg: { settlementStatus: string }) => leg.settlementStatus)
const totals = async (account: TestAccount): Promise<Record<string, number>> => {
  const of = async (query: string): Promise<number> => (await list(account, query)).totalElements
  return {
    all: await of(''),
    pending: await of('?situation=PENDING'),
    paid: await of('?situation=PAID'),
    cancelled: await of('?situation=CANCELLED'),
    processed: await of('?queryMode=PROCESSED'),
  }
}
const cancel = (account: TestAccount, { uuid }: { uuid: string }) => account.api.put(`/v1.1/transactions/${uuid}/void`)
const renew = (account: TestAccount, { uuid }: { uuid: string }, body: Json = {}) =>
  account.api.put(`/v1.1/checkout/transparent/${uuid}`, body)
const advance = (account: TestAccount, by: Json) => account.api.post('/v1.1/sandbox/clock/advance', by)
const availableOf = async ({ api }: TestAccount): Promise<number> => (await api.get('/v1.1/balance')).body.available
const linesOf = async ({ api }: TestAccount): Promise<[string, string, number, number][]> =>
  (await api.get('/v1.1/statement')).body.result.map(
    ({ type, saleToken, amount, balance }: { type: string; saleToken: string; amount: number; balance: number }) => [
      type,
      saleToken,
      amount,
      balance,
    ],
  )
const notFound = {
  status: 998,
  message: 'transaction not found',
  errorCount: 1,
  errors: [{ field: 'saleToken', message: 'non-existent transaction' }],
}

describe('the transaction on the recipient’s side', () => {
  test('is there from the checkout on, whole, with its own block and the parent’s uuid as its reference', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna], { callbackURL: 'https://example.com/mine', maxAge: 60 })
    const { http, body } = await look(anna, sale.shares[0].uuid)
    expect([http, body]).toEqual([
      200,
      {
        status: 0,
        message: 'success',
        id: expect.any(Number),
        uuid: sale.shares[0].uuid,
        type: 'SALE',
        situation: 'PENDING',
        currency: 'BRL',
        amount: 30,
        shipping: 0,
        discounts: 0,
        total: 30,
        appliedRate: 0,
        referenceCode: sale.uuid,
        creation: '2026-11-16 12:00:00',
        maxAge: '2026-11-16 13:00:00',
        processingDate: null,
        paymentMethod: 'PIX',
        callbackURL: null,
        shopper: { ...shopper },
        refunds: { quantity: 0, requested: 0, available: 0, transactions: [] },
        split: {
          role: 'RECIPIENT',
          origin: 'SPLIT',
          refundLiability: 'PARENT',
          amountReceived: 30,
          settlementStatus: 'PENDING',
        },
      },
    ])
    expect(body.id).not.toBe(sale.id)
  })

  test('is the recipient’s alone, as the sale is the parent’s alone', async () => {
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno])
    const stranger = await it.given.account({ splitEnabled: true })
    const [ofAnna, ofBruno] = sale.shares.map(({ uuid }) => uuid) as [string, string]
    const unseen: [TestAccount, string[]][] = [
      [parent, [ofAnna, ofBruno]],
      [anna, [sale.uuid, ofBruno]],
      [bruno, [sale.uuid, ofAnna]],
      [stranger, [sale.uuid, ofAnna, ofBruno]],
    ]
    for (const [account, uuids] of unseen)
      for (const uuid of uuids) {
        const { http, body } = await look(account, uuid)
        expect([http, body]).toEqual([404, notFound])
      }
    expect([await idsOf(parent), await idsOf(anna), await idsOf(bruno), await idsOf(stranger)]).toEqual([
      [sale.uuid],
      [ofAnna],
      [ofBruno],
      [],
    ])
  })

  test('is in the recipient’s list as it is in the query', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const own = await it.given.sale(anna)
    const { status, message, ...single } = await lookAt(sale.shares[0])
    const { result, totalElements } = await list(anna)
    expect([status, message, totalElements]).toEqual([0, 'success', 2])
    expect(result.find(({ uuid }: Listed) => uuid === single.uuid)).toEqual(single)
    expect(result.find(({ uuid }: Listed) => uuid === own.uuid)).not.toHaveProperty('split')
  })

  test('is found by every filter of the list, and counted', async () => {
    const { parent, anna } = await family()
    const [one, other] = [await sharedSale(parent, [anna]), await sharedSale(parent, [anna], { amount: 50 })]
    const own = await it.given.sale(anna, { amount: 7 })
    const [first, second] = [one.shares[0].uuid, other.shares[0].uuid]
    await cancel(parent, other)
    expect(await idsOf(anna, `?referenceCode=${one.uuid}`)).toEqual([first])
    expect(await idsOf(anna, `?referenceCode=${first}`)).toEqual([])
    expect((await idsOf(anna, '?amount=30')).sort()).toEqual([first, second].sort())
    expect(await idsOf(anna, '?amount=100')).toEqual([])
    expect(await idsOf(anna, '?amount=30&situation=CANCELLED')).toEqual([second])
    expect(await idsOf(anna, '?situation=CANCELLED')).toEqual([second])
    expect((await idsOf(anna, '?situation=PENDING')).sort()).toEqual([first, own.uuid].sort())
    expect((await idsOf(anna, '?type=SALE')).sort()).toEqual([first, second, own.uuid].sort())
    expect(await idsOf(anna, '?type=REFUND')).toEqual([])
    expect(await totals(anna)).toEqual({ all: 3, pending: 2, paid: 0, cancelled: 1, processed: 0 })
    expect(await totals(parent)).toEqual({ all: 2, pending: 1, paid: 0, cancelled: 1, processed: 0 })
  })

  test('is PAID with its parent, but processed only when it is credited', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const [share] = sale.shares
    await pay(parent, sale)
    expect(await lookAt(share)).toMatchObject({
      situation: 'PAID',
      processingDate: null,
      refunds: { available: 0 },
      split: { amountReceived: 30, settlementStatus: 'PENDING' },
    })
    const processed = [
      '?queryMode=PROCESSED',
      '?queryMode=PROCESSED&amount=30',
      `?queryMode=PROCESSED&referenceCode=${sale.uuid}`,
    ]
    for (const query of processed) expect(await idsOf(anna, query), query).toEqual([])
    expect(await totals(anna)).toEqual({ all: 1, pending: 0, paid: 1, cancelled: 0, processed: 0 })
    expect([await availableOf(anna), await linesOf(anna)]).toEqual([0, []])
    it.clock.set('2026-11-16 14:30:00')
    await settle()
    expect(await lookAt(share)).toMatchObject({
      situation: 'PAID',
      processingDate: '2026-11-16 14:30:00',
      refunds: { available: 0 },
      split: { amountReceived: 30, settlementStatus: 'SETTLED' },
    })
    for (const query of processed) expect(await idsOf(anna, query), query).toEqual([share.uuid])
    expect(await totals(anna)).toEqual({ all: 1, pending: 0, paid: 1, cancelled: 0, processed: 1 })
    expect([await availableOf(anna), await linesOf(anna)]).toEqual([30, [['SPLIT_CREDIT', share.uuid, 30, 30]]])
  })

  test('has neither a QR code nor a life of its own: everything that would move it finds no sale', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const [{ uuid }] = sale.shares
    const actions = {
      'QR code': () => anna.api.get(`/v1.1/transactions/pix/${uuid}`),
      void: () => cancel(anna, { uuid }),
      renewal: () => renew(anna, { uuid }),
      payment: () => pay(anna, { uuid }),
      'payment under a key': () =>
        anna.api.post(`/v1.1/sandbox/sim/sale/${uuid}/paid`, {}, { headers: { 'idempotency-key': randomUUID() } }),
    }
    const expectRefusals = async () => {
      for (const [name, act] of Object.entries(actions)) {
        const { http, body } = await act()
        expect([name, http, body]).toEqual([name, 404, notFound])
      }
    }
    await expectRefusals()
    expect(await situations(parent, sale)).toEqual(['PENDING', 'PENDING'])
    await cancel(parent, sale)
    await expectRefusals()
    expect(await situations(parent, sale)).toEqual(['CANCELLED', 'CANCELLED'])
    await renew(parent, sale)
    await pay(parent, sale)
    await settle()
    await expectRefusals()
  })

  test('does not say who paid: no payment named it, so it answers as for QR code and void', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const [{ uuid }] = sale.shares
    await pay(parent, sale)
    await settle()
    const { http, body } = await anna.api.get(`/v1.1/transactions/${uuid}/payment_info`)
    expect([http, body]).toEqual([
      404,
      {
        status: 998,
        message: 'transaction not found',
        errorCount: 1,
        errors: [{ field: 'sale_uuid', message: 'the sale informed does not exist' }],
      },
    ])
    expect((await parent.api.get(`/v1.1/transactions/${sale.uuid}/payment_info`)).http).toBe(200)
  })

  test('cannot be paid at the rail: money for a txid made of it belongs to nobody, and its image is not there', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const [{ uuid }] = sale.shares
    const [row] = await it.rows<{ id: AccountId }>('select id from account where uuid = $1', [anna.id])
    const txid = txidOf({ accountId: row!.id, saleId: uuid as SaleId, renewals: 0 })
    expect((await it.api.get(`/qr/${txid}.png`)).http).toBe(404)
    const [outcome] = await it.service.door.apply([railPayment(it.clock, { txid, amount: 30 })])
    expect(outcome).toMatchObject({ outcome: 'reversed', accountId: 1 })
    expect(await situations(parent, sale)).toEqual(['PENDING', 'PENDING'])
  })

  test('has an empty list of webhook attempts, and nothing to send again, while nobody was told', async () => {
    const { parent, anna } = await family()
    const [{ uuid }] = (await sharedSale(parent, [anna])).shares
    const attempts = await anna.api.get(`/v1.1/transactions/${uuid}/webhook`)
    expect([attempts.http, attempts.body.notifications]).toEqual([200, []])
    expect((await anna.api.post(`/v1.1/transactions/${uuid}/webhook/redeliver`)).http).toBe(404)
    expect((await parent.api.get(`/v1.1/transactions/${uuid}/webhook`)).http).toBe(404)
  })
})

describe('a payment', () => {
  test('gives the parent what its legs leave, less its fee, and each recipient its leg', async () => {
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno])
    const paid = await pay(parent, sale)
    expect(paid.body).toMatchObject({ sale: { uuid: sale.uuid, situation: 'PAID' }, reversal: null })
    expect(await situations(parent, sale)).toEqual(['PAID', 'PAID', 'PAID'])
    expect([await availableOf(parent), await linesOf(parent)]).toEqual([
      49.01,
      [
        ['FEE', sale.uuid, -0.99, 49.01],
        ['SALE', sale.uuid, 50, 50],
      ],
    ])
    expect((await look(parent, sale.uuid)).body).toMatchObject({ amount: 100, refunds: { available: 100 } })
    await settle()
    expect([await availableOf(anna), await availableOf(bruno), await availableOf(parent)]).toEqual([30, 20, 49.01])
  })

  test('is settled leg by leg: PENDING, PROCESSING while it is under way, SETTLED', async () => {
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno])
    const seen = [await settlements(parent, sale)]
    await pay(parent, sale)
    seen.push(await settlements(parent, sale))
    const before = onStatement(it.service.db, 'sale_credit_shares', {
      before: async () => {
        seen.push(await settlements(parent, sale))
        expect((await lookAt(sale.shares[0])).split.settlementStatus).toBe('PROCESSING')
        expect((await lookAt(sale.shares[0])).processingDate).toBeNull()
        expect(await availableOf(anna)).toBe(0)
      },
    })
    await settle()
    seen.push(await settlements(parent, sale))
    expect([before.left(), seen]).toEqual([
      0,
      [
        ['PENDING', 'PENDING'],
        ['PENDING', 'PENDING'],
        ['PROCESSING', 'PROCESSING'],
        ['SETTLED', 'SETTLED'],
      ],
    ])
    const block = (await look(parent, sale.uuid)).body.split
    expect((await list(parent)).result[0].split).toEqual(block)
    const blank = (one: Json) => JSON.stringify(one).replaceAll(/"settlementStatus":"\w+"/g, '')
    expect(blank(block)).toBe(blank(sale.block))
  })

  test('of nothing but shares leaves the parent no line and no balance', async () => {
    const { parent, anna } = await family({ fees: { PIX: { percent: 0, fixed: 0 } } })
    const sale = await sharedSale(parent, [anna], { amount: 30 })
    await pay(parent, sale)
    await settle()
    expect([await availableOf(parent), await linesOf(parent), await availableOf(anna)]).toEqual([0, [], 30])
    expect((await look(parent, sale.uuid)).body).toMatchObject({ situation: 'PAID', amount: 30 })
    expect(await totals(parent)).toMatchObject({ all: 1, paid: 1 })
  })

  test('of nothing but shares is not among the processed sales, whatever else is asked: nothing was booked for it', async () => {
    const { parent, anna } = await family({ fees: { PIX: { percent: 0, fixed: 0 } } })
    const sale = await sharedSale(parent, [anna], { amount: 30 })
    await pay(parent, sale)
    expect((await look(parent, sale.uuid)).body.processingDate).not.toBeNull()
    expect(await idsOf(parent, '?queryMode=PROCESSED&amount=30')).toEqual([])
    expect(await idsOf(parent, '?queryMode=PROCESSED')).toEqual([])
  })

  test('that does not fit moves no share: another amount, too late, twice', async () => {
    const { parent, anna } = await family()
    const [wrong, late, twice] = [
      await sharedSale(parent, [anna]),
      await sharedSale(parent, [anna]),
      await sharedSale(parent, [anna]),
    ]
    expect((await pay(parent, wrong, { amount: 30 })).body.reversal.reason).toBe('AMOUNT_DIFFERS')
    await cancel(parent, late)
    expect((await pay(parent, late)).body.reversal.reason).toBe('SALE_NOT_PENDING')
    await pay(parent, twice)
    expect((await pay(parent, twice)).body.reversal.reason).toBe('ALREADY_PAID')
    await settle()
    expect(await situations(parent, wrong)).toEqual(['PENDING', 'PENDING'])
    expect(await situations(parent, late)).toEqual(['CANCELLED', 'CANCELLED'])
    expect(await availableOf(anna)).toBe(30)
  })

  test('under a key is made once, and so are its credits', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    const send = () =>
      parent.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {}, { headers: { 'idempotency-key': 'once' } })
    const replies = [await send(), await send()]
    await settle()
    expect(replies.map(({ text }) => text)).toEqual([replies[0]!.text, replies[0]!.text])
    expect([await settlements(parent, sale), await availableOf(anna)]).toEqual([['SETTLED'], 30])
  })

  test('of many shared and plain sales in one batch', async () => {
    const { parent, anna, bruno } = await family()
    const plain = await it.given.account()
    const sales = [
      await sharedSale(parent, [anna, bruno]),
      await it.given.sale(plain, { amount: 10 }),
      await sharedSale(parent, [bruno]),
      await it.given.sale(anna, { amount: 5 }),
      await sharedSale(parent, [anna]),
    ]
    const payments = sales.map((sale, at) => railPayment(it.clock, sale, at === 4 ? { amount: 1 } : {}))
    const outcomes = await it.service.door.apply(payments)
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied', 'applied', 'reversed'])
    await settle()
    const balances = [await availableOf(parent), await availableOf(anna), await availableOf(bruno)]
    expect(balances).toEqual([118.02, 34.95, 50])
    expect(await totals(anna)).toEqual({ all: 3, pending: 1, paid: 2, cancelled: 0, processed: 2 })
    expect(await totals(bruno)).toEqual({ all: 2, pending: 0, paid: 2, cancelled: 0, processed: 2 })
  })
})

describe('the end of a sale that nobody pays', () => {
  test('a void cancels the shares with it, and is refused a second time', async () => {
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno])
    expect((await cancel(parent, sale)).http).toBe(200)
    expect(await situations(parent, sale)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED'])
    expect((await cancel(parent, sale)).body.status).toBe(999)
    expect(await totals(anna)).toEqual({ all: 1, pending: 0, paid: 0, cancelled: 1, processed: 0 })
    expect(await settlements(parent, sale)).toEqual(['PENDING', 'PENDING'])
    await settle()
    expect(await availableOf(anna)).toBe(0)
  })

  test('a paid sale cannot be voided, nor its shares', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    await pay(parent, sale)
    expect((await cancel(parent, sale)).body.status).toBe(999)
    expect(await situations(parent, sale)).toEqual(['PAID', 'PAID'])
  })

  test('the sweep cancels the shares with the sale, the moment after its expiry', async () => {
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno], { maxAge: 10 })
    const later = await sharedSale(parent, [anna], { maxAge: 11 })
    it.clock.advance(10 * MINUTE_MS)
    await it.sweep()
    expect(await situations(parent, sale)).toEqual(['PENDING', 'PENDING', 'PENDING'])
    it.clock.advance(1)
    await it.sweep()
    expect(await situations(parent, sale)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED'])
    expect(await situations(parent, later)).toEqual(['PENDING', 'PENDING'])
    expect(await totals(anna)).toMatchObject({ all: 2, pending: 1, cancelled: 1 })
  })

  test('a jump of the parent’s clock cancels the shares, and counts as one thing done', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna], { maxAge: 60 })
    const { body } = await advance(parent, { hours: 2 })
    expect(body.processed).toBe(1)
    expect(await situations(parent, sale)).toEqual(['CANCELLED', 'CANCELLED'])
  })

  test('a jump of the recipient’s clock does nothing to its shares: they follow their parent', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna], { maxAge: 60 })
    const own = await it.given.sale(anna, { maxAge: 60 })
    const { body } = await advance(anna, { days: 3 })
    expect(body.processed).toBe(1)
    await it.sweep()
    expect(await situationOf(anna, own)).toBe('CANCELLED')
    expect(await situations(parent, sale)).toEqual(['PENDING', 'PENDING'])
    await pay(parent, sale)
    await settle()
    expect([await situations(parent, sale), await availableOf(anna)]).toEqual([['PAID', 'PAID'], 30])
  })
})

describe('a renewal', () => {
  test('brings sale and shares back, with the same legs and PENDING, and answers like a checkout', async () => {
    it.clock.set('2026-11-18 12:00:00')
    const { parent, anna, bruno } = await family()
    const sale = await sharedSale(parent, [anna, bruno], { maxAge: 60 })
    await cancel(parent, sale)
    it.clock.set('2026-11-18 15:00:00')
    const { http, body } = await renew(parent, sale, { maxAge: 30 })
    expect([http, body.split, body.response.uuid]).toEqual([200, sale.block, sale.uuid])
    expect(await situations(parent, sale)).toEqual(['PENDING', 'PENDING', 'PENDING'])
    expect((await look(parent, sale.uuid)).body.maxAge).toBe('2026-11-18 15:30:00')
    expect((await lookAt(sale.shares[0])).maxAge).toBe('2026-11-18 15:30:00')
    expect(await totals(anna)).toEqual({ all: 1, pending: 1, paid: 0, cancelled: 0, processed: 0 })
    await pay(parent, sale)
    await settle()
    expect(await settlements(parent, sale)).toEqual(['SETTLED', 'SETTLED'])
    expect([await availableOf(anna), await availableOf(bruno)]).toEqual([30, 20])
  })

  test('of an expired sale lets it expire again, shares and all', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna], { maxAge: 10 })
    for (const _ of [1, 2, 3]) {
      it.clock.advance(10 * MINUTE_MS + 1)
      await it.sweep()
      expect(await situations(parent, sale)).toEqual(['CANCELLED', 'CANCELLED'])
      expect((await renew(parent, sale, { maxAge: 10 })).http).toBe(200)
      expect(await situations(parent, sale)).toEqual(['PENDING', 'PENDING'])
    }
  })

  test('looks at the recipients again: all that cannot be credited any more are named, and nothing moves', async () => {
    const { parent, anna, bruno } = await family()
    const carla = await newRecipient(parent, 'Carla')
    const sale = await sharedSale(parent, [anna, bruno, carla])
    await cancel(parent, sale)
    await parent.api.put(`/v1.1/sandbox/recipients/${anna.id}`, { active: false })
    await it.operator.send('PATCH', `/operator/v1/accounts/${carla.id}`, { status: 'CLOSED' })
    const { http, body } = await renew(parent, sale)
    expect([http, body]).toEqual([
      400,
      {
        status: -1,
        message: 'validation failure',
        errorCount: 2,
        errors: [
          { field: 'split[0].recipientId', message: 'split.recipientInactive' },
          { field: 'split[2].recipientId', message: 'split.recipientInactive' },
        ],
        main_error_message: 'split.recipientInactive',
      },
    ])
    await parent.api.put(`/v1.1/sandbox/recipients/${anna.id}`, { active: true })
    await it.operator.send('PATCH', `/operator/v1/accounts/${carla.id}`, { status: 'ACTIVE' })
    expect(await situations(parent, sale)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED', 'CANCELLED'])
    expect((await renew(parent, sale)).http).toBe(200)
  })

  test('is refused by the state before the recipients, and by the fields before the state', async () => {
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna])
    await parent.api.put(`/v1.1/sandbox/recipients/${anna.id}`, { active: false })
    expect((await renew(parent, sale)).body).toMatchObject({ status: 999, message: 'transaction not CANCELLED' })
    expect((await renew(parent, sale, { maxAge: 0 })).body.errors[0].field).toBe('maxAge')
  })

  test('of a sale that is not shared looks at nobody', async () => {
    const parent = await it.given.account()
    const sale = await it.given.cancelledSale(parent)
    const { http, body } = await renew(parent, sale)
    expect([http, Object.keys(body).sort()]).toEqual([200, ['message', 'response', 'status']])
  })
})

describe('clocks that differ', () => {
  test('each side sees its own time: when it was made, when it ends, when it was credited', async () => {
    it.clock.set('2026-11-20 12:00:00')
    const { parent, anna, bruno } = await family()
    await advance(parent, { days: 1 })
    await advance(anna, { days: 10 })
    const sale = await sharedSale(parent, [anna, bruno], { maxAge: 60 })
    const times = async () => {
      const seen = [(await look(parent, sale.uuid)).body, ...(await Promise.all(sale.shares.map(lookAt)))]
      return seen.map(({ creation, maxAge, processingDate }) => [creation, maxAge, processingDate])
    }
    expect(await times()).toEqual([
      ['2026-11-21 12:00:00', '2026-11-21 13:00:00', null],
      ['2026-11-30 12:00:00', '2026-11-30 13:00:00', null],
      ['2026-11-20 12:00:00', '2026-11-20 13:00:00', null],
    ])
    await pay(parent, sale)
    it.clock.set('2026-11-20 12:00:07')
    await settle()
    expect((await times()).map(([, , processed]) => processed)).toEqual([
      '2026-11-21 12:00:00',
      '2026-11-30 12:00:07',
      '2026-11-20 12:00:07',
    ])
    for (const [account, day] of [
      [parent, '2026-11-21'],
      [anna, '2026-11-30'],
      [bruno, '2026-11-20'],
    ] as const)
      for (const mode of ['CREATION', 'PROCESSED'])
        expect((await list(account, `?initialDate=${day}&finalDate=${day}&queryMode=${mode}`)).totalElements).toBe(1)
  })

  test('a renewal after the parent’s clock jumped ends by each side’s own time too', async () => {
    it.clock.set('2026-11-21 12:00:00')
    const { parent, anna } = await family()
    const sale = await sharedSale(parent, [anna], { maxAge: 60 })
    await advance(parent, { days: 2 })
    expect((await renew(parent, sale, { maxAge: 60 })).http).toBe(200)
    expect((await look(parent, sale.uuid)).body.maxAge).toBe('2026-11-23 13:00:00')
    expect((await lookAt(sale.shares[0])).maxAge).toBe('2026-11-21 13:00:00')
  })

  test('void, expiry and renewal count each side in its own hour', async () => {
    it.clock.set('2026-11-22 12:59:59')
    const { parent, anna } = await family()
    await advance(anna, { minutes: 90 })
    const sale = await sharedSale(parent, [anna], { maxAge: 30 })
    await advance(parent, { hours: 5 })
    expect(await situations(parent, sale)).toEqual(['CANCELLED', 'CANCELLED'])
    await renew(parent, sale)
    await cancel(parent, sale)
    await renew(parent, sale)
    expect(await totals(anna)).toEqual({ all: 1, pending: 1, paid: 0, cancelled: 0, processed: 0 })
    it.clock.advance(DAY_MS + 1)
    await it.sweep()
    expect(await totals(anna)).toEqual({ all: 1, pending: 0, paid: 0, cancelled: 1, processed: 0 })
  })
})

describe('an account in both roles', () => {
  test('is paid its shares and shares what it is paid, each with its own block', async () => {
    const { parent, anna } = await family()
    await anna.api.put('/v1.1/sandbox/account', { splitEnabled: true })
    const dario = await newRecipient(anna, 'Dario')
    const [above, below] = [await sharedSale(parent, [anna]), await sharedSale(anna, [dario])]
    await it.service.door.apply([above, below].map((sale) => railPayment(it.clock, sale)))
    await settle()
    const blocks = new Map<string, Json>(
      (await list(anna)).result.map(({ uuid, split }: Listed) => [uuid, split ?? {}] as const),
    )
    expect(blocks.get(above.shares[0].uuid)).toMatchObject({ role: 'RECIPIENT', amountReceived: 30 })
    expect(blocks.get(below.uuid)).toMatchObject({ feePayer: 'PARENT', grossAmount: 100, parentAmount: 70 })
    const balances = [await availableOf(parent), await availableOf(anna), await availableOf(dario)]
    expect(balances).toEqual([69.01, 99.01, 30])
    expect((await linesOf(anna)).map(([type]) => type).sort()).toEqual(['FEE', 'SALE', 'SPLIT_CREDIT'])
    expect((await idsOf(anna, '?queryMode=PROCESSED')).sort()).toEqual([above.shares[0].uuid, below.uuid].sort())
  })

  test('two that share with each other: paid in one batch, voided, expired and renewed apart', async () => {
    const [one, two] = [await it.given.account({ splitEnabled: true }), await it.given.account({ splitEnabled: true })]
    for (const [parent, recipient] of [
      [one, two],
      [two, one],
    ] as const)
      await it.operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId: recipient.id })
    const of = (parent: TestAccount, fields: Json = {}) => sharedSale(parent, [parent === one ? two : one], fields)
    const [paidOne, paidTwo, voided, expired] = [
      await of(one),
      await of(two),
      await of(one),
      await of(two, { maxAge: 1 }),
    ]
    await it.service.door.apply([paidOne, paidTwo].map((sale) => railPayment(it.clock, sale)))
    await settle()
    await cancel(one, voided)
    it.clock.advance(MINUTE_MS + 1)
    await it.sweep()
    for (const account of [one, two]) {
      expect(await availableOf(account)).toBe(99.01)
      expect(await totals(account)).toEqual({ all: 4, pending: 0, paid: 2, cancelled: 2, processed: 2 })
    }
    await renew(two, expired)
    expect(await totals(one)).toMatchObject({ pending: 1, cancelled: 1 })
    expect(await totals(two)).toMatchObject({ pending: 1, cancelled: 1 })
  })
})

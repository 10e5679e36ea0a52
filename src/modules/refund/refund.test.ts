import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { pay, shopper, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import { accepted, linesOf, moneyOf, refund, simulate } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, SECOND_MS } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const NOON = '2026-11-16 12:00:00'

/** Money enough for any refund of its first sale; nothing settles by itself. */
async function shop(fields: Record<string, unknown> = {}) {
  const account = await it.given.account({ autoSettle: false, overdraftLimit: 1 })
  return { account, sale: await it.given.paidSale(account, fields) }
}
const query = async ({ api }: TestAccount, { uuid }: Pick<TestSale, 'uuid'>) =>
  (await api.get(`/v1.1/transactions/${uuid}`)).body
const refusal = { status: -1, message: 'field validation failure', errorCount: 1 }
const tooMuch = { field: 'amount', message: 'is more than the sale has left to refund', code: 'refund.tooMuch' }
const notCovered = {
  field: 'amount',
  message: 'the balance does not cover the refund',
  code: 'refund.insufficientBalance',
}
const expired = { field: 'saleUUID', message: 'was paid over 90 days ago', code: 'refund.expired' }
const unknown = {
  status: 998,
  message: 'transaction not found',
  errorCount: 1,
  errors: [{ field: 'saleToken', message: 'non-existent transaction' }],
}

describe('a refund that is accepted', () => {
  test('answers with itself, what goes back in all, and what is left', async () => {
    const { account, sale } = await shop()
    const { http, body } = await refund(account, sale, { amount: '25.50', reason: 'devolução' })
    expect([http, body]).toEqual([
      200,
      {
        status: 0,
        message: 'success',
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        currency: 'BRL',
        originalAmount: 100,
        totalToRefund: 25.5,
        currentBalance: 73.51,
        discounts: 0,
        shopper,
      },
    ])
    expect((await refund(account, sale, { amount: 0.01 })).body).toMatchObject({
      totalToRefund: 25.51,
      currentBalance: 73.5,
    })
  })

  test('leaves the sale PAID, and is seen in its query', async () => {
    it.clock.set(NOON)
    const bankDetails = { bank: '001', branch: '1234', account: '56789-0' }
    const { account, sale } = await shop({ shopper: { ...shopper, bankDetails } })
    const made: string[] = []
    for (const [amount, reason] of [[10, 'torn'], [20], [30]]) {
      made.push(await accepted(refund(account, sale, { amount, reason })))
      it.clock.advance(1)
    }
    const [first, second, third] = made as [string, string, string]
    it.clock.advance(60 * SECOND_MS)
    await simulate(account, 'refund', second, 'paid')
    await simulate(account, 'refund', third, 'cancelled')
    const { situation, refunds } = await query(account, sale)
    const item = { creation: NOON, creditDate: null, remark: null, bankDetails }
    expect(situation).toBe('PAID')
    expect(refunds).toEqual({
      quantity: 3,
      requested: 30,
      available: 70,
      transactions: [
        { ...item, uuid: first, total: 10, status: 'PENDING', remark: 'torn' },
        { ...item, uuid: second, total: 20, status: 'PAID', creditDate: '2026-11-16 12:01:00' },
        { ...item, uuid: third, total: 30, status: 'CANCELLED' },
      ],
    })
  })

  test('is debited at once: held until the rail has paid it, and gone then; its sale keeps its fee', async () => {
    const { account, sale } = await shop()
    const uuid = await accepted(refund(account, sale, { amount: 40 }))
    expect(await moneyOf(account)).toEqual({ available: 59.01, blocked: 40 })
    await simulate(account, 'refund', uuid, 'paid')
    expect(await moneyOf(account)).toEqual({ available: 59.01, blocked: 0 })
    expect(await linesOf(account)).toEqual([
      ['REFUND', -40],
      ['FEE', -0.99],
      ['SALE', 100],
    ])
  })

  test('comes back whole when it is cancelled, and may be asked for again', async () => {
    const { account, sale } = await shop()
    const uuid = await accepted(refund(account, sale, { amount: 100 }))
    expect(await moneyOf(account)).toEqual({ available: -0.99, blocked: 100 })
    await simulate(account, 'refund', uuid, 'cancelled')
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
    expect((await linesOf(account)).slice(0, 2)).toEqual([
      ['REFUND_CANCELLED', 100],
      ['REFUND', -100],
    ])
    expect((await query(account, sale)).refunds).toMatchObject({ quantity: 1, requested: 0, available: 100 })
    expect((await refund(account, sale, { amount: 100 })).body.totalToRefund).toBe(100)
  })

  test('is in the statement under its sale', async () => {
    const { account, sale } = await shop()
    await accepted(refund(account, sale, { amount: 40 }))
    const [line] = (await account.api.get('/v1.1/statement')).body.result
    expect(line).toMatchObject({ type: 'REFUND', saleToken: sale.uuid, amount: -40, balance: 59.01 })
  })

  test('is made once per key: asked again, the answer is the first one', async () => {
    const { account, sale } = await shop()
    const headers = { 'idempotency-key': randomUUID() }
    const ask = () =>
      account.api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 60, reason: 'x' }, { headers })
    const [first, again] = [await ask(), await ask()]
    expect([first.http, again.http, again.headers['idempotency-replayed']]).toEqual([200, 200, 'true'])
    expect(again.body).toEqual(first.body)
    expect((await query(account, sale)).refunds).toMatchObject({ quantity: 1, requested: 60 })
  })
})

describe('several refunds of one sale', () => {
  test('take its gross amount together, and not a cent more', async () => {
    const { account, sale } = await shop({ amount: 100 })
    for (const amount of [33.33, 33.33, 33.33]) await accepted(refund(account, sale, { amount }))
    const more = await refund(account, sale, { amount: 0.02 })
    expect([more.http, more.body]).toEqual([400, { ...refusal, errors: [tooMuch] }])
    await accepted(refund(account, sale, { amount: 0.01 }))
    expect((await refund(account, sale, { amount: 0.01 })).body.errors).toEqual([tooMuch])
    expect((await query(account, sale)).refunds).toMatchObject({ quantity: 4, requested: 100, available: 0 })
  })

  test('of different sales do not count together', async () => {
    const { account, sale } = await shop({ amount: 10 })
    const other = await it.given.paidSale(account, { amount: 10 })
    await accepted(refund(account, sale, { amount: 10 }))
    expect((await refund(account, other, { amount: 10 })).body.totalToRefund).toBe(10)
  })
})

describe('the money for a refund', () => {
  test('is the balance and the overdraft together, to the cent', async () => {
    const account = await it.given.account({ autoSettle: false, overdraftLimit: 0.98 })
    const sale = await it.given.paidSale(account)
    const refused = await refund(account, sale, { amount: 100 })
    expect([refused.http, refused.body]).toEqual([400, { ...refusal, errors: [notCovered] }])
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
    await accepted(refund(account, sale, { amount: 99.99 }))
    expect(await moneyOf(account)).toEqual({ available: -0.98, blocked: 99.99 })
    expect((await refund(account, sale, { amount: 0.01 })).body.errors).toEqual([notCovered])
  })

  test('of a shared sale is the parent’s for the whole of it; recipients keep their shares', async () => {
    const parent = await it.given.account({ autoSettle: false, splitEnabled: true, overdraftLimit: 60 })
    const { recipient, credentials } = (await parent.api.post('/v1.1/sandbox/recipients', { name: 'Sócia' })).body
    const { recipientId } = recipient
    const partner = it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken })
    const sale = await it.given.paidSale(parent, { split: [{ recipientId, amount: 60 }] })
    await it.service.settlements.run()
    expect(await moneyOf(parent)).toEqual({ available: 39.01, blocked: 0 })
    expect((await refund(parent, sale, { amount: 99.02 })).body.errors).toEqual([notCovered])
    await accepted(refund(parent, sale, { amount: 99.01 }))
    expect(await moneyOf(parent)).toEqual({ available: -60, blocked: 99.01 })
    expect((await partner.get('/v1.1/balance')).body).toMatchObject({ available: 60, blocked: 0 })
    const [share] = (await partner.get('/v1.1/transactions')).body.result
    expect(share.refunds).toEqual({ quantity: 0, requested: 0, available: 0, transactions: [] })
    const refused = await partner.put(`/v1.1/transactions/${share.uuid}/refund`, { amount: 1 })
    expect([refused.http, refused.body]).toEqual([
      400,
      {
        status: -1,
        message: 'validation failure',
        errorCount: 1,
        errors: [{ field: 'saleToken', message: 'split.childRefundNotAllowed' }],
        main_error_message: 'split.childRefundNotAllowed',
      },
    ])
  })
})

describe('a refund is refused', () => {
  test.each([
    ['pending', 'sale'],
    ['cancelled', 'cancelledSale'],
  ] as const)('of a %s sale', async (_state, made) => {
    const account = await it.given.account({ overdraftLimit: 1_000 })
    const { http, body } = await refund(account, await it.given[made](account), { amount: 1 })
    expect([http, body]).toEqual([
      400,
      {
        status: 999,
        message: 'transaction not PAID',
        errorCount: 1,
        errors: [{ field: 'transactionToken', message: 'invalid transaction situation' }],
      },
    ])
  })

  test('of a sale that is unknown, another’s, or no uuid at all', async () => {
    const { account } = await shop()
    const { sale: foreign } = await shop()
    for (const uuid of [randomUUID(), foreign.uuid, 'nothing', `${foreign.uuid}0`]) {
      const { http, body } = await refund(account, { uuid }, { amount: 1 })
      expect([http, body]).toEqual([404, unknown])
    }
  })

  test.each([
    ['amount', 'may not be null', {}],
    ['amount', 'may not be null', undefined],
    ['amount', 'may not be null', { amount: null }],
    ['amount', 'must be at least 0.01', { amount: 0 }],
    ['amount', 'must be a decimal number with at most two decimals, up to 9999999999.99', { amount: 1.001 }],
    ['amount', 'must be a decimal number with at most two decimals, up to 9999999999.99', { amount: '1,50' }],
    ['reason', 'must have at most 255 characters', { amount: 1, reason: 'x'.repeat(256) }],
    ['callbackURL', expect.any(String), { amount: 1, callbackURL: 'ftp://shop.example' }],
  ])('for its %s: %s', async (field, message, body) => {
    const { account, sale } = await shop()
    const answer = await refund(account, sale, body)
    expect([answer.http, answer.body]).toMatchObject([400, { ...refusal, errors: [{ field, message }] }])
  })

  test('90 days after the payment, by the account’s own clock: to the second it may, then not', async () => {
    const { account, sale } = await shop()
    const late = { days: 90 }
    await account.api.post('/v1.1/sandbox/clock/advance', late)
    await accepted(refund(account, sale, { amount: 1 }))
    it.clock.advance(SECOND_MS)
    const { http, body } = await refund(account, sale, { amount: 1 })
    expect([http, body]).toEqual([400, { ...refusal, errors: [expired] }])
  })

  test('counts the days from the payment, not from the checkout', async () => {
    const account = await it.given.account({ overdraftLimit: 1 })
    const sale = await it.given.sale(account, { maxAge: 43_200 })
    it.clock.advance(29 * DAY_MS)
    await pay(account, sale)
    it.clock.advance(90 * DAY_MS)
    await accepted(refund(account, sale, { amount: 1 }))
  })

  test('for the first of: its fields, an unknown sale, a share, its state, its age, what is left, the balance', async () => {
    const parent = await it.given.account({ splitEnabled: true, autoSettle: false })
    const { recipient, credentials } = (await parent.api.post('/v1.1/sandbox/recipients', { name: 'Sócia' })).body
    const partner = {
      ...parent,
      api: it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken }),
    }
    const split = [{ recipientId: recipient.recipientId, amount: 50 }]
    const [pending, paid] = [await it.given.sale(parent, { split }), await it.given.paidSale(parent)]
    const [share] = (await partner.api.get('/v1.1/transactions')).body.result
    const firstOf = async (account: TestAccount, sale: Pick<TestSale, 'uuid'>, amount: unknown) => {
      const { errors, message } = (await refund(account, sale, { amount })).body
      return errors[0].code ?? (errors[0].message.startsWith('split') ? errors[0].message : message)
    }
    expect(await firstOf(parent, { uuid: randomUUID() }, 0)).toBe('amount.min')
    expect(await firstOf(partner, { uuid: pending.uuid }, 1_000)).toBe('transaction not found')
    expect(await firstOf(partner, share, 1_000)).toBe('split.childRefundNotAllowed')
    expect(await firstOf(parent, pending, 1_000)).toBe('transaction not PAID')
    expect(await firstOf(parent, paid, 1_000)).toBe('refund.tooMuch')
    expect(await firstOf(parent, paid, 100)).toBe('refund.insufficientBalance')
    await parent.api.post('/v1.1/sandbox/clock/advance', { days: 91 })
    expect(await firstOf(parent, paid, 1_000)).toBe('refund.expired')
  })

  test('and nothing is left of it: no row, no hold, no order', async () => {
    const { account, sale } = await shop()
    await refund(account, sale, { amount: 100.01 })
    expect((await query(account, sale)).refunds.quantity).toBe(0)
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
    expect(await it.rows('select 1 from refund where sale_id = $1', [sale.uuid])).toEqual([])
  })
})

describe('REFUND_PAID', () => {
  const told = (hook: string) => ({ refund: { url: `${hook}?shop=7`, enabled: true } })
  const rich = async (account: TestAccount, fields: Record<string, unknown> = {}) => {
    await account.api.put('/v1.1/sandbox/account', { autoSettle: false, overdraftLimit: 1 })
    return it.given.paidSale(account, fields)
  }
  const eventsOf = async ({ api }: TestAccount, uuid: string) =>
    (await api.get(`/v1.1/transactions/${uuid}/webhook`)).body.notifications.map(
      ({ eventType }: { eventType: string }) => eventType,
    )

  test('is told when the refund is paid, in the fields of the interface, with its query string', async () => {
    it.clock.set(NOON)
    const account = await merchant(told)
    const bankDetails = { bank: '001', branch: '1234', account: '56789-0' }
    const sale = await rich(account, { referenceCode: 'order 9', shopper: { ...shopper, bankDetails } })
    const uuid = await accepted(refund(account, sale, { amount: 25.5, reason: 'torn' }))
    it.clock.advance(60 * SECOND_MS)
    await simulate(account, 'refund', uuid, 'paid')
    await settle()
    const [call, ...more] = account.calls()
    expect(more).toEqual([])
    expect(call!.url).toMatch(/\?shop=7&refund=true&type=refund$/)
    const number = (await account.api.get(`/v1.1/transactions/${uuid}`)).body.id
    expect(JSON.stringify(call!.body)).toBe(
      JSON.stringify({
        saleToken: sale.uuid,
        referenceCode: 'order 9',
        currency: 'BRL',
        originalAmount: 100,
        reversedAmount: 25.5,
        amountRefunded: 25.5,
        bankDetails,
        receipt: '',
        status: 'PAID',
        refund: {
          id: number,
          uuid,
          status: 'PAID',
          amount: 25.5,
          creation: NOON,
          creditDate: '2026-11-16 12:01:00',
        },
        reason: 'torn',
        date: '2026-11-16 12:01:00',
      }),
    )
    expect([await eventsOf(account, uuid), await eventsOf(account, sale.uuid)]).toEqual([
      ['REFUND_PAID'],
      ['REFUND_PAID'],
    ])
  })

  test('is told of each refund once, and of none that is cancelled or still under way', async () => {
    const account = await merchant(told)
    const sale = await rich(account)
    const [one, two, three] = [
      await accepted(refund(account, sale, { amount: 1 })),
      await accepted(refund(account, sale, { amount: 2 })),
      await accepted(refund(account, sale, { amount: 3 })),
    ]
    await accepted(refund(account, sale, { amount: 4 }))
    await simulate(account, 'refund', two, 'paid')
    await simulate(account, 'refund', one, 'cancelled')
    await simulate(account, 'refund', three, 'paid')
    await simulate(account, 'refund', three, 'paid')
    await settle()
    expect(account.calls().map(({ body }) => [body.refund.uuid, body.amountRefunded])).toEqual([
      [two, 2],
      [three, 3],
    ])
  })

  test('goes to the refund’s own callbackURL, not to the sale’s', async () => {
    const [account, own, ofSale] = [await merchant(told), await merchant(), await merchant()]
    const sale = await rich(account, { callbackURL: ofSale.hook })
    await settle()
    const uuid = await accepted(refund(account, sale, { amount: 1, callbackURL: own.hook }))
    await simulate(account, 'refund', uuid, 'paid')
    await settle()
    expect(own.calls().map(({ body, url }) => [body.refund.uuid, url.split('?')[1]])).toEqual([
      [uuid, 'refund=true&type=refund'],
    ])
    expect([account.calls(), ofSale.calls().map(({ body }) => body.newStatus)]).toEqual([[], ['PAID']])
  })

  test.each([
    ['off', (hook: string) => ({ refund: { url: hook, enabled: false } })],
    ['never set', (hook: string) => ({ payout: { url: hook, enabled: true } })],
  ])('is not told while its group is %s; the refund is paid all the same', async (_how, settings) => {
    const account = await merchant(settings)
    const sale = await rich(account)
    const uuid = await accepted(refund(account, sale, { amount: 1 }))
    expect((await simulate(account, 'refund', uuid, 'paid')).http).toBe(200)
    await settle()
    expect(account.calls()).toEqual([])
  })
})

import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anotherService, onStatement } from '../../../test/harness/faulty-database.ts'
import { pay, situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const endToEnd = (tail: string) => `E99999004202611161500${tail.padStart(11, '0')}`
const balanceOf = async (account: TestAccount) => (await account.api.get('/v1.1/balance')).body.balance
const keyed = () => ({ headers: { 'idempotency-key': randomUUID() } })

describe('a payer pays in the simulator', () => {
  test('without a body: the amount of the sale, now, by a payer of the sandbox', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 50 })
    const paid = await pay(account, sale)
    expect(paid.http).toBe(200)
    expect(paid.body).toEqual({
      status: 0,
      message: 'success',
      sale: { uuid: sale.uuid, situation: 'PAID' },
      endToEnd: expect.stringMatching(/^E99999004202611161500[0-9A-Za-z]{11}$/),
      reversal: null,
    })
    const info = await account.api.get(`/v1.1/transactions/${sale.uuid}/payment_info`)
    expect(info.body).toMatchObject({
      end_to_end: paid.body.endToEnd,
      payer: { document: '52998224725', name: 'Pagador de Teste' },
    })
  })

  test('as whoever the body says, through the bank it says', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const paid = await pay(account, sale, { payer: { document: '11144477735', name: 'João', ispb: '12345678' } })
    expect(paid.body.endToEnd).toMatch(/^E12345678/)
    const info = await account.api.get(`/v1.1/transactions/${sale.uuid}/payment_info`)
    expect(info.body.payer).toEqual({ document: '11144477735', name: 'João' })
  })

  test('its sale is read once, and its id is looked for only when somebody else may have used it', async () => {
    const account = await it.given.account()
    const countOf = async (name: string, asked?: Record<string, unknown>) => {
      const sale = await it.given.sale(account)
      const reads = onStatement(it.service.db, name, {}, 100)
      expect((await pay(account, sale, asked)).body.sale.situation).toBe('PAID')
      return 100 - reads.left()
    }
    expect(await countOf('sale_find_payable')).toBe(1)
    expect(await countOf('sale_heads')).toBe(0)
    expect(await countOf('inbox_find')).toBe(0)
    expect(await countOf('inbox_find', { endToEnd: endToEnd('read') })).toBe(1)
  })

  test('of a sale that is voided meanwhile is decided on what is there by then: it goes back', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const voided = { before: async () => void (await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)) }
    onStatement(it.service.db, 'door_apply_batch', voided)
    const paid = await pay(account, sale)
    expect(paid.body).toMatchObject({ sale: { situation: 'CANCELLED' }, reversal: { id: expect.any(Number) } })
  })

  test('without an endToEnd each call is a new payment: the second one goes back', async () => {
    const account = await it.given.account()
    const sale = await it.given.paidSale(account, { amount: 50 })
    const before = await balanceOf(account)
    const second = await pay(account, sale)
    expect(second.body).toMatchObject({
      sale: { situation: 'PAID' },
      reversal: {
        id: expect.any(Number),
        uuid: expect.any(String),
        status: 'PENDING',
        reason: 'ALREADY_PAID',
        reversedAmount: 50,
      },
    })
    expect(await balanceOf(account)).toBe(before)
  })

  test('with the same endToEnd again nothing happens again, and the answer is the same', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 50 })
    const body = { endToEnd: endToEnd('twice'), settledAt: '2026-11-16 12:00:00' }
    const [first, second] = [await pay(account, sale, body), await pay(account, sale, body)]
    expect(second.body).toEqual(first.body)
    expect(await balanceOf(account)).toBe(49.5)

    const misfit = { ...body, endToEnd: endToEnd('misfit') }
    const [reversed, again] = [await pay(account, sale, misfit), await pay(account, sale, misfit)]
    expect(reversed.body.reversal.reason).toBe('ALREADY_PAID')
    expect(again.body).toEqual(reversed.body)
  })

  test('the same endToEnd with other content is a 400', async () => {
    const account = await it.given.account()
    const [one, two] = [await it.given.sale(account), await it.given.sale(account)]
    const body = { endToEnd: endToEnd('conflict') }
    await pay(account, one, body)
    const answer = await pay(account, two, body)
    expect([answer.http, answer.body.errors]).toEqual([
      400,
      [{ field: 'endToEnd', message: 'was reported before with other content' }],
    ])
    expect(await situationOf(account, two)).toBe('PENDING')
  })

  test('and is kept aside, also when the request carries a key', async () => {
    const account = await it.given.account()
    const [one, two] = [await it.given.sale(account), await it.given.sale(account)]
    const body = { endToEnd: endToEnd('keptaside') }
    await pay(account, one, body)
    const options = { headers: { 'idempotency-key': 'kept-aside' } }
    const path = `/v1.1/sandbox/sim/sale/${two.uuid}/paid`
    expect((await account.api.post(path, body, options)).http).toBe(400)
    expect((await account.api.post(path, body, options)).headers['idempotency-replayed']).toBe('true')
    expect(await it.rows('select 1 as one from inbox_conflict where rail_id = $1', [body.endToEnd])).toHaveLength(1)
  })

  test('another amount goes back and the sale waits on', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 50 })
    const answer = await pay(account, sale, { amount: '49.99' })
    expect(answer.body).toMatchObject({
      sale: { situation: 'PENDING' },
      reversal: { reason: 'AMOUNT_DIFFERS', reversedAmount: 49.99 },
    })
  })

  test.each([
    ['at the expiry', '2026-11-16 13:00:00', 'PAID'],
    ['at the expiry, in UTC', '2026-11-16T16:00:00Z', 'PAID'],
    ['after the expiry', '2026-11-16 13:00:01', 'PENDING'],
  ])('settled %s', async (_name, settledAt, situation) => {
    it.clock.set('2026-11-16 12:00:00')
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 60 })
    const { body } = await pay(account, sale, { settledAt })
    expect(body.sale.situation).toBe(situation)
    expect(body.reversal?.reason).toBe(situation === 'PAID' ? undefined : 'SALE_NOT_PENDING')
  })

  test('wrong fields are all named and nothing is paid', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const answer = await pay(account, sale, {
      amount: 0,
      payer: { document: 'x'.repeat(26), name: 'x'.repeat(141), ispb: '1234' },
      endToEnd: 'E1',
      settledAt: 'yesterday',
    })
    expect(answer.http).toBe(400)
    expect(answer.body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'amount',
      'payer.document',
      'payer.name',
      'payer.ispb',
      'endToEnd',
      'settledAt',
    ])
    expect(await situationOf(account, sale)).toBe('PENDING')
  })

  test('a sale that is missing, another’s or no uuid is not found', async () => {
    const [owner, stranger] = [await it.given.account(), await it.given.account()]
    const sale = await it.given.sale(owner)
    for (const uuid of [sale.uuid, randomUUID(), 'x', 'a'.repeat(3_000)]) {
      const answer = await pay(stranger, { uuid })
      expect([answer.http, answer.body]).toEqual([
        404,
        {
          status: 998,
          message: 'transaction not found',
          errorCount: 1,
          errors: [{ field: 'saleToken', message: 'non-existent transaction' }],
        },
      ])
    }
    expect(await situationOf(owner, sale)).toBe('PENDING')
  })
})

describe('payments with an Idempotency-Key', () => {
  const path = (uuid: string) => `/v1.1/sandbox/sim/sale/${uuid}/paid`

  test('one endToEnd reported at once under many keys is booked once', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 50 })
    const body = { endToEnd: endToEnd('keys'), settledAt: '2026-11-16 12:00:00' }
    const answers = await Promise.all(Array.from({ length: 6 }, () => account.api.post(path(sale.uuid), body, keyed())))
    for (const { http, body: said } of answers) expect([http, said]).toEqual([200, answers[0]!.body])
    expect(await balanceOf(account)).toBe(49.5)
  })

  test('of many payments of one sale at once one pays it and the others go back', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 50 })
    const answers = await Promise.all(Array.from({ length: 4 }, () => account.api.post(path(sale.uuid), {}, keyed())))
    const reasons = answers.map(({ body }) => body.reversal?.reason ?? body.sale?.situation).sort()
    expect(reasons).toEqual(['ALREADY_PAID', 'ALREADY_PAID', 'ALREADY_PAID', 'PAID'])
    expect(await balanceOf(account)).toBe(49.5)
  })

  test('many that go back, at once in a fresh process, are all answered', async () => {
    const account = await it.given.account()
    const sales = await Promise.all(Array.from({ length: 30 }, () => it.given.sale(account, { amount: 5 })))
    // Another process of the same service: it has taken no numbers yet.
    const fresh = await anotherService(it)
    onTestFinished(() => fresh.close())
    const api = fresh.api.as({ 'x-api-key': account.apiKey, 'x-api-token': account.apiToken })
    const answers = await Promise.all(sales.map(({ uuid }) => api.post(path(uuid), { amount: 4 }, keyed())))
    expect(answers.map(({ http, body }) => [http, body.reversal?.reason])).toEqual(
      answers.map(() => [200, 'AMOUNT_DIFFERS']),
    )
    expect(new Set(answers.map(({ body }) => body.reversal.id)).size).toBe(30)
  })
})

import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { accepted, payOut, simulate } from '../../test/harness/money-out.ts'
import { startTestService, testService } from '../../test/harness/test-service.ts'

const it = testService()
const ACCOUNTS = '/operator/v1/accounts'
const OPERATOR_ACCOUNT = '00000000-0000-7000-8000-000000000001'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const NOT_FOUND = {
  status: 998,
  message: 'account not found',
  errorCount: 1,
  errors: [{ field: 'accountId', message: 'non-existent account' }],
}

const create = async (fields: object = {}) => (await it.operator.post(ACCOUNTS, { name: 'Loja', ...fields })).body
const get = (id: string) => it.operator.get(`${ACCOUNTS}/${id}`)
const patch = (id: string, changes: unknown) => it.operator.send('PATCH', `${ACCOUNTS}/${id}`, changes)
const fieldsOf = (body: { errors: { field: string }[] }) => body.errors.map(({ field }) => field)

describe('accounts', () => {
  test('are created with the settings asked for and credentials that work', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const answer = await it.operator.post(ACCOUNTS, {
      name: 'Mercado',
      email: 'mercado@example.com',
      document: '11.222.333/0001-81',
      city: 'Recife',
      splitEnabled: true,
      splitRecipientsMax: 5,
      rateLimitPerSecond: 100,
      overdraftLimit: 50,
      fees: { PIX: { percent: 0.5 } },
    })
    expect(answer.http).toBe(201)
    expect(answer.body).toEqual({
      status: 0,
      message: 'success',
      account: {
        id: expect.stringMatching(uuid),
        number: expect.any(Number),
        name: 'Mercado',
        email: 'mercado@example.com',
        document: '11.222.***/0001-**',
        status: 'ACTIVE',
        creation: '2026-11-16 12:00:00',
        clockOffsetSeconds: 0,
        splitEnabled: true,
        uniqueReferenceCode: false,
        autoSettle: true,
        overdraftLimit: 50,
        fees: { PIX: { percent: 0.5, fixed: 0 }, PAYOUT: { fixed: 0 } },
        boleto: { enabled: false, fee: null },
        splitRecipientsMax: 5,
        rateLimitPerSecond: 100,
      },
      credentials: {
        apiKey: expect.stringMatching(uuid),
        apiToken: expect.stringMatching(uuid),
        webhookSecret: expect.stringMatching(/^whsec_/),
      },
    })
    const { apiKey, apiToken } = answer.body.credentials
    expect((await it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }).get('/v1.1/balance')).http).toBe(200)
    expect((await get(answer.body.account.id)).body.account).toEqual(answer.body.account)
  })

  test('need a name only; wrong fields are all named and nothing is made', async () => {
    expect((await create()).account).toMatchObject({
      email: null,
      document: null,
      splitRecipientsMax: 20,
      rateLimitPerSecond: null,
    })
    const before = (await it.operator.get(ACCOUNTS)).body.totalElements
    const answer = await it.operator.post(ACCOUNTS, {
      email: 'x',
      splitRecipientsMax: 0,
      status: 'GONE',
      rateLimitPerSecond: -1,
    })
    expect([answer.http, fieldsOf(answer.body)]).toEqual([
      400,
      ['name', 'email', 'splitRecipientsMax', 'rateLimitPerSecond', 'status'],
    ])
    expect((await it.operator.get(ACCOUNTS)).body.totalElements).toBe(before)
  })

  test('are listed newest first, in pages, without the operator’s own', async () => {
    const own = await startTestService()
    onTestFinished(() => own.stop())
    for (const name of ['A', 'B', 'C']) {
      await own.operator.post(ACCOUNTS, { name })
      own.clock.advance(1_000)
    }
    const list = async (query = '') => (await own.operator.get(`${ACCOUNTS}${query}`)).body
    const namesOf = (body: { result: { name: string }[] }) => body.result.map(({ name }) => name)
    const whole = await list()
    expect(whole).toMatchObject({ status: 0, message: 'success', totalElements: 3, totalPages: 1, resultSize: 3 })
    expect(namesOf(whole)).toEqual(['C', 'B', 'A'])
    const second = await list('?page=2&maxPageResults=2')
    expect([namesOf(second), second.totalPages, second.resultSize]).toEqual([['A'], 2, 1])
    expect(namesOf(await list('?page=0&maxPageResults=2'))).toEqual(['C', 'B'])
    expect(namesOf(await list('?page=9'))).toEqual([])
    expect(namesOf(await list('?maxPageResults=0'))).toEqual(['C'])
    expect(namesOf(await list('?maxPageResults=1000'))).toEqual(['C', 'B', 'A'])
    expect(JSON.stringify(whole)).not.toMatch(/token|secret|whsec|hash/i)
    const bad = await own.operator.get(`${ACCOUNTS}?page=x&maxPageResults=y`)
    expect([bad.http, fieldsOf(bad.body)]).toEqual([400, ['page', 'maxPageResults']])
  })

  test('change by what is sent and keep the rest', async () => {
    const { account } = await create({ splitEnabled: true })
    const changes = {
      splitRecipientsMax: 1_000,
      rateLimitPerSecond: 7,
      overdraftLimit: 12.34,
      uniqueReferenceCode: true,
      boleto: { enabled: true, fee: 1 },
      status: 'SUSPENDED',
    }
    const changed = await patch(account.id, changes)
    expect([changed.http, changed.body.account]).toEqual([200, { ...account, ...changes }])
    expect((await get(account.id)).body.account).toEqual({ ...account, ...changes })
    expect((await patch(account.id, { rateLimitPerSecond: 0 })).body.account.rateLimitPerSecond).toBeNull()
  })

  test('refuse a change that is wrong, whole', async () => {
    const { account } = await create()
    const answer = await patch(account.id, { splitEnabled: true, status: 'open', splitRecipientsMax: 1_001 })
    expect([answer.http, fieldsOf(answer.body)]).toEqual([400, ['splitRecipientsMax', 'status']])
    expect((await get(account.id)).body.account.splitEnabled).toBe(false)
  })

  test.each([
    ['unknown', randomUUID()],
    ['no uuid', 'x'],
    ['the operator’s own', OPERATOR_ACCOUNT],
    ['very long', 'a'.repeat(4_000)],
    ['encoded', '%00'],
  ])('are not found by an id that is %s', async (_name, id) => {
    const asked = [
      await get(id),
      await patch(id, {}),
      await it.operator.post(`${ACCOUNTS}/${id}/credentials/rotate`),
      await it.operator.post(`${ACCOUNTS}/${id}/recipients`, { recipientId: randomUUID() }),
      await it.operator.put(`${ACCOUNTS}/${id}/recipients/${randomUUID()}`, { active: true }),
    ]
    for (const answer of asked) expect([answer.http, answer.body]).toEqual([404, NOT_FOUND])
  })

  test('are found by an id in capitals', async () => {
    const { account } = await create()
    expect((await get(account.id.toUpperCase())).body.account.id).toBe(account.id)
  })
})

describe('recipients', () => {
  const link = (parent: string, recipientId: unknown) =>
    it.operator.post(`${ACCOUNTS}/${parent}/recipients`, { recipientId })
  const set = (parent: string, recipient: string, active: unknown) =>
    it.operator.put(`${ACCOUNTS}/${parent}/recipients/${recipient}`, { active })

  test('are linked, deactivated, activated, and linked again', async () => {
    const [parent, recipient] = [await it.given.account(), await it.given.account()]
    const linked = await link(parent.id, recipient.id.toUpperCase())
    expect([linked.http, linked.body]).toEqual([
      201,
      { status: 0, message: 'success', recipient: { recipientId: recipient.id, status: 'ACTIVE' } },
    ])
    const off = await set(parent.id, recipient.id, false)
    expect(off.body.recipient).toMatchObject({ recipientId: recipient.id, status: 'INACTIVE' })
    expect((await set(parent.id, recipient.id, true)).body.recipient.status).toBe('ACTIVE')
    await set(parent.id, recipient.id, false)
    expect((await link(parent.id, recipient.id)).http).toBe(201)
    const seen = await parent.api.put(`/v1.1/sandbox/recipients/${recipient.id}`, { active: true })
    expect(seen.body.recipient.status).toBe('ACTIVE')
  })

  test('are accounts that exist, and never the parent itself or the operator’s own', async () => {
    const parent = await it.given.account()
    for (const id of [randomUUID(), 'x', parent.id, OPERATOR_ACCOUNT]) {
      const answer = await link(parent.id, id)
      expect([answer.http, answer.body]).toEqual([
        404,
        { ...NOT_FOUND, errors: [{ field: 'recipientId', message: 'non-existent account' }] },
      ])
    }
    for (const id of [undefined, 5, '', 'x'.repeat(37)]) expect((await link(parent.id, id)).http).toBe(400)
  })

  test('that are not linked are not found, with split’s own envelope', async () => {
    const [parent, stranger] = [await it.given.account(), await it.given.account()]
    for (const id of [stranger.id, randomUUID(), 'x']) {
      const answer = await set(parent.id, id, true)
      expect([answer.http, answer.body]).toEqual([
        404,
        {
          status: -1,
          message: 'validation failure',
          errorCount: 1,
          errors: [{ field: 'recipientId', message: 'split.recipientNotFound' }],
          main_error_message: 'split.recipientNotFound',
        },
      ])
    }
  })
})

describe('insight', () => {
  test('the trial balance has the sums of all books, and both sides are equal', async () => {
    const own = await startTestService()
    onTestFinished(() => own.stop())
    const account = await own.given.account()
    const empty = (await own.operator.get('/operator/v1/ledger/trial-balance')).body
    expect([empty.totalDebit, empty.totalCredit]).toEqual([0, 0])
    await own.given.paidSale(account, { amount: 100 })
    await own.given.paidSale(await own.given.account(), { amount: 50 })
    const { accounts, ...rest } = (await own.operator.get('/operator/v1/ledger/trial-balance')).body
    expect(rest).toEqual({ status: 0, message: 'success', totalDebit: 151.49, totalCredit: 151.49 })
    const of = (name: string) => accounts.find(({ account }: { account: string }) => account === name)
    expect(of('clearing')).toEqual({ account: 'clearing', debit: 150, credit: 0 })
    expect(of('available')).toEqual({ account: 'available', debit: 1.49, credit: 150 })
    expect(of('fee')).toEqual({ account: 'fee', debit: 0, credit: 1.49 })
  })

  test('the queues are named with what waits in them', async () => {
    const answer = await it.operator.get('/operator/v1/queues')
    expect([answer.http, answer.body]).toEqual([
      200,
      {
        status: 0,
        message: 'success',
        queues: [
          { queue: 'checkout', depth: 0 },
          { queue: 'door', depth: 0 },
          { queue: 'simulator', depth: 0 },
          { queue: 'deliveries', depth: 0 },
          { queue: 'notifications', depth: 0 },
          { queue: 'shares', depth: 0 },
          { queue: 'ordersReserved', depth: 0 },
          { queue: 'ordersSent', depth: 0 },
        ],
      },
    ])
  })

  test('the queues tell of shares to be credited and of orders to the rail', async () => {
    const account = await it.given.account({ splitEnabled: true, autoSettle: false })
    const { recipientId } = (await account.api.post('/v1.1/sandbox/recipients', { name: 'Sócia' })).body.recipient
    const depths = async () => {
      const { queues } = (await it.operator.get('/operator/v1/queues')).body
      const of = (name: string) => queues.find(({ queue }: { queue: string }) => queue === name)?.depth
      return [of('shares'), of('ordersReserved'), of('ordersSent')]
    }
    await it.given.paidSale(account, { split: [{ recipientId, amount: 10 }] })
    expect(await depths()).toEqual([1, 0, 0])
    await it.service.settlements.run()
    const uuid = await accepted(payOut(account))
    await it.service.orders.run()
    await accepted(payOut(account))
    await accepted(payOut(account))
    expect(await depths()).toEqual([0, 2, 1])
    await simulate(account, 'payout', uuid, 'paid')
    expect(await depths()).toEqual([0, 2, 0])
  })
})

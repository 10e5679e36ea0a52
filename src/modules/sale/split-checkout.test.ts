import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ApiClient, Reply } from '../../../test/harness/api-client.ts'
import { anotherService, loseConnection, type OtherService } from '../../../test/harness/faulty-database.ts'
import { checkoutBody, pay, type TestAccount } from '../../../test/harness/given.ts'
import { until, waitingSql } from '../../../test/harness/patience.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { clientConfig } from '../../platform/database/database.ts'
import { claimKey } from '../../platform/idempotency/idempotency.store.ts'

// The batcher waits between its tries; nothing here depends on how long.
vi.mock('node:timers/promises', () => ({ setTimeout: async () => {} }))

const it = testService({ batches: { lanes: 1 } })
const CHECKOUT = '/v1.1/checkout/transparent'

type Json = Record<string, unknown>

async function newRecipient(parent: TestAccount, name = 'Fornecedor'): Promise<TestAccount> {
  const { recipient, credentials } = (await parent.api.post('/v1.1/sandbox/recipients', { name })).body
  const api = it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken })
  return { api, id: recipient.recipientId, ...credentials }
}
/** A parent that pays 0.99 %, and two whom it shares with. */
async function family(settings: Json = {}) {
  const parent = await it.given.account({ splitEnabled: true, ...settings })
  return { parent, anna: await newRecipient(parent, 'Ana'), bruno: await newRecipient(parent, 'Bruno') }
}
const checkout = (account: TestAccount, fields: Json, options = {}) =>
  account.api.post(CHECKOUT, checkoutBody(fields), options)
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const look = async ({ api }: TestAccount, uuid: string) => (await api.get(`/v1.1/transactions/${uuid}`)).body
const totalOf = async ({ api }: TestAccount): Promise<number> =>
  (await api.get('/v1.1/transactions')).body.totalElements
const anyUuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)

describe('a shared checkout', () => {
  test('answers like any other, with its block at the root beside the response', async () => {
    const { parent, anna, bruno } = await family()
    const { http, body } = await checkout(parent, {
      referenceCode: 'pedido-1',
      split: [
        { recipientId: anna.id, percentage: 33.3333, externalReference: ' nota 7\n' },
        { recipientId: bruno.id.toUpperCase(), percentage: '12.5' },
      ],
    })
    expect(http).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['message', 'response', 'split', 'status'])
    expect(body.split).toEqual({
      feePayer: 'PARENT',
      refundLiability: 'PARENT',
      grossAmount: 100,
      parentAmount: 54.17,
      recipients: [
        {
          recipientId: anna.id,
          transactionId: anyUuid,
          amount: 33.33,
          percentage: 33.3333,
          externalReference: 'nota 7',
          settlementStatus: 'PENDING',
        },
        {
          recipientId: bruno.id,
          transactionId: anyUuid,
          amount: 12.5,
          percentage: 12.5,
          externalReference: null,
          settlementStatus: 'PENDING',
        },
      ],
    })
    expect(body).toMatchObject({ status: 0, message: 'success', response: { amount: 100, referenceCode: 'pedido-1' } })
    const ids = [
      body.response.uuid,
      ...body.split.recipients.map((leg: { transactionId: string }) => leg.transactionId),
    ]
    expect(new Set(ids).size).toBe(3)
  })

  test('shows the same block in the query and in the list', async () => {
    const { parent, anna, bruno } = await family()
    const { body } = await checkout(parent, {
      split: [
        { recipientId: anna.id, amount: '0.30', externalReference: '5' },
        { recipientId: bruno.id, percentage: 0.01 },
      ],
    })
    const { uuid } = body.response
    expect((await look(parent, uuid)).split).toEqual(body.split)
    const { result } = (await parent.api.get('/v1.1/transactions')).body
    expect(result.map(({ split }: { split: object }) => split)).toEqual([body.split])
    expect(
      body.split.recipients.map(({ amount, percentage, externalReference }: Json) => [
        amount,
        percentage,
        externalReference,
      ]),
    ).toEqual([
      [0.3, null, '5'],
      [0.01, 0.01, null],
    ])
  })

  test.each([undefined, null])('is not shared when split is %j: nowhere a block', async (split) => {
    const { parent } = await family()
    const { body } = await checkout(parent, { split })
    expect(Object.keys(body).sort()).toEqual(['message', 'response', 'status'])
    expect(await look(parent, body.response.uuid)).not.toHaveProperty('split')
    expect((await parent.api.get('/v1.1/transactions')).body.result[0]).not.toHaveProperty('split')
  })

  test('charges the fee on the whole amount, to the parent only', async () => {
    const { parent, anna } = await family()
    const { body } = await checkout(parent, { amount: 200, split: [{ recipientId: anna.id, amount: 100 }] })
    expect(await look(parent, body.response.uuid)).toMatchObject({ amount: 200, total: 200, appliedRate: 1.98 })
    const child = await look(anna, body.split.recipients[0].transactionId)
    expect(child).toMatchObject({ amount: 100, total: 100, appliedRate: 0 })
  })

  test.each([
    [{ PIX: { percent: 0.99, fixed: 0 } }, 99.01, 99.02],
    [{ PIX: { percent: 0, fixed: 0 } }, 100, undefined],
    [{ PIX: { percent: 0, fixed: 0.01 } }, 99.99, 100],
    [{ PIX: { percent: 1, fixed: 2.5 } }, 96.5, 96.51],
    [{ PIX: { percent: 0.0001, fixed: 0 } }, 99.99, 100],
    [{ PIX: { percent: 50, fixed: 49.99 } }, 0.01, 0.02],
    [{ PIX: { percent: 100, fixed: 0 } }, undefined, 0.01],
  ])('with fees of %j shares %j and not %j of 100.00', async (fees, most, tooMuch) => {
    const { parent, anna } = await family({ fees })
    const share = (amount: number) => checkout(parent, { split: [{ recipientId: anna.id, amount }] })
    if (most !== undefined) expect((await share(most)).http).toBe(200)
    if (tooMuch !== undefined)
      expect((await share(tooMuch)).body.main_error_message).toBe('split.parentAmountInsufficientForFees')
  })

  test('keeps its fee and its legs as they were agreed, whatever changes meanwhile', async () => {
    const { parent, anna } = await family()
    const { body } = await checkout(parent, { split: [{ recipientId: anna.id, amount: 99.01 }] })
    await parent.api.put('/v1.1/sandbox/account', { splitEnabled: false, fees: { PIX: { percent: 10, fixed: 1 } } })
    await parent.api.put(`/v1.1/sandbox/recipients/${anna.id}`, { active: false })
    expect((await pay(parent, body.response)).body.sale.situation).toBe('PAID')
    await it.service.settlements.run()
    expect((await parent.api.get('/v1.1/balance')).body.available).toBe(0)
    expect((await anna.api.get('/v1.1/balance')).body.available).toBe(99.01)
  })

  test('is exact at the largest amount there is', async () => {
    const { parent, anna, bruno } = await family({ fees: { PIX: { percent: 0, fixed: 0 } } })
    const { body } = await checkout(parent, {
      amount: 9_999_999_999.99,
      split: [
        { recipientId: anna.id, percentage: 33.3333 },
        { recipientId: bruno.id, amount: '6666669999.99' },
      ],
    })
    expect(body.split.recipients.map(({ amount }: { amount: number }) => amount)).toEqual([
      3_333_329_999.99, 6_666_669_999.99,
    ])
    expect(body.split.parentAmount).toBe(0.01)
    expect((await look(parent, body.response.uuid)).split).toEqual(body.split)
  })

  test('has the smallest amounts there are', async () => {
    const { parent, anna } = await family({ fees: { PIX: { percent: 0, fixed: 0 } } })
    const { body } = await checkout(parent, { amount: 0.01, split: [{ recipientId: anna.id, percentage: 100 }] })
    expect(body.split).toMatchObject({ grossAmount: 0.01, parentAmount: 0, recipients: [{ amount: 0.01 }] })
  })

  test.each([
    ['a\u0000b\u001f\u007f\u0085c', 'abc'],
    ['  \t pedido nº 5 \r\n', 'pedido nº 5'],
    ['👍'.repeat(100), '👍'.repeat(100)],
    [`"{}\\,NULL'`, `"{}\\,NULL'`],
    ['NULL', 'NULL'],
    ['\u0000 \u0001', null],
    ['', null],
    [null, null],
  ])('keeps an external reference of %j as %j, in every answer', async (externalReference, kept) => {
    const { parent, anna } = await family()
    const { body } = await checkout(parent, { split: [{ recipientId: anna.id, amount: 1, externalReference }] })
    expect(body.split.recipients[0].externalReference).toBe(kept)
    expect((await look(parent, body.response.uuid)).split).toEqual(body.split)
  })

  test('of twenty legs keeps them in the order of the request', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const ids: string[] = []
    for (let made = 0; made < 20; made += 1) ids.push((await newRecipient(parent)).id)
    ids.reverse()
    const { body } = await checkout(parent, {
      split: ids.map((recipientId, at) => ({ recipientId, amount: (at + 1) / 100 })),
    })
    const seen = (await look(parent, body.response.uuid)).split.recipients
    expect(seen.map(({ recipientId, amount }: Json) => [recipientId, amount])).toEqual(
      ids.map((id, at) => [id, (at + 1) / 100]),
    )
  })

  test('gives parent and recipients numbers that nothing else has', async () => {
    const { parent, anna, bruno } = await family()
    await Promise.all(
      Array.from({ length: 10 }, () =>
        checkout(parent, { split: [anna, bruno].map(({ id }) => ({ recipientId: id, amount: 1 })) }),
      ),
    )
    const numbers: number[] = []
    for (const { api } of [parent, anna, bruno])
      numbers.push(...(await api.get('/v1.1/transactions')).body.result.map(({ id }: { id: number }) => id))
    expect([numbers.length, new Set(numbers).size]).toEqual([30, 30])
  })
})

describe('a shared checkout under a key', () => {
  let second: OtherService
  beforeAll(async () => {
    second = await anotherService(it)
  })
  afterAll(() => second.close())

  test('is answered again, byte for byte, and made once for everybody', async () => {
    const { parent, anna } = await family()
    const body = checkoutBody({ split: [{ recipientId: anna.id, percentage: 10, externalReference: 'é' }] })
    const first = await parent.api.post(CHECKOUT, body, keyed('k'))
    await pay(parent, first.body.response)
    await it.service.settlements.run()
    const again = await parent.api.post(CHECKOUT, body, keyed('k'))
    expect([again.http, again.headers['idempotency-replayed'], again.text]).toEqual([200, 'true', first.text])
    expect([await totalOf(parent), await totalOf(anna)]).toEqual([1, 1])
  })

  test('with other legs is another request', async () => {
    const { parent, anna } = await family()
    const body = checkoutBody()
    const share = (amount: number) =>
      parent.api.post(CHECKOUT, { ...body, split: [{ recipientId: anna.id, amount }] }, keyed('k'))
    expect([(await share(1)).http, (await share(2)).http]).toEqual([200, 422])
    expect([await totalOf(parent), await totalOf(anna)]).toEqual([1, 1])
  })

  test('a refusal of its legs is stored too', async () => {
    const { parent, anna } = await family()
    await parent.api.put(`/v1.1/sandbox/recipients/${anna.id}`, { active: false })
    const body = checkoutBody({ split: [{ recipientId: anna.id, amount: 1 }] })
    const refused = await parent.api.post(CHECKOUT, body, keyed('k'))
    await parent.api.put(`/v1.1/sandbox/recipients/${anna.id}`, { active: true })
    const again = await parent.api.post(CHECKOUT, body, keyed('k'))
    expect([again.http, again.headers['idempotency-replayed'], again.text]).toEqual([400, 'true', refused.text])
    expect((await parent.api.post(CHECKOUT, body, keyed('l'))).http).toBe(200)
  })

  test.each([{}, { uniqueReferenceCode: true }])(
    'sent many times at once through two processes, %j',
    async (settings) => {
      const { parent, anna, bruno } = await family(settings)
      const there: ApiClient = second.api.as({ 'x-api-key': parent.apiKey, 'x-api-token': parent.apiToken })
      const body = checkoutBody({ split: [anna, bruno].map(({ id }) => ({ recipientId: id, amount: 1 })) })
      const replies = await Promise.all(
        Array.from({ length: 16 }, (_, at) => (at % 2 ? parent.api : there).post(CHECKOUT, body, keyed('k'))),
      )
      expect(replies.map(({ http }) => http)).toEqual(replies.map(() => 200))
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
      expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1)
      expect([await totalOf(parent), await totalOf(anna), await totalOf(bruno)]).toEqual([1, 1, 1])
    },
  )

  test('that waits for another request with its key, which comes to nothing, is then the first', async () => {
    const { parent, anna, bruno } = await family()
    const [row] = await it.rows<{ id: AccountId }>('select id from account where uuid = $1', [parent.id])
    const body = checkoutBody({ split: [anna, bruno].map(({ id }) => ({ recipientId: id, amount: 1 })) })
    let waiting: Promise<Reply> | undefined
    await it.service.db
      .inTransaction(async (tx) => {
        await claimKey(tx, { accountId: row!.id, key: 'k', requestHash: Buffer.alloc(32) }, it.clock.now())
        waiting = parent.api.post(CHECKOUT, body, keyed('k'))
        await until(async () => (await it.rows(`${waitingSql} and wait_event = 'advisory'`)).length > 0)
        throw new Error('rolled back')
      })
      .catch(() => {})
    const made = await waiting!
    expect([made.http, made.body.split.recipients.length]).toEqual([200, 2])
    expect((await look(parent, made.body.response.uuid)).split).toEqual(made.body.split)
    expect((await parent.api.post(CHECKOUT, body, keyed('k'))).body).toEqual(made.body)
    expect([await totalOf(parent), await totalOf(anna), await totalOf(bruno)]).toEqual([1, 1, 1])
  })
})

describe('a shared checkout with a unique reference', () => {
  test('takes it once; its recipients’ transactions take none', async () => {
    const { parent, anna } = await family({ uniqueReferenceCode: true })
    await anna.api.put('/v1.1/sandbox/account', { uniqueReferenceCode: true })
    const share = (referenceCode: string) =>
      checkout(parent, { referenceCode, split: [{ recipientId: anna.id, amount: 1 }] })
    const first = await share('once')
    expect([first.http, (await share('once')).body.errors[0].code]).toEqual([200, 'referenceCode.duplicated'])
    expect((await share('twice')).http).toBe(200)
    expect([await totalOf(parent), await totalOf(anna)]).toEqual([2, 2])
    // The recipient's own sale may use what happens to be its share's reference.
    expect((await checkout(anna, { referenceCode: first.body.response.uuid })).http).toBe(200)
  })

  test('asked for many times at once gives one sale, and one share', async () => {
    const { parent, anna } = await family({ uniqueReferenceCode: true })
    const replies = await Promise.all(
      Array.from({ length: 12 }, () =>
        checkout(parent, { referenceCode: 'once', split: [{ recipientId: anna.id, amount: 1 }] }),
      ),
    )
    expect(replies.filter(({ http }) => http === 200)).toHaveLength(1)
    expect(replies.filter(({ http }) => http === 400)).toHaveLength(11)
    expect([await totalOf(parent), await totalOf(anna)]).toEqual([1, 1])
  })
})

describe('a batch', () => {
  /** Sends checkouts while the first one is held in the database, so that the others gather behind it in one batch. */
  async function together(...requests: (() => Promise<Reply>)[]): Promise<Reply[]> {
    const holder = new pg.Client(clientConfig(it.connection))
    await holder.connect()
    await holder.query('begin')
    await holder.query('lock table sale in share row exclusive mode')
    const first = it.given.account().then((account) => checkout(account, {}))
    await until(async () => (await holder.query(waitingSql)).rowCount! > 0)
    const waiting = requests.map((send) => send())
    await until(async () => {
      const { queues } = (await it.operator.get('/operator/v1/queues')).body
      return queues.find(({ queue }: { queue: string }) => queue === 'checkout').depth === requests.length
    })
    await holder.query('rollback')
    await holder.end()
    await first
    return Promise.all(waiting)
  }

  test('that mixes shared and plain sales, keys, unique references and broken legs answers each its own', async () => {
    const { parent, anna, bruno } = await family()
    const unique = await family({ uniqueReferenceCode: true })
    const plain = await it.given.account()
    const half = { recipientId: anna.id, percentage: 50 }
    const replies = await together(
      () => checkout(plain, { amount: 1, referenceCode: 'a' }),
      () => checkout(parent, { amount: 2, split: [half] }),
      () => checkout(parent, { amount: 3, split: [{ ...half, percentage: 0 }] }),
      () => checkout(parent, { amount: 4 }, keyed('plain')),
      () => checkout(parent, { amount: 5, split: [{ recipientId: bruno.id, amount: 1 }, half] }, keyed('shared')),
      () =>
        checkout(unique.parent, { amount: 6, referenceCode: 'u', split: [{ recipientId: unique.anna.id, amount: 6 }] }),
      () =>
        checkout(unique.parent, { amount: 7, referenceCode: 'u', split: [{ recipientId: unique.anna.id, amount: 2 }] }),
      () => checkout(unique.parent, { amount: 8, referenceCode: 'u' }),
      () => checkout(plain, { amount: 9, split: [half] }),
      () => checkout(unique.parent, { amount: 10, split: [half] }),
    )
    expect(replies.map(({ http, body }) => (http === 200 ? body.response.amount : body.main_error_message))).toEqual([
      1,
      2,
      'split.percentageOutOfRange',
      4,
      5,
      'split.parentAmountInsufficientForFees',
      7,
      'was used before',
      'split.notEnabled',
      'split.recipientNotFound',
    ])
    const shares = replies.map(({ body }) => body.split?.recipients.map(({ amount }: { amount: number }) => amount))
    expect(shares.flat()).toEqual([undefined, 1, undefined, undefined, 1, 2.5, undefined, 2, ...Array(3)])
    const owners = [plain, parent, parent, parent, parent, unique.parent, unique.parent, unique.parent, plain]
    for (const [at, { http, body }] of replies.entries())
      if (http === 200) expect((await look(owners[at]!, body.response.uuid)).split).toEqual(body.split)
    expect([await totalOf(anna), await totalOf(bruno), await totalOf(unique.anna)]).toEqual([2, 1, 1])
  })

  test('with accounts that are parent and recipient of each other', async () => {
    const [one, two] = [await it.given.account({ splitEnabled: true }), await it.given.account({ splitEnabled: true })]
    for (const [parent, recipient] of [
      [one, two],
      [two, one],
    ] as const)
      await it.operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId: recipient.id })
    const replies = await together(
      ...[one, two, one, two].map(
        (parent) => () =>
          checkout(parent, { amount: 10, split: [{ recipientId: (parent === one ? two : one).id, amount: 4 }] }),
      ),
    )
    expect(replies.map(({ http }) => http)).toEqual([200, 200, 200, 200])
    for (const account of [one, two]) {
      const { body } = await account.api.get('/v1.1/transactions')
      expect(body.totalElements).toBe(4)
      const roles = body.result.map(({ amount, split }: Json & { split: Json }) => [amount, split['role'] ?? 'PARENT'])
      expect(roles.sort()).toEqual([
        [10, 'PARENT'],
        [10, 'PARENT'],
        [4, 'RECIPIENT'],
        [4, 'RECIPIENT'],
      ])
    }
  })

  test.each([
    ['account_versioned_terms', 'before'],
    ['recipient_find_linked', 'before'],
    ['recipient_find_linked', 'after'],
    ['sale_insert_shared_batch', 'before'],
    ['sale_insert_shared_batch', 'after'],
  ] as const)('%s, connection lost %s its effect: each sale and each share exists once', async (name, when) => {
    const { parent, anna } = await family()
    const fault = loseConnection(it.service.db, name, when)
    const legs = { split: [{ recipientId: anna.id, amount: 1 }] }
    const replies = await Promise.all([
      checkout(parent, legs),
      checkout(parent, legs, keyed('k')),
      checkout(parent, { amount: 3 }),
    ])
    expect(fault.left()).toBe(0)
    expect(replies.map(({ http }) => http)).toEqual([200, 200, 200])
    expect([await totalOf(parent), await totalOf(anna)]).toEqual([3, 2])
    for (const { body } of replies) expect((await look(parent, body.response.uuid)).split).toEqual(body.split)
  })
})

import { createHmac, randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { Reply } from '../../../test/harness/api-client.ts'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { until } from '../../../test/harness/patience.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, HOUR_MS, type Instant, instantFromWire, plusMs } from '../../kernel/calendar.ts'
import { clientConfig } from '../../platform/database/database.ts'

const it = testService({ deliveries: true })
const { merchant, settle, exhaust, toNextRetry } = merchants(it)

const path = (uuid: string) => `/v1.1/transactions/${uuid}/webhook/redeliver`
const redeliver = (account: TestAccount, uuid: string, headers: Record<string, string> = {}) =>
  account.api.post(path(uuid), undefined, { headers })
const setTo = (account: TestAccount, settings: Record<string, unknown>) =>
  account.api.put('/v1.1/account/notifications', settings)
const attemptsOf = async (account: TestAccount, uuid: string) =>
  (await account.api.get(`/v1.1/transactions/${uuid}/webhook`)).body.notifications as {
    endpoint: string
    responseCode: number
  }[]
const queueOf = (uuid: string) =>
  it.rows<{ attempts: number; attempts_left: number; held: boolean }>(
    'select attempts, attempts_left, held from notification_queue where resource_id = $1',
    [uuid],
  )

const queued = (reply: Reply) => [reply.http, reply.body]
const one = [202, { status: 0, message: 'success', queued: 1 }]
const asUnknown = [
  404,
  {
    status: 998,
    message: 'transaction not found',
    errorCount: 1,
    errors: [{ field: 'transactionUUID', message: 'the sale informed does not exist' }],
  },
]

async function delivered(shop: Merchant, fields?: Record<string, unknown>) {
  const sale = await it.given.paidSale(shop, fields)
  await settle()
  return sale
}

describe('sending the last notification again', () => {
  test.each(['POST', 'GET'])('by %s: the same bytes under the same id, at another time', async (method) => {
    const shop = await merchant()
    const sale = await delivered(shop)
    it.clock.advance(5_000)
    expect(queued(await shop.api.send(method, path(sale.uuid)))).toEqual(one)
    await settle()
    const [first, again] = shop.calls()
    expect(shop.calls()).toHaveLength(2)
    expect(again!.text).toBe(first!.text)
    expect(again!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    const seconds = Math.floor(it.clock.now() / 1000)
    expect([first, again].map((call) => Number(call!.headers['webhook-timestamp']))).toEqual([seconds - 5, seconds])
    const content = `${again!.headers['webhook-id']}.${seconds}.${again!.text}`
    const key = Buffer.from(shop.webhookSecret.replace('whsec_', ''), 'base64')
    expect(again!.headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(content).digest('base64')}`)
  })

  test('a body or a trailing slash is no matter', async () => {
    const shop = await merchant()
    const sale = await delivered(shop)
    expect(queued(await shop.api.post(`${path(sale.uuid)}/`, undefined, { raw: 'no JSON {' }))).toEqual(one)
    await settle()
    expect(shop.calls()).toHaveLength(2)
  })

  test('by the uuid in capital letters', async () => {
    const shop = await merchant()
    const sale = await delivered(shop)
    expect(queued(await redeliver(shop, sale.uuid.toUpperCase()))).toEqual(one)
  })

  test('is a new series of one and five', async () => {
    const shop = await merchant()
    const sale = await delivered(shop)
    shop.answer(500)
    await redeliver(shop, sale.uuid)
    await exhaust()
    expect((await attemptsOf(shop, sale.uuid)).map(({ responseCode }) => responseCode)).toEqual([
      ...Array(6).fill(500),
      200,
    ])
    expect(await queueOf(sale.uuid)).toEqual([])
  })

  test('after a series that failed to its end', async () => {
    const shop = await merchant()
    shop.answer(500)
    const sale = await it.given.paidSale(shop)
    await exhaust()
    await redeliver(shop, sale.uuid)
    await exhaust()
    expect(shop.calls()).toHaveLength(12)
    shop.answer(200)
    await redeliver(shop, sale.uuid)
    await exhaust()
    expect(shop.calls()).toHaveLength(13)
  })

  test('is the last one of several: the reversal, not the payment', async () => {
    const shop = await merchant((hook) => ({ payment: { url: hook }, reversal: { url: hook, enabled: true } }))
    const sale = await delivered(shop)
    it.clock.advance(10)
    await pay(shop, sale)
    await settle()
    expect(queued(await redeliver(shop, sale.uuid))).toEqual(one)
    await settle()
    expect(shop.calls().map(({ body }) => body.newStatus ?? body.reason)).toEqual([
      'PAID',
      'ALREADY_PAID',
      'ALREADY_PAID',
    ])
  })

  test('is the last one also of those that were written in one millisecond', async () => {
    const shop = await merchant((hook) => ({ payment: { url: hook }, reversal: { url: hook, enabled: true } }))
    for (let round = 0; round < 6; round += 1) {
      const sale = await it.given.paidSale(shop)
      await pay(shop, sale)
      await settle()
      await redeliver(shop, sale.uuid)
      await settle()
      expect(shop.calls().at(-1)!.body).toMatchObject({ reason: 'ALREADY_PAID', sale: { uuid: sale.uuid } })
    }
  })

  test('by the uuid of a reversal: that reversal', async () => {
    const shop = await merchant((hook) => ({ reversal: { url: hook, enabled: true } }))
    const sale = await it.given.paidSale(shop)
    const first = (await pay(shop, sale)).body.reversal
    it.clock.advance(10)
    await pay(shop, sale)
    await settle()
    expect(queued(await redeliver(shop, first.uuid))).toEqual(one)
    await settle()
    expect(shop.calls().at(-1)!.body.uuid).toBe(first.uuid)
    expect(shop.calls()).toHaveLength(3)
  })
})

describe('the address is looked up again', () => {
  test('in the account’s settings of now', async () => {
    const [shop, other] = [await merchant(), await merchant()]
    const sale = await delivered(shop)
    await setTo(shop, { payment: { url: `${other.hook}?new=1` } })
    it.clock.advance(1_000)
    await redeliver(shop, sale.uuid)
    await settle()
    expect([shop.calls().length, other.calls().length]).toEqual([1, 1])
    expect((await attemptsOf(shop, sale.uuid)).map(({ endpoint }) => endpoint)).toEqual([
      `${other.hook}?new=1`,
      shop.hook,
    ])
    await setTo(shop, { payment: { url: shop.hook } })
    await redeliver(shop, sale.uuid)
    await settle()
    expect([shop.calls().length, other.calls().length]).toEqual([2, 1])
  })

  test('and stays for the whole new series', async () => {
    const [shop, other] = [await merchant(), await merchant()]
    const sale = await delivered(shop)
    other.answer(500)
    await setTo(shop, { payment: { url: other.hook } })
    await redeliver(shop, sale.uuid)
    await settle()
    await setTo(shop, { payment: { url: shop.hook } })
    await exhaust()
    expect([shop.calls().length, other.calls().length]).toEqual([1, 6])
  })

  test('but a charge’s own callbackURL stays', async () => {
    const [shop, own] = [await merchant(), await merchant()]
    const sale = await delivered(shop, { callbackURL: own.hook })
    await setTo(shop, { payment: { url: `${shop.hook}/new` } })
    await redeliver(shop, sale.uuid)
    await settle()
    expect([shop.calls().length, own.calls().length]).toEqual([0, 2])
  })

  test('but a charge’s own callbackURL stays also when the account has no address any more', async () => {
    const [shop, own] = [await merchant(), await merchant()]
    const sale = await delivered(shop, { callbackURL: own.hook })
    await setTo(shop, { payment: { url: null } })
    expect(queued(await redeliver(shop, sale.uuid))).toEqual(one)
    await settle()
    expect(own.calls()).toHaveLength(2)
  })

  test('with the query of its event', async () => {
    const [shop, other] = [await merchant((hook) => ({ reversal: { url: hook, enabled: true } })), await merchant()]
    const sale = await it.given.paidSale(shop)
    await pay(shop, sale)
    await settle()
    await setTo(shop, { reversal: { url: other.hook, enabled: true } })
    await redeliver(shop, sale.uuid)
    await settle()
    expect(other.calls().map(({ url }) => url.split('?')[1])).toEqual(['reversing=true&type=reversing'])
  })
})

describe('nothing to send is a 404 as for an unknown sale', () => {
  const both = (hook: string) => ({ payment: { url: hook }, reversal: { url: hook, enabled: true } })
  // biome-ignore format: a table
  const cases: readonly (readonly [string, (shop: Merchant) => Promise<string>])[] = [
    ['a uuid that nobody has', async () => randomUUID()],
    ['no uuid at all', async () => 'latest'],
    ['a sale that is not paid', async (shop) => (await it.given.sale(shop)).uuid],
    ['a sale of another account', async () => (await delivered(await merchant())).uuid],
    ['a sale paid while there was no address', async (shop) => {
      await setTo(shop, { payment: { url: null } })
      const sale = await delivered(shop)
      await setTo(shop, { payment: { url: shop.hook } })
      return sale.uuid
    }],
    ['a sale whose address was taken away', async (shop) => {
      const sale = await delivered(shop)
      await setTo(shop, { payment: { url: null } })
      return sale.uuid
    }],
    ['a reversal whose group was switched off', async (shop) => {
      const { uuid } = (await pay(shop, await delivered(shop))).body.reversal
      await settle()
      await setTo(shop, { reversal: { url: shop.hook, enabled: false } })
      return uuid
    }],
  ]
  test.each(cases)('%s', async (_what, given) => {
    const shop = await merchant(both)
    const uuid = await given(shop)
    const before = shop.calls().length
    for (const method of ['POST', 'GET']) expect(queued(await shop.api.send(method, path(uuid)))).toEqual(asUnknown)
    await settle()
    expect(shop.calls()).toHaveLength(before)
  })
})

describe('while it is still to be sent', () => {
  test('one that waits for a retry is sent at once, and gets six attempts', async () => {
    const shop = await merchant()
    shop.answer(500)
    const sale = await it.given.paidSale(shop)
    await settle()
    toNextRetry()
    await settle()
    expect(await queueOf(sale.uuid)).toEqual([{ attempts: 2, attempts_left: 4, held: false }])
    expect(queued(await redeliver(shop, sale.uuid))).toEqual(one)
    await settle()
    expect(await queueOf(sale.uuid)).toEqual([{ attempts: 3, attempts_left: 5, held: false }])
    await exhaust()
    expect(shop.calls()).toHaveLength(8)
    expect(await queueOf(sale.uuid)).toEqual([])
  })

  test('one that waits for a retry goes to the address of now', async () => {
    const [shop, other] = [await merchant(), await merchant()]
    shop.answer(500)
    const sale = await it.given.paidSale(shop)
    await settle()
    await setTo(shop, { payment: { url: other.hook } })
    await redeliver(shop, sale.uuid)
    await settle()
    expect([shop.calls().length, other.calls().length]).toEqual([1, 1])
    expect(await queueOf(sale.uuid)).toEqual([])
  })

  test('one whose call is on its way is being sent: 202, and no second call beside it', async () => {
    const shop = await merchant()
    const held = shop.hold()
    const sale = await it.given.paidSale(shop)
    await shop.received(1)
    for (const _time of [1, 2, 3]) expect(queued(await redeliver(shop, sale.uuid))).toEqual(one)
    await it.service.deliveries.look()
    expect(shop.calls()).toHaveLength(1)
    held.release()
    await settle()
    expect(shop.calls()).toHaveLength(1)
    expect(await attemptsOf(shop, sale.uuid)).toHaveLength(1)
  })

  test('many at once are one series', async () => {
    const shop = await merchant()
    const sale = await delivered(shop)
    const held = shop.hold()
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeliver(shop, sale.uuid)))
    expect(answers.map(queued)).toEqual(Array(20).fill(one))
    await shop.received(2)
    expect(await queueOf(sale.uuid)).toEqual([{ attempts: 1, attempts_left: 6, held: true }])
    held.release(500)
    await settle()
    expect(shop.calls()).toHaveLength(2)
    await exhaust()
    expect(shop.calls()).toHaveLength(7)
  })

  test('one and all together are one series each', async () => {
    const shop = await merchant()
    const sales = [await delivered(shop), await delivered(shop), await delivered(shop)]
    const held = shop.hold()
    const bulk = () => shop.api.post('/v1.1/notifications/redeliver', {})
    const answers = await Promise.all([
      ...sales.map(({ uuid }) => redeliver(shop, uuid)),
      bulk(),
      ...sales.map(({ uuid }) => redeliver(shop, uuid)),
      bulk(),
    ])
    expect(answers.map(({ http }) => http)).toEqual(Array(8).fill(202))
    await shop.received(6)
    held.release()
    await settle()
    expect(shop.calls()).toHaveLength(6)
    for (const { uuid } of sales) expect(await attemptsOf(shop, uuid)).toHaveLength(2)
  })
})

describe('the ways to ask', () => {
  test('a POST with an Idempotency-Key is done once', async () => {
    const shop = await merchant()
    const [sale, another] = [await delivered(shop), await delivered(shop)]
    const headers = { 'idempotency-key': 'again-1' }
    const first = await redeliver(shop, sale.uuid, headers)
    await settle()
    const repeated = await redeliver(shop, sale.uuid, headers)
    await settle()
    expect([queued(first), queued(repeated)]).toEqual([one, one])
    expect([first, repeated].map((reply) => reply.headers['idempotency-replayed'])).toEqual([undefined, 'true'])
    expect(shop.calls()).toHaveLength(3)
    expect((await redeliver(shop, another.uuid, headers)).http).toBe(422)
    await redeliver(shop, sale.uuid, { 'idempotency-key': 'again-2' })
    await settle()
    expect(shop.calls()).toHaveLength(4)
  })

  test('a refusal is kept under its key as well', async () => {
    const shop = await merchant()
    const sale = await it.given.sale(shop)
    const headers = { 'idempotency-key': 'too-early' }
    expect(queued(await redeliver(shop, sale.uuid, headers))).toEqual(asUnknown)
    await pay(shop, sale)
    await settle()
    expect(queued(await redeliver(shop, sale.uuid, headers))).toEqual(asUnknown)
    expect(queued(await redeliver(shop, sale.uuid))).toEqual(one)
  })

  test('a HEAD sends nothing', async () => {
    const shop = await merchant()
    const sale = await delivered(shop)
    expect((await shop.api.send('HEAD', path(sale.uuid))).http).toBe(405)
    await settle()
    expect(shop.calls()).toHaveLength(1)
  })

  test.each(['PUT', 'DELETE', 'PATCH'])('%s is no way', async (method) => {
    const shop = await merchant()
    const sale = await delivered(shop)
    expect((await shop.api.send(method, path(sale.uuid))).http).toBe(405)
  })

  test('not without credentials', async () => {
    const sale = await delivered(await merchant())
    for (const method of ['GET', 'POST']) expect((await it.api.send(method, path(sale.uuid))).http).toBe(403)
  })

  test('a sale of another account is not sent to anybody', async () => {
    const [shop, other] = [await merchant(), await merchant()]
    const sale = await delivered(other)
    expect(queued(await redeliver(shop, sale.uuid))).toEqual(asUnknown)
    await settle()
    expect([shop.calls().length, other.calls().length]).toEqual([0, 1])
  })
})

/** Nothing is delivered here: what is queued stays to be counted. */
const resting = testService()

describe('sending many again', () => {
  const bulk = (account: TestAccount, body?: unknown) => account.api.post('/v1.1/notifications/redeliver', body)
  const at = (text: string): Instant => instantFromWire(text)!
  type Written = { event?: string; outcome?: 'SUCCESS' | 'HTTP_REQUEST_TIMEOUT'; realAt?: Instant; url?: string }

  async function listening() {
    const account = await resting.given.account()
    await setTo(account, {
      payment: { url: 'http://127.0.0.1:1/hook' },
      reversal: { url: 'http://127.0.0.1:1/hook', enabled: true },
    })
    return account
  }

  let written = 0
  /** Notifications whose series ended, at these moments of the account. */
  async function write(account: TestAccount, moments: readonly Instant[], fields: Written = {}) {
    const { event = 'PAYMENT_CONFIRMATION', outcome = 'SUCCESS', url = 'http://127.0.0.1:1/hook' } = fields
    const ids = moments.map((moment) => {
      const ms = (fields.realAt ?? moment).toString(16).padStart(12, '0')
      written += 1
      return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${written.toString(16).padStart(12, '0')}`
    })
    const times = moments.map((moment) => new Date(moment).toISOString())
    await resting.rows(
      `insert into notification (account_id, id, resource_id, turn, event, created_at, url, payload)
       select a.id, i.id, gen_random_uuid(), 1, $3, i.at, $4, '{}'
       from account a, unnest($2::uuid[], $5::timestamptz[]) i(id, at) where a.uuid = $1`,
      [account.id, ids, event, url, times],
    )
    await resting.rows(
      `insert into notification_attempt (account_id, notification_id, number, at, duration_ms, status, response_code, last, request_headers,
         response_headers, response_body)
       select account_id, id, 1, created_at, 5, $2, 0, true, '{}', '{}', '' from notification where id = any($1::uuid[])`,
      [ids, outcome],
    )
    // Plans for an account that the statistics do not know have tests of their own.
    if (ids.length > 1_000) await resting.rows('analyze notification, notification_attempt')
    return ids
  }
  const waiting = async (account: TestAccount) =>
    (
      await resting.rows<{ id: string }>(
        `select notification_id as id from notification_queue q join account a on a.id = q.account_id where a.uuid = $1 order by 1`,
        [account.id],
      )
    ).map(({ id }) => id)
  const counted = async (account: TestAccount, body?: unknown) => {
    const reply = await bulk(account, body)
    expect([reply.http, reply.body.status, reply.body.message], reply.text).toEqual([202, 0, 'success'])
    expect(Object.keys(reply.body)).toEqual(['status', 'message', 'queued'])
    return reply.body.queued
  }

  test.each([
    ['no body', undefined],
    ['an empty body', {}],
    ['nulls', { from: null, to: null, eventType: null, onlyFailed: null }],
    ['onlyFailed false', { onlyFailed: false }],
  ])('with %s: everything, delivered or failed, with six attempts each', async (_what, body) => {
    const account = await listening()
    const ids = [
      ...(await write(account, [at('2026-11-10 10:00:00'), at('2026-11-11 10:00:00')])),
      ...(await write(account, [at('2026-11-12 10:00:00')], { outcome: 'HTTP_REQUEST_TIMEOUT' })),
    ]
    expect(await counted(account, body)).toBe(3)
    expect(await waiting(account)).toEqual(ids)
    const rows = await resting.rows(
      'select attempts, attempts_left, held, claims, due_at, url from notification_queue where notification_id = any($1::uuid[])',
      [ids],
    )
    expect(rows).toEqual(
      Array(3).fill({ attempts: 1, attempts_left: 6, held: false, claims: 1, due_at: resting.clock.now(), url: null }),
    )
  })

  describe('by time', () => {
    const moments = [
      '2026-11-09 23:59:59',
      '2026-11-10 00:00:00',
      '2026-11-10 12:00:00',
      '2026-11-10 23:59:59',
      '2026-11-11 00:00:00',
    ]
    // biome-ignore format: a table
    const ranges: readonly (readonly [Record<string, string>, number[]])[] = [
      [{ from: '2026-11-10' }, [1, 2, 3, 4]],
      [{ to: '2026-11-10' }, [0, 1, 2, 3]],
      [{ from: '2026-11-10', to: '2026-11-10' }, [1, 2, 3]],
      [{ from: '2026-11-09', to: '2026-11-11' }, [0, 1, 2, 3, 4]],
      [{ from: '2026-11-10 12:00:00' }, [2, 3, 4]],
      [{ from: '2026-11-10 12:00:01' }, [3, 4]],
      [{ to: '2026-11-10 12:00:00' }, [0, 1, 2]],
      [{ to: '2026-11-10 11:59:59' }, [0, 1]],
      [{ from: '2026-11-10 12:00:00', to: '2026-11-10 12:00:00' }, [2]],
      [{ from: '2026-11-10T15:00:00Z', to: '2026-11-10T15:00:00Z' }, [2]],
      [{ from: '2026-11-10T12:00:00-03:00' }, [2, 3, 4]],
      [{ from: '2026-11-11', to: '2026-11-10' }, []],
      [{ from: '0001-01-01', to: '9999-12-31' }, [0, 1, 2, 3, 4]],
      [{ to: '0001-01-01' }, []],
      [{ from: '9999-12-31' }, []],
    ]
    test.each(ranges)('%o', async (body, chosen) => {
      const account = await listening()
      const ids = await write(account, moments.map(at))
      expect(await counted(account, body)).toBe(chosen.length)
      expect(await waiting(account)).toEqual(chosen.map((index) => ids[index]))
    })

    test('a time is meant to its second: what happened within it belongs', async () => {
      const account = await listening()
      const ids = await write(account, [plusMs(at('2026-11-10 12:00:00'), 999), at('2026-11-10 12:00:01')])
      expect(await counted(account, { to: '2026-11-10 12:00:00' })).toBe(1)
      expect(await waiting(account)).toEqual(ids.slice(0, 1))
    })

    test('it is the account’s time that counts, however far its clock is ahead', async () => {
      const account = await listening()
      const realAt = at('2026-11-10 10:00:00')
      await write(account, [plusMs(realAt, 400 * DAY_MS)], { realAt })
      expect(await counted(account, { from: '2026-11-10', to: '2026-11-11' })).toBe(0)
      expect(await counted(account, { from: '2027-12-15', to: '2027-12-15' })).toBe(1)
    })
  })

  test('by event', async () => {
    const account = await listening()
    const moment = at('2026-11-10 10:00:00')
    await write(account, [moment, moment])
    const reversals = await write(account, [moment], { event: 'REVERSAL_CREATE' })
    expect(await counted(account, { eventType: 'REVERSAL_CREATE' })).toBe(1)
    expect(await waiting(account)).toEqual(reversals)
    expect(await counted(account, { eventType: 'REFUND_PAID' })).toBe(0)
  })

  test('only what failed: its last attempt ended a series in vain', async () => {
    const account = await listening()
    const moment = at('2026-11-10 10:00:00')
    await write(account, [moment])
    const failed = await write(account, [moment, moment], { outcome: 'HTTP_REQUEST_TIMEOUT' })
    // One that failed once, was sent again and arrived.
    const [recovered] = await write(account, [moment], { outcome: 'HTTP_REQUEST_TIMEOUT' })
    await resting.rows(
      `insert into notification_attempt select account_id, notification_id, 2, at, duration_ms, 'SUCCESS', 200, null, true, url,
         request_headers, response_headers, response_body
       from notification_attempt where notification_id = $1`,
      [recovered],
    )
    // One that arrived once, was sent again and failed.
    const [spoiled] = await write(account, [moment])
    await resting.rows(
      `insert into notification_attempt select account_id, notification_id, 2, at, duration_ms, 'HTTP_STATUS_NOT_EQUALS_200', 500, null,
         true, url, request_headers, response_headers, response_body
       from notification_attempt where notification_id = $1`,
      [spoiled],
    )
    expect(await counted(account, { onlyFailed: true })).toBe(3)
    expect(await waiting(account)).toEqual([...failed, spoiled])
  })

  test('all conditions together', async () => {
    const account = await listening()
    const failed = { event: 'REVERSAL_CREATE', outcome: 'HTTP_REQUEST_TIMEOUT' } as const
    const [inside] = await write(account, [at('2026-11-10 10:00:00')], failed)
    await write(account, [at('2026-11-11 10:00:00')], failed)
    await write(account, [at('2026-11-10 10:00:00')], { ...failed, event: 'PAYMENT_CONFIRMATION' })
    await write(account, [at('2026-11-10 10:00:00')], { ...failed, outcome: 'SUCCESS' })
    const body = { from: '2026-11-10', to: '2026-11-10', eventType: 'REVERSAL_CREATE', onlyFailed: true }
    expect(await counted(account, body)).toBe(1)
    expect(await waiting(account)).toEqual([inside])
  })

  test('what waits to be sent anyway is neither counted nor moved', async () => {
    const account = await listening()
    const pending = await resting.given.paidSale(account)
    const [before] = await resting.rows('select * from notification_queue where resource_id = $1', [pending.uuid])
    await write(account, [at('2026-11-10 10:00:00')])
    resting.clock.advance(1_000)
    expect(await counted(account, {})).toBe(1)
    expect(await counted(account, {})).toBe(0)
    expect(await resting.rows('select * from notification_queue where resource_id = $1', [pending.uuid])).toEqual([
      before,
    ])
  })

  test('what has nowhere to go is not counted', async () => {
    const account = await listening()
    const moment = at('2026-11-10 10:00:00')
    await write(account, [moment])
    await write(account, [moment], { event: 'REVERSAL_CREATE' })
    await setTo(account, { reversal: { url: 'http://127.0.0.1:1/', enabled: false } })
    expect(await counted(account, {})).toBe(1)
    await setTo(account, { payment: { url: null } })
    expect(await counted(account, { eventType: 'PAYMENT_CONFIRMATION' })).toBe(0)
  })

  test('each goes to the address of now', async () => {
    const account = await listening()
    const moment = at('2026-11-10 10:00:00')
    const ids = await write(account, [moment, moment])
    await setTo(account, { payment: { url: 'http://127.0.0.1:1/"new"\\' } })
    expect(await counted(account, {})).toBe(2)
    const urls = await resting.rows(
      'select distinct url from notification_queue where notification_id = any($1::uuid[])',
      [ids],
    )
    expect(urls).toEqual([{ url: 'http://127.0.0.1:1/"new"\\' }])
  })

  test('only the caller’s own', async () => {
    const [account, other] = [await listening(), await listening()]
    await write(account, [at('2026-11-10 10:00:00')])
    await write(other, [at('2026-11-10 10:00:00'), at('2026-11-11 10:00:00')])
    expect(await counted(account, {})).toBe(1)
    expect(await waiting(other)).toEqual([])
  })

  test.each([1_999, 2_000, 2_001, 4_500])('%i of them: every page, none twice', async (count) => {
    const account = await listening()
    const start = at('2026-11-10 00:00:00')
    const ids = await write(
      account,
      Array.from({ length: count }, (_, index) => plusMs(start, Math.floor(index / 3) * 7)),
    )
    expect(await counted(account, {})).toBe(count)
    expect(await waiting(account)).toEqual([...ids].sort())
    expect(await counted(account, {})).toBe(0)
  })

  test('several pages with gaps: what failed is picked from among the delivered', async () => {
    const account = await listening()
    const start = at('2026-11-10 00:00:00')
    const moments = (from: number) => Array.from({ length: 2_500 }, (_, index) => plusMs(start, from + index * 2))
    await write(account, moments(0))
    const failed = await write(account, moments(1), { outcome: 'HTTP_REQUEST_TIMEOUT' })
    expect(await counted(account, { onlyFailed: true })).toBe(2_500)
    expect(await waiting(account)).toEqual([...failed].sort())
  })

  test('four at the same time share them: each is counted once', async () => {
    const account = await listening()
    const start = at('2026-11-10 00:00:00')
    await write(
      account,
      Array.from({ length: 2_100 }, (_, index) => plusMs(start, index)),
    )
    const counts = await Promise.all([1, 2, 3, 4].map(() => counted(account, {})))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2_100)
    expect(await waiting(account)).toHaveLength(2_100)
  })

  test.each([
    ['one', (account: TestAccount, uuid: string) => redeliver(account, uuid)],
    ['many', (account: TestAccount) => bulk(account, {})],
  ])('%s again while a series of it begins and ends elsewhere: the attempts are counted on', async (_what, send) => {
    const account = await listening()
    const [id] = await write(account, [at('2026-11-10 10:00:00')])
    const [row] = await resting.rows<{ resource_id: string }>('select resource_id from notification where id = $1', [
      id,
    ])
    const elsewhere = new pg.Client(clientConfig(resting.connection))
    await elsewhere.connect()
    await elsewhere.query('begin')
    await elsewhere.query('select 1 from notification where id = $1 for update', [id])
    await elsewhere.query(
      `insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left)
       select account_id, resource_id, turn, id, created_at, true, 1, 1, 6 from notification where id = $1`,
      [id],
    )
    const answer = send(account, row!.resource_id)
    await until(async () => {
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await resting.rows(waiting)).length > 0
    })
    await elsewhere.query(
      `insert into notification_attempt select account_id, notification_id, 2, at, duration_ms, status, response_code, failure, last, url,
         request_headers, response_headers, response_body from notification_attempt where notification_id = $1`,
      [id],
    )
    await elsewhere.query('delete from notification_queue where notification_id = $1', [id])
    await elsewhere.query('commit')
    await elsewhere.end()
    expect(queued(await answer)).toEqual(one)
    const waiting = await resting.rows(
      'select attempts, attempts_left from notification_queue where notification_id = $1',
      [id],
    )
    expect(waiting).toEqual([{ attempts: 2, attempts_left: 6 }])
  })

  test('an Idempotency-Key makes it once', async () => {
    const account = await listening()
    await write(account, [at('2026-11-10 10:00:00')])
    const headers = { 'idempotency-key': 'bulk' }
    const send = (body: unknown) => account.api.post('/v1.1/notifications/redeliver', body, { headers })
    const replies = [await send({}), await send({})]
    expect(replies.map(({ http, body }) => [http, body.queued])).toEqual([
      [202, 1],
      [202, 1],
    ])
    expect((await send({ onlyFailed: true })).http).toBe(422)
  })

  // biome-ignore format: a table
  const wrong: readonly (readonly [string, unknown])[] = [
    ['from', 'yesterday'], ['from', '2026-02-30'], ['from', '2026-11-10 25:00:00'], ['from', '2026-11-10T10:00:00'], ['from', 20261110],
    ['from', '0000-01-01'], ['from', ['2026-11-10']],
    ['to', '10/11/2026'], ['to', '2026-13-01'], ['to', true], ['to', '2026-11-10 10:00'],
    ['eventType', 'PAYMENT'], ['eventType', 'payment_confirmation'], ['eventType', 7], ['eventType', ['PAYMENT_CONFIRMATION']],
    ['onlyFailed', 'true'], ['onlyFailed', 1], ['onlyFailed', {}],
  ]
  test.each(wrong)('%s %j is a 400', async (field, value) => {
    const account = await listening()
    const reply = await bulk(account, { [field]: value })
    expect([reply.http, reply.body.status, reply.body.message, reply.body.errorCount]).toEqual([
      400,
      -1,
      'field validation failure',
      1,
    ])
    expect(reply.body.errors[0].field).toBe(field)
  })

  test('every wrong field is named, and nothing is sent', async () => {
    const account = await listening()
    await write(account, [at('2026-11-10 10:00:00')])
    const reply = await bulk(account, { from: 'x', to: 'x', eventType: 'x', onlyFailed: 'x' })
    expect(reply.body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'from',
      'to',
      'eventType',
      'onlyFailed',
    ])
    expect(await waiting(account)).toEqual([])
  })

  test('malformed JSON is a 400, and nothing is sent', async () => {
    const account = await listening()
    await write(account, [at('2026-11-10 10:00:00')])
    const reply = await account.api.post('/v1.1/notifications/redeliver', undefined, { raw: '{"from":' })
    expect([reply.http, await waiting(account)]).toEqual([400, []])
  })

  // The last second that a filter can name: its end lies in the year 10000.
  test.each(['9999-12-31 20:59:59', '9999-12-31T23:59:59Z', '9999-12-31T23:59:59.999Z'])(
    'to %s is everything',
    async (to) => {
      const account = await listening()
      await write(account, [at('2026-11-10 10:00:00')])
      expect(await counted(account, { to })).toBe(1)
    },
  )
})

test('many again are delivered, each with its own bytes', async () => {
  const shop = await merchant()
  const sales = []
  for (let index = 0; index < 10; index += 1) sales.push(await delivered(shop))
  const before = shop.calls().map(({ text }) => text)
  it.clock.advance(HOUR_MS)
  expect((await shop.api.post('/v1.1/notifications/redeliver', {})).body.queued).toBe(10)
  await settle()
  const again = shop
    .calls()
    .slice(10)
    .map(({ text }) => text)
  expect([...again].sort()).toEqual([...before].sort())
})

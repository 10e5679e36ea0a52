import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import {
  accepted,
  hear,
  linesOf,
  moneyOf,
  numberOf,
  payOut,
  railReport,
  simulate,
} from '../../../test/harness/money-out.ts'
import { waitingSql } from '../../../test/harness/patience.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS, SECOND_MS } from '../../kernel/calendar.ts'
import { clientConfig } from '../../platform/database/database.ts'
import type { OutflowOrder, Withdrawal } from '../../rail/rail.ts'
import { sweepOrders, sweepOutflows } from '../../worker/sweeps.ts'
import { referenceOf } from '../outflow/index.ts'

/** What the rail was told and asked, and what it answers. */
const rail = {
  given: [] as string[],
  asked: [] as string[],
  taking: async () => {},
  answer: async (_reference: string): Promise<Withdrawal> => 'WITHDRAWN',
}
const it = testService({
  deliveries: true,
  rail: {
    async sendOut(orders: readonly OutflowOrder[]) {
      rail.given.push(...orders.map(({ reference }) => reference))
      await rail.taking()
    },
    cancelOut(references) {
      rail.asked.push(...references)
      return Promise.all(references.map((reference) => rail.answer(reference)))
    },
  },
})
const { merchant, settle } = merchants(it)
beforeEach(() => {
  Object.assign(rail, { given: [], asked: [], taking: async () => {}, answer: async () => 'WITHDRAWN' })
})

const away = (): never => {
  throw new Error('the rail is away')
}
/** 99.01 available, of which 40 are to go out; nothing settles by itself. */
async function underWay({ sent = true, settings = {} }: { sent?: boolean; settings?: object } = {}) {
  // What earlier tests have left is out of the way.
  it.clock.advance(30 * MINUTE_MS)
  await sweepOrders(it.service.sweeps)
  Object.assign(rail, { given: [], asked: [] })
  const account = await merchant((hook) => ({ payout: { url: hook, enabled: true } }))
  await account.api.put('/v1.1/sandbox/account', { autoSettle: false, ...settings })
  await it.given.paidSale(account)
  const uuid = await accepted(payOut(account, { amount: 40 }))
  if (sent) await it.service.orders.run()
  return { account, uuid, reference: referenceOf(await numberOf(it, account), uuid) }
}
const cancel = (account: TestAccount, uuid: string, body?: unknown, headers = {}) =>
  account.api.put(`/v1.1/payout/${uuid}/cancel`, body, { headers })
const situationOf = async ({ api }: TestAccount, uuid: string) => (await api.get(`/v1.1/payout/${uuid}`)).body.situation
const orderOf = async (uuid: string) =>
  (
    await it.rows<{ state: string; tries: number; cancel_asked: boolean }>(
      'select state, tries, cancel_asked_at is not null as cancel_asked from outflow where id = $1',
      [uuid],
    )
  )[0]
const setAside = async (reference: string) =>
  (await it.rows('select 1 from inbox_conflict where rail_id = $1', [reference])).length
const held = { available: 59.01, blocked: 40 }
const back = { available: 99.01, blocked: 0 }
const gone = { available: 59.01, blocked: 0 }

describe('an order that has not left us', () => {
  test('is cancelled at once, and the rail hears nothing of it', async () => {
    const { account, uuid } = await underWay({ sent: false })
    const { http, body } = await cancel(account, uuid)
    expect([http, body.situation]).toEqual([200, 'CANCELLED'])
    await it.service.orders.run()
    expect([rail.given, rail.asked, await moneyOf(account)]).toEqual([[], [], back])
  })

  test('the rail’s own CANCELLED of it is no contradiction, its PAID is one', async () => {
    const { account, uuid, reference } = await underWay({ sent: false })
    await cancel(account, uuid)
    const report = await railReport(it, account, 'PAYOUT', uuid)
    expect(await hear(it, { ...report, outcome: 'CANCELLED' })).toBe('duplicate')
    expect(await setAside(reference)).toBe(0)
    expect(await hear(it, report)).toBe('conflict')
    expect(await moneyOf(account)).toEqual(back)
  })

  test('is taken or cancelled, and never both, when both come at once', async () => {
    const { account } = await underWay()
    const uuids = await Promise.all(Array.from({ length: 24 }, () => accepted(payOut(account, { amount: 1 }))))
    Object.assign(rail, { given: [], asked: [] })
    const [answers] = await Promise.all([
      Promise.all(uuids.map((uuid) => cancel(account, uuid))),
      it.service.orders.run(),
    ])
    expect(answers.map(({ http, body }) => [http, body.situation])).toEqual(Array(24).fill([200, 'CANCELLED']))
    // Whatever the rail was given, it was asked to give back.
    expect(rail.given.filter((reference) => !rail.asked.includes(reference))).toEqual([])
    await it.service.orders.run()
    expect(new Set(rail.given).size).toBe(new Set(rail.asked).size)
  })
})

describe('an order that somebody is just taking', () => {
  test('is waited for, and then asked back', async () => {
    const { account, uuid, reference } = await underWay({ sent: false })
    const client = new pg.Client(clientConfig(it.connection))
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('begin')
    await client.query(`update outflow set tries = 1, due_at = due_at + interval '30 seconds' where id = $1`, [uuid])
    const cancelling = cancel(account, uuid)
    await expect.poll(() => it.rows(`${waitingSql} and query like '%outflow%'`)).toHaveLength(1)
    await client.query('commit')
    expect((await cancelling).body.situation).toBe('CANCELLED')
    expect(rail.asked).toEqual([reference])
  })
})

describe('an order that was sent', () => {
  test('is asked back: withdrawn, the payout is CANCELLED and amount and fee come back', async () => {
    const { account, uuid, reference } = await underWay({ settings: { fees: { PAYOUT: { fixed: 1.5 } } } })
    const { http, body } = await cancel(account, uuid, { reason: 'wrong key' })
    expect([http, body]).toMatchObject([200, { status: 0, uuid, situation: 'CANCELLED', processingDate: null }])
    expect([rail.asked, await moneyOf(account), await orderOf(uuid)]).toEqual([[reference], back, undefined])
    expect((await linesOf(account)).slice(0, 2)).toEqual([
      ['PAYOUT_RETURNED', 1.5],
      ['PAYOUT_RETURNED', 40],
    ])
    expect(await it.rows('select cancel_reason from payout where id = $1', [uuid])).toEqual([
      { cancel_reason: 'wrong key' },
    ])
    await settle()
    expect(account.calls()).toEqual([])
  })

  test('the rail’s own CANCELLED afterwards is a duplicate, whatever it adds', async () => {
    const { account, uuid, reference } = await underWay()
    await cancel(account, uuid)
    const report = await railReport(it, account, 'PAYOUT', uuid, { outcome: 'CANCELLED' })
    expect([await hear(it, report), await hear(it, { ...report, error: 'PE0004' })]).toEqual(['duplicate', 'duplicate'])
    expect([await setAside(reference), await situationOf(account, uuid)]).toEqual([0, 'CANCELLED'])
  })

  test('which the rail keeps stays PENDING and held, and may then be paid', async () => {
    const { account, uuid } = await underWay()
    rail.answer = async () => 'KEPT'
    const { http, body } = await cancel(account, uuid)
    expect([http, body]).toEqual([
      400,
      {
        status: 999,
        message: 'transaction not PENDING',
        errorCount: 1,
        errors: [{ field: 'transactionToken', message: 'the bank is paying it already' }],
      },
    ])
    expect([await situationOf(account, uuid), await moneyOf(account)]).toEqual(['PENDING', held])
    expect(await orderOf(uuid)).toEqual({ state: 'SENT', tries: 1, cancel_asked: false })
    expect(await hear(it, await railReport(it, account, 'PAYOUT', uuid))).toBe('applied')
    expect(await moneyOf(account)).toEqual(gone)
    await settle()
    expect(account.calls().map((call) => call.body.status)).toEqual(['PAID'])
  })

  test('can be asked back again later', async () => {
    const { account, uuid } = await underWay()
    rail.answer = async () => 'KEPT'
    await cancel(account, uuid)
    rail.answer = async () => 'WITHDRAWN'
    expect((await cancel(account, uuid)).body.situation).toBe('CANCELLED')
  })

  test('is paid meanwhile: not cancelled, and the money is gone', async () => {
    const { account, uuid, reference } = await underWay()
    rail.answer = async () => {
      expect(await hear(it, await railReport(it, account, 'PAYOUT', uuid))).toBe('applied')
      return 'KEPT'
    }
    const { http, body } = await cancel(account, uuid)
    expect([http, body.errors[0].message]).toEqual([400, 'invalid transaction situation'])
    expect([await situationOf(account, uuid), await moneyOf(account)]).toEqual(['PAID', gone])
    expect(await setAside(reference)).toBe(0)
  })

  test('is paid meanwhile by a rail that says it was withdrawn: the first counts, the other is set aside', async () => {
    const { account, uuid, reference } = await underWay()
    rail.answer = async () => {
      await hear(it, await railReport(it, account, 'PAYOUT', uuid))
      return 'WITHDRAWN'
    }
    const { http, body } = await cancel(account, uuid, undefined, { 'idempotency-key': randomUUID() })
    expect([http, body.message]).toEqual([400, 'transaction not PENDING'])
    expect([await situationOf(account, uuid), await setAside(reference)]).toEqual(['PAID', 1])
  })

  test('is cancelled once by two that ask at once, and the other hears that it is not PENDING', async () => {
    const { account, uuid } = await underWay()
    const answers = await Promise.all([cancel(account, uuid), cancel(account, uuid)])
    expect(answers.map(({ http }) => http).sort()).toEqual([200, 400])
    expect(await moneyOf(account)).toEqual(back)
  })

  test('that is under way is asked back too', async () => {
    const { account, uuid, reference } = await underWay({ sent: false })
    let answer = () => {}
    rail.taking = () => new Promise((done) => (answer = done))
    const sending = it.service.orders.run()
    await expect.poll(() => rail.given).toEqual([reference])
    expect((await cancel(account, uuid)).body.situation).toBe('CANCELLED')
    answer()
    await sending
    expect([rail.asked, await orderOf(uuid), await moneyOf(account)]).toEqual([[reference], undefined, back])
  })

  test('whose sending had no answer is asked back too', async () => {
    const { account, uuid, reference } = await underWay({ sent: false })
    rail.taking = away
    await it.service.orders.run()
    expect((await cancel(account, uuid)).body.situation).toBe('CANCELLED')
    expect(rail.asked).toEqual([reference])
  })

  test('whose sending had no answer and which the rail keeps is sent again', async () => {
    const { account, uuid, reference } = await underWay({ sent: false })
    rail.taking = away
    await it.service.orders.run()
    rail.taking = async () => {}
    rail.answer = async () => 'KEPT'
    expect((await cancel(account, uuid)).http).toBe(400)
    await it.service.orders.run()
    expect([rail.given, await orderOf(uuid)]).toMatchObject([[reference, reference], { state: 'SENT', tries: 2 }])
  })
})

describe('a rail that does not say whether it lets go', () => {
  async function unanswered() {
    const made = await underWay()
    rail.answer = away
    const reply = await cancel(made.account, made.uuid, { reason: 'first' })
    return { ...made, reply }
  }

  test('nobody knows: 503, still PENDING, held, and the rail is asked again until it answers', async () => {
    const { account, uuid, reference, reply } = await unanswered()
    expect([reply.http, reply.headers['retry-after']]).toEqual([503, '1'])
    expect([await situationOf(account, uuid), await moneyOf(account)]).toEqual(['PENDING', held])
    for (let tries = 2; tries <= 4; tries += 1) {
      it.clock.advance(MINUTE_MS)
      await sweepOrders(it.service.sweeps)
      expect([rail.asked.length, await moneyOf(account)]).toEqual([tries, held])
    }
    rail.answer = async () => 'WITHDRAWN'
    it.clock.advance(MINUTE_MS)
    await sweepOrders(it.service.sweeps)
    expect(new Set(rail.asked)).toEqual(new Set([reference]))
    expect([await situationOf(account, uuid), await moneyOf(account)]).toEqual(['CANCELLED', back])
    expect(await it.rows('select cancel_reason from payout where id = $1', [uuid])).toEqual([
      { cancel_reason: 'first' },
    ])
    await settle()
    expect(account.calls()).toEqual([])
  })

  test('and keeps it after all: it goes on as if nobody had asked', async () => {
    const { uuid } = await unanswered()
    rail.answer = async () => 'KEPT'
    it.clock.advance(MINUTE_MS)
    await sweepOrders(it.service.sweeps)
    expect(await orderOf(uuid)).toMatchObject({ state: 'SENT', cancel_asked: false })
  })

  test.each([
    ['PAID', 'PAID', gone],
    ['FAILED', 'FAILED', back],
    ['CANCELLED', 'CANCELLED', back],
  ] as const)('and reports %s: that counts', async (outcome, situation, money) => {
    const { account, uuid } = await unanswered()
    expect(await hear(it, await railReport(it, account, 'PAYOUT', uuid, { outcome }))).toBe('applied')
    expect([await situationOf(account, uuid), await moneyOf(account)]).toEqual([situation, money])
    rail.answer = async () => 'WITHDRAWN'
    it.clock.advance(MINUTE_MS)
    await sweepOrders(it.service.sweeps)
    expect(rail.asked).toHaveLength(1)
  })

  test('is asked by the next cancel too', async () => {
    const { account, uuid } = await unanswered()
    rail.answer = async () => 'WITHDRAWN'
    expect((await cancel(account, uuid)).body.situation).toBe('CANCELLED')
  })

  test('gets the order from nobody meanwhile', async () => {
    const { account, uuid } = await underWay({ sent: false })
    rail.taking = away
    await it.service.orders.run()
    rail.answer = away
    expect((await cancel(account, uuid)).http).toBe(503)
    rail.taking = async () => {}
    it.clock.advance(15 * MINUTE_MS)
    await it.service.orders.run()
    expect(rail.given).toHaveLength(1)
  })

  test('the sandbox’s bank settles no such order', async () => {
    const { account, uuid } = await unanswered()
    expect((await simulate(account, 'payout', uuid, 'paid')).http).toBe(400)
    expect((await simulate(account, 'payout', uuid, 'failed/PE0001')).http).toBe(400)
    await account.api.put('/v1.1/sandbox/account', { autoSettle: true })
    it.clock.advance(10 * SECOND_MS)
    await sweepOutflows(it.service.sweeps)
    expect([await situationOf(account, uuid), await moneyOf(account)]).toEqual(['PENDING', held])
  })

  test('a process that dies while it asks leaves that to the next one, after its lease', async () => {
    const { account, uuid, reference } = await underWay()
    let late: (answer: Withdrawal) => void = () => {}
    rail.answer = () => new Promise((done) => (late = done))
    const dying = cancel(account, uuid)
    await expect.poll(() => rail.asked).toEqual([reference])
    rail.answer = async () => 'WITHDRAWN'
    it.clock.advance(30 * SECOND_MS - 1)
    await sweepOrders(it.service.sweeps)
    expect([rail.asked.length, await moneyOf(account)]).toEqual([1, held])
    it.clock.advance(1)
    await sweepOrders(it.service.sweeps)
    expect([rail.asked.length, await situationOf(account, uuid)]).toEqual([2, 'CANCELLED'])
    // It was only slow: what it hears now is known.
    late('WITHDRAWN')
    expect([(await dying).http, await setAside(reference), await moneyOf(account)]).toEqual([400, 0, back])
  })
})

describe('an Idempotency-Key on a cancellation', () => {
  type Way = readonly [method: string, path: (uuid: string) => string, body: (uuid: string, more: object) => object]
  const ways: readonly Way[] = [
    ['PUT', (uuid: string) => `/v1.1/payout/${uuid}/cancel`, (_uuid: string, more: object) => more],
    ['DELETE', () => '/v1.1/payout', (uuid: string, more: object) => ({ uuid, ...more })],
  ]
  const ask = async ({ api }: TestAccount, [method, path, body]: Way, uuid: string, more: object, key: string) =>
    api.send(method, path(uuid), body(uuid, more), { headers: { 'idempotency-key': key } })

  test.each(ways.flatMap((way) => [[way[0], 'sent', way] as const, [way[0], 'not sent', way] as const]))(
    '%s of an order that was %s: the same answer again',
    async (_method, when, way) => {
      const { account, uuid } = await underWay({ sent: when === 'sent' })
      const first = await ask(account, way, uuid, { reason: 'x' }, 'key')
      const again = await ask(account, way, uuid, { reason: 'x' }, 'key')
      expect([first.http, first.body.situation]).toEqual([200, 'CANCELLED'])
      expect([again.http, again.headers['idempotency-replayed'], again.text]).toEqual([200, 'true', first.text])
      expect((await ask(account, way, uuid, { reason: 'y' }, 'key')).http).toBe(422)
    },
  )

  test.each(ways)('%s: the same at once is one cancellation and one answer', async (...way) => {
    const { account, uuid } = await underWay()
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(account, way, uuid, {}, 'key')))
    expect(new Set(answers.map(({ http, text }) => `${http} ${text}`)).size).toBe(1)
    expect(answers[0]!.body.situation).toBe('CANCELLED')
  })

  test.each(ways)('%s: a refusal is an answer too, of fields, of the rail and of the situation', async (...way) => {
    const { account, uuid } = await underWay()
    rail.answer = async () => 'KEPT'
    const refusals: [string, object][] = [
      ['fields', { reason: 'x'.repeat(256) }],
      ['rail', {}],
    ]
    for (const [key, more] of refusals) {
      const first = await ask(account, way, uuid, more, key)
      const again = await ask(account, way, uuid, more, key)
      expect([first.http, again.http, again.headers['idempotency-replayed']]).toEqual([400, 400, 'true'])
      expect(again.text).toBe(first.text)
    }
    rail.answer = async () => 'WITHDRAWN'
    await cancel(account, uuid)
    const late = [await ask(account, way, uuid, {}, 'late'), await ask(account, way, uuid, {}, 'late')]
    expect(late.map(({ http, headers }) => [http, headers['idempotency-replayed']])).toEqual([
      [400, undefined],
      [400, 'true'],
    ])
  })

  test.each(ways)('%s: no answer of the rail leaves the key free', async (...way) => {
    const { account, uuid } = await underWay()
    rail.answer = away
    expect((await ask(account, way, uuid, {}, 'key')).http).toBe(503)
    rail.answer = async () => 'WITHDRAWN'
    const { http, headers, body } = await ask(account, way, uuid, {}, 'key')
    expect([http, headers['idempotency-replayed'], body.situation]).toEqual([200, undefined, 'CANCELLED'])
  })
})

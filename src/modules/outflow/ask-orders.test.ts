import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { accepted, hear, moneyOf, numberOf, payOut, railReport, refund } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../../kernel/calendar.ts'
import { type OutflowKind, type OutflowSettled, type OutflowStanding, RailAway } from '../../rail/rail.ts'
import { applyOutflowAlone } from '../door/index.ts'
import { lookUpOrders } from './ask-orders.ts'
import { referenceOf } from './outflow.store.ts'

const it = testService({ rail: { cancelOut: () => Promise.reject(new Error('away')) } })

/** A rail that answers as it is told about orders. */
function knowingRail(answer: (reference: string, call: number) => OutflowStanding | Promise<OutflowStanding>) {
  const asked: string[] = []
  const calls: number[] = []
  const troubles: string[] = []
  const context = {
    db: it.service.db,
    clock: it.clock,
    rail: {
      name: 'sandbox',
      cancelOut: async () => [],
      lookUpOut(references: readonly string[]) {
        calls.push(references.length)
        asked.push(...references)
        return Promise.all(references.map((reference) => answer(reference, calls.length)))
      },
    },
    hear: (event: OutflowSettled) => applyOutflowAlone(it.service.doorContext, event),
    trouble: (error: unknown) => void troubles.push((error as Error).message),
  }
  const all = async () => {
    while (await lookUpOrders(context));
  }
  return { asked, calls, troubles, all, context }
}

/** 99.01 of a paid sale, nothing settles by itself; what earlier tests sent has ended. */
async function shop(): Promise<TestAccount> {
  for (const { account_id, id, kind } of await it.rows<{ account_id: number; id: string; kind: OutflowKind }>(
    'select account_id, id, kind from outflow',
  ))
    await hear(it, {
      kind: 'outflow',
      rail: 'sandbox',
      order: kind,
      reference: referenceOf(account_id as never, id),
      outcome: 'PAID',
      error: null,
      settledAt: it.clock.now(),
    })
  const account = await it.given.account({ autoSettle: false })
  await it.given.paidSale(account)
  return account
}
async function sent(account: TestAccount, asked = payOut(account, { amount: 10 })) {
  const uuid = await accepted(asked)
  await it.service.orders.run()
  return { uuid, reference: referenceOf(await numberOf(it, account), uuid) }
}
const situationOf = async ({ api }: TestAccount, uuid: string) =>
  (await api.get(`/v1.1/transactions/${uuid}`)).body.situation

describe('an order of which the rail says nothing', () => {
  test('is asked about after 15 minutes, by our own reference, and then ever more rarely', async () => {
    const { reference } = await sent(await shop())
    const { asked, all } = knowingRail(() => 'PENDING')
    it.clock.advance(15 * MINUTE_MS - 1)
    await all()
    expect(asked).toEqual([])
    it.clock.advance(1)
    const waits: number[] = []
    for (let turn = 1; turn <= 7; turn += 1) {
      await all()
      expect(asked).toEqual(Array(turn).fill(reference))
      const [row] = await it.rows<{ due_at: Instant }>('select due_at from outflow')
      waits.push((row!.due_at - it.clock.now()) / MINUTE_MS)
      it.clock.advance(row!.due_at - it.clock.now() - 1)
      await all()
      expect(asked).toHaveLength(turn)
      it.clock.advance(1)
    }
    expect(waits).toEqual([30, 60, 120, 240, 360, 360, 360])
  })

  test.each([
    ['PAID', null, 'PAID', 89.01],
    ['FAILED', 'PE0001', 'FAILED', 99.01],
    ['CANCELLED', null, 'FAILED', 99.01],
  ] as const)(
    'and which it then says is %s %s: that goes in by the door, once',
    async (outcome, error, situation, money) => {
      const account = await shop()
      const { uuid } = await sent(account)
      const report = await railReport(it, account, 'PAYOUT', uuid, { outcome, error })
      const { all } = knowingRail(() => report)
      it.clock.advance(15 * MINUTE_MS)
      await all()
      expect([await situationOf(account, uuid), await moneyOf(account)]).toEqual([
        situation,
        { available: money, blocked: 0 },
      ])
      expect(await hear(it, report)).toBe('duplicate')
    },
  )

  test('and which it never heard of is sent again, under the same reference', async () => {
    const account = await shop()
    const { uuid, reference } = await sent(account)
    const { all, asked } = knowingRail(() => 'UNKNOWN')
    it.clock.advance(15 * MINUTE_MS)
    await all()
    expect(asked).toEqual([reference])
    expect(await it.rows('select state, tries from outflow where id = $1', [uuid])).toEqual([
      { state: 'RESERVED', tries: 1 },
    ])
    await it.service.orders.run()
    expect(await it.rows('select state, tries from outflow where id = $1', [uuid])).toEqual([
      { state: 'SENT', tries: 2 },
    ])
    expect(await moneyOf(account)).toEqual({ available: 89.01, blocked: 10 })
  })

  test('refunds and reversals as well', async () => {
    const account = await shop()
    const sale = await it.given.paidSale(account)
    const { reversal } = (await account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`)).body
    const { uuid } = await sent(account, refund(account, sale, { amount: 10 }))
    const reports = new Map<string, OutflowSettled>()
    for (const [kind, id] of [['REFUND', uuid] as const, ['REVERSAL', reversal.uuid as string] as const]) {
      const report = await railReport(it, account, kind, id)
      reports.set(report.reference, report)
    }
    it.clock.advance(15 * MINUTE_MS)
    await knowingRail((reference) => reports.get(reference)!).all()
    expect(await situationOf(account, uuid)).toBe('PAID')
    expect((await account.api.get(`/v1.1/reversals/${reversal.uuid}`)).body.reversal.status).toBe('PAID')
  })

  test('is not asked about when it has ended, was not sent, or is wanted back', async () => {
    const account = await shop()
    const { uuid } = await sent(account)
    await hear(it, await railReport(it, account, 'PAYOUT', uuid))
    const { uuid: wanted } = await sent(account)
    expect((await account.api.put(`/v1.1/payout/${wanted}/cancel`)).http).toBe(503)
    await accepted(payOut(account, { amount: 10 }))
    const { asked, all } = knowingRail(() => 'PENDING')
    it.clock.advance(HOUR_MS)
    await all()
    expect(asked).toEqual([])
  })

  test('stays as it is under a rail that knows no more than the sandbox’s', async () => {
    const account = await shop()
    const { uuid } = await sent(account)
    it.clock.advance(15 * MINUTE_MS)
    await it.sweep()
    expect(await situationOf(account, uuid)).toBe('PENDING')
    expect(await it.rows('select state, asked from outflow where id = $1', [uuid])).toEqual([
      { state: 'SENT', asked: 1 },
    ])
  })
})

describe('a rail that cannot answer', () => {
  async function eight() {
    const account = await shop()
    const uuids: string[] = []
    for (let made = 0; made < 8; made += 1) uuids.push((await sent(account, payOut(account, { amount: 1 }))).uuid)
    const references = await Promise.all(uuids.map(async (uuid) => referenceOf(await numberOf(it, account), uuid)))
    const report = await railReport(it, account, 'PAYOUT', uuids[0]!)
    const paid = (reference: string): OutflowStanding => ({ ...report, reference })
    it.clock.advance(15 * MINUTE_MS)
    return { account, uuids, references, paid }
  }

  test('for one of them tells about the others all the same', async () => {
    const { account, uuids, references, paid } = await eight()
    const { all, troubles } = knowingRail((reference) => {
      if (reference === references[3]) throw new Error('what is this')
      return paid(reference)
    })
    await all()
    const states = await Promise.all(uuids.map((uuid) => situationOf(account, uuid)))
    expect(states).toEqual(uuids.map((_, at) => (at === 3 ? 'PENDING' : 'PAID')))
    expect(troubles).toEqual(['what is this'])
  })

  test('because it is away is asked once, and again later', async () => {
    const { account, uuids, paid } = await eight()
    const { all, calls } = knowingRail((reference, call) => {
      if (call === 1) throw new RailAway('no connection')
      return paid(reference)
    })
    await all()
    expect(calls).toEqual([8])
    it.clock.advance(30 * MINUTE_MS)
    await all()
    expect([calls, await situationOf(account, uuids[7]!)]).toEqual([[8, 8], 'PAID'])
  })

  test('what our own side cannot book waits alone, until it can', async () => {
    const { account, uuids, references, paid } = await eight()
    const { all, troubles, context } = knowingRail(paid)
    const { hear: book } = context
    let broken = true
    context.hear = (event) =>
      broken && event.reference === references[0] ? Promise.reject(new Error('no room')) : book(event)
    await all()
    expect([troubles, await situationOf(account, uuids[0]!)]).toEqual([['no room'], 'PENDING'])
    expect(await situationOf(account, uuids[7]!)).toBe('PAID')
    broken = false
    it.clock.advance(MINUTE_MS)
    await all()
    expect(await situationOf(account, uuids[0]!)).toBe('PAID')
  })
})

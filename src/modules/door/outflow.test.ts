import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import {
  accepted,
  hear,
  linesOf,
  moneyOf,
  numberOf,
  payOut,
  railReport,
  refund,
} from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { DAY_MS, type Instant, plusMs } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import type { OutflowKind, OutflowSettled } from '../../rail/rail.ts'
import { referenceOf } from '../outflow/index.ts'
import { applyOutflowAlone } from './apply-outflow.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const ALARM = 'the rail contradicts what is known of an order'

const told = (hook: string) => ({
  refund: { url: hook, enabled: true },
  reversal: { url: hook, enabled: true },
  payout: { url: hook, enabled: true },
})
/** 99.01 of a paid sale, and something under way of each kind. */
async function shop() {
  const account = await merchant(told)
  await account.api.put('/v1.1/sandbox/account', { autoSettle: false })
  const sale = await it.given.paidSale(account)
  return { account, sale }
}
const make: Record<OutflowKind, (account: TestAccount, sale: { uuid: string }) => Promise<string>> = {
  REFUND: (account, sale) => accepted(refund(account, sale, { amount: 40 })),
  PAYOUT: (account) => accepted(payOut(account, { amount: 40 })),
  REVERSAL: async (account, sale) => (await pay(account, sale, { amount: 40 })).body.reversal.uuid,
}
async function underWay(kind: OutflowKind) {
  const { account, sale } = await shop()
  const uuid = await make[kind](account, sale)
  await settle()
  const calls = account.calls().length
  const news = async () => {
    await settle()
    return account.calls().slice(calls)
  }
  return { account, uuid, news, report: await railReport(it, account, kind, uuid) }
}
const stateOf = async (kind: OutflowKind, uuid: string) =>
  (await it.rows<{ state: string }>(`select state from ${kind.toLowerCase()} where id = $1`, [uuid]))[0]!.state
const setAside = (reference: string) =>
  it.rows<{ content: string }>('select content from inbox_conflict where rail_id = $1', [reference])
const alarmsOf = (reference: string) =>
  it.logged.filter((line) => line['msg'] === ALARM && line['alarm'] === true && line['reference'] === reference).length
/** Everything that must not move any more. */
const worldOf = async (account: TestAccount, kind: OutflowKind, uuid: string) => ({
  money: await moneyOf(account),
  lines: await linesOf(account),
  state: await stateOf(kind, uuid),
})

const kinds = ['REFUND', 'REVERSAL', 'PAYOUT'] as const
const ends = [
  ['REFUND', 'PAID', 'PAID', 59.01],
  ['REFUND', 'CANCELLED', 'CANCELLED', 99.01],
  ['REFUND', 'FAILED', 'CANCELLED', 99.01],
  ['REVERSAL', 'PAID', 'PAID', 99.01],
  ['REVERSAL', 'CANCELLED', 'CANCELLED', 139.01],
  ['REVERSAL', 'FAILED', 'CANCELLED', 139.01],
  ['PAYOUT', 'PAID', 'PAID', 59.01],
  ['PAYOUT', 'CANCELLED', 'FAILED', 99.01],
  ['PAYOUT', 'FAILED', 'FAILED', 99.01],
] as const

describe('what the rail says of an order', () => {
  test.each(ends)('%s %s: it is %s, its hold is gone and %d is available', async (kind, outcome, state, available) => {
    const { account, uuid, report } = await underWay(kind)
    expect(await hear(it, { ...report, outcome })).toBe('applied')
    expect([await stateOf(kind, uuid), await moneyOf(account)]).toEqual([state, { available, blocked: 0 }])
    expect(await it.rows('select 1 from outflow where id = $1', [uuid])).toEqual([])
  })

  test.each([
    ['PE0001', 'PE0001'],
    [null, 'PE0004'],
  ] as const)('a payout that failed with %s is kept as %s', async (error, kept) => {
    const { account, uuid, report } = await underWay('PAYOUT')
    await hear(it, { ...report, outcome: 'FAILED', error })
    expect((await account.api.get(`/v1.1/payout/${uuid}`)).body.error_code).toBe(kept)
  })

  test('a payout that the rail cancels of itself has failed, with PE0004, and its merchant is told', async () => {
    const { account, uuid, news, report } = await underWay('PAYOUT')
    expect(await hear(it, { ...report, outcome: 'CANCELLED' })).toBe('applied')
    expect(await hear(it, { ...report, outcome: 'CANCELLED' })).toBe('duplicate')
    expect((await account.api.get(`/v1.1/payout/${uuid}`)).body).toMatchObject({
      situation: 'FAILED',
      error_code: 'PE0004',
    })
    expect((await news()).map((call) => [call.url.split('?')[1], call.body])).toMatchObject([
      ['payout=true', { success: false, error_code: 'PE0004', message: 'Other. The bank cancelled it.', uuid }],
    ])
  })

  test.each([
    ['PE0003', 'conta encerrada', 'The account does not accept movements. conta encerrada'],
    ['PE0004', ' limite\n excedido\u0000 ', 'Other. limite  excedido'],
    ['PE0004', 'x'.repeat(300), `Other. ${'x'.repeat(200)}`],
    ['PE0003', '', 'The account does not accept movements.'],
    ['PE0003', null, 'The account does not accept movements.'],
  ] as const)('a payout that failed with %s and the rail’s reason %o: %s', async (error, detail, message) => {
    const { news, report } = await underWay('PAYOUT')
    expect(await hear(it, { ...report, outcome: 'FAILED', error, detail })).toBe('applied')
    // The same end in other words is the same end.
    expect(await hear(it, { ...report, outcome: 'FAILED', error, detail: 'other words' })).toBe('duplicate')
    expect((await news()).map((call) => call.body.message)).toEqual([message])
  })

  test.each(kinds)('%s: reported twice, it has one effect and one notification', async (kind) => {
    const { account, uuid, news, report } = await underWay(kind)
    expect(await hear(it, report)).toBe('applied')
    const before = await worldOf(account, kind, uuid)
    const again = { ...report, settledAt: plusMs(report.settledAt, 1_000) }
    expect([await hear(it, report), await hear(it, again)]).toEqual(['duplicate', 'duplicate'])
    expect(await worldOf(account, kind, uuid)).toEqual(before)
    expect(await news()).toHaveLength(1)
    expect([await setAside(report.reference), alarmsOf(report.reference)]).toEqual([[], 0])
  })

  test.each(kinds)('%s: before we know that it was sent, it counts as well', async (kind) => {
    const { uuid, report } = await underWay(kind)
    expect(await it.rows('select state from outflow where id = $1', [uuid])).toEqual([{ state: 'RESERVED' }])
    expect(await hear(it, report)).toBe('applied')
    await it.service.orders.run()
    expect(await it.rows('select 1 from outflow where id = $1', [uuid])).toEqual([])
  })

  test.each(kinds)('%s: days later it counts as well, at the account’s time', async (kind) => {
    const { account, uuid, report } = await underWay(kind)
    await it.service.orders.run()
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 100 })
    expect(await hear(it, { ...report, settledAt: it.clock.now() })).toBe('applied')
    const [row] = await it.rows<{ closed_at: Instant }>(`select closed_at from ${kind.toLowerCase()} where id = $1`, [
      uuid,
    ])
    expect(row!.closed_at).toBe(it.clock.now() + 100 * DAY_MS)
  })

  test('orders end in any order, each on its own', async () => {
    const { account, sale } = await shop()
    const made: Record<OutflowKind, string> = {
      REFUND: await make.REFUND(account, sale),
      REVERSAL: await make.REVERSAL(account, sale),
      PAYOUT: await make.PAYOUT(account, sale),
    }
    for (const kind of ['PAYOUT', 'REVERSAL', 'REFUND'] as const)
      expect(await hear(it, await railReport(it, account, kind, made[kind]))).toBe('applied')
    expect(await moneyOf(account)).toEqual({ available: 19.01, blocked: 0 })
  })
})

describe('what contradicts an end that is known', () => {
  const contradictions = [
    ['REFUND', 'PAID', 'CANCELLED'],
    ['REFUND', 'CANCELLED', 'PAID'],
    ['REVERSAL', 'PAID', 'CANCELLED'],
    ['REVERSAL', 'CANCELLED', 'PAID'],
    ['PAYOUT', 'PAID', 'FAILED'],
    ['PAYOUT', 'FAILED', 'PAID'],
  ] as const
  test.each(contradictions)(
    '%s: %s, then %s is set aside with an alarm, and changes nothing',
    async (kind, first, then) => {
      const { account, uuid, news, report } = await underWay(kind)
      await hear(it, { ...report, outcome: first })
      const before = await worldOf(account, kind, uuid)
      const other = { ...report, outcome: then }
      expect([await hear(it, other), await hear(it, other)]).toEqual(['conflict', 'conflict'])
      expect(await worldOf(account, kind, uuid)).toEqual(before)
      expect((await setAside(report.reference)).map(({ content }) => JSON.parse(content).outcome)).toEqual([then])
      expect(alarmsOf(report.reference)).toBe(2)
      expect((await news()).length).toBeLessThanOrEqual(1)
      expect(await hear(it, { ...report, outcome: first })).toBe('duplicate')
    },
  )

  test('another reason of failure is a contradiction too', async () => {
    const { account, uuid, report } = await underWay('PAYOUT')
    await hear(it, { ...report, outcome: 'FAILED', error: 'PE0001' })
    expect(await hear(it, { ...report, outcome: 'FAILED', error: 'PE0002' })).toBe('conflict')
    expect((await account.api.get(`/v1.1/payout/${uuid}`)).body.error_code).toBe('PE0001')
  })

  test('of a payout that its merchant cancelled meanwhile', async () => {
    const { account, uuid, report } = await underWay('PAYOUT')
    await account.api.put(`/v1.1/payout/${uuid}/cancel`)
    expect(await hear(it, report)).toBe('conflict')
    expect([await moneyOf(account), alarmsOf(report.reference)]).toEqual([{ available: 99.01, blocked: 0 }, 1])
  })
})

describe('a report of nothing that we know', () => {
  const reports: [string, (account: TestAccount) => Promise<Partial<OutflowSettled>>][] = [
    ['no reference of ours', async () => ({ reference: `nonsense-${randomUUID()}` })],
    ['an empty reference', async () => ({ reference: '' })],
    [
      'an order that is not',
      async (account) => ({ reference: referenceOf(await numberOf(it, account), randomUUID()) }),
    ],
    ['an account that is not', async () => ({ reference: referenceOf(999_999_999 as AccountId, randomUUID()) })],
    ['another kind of order', async () => ({ order: 'REFUND' })],
  ]
  test.each(reports)('%s is set aside with an alarm', async (_what, fieldsFor) => {
    const { account, uuid, report } = await underWay('PAYOUT')
    const strange = { ...report, ...(await fieldsFor(account)) }
    const before = await worldOf(account, 'PAYOUT', uuid)
    expect(await hear(it, strange)).toBe('conflict')
    expect(alarmsOf(strange.reference)).toBe(1)
    expect((await setAside(strange.reference)).length).toBe(1)
    expect(await worldOf(account, 'PAYOUT', uuid)).toEqual(before)
  })
})

describe('reports that arrive at once', () => {
  test.each(kinds)('%s: twelve of the same, on two processes: one effect', async (kind) => {
    const { account, uuid, news, report } = await underWay(kind)
    const other = await anotherService(it)
    const doors = [it.service.doorContext, other.doorContext]
    const heard = await Promise.all(
      Array.from({ length: 12 }, (_, at) => applyOutflowAlone(doors[at % 2]!, report)),
    ).finally(() => other.close())
    const outcomes = heard.map(({ outcome }) => outcome).sort()
    expect(outcomes).toEqual(['applied', ...Array(11).fill('duplicate')])
    expect((await moneyOf(account)).blocked).toBe(0)
    expect(await stateOf(kind, uuid)).toBe('PAID')
    expect(await news()).toHaveLength(1)
  })

  test('and contradict each other: the first counts, the others are set aside', async () => {
    const { account, uuid, report } = await underWay('PAYOUT')
    const reports = [report, { ...report, outcome: 'FAILED' as const }, { ...report, outcome: 'CANCELLED' as const }]
    const heard = await Promise.all([...reports, ...reports].map((one) => hear(it, one)))
    expect(heard.filter((outcome) => outcome === 'applied')).toHaveLength(1)
    expect(heard.filter((outcome) => outcome === 'duplicate')).toHaveLength(1)
    expect(heard.filter((outcome) => outcome === 'conflict')).toHaveLength(4)
    const paid = (await stateOf('PAYOUT', uuid)) === 'PAID'
    expect(await moneyOf(account)).toEqual({ available: paid ? 59.01 : 99.01, blocked: 0 })
  })

  test('with the merchant’s own cancellation: it is paid or cancelled, and never both', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { account, uuid, report } = await underWay('PAYOUT')
      const [cancelled, heard] = await Promise.all([account.api.put(`/v1.1/payout/${uuid}/cancel`), hear(it, report)])
      expect([cancelled.http, heard]).toEqual(cancelled.http === 200 ? [200, 'conflict'] : [400, 'applied'])
      const available = cancelled.http === 200 ? 99.01 : 59.01
      expect(await moneyOf(account)).toEqual({ available, blocked: 0 })
    }
  })
})

import { describe, expect, onTestFinished, test } from 'vitest'
import { anotherService, onStatement } from '../../../test/harness/faulty-database.ts'
import { pay, situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { accepted, moneyOf, payOut, refund, simulate } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { SECOND_MS } from '../../kernel/calendar.ts'
import { sweepOutflows } from '../../worker/sweeps.ts'

const it = testService()
const NOON = '2026-11-16 12:00:00'

/** 99.01 of a paid sale. */
async function shop(settings: Record<string, unknown> = {}) {
  it.clock.set(NOON)
  const account = await it.given.account(settings)
  return { account, sale: await it.given.paidSale(account) }
}
const advance = (account: TestAccount, by: unknown) => account.api.post('/v1.1/sandbox/clock/advance', by)
const stateOf = async ({ api }: TestAccount, uuid: string) =>
  (await api.get(`/v1.1/transactions/${uuid}`)).body.situation ??
  (await api.get(`/v1.1/reversals/${uuid}`)).body.reversal.status

describe('what goes out in a sandbox', () => {
  test('settles by itself after two seconds, and not before: refunds, reversals and payouts', async () => {
    const { account, sale } = await shop()
    const uuids = [
      await accepted(refund(account, sale, { amount: 10 })),
      await accepted(payOut(account, { amount: 20 })),
      (await pay(account, sale)).body.reversal.uuid as string,
    ]
    const states = () => Promise.all(uuids.map((uuid) => stateOf(account, uuid)))
    it.clock.advance(2 * SECOND_MS - 1)
    await it.sweep()
    expect(await states()).toEqual(['PENDING', 'PENDING', 'PENDING'])
    it.clock.advance(1)
    expect(await sweepOutflows(it.service.sweeps)).toBe(3)
    expect(await states()).toEqual(['PAID', 'PAID', 'PAID'])
    expect(await moneyOf(account)).toEqual({ available: 69.01, blocked: 0 })
    expect(await sweepOutflows(it.service.sweeps)).toBe(0)
  })

  test('settles whether or not the order was sent', async () => {
    const { account } = await shop()
    const uuid = await accepted(payOut(account))
    await it.service.orders.run()
    expect(await it.rows('select state from outflow where id = $1', [uuid])).toEqual([{ state: 'SENT' }])
    it.clock.advance(2 * SECOND_MS)
    await it.sweep()
    expect(await stateOf(account, uuid)).toBe('PAID')
  })

  test('waits for its merchant where autoSettle is off', async () => {
    const { account, sale } = await shop({ autoSettle: false })
    const uuids = [await accepted(refund(account, sale, { amount: 10 })), await accepted(payOut(account))]
    it.clock.advance(3_600 * SECOND_MS)
    await it.sweep()
    await advance(account, { days: 30 })
    expect(await Promise.all(uuids.map((uuid) => stateOf(account, uuid)))).toEqual(['PENDING', 'PENDING'])
    await simulate(account, 'payout', uuids[1]!, 'paid')
    expect(await stateOf(account, uuids[1]!)).toBe('PAID')
  })

  test('keeps the setting it was made under', async () => {
    const { account } = await shop()
    const before = await accepted(payOut(account))
    await account.api.put('/v1.1/sandbox/account', { autoSettle: false })
    const after = await accepted(payOut(account))
    it.clock.advance(2 * SECOND_MS)
    await it.sweep()
    expect([await stateOf(account, before), await stateOf(account, after)]).toEqual(['PAID', 'PENDING'])
  })

  test('begins to when autoSettle is switched on: what is pending settles two seconds later', async () => {
    const { account, sale } = await shop({ autoSettle: false })
    const uuids = [
      await accepted(refund(account, sale, { amount: 10 })),
      await accepted(payOut(account)),
      (await pay(account, sale)).body.reversal.uuid as string,
    ]
    const states = () => Promise.all(uuids.map((uuid) => stateOf(account, uuid)))
    await advance(account, { days: 3 })
    await account.api.put('/v1.1/sandbox/account', { autoSettle: true })
    it.clock.advance(2 * SECOND_MS - 1)
    await it.sweep()
    expect(await states()).toEqual(['PENDING', 'PENDING', 'PENDING'])
    it.clock.advance(1)
    await it.sweep()
    expect(await states()).toEqual(['PAID', 'PAID', 'PAID'])
    expect((await account.api.get(`/v1.1/payout/${uuids[1]}`)).body.processingDate).toBe('2026-11-19 12:00:02')
  })

  test('begins to when the operator switches it on as well, and for nobody else', async () => {
    const [{ account }, { account: other }] = [await shop({ autoSettle: false }), await shop({ autoSettle: false })]
    const [mine, theirs] = [await accepted(payOut(account)), await accepted(payOut(other))]
    await it.operator.send('PATCH', `/operator/v1/accounts/${account.id}`, { autoSettle: true })
    it.clock.advance(2 * SECOND_MS)
    await it.sweep()
    expect([await stateOf(account, mine), await stateOf(other, theirs)]).toEqual(['PAID', 'PENDING'])
  })

  test('is not put off by other settings that are changed meanwhile', async () => {
    const { account } = await shop()
    const uuid = await accepted(payOut(account))
    it.clock.advance(SECOND_MS)
    await account.api.put('/v1.1/sandbox/account', { autoSettle: true, overdraftLimit: 1 })
    it.clock.advance(SECOND_MS)
    await it.sweep()
    expect(await stateOf(account, uuid)).toBe('PAID')
  })

  test('settles by the account’s clock where that runs ahead', async () => {
    const [{ account }, { account: neighbour }] = [await shop(), await shop()]
    await advance(account, { days: 3 })
    const [ahead, present] = [await accepted(payOut(account)), await accepted(payOut(neighbour))]
    it.clock.advance(2 * SECOND_MS - 1)
    await it.sweep()
    expect([await stateOf(account, ahead), await stateOf(neighbour, present)]).toEqual(['PENDING', 'PENDING'])
    it.clock.advance(1)
    await it.sweep()
    expect([await stateOf(account, ahead), await stateOf(neighbour, present)]).toEqual(['PAID', 'PAID'])
    const { processingDate } = (await account.api.get(`/v1.1/payout/${ahead}`)).body
    expect(processingDate).toBe('2026-11-19 12:00:02')
  })

  test('is settled once by two sweeps at once', async () => {
    const { account } = await shop()
    for (let made = 0; made < 6; made += 1) await accepted(payOut(account, { amount: 1 }))
    it.clock.advance(2 * SECOND_MS)
    const other = await anotherService(it)
    onTestFinished(() => other.close())
    const [one, two] = await Promise.all([sweepOutflows(it.service.sweeps), sweepOutflows(other.sweeps)])
    expect(one + two).toBe(6)
    expect(await moneyOf(account)).toEqual({ available: 93.01, blocked: 0 })
    expect(await it.rows('select 1 from inbox_conflict')).toEqual([])
  })

  test.each([
    ['the sweep', 'outflow_due', () => sweepOutflows(it.service.sweeps)],
    ['a clock that jumps', 'outflow_due_of_account', (account: TestAccount) => advance(account, { minutes: 1 })],
  ] as const)(
    'that its merchant cancels when %s has found it stays cancelled, and nobody is alarmed',
    async (_, found, settle) => {
      const { account, sale } = await shop()
      const [cancelled, failed] = [await accepted(payOut(account)), await accepted(payOut(account))]
      const refunded = await accepted(refund(account, sale, { amount: 10 }))
      it.clock.advance(2 * SECOND_MS)
      onStatement(it.service.db, found, {
        async after() {
          await account.api.put(`/v1.1/payout/${cancelled}/cancel`)
          await simulate(account, 'payout', failed, 'failed/PE0001')
          await simulate(account, 'refund', refunded, 'cancelled')
        },
      })
      await settle(account)
      const states = await Promise.all([cancelled, failed, refunded].map((uuid) => stateOf(account, uuid)))
      expect(states).toEqual(['CANCELLED', 'FAILED', 'CANCELLED'])
      expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
      expect(await it.rows('select 1 from inbox_conflict')).toEqual([])
      expect((await it.service.metrics.alarms.get()).values).toEqual([])
    },
  )

  test('settles by nobody’s hand in production', async () => {
    const { account } = await shop()
    const uuid = await accepted(payOut(account))
    const production = await anotherService(it, { env: 'production' })
    onTestFinished(() => production.close())
    it.clock.advance(60 * SECOND_MS)
    expect(await sweepOutflows(production.sweeps)).toBe(0)
    expect(await stateOf(account, uuid)).toBe('PENDING')
  })
})

describe('a clock that jumps', () => {
  test('settles what is due on the way, each at its own time', async () => {
    const { account, sale } = await shop()
    const uuid = await accepted(refund(account, sale, { amount: 10 }))
    const { body } = await advance(account, { days: 2 })
    expect(body.processed).toBe(1)
    const [item] = (await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body.refunds.transactions
    expect(item).toMatchObject({ uuid, status: 'PAID', creditDate: '2026-11-16 12:00:02' })
  })

  test('stops short of what is not due yet', async () => {
    const { account } = await shop()
    const uuid = await accepted(payOut(account))
    const short = await advance(account, { to: '2026-11-16 12:00:01' })
    expect([short.body.processed, await stateOf(account, uuid)]).toEqual([0, 'PENDING'])
    const due = await advance(account, { to: '2026-11-16 12:00:02' })
    expect([due.body.processed, await stateOf(account, uuid)]).toEqual([1, 'PAID'])
  })

  test('and is set back settles what was made ahead two seconds later, and not in days to come', async () => {
    const { account, sale } = await shop()
    await advance(account, { days: 30 })
    const uuids = [await accepted(payOut(account)), await accepted(refund(account, sale, { amount: 10 }))]
    const states = () => Promise.all(uuids.map((uuid) => stateOf(account, uuid)))
    expect((await account.api.post('/v1.1/sandbox/clock/reset')).http).toBe(200)
    it.clock.advance(2 * SECOND_MS - 1)
    await it.sweep()
    expect(await states()).toEqual(['PENDING', 'PENDING'])
    it.clock.advance(1)
    await it.sweep()
    expect(await states()).toEqual(['PAID', 'PAID'])
  })

  test('and is set back leaves alone what its merchant settles', async () => {
    const { account } = await shop({ autoSettle: false })
    await advance(account, { days: 30 })
    const uuid = await accepted(payOut(account))
    await account.api.post('/v1.1/sandbox/clock/reset')
    it.clock.advance(60 * SECOND_MS)
    await it.sweep()
    expect(await stateOf(account, uuid)).toBe('PENDING')
  })

  test('plays expiries and settlements in the order in which they are due', async () => {
    const { account, sale } = await shop()
    const first = await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(SECOND_MS)
    const third = await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(58 * SECOND_MS)
    const second = await accepted(payOut(account))
    it.clock.advance(SECOND_MS / 2)
    const fourth = await accepted(refund(account, sale, { amount: 2 }))
    const { body } = await advance(account, { hours: 1 })
    expect(body.processed).toBe(4)
    // Each commits alone, so the transactions that touched the rows last tell who was first.
    const happened = await it.rows<{ id: string }>(
      `select id from (
         select id, xmin::text::bigint as moved from sale union all select id, xmin::text::bigint from payout
         union all select id, xmin::text::bigint from refund
       ) t where id = any($1::uuid[]) order by moved`,
      [[first.uuid, second, third.uuid, fourth]],
    )
    expect(happened.map(({ id }) => id)).toEqual([first.uuid, second, third.uuid, fourth])
    expect([await situationOf(account, first), await situationOf(account, third)]).toEqual(['CANCELLED', 'CANCELLED'])
    const closed = (await account.api.get(`/v1.1/payout/${second}`)).body.processingDate
    expect(closed).toBe('2026-11-16 12:01:01')
  })

  test('is answered when everything is done, however much there is', async () => {
    const { account } = await shop()
    const payments = Array.from({ length: 100 }, (_, at) => ({
      amount: 0.01,
      currency: 'BRL',
      referenceCode: `${at}`,
      beneficiary: { name: 'Ana', pixKey: 'k' },
    }))
    for (let batch = 0; batch < 6; batch += 1) await account.api.post('/v1.1/payout/create/batch', { payments })
    expect((await advance(account, { minutes: 1 })).body.processed).toBe(600)
    expect(await moneyOf(account)).toEqual({ available: 93.01, blocked: 0 })
  })
})

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountId } from '../../src/kernel/ids.ts'
import { applyOutflowAlone } from '../../src/modules/door/index.ts'
import { referenceOf } from '../../src/modules/outflow/index.ts'
import type { OutflowKind, OutflowSettled } from '../../src/rail/rail.ts'
import { sweepOutflows } from '../../src/worker/sweeps.ts'
import type { Reply } from '../harness/api-client.ts'
import { deadlocksBetweenTwo, type OtherService } from '../harness/faulty-database.ts'
import type { TestAccount } from '../harness/given.ts'
import { moneyOf, numberOf, payoutBody } from '../harness/money-out.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const SEED = 20_261_116
const AT_ONCE = 64

const as = (service: OtherService, { apiKey, apiToken }: TestAccount) =>
  service.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
const cents = (reais: number) => Math.round(reais * 100)
const codeOf = ({ http, body }: Reply): string => (http === 200 ? 'accepted' : `${http} ${body.errors[0]?.code}`)

/** Does everything on the list, 64 things at a time. */
async function allAtOnce<Task>(tasks: readonly Task[], work: (task: Task, at: number) => Promise<unknown>) {
  let next = 0
  const hand = async () => {
    while (next < tasks.length) {
      const at = next++
      await work(tasks[at]!, at)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, hand))
}

describe('64 at once against one balance, on two processes', () => {
  test('refunds and payouts: never below the overdraft, never above the gross, and to the cent', async () => {
    const account = await it.given.account({ autoSettle: false, overdraftLimit: 20, fees: { PAYOUT: { fixed: 0.5 } } })
    const sale = await it.given.paidSale(account)
    const answers: { kind: string; code: string }[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await allAtOnce(Array.from({ length: AT_ONCE }), async (_, at) => {
        const api = as(services[at % 2]!, account)
        const reply =
          at % 4 < 2
            ? await api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 5 })
            : await api.post('/v1.1/payout/create', payoutBody({ amount: 5 }))
        answers.push({ kind: at % 4 < 2 ? 'refund' : 'payout', code: codeOf(reply) })
      })
    })
    expect(deadlocks).toBe(0)
    const count = (kind: string, code: string) => answers.filter((one) => one.kind === kind && one.code === code).length
    const [refunds, payouts] = [count('refund', 'accepted'), count('payout', 'accepted')]
    expect(count('refund', '400 refund.insufficientBalance') + count('refund', '400 refund.tooMuch')).toBe(32 - refunds)
    expect(count('payout', '400 payout.insufficientBalance')).toBe(32 - payouts)
    const { available, blocked } = await moneyOf(account)
    expect(cents(available)).toBe(9_901 - 500 * refunds - 550 * payouts)
    expect(cents(blocked)).toBe(500 * (refunds + payouts))
    // Nobody was refused for want of money that was there.
    expect(available).toBeGreaterThanOrEqual(-20)
    expect(available).toBeLessThan(5.5)
    expect(refunds === 20 || available + 20 < 5).toBe(true)
  })

  test('refunds of one sale of a rich account: they take it whole, and not a cent more', async () => {
    const account = await it.given.account({ autoSettle: false, overdraftLimit: 10_000 })
    const sale = await it.given.paidSale(account, { amount: 100 })
    const codes: string[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await allAtOnce(Array.from({ length: AT_ONCE }), async (_, at) => {
        const api = as(services[at % 2]!, account)
        codes.push(codeOf(await api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 7 })))
      })
    })
    expect(deadlocks).toBe(0)
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(14)
    expect(codes.filter((code) => code === '400 refund.tooMuch')).toHaveLength(50)
    const { refunds } = (await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body
    expect(refunds).toMatchObject({ quantity: 14, requested: 98, available: 2 })
    expect(await moneyOf(account)).toEqual({ available: 1.01, blocked: 98 })
  })

  test('one refund and one payout, each asked for 32 times with one key: made once', async () => {
    const account = await it.given.account({ autoSettle: false })
    const sale = await it.given.paidSale(account)
    const keys = [randomUUID(), randomUUID()] as const
    const payout = payoutBody({ amount: 20 })
    const made = new Set<string>()
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await allAtOnce(Array.from({ length: AT_ONCE }), async (_, at) => {
        const api = as(services[at % 2]!, account)
        const headers = { 'idempotency-key': keys[at < 32 ? 0 : 1]! }
        const { http, body } =
          at < 32
            ? await api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 10 }, { headers })
            : await api.post('/v1.1/payout/create', payout, { headers })
        // Asked again while the first one runs: 409.
        expect([200, 409]).toContain(http)
        if (http === 200) made.add(body.uuid)
      })
    })
    expect([deadlocks, made.size]).toEqual([0, 2])
    expect(await moneyOf(account)).toEqual({ available: 69.01, blocked: 30 })
  })
})

type Order = { kind: OutflowKind; uuid: string; account: TestAccount; report: OutflowSettled }
type Step = {
  kind: 'refund' | 'payout' | 'batch' | 'pay' | 'double' | 'end' | 'cancel' | 'sweep'
  at: number
  cents: number
}
const steps = fc.record({
  // biome-ignore format: weights
  kind: fc.constantFrom('refund', 'refund', 'payout', 'payout', 'batch', 'pay', 'double', 'end', 'end', 'end', 'cancel', 'sweep') as fc.Arbitrary<Step['kind']>,
  at: fc.nat(10_000),
  cents: fc.integer({ min: 1, max: 3_000 }),
})

describe('64 at once on three accounts that share with each other', () => {
  test('everything that moves money: each cent is where the lists say, and nobody deadlocks', async () => {
    const settings = { splitEnabled: true, overdraftLimit: 15, fees: { PAYOUT: { fixed: 0.25 } } }
    const accounts = await Promise.all([0, 1, 2].map((at) => it.given.account({ ...settings, autoSettle: at === 0 })))
    for (const account of accounts)
      for (const other of accounts)
        if (other !== account)
          await it.operator.post(`/operator/v1/accounts/${account.id}/recipients`, { recipientId: other.id })
    const pick = <Value>(values: readonly Value[], at: number): Value => values[at % values.length]!
    const sales = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const [account, other] = [pick(accounts, at), pick(accounts, at + 1)]
        const split = at % 2 === 0 ? { split: [{ recipientId: other.id, amount: 20 }] } : {}
        return { account, sale: await it.given.sale(account, { amount: 60, maxAge: 43_200, ...split }) }
      }),
    )
    // The service of the test rests while the two others work, so what it knows is asked for before.
    const numbers = new Map<TestAccount, AccountId>()
    for (const account of accounts) numbers.set(account, await numberOf(it, account))
    const reportFor = (account: TestAccount, order: OutflowKind, uuid: string): OutflowSettled => ({
      kind: 'outflow',
      rail: 'sandbox',
      order,
      reference: referenceOf(numbers.get(account)!, uuid),
      outcome: 'PAID',
      error: null,
      settledAt: it.clock.now(),
    })
    const orders: Order[] = []
    const unexpected: string[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      const keep = (account: TestAccount, kind: OutflowKind, reply: Reply, uuids: string[]) => {
        if (reply.http !== 200 && reply.http !== 400) unexpected.push(`${kind} ${reply.http} ${reply.text}`)
        if (reply.http === 200)
          for (const uuid of uuids) orders.push({ kind, uuid, account, report: reportFor(account, kind, uuid) })
      }
      await allAtOnce(fc.sample(steps, { seed: SEED, numRuns: 600 }), async ({ kind, at, cents: amount }, index) => {
        const service = services[index % 2]!
        const { account, sale } = pick(sales, at)
        const api = as(service, account)
        const reais = amount / 100
        if (kind === 'refund') {
          const reply = await api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: reais })
          keep(account, 'REFUND', reply, [reply.body.uuid])
        } else if (kind === 'payout') {
          const reply = await api.post('/v1.1/payout/create', payoutBody({ amount: reais }))
          keep(account, 'PAYOUT', reply, [reply.body.uuid])
        } else if (kind === 'batch') {
          const payments = [payoutBody({ amount: reais }), payoutBody({ amount: 1 })]
          const reply = await api.post('/v1.1/payout/create/batch', { payments })
          keep(
            account,
            'PAYOUT',
            reply,
            reply.body.result.map(({ uuid }: { uuid: string }) => uuid),
          )
        } else if (kind === 'pay' || kind === 'double') {
          const reply = await api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`)
          if (reply.body.reversal) keep(account, 'REVERSAL', reply, [reply.body.reversal.uuid])
        } else if (kind === 'sweep') {
          it.clock.advance(500)
          await Promise.all([sweepOutflows(service.sweeps), service.settlements.run(), service.orders.run()])
        } else if (orders.length > 0) {
          const order = pick(orders, at)
          if (kind === 'cancel') {
            if (order.kind !== 'PAYOUT') return
            const reply = await as(service, order.account).put(`/v1.1/payout/${order.uuid}/cancel`)
            if (reply.http !== 200 && reply.body.status !== 999) unexpected.push(`cancel ${reply.text}`)
            return
          }
          const outcome = pick(['PAID', 'CANCELLED', 'FAILED'] as const, amount)
          const report = { ...order.report, outcome }
          // Each end is reported twice, by two processes at once.
          await Promise.all(services.map(({ doorContext }) => applyOutflowAlone(doorContext, report)))
        }
      })
      await services[0].settlements.run()
    })
    expect(unexpected).toEqual([])
    expect(deadlocks).toBe(0)
    expect(new Set(orders.map(({ kind }) => kind)).size).toBe(3)
    for (const account of accounts) {
      const expected = await moneyByTheLists(account)
      expect(await moneyOf(account)).toEqual(expected)
      expect(expected.available).toBeGreaterThanOrEqual(-15)
    }
  })
})

type Listed = { type: string; situation: string; amount: number; total: number; appliedRate: number; uuid: string }

/** What an account must have, by reading all of its transactions and reversals. */
async function moneyByTheLists({ api }: TestAccount) {
  const all: (Listed & { refunds: { requested: number } | null; split?: { parentAmount?: number } })[] = []
  for (let page = 1; ; page += 1) {
    const { result } = (await api.get(`/v1.1/transactions?page=${page}`)).body
    all.push(...result)
    if (result.length < 100) break
  }
  let [available, blocked] = [0, 0]
  for (const { type, situation, amount, total, appliedRate, refunds, uuid } of all) {
    if (type === 'SALE' && situation === 'PAID') {
      expect(refunds!.requested, uuid).toBeLessThanOrEqual(amount)
      const [row] = await it.rows<{ net: number }>(
        'select amount_cents - split_cents - fee_cents as net from sale where id = $1',
        [uuid],
      )
      available += row!.net
    }
    if (type === 'SALE' || situation === 'CANCELLED' || situation === 'FAILED') continue
    available -= cents(total)
    if (situation === 'PENDING') blocked += cents(total) - cents(type === 'PAYOUT' ? appliedRate : 0)
  }
  for (let page = 1; ; page += 1) {
    const { result } = (await api.get(`/v1.1/reversals?page=${page}`)).body
    for (const { status, reversedAmount } of result) if (status === 'CANCELLED') available += cents(reversedAmount)
    if (result.length < 100) break
  }
  return { available: available / 100, blocked: blocked / 100 }
}

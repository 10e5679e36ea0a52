import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/kernel/calendar.ts'
import { applyOutflowAlone } from '../../src/modules/door/index.ts'
import { referenceOf } from '../../src/modules/outflow/index.ts'
import type { OutflowKind } from '../../src/rail/rail.ts'
import type { ApiClient, Reply } from '../harness/api-client.ts'
import { checkoutBody, type TestAccount } from '../harness/given.ts'
import { numberOf, payoutBody } from '../harness/money-out.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const SEED = 20_261_116
/** Lives of accounts that go on side by side, each with a clock of its own. */
const AT_ONCE = 16
const RUNS = 12
const COMMANDS_MAX = 230
/** Long work, which is not timed by this: it is for what hangs. */
const TIMEOUT = { timeout: 900_000 }

// ---- The model: a small ledger in memory, and the rules of the specification ----

type Sale = {
  uuid: string
  amount: number
  share: number
  state: string
  expiresAt: number
  paidAt: number
  refunded: number
}
type Order = {
  kind: OutflowKind
  uuid: string
  amount: number
  fee: number
  sale?: Sale
  state: string
  settlesAt: number
  end?: string
}
type Line = { type: string; amount: number; balance: number }

const FEE = 25
const REFUND_DAYS = 90
/** 0.99 %, rounded half up to the cent, at least one. */
const feeOf = (cents: number) => Math.max(1, Math.floor((cents * 99 + 5_000) / 10_000))

class Model {
  readonly sales: Sale[] = []
  readonly orders: Order[] = []
  readonly lines: Line[] = []
  available = 0
  shares = 0
  offset = 0
  overdraft = 0
  autoSettle: boolean

  constructor(autoSettle: boolean) {
    this.autoSettle = autoSettle
  }

  now = (): number => it.clock.now() + this.offset
  pending = (...kinds: OutflowKind[]) =>
    this.orders.filter(({ kind, state }) => kinds.includes(kind) && state === 'PENDING')
  blocked = () => this.pending('REFUND', 'PAYOUT').reduce((sum, { amount }) => sum + amount, 0)

  post(type: string, amount: number): void {
    if (amount === 0) return
    this.available += amount
    this.lines.unshift({ type, amount, balance: this.available })
  }

  pay(sale: Sale, amount: number): 'paid' | 'ALREADY_PAID' | 'SALE_NOT_PENDING' | 'AMOUNT_DIFFERS' {
    if (sale.state === 'PAID') return 'ALREADY_PAID'
    if (sale.state === 'CANCELLED') return 'SALE_NOT_PENDING'
    if (amount !== sale.amount) return 'AMOUNT_DIFFERS'
    if (this.now() > sale.expiresAt) return 'SALE_NOT_PENDING'
    sale.state = 'PAID'
    sale.paidAt = this.now()
    this.post('SALE', sale.amount - sale.share)
    this.post('FEE', -feeOf(sale.amount))
    this.shares += sale.share
    return 'paid'
  }

  refusalOfRefund(sale: Sale, amount: number): string | undefined {
    if (sale.state !== 'PAID') return 'transaction not PAID'
    if (this.now() > sale.paidAt + REFUND_DAYS * DAY_MS) return 'refund.expired'
    if (sale.refunded + amount > sale.amount) return 'refund.tooMuch'
    return this.available + this.overdraft < amount ? 'refund.insufficientBalance' : undefined
  }

  refund(uuid: string, sale: Sale, amount: number): void {
    sale.refunded += amount
    this.post('REFUND', -amount)
    this.order({ kind: 'REFUND', uuid, amount, fee: 0, sale })
  }

  payOut(uuid: string, amount: number): void {
    this.post('PAYOUT', -amount)
    this.post('PAYOUT_FEE', -FEE)
    this.order({ kind: 'PAYOUT', uuid, amount, fee: FEE })
  }

  order(order: Pick<Order, 'kind' | 'uuid' | 'amount' | 'fee'> & { sale?: Sale }): void {
    const settlesAt = this.autoSettle ? this.now() + 2 * SECOND_MS : Number.POSITIVE_INFINITY
    this.orders.push({ ...order, state: 'PENDING', settlesAt })
  }

  /** Nothing waits for its merchant any more. */
  settleOpen(): void {
    for (const order of this.pending('REFUND', 'REVERSAL', 'PAYOUT'))
      if (order.settlesAt === Number.POSITIVE_INFINITY) order.settlesAt = this.now() + 2 * SECOND_MS
  }

  /** Answers what the door must answer. `byRail`: the rail said so, and it will be known by it. */
  end(order: Order, outcome: 'PAID' | 'CANCELLED' | 'FAILED', byRail = true): 'applied' | 'duplicate' | 'conflict' {
    // What its merchant has cancelled the rail may cancel too.
    const same = order.end === outcome || (order.end === undefined && outcome === 'CANCELLED')
    if (order.state !== 'PENDING') return same ? 'duplicate' : 'conflict'
    const comesToNothing = byRail && order.kind === 'PAYOUT' ? 'FAILED' : 'CANCELLED'
    order.state = outcome === 'PAID' ? 'PAID' : comesToNothing
    if (byRail) order.end = outcome
    if (order.state === 'PAID') return 'applied'
    if (order.kind === 'REFUND') {
      order.sale!.refunded -= order.amount
      this.post('REFUND_CANCELLED', order.amount)
    }
    if (order.kind === 'REVERSAL') this.post('REVERSAL', order.amount)
    if (order.kind === 'PAYOUT') {
      this.post('PAYOUT_RETURNED', order.amount)
      this.post('PAYOUT_RETURNED', order.fee)
    }
    return 'applied'
  }

  /** The clock jumps; answers how much was due on the way. */
  jump(ms: number): number {
    this.offset += ms
    const expired = this.sales.filter(({ state, expiresAt }) => state === 'PENDING' && expiresAt < this.now())
    for (const sale of expired) sale.state = 'CANCELLED'
    const due = this.orders.filter(({ state, settlesAt }) => state === 'PENDING' && settlesAt <= this.now())
    for (const order of due) this.end(order, 'PAID')
    return expired.length + due.length
  }
}

// ---- The commands: each changes the model and the service, and compares the answers ----

type Real = {
  readonly account: TestAccount
  readonly number: Awaited<ReturnType<typeof numberOf>>
  readonly partner: ApiClient
  readonly recipientId: string
  executed: number
}
type Run = (model: Model, real: Real) => Promise<unknown>

const reais = (cents: number) => cents / 100
const command = (
  print: string,
  check: (model: Readonly<Model>) => boolean,
  run: Run,
): fc.AsyncCommand<Model, Real> => ({
  check,
  async run(model, real) {
    real.executed += 1
    await run(model, real)
  },
  toString: () => print,
})
const anything = () => true
const hasSales = (model: Readonly<Model>) => model.sales.length > 0
const hasOrders = (model: Readonly<Model>) => model.orders.length > 0
/** Mostly a recent one: what lies long behind has ended. */
const pick = <Value>(values: readonly Value[], at: number): Value => values[Math.max(0, values.length - 1 - (at % 12))]!

const place = fc.nat(60)
const amount = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 20_000 }))
const act = (
  name: string,
  numbers: fc.Arbitrary<number>,
  check: (model: Readonly<Model>) => boolean,
  run: (model: Model, real: Real, at: number, number: number) => Promise<unknown>,
) =>
  fc
    .tuple(place, numbers)
    .map(([at, number]) => command(`${name}(${at}, ${number})`, check, (model, real) => run(model, real, at, number)))

const refusalIn = ({ body }: Reply): string => body.errors?.[0]?.code ?? body.message

async function payHalf(model: Model, { account }: Real, sale: Sale, paid: number): Promise<void> {
  const { body, text } = await account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, { amount: reais(paid) })
  const effect = model.pay(sale, paid)
  expect(body.sale, text).toEqual({ uuid: sale.uuid, situation: sale.state })
  expect(body.reversal?.reason ?? 'paid').toBe(effect)
  if (effect !== 'paid') model.order({ kind: 'REVERSAL', uuid: body.reversal.uuid, amount: paid, fee: 0 })
}

const kindPath: Record<OutflowKind, string> = { REFUND: 'refund', REVERSAL: 'reversal', PAYOUT: 'payout' }

const checkout = (shared: boolean) =>
  act(shared ? 'share' : 'checkout', amount, anything, async (model, { account, recipientId }, at, cents) => {
    const share = shared ? Math.floor((cents - feeOf(cents)) / 2) : 0
    const split = share > 0 ? { split: [{ recipientId, amount: reais(share) }] } : {}
    const maxAge = at < 20 ? 1 + at : 43_200
    const { http, body, text } = await account.api.post(
      '/v1.1/checkout/transparent',
      checkoutBody({ amount: reais(cents), maxAge, ...split }),
    )
    expect(http, text).toBe(200)
    const expiresAt = model.now() + maxAge * MINUTE_MS
    model.sales.push({
      uuid: body.response.uuid,
      amount: cents,
      share,
      state: 'PENDING',
      expiresAt,
      paidAt: 0,
      refunded: 0,
    })
  })
const pay = act('pay', fc.constant(0), hasSales, (model, real, at) => {
  const sale = pick(model.sales, at)
  return payHalf(model, real, sale, sale.amount)
})
const askRefund = act('refund', amount, hasSales, async (model, { account }, at, wanted) => {
  const sale = pick(model.sales, at)
  // A third of the time all that is left of it, or a cent more.
  const left = sale.amount - sale.refunded
  const cents = wanted % 3 > 0 ? wanted : Math.max(1, left + (wanted % 2))
  const reply = await account.api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: reais(cents) })
  const refusal = model.refusalOfRefund(sale, cents)
  if (refusal !== undefined) return expect([reply.http, refusalIn(reply)]).toEqual([400, refusal])
  expect(reply.http, reply.text).toBe(200)
  model.refund(reply.body.uuid, sale, cents)
  expect(reply.body).toMatchObject({ totalToRefund: reais(sale.refunded), currentBalance: reais(model.available) })
})
const askPayout = act('payout', amount, anything, async (model, { account }, at, wanted) => {
  // Now and then all there is, or a cent more.
  const cents = at % 4 > 0 ? wanted : Math.max(1, model.available - FEE + (at % 2))
  const reply = await account.api.post('/v1.1/payout/create', payoutBody({ amount: reais(cents) }))
  if (model.available < cents + FEE)
    return expect([reply.http, refusalIn(reply)]).toEqual([400, 'payout.insufficientBalance'])
  expect(reply.http, reply.text).toBe(200)
  model.payOut(reply.body.uuid, cents)
})
const askBatch = act('batch', amount, anything, async (model, { account }, at, wanted) => {
  const amounts = [wanted, 1 + at * 10, 1]
  const payments = amounts.map((cents) => payoutBody({ amount: reais(cents) }))
  const { body } = await account.api.post('/v1.1/payout/create/batch', { payments })
  const rejected: number[] = []
  let made = 0
  amounts.forEach((cents, index) => {
    if (model.available < cents + FEE) rejected.push(index)
    else model.payOut(body.result[made++]?.uuid, cents)
  })
  expect(body.result).toHaveLength(made)
  expect((body.rejectedItems ?? []).map(({ index }: { index: number }) => index)).toEqual(rejected)
})
const cancelPayout = act(
  'cancel',
  fc.constant(0),
  (model) => model.orders.some(({ kind }) => kind === 'PAYOUT'),
  async (model, { account }, at) => {
    const order = pick(
      model.orders.filter(({ kind }) => kind === 'PAYOUT'),
      at,
    )
    const reply = await account.api.put(`/v1.1/payout/${order.uuid}/cancel`)
    const ended = model.end(order, 'CANCELLED', false) === 'applied'
    expect([reply.http, reply.body.status]).toEqual(ended ? [200, 0] : [400, 999])
  },
)
/** The rail reports an end, any number of times, in any order, also another one than before. */
const railSays = act('railSays', fc.nat(5), hasOrders, async (model, { number }, at, which) => {
  const order = pick(model.orders, at)
  const outcome = (['PAID', 'PAID', 'PAID', 'CANCELLED', 'FAILED', 'CANCELLED'] as const)[which]!
  const reference = referenceOf(number, order.uuid)
  const settledAt = it.clock.now()
  const report = {
    kind: 'outflow',
    rail: 'sandbox',
    order: order.kind,
    reference,
    outcome,
    error: null,
    settledAt,
  } as const
  const heard = await applyOutflowAlone(it.service.doorContext, report)
  expect(heard.outcome).toBe(model.end(order, outcome))
})
const simulatorSays = act('simulatorSays', fc.nat(2), hasOrders, async (model, { account }, at, which) => {
  const order = pick(model.orders, at)
  const outcome = which > 0 ? 'PAID' : order.kind === 'PAYOUT' ? 'FAILED' : 'CANCELLED'
  const path = outcome === 'FAILED' ? 'failed/PE0002' : outcome.toLowerCase()
  const reply = await account.api.post(`/v1.1/sandbox/sim/${kindPath[order.kind]}/${order.uuid}/${path}`)
  const same = outcome === 'FAILED' ? order.end === 'FAILED PE0002' : order.state === outcome
  const possible = order.state === 'PENDING' || same
  if (order.state === 'PENDING') {
    model.end(order, outcome)
    // The rail below names no reason, so its failure is another one than the simulator's.
    if (outcome === 'FAILED') order.end = 'FAILED PE0002'
  }
  expect(reply.http, reply.text).toBe(possible ? 200 : 400)
})
const jump = (name: string, times: fc.Arbitrary<number>, unit: 'minutes' | 'days', ms: number) =>
  act(name, times, anything, async (model, { account }, _at, count) => {
    const { body } = await account.api.post('/v1.1/sandbox/clock/advance', { [unit]: count })
    expect(body.processed).toBe(model.jump(count * ms))
  })
const setOverdraft = act(
  'overdraft',
  fc.integer({ min: 0, max: 5_000 }),
  anything,
  async (model, { account }, at, cents) => {
    const autoSettle = at % 3 > 0
    const reply = await account.api.put('/v1.1/sandbox/account', { overdraftLimit: reais(cents), autoSettle })
    const allowed = model.available + cents >= 0
    expect(reply.http, reply.text).toBe(allowed ? 200 : 400)
    if (!allowed) return
    Object.assign(model, { overdraft: cents, autoSettle })
    if (autoSettle) model.settleOpen()
  },
)
const send = act('send', fc.constant(0), anything, () => it.service.orders.run())
const look = act('look', fc.constant(0), anything, (model, { account }, at) => compare(model, account, at))

// biome-ignore format: weights
const commands = [
  checkout(false), checkout(false), checkout(true), pay, pay, pay, pay, askRefund, askRefund, askRefund, askRefund, askPayout, askPayout, askPayout,
  askBatch, cancelPayout, cancelPayout, send, railSays, railSays, railSays, railSays, railSays, simulatorSays, simulatorSays,
  act('payWrong', fc.nat(3), hasSales, (model, real, at, more) => { const sale = pick(model.sales, at); return payHalf(model, real, sale, sale.amount + 1 + more) }),
  act('void', fc.constant(0), hasSales, async (model, { account }, at) => {
    const sale = pick(model.sales, at)
    const { http } = await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
    expect(http).toBe(sale.state === 'PENDING' ? 200 : 400)
    if (sale.state === 'PENDING') sale.state = 'CANCELLED'
  }),
  jump('jump', fc.nat(30), 'minutes', MINUTE_MS), jump('jumpDays', fc.integer({ min: 1, max: 50 }), 'days', DAY_MS), setOverdraft, look,
]

/** Balance, holds, statement and one sale's refunds, as its merchant sees them. */
async function compare(model: Model, { api }: TestAccount, at: number): Promise<void> {
  const { available, blocked, balance } = (await api.get('/v1.1/balance')).body
  expect({ available, blocked, balance }).toEqual({
    available: reais(model.available),
    blocked: reais(model.blocked()),
    balance: reais(model.available + model.blocked()),
  })
  const { totalElements, result } = (await api.get('/v1.1/statement?maxPageResults=20')).body
  const newest = result.map(({ type, amount, balance }: Line) => ({ type, amount, balance }))
  const expected = model.lines.map((line) => ({ ...line, amount: reais(line.amount), balance: reais(line.balance) }))
  expect([totalElements, newest]).toEqual([model.lines.length, expected.slice(0, 20)])
  if (model.sales.length === 0) return
  const sale = pick(model.sales, at)
  const { situation, refunds } = (await api.get(`/v1.1/transactions/${sale.uuid}`)).body
  const states = (list: readonly { uuid: string; state?: string; status?: string }[]) =>
    list.map(({ uuid, state, status }) => `${uuid} ${state ?? status}`).sort()
  expect([situation, refunds.requested, states(refunds.transactions)]).toEqual([
    sale.state,
    reais(sale.refunded),
    states(model.orders.filter((order) => order.kind === 'REFUND' && order.sale === sale)),
  ])
}

/** At the end of a life: every state of everything, by the lists. */
async function compareAll(model: Model, { account, partner }: Real): Promise<void> {
  await compare(model, account, 0)
  const listed = new Map<string, string>()
  for (const path of ['transactions', 'reversals'])
    for (let page = 1; ; page += 1) {
      const { result } = (await account.api.get(`/v1.1/${path}?page=${page}`)).body
      for (const { uuid, situation, status } of result) listed.set(uuid, situation ?? status)
      if (result.length < 100) break
    }
  const known = [...model.sales, ...model.orders].map(({ uuid, state }): [string, string] => [uuid, state])
  expect([...listed].sort()).toEqual(known.sort())
  expect((await partner.get('/v1.1/balance')).body).toMatchObject({ available: reais(model.shares), blocked: 0 })
}

async function newLife(autoSettle: boolean): Promise<Real> {
  const account = await it.given.account({ splitEnabled: true, autoSettle, fees: { PAYOUT: { fixed: reais(FEE) } } })
  const { recipient, credentials } = (await account.api.post('/v1.1/sandbox/recipients', { name: 'Sócia' })).body
  return {
    account,
    number: await numberOf(it, account),
    partner: it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken }),
    recipientId: recipient.recipientId,
    executed: 0,
  }
}

describe('the money of an account against a ledger in memory', () => {
  test('20,000 random commands: every answer, every balance and every line as the ledger says', TIMEOUT, async () => {
    let executed = 0
    const life = fc.commands(commands, { maxCommands: COMMANDS_MAX, size: 'max' })
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (lives) => {
        const ended = await Promise.all(
          lives.map(async (list, at) => {
            const [model, real] = [new Model(at % 2 === 0), await newLife(at % 2 === 0)]
            await fc.asyncModelRun(() => ({ model, real }), list)
            return { model, real }
          }),
        )
        await it.service.settlements.run()
        for (const { model, real } of ended) {
          await compareAll(model, real)
          executed += real.executed
        }
      }),
      // Many lives shrink slowly: the seed and the path that are printed play the failure again.
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    )
    expect(executed).toBeGreaterThanOrEqual(20_000)
  })
})

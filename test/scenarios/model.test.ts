import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Instant, MINUTE_MS, wireTimestamp } from '../../src/kernel/calendar.ts'
import { partsOfTxid, txidOf } from '../../src/kernel/txid.ts'
import type { Reply } from '../harness/api-client.ts'
import { checkoutBody, type TestAccount } from '../harness/given.ts'
import { newEndToEnd, railPayment } from '../harness/rail-payment.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const SEED = 20_261_116
const RUNS = 75
const COMMANDS_MAX = 100
/** Long work, which is not timed by this: it is for what hangs. */
const TIMEOUT = { timeout: 900_000 }

// ---- The model: what the specification says, in a few lines ----

type Reason = 'SALE_NOT_PENDING' | 'ALREADY_PAID' | 'AMOUNT_DIFFERS'
type Heard = { sale: ModelSale; renewals: number; endToEnd: string; amount: number; reason: Reason | null }
type ModelSale = {
  uuid: string
  txid: string
  amount: number
  state: 'PENDING' | 'PAID' | 'CANCELLED'
  expiresAt: number
  renewals: number
}
type Line = { type: string; saleToken: string; amount: number; balance: number; date: string }

/** 0.99 %, rounded half up to the cent, at least one. */
const feeOf = (cents: number) => Math.max(1, Math.floor((cents * 99 + 5_000) / 10_000))

class Model {
  readonly sales: ModelSale[] = []
  readonly heard: Heard[] = []
  readonly lines: Line[] = []
  balance = 0
  offset = 0

  now = (): number => it.clock.now() + this.offset
  sale = (at: number): ModelSale => this.sales[at % this.sales.length]!

  expire(): number {
    const due = this.sales.filter(({ state, expiresAt }) => state === 'PENDING' && expiresAt < this.now())
    for (const sale of due) sale.state = 'CANCELLED'
    return due.length
  }

  pay(
    sale: ModelSale,
    { endToEnd = newEndToEnd(), amount = sale.amount, settledAt = this.now(), renewals = sale.renewals } = {},
  ): Heard {
    const reason = misfit(sale, amount, settledAt)
    const heard = { sale, renewals, endToEnd, amount, reason }
    this.heard.push(heard)
    if (reason === null) {
      sale.state = 'PAID'
      this.post('SALE', sale, sale.amount)
      this.post('FEE', sale, -feeOf(sale.amount))
    }
    return heard
  }

  private post(type: string, { uuid }: ModelSale, amount: number): void {
    this.balance += amount
    this.lines.unshift({
      type,
      saleToken: uuid,
      amount,
      balance: this.balance,
      date: wireTimestamp(this.now() as Instant),
    })
  }
}

function misfit(sale: ModelSale, amount: number, settledAt: number): Reason | null {
  if (sale.state === 'PAID') return 'ALREADY_PAID'
  if (sale.state === 'CANCELLED') return 'SALE_NOT_PENDING'
  if (amount !== sale.amount) return 'AMOUNT_DIFFERS'
  return settledAt > sale.expiresAt ? 'SALE_NOT_PENDING' : null
}

// ---- The commands: each changes the model and the service, and compares the answers ----

type Real = { readonly account: TestAccount; executed: number }
type Command = fc.AsyncCommand<Model, Real>
type Run = (model: Model, real: Real) => Promise<unknown>
type Act = (model: Model, sale: ModelSale, more: number, real: Real) => Promise<unknown>

const command = (print: string, check: (model: Readonly<Model>) => boolean, run: Run): Command => ({
  check,
  async run(model, real) {
    real.executed += 1
    await run(model, real)
  },
  toString: () => print,
})

const place = fc.nat(50)
const hasSales = (model: Readonly<Model>) => model.sales.length > 0
const hasHeard = (model: Readonly<Model>) => model.heard.length > 0

/** A command on some sale, with a number that means something to it. */
const onSale = (name: string, more: fc.Arbitrary<number>, act: Act, check = hasSales) =>
  fc
    .tuple(place, more)
    .map(([at, number]) =>
      command(`${name}(${at}, ${number})`, check, (model, real) => act(model, model.sale(at), number, real)),
    )

const reais = (cents: number) => cents / 100

const simulatePaid = ({ account }: Real, { sale, endToEnd, amount }: Heard, settledAt: number) =>
  account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {
    endToEnd,
    amount: reais(amount),
    settledAt: new Date(settledAt).toISOString(),
  })

function expectHeard({ http, body, text }: Reply, { sale, reason, amount }: Heard): void {
  expect(http, text).toBe(200)
  expect(body.sale).toEqual({ uuid: sale.uuid, situation: sale.state })
  const reversal = { status: 'PENDING', reason, reversedAmount: reais(amount) }
  if (reason === null) expect(body.reversal).toBeNull()
  else expect(body.reversal).toMatchObject(reversal)
}

const expectContradiction = ({ http, body }: Reply) => expect([http, body.errors[0].field]).toEqual([400, 'endToEnd'])

const expectMoved = (reply: Reply, moves: boolean) =>
  expect([reply.http, reply.body.status], reply.text).toEqual(moves ? [200, 0] : [400, 999])

const create = (cents: fc.Arbitrary<number>, maxAge: fc.Arbitrary<number>) =>
  fc.tuple(cents, maxAge).map(([amount, minutes]) =>
    command(
      `create(${amount}, ${minutes})`,
      () => true,
      async (model, { account }) => {
        const body = checkoutBody({ amount: reais(amount), maxAge: minutes })
        const { response } = (await account.api.post('/v1.1/checkout/transparent', body)).body
        const txid = /\/qr\/(\w+)\.png$/.exec(response.instructions.qrCode.url)![1]!
        const expiresAt = model.now() + minutes * MINUTE_MS
        model.sales.push({ uuid: response.uuid, txid, amount, state: 'PENDING', expiresAt, renewals: 0 })
      },
    ),
  )

const commands = [
  create(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 90 })),
  create(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 43_200 })),
  onSale('pay', fc.constant(0), async (model, sale, _more, real) => {
    const heard = model.pay(sale)
    expectHeard(await simulatePaid(real, heard, model.now()), heard)
  }),
  onSale('payWrongAmount', fc.nat(5), async (model, sale, more, real) => {
    const heard = model.pay(sale, { amount: sale.amount + 1 + more })
    expectHeard(await simulatePaid(real, heard, model.now()), heard)
  }),
  onSale('paySettledAroundExpiry', fc.integer({ min: -1, max: 1 }), async (model, sale, more, real) => {
    const settledAt = sale.expiresAt + more
    const heard = model.pay(sale, { settledAt })
    expectHeard(await simulatePaid(real, heard, settledAt), heard)
  }),
  onSale(
    'hearAgain',
    place,
    async (model, _sale, more, real) => {
      const heard = model.heard[more % model.heard.length]!
      const reply = await simulatePaid(real, heard, model.now())
      // The simulator pays the charge of today; after a renewal that is another one than was reported.
      if (heard.renewals === heard.sale.renewals) expectHeard(reply, heard)
      else expectContradiction(reply)
    },
    hasHeard,
  ),
  onSale(
    'hearOtherwise',
    place,
    async (model, _sale, more, real) => {
      const heard = model.heard[more % model.heard.length]!
      expectContradiction(await simulatePaid(real, { ...heard, amount: heard.amount + 1 }, model.now()))
    },
    hasHeard,
  ),
  // An array straight from the rail, with any txid that the sales ever had.
  onSale('hearArray', place, async (model, first, more) => {
    const sales = [...new Set([first, model.sale(more), model.sale(more + 1)])]
    const renewals = (sale: ModelSale) => more % (sale.renewals + 1)
    const payments = sales.map((sale) => {
      const txid = txidOf({ ...partsOfTxid(sale.txid)!, renewals: renewals(sale) })
      return railPayment(it.clock, { txid, amount: reais(sale.amount) }, { settledAt: model.now() as Instant })
    })
    const outcomes = await it.service.door.apply(payments)
    const heard = sales.map((sale, at) =>
      model.pay(sale, { endToEnd: payments[at]!.endToEnd, renewals: renewals(sale) }),
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(
      heard.map(({ reason }) => (reason === null ? 'applied' : 'reversed')),
    )
  }),
  onSale('void', fc.constant(0), async (_model, sale, _more, { account }) => {
    expectMoved(await account.api.put(`/v1.1/transactions/${sale.uuid}/void`), sale.state === 'PENDING')
    if (sale.state === 'PENDING') sale.state = 'CANCELLED'
  }),
  onSale('renew', fc.integer({ min: 1, max: 120 }), async (model, sale, maxAge, { account }) => {
    const renewed = await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge })
    expectMoved(renewed, sale.state === 'CANCELLED')
    if (sale.state !== 'CANCELLED') return
    sale.state = 'PENDING'
    sale.renewals += 1
    sale.expiresAt = model.now() + maxAge * MINUTE_MS
  }),
  onSale('expire', fc.nat(60), async (model, _sale, minutes) => {
    it.clock.advance(minutes * MINUTE_MS)
    await it.sweep()
    model.expire()
  }),
  onSale('timePasses', fc.nat(60), async (_model, _sale, minutes) => it.clock.advance(minutes * MINUTE_MS)),
  onSale('jump', fc.nat(90), async (model, _sale, minutes, { account }) => {
    const jumped = await account.api.post('/v1.1/sandbox/clock/advance', { minutes })
    model.offset += minutes * MINUTE_MS
    expect(jumped.body).toMatchObject({ now: wireTimestamp(model.now() as Instant), processed: model.expire() })
  }),
  onSale('look', fc.constant(0), (model, _sale, _more, { account }) => compare(model, account)),
]

/** Everything a merchant can see, and the reversals. */
async function compare(model: Model, account: TestAccount): Promise<void> {
  const money = (await account.api.get('/v1.1/balance')).body
  expect(money).toMatchObject({ balance: reais(model.balance), available: reais(model.balance), blocked: 0 })
  const statement = (await account.api.get('/v1.1/statement')).body
  const expected = model.lines.map((line) => ({ ...line, amount: reais(line.amount), balance: reais(line.balance) }))
  expect(statement.totalElements).toBe(expected.length)
  expect(statement.result).toMatchObject(expected.slice(0, 100))
  const listed = (await account.api.get('/v1.1/transactions')).body
  expect(listed.totalElements).toBe(model.sales.length)
  const situations = new Map(
    listed.result.map(({ uuid, situation }: { uuid: string; situation: string }) => [uuid, situation]),
  )
  for (const { uuid, state } of model.sales.slice(-100)) expect(situations.get(uuid)).toBe(state)
  const reversals = await it.rows<{ end_to_end: string }>(
    `select end_to_end, reason, amount_cents as amount from reversal r join account a on a.id = r.account_id where a.uuid = $1`,
    [account.id],
  )
  const misfits = model.heard.flatMap(({ endToEnd, reason, amount }) =>
    reason ? [{ end_to_end: endToEnd, reason, amount }] : [],
  )
  const byId = (one: { end_to_end: string }, other: { end_to_end: string }) =>
    one.end_to_end < other.end_to_end ? -1 : 1
  expect(reversals.sort(byId)).toEqual(misfits.sort(byId))
}

describe('the service against a model of it', () => {
  test('thousands of random commands: every answer and all the money are as the model says', TIMEOUT, async () => {
    let executed = 0
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: COMMANDS_MAX, size: 'max' }), async (list) => {
        const real: Real = { account: await it.given.account({ autoSettle: false }), executed: 0 }
        const model = new Model()
        await fc.asyncModelRun(() => ({ model, real }), list)
        await compare(model, real.account)
        executed += real.executed
      }),
      { seed: SEED, numRuns: RUNS },
    )
    expect(executed).toBeGreaterThan(2_000)
  })
})

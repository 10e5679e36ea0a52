import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anotherService, onStatement } from '../../../test/harness/faulty-database.ts'
import { situationOf, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { newEndToEnd, railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { HOUR_MS, plusMs } from '../../kernel/calendar.ts'
import type { PaymentReceived } from '../../rail/rail.ts'
import type { Service } from '../../service.ts'

const it = testService()
let other: Awaited<ReturnType<typeof anotherService>>
beforeAll(async () => {
  other = await anotherService(it, { batches: { lanes: 1 } })
})
afterAll(() => other.close())

const apply = (...events: PaymentReceived[]) => it.service.door.apply(events)
const outcomesOf = async (...events: PaymentReceived[]) => (await apply(...events)).map(({ outcome }) => outcome)
const renew = (account: TestAccount, sale: TestSale) =>
  account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 60 })
const void_ = (account: TestAccount, sale: TestSale) => account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
const balanceOf = async (account: TestAccount) => (await account.api.get('/v1.1/balance')).body.balance

/** Batches that went through the door, and how many events were in them. */
async function doorBatches({ metrics }: Pick<Service, 'metrics'> = it.service) {
  const { values } = await metrics.batchSize.get()
  const of = (name: string) =>
    values.find(
      ({ metricName, labels }) => metricName === `quitado_batch_items_${name}` && labels['batch' as never] === 'door',
    )?.value ?? 0
  return { batches: of('count'), events: of('sum') }
}

/** Everything the door may write for one rail id. */
const traces = async ({ endToEnd }: PaymentReceived) =>
  (
    await it.rows<Record<string, number>>(
      `select (select count(*) from inbox where rail_id = $1) as heard,
         (select count(*) from sale where end_to_end = $1) as sales,
         (select count(*) from reversal where end_to_end = $1) as reversals,
         (select count(*) from inbox_conflict where rail_id = $1) as "setAside"`,
      [endToEnd],
    )
  )[0]!

describe('the same payment heard twice', () => {
  test('is booked once, and the second report is told what became of the first', async () => {
    const account = await it.given.account()
    const payment = railPayment(it.clock, await it.given.sale(account))
    expect(await outcomesOf(payment)).toEqual(['applied'])
    const [again] = await apply(payment)
    expect(again).toMatchObject({ outcome: 'duplicate', of: { outcome: 'APPLIED', railId: payment.endToEnd } })
    expect(await traces(payment)).toEqual({ heard: 1, sales: 1, reversals: 0, setAside: 0 })
    expect(await balanceOf(account)).toBe(99.01)
  })

  test('as a reversal is one reversal', async () => {
    const sale = await it.given.cancelledSale(await it.given.account())
    const payment = railPayment(it.clock, sale)
    expect([await outcomesOf(payment), await outcomesOf(payment)]).toEqual([['reversed'], ['duplicate']])
    expect(await traces(payment)).toEqual({ heard: 1, sales: 0, reversals: 1, setAside: 0 })
  })

  test('a list that rounds the time and knows more of the payer reports the same fact', async () => {
    const payment = railPayment(it.clock, await it.given.sale(await it.given.account()))
    const listed = {
      ...payment,
      settledAt: plusMs(payment.settledAt, -500),
      payer: { document: '11144477735', name: 'Outro Nome', ispb: '00000000' },
    }
    expect([await outcomesOf(payment), await outcomesOf(listed)]).toEqual([['applied'], ['duplicate']])
  })

  test('twice in one array: the second is the duplicate', async () => {
    const payment = railPayment(it.clock, await it.given.sale(await it.given.account()))
    const unknown = railPayment(it.clock, { txid: 'nobody', amount: 5 })
    expect(await outcomesOf(payment, unknown, { ...payment }, { ...unknown })).toEqual([
      'applied',
      'reversed',
      'duplicate',
      'duplicate',
    ])
  })

  test.each(['pays a sale', 'is for nobody'])('by two processes at the same moment: %s once', async (what) => {
    const sale = await it.given.sale(await it.given.account())
    const payment = railPayment(it.clock, sale, what === 'is for nobody' ? { txid: null } : {})
    // Both have read that the id is new before either has written it.
    onStatement(it.service.db, 'door_apply_batch', { before: () => other.door.apply([payment]) })
    expect(await outcomesOf(payment)).toEqual(['duplicate'])
    expect(await traces(payment)).toMatchObject({ heard: 1 })
  })
})

describe('one rail id with two contents', () => {
  const alarms = () => it.logged.filter((line) => line['alarm'] === true)
  const alarmed = async () => (await it.service.metrics.alarms.get()).values.reduce((sum, { value }) => sum + value, 0)

  test.each([
    ['another amount', (payment: PaymentReceived) => ({ ...payment, amount: 1 as never })],
    ['another charge', (payment: PaymentReceived, charge: TestSale) => ({ ...payment, txid: charge.txid })],
    ['no charge', (payment: PaymentReceived) => ({ ...payment, txid: null })],
  ])('%s is set aside and alarmed; nothing is booked', async (_what, contradict) => {
    const account = await it.given.account()
    const [sale, bystander] = [await it.given.sale(account), await it.given.sale(account)]
    const payment = railPayment(it.clock, sale)
    await apply(payment)
    const before = { balance: await balanceOf(account), alarmed: await alarmed(), lines: alarms().length }
    const lie = contradict(payment, bystander)

    expect(await outcomesOf(lie)).toEqual(['conflict'])

    expect(await traces(payment)).toEqual({ heard: 1, sales: 1, reversals: 0, setAside: 1 })
    expect(await balanceOf(account)).toBe(before.balance)
    expect(await situationOf(account, bystander)).toBe('PENDING')
    const [kept] = await it.rows<{ content: string }>('select content from inbox_conflict where rail_id = $1', [
      payment.endToEnd,
    ])
    expect(JSON.parse(kept!.content)).toEqual(lie)
    expect(await alarmed()).toBe(before.alarmed + 1)
    expect(alarms().at(-1)).toMatchObject({ level: 50, rail: 'sandbox', railId: payment.endToEnd })
    expect((await it.api.get('/metrics')).text).toMatch(
      /^quitado_alarms_total\{alarm="the rail reported one id.*\} \d/m,
    )
  })

  test('the same contradiction again is kept once', async () => {
    const payment = railPayment(it.clock, await it.given.sale(await it.given.account()))
    await apply(payment)
    const lie = { ...payment, amount: 1 as never }
    expect(await outcomesOf(lie)).toEqual(['conflict'])
    expect(await outcomesOf(lie)).toEqual(['conflict'])
    expect(await traces(payment)).toMatchObject({ setAside: 1 })
  })

  test('both in one array: the first is booked, the second set aside, the neighbours are paid', async () => {
    const account = await it.given.account()
    const sales = await Promise.all(Array.from({ length: 6 }, () => it.given.sale(account)))
    const payments = sales.map((sale) => railPayment(it.clock, sale))
    payments[4] = { ...payments[4]!, endToEnd: payments[1]!.endToEnd }
    expect((await outcomesOf(...payments)).sort()).toEqual([...Array(5).fill('applied'), 'conflict'])
    expect(await traces(payments[1]!)).toEqual({ heard: 1, sales: 1, reversals: 0, setAside: 1 })
  })

  test('the simulator says which field contradicts', async () => {
    const account = await it.given.account()
    const [sale, bystander] = [await it.given.sale(account), await it.given.sale(account)]
    const endToEnd = newEndToEnd()
    const paid = (uuid: string) => account.api.post(`/v1.1/sandbox/sim/sale/${uuid}/paid`, { endToEnd })
    expect((await paid(sale.uuid)).body).toMatchObject({ endToEnd, sale: { situation: 'PAID' } })
    const lie = await paid(bystander.uuid)
    expect([lie.http, lie.body.errors[0].field]).toEqual([400, 'endToEnd'])
    expect(await situationOf(account, bystander)).toBe('PENDING')
  })

  test('two rails may use the same id: each is heard for itself', async () => {
    const sale = await it.given.sale(await it.given.account())
    const payment = railPayment(it.clock, sale)
    const elsewhere = { ...payment, rail: 'elsewhere', txid: null }
    expect(await outcomesOf(payment, elsewhere)).toEqual(['applied', 'reversed'])
    expect(await outcomesOf(elsewhere, payment)).toEqual(['duplicate', 'duplicate'])
    expect(await traces(payment)).toEqual({ heard: 2, sales: 1, reversals: 1, setAside: 0 })
  })
})

describe('an array of events', () => {
  test('is applied as one batch a lane, whatever accounts and outcomes are in it', async () => {
    const accounts = await Promise.all(Array.from({ length: 4 }, () => it.given.account()))
    const sales = await Promise.all(Array.from({ length: 20 }, (_, at) => it.given.sale(accounts[at % 4]!)))
    const events = sales.map((sale, at) => railPayment(it.clock, sale, at % 5 === 0 ? { amount: 1 } : {}))
    const before = await doorBatches()
    const outcomes = await outcomesOf(...events)
    expect(outcomes).toEqual(sales.map((_, at) => (at % 5 === 0 ? 'reversed' : 'applied')))
    const after = await doorBatches()
    expect(after.events - before.events).toBe(20)
    expect(after.batches - before.batches).toBeLessThanOrEqual(2)
  })

  test('with two payments of one sale: one is applied, one is reversed', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const [one, two] = [railPayment(it.clock, sale), railPayment(it.clock, sale)]
    expect((await outcomesOf(one, two)).sort()).toEqual(['applied', 'reversed'])
    const reversals = await it.rows('select reason from reversal where sale_id = $1', [sale.uuid])
    expect(reversals).toEqual([{ reason: 'ALREADY_PAID' }])
    expect(await balanceOf(account)).toBe(99.01)
  })

  test('with two payments of one sale: the second is decided when the first is done, not beside it', async () => {
    const sale = await it.given.sale(await it.given.account())
    const before = await doorBatches(other)
    await other.door.apply([railPayment(it.clock, sale), railPayment(it.clock, sale)])
    expect(await doorBatches(other)).toEqual({ batches: before.batches + 2, events: before.events + 2 })
  })

  test('may be empty', async () => expect(await apply()).toEqual([]))

  test('lines of one book are numbered in the order of the array, with the balance after each', async () => {
    const account = await it.given.account()
    const amounts = [30, 10, 20]
    const sales = await Promise.all(amounts.map((amount) => it.given.sale(account, { amount })))
    await apply(...sales.map((sale) => railPayment(it.clock, sale)))
    const statement = (await account.api.get('/v1.1/statement')).body.result
    const lines = statement.map(({ type, amount, balance }: Record<string, unknown>) => [type, amount, balance])
    expect(lines.reverse()).toEqual([
      ['SALE', 30, 30],
      ['FEE', -0.3, 29.7],
      ['SALE', 10, 39.7],
      ['FEE', -0.1, 39.6],
      ['SALE', 20, 59.6],
      ['FEE', -0.2, 59.4],
    ])
  })
})

describe('a sale that changes between the reading and the writing', () => {
  const meanwhile = (action: () => unknown) => onStatement(it.service.db, 'door_apply_batch', { before: action })

  test('renewed: the payment that was to be reversed is decided again and pays', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const payment = railPayment(it.clock, sale)
    meanwhile(() => renew(account, sale))
    expect(await apply(payment)).toMatchObject([{ outcome: 'applied', saleId: sale.uuid }])
    expect(await traces(payment)).toEqual({ heard: 1, sales: 1, reversals: 0, setAside: 0 })
  })

  test('voided: the payment that was to pay is decided again and reversed', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const payment = railPayment(it.clock, sale)
    meanwhile(() => void_(account, sale))
    expect(await outcomesOf(payment)).toEqual(['reversed'])
    expect(await traces(payment)).toEqual({ heard: 1, sales: 0, reversals: 1, setAside: 0 })
    expect([await situationOf(account, sale), await balanceOf(account)]).toEqual(['CANCELLED', 0])
  })

  test('expired by the sweep: the same', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 60 })
    const payment = railPayment(it.clock, sale)
    it.clock.advance(2 * HOUR_MS)
    meanwhile(() => it.sweep())
    expect(await outcomesOf(payment)).toEqual(['reversed'])
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('paid by another process: one payment applies, the other is reversed, the neighbours do not wait', async () => {
    const account = await it.given.account()
    const [sale, neighbour] = [await it.given.sale(account), await it.given.sale(account)]
    const theirs = railPayment(it.clock, sale)
    meanwhile(() => other.door.apply([theirs]))
    const ours = railPayment(it.clock, sale)
    expect(await outcomesOf(ours, railPayment(it.clock, neighbour))).toEqual(['reversed', 'applied'])
    expect(await traces(theirs)).toMatchObject({ sales: 1, reversals: 0 })
    expect(await balanceOf(account)).toBe(198.02)
  })
})

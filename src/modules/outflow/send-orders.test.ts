import { describe, expect, onTestFinished, test } from 'vitest'
import { loseConnection } from '../../../test/harness/faulty-database.ts'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { accepted, hear, moneyOf, numberOf, payOut, railReport, refund } from '../../../test/harness/money-out.ts'
import { startTestService, testService } from '../../../test/harness/test-service.ts'
import { type Instant, MINUTE_MS, SECOND_MS } from '../../kernel/calendar.ts'
import { partsOfTxid } from '../../kernel/txid.ts'
import { type OutflowOrder, RailAway } from '../../rail/rail.ts'
import { referenceOf } from './outflow.store.ts'
import { sendAgainAt, settlesAt } from './outflow.ts'
import { sendDueOrders } from './send-orders.ts'

const it = testService()

/** A rail that keeps what it hears, and answers as it is told. Nobody else sends here: the service's own sender rests. */
function faultyRail(answer: (call: number, orders: readonly OutflowOrder[]) => Promise<void> | void = () => {}) {
  const calls: OutflowOrder[][] = []
  const troubles: unknown[] = []
  const rail = {
    async sendOut(orders: readonly OutflowOrder[]) {
      calls.push([...orders])
      await answer(calls.length, orders)
    },
  }
  const send = () =>
    sendDueOrders({ db: it.service.db, clock: it.clock, rail, trouble: (error) => void troubles.push(error) })
  const all = async () => {
    while (await send());
  }
  return {
    calls,
    troubles,
    send,
    all,
    references: () => calls.map((orders) => orders.map(({ reference }) => reference)),
  }
}
const away = () => {
  throw new Error('the rail is away')
}

/** Earlier tests leave nothing to send. */
async function shop(settings: Record<string, unknown> = {}): Promise<TestAccount> {
  it.clock.advance(15 * MINUTE_MS)
  await faultyRail().all()
  const account = await it.given.account({ autoSettle: false, ...settings })
  await it.given.paidSale(account)
  return account
}
const ordersOf = async (account: TestAccount) =>
  it.rows<{ id: string; state: string; tries: number }>(
    'select id, state, tries from outflow where account_id = $1 order by id',
    [await numberOf(it, account)],
  )
const referenceFor = async (account: TestAccount, uuid: string) => referenceOf(await numberOf(it, account), uuid)

describe('an order to the rail', () => {
  test('carries a reference that leads back to the account and the order, and no other', async () => {
    const account = await shop()
    const [one, two] = [await accepted(payOut(account)), await accepted(payOut(account))]
    const [first, second] = [await referenceFor(account, one), await referenceFor(account, two)]
    expect([/^\w+$/.test(first), first.length, first === second]).toEqual([true, 31, false])
    expect(partsOfTxid(first)).toEqual({ accountId: await numberOf(it, account), saleId: one, renewals: 0 })
  })

  test.each([
    ['refund', 'REFUND'],
    ['payout', 'PAYOUT'],
    ['reversal', 'REVERSAL'],
  ] as const)('says all of a %s that the rail needs', async (what, kind) => {
    const account = await shop()
    const sale = await it.given.sale(account, { amount: 50 })
    const { endToEnd } = (await pay(account, sale)).body
    const back = what === 'reversal' ? (await pay(account, sale)).body : undefined
    const uuid =
      back?.reversal.uuid ??
      (await accepted(
        what === 'refund' ? refund(account, sale, { amount: 12.34 }) : payOut(account, { amount: 12.34 }),
      ))
    const { calls, send } = faultyRail()
    await send()
    const beneficiary = { name: 'Fornecedor Ltda', bankDetails: { pixKey: 'fornecedor@example.com' } }
    const expected = {
      refund: { amount: 1_234, endToEnd, beneficiary: null },
      payout: { amount: 1_234, endToEnd: null, beneficiary },
      reversal: { amount: 5_000, endToEnd: back?.endToEnd, beneficiary: null },
    }
    expect(calls).toEqual([[{ kind, reference: await referenceFor(account, uuid), ...expected[what] }]])
  })

  test('is sent once: an order that the rail has taken is not sent again', async () => {
    const account = await shop()
    await accepted(payOut(account))
    const { calls, all } = faultyRail()
    await all()
    it.clock.advance(60 * MINUTE_MS)
    await all()
    expect(calls).toHaveLength(1)
    expect(await ordersOf(account)).toMatchObject([{ state: 'SENT', tries: 1 }])
  })

  test('orders that wait are sent together, and only as many as fit in one call', async () => {
    const account = await shop()
    const payments = Array.from({ length: 100 }, (_, at) => ({
      amount: 0.01,
      currency: 'BRL',
      referenceCode: `${at}`,
      beneficiary: { name: 'Ana', pixKey: 'k' },
    }))
    await account.api.post('/v1.1/payout/create/batch', { payments })
    await accepted(payOut(account, { amount: 1 }))
    const { calls, send } = faultyRail()
    expect([await send(), await send(), await send()]).toEqual([true, false, false])
    expect(calls.map((orders) => orders.length)).toEqual([100, 1])
    expect(new Set(calls.flat().map(({ reference }) => reference)).size).toBe(101)
  })

  test('is gone when its payout is cancelled first', async () => {
    const account = await shop()
    await account.api.put(`/v1.1/payout/${await accepted(payOut(account))}/cancel`)
    const { calls, all } = faultyRail()
    await all()
    expect(calls).toEqual([])
  })

  test('is sent by the service itself as soon as it is made', async () => {
    const own = await startTestService()
    onTestFinished(() => own.stop())
    const account = await own.given.account({ autoSettle: false })
    await own.given.paidSale(account)
    own.service.orders.start()
    await accepted(payOut(account))
    await expect.poll(() => own.rows('select state from outflow')).toEqual([{ state: 'SENT' }])
  })
})

describe('a rail that does not answer', () => {
  test('is told and asked again with the very same order, later and later, at most every ten minutes', async () => {
    const account = await shop()
    await accepted(payOut(account))
    const { calls, troubles, send, all } = faultyRail((call) => (call <= 12 ? away() : undefined))
    const waits: number[] = []
    for (let tries = 1; tries <= 12; tries += 1) {
      await all()
      expect(calls).toHaveLength(tries)
      const [row] = await it.rows<{ due_at: Instant }>('select due_at from outflow where state = $1', ['RESERVED'])
      waits.push((row!.due_at - it.clock.now()) / SECOND_MS)
      it.clock.advance(row!.due_at - it.clock.now() - 1)
      await send()
      expect(calls).toHaveLength(tries)
      it.clock.advance(1)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
    await all()
    expect(new Set(calls.map((orders) => JSON.stringify(orders))).size).toBe(1)
    expect([calls.length, troubles.length]).toEqual([13, 12])
    expect(await ordersOf(account)).toMatchObject([{ state: 'SENT', tries: 13 }])
  })

  test('keeps the money held, however long it takes, and the order alive', async () => {
    const account = await shop()
    const sale = await it.given.paidSale(account)
    const uuids = [await accepted(payOut(account)), await accepted(refund(account, sale, { amount: 20 }))]
    const { send } = faultyRail(away)
    for (let day = 0; day < 5; day += 1) {
      await send()
      it.clock.advance(24 * 60 * MINUTE_MS)
      expect(await moneyOf(account)).toEqual({ available: 168.02, blocked: 30 })
    }
    expect((await ordersOf(account)).map(({ id }) => id).sort()).toEqual(uuids.sort())
  })

  test('may have heard: the order then ends by the door, and is not sent again', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account))
    const { calls, all } = faultyRail(away)
    await all()
    expect(await hear(it, await railReport(it, account, 'PAYOUT', uuid))).toBe('applied')
    it.clock.advance(60 * MINUTE_MS)
    await all()
    expect(calls).toHaveLength(1)
    expect(await moneyOf(account)).toEqual({ available: 89.01, blocked: 0 })
  })

  test('and answers at last, after the order has ended by the door: nothing is left of the order', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account))
    const { calls, all } = faultyRail(async () => {
      expect(await hear(it, await railReport(it, account, 'PAYOUT', uuid))).toBe('applied')
    })
    await all()
    expect([calls.length, await ordersOf(account)]).toEqual([1, []])
    expect((await account.api.get(`/v1.1/payout/${uuid}`)).body.situation).toBe('PAID')
  })

  test('and fails after the order has ended by the door: it is not brought back', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account))
    const { calls, all } = faultyRail(async () => {
      await hear(it, await railReport(it, account, 'PAYOUT', uuid, { outcome: 'FAILED', error: 'PE0003' }))
      away()
    })
    await all()
    it.clock.advance(60 * MINUTE_MS)
    await all()
    expect([calls.length, await ordersOf(account)]).toEqual([1, []])
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })
})

describe('an order that the rail rejects', () => {
  const rejecting = (bad: readonly string[]) =>
    faultyRail((_call, orders) => {
      if (orders.some(({ reference }) => bad.includes(reference))) throw new Error('no such key')
    })

  test('waits alone: all others of its batch are sent, each once', async () => {
    const [account, other] = [await shop(), await shop()]
    const uuids: string[] = []
    for (let made = 0; made < 20; made += 1)
      uuids.push(await accepted(payOut(made % 2 ? account : other, { amount: 1 })))
    const bad = [await referenceFor(other, uuids[0]!), await referenceFor(account, uuids[13]!)]
    const { calls, troubles, all } = rejecting(bad)
    await all()
    const taken = calls
      .filter((orders) => !orders.some(({ reference }) => bad.includes(reference)))
      .flatMap((orders) => orders.map(({ reference }) => reference))
    expect([taken.length, new Set(taken).size, troubles.length]).toEqual([18, 18, 2])
    const left = (await Promise.all([account, other].map(ordersOf))).flat().filter(({ state }) => state === 'RESERVED')
    expect(left.map(({ id, tries }) => [id, tries]).sort()).toEqual(
      [
        [uuids[0], 1],
        [uuids[13], 1],
      ].sort(),
    )
  })

  test('keeps nobody waiting the next time either', async () => {
    const account = await shop()
    const bad = await accepted(payOut(account, { amount: 1 }))
    const { all } = rejecting([await referenceFor(account, bad)])
    await all()
    for (let round = 1; round <= 3; round += 1) {
      it.clock.advance(15 * MINUTE_MS)
      await accepted(payOut(account, { amount: 1 }))
      await all()
      const orders = await ordersOf(account)
      expect(orders.filter(({ state }) => state === 'SENT')).toHaveLength(round)
      expect(orders.find(({ id }) => id === bad)).toMatchObject({ state: 'RESERVED', tries: round + 1 })
    }
  })

  test('is not looked for while the rail is away: then they all wait, after one call', async () => {
    const account = await shop()
    for (let made = 0; made < 8; made += 1) await accepted(payOut(account, { amount: 1 }))
    const { calls, troubles, all } = faultyRail(() => {
      throw new RailAway('no connection')
    })
    await all()
    expect([calls.length, troubles.length]).toEqual([1, 1])
    expect((await ordersOf(account)).map(({ state, tries }) => `${state} ${tries}`)).toEqual(
      Array(8).fill('RESERVED 1'),
    )
  })
})

describe('a process that dies', () => {
  test('after the commit, before it has sent: another one sends', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account))
    const { all, references } = faultyRail()
    await all()
    expect(references()).toEqual([[await referenceFor(account, uuid)]])
  })

  test('while it sends: nobody else sends until its lease ends, then somebody does, with the same reference', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account))
    let answer = () => {}
    const dying = faultyRail(() => new Promise((done) => (answer = done)))
    const sending = dying.send()
    await expect.poll(() => dying.calls.length).toBe(1)
    const heir = faultyRail()
    it.clock.advance(30 * SECOND_MS - 1)
    await heir.all()
    expect(heir.calls).toEqual([])
    it.clock.advance(1)
    await heir.all()
    const reference = await referenceFor(account, uuid)
    expect([dying.references(), heir.references()]).toEqual([[[reference]], [[reference]]])
    // The rail hears one reference twice and makes one order of it; the first sender was only slow.
    answer()
    await sending
    expect(await ordersOf(account)).toMatchObject([{ id: uuid, state: 'SENT', tries: 2 }])
    expect(await hear(it, await railReport(it, account, 'PAYOUT', uuid))).toBe('applied')
    expect(await moneyOf(account)).toEqual({ available: 89.01, blocked: 0 })
  })

  test('between the rail’s answer and its own note of it: the order is sent again, and ends once', async () => {
    const account = await shop()
    const uuid = await accepted(payOut(account))
    const { all, references } = faultyRail()
    loseConnection(it.service.db, 'outflow_sent', 'before')
    await expect(all()).rejects.toThrow('terminated')
    it.clock.advance(30 * SECOND_MS)
    await all()
    const reference = await referenceFor(account, uuid)
    expect(references()).toEqual([[reference], [reference]])
    const report = await railReport(it, account, 'PAYOUT', uuid)
    expect([await hear(it, report), await hear(it, report)]).toEqual(['applied', 'duplicate'])
    expect(await moneyOf(account)).toEqual({ available: 89.01, blocked: 0 })
  })

  test('two that send at once never take the same order', async () => {
    const account = await shop()
    for (let made = 0; made < 8; made += 1) await accepted(payOut(account, { amount: 1 }))
    const rails = [faultyRail(), faultyRail(), faultyRail(), faultyRail()]
    await Promise.all(rails.map(({ all }) => all()))
    const sent = rails.flatMap(({ references }) => references().flat())
    expect([sent.length, new Set(sent).size]).toEqual([8, 8])
  })
})

describe('times', () => {
  test('the sandbox settles after two seconds, unless the account does it itself', () => {
    const at = 1_000 as Instant
    expect([settlesAt({ autoSettle: true }, at), settlesAt({ autoSettle: false }, at)]).toEqual([3_000, null])
  })

  test('a try that failed a thousand times is still made within ten minutes', () => {
    expect(sendAgainAt(0 as Instant, 1_000)).toBe(10 * MINUTE_MS)
  })
})

import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { Overloaded, Unavailable } from '../../src/platform/batcher.ts'
import { clientConfig } from '../../src/platform/database/database.ts'
import { deadlocksBetweenTwo, loseConnection, onStatement } from '../harness/faulty-database.ts'
import { pay, situationOf, type TestAccount, type TestSale } from '../harness/given.ts'
import { until } from '../harness/patience.ts'
import { newEndToEnd, railPayment } from '../harness/rail-payment.ts'
import { startTestService, testService } from '../harness/test-service.ts'

// The batcher waits between its tries; nothing here depends on how long.
vi.mock('node:timers/promises', () => ({ setTimeout: async () => {} }))

const it = testService()
/** One batch at a time, so that a test can hold it. */
const single = testService({ batches: { lanes: 1, queueMax: 2 } })

const balanceOf = async (account: TestAccount) => (await account.api.get('/v1.1/balance')).body.balance
const refusalOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)
const countOf = async (service: typeof it, sql: string, values: unknown[]) =>
  (await service.rows<{ n: number }>(`select count(*) as n from ${sql}`, values))[0]!.n

/** Holds a table so that whoever writes to it waits. */
async function holding<Value>(service: typeof it, table: string, work: () => Promise<Value>): Promise<Value> {
  const holder = new pg.Client(clientConfig(service.connection))
  await holder.connect()
  await holder.query('begin')
  await holder.query(`lock table ${table} in share row exclusive mode`)
  try {
    return await work()
  } finally {
    await holder.query('rollback')
    await holder.end()
  }
}

/** Until so many of the service's statements wait for a lock. */
const depthOf = async (queue: string): Promise<number> => {
  const { queues } = (await single.operator.get('/operator/v1/queues')).body
  return queues.find((one: { queue: string }) => one.queue === queue).depth
}
const blocked = (service: typeof it, count: number) =>
  until(
    async () =>
      (await countOf(
        service,
        `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and $1 > 0`,
        [count],
      )) >= count,
  )

describe('an unknown outcome of a payment', () => {
  const statements = ['inbox_find', 'sale_find_payable', 'account_terms', 'door_apply_batch']

  test.each(statements.flatMap((name) => [[name, 'before'] as const, [name, 'after'] as const]))(
    '%s, connection lost %s its effect: the payment is booked once and answered',
    async (name, when) => {
      const account = await it.given.account()
      const [fits, misfits] = [await it.given.sale(account), await it.given.cancelledSale(account)]
      const payments = [fits, misfits].map((sale) => railPayment(it.clock, sale))
      const fault = loseConnection(it.service.db, name, when)

      const outcomes = await it.service.door.apply(payments)

      expect(fault.left()).toBe(0)
      // After a commit whose answer was lost, the second try finds its own work done.
      const committed = name === 'door_apply_batch' && when === 'after'
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(
        committed ? ['duplicate', 'duplicate'] : ['applied', 'reversed'],
      )
      expect(await situationOf(account, fits)).toBe('PAID')
      expect(await balanceOf(account)).toBe(99.01)
      for (const { endToEnd } of payments) expect(await countOf(it, 'inbox where rail_id = $1', [endToEnd])).toBe(1)
      expect(await countOf(it, 'reversal where sale_id = $1', [misfits.uuid])).toBe(1)
    },
  )

  test.each(['before', 'after'] as const)('over HTTP, lost %s the commit: the payer hears PAID', async (when) => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const fault = loseConnection(it.service.db, 'door_apply_batch', when)
    expect((await pay(account, sale)).body).toMatchObject({ status: 0, sale: { situation: 'PAID' }, reversal: null })
    expect([fault.left(), await balanceOf(account)]).toEqual([0, 99.01])
  })

  test('a database that stays away is a 503 with Retry-After; the same report later is booked once', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const endToEnd = newEndToEnd()
    // It commits, nobody hears of it, and every later try fails.
    onStatement(it.service.db, 'door_apply_batch', {
      after() {
        loseConnection(it.service.db, 'inbox_find', 'before', 8)
        throw new Error('Connection terminated unexpectedly')
      },
    })
    const reply = await pay(account, sale, { endToEnd })
    expect([reply.http, reply.headers['retry-after']]).toEqual([503, '1'])

    expect((await pay(account, sale, { endToEnd })).body).toMatchObject({ endToEnd, sale: { situation: 'PAID' } })
    expect(await balanceOf(account)).toBe(99.01)
  })

  test('the door tells whoever feeds it that the outcome is unknown', async () => {
    const payment = railPayment(it.clock, await it.given.sale(await it.given.account()))
    loseConnection(it.service.db, 'inbox_find', 'before', 9)
    expect(await refusalOf(it.service.door.apply([payment]))).toBeInstanceOf(Unavailable)
    expect(await it.service.door.apply([payment])).toMatchObject([{ outcome: 'applied' }])
  })

  test('a backend that is killed under the batch: the batch is sent again', async () => {
    const account = await single.given.account()
    const sale = await single.given.sale(account)
    const paid = await holding(single, 'transfer', async () => {
      const paying = pay(account, sale)
      await blocked(single, 1)
      await single.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return { paying }
    })
    expect((await paid.paying).body).toMatchObject({ sale: { situation: 'PAID' } })
    expect(await balanceOf(account)).toBe(99.01)
  })
})

describe('an array with everything in it', () => {
  test('every event gets its own outcome, in order', async () => {
    const account = await it.given.account()
    const sale = () => it.given.sale(account)
    const known = railPayment(it.clock, await sale())
    await it.service.door.apply([known])
    const events = [
      railPayment(it.clock, await sale()),
      known,
      railPayment(it.clock, await sale(), { amount: 5 }),
      { ...known, amount: 7 as never },
      railPayment(it.clock, await it.given.cancelledSale(account)),
      railPayment(it.clock, { txid: 'x', amount: 3 }),
      railPayment(it.clock, await sale()),
    ]
    const outcomes = await it.service.door.apply(events)
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'applied',
      'duplicate',
      'reversed',
      'conflict',
      'reversed',
      'reversed',
      'applied',
    ])
    expect(await balanceOf(account)).toBe(297.03)
  })
})

describe('two processes that hear of the same sales at once', () => {
  const ROUNDS = 20
  const salesOf = (accounts: readonly TestAccount[]) => Promise.all(accounts.map((account) => it.given.sale(account)))
  const accounts = (count: number) => Promise.all(Array.from({ length: count }, () => it.given.account()))
  /** Orders of so many things, always the same ones. */
  const orders = (count: number) =>
    fc.sample(fc.shuffledSubarray([...Array(count).keys()], { minLength: count }), { numRuns: 4 * ROUNDS, seed: 7 })
  const outcomesOf = (outcomes: readonly { outcome: string }[][]) => outcomes.flat().map(({ outcome }) => outcome)
  const times = (count: number, outcome: string) => Array<string>(count).fill(outcome)

  test('in any order, all to be reversed: no deadlock, one reversal for each report', async () => {
    const sales = await salesOf(await accounts(12))
    const order = orders(12)
    const deadlocks = await deadlocksBetweenTwo(it, async ([one, other]) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const news = () => order.pop()!.map((at) => railPayment(it.clock, sales[at]!, { amount: 1 }))
        const doors = [one.door, other.door, one.door, other.door]
        const outcomes = await Promise.all(doors.map((door) => door.apply(news())))
        expect(outcomesOf(outcomes)).toEqual(times(48, 'reversed'))
      }
    })
    expect(deadlocks).toBe(0)
  })

  test('some paying, some to be reversed: no deadlock, each sale is paid once', async () => {
    const owners = await accounts(8)
    const rounds: TestSale[][] = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await salesOf(owners))
    const order = orders(8)
    const deadlocks = await deadlocksBetweenTwo(it, async ([one, other]) => {
      for (const sales of rounds) {
        const news = (amount: number) => order.pop()!.map((at) => railPayment(it.clock, sales[at]!, { amount }))
        const doors = [
          [one.door, 1],
          [other.door, 10_000],
          [one.door, 10_000],
          [other.door, 1],
        ] as const
        const outcomes = outcomesOf(await Promise.all(doors.map(([door, amount]) => door.apply(news(amount)))))
        expect(outcomes.sort()).toEqual([...times(8, 'applied'), ...times(24, 'reversed')])
      }
    })
    expect(deadlocks).toBe(0)
  })

  test('one rail id for two charges: one is booked, one set aside', async () => {
    const [me, you] = await accounts(2)
    const many = (account: TestAccount) => salesOf(Array<TestAccount>(10).fill(account))
    const [mine, yours] = [await many(me!), await many(you!)]
    const order = orders(10)
    const deadlocks = await deadlocksBetweenTwo(it, async ([one, other]) => {
      for (let round = 0; round < 5; round += 1) {
        const ids = mine.map(newEndToEnd)
        const news = (sales: TestSale[]) =>
          order.pop()!.map((at) => railPayment(it.clock, sales[at]!, { amount: 1, endToEnd: ids[at]! }))
        const outcomes = await Promise.all([one.door.apply(news(mine)), other.door.apply(news(yours))])
        expect(outcomesOf(outcomes).sort()).toEqual([...times(10, 'conflict'), ...times(10, 'reversed')])
      }
    })
    expect(deadlocks).toBe(0)
  })

  test('rail ids are written in their own order: whoever waits for one holds none behind it', async () => {
    const [low, high] = [newEndToEnd(), newEndToEnd()]
    const sale = await single.given.cancelledSale(await single.given.account())
    const other = new pg.Client(clientConfig(single.connection))
    await other.connect()
    const take = (endToEnd: string) =>
      other.query(
        `insert into inbox (rail, kind, rail_id, content_hash, account_id, outcome, outcome_id, settled_at, received_at)
         values ('sandbox', 'payment', $1, '', 1, 'REVERSED', $2, '2026-11-16', '2026-11-16')`,
        [endToEnd, sale.uuid],
      )
    await other.query('begin')
    await other.query(`set local lock_timeout = '100ms'`)
    await take(low)
    const news = single.service.door.apply([
      railPayment(single.clock, sale, { endToEnd: high }),
      railPayment(single.clock, { txid: null as never, amount: 1 }, { endToEnd: low }),
    ])
    await blocked(single, 1)
    await take(high)
    await other.query('rollback')
    await other.end()
    expect(outcomesOf([await news])).toEqual(['reversed', 'reversed'])
  })
})

describe('a door that is full', () => {
  test('refuses an array whole, before any effect, and takes it when there is room', async () => {
    const account = await single.given.account()
    const sales: TestSale[] = []
    for (const amount of [1, 2, 3, 4, 5]) sales.push(await single.given.sale(account, { amount }))
    const payments = sales.map((sale) => railPayment(single.clock, sale))
    const door = single.service.door
    const [first, ...rest] = payments
    const held = await holding(single, 'transfer', async () => {
      const flying = door.apply([first!])
      await blocked(single, 1)
      const waiting = door.apply([rest[0]!])
      expect(await refusalOf(door.apply(rest.slice(1)))).toBeInstanceOf(Overloaded)
      return { flying, waiting, fits: door.apply([rest[1]!]) }
    })
    const taken = (await Promise.all([held.flying, held.waiting, held.fits])).flat()
    expect(taken.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied'])
    expect(await countOf(single, 'inbox where rail_id = $1', [rest[2]!.endToEnd])).toBe(0)
    expect(await situationOf(account, sales[4]!)).toBe('PENDING')
    const again = await door.apply(rest.slice(1))
    expect(again.map(({ outcome }) => outcome)).toEqual(['duplicate', 'applied', 'applied'])
  })

  test('is a 503 to whoever pays over HTTP, before any effect', async () => {
    const account = await single.given.account()
    const sales: TestSale[] = []
    for (const amount of [1, 2, 3, 4]) sales.push(await single.given.sale(account, { amount }))
    const [first, second, third, fourth] = sales as [TestSale, TestSale, TestSale, TestSale]
    const held = await holding(single, 'transfer', async () => {
      const flying = pay(account, first)
      await blocked(single, 1)
      const waiting = [pay(account, second), pay(account, third)]
      await until(async () => (await depthOf('simulator')) === 2)
      return { taken: [flying, ...waiting], late: await pay(account, fourth) }
    })
    expect([held.late.http, held.late.headers['retry-after']]).toEqual([503, '1'])
    expect((await Promise.all(held.taken)).map(({ http }) => http)).toEqual([200, 200, 200])
    expect(await situationOf(account, fourth)).toBe('PENDING')
    expect((await pay(account, fourth)).body.sale.situation).toBe('PAID')
  })
})

describe('closing the service', () => {
  test('answers the news it has taken before it lets go of the database', async () => {
    const own = await startTestService({ batches: { lanes: 1, batchMax: 2 } })
    const account = await own.given.account()
    const sales = await Promise.all(Array.from({ length: 9 }, () => own.given.sale(account)))
    const applied = own.service.door.apply(sales.map((sale) => railPayment(own.clock, sale)))
    const [outcomes] = await Promise.all([applied, own.stop()])
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array(9).fill('applied'))
  })
})

import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findViolations } from '../../src/audit.ts'
import { MINUTE_MS } from '../../src/kernel/calendar.ts'
import { clientConfig } from '../../src/platform/database/database.ts'
import { sweepExpiries } from '../../src/worker/sweeps.ts'
import type { Reply } from '../harness/api-client.ts'
import {
  anotherService,
  deadlocksBetweenTwo,
  loseConnection,
  type OtherService,
  onStatement,
} from '../harness/faulty-database.ts'
import { checkoutBody, type TestAccount, type TestSale } from '../harness/given.ts'
import { until, waitingSql } from '../harness/patience.ts'
import { railPayment } from '../harness/rail-payment.ts'
import { testService } from '../harness/test-service.ts'

// The batcher waits between its tries; nothing here depends on how long.
vi.mock('node:timers/promises', () => ({ setTimeout: async () => {} }))

const it = testService()
const SEED = 20_261_116
const AT_ONCE = 32

/** Does everything on the list, 32 things at a time. */
async function allAtOnce<Task>(tasks: readonly Task[], work: (task: Task) => Promise<unknown>): Promise<void> {
  let next = 0
  const hand = async () => {
    while (next < tasks.length) await work(tasks[next++]!)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, hand))
}

const as = (service: OtherService, { apiKey, apiToken }: TestAccount) =>
  service.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })

type Fate = {
  state: string
  end_to_end: string | null
  amount: number
  fee: number
  sale_lines: number
  fee_lines: number
  applied: number
  reversed: number
}

/** What became of a sale: its state, its lines, its payments. */
async function fatesOf(accounts: readonly TestAccount[]): Promise<Map<string, Fate>> {
  const rows = await it.rows<Fate & { id: string }>(
    `select s.id, s.state, s.end_to_end, s.amount_cents as amount, s.fee_cents as fee,
       (select count(*) from transfer t where t.account_id = s.account_id and t.source_id = s.id and t.code = 10 and t.amount_cents = s.amount_cents) as sale_lines,
       (select count(*) from transfer t where t.account_id = s.account_id and t.source_id = s.id and t.code = 12 and t.amount_cents = s.fee_cents) as fee_lines,
       (select count(*) from inbox i where i.account_id = s.account_id and i.outcome_id = s.id and i.rail_id = s.end_to_end) as applied,
       (select count(*) from reversal r where r.account_id = s.account_id and r.sale_id = s.id) as reversed
     from sale s join account a on a.id = s.account_id where a.uuid = any($1::uuid[])`,
    [accounts.map(({ id }) => id)],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

type Storm = { kind: 'pay' | 'door' | 'void' | 'sweep' | 'renew'; sales: number[]; service: 0 | 1 }
const storm = (kinds: Storm['kind'][], actions: number, sales: number): Storm[] =>
  fc.sample(
    fc.record({
      kind: fc.constantFrom(...kinds),
      sales: fc.array(fc.nat(sales - 1), { minLength: 1, maxLength: 6 }),
      service: fc.constantFrom(0, 1),
    }),
    { numRuns: actions, seed: SEED },
  )

/** Many sales of a few accounts; their expiries lie a minute apart. */
async function manySales(count: number) {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => it.given.account()))
  const owner = (at: number) => accounts[at % accounts.length]!
  const sales = await Promise.all(
    Array.from({ length: count }, (_, at) => it.given.sale(owner(at), { amount: 10 + at, maxAge: 1 + at })),
  )
  return { accounts, sales, owner }
}

/** Plays a storm of actions and tells what was done, what was answered and what the database holds. */
async function play(count: number, kinds: Storm['kind'][], actions: number) {
  const { accounts, sales, owner } = await manySales(count)
  const begin = it.clock.now()
  const payments = new Map<string, number>(sales.map(({ uuid }) => [uuid, 0]))
  const done = { voided: 0, renewed: 0, expired: 0 }
  const unexpected: string[] = []
  const payment = (sale: TestSale, amount?: number) => {
    payments.set(sale.uuid, payments.get(sale.uuid)! + 1)
    return railPayment(it.clock, sale, { settledAt: begin, ...(amount ? { amount } : {}) })
  }
  const answered = ({ http, body, text }: Reply, kind: string): number => {
    if (http !== 200 && body.status !== 999) unexpected.push(`${kind} ${http} ${text}`)
    return http === 200 ? 1 : 0
  }
  const actionsOf = (service: OtherService): Record<Storm['kind'], (places: number[]) => Promise<void>> => {
    const apiOf = (at: number) => as(service, owner(at))
    return {
      async pay([at]) {
        const { endToEnd, settledAt } = payment(sales[at!]!)
        const body = { endToEnd, settledAt: new Date(settledAt).toISOString() }
        answered(await apiOf(at!).post(`/v1.1/sandbox/sim/sale/${sales[at!]!.uuid}/paid`, body), 'pay')
      },
      // Every third payment has the wrong amount.
      async door(places) {
        await service.door.apply(places.map((at, place) => payment(sales[at]!, place % 3 === 2 ? 1 : undefined)))
      },
      async void([at]) {
        const reply = await apiOf(at!).put(`/v1.1/transactions/${sales[at!]!.uuid}/void`)
        done.voided += answered(reply, 'void')
      },
      async renew([at]) {
        const reply = await apiOf(at!).put(`/v1.1/checkout/transparent/${sales[at!]!.uuid}`, { maxAge: 43_200 })
        done.renewed += answered(reply, 'renew')
      },
      async sweep() {
        it.clock.advance(MINUTE_MS)
        const expired = await sweepExpiries(service.sweeps)
        done.expired += expired
      },
    }
  }
  const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
    const hands = services.map(actionsOf)
    await allAtOnce(storm(kinds, actions, count), ({ kind, sales: places, service }) => hands[service]![kind](places))
  })
  return { deadlocks, unexpected, payments, done, accounts, fates: await fatesOf(accounts) }
}

function expectNoCentLostOrDoubled({ fates, payments }: Awaited<ReturnType<typeof play>>) {
  for (const [uuid, fate] of fates) {
    const paid = fate.state === 'PAID' ? 1 : 0
    expect({ uuid, ...fate }).toMatchObject({
      sale_lines: paid,
      fee_lines: paid,
      applied: paid,
      reversed: payments.get(uuid)! - paid,
    })
  }
}

async function expectBalances({ accounts, fates }: Awaited<ReturnType<typeof play>>) {
  let available = 0
  for (const account of accounts) available += Math.round((await account.api.get('/v1.1/balance')).body.available * 100)
  const earned = [...fates.values()].filter(({ state }) => state === 'PAID')
  expect(available).toBe(earned.reduce((sum, { amount, fee }) => sum + amount - fee, 0))
}

describe('32 at once on two processes', () => {
  test('payments, voids and expiries of the same sales: each sale ends once, paid or cancelled', async () => {
    const played = await play(200, ['pay', 'door', 'void', 'sweep'], 1_200)
    expect(played.unexpected).toEqual([])
    expect(played.deadlocks).toBe(0)
    expectNoCentLostOrDoubled(played)
    await expectBalances(played)
    const states = [...played.fates.values()].map(({ state }) => state)
    expect(states).toHaveLength(200)
    expect(states.filter((state) => state === 'PENDING')).toEqual([])
    expect(played.done.voided + played.done.expired).toBe(states.filter((state) => state === 'CANCELLED').length)
  })

  test('renewals too: every cancellation and every renewal counts once', async () => {
    const played = await play(60, ['door', 'void', 'renew', 'renew', 'sweep', 'pay'], 900)
    expect(played.unexpected).toEqual([])
    expect(played.deadlocks).toBe(0)
    expectNoCentLostOrDoubled(played)
    await expectBalances(played)
    const cancelled = [...played.fates.values()].filter(({ state }) => state === 'CANCELLED').length
    const { voided, expired, renewed } = played.done
    expect(renewed).toBeGreaterThan(0)
    expect(voided + expired - renewed).toBe(cancelled)
  })

  test('creations and payments of one account: counts, lists and balance agree', async () => {
    const account = await it.given.account()
    const unpaid: TestSale[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await allAtOnce(Array.from({ length: 300 }), async (_, at = unpaid.length) => {
        const service = services[at % 2]!
        const made = await as(service, account).post('/v1.1/checkout/transparent', checkoutBody({ amount: 1 }))
        expect(made.http, made.text).toBe(200)
        const { uuid, id, amount, instructions } = made.body.response
        unpaid.push({ uuid, id, amount, txid: /\/qr\/(\w+)\.png$/.exec(instructions.qrCode.url)![1]! })
        if (unpaid.length % 3 === 0)
          await service.door.apply(unpaid.splice(0, 2).map((sale) => railPayment(it.clock, sale)))
      })
    })
    expect(deadlocks).toBe(0)
    const total = async (query: string) =>
      (await account.api.get(`/v1.1/transactions?${query}`)).body.totalElements as number
    const [all, paid] = [await total(''), await total('situation=PAID')]
    expect([all, paid + (await total('situation=PENDING'))]).toEqual([300, 300])
    expect(paid).toBe(300 - unpaid.length)
    expect((await account.api.get('/v1.1/balance')).body.available).toBe((paid * 99) / 100)
    const numbers = await it.rows<{ n: number }>('select count(distinct number) as n from sale')
    const sales = await it.rows<{ n: number }>('select count(*) as n from sale')
    expect(numbers).toEqual(sales)
  })

  test('an account whose clock jumps over its sales while they are paid', async () => {
    const account = await it.given.account({ autoSettle: false })
    const sales = await Promise.all(
      Array.from({ length: 80 }, (_, at) => it.given.sale(account, { amount: 5, maxAge: 1 + at * 10 })),
    )
    const settledAt = it.clock.now()
    let processed = 0
    const outcomes: string[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async ([jumping, paying]) => {
      const jump = async () => {
        for (let hour = 0; hour < 14; hour += 1) {
          const reply = await as(jumping, account).post('/v1.1/sandbox/clock/advance', { hours: 1 })
          expect(reply.http, reply.text).toBe(200)
          processed += reply.body.processed
        }
      }
      const pay = allAtOnce(sales, async (sale) => {
        const [outcome] = await paying.door.apply([railPayment(it.clock, sale, { settledAt })])
        outcomes.push(outcome!.outcome)
      })
      await Promise.all([jump(), pay])
    })
    expect(deadlocks).toBe(0)
    const states = [...(await fatesOf([account])).values()].map(({ state }) => state)
    const of = (wanted: string) => states.filter((state) => state === wanted).length
    expect([of('PAID'), of('CANCELLED')]).toEqual([80 - processed, processed])
    expect(outcomes.filter((outcome) => outcome === 'applied')).toHaveLength(of('PAID'))
    expect((await account.api.get('/v1.1/sandbox/clock')).body.offsetSeconds).toBe(14 * 3600)
  })

  test('an audit while the service works finds nothing wrong', async () => {
    const { sales } = await manySales(60)
    let working = true
    const audits = async () => {
      let count = 0
      while (working) {
        expect(await findViolations(it.connection)).toEqual([])
        count += 1
      }
      return count
    }
    const audited = audits()
    await allAtOnce([...sales, ...sales], (sale) => it.service.door.apply([railPayment(it.clock, sale)]))
    working = false
    expect(await audited).toBeGreaterThan(0)
  })
})

/** One batch at a time and a short queue, so that a test can fill it. */
const single = testService({ batches: { lanes: 1, queueMax: 6 } })

describe('a batch of checkouts', () => {
  const create = (account: TestAccount, referenceCode: string, key?: string) =>
    account.api.post(
      '/v1.1/checkout/transparent',
      checkoutBody({ referenceCode }),
      key === undefined ? {} : { headers: { 'idempotency-key': key } },
    )
  const salesOf = (account: TestAccount) =>
    single.rows<{ id: string; reference: string }>(
      `select s.id, s.reference_code as reference from sale s join account a on a.id = s.account_id
       where a.uuid = $1 order by reference_code`,
      [account.id],
    )
  const referencesOf = async (account: TestAccount) => (await salesOf(account)).map(({ reference }) => reference)

  /** Sends requests while the batch of the first one is held in the database, so that the others gather behind it. */
  async function gathered(account: TestAccount, references: readonly string[]) {
    const holder = new pg.Client(clientConfig(single.connection))
    await holder.connect()
    await holder.query('begin')
    await holder.query('lock table sale in share row exclusive mode')
    const flying = create(account, 'flying')
    await until(async () => (await holder.query(waitingSql)).rowCount! > 0)
    const waiting = references.map((reference) => create(account, reference))
    await until(async () => {
      const { queues } = (await single.operator.get('/operator/v1/queues')).body
      return queues.find(({ queue }: { queue: string }) => queue === 'checkout').depth === references.length
    })
    const release = async () => {
      await holder.query('rollback')
      await holder.end()
    }
    return { flying, waiting, release }
  }

  test('with a poison item: it fails alone, its neighbours are created, and nobody hears why', async () => {
    const account = await single.given.account()
    await single.rows(`alter table sale add constraint poison check (reference_code <> 'poison')`)
    const { flying, waiting, release } = await gathered(account, ['a', 'b', 'poison', 'c', 'd'])
    await release()
    const replies = await Promise.all(waiting)
    expect([(await flying).http, ...replies.map(({ http }) => http)]).toEqual([200, 200, 200, 500, 200, 200])
    expect(replies[2]!.body).toEqual({
      status: -1,
      message: 'something went wrong on our side',
      errorCount: 0,
      errors: [],
    })
    expect(await referencesOf(account)).toEqual(['a', 'b', 'c', 'd', 'flying'])
    const uuids = [await flying, ...replies].filter(({ http }) => http === 200).map(({ body }) => body.response.uuid)
    expect(uuids.sort()).toEqual((await salesOf(account)).map(({ id }) => id).sort())
  })

  test('behind a full queue: 503 with Retry-After, no effect, and room again afterwards', async () => {
    const account = await single.given.account()
    const { flying, waiting, release } = await gathered(account, ['1', '2', '3', '4', '5', '6'])
    const refused = await create(account, 'too many')
    expect([refused.http, refused.headers['retry-after'], refused.body.status]).toEqual([503, '1', -1])
    await release()
    expect((await Promise.all([flying, ...waiting])).map(({ http }) => http)).toEqual(Array(7).fill(200))
    expect(await referencesOf(account)).toEqual(['1', '2', '3', '4', '5', '6', 'flying'])
    expect((await create(account, 'again')).http).toBe(200)
  })

  test.each([
    ['account_versioned_terms', 'before'],
    ['account_versioned_terms', 'after'],
    ['sale_insert_batch', 'before'],
    ['sale_insert_batch', 'after'],
  ] as const)('%s, connection lost %s its effect: each checkout exists once', async (name, when) => {
    const account = await single.given.account()
    const fault = loseConnection(single.service.db, name, when)
    const replies = await Promise.all([create(account, 'a'), create(account, 'b', 'key b'), create(account, 'c')])
    expect(fault.left()).toBe(0)
    expect(replies.map(({ http }) => http)).toEqual([200, 200, 200])
    expect(replies.map(({ body }) => body.response.uuid)).toEqual((await salesOf(account)).map(({ id }) => id))
  })

  test('a unique reference is not taken by its own first try', async () => {
    const account = await single.given.account({ uniqueReferenceCode: true })
    loseConnection(single.service.db, 'sale_insert_batch', 'after')
    expect((await create(account, 'once')).http).toBe(200)
    expect(await referencesOf(account)).toEqual(['once'])
    expect((await create(account, 'once')).body.errors[0].code).toBe('referenceCode.duplicated')
  })

  test('a database that stays away is a 503; the same key later creates no second sale', async () => {
    const account = await single.given.account()
    const fault = loseConnection(single.service.db, 'sale_insert_batch', 'after', 9)
    const lost = await create(account, 'kept', 'the key')
    expect([lost.http, lost.headers['retry-after'], fault.left()]).toEqual([503, '1', 0])
    const body = checkoutBody({ referenceCode: 'kept' })
    const again = await account.api.post('/v1.1/checkout/transparent', body, {
      headers: { 'idempotency-key': 'the key' },
    })
    expect([again.http, again.headers['idempotency-replayed']]).toEqual([200, 'true'])
    expect((await salesOf(account)).map(({ id }) => id)).toEqual([again.body.response.uuid])
  })

  test('through a connection that breaks at random: acknowledged is there once, nothing is there twice', async () => {
    // One with room for all: those that a full queue refuses would say nothing of broken connections.
    const roomy = await anotherService(single, { batches: { lanes: 1 } })
    onTestFinished(() => roomy.close())
    const registered = await single.given.account()
    const credentials = { 'x-api-key': registered.apiKey, 'x-api-token': registered.apiToken }
    const account = { ...registered, api: roomy.api.as(credentials) }
    const faults = fc.sample(fc.constantFrom('none', 'none', 'before', 'after'), { numRuns: 10_000, seed: SEED })
    const lose = (when: string) => () => {
      if (faults.pop() === when) throw new Error('Connection terminated unexpectedly')
    }
    const ask = roomy.db.query
    for (const name of ['sale_insert_batch', 'account_versioned_terms'])
      onStatement(roomy.db, name, { before: lose('before'), after: lose('after') }, Number.POSITIVE_INFINITY)
    const replies = new Map<string, number>()
    let next = 0
    const client = async () => {
      while (next < 150) {
        const reference = `r${String(next++).padStart(3, '0')}`
        replies.set(reference, (await create(account, reference, next % 3 === 0 ? reference : undefined)).http)
      }
    }
    await Promise.all([1, 2, 3, 4, 5, 6].map(client))
    roomy.db.query = ask
    const made = await referencesOf(account)
    expect(new Set(made).size).toBe(made.length)
    const acknowledged = [...replies].filter(([, http]) => http === 200).map(([reference]) => reference)
    expect(acknowledged.length).toBeGreaterThan(100)
    expect(acknowledged.filter((reference) => !made.includes(reference))).toEqual([])
    expect([...new Set(replies.values())].filter((http) => http !== 200 && http !== 503)).toEqual([])
  })
})

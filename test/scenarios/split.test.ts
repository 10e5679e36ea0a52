import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findViolations } from '../../src/audit.ts'
import { MINUTE_MS } from '../../src/kernel/calendar.ts'
import { sweepExpiries } from '../../src/worker/sweeps.ts'
import type { ApiClient, Reply } from '../harness/api-client.ts'
import { deadlocksBetweenTwo, type OtherService } from '../harness/faulty-database.ts'
import { checkoutBody, type TestAccount, type TestSale } from '../harness/given.ts'
import { railPayment } from '../harness/rail-payment.ts'
import { startReceiver } from '../harness/receiver.ts'
import { startTestService, testService } from '../harness/test-service.ts'

const it = testService()
const SEED = 20_261_116
const AT_ONCE = 32

/** Does everything on the list, 32 things at a time. */
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

const as = (service: OtherService, { apiKey, apiToken }: TestAccount): ApiClient =>
  service.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
const saleOf = ({ body }: Reply): TestSale => {
  const { uuid, id, amount, instructions } = body.response
  return { uuid, id, amount, txid: /\/qr\/(\w+)\.png$/.exec(instructions.qrCode.url)![1]! }
}

/** Accounts that all share with each other. */
async function circle(count: number, settings: Record<string, unknown> = {}): Promise<TestAccount[]> {
  const accounts: TestAccount[] = []
  for (let made = 0; made < count; made += 1) accounts.push(await it.given.account({ splitEnabled: true, ...settings }))
  for (const parent of accounts)
    for (const recipient of accounts)
      if (parent !== recipient)
        await it.operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId: recipient.id })
  return accounts
}
/** Every other sale names its recipients backwards. */
const legsOf = (accounts: readonly TestAccount[], at: number) => {
  const others = accounts.filter((_, place) => place !== at % accounts.length)
  return (at % 2 ? others.reverse() : others).map(({ id }, place) => ({ recipientId: id, amount: place + 1 }))
}
async function sharedSales(accounts: readonly TestAccount[], count: number): Promise<TestSale[]> {
  const sales: TestSale[] = []
  for (let at = 0; at < count; at += 1) {
    const body = checkoutBody({ amount: 20 + at, maxAge: 1 + at, split: legsOf(accounts, at) })
    const reply = await accounts[at % accounts.length]!.api.post('/v1.1/checkout/transparent', body)
    expect(reply.http, reply.text).toBe(200)
    sales.push(saleOf(reply))
  }
  return sales
}

type Fate = { state: string; shares: number; followed: number; settled: number; n: number }

/** How the sales of some accounts ended, and how many of their shares ended with them. */
const fatesOf = (accounts: readonly TestAccount[]) =>
  it.rows<Fate>(
    `select s.state, sum(s.legs)::integer as shares, sum(c.followed)::integer as followed, sum(c.settled)::integer as settled, count(*)::integer as n
     from sale s join account a on a.id = s.account_id cross join lateral (
       select count(*) filter (where c.state = s.state) as followed, count(*) filter (where c.settlement = 'SETTLED') as settled
       from split_leg l join sale c on c.account_id = l.recipient_account_id and c.id = l.transaction_id
       where l.account_id = s.account_id and l.sale_id = s.id) c
     where a.uuid = any($1::uuid[]) and s.parent_id is null group by 1 order by 1`,
    [accounts.map(({ id }) => id)],
  )

/** What each account is worth by its paid sales and settled shares alone, in cents. */
async function expectBalances(accounts: readonly TestAccount[]) {
  const rows = await it.rows<{ uuid: string; earned: number }>(
    `select a.uuid, coalesce(sum(case when s.parent_id is null then s.amount_cents - s.split_cents - s.fee_cents else s.amount_cents end), 0)::bigint as earned
     from account a left join sale s on s.account_id = a.id and s.state = 'PAID' where a.uuid = any($1::uuid[]) group by 1`,
    [accounts.map(({ id }) => id)],
  )
  const earned = new Map(rows.map((row) => [row.uuid, row.earned]))
  for (const { api, id } of accounts)
    expect([id, Math.round((await api.get('/v1.1/balance')).body.available * 100)]).toEqual([id, earned.get(id)])
}

function expectEveryShareFollowed(fates: readonly Fate[]) {
  for (const { shares, followed, settled, state } of fates)
    expect({ state, followed, settled }).toEqual({ state, followed: shares, settled: state === 'PAID' ? shares : 0 })
}

type Kind = 'pay' | 'door' | 'void' | 'renew' | 'sweep' | 'settle' | 'jump'
type Action = { kind: Kind; sales: number[]; service: 0 | 1 }

/** Plays a storm of actions on crosswise shared sales through two processes. */
async function play(accounts: readonly TestAccount[], count: number, kinds: readonly Kind[], actions: number) {
  const sales = await sharedSales(accounts, count)
  const begin = it.clock.now()
  const unexpected: string[] = []
  const done = { voided: 0, renewed: 0 }
  const answered = ({ http, body, text }: Reply, kind: Kind): number => {
    const lost = http === 200 || body.status === 999 || (kind === 'jump' && http === 409)
    if (!lost) unexpected.push(`${kind} ${http} ${text}`)
    return http === 200 ? 1 : 0
  }
  const hands = (service: OtherService): Record<Kind, (places: number[]) => Promise<unknown>> => {
    const apiOf = (at: number) => as(service, accounts[at % accounts.length]!)
    const settledAt = new Date(begin).toISOString()
    return {
      pay: async ([at]) =>
        answered(await apiOf(at!).post(`/v1.1/sandbox/sim/sale/${sales[at!]!.uuid}/paid`, { settledAt }), 'pay'),
      door: (places) =>
        service.door.apply(
          places.map((at, place) =>
            railPayment(it.clock, sales[at]!, { settledAt: begin, ...(place % 3 === 2 ? { amount: 1 } : {}) }),
          ),
        ),
      void: async ([at]) => {
        done.voided += answered(await apiOf(at!).put(`/v1.1/transactions/${sales[at!]!.uuid}/void`), 'void')
      },
      renew: async ([at]) => {
        const path = `/v1.1/checkout/transparent/${sales[at!]!.uuid}`
        done.renewed += answered(await apiOf(at!).put(path, { maxAge: 43_200 }), 'renew')
      },
      async sweep() {
        it.clock.advance(MINUTE_MS)
        await sweepExpiries(service.sweeps)
      },
      settle: () => service.settlements.run(),
      jump: async ([at]) => answered(await apiOf(at!).post('/v1.1/sandbox/clock/advance', { minutes: 7 }), 'jump'),
    }
  }
  const tasks: Action[] = fc.sample(
    fc.record({
      kind: fc.constantFrom(...kinds),
      sales: fc.uniqueArray(fc.nat(count - 1), { minLength: 1, maxLength: 6 }),
      service: fc.constantFrom<0 | 1>(0, 1),
    }),
    { numRuns: actions, seed: SEED },
  )
  const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
    const both = services.map(hands)
    await allAtOnce(tasks, ({ kind, sales: places, service }) => both[service]![kind](places))
    await services[0].settlements.run()
  })
  await it.service.settlements.run()
  return { deadlocks, unexpected, done, fates: await fatesOf(accounts) }
}

describe('accounts that all share with each other, 32 things at once on two processes', () => {
  test('payments, voids, expiries and settlements: every share ends as its sale does', async () => {
    const accounts = await circle(4)
    const played = await play(accounts, 120, ['pay', 'door', 'void', 'sweep', 'settle'], 700)
    expect([played.deadlocks, played.unexpected]).toEqual([0, []])
    expectEveryShareFollowed(played.fates)
    expect(played.fates.map(({ state }) => state)).toEqual(['CANCELLED', 'PAID'])
    expect(played.fates.reduce((all, { n }) => all + n, 0)).toBe(120)
    await expectBalances(accounts)
  })

  test('renewals too', async () => {
    const accounts = await circle(3)
    // Few payments: what is paid is not renewed any more.
    const kinds: Kind[] = ['void', 'void', 'void', 'renew', 'renew', 'renew', 'renew', 'sweep', 'settle', 'pay']
    const played = await play(accounts, 60, kinds, 600)
    expect([played.deadlocks, played.unexpected]).toEqual([0, []])
    console.log('renewed', played.done.renewed)
    expect(played.done.renewed).toBeGreaterThan(0)
    expectEveryShareFollowed(played.fates)
    await expectBalances(accounts)
  })

  test('clocks that jump over sales while those are paid and voided', async () => {
    const accounts = await circle(3)
    const played = await play(accounts, 60, ['jump', 'jump', 'door', 'pay', 'void', 'settle'], 240)
    expect([played.deadlocks, played.unexpected]).toEqual([0, []])
    expectEveryShareFollowed(played.fates)
    await expectBalances(accounts)
  })

  test('only voids against payments, two accounts: each holds what the other waits for', async () => {
    const accounts = await circle(2)
    const played = await play(accounts, 60, ['void', 'door', 'settle'], 400)
    expect([played.deadlocks, played.unexpected]).toEqual([0, []])
    expectEveryShareFollowed(played.fates)
    await expectBalances(accounts)
  })

  test('checkouts, plain and shared, with keys and unique references: each once', async () => {
    const accounts = [...(await circle(2)), ...(await circle(2, { uniqueReferenceCode: true }))]
    const replies: Reply[] = []
    const tasks = Array.from({ length: 240 }, (_, at) => at)
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await allAtOnce(tasks, async (at) => {
        const pair = at % 4 < 2 ? accounts.slice(0, 2) : accounts.slice(2)
        const body = checkoutBody({ referenceCode: `r${at >> 2}`, ...(at % 3 ? { split: legsOf(pair, at) } : {}) })
        const headers = at % 5 ? {} : { 'idempotency-key': `k${at % 20}` }
        const api = as(services[(at >> 1) % 2]!, pair[at % 2]!)
        replies.push(await api.post('/v1.1/checkout/transparent', body, { headers }))
      })
    })
    expect(deadlocks).toBe(0)
    const http = (code: number) => replies.filter((reply) => reply.http === code)
    expect(http(200).length + http(422).length).toBe(240)
    const made = new Set(http(200).map(({ body }) => body.response.uuid))
    const [row] = await it.rows<{ n: number }>(
      `select count(*)::integer as n from sale s join account a on a.id = s.account_id where a.uuid = any($1::uuid[]) and s.parent_id is null`,
      [accounts.map(({ id }) => id)],
    )
    expect(row!.n).toBe(made.size)
    expectEveryShareFollowed(await fatesOf(accounts))
  })

  test('an audit while they work finds nothing wrong', async () => {
    const accounts = await circle(3)
    const sales = await sharedSales(accounts, 45)
    let working = true
    const audited = (async () => {
      let count = 0
      while (working) {
        expect(await findViolations(it.connection)).toEqual([])
        count += 1
      }
      return count
    })()
    await allAtOnce(sales, async (sale, at) => {
      if (at % 3 === 0) await accounts[at % 3]!.api.put(`/v1.1/transactions/${sale.uuid}/void`)
      else await it.service.door.apply([railPayment(it.clock, sale)])
      await it.service.settlements.run()
    })
    working = false
    expect(await audited).toBeGreaterThan(0)
  })
})

describe('a first shared charge, with everything running by itself', () => {
  test('registered, linked, charged, paid, credited and told, with nothing but HTTP', async () => {
    const own = await startTestService({ deliveries: true })
    own.service.settlements.start()
    const receiver = await startReceiver()
    try {
      const registered = await own.api.post('/v1.1/sandbox/register', { name: 'Loja', email: 'loja@example.com' })
      const headersOf = ({ apiKey, apiToken }: { apiKey: string; apiToken: string }) => ({
        'x-api-key': apiKey,
        'x-api-token': apiToken,
      })
      const shop = own.api.as(headersOf(registered.body.credentials))
      const charge = (split: unknown) => shop.post('/v1.1/checkout/transparent', checkoutBody({ split }))
      const linked = await shop.post('/v1.1/sandbox/recipients', { name: 'Ana', document: '529.982.247-25' })
      const ana = own.api.as(headersOf(linked.body.credentials))
      await ana.put('/v1.1/account/notifications', { payment: { url: `${receiver.url}/ana` } })
      await shop.put('/v1.1/account/notifications', { payment: { url: `${receiver.url}/loja` } })

      const { recipientId } = linked.body.recipient
      const split = [{ recipientId, percentage: 33.3333 }]
      expect((await charge(split)).body.main_error_message).toBe('split.notEnabled')
      await shop.put('/v1.1/sandbox/account', { splitEnabled: true })
      expect((await shop.get('/v1.1/split/recipients')).body.recipients).toEqual([
        { recipientId, name: 'Ana', document: '***.982.247-**', status: 'ACTIVE' },
      ])
      const charged = await charge(split)
      expect([charged.http, charged.body.split.parentAmount]).toEqual([200, 66.67])
      await shop.post(`/v1.1/sandbox/sim/sale/${charged.body.response.uuid}/paid`)

      await receiver.received(2)
      const told = new Map(receiver.calls.map(({ url, body }) => [url, body]))
      expect(told.get('/loja')).toMatchObject({ amount: 100, split: { recipients: [{ settlementStatus: 'PENDING' }] } })
      const { saleToken, ...confirmation } = told.get('/ana')
      expect(confirmation).toMatchObject({ amount: 33.33, referenceCode: charged.body.response.uuid })
      await expect
        .poll(async () => (await ana.get(`/v1.1/transactions/${saleToken}`)).body.split.settlementStatus)
        .toBe('SETTLED')
      expect((await ana.get('/v1.1/balance')).body.available).toBe(33.33)
      expect((await shop.get('/v1.1/balance')).body.available).toBe(65.68)
      expect((await ana.get('/v1.1/statement')).body.result).toMatchObject([
        { type: 'SPLIT_CREDIT', saleToken, amount: 33.33, balance: 33.33 },
      ])
      await own.deliver()
      expect(await findViolations(own.connection)).toEqual([])
    } finally {
      await receiver.stop()
      await own.stop()
    }
  })
})

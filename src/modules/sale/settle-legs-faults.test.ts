import { afterEach, describe, expect, test } from 'vitest'
import {
  anotherService,
  deadlocksBetweenTwo,
  loseConnection,
  type OtherService,
  onStatement,
} from '../../../test/harness/faulty-database.ts'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { until } from '../../../test/harness/patience.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { SECOND_MS } from '../../kernel/calendar.ts'

const it = testService()
const settle = () => it.service.settlements.run()
const LEASE_MS = 30 * SECOND_MS

const others: OtherService[] = []
async function another(): Promise<OtherService> {
  const other = await anotherService(it)
  others.push(other)
  return other
}
afterEach(async () => {
  for (const other of others.splice(0)) await other.close()
})

async function recipientOf(parent: TestAccount): Promise<TestAccount> {
  const { body } = await parent.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })
  const { apiKey, apiToken, webhookSecret } = body.credentials
  const api = it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
  await api.put('/v1.1/account/notifications', { payment: { url: 'https://recipient.example/hook' } })
  return { api, id: body.recipient.recipientId, apiKey, apiToken, webhookSecret }
}

async function parentWith(count: number) {
  const parent = await it.given.account({ splitEnabled: true })
  const recipients: TestAccount[] = []
  for (let made = 0; made < count; made += 1) recipients.push(await recipientOf(parent))
  return { parent, recipients }
}

const shares = (recipients: readonly TestAccount[]) => ({
  amount: 300,
  split: recipients.map(({ id }, index) => ({ recipientId: id, amount: index + 1 })),
})

const legsOf = async (parent: TestAccount, sale: Pick<TestSale, 'uuid'>): Promise<string[]> =>
  (await parent.api.get(`/v1.1/transactions/${sale.uuid}`)).body.split.recipients.map(
    (leg: { settlementStatus: string }) => leg.settlementStatus,
  )

/** Of each recipient: lines that credit a share, and confirmations. */
async function effectsOn(recipients: readonly TestAccount[]): Promise<(readonly [credits: number, told: number])[]> {
  const rows = await it.rows<{ credits: number; told: number }>(
    `select (select count(*) from transfer t where t.account_id = a.id and t.code = 21) as credits,
       (select count(*) from notification n where n.account_id = a.id and n.event = 'PAYMENT_CONFIRMATION') as told
     from unnest($1::uuid[]) with ordinality k(uuid, place) join account a using (uuid) order by k.place`,
    [recipients.map(({ id }) => id)],
  )
  return rows.map(({ credits, told }) => [credits, told])
}
const once = (recipients: readonly TestAccount[], times = 1) => recipients.map(() => [times, times])
const messages = async () => (await it.rows<{ n: number }>('select count(*) as n from split_message'))[0]!.n
const operatorSets = async ({ id }: TestAccount, changes: object) =>
  expect((await it.operator.send('PATCH', `/operator/v1/accounts/${id}`, changes)).http).toBe(200)

/** Holds a service just before a statement, or just after it was answered, until it is let go. */
function hold({ db }: Pick<OtherService, 'db'>, statement: string, when: 'before' | 'after' = 'before') {
  let arrive = () => {}
  let letGo = () => {}
  const arrived = new Promise<void>((done) => {
    arrive = done
  })
  const goes = new Promise<void>((done) => {
    letGo = done
  })
  const wait = () => {
    arrive()
    return goes
  }
  onStatement(db, statement, { [when]: wait })
  return { arrived, letGo }
}

describe('a process that dies', () => {
  const steps: [when: 'before' | 'after', statement: string, left: string, effects: [number, number]][] = [
    ['after', 'split_message_take', 'PENDING', [0, 0]],
    ['before', 'sale_find_shares', 'PENDING', [0, 0]],
    ['before', 'sale_take_up_shares', 'PENDING', [0, 0]],
    ['after', 'sale_take_up_shares', 'PROCESSING', [0, 1]],
    ['before', 'sale_credit_shares', 'PROCESSING', [0, 1]],
  ]
  test.each(steps)(
    '%s %s leaves its legs for 30 s; then each is credited and told once',
    async (when, name, left, effects) => {
      const { parent, recipients } = await parentWith(3)
      const sale = await it.given.paidSale(parent, shares(recipients))
      loseConnection(it.service.db, name, when)
      await settle()
      const asLeft = async () => {
        expect(await legsOf(parent, sale)).toEqual(Array(3).fill(left))
        expect(await effectsOn(recipients)).toEqual(Array(3).fill(effects))
        expect(await it.violations()).toEqual([])
      }
      await asLeft()
      it.clock.advance(LEASE_MS - 1)
      await settle()
      await asLeft()
      it.clock.advance(1)
      await (await another()).settlements.run()
      expect(await legsOf(parent, sale)).toEqual(Array(3).fill('SETTLED'))
      expect([await effectsOn(recipients), await messages()]).toEqual([once(recipients), 0])
    },
  )

  test('after the commit of the credit, unheard, leaves nothing to do', async () => {
    const { parent, recipients } = await parentWith(3)
    const sale = await it.given.paidSale(parent, shares(recipients))
    loseConnection(it.service.db, 'sale_credit_shares', 'after')
    await settle()
    expect(await legsOf(parent, sale)).toEqual(Array(3).fill('SETTLED'))
    it.clock.advance(LEASE_MS)
    await settle()
    expect([await effectsOn(recipients), await messages()]).toEqual([once(recipients), 0])
  })

  test('again and again, at every step in turn, still credits once', async () => {
    const { parent, recipients } = await parentWith(2)
    const sale = await it.given.paidSale(parent, shares(recipients))
    for (const [when, name] of [...steps, ['before', 'sale_credit_shares'] as const]) {
      loseConnection(it.service.db, name, when)
      await settle()
      it.clock.advance(LEASE_MS)
    }
    await settle()
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['SETTLED', 'SETTLED'])
    expect(await effectsOn(recipients)).toEqual(once(recipients))
  })

  test.each([
    ['before', 'sale_fail_shares', 'PROCESSING'],
    ['after', 'sale_fail_shares', 'FAILED'],
    ['before', 'split_message_postpone', 'FAILED'],
    ['after', 'split_message_postpone', 'FAILED'],
  ] as const)('%s %s: the leg of a closed recipient is tried again', async (when, name, left) => {
    const { parent, recipients } = await parentWith(1)
    const sale = await it.given.paidSale(parent, shares(recipients))
    await operatorSets(recipients[0]!, { status: 'CLOSED' })
    loseConnection(it.service.db, name, when)
    await settle()
    expect([await legsOf(parent, sale), await messages()]).toEqual([[left], 1])
    await operatorSets(recipients[0]!, { status: 'ACTIVE' })
    it.clock.advance(LEASE_MS)
    await settle()
    expect([await legsOf(parent, sale), await effectsOn(recipients)]).toEqual([['SETTLED'], once(recipients)])
  })

  test('with its legs held: others of the queue are credited meanwhile', async () => {
    const { parent, recipients } = await parentWith(1)
    await it.given.paidSale(parent, shares(recipients))
    loseConnection(it.service.db, 'sale_take_up_shares', 'before')
    await settle()
    const next = await it.given.paidSale(parent, shares(recipients))
    await settle()
    expect([await legsOf(parent, next), await messages()]).toEqual([['SETTLED'], 1])
    it.clock.advance(LEASE_MS)
    await settle()
    expect(await effectsOn(recipients)).toEqual(once(recipients, 2))
  })
})

describe('a payment whose outcome is unknown', () => {
  test('sends each leg on its way once', async () => {
    const { parent, recipients } = await parentWith(3)
    const sale = await it.given.sale(parent, shares(recipients))
    loseConnection(it.service.db, 'door_apply_batch', 'after')
    const [outcome] = await it.service.door.apply([railPayment(it.clock, sale)])
    expect(outcome!.outcome).toBe('duplicate')
    expect(await messages()).toBe(3)
    await settle()
    expect([await legsOf(parent, sale), await effectsOn(recipients)]).toEqual([
      Array(3).fill('SETTLED'),
      once(recipients),
    ])
  })
})

describe('two settlers', () => {
  test('share the messages: what one has taken the other leaves alone', async () => {
    const { parent, recipients } = await parentWith(20)
    for (let made = 0; made < 26; made += 1) await it.given.paidSale(parent, shares(recipients))
    const slow = await another()
    const { arrived, letGo } = hold(slow, 'sale_take_up_shares')
    const working = slow.settlements.run()
    await arrived
    await settle()
    const counted = async () => (await effectsOn(recipients)).reduce((sum, [credits]) => sum + credits, 0)
    expect(await counted()).toBe(20)
    letGo()
    await working
    expect(await effectsOn(recipients)).toEqual(once(recipients, 26))
  })

  test('do not wait for each other: a message that somebody is just taking is passed over', async () => {
    const { parent, recipients } = await parentWith(1)
    const held = await it.given.paidSale(parent, shares(recipients))
    const free = await it.given.paidSale(parent, shares(recipients))
    await it.service.db.inTransaction(async (tx) => {
      const text = `select 1 from split_message where transaction_id in (select transaction_id from split_leg where sale_id = $1) for update`
      await tx.query({ name: '', text }, [held.uuid])
      await settle()
    })
    expect([await legsOf(parent, held), await legsOf(parent, free)]).toEqual([['PENDING'], ['SETTLED']])
    await settle()
    expect(await effectsOn(recipients)).toEqual(once(recipients, 2))
  })

  test('at once, many times over: each leg is credited and told once', async () => {
    const { parent, recipients } = await parentWith(20)
    const sales: TestSale[] = []
    for (let made = 0; made < 15; made += 1) sales.push(await it.given.paidSale(parent, shares(recipients)))
    const services = [await another(), await another(), it.service]
    await Promise.all([...services, ...services].map(({ settlements }) => settlements.run()))
    await settle()
    expect(await effectsOn(recipients)).toEqual(once(recipients, 15))
    expect(await messages()).toBe(0)
  })

  test.each([
    ['before', 'sale_find_shares'],
    ['before', 'sale_take_up_shares'],
    ['after', 'sale_take_up_shares'],
    ['before', 'sale_credit_shares'],
    ['after', 'sale_credit_shares'],
  ] as const)(
    'with the same messages, since the first stood still for longer than its lease %s %s: once',
    async (when, name) => {
      const { parent, recipients } = await parentWith(3)
      const sale = await it.given.paidSale(parent, shares(recipients))
      const slow = await another()
      const { arrived, letGo } = hold(slow, name, when)
      const working = slow.settlements.run()
      await arrived
      it.clock.advance(LEASE_MS)
      await settle()
      expect(await legsOf(parent, sale)).toEqual(Array(3).fill('SETTLED'))
      letGo()
      await working
      expect(await legsOf(parent, sale)).toEqual(Array(3).fill('SETTLED'))
      expect([await effectsOn(recipients), await messages()]).toEqual([once(recipients), 0])
    },
  )

  test('of which one failed a leg that the other still meant to credit: it is credited later, not forgotten', async () => {
    const { parent, recipients } = await parentWith(2)
    const sale = await it.given.paidSale(parent, shares(recipients))
    const slow = await another()
    const { arrived, letGo } = hold(slow, 'sale_credit_shares')
    const working = slow.settlements.run()
    await arrived
    await operatorSets(recipients[0]!, { status: 'CLOSED' })
    it.clock.advance(LEASE_MS)
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['FAILED', 'SETTLED'])
    await operatorSets(recipients[0]!, { status: 'ACTIVE' })
    letGo()
    await working
    expect([await legsOf(parent, sale), await messages()]).toEqual([['FAILED', 'SETTLED'], 1])
    it.clock.advance(10 * SECOND_MS)
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['SETTLED', 'SETTLED'])
    expect([await effectsOn(recipients), await messages()]).toEqual([once(recipients), 0])
  })

  test('and payments crosswise: nobody waits for another in a circle', async () => {
    const accounts = await Promise.all(Array.from({ length: 6 }, () => it.given.account({ splitEnabled: true })))
    for (const parent of accounts)
      for (const { id } of accounts.filter((one) => one !== parent))
        await it.operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId: id })
    const SALES = 120
    const sales = await Promise.all(
      Array.from({ length: SALES }, (_, at) => {
        const parent = accounts[at % accounts.length]!
        const all = [...accounts, ...accounts].slice(at % 5, (at % 5) + 6).filter((one) => one !== parent)
        return it.given.sale(parent, shares(at % 2 === 0 ? all : all.reverse()))
      }),
    )
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      let paying = true
      const settling = services.map(async ({ settlements }) => {
        while (paying) await settlements.run()
      })
      const lane = async (from: number) => {
        for (let at = from; at < SALES; at += 12)
          await services[at % 2]!.door.apply(
            sales.slice(at, at + 4 > SALES ? SALES : at + 4).map((sale) => railPayment(it.clock, sale)),
          )
      }
      await Promise.all([0, 4, 8].map(lane))
      paying = false
      await Promise.all(settling)
    })
    expect(deadlocks).toBe(0)
    await settle()
    const [left] = await it.rows<{ n: number }>(
      `select count(*) as n from split_leg l join sale c on c.account_id = l.recipient_account_id and c.id = l.transaction_id
       where l.sale_id = any($1::uuid[]) and c.settlement <> 'SETTLED'`,
      [sales.map(({ uuid }) => uuid)],
    )
    expect([left!.n, await messages()]).toEqual([0, 0])
  })
})

describe('a credit and a payment of the same recipients', () => {
  test('meet at every hour in the same order', async () => {
    const { parent, recipients } = await parentWith(5)
    await it.given.paidSale(parent, shares(recipients))
    const unpaid = await it.given.sale(parent, shares(recipients))
    const waiting = async (count: number) => {
      const [found] = await it.rows<{ n: number }>(
        `select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return found!.n === count
    }
    const deadlocks = await deadlocksBetweenTwo(it, async ([payer, settler]) => {
      let both: Promise<unknown> | undefined
      // Both come to the hour in the middle, from whichever side, and wait there for a third.
      await it.service.db.inTransaction(async (tx) => {
        const text = `select 1 from sale_hour where account_id = (select id from account where uuid = $1) for update`
        await tx.query({ name: '', text }, [recipients[2]!.id])
        const paid = payer.door.apply([railPayment(it.clock, unpaid)])
        await until(() => waiting(1))
        const settled = settler.settlements.run()
        await until(() => waiting(2))
        both = Promise.all([paid, settled])
      })
      await both
    })
    expect(deadlocks).toBe(0)
    await settle()
    expect(await effectsOn(recipients)).toEqual(once(recipients, 2))
  })
})

describe('a settler whose database is away', () => {
  test('goes on when it is back', async () => {
    const { parent, recipients } = await parentWith(1)
    const sale = await it.given.sale(parent, shares(recipients))
    await pay(parent, sale)
    loseConnection(it.service.db, 'split_message_take', 'before', 2)
    const troubles = () => it.logged.filter(({ doing }) => doing === 'settle shares').length
    const before = troubles()
    await settle()
    await settle()
    expect([troubles() - before, await legsOf(parent, sale)]).toEqual([2, ['PENDING']])
    await settle()
    expect(await effectsOn(recipients)).toEqual(once(recipients))
  })
})

import { afterEach, describe, expect, test, vi } from 'vitest'
import { anotherService, type OtherService, onStatement } from '../../../test/harness/faulty-database.ts'
import { pay, situationOf, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS, SECOND_MS } from '../../kernel/calendar.ts'
import { backOffMs } from './settle-legs.ts'

const it = testService()
const settle = () => it.service.settlements.run()

const HOOK = { payment: { url: 'https://recipient.example/hook' } }

async function recipientOf(parent: TestAccount, { told = false } = {}): Promise<TestAccount> {
  const { body } = await parent.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })
  const { apiKey, apiToken, webhookSecret } = body.credentials
  const api = it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
  if (told) expect((await api.put('/v1.1/account/notifications', HOOK)).http).toBe(200)
  return { api, id: body.recipient.recipientId, apiKey, apiToken, webhookSecret }
}

async function parentWith(count: number, told = false) {
  const parent = await it.given.account({ splitEnabled: true })
  const recipients: TestAccount[] = []
  for (let made = 0; made < count; made += 1) recipients.push(await recipientOf(parent, { told }))
  return { parent, recipients }
}

/** 1.00 for the first recipient, 2.00 for the second and so on. */
const shares = (recipients: readonly TestAccount[]) => ({
  amount: 300,
  split: recipients.map(({ id }, index) => ({ recipientId: id, amount: index + 1 })),
})

const balanceOf = async (account: TestAccount) => (await account.api.get('/v1.1/balance')).body.balance
const balancesOf = (accounts: readonly TestAccount[]) => Promise.all(accounts.map(balanceOf))
const linesOf = async (account: TestAccount) =>
  (await account.api.get('/v1.1/statement')).body.result.map((line: Record<string, unknown>) => [
    line['type'],
    line['amount'],
    line['balance'],
  ])
const blockOf = async (parent: TestAccount, sale: Pick<TestSale, 'uuid'>) =>
  (await parent.api.get(`/v1.1/transactions/${sale.uuid}`)).body.split
const legsOf = async (parent: TestAccount, sale: Pick<TestSale, 'uuid'>): Promise<string[]> =>
  (await blockOf(parent, sale)).recipients.map((leg: { settlementStatus: string }) => leg.settlementStatus)
/** A recipient's only transaction. */
const ownTransaction = async (recipient: TestAccount) => {
  const { body } = await recipient.api.get('/v1.1/transactions')
  expect(body.totalElements).toBe(1)
  return (await recipient.api.get(`/v1.1/transactions/${body.result[0].uuid}`)).body
}
const confirmationsOf = async (account: TestAccount) =>
  (
    await it.rows<{ event: string; payload: string }>(
      `select n.event, n.payload from notification n join account a on a.id = n.account_id where a.uuid = $1 order by n.id`,
      [account.id],
    )
  ).map(({ event, payload }) => ({ event, ...JSON.parse(payload) }))
const messagesOf = (account: TestAccount) =>
  it.rows<{ due_at: number; tries: number }>(
    `select m.due_at, m.tries from split_message m join account a on a.id = m.account_id where a.uuid = $1`,
    [account.id],
  )
const creditsOf = async (accounts: readonly TestAccount[]) =>
  (
    await it.rows<{ n: number }>(
      `select count(t.code) as n from unnest($1::uuid[]) with ordinality k(uuid, place) join account a using (uuid)
       left join transfer t on t.account_id = a.id and t.code = 21 group by k.place order by k.place`,
      [accounts.map(({ id }) => id)],
    )
  ).map(({ n }) => n)
const inTransit = async () =>
  (await it.rows<{ cents: number }>('select sum(transit_cr - transit_dr)::bigint as cents from book'))[0]!.cents
const operatorSets = async ({ id }: TestAccount, changes: object) =>
  expect((await it.operator.send('PATCH', `/operator/v1/accounts/${id}`, changes)).http).toBe(200)

/** The statement that repeats a message, as a queue that delivers at least once would. */
const repeatMessages = (sale: Pick<TestSale, 'uuid'>) =>
  it.rows(
    `insert into split_message (account_id, transaction_id, due_at)
     select recipient_account_id, transaction_id, $2 from split_leg where sale_id = $1`,
    [sale.uuid, new Date(it.clock.now()).toISOString()],
  )

const others: OtherService[] = []
async function another(): Promise<OtherService> {
  const other = await anotherService(it)
  others.push(other)
  return other
}
afterEach(async () => {
  for (const other of others.splice(0)) await other.close()
})

/** Something to wait for, and the one who lets it go on. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((done) => {
    open = done
  })
  return { opened, open }
}

describe('a leg of a paid sale', () => {
  test('is taken up in one commit and credited in the next; the books are right at every step', async () => {
    const { parent, recipients } = await parentWith(2, true)
    const sale = await it.given.paidSale(parent, shares(recipients))
    const seen: unknown[] = []
    const look = async () =>
      seen.push({
        legs: await legsOf(parent, sale),
        recipients: await Promise.all(
          recipients.map(async (one) => (await ownTransaction(one)).split.settlementStatus),
        ),
        balances: await balancesOf(recipients),
        told: (await Promise.all(recipients.map(confirmationsOf))).map(({ length }) => length),
        inTransit: await inTransit(),
        violations: await it.violations(),
      })
    onStatement(it.service.db, 'sale_take_up_shares', { before: look })
    onStatement(it.service.db, 'sale_credit_shares', { before: look })
    await settle()
    await look()
    const under = (state: string, told: number) => ({
      legs: [state, state],
      recipients: [state, state],
      balances: [0, 0],
      told: [told, told],
      inTransit: 300,
      violations: [],
    })
    expect(seen).toEqual([
      under('PENDING', 0),
      under('PROCESSING', 1),
      {
        legs: ['SETTLED', 'SETTLED'],
        recipients: ['SETTLED', 'SETTLED'],
        balances: [1, 2],
        told: [1, 1],
        inTransit: 0,
        violations: [],
      },
    ])
  })

  test("shows in its recipient's balance and statement; the parent's has what is left, then the fee", async () => {
    const { parent, recipients } = await parentWith(3)
    const sale = await it.given.paidSale(parent, shares(recipients))
    expect(await linesOf(parent)).toEqual([
      ['FEE', -2.97, 291.03],
      ['SALE', 294, 294],
    ])
    await settle()
    expect(await linesOf(parent)).toHaveLength(2)
    expect(await Promise.all(recipients.map(linesOf))).toEqual([
      [['SPLIT_CREDIT', 1, 1]],
      [['SPLIT_CREDIT', 2, 2]],
      [['SPLIT_CREDIT', 3, 3]],
    ])
    const [, second] = (await blockOf(parent, sale)).recipients
    const [line] = (await recipients[1]!.api.get('/v1.1/statement')).body.result
    expect([line.saleToken, (await ownTransaction(recipients[1]!)).uuid]).toEqual(Array(2).fill(second.transactionId))
  })

  test('tells its recipient when it is taken up, with PROCESSING frozen in it; the parent was told PENDING', async () => {
    const { parent, recipients } = await parentWith(1, true)
    await parent.api.put('/v1.1/account/notifications', HOOK)
    const sale = await it.given.paidSale(parent, shares(recipients))
    await settle()
    const [leg] = (await blockOf(parent, sale)).recipients
    expect(await confirmationsOf(recipients[0]!)).toMatchObject([
      {
        event: 'PAYMENT_CONFIRMATION',
        saleToken: leg.transactionId,
        referenceCode: sale.uuid,
        amount: 1,
        newStatus: 'PAID',
        split: { role: 'RECIPIENT', origin: 'SPLIT', amountReceived: 1, settlementStatus: 'PROCESSING' },
      },
    ])
    const [told] = await confirmationsOf(parent)
    expect(told.split.recipients).toMatchObject([{ settlementStatus: 'PENDING' }])
  })

  test('of a recipient without an address is credited all the same', async () => {
    const { parent, recipients } = await parentWith(2)
    await recipients[1]!.api.put('/v1.1/account/notifications', HOOK)
    await it.given.paidSale(parent, shares(recipients))
    await settle()
    expect(await balancesOf(recipients)).toEqual([1, 2])
    expect((await Promise.all(recipients.map(confirmationsOf))).map(({ length }) => length)).toEqual([0, 1])
  })

  test('is credited although its recipient was deactivated or suspended after the checkout', async () => {
    const { parent, recipients } = await parentWith(3)
    const sale = await it.given.sale(parent, shares(recipients))
    const off = await parent.api.put(`/v1.1/sandbox/recipients/${recipients[0]!.id}`, { active: false })
    expect(off.body.recipient.status).toBe('INACTIVE')
    await operatorSets(recipients[1]!, { status: 'SUSPENDED' })
    await pay(parent, sale)
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['SETTLED', 'SETTLED', 'SETTLED'])
    expect(await creditsOf(recipients)).toEqual([1, 1, 1])
  })

  test("is booked by its recipient's clock", async () => {
    const { parent, recipients } = await parentWith(2)
    const sale = await it.given.sale(parent, shares(recipients))
    expect((await recipients[1]!.api.post('/v1.1/sandbox/clock/advance', { hours: 5 })).http).toBe(200)
    await pay(parent, sale)
    it.clock.advance(2 * SECOND_MS)
    await settle()
    const dates = await Promise.all(
      [parent, ...recipients].map(async ({ api }) => (await api.get('/v1.1/statement')).body.result[0].date),
    )
    const at = (seconds: number) => expect.stringMatching(new RegExp(`:0${seconds}$`))
    expect(dates).toEqual([at(0), at(2), at(2)])
    const hour = (date: string) => Number(date.slice(11, 13))
    expect([hour(dates[1]!) - hour(dates[0]!), hour(dates[2]!) - hour(dates[0]!)]).toEqual([0, 5])
    expect((await ownTransaction(recipients[1]!)).processingDate).toBe(dates[2])
  })

  test('is one of hundreds: everything due is credited, a batch after the other', async () => {
    const { parent, recipients } = await parentWith(20)
    for (let made = 0; made < 26; made += 1) await it.given.paidSale(parent, shares(recipients))
    const takes = onStatement(it.service.db, 'split_message_take', {}, 10)
    await settle()
    expect(10 - takes.left()).toBe(2)
    expect(await balancesOf(recipients)).toEqual(recipients.map((_, index) => 26 * (index + 1)))
  })
})

describe('nothing is credited', () => {
  test('while the sale is unpaid', async () => {
    const { parent, recipients } = await parentWith(2, true)
    const sale = await it.given.sale(parent, shares(recipients))
    await settle()
    it.clock.advance(MINUTE_MS)
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['PENDING', 'PENDING'])
    expect([await creditsOf(recipients), await balancesOf(recipients)]).toEqual([
      [0, 0],
      [0, 0],
    ])
    expect(await confirmationsOf(recipients[0]!)).toEqual([])
    expect(await inTransit()).toBe(0)
  })

  test.each<[string, (parent: TestAccount, sale: TestSale) => Promise<unknown>]>([
    ['voided', (parent, sale) => parent.api.put(`/v1.1/transactions/${sale.uuid}/void`)],
    [
      'expired',
      async () => {
        it.clock.advance(6 * MINUTE_MS)
        await it.sweep()
      },
    ],
    ['paid with another amount', (parent, sale) => pay(parent, sale, { amount: 299.99 })],
  ])('when it was %s', async (_, fate) => {
    const { parent, recipients } = await parentWith(2)
    const sale = await it.given.sale(parent, { ...shares(recipients), maxAge: 5 })
    await fate(parent, sale)
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['PENDING', 'PENDING'])
    expect([await creditsOf(recipients), await messagesOf(recipients[0]!)]).toEqual([[0, 0], []])
  })

  test('though a message of it should come all the same: neither credited nor told', async () => {
    const { parent, recipients } = await parentWith(2, true)
    const sale = await it.given.sale(parent, shares(recipients))
    await repeatMessages(sale)
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['PENDING', 'PENDING'])
    expect([await creditsOf(recipients), await confirmationsOf(recipients[0]!)]).toEqual([[0, 0], []])
    await it.rows('delete from split_message')
  })

  test('for a payment that comes after the void, until the sale is renewed and paid', async () => {
    const { parent, recipients } = await parentWith(1)
    const sale = await it.given.cancelledSale(parent, shares(recipients))
    await it.service.door.apply([railPayment(it.clock, sale)])
    await settle()
    expect(await creditsOf(recipients)).toEqual([0])
    expect((await parent.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 60 })).http).toBe(200)
    await pay(parent, sale)
    await settle()
    expect([await creditsOf(recipients), await legsOf(parent, sale)]).toEqual([[1], ['SETTLED']])
  })
})

describe('a message that comes again', () => {
  test('finds its leg settled: nothing is credited or told twice, and the message is gone', async () => {
    const { parent, recipients } = await parentWith(3, true)
    const sale = await it.given.paidSale(parent, shares(recipients))
    await settle()
    for (let times = 0; times < 3; times += 1) {
      await repeatMessages(sale)
      await settle()
      expect(await messagesOf(recipients[0]!)).toEqual([])
    }
    expect([await creditsOf(recipients), await balancesOf(recipients)]).toEqual([
      [1, 1, 1],
      [1, 2, 3],
    ])
    expect(await legsOf(parent, sale)).toEqual(['SETTLED', 'SETTLED', 'SETTLED'])
    expect((await Promise.all(recipients.map(confirmationsOf))).map(({ length }) => length)).toEqual([1, 1, 1])
  })

  test('is gone too when its recipient was closed meanwhile, and the leg stays settled', async () => {
    const { parent, recipients } = await parentWith(1)
    const sale = await it.given.paidSale(parent, shares(recipients))
    await settle()
    await operatorSets(recipients[0]!, { status: 'CLOSED' })
    await repeatMessages(sale)
    await settle()
    expect([await legsOf(parent, sale), await messagesOf(recipients[0]!)]).toEqual([['SETTLED'], []])
  })

  test('together with messages of others: only theirs are credited', async () => {
    const { parent, recipients } = await parentWith(2)
    const first = await it.given.paidSale(parent, shares(recipients))
    await settle()
    const second = await it.given.paidSale(parent, shares(recipients))
    await repeatMessages(first)
    await settle()
    expect([await creditsOf(recipients), await legsOf(parent, second)]).toEqual([
      [2, 2],
      ['SETTLED', 'SETTLED'],
    ])
  })
})

describe('a closed recipient', () => {
  test('makes its leg FAILED: its money stays in transit, its neighbours are credited', async () => {
    const { parent, recipients } = await parentWith(3)
    const sale = await it.given.paidSale(parent, shares(recipients))
    await operatorSets(recipients[1]!, { status: 'CLOSED' })
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['SETTLED', 'FAILED', 'SETTLED'])
    expect([await creditsOf(recipients), await inTransit()]).toEqual([[1, 0, 1], 200])
    await operatorSets(recipients[1]!, { status: 'ACTIVE' })
    it.clock.advance(5 * SECOND_MS)
    await settle()
    expect(await inTransit()).toBe(0)
  })

  test('is tried again after 5 s, then after twice as long each time, at most an hour', async () => {
    const { parent, recipients } = await parentWith(1)
    const [recipient] = recipients as [TestAccount]
    const sale = await it.given.paidSale(parent, shares(recipients))
    await operatorSets(recipient, { status: 'CLOSED' })
    const waits: number[] = []
    await settle()
    for (let tries = 1; tries <= 13; tries += 1) {
      const [message] = await messagesOf(recipient)
      expect(message!.tries).toBe(tries)
      waits.push((message!.due_at - it.clock.now()) / SECOND_MS)
      it.clock.advance(message!.due_at - it.clock.now() - 1)
      await settle()
      expect(await messagesOf(recipient)).toEqual([message])
      it.clock.advance(1)
      await settle()
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600, 3_600])
    expect(await legsOf(parent, sale)).toEqual(['FAILED'])
    await operatorSets(recipient, { status: 'ACTIVE' })
    it.clock.advance(3_600 * SECOND_MS)
    await settle()
    expect([await legsOf(parent, sale), await creditsOf(recipients)]).toEqual([['SETTLED'], [1]])
  })

  test('the back-off stays an hour however often it was tried', () => expect(backOffMs(5_000)).toBe(3_600 * SECOND_MS))

  test('is credited after it was opened again, by way of PROCESSING, and is told once', async () => {
    const { parent, recipients } = await parentWith(1, true)
    const [recipient] = recipients as [TestAccount]
    const sale = await it.given.paidSale(parent, shares(recipients))
    await operatorSets(recipient, { status: 'CLOSED' })
    await settle()
    expect(await confirmationsOf(recipient)).toHaveLength(1)
    await operatorSets(recipient, { status: 'ACTIVE' })
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['FAILED'])
    it.clock.advance(5 * SECOND_MS)
    const between: string[] = []
    onStatement(it.service.db, 'sale_credit_shares', {
      before: async () => between.push(...(await legsOf(parent, sale))),
    })
    await settle()
    expect([between, await legsOf(parent, sale), await balanceOf(recipient)]).toEqual([['PROCESSING'], ['SETTLED'], 1])
    expect(await confirmationsOf(recipient)).toHaveLength(1)
  })
})

describe('a leg that the database refuses', () => {
  const poison = async ({ id }: TestAccount, table: string, condition: string) => {
    const [account] = await it.rows<{ id: number }>('select id from account where uuid = $1', [id])
    await it.rows(
      `alter table ${table} add constraint poison check (account_id <> ${account!.id} or ${condition}) not valid`,
    )
  }
  const cure = (table: string) => it.rows(`alter table ${table} drop constraint if exists poison`)
  const warned = () => it.logged.filter(({ doing }) => doing === 'credit a share' || doing === 'take up a share').length
  afterEach(async () => {
    await cure('book')
    await cure('notification')
  })

  test('at its credit fails alone; every other of its batch is credited', async () => {
    const { parent, recipients } = await parentWith(7, true)
    const sale = await it.given.paidSale(parent, shares(recipients))
    await poison(recipients[4]!, 'book', 'available_cr = 0')
    const before = warned()
    await settle()
    const others = await legsOf(parent, sale)
    expect(others.splice(4, 1)).toEqual(['FAILED'])
    expect(others).toEqual(Array(6).fill('SETTLED'))
    expect([await creditsOf(recipients), await inTransit()]).toEqual([[1, 1, 1, 1, 0, 1, 1], 500])
    expect(warned()).toBe(before + 1)

    await cure('book')
    await settle()
    expect((await legsOf(parent, sale))[4]).toBe('FAILED')
    it.clock.advance(5 * SECOND_MS)
    await settle()
    expect([(await legsOf(parent, sale))[4], await creditsOf(recipients)]).toEqual(['SETTLED', Array(7).fill(1)])
    expect(await confirmationsOf(recipients[4]!)).toHaveLength(1)
  })

  test('when it is taken up waits alone, untold; every other of its batch is credited', async () => {
    const { parent, recipients } = await parentWith(7, true)
    const sale = await it.given.paidSale(parent, shares(recipients))
    await poison(recipients[2]!, 'notification', 'false')
    const before = warned()
    await settle()
    expect(await legsOf(parent, sale)).toEqual([...Array(2).fill('SETTLED'), 'PENDING', ...Array(4).fill('SETTLED')])
    expect([await creditsOf(recipients), warned()]).toEqual([[1, 1, 0, 1, 1, 1, 1], before + 1])

    await cure('notification')
    it.clock.advance(5 * SECOND_MS)
    await settle()
    expect(await creditsOf(recipients)).toEqual(Array(7).fill(1))
    expect((await Promise.all(recipients.map(confirmationsOf))).map(({ length }) => length)).toEqual(Array(7).fill(1))
  })
})

describe('a settler at work', () => {
  const allSettled = async (parent: TestAccount, sale: TestSale) =>
    (await legsOf(parent, sale)).every((state) => state === 'SETTLED')

  test('finds what is due by looking, whoever was paid', async () => {
    const { parent, recipients } = await parentWith(2)
    const other = await another()
    other.settlements.start()
    const sale = await it.given.paidSale(parent, shares(recipients))
    await vi.waitUntil(() => allSettled(parent, sale), { timeout: 30_000 })
    const later = await it.given.paidSale(parent, shares(recipients))
    await vi.waitUntil(() => allSettled(parent, later), { timeout: 30_000 })
    expect(await creditsOf(recipients)).toEqual([2, 2])
  })

  test.each([
    ['alone', {}],
    ['with an Idempotency-Key', { 'idempotency-key': 'poke' }],
  ])('is poked after the commit of a payment %s: it waits for no look', async (_, headers) => {
    const { parent, recipients } = await parentWith(2)
    const other = await another()
    // Its look is planned on a clock that never moves.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    other.settlements.start()
    vi.useRealTimers()
    const sale = await it.given.sale(parent, shares(recipients))
    const found: string[] = []
    onStatement(other.db, 'split_message_take', { before: async () => found.push(await situationOf(parent, sale)) })
    const { apiKey, apiToken } = parent
    const api = other.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
    const paid = await api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, undefined, { headers })
    expect(paid.body.sale.situation).toBe('PAID')
    await vi.waitUntil(() => allSettled(parent, sale), { timeout: 30_000 })
    expect([found, await creditsOf(recipients)]).toEqual([['PAID'], [1, 1]])
  })

  test('that is poked while it works looks once more', async () => {
    const { parent, recipients } = await parentWith(1)
    const first = await it.given.paidSale(parent, shares(recipients))
    let second: TestSale | undefined
    let again: Promise<void> | undefined
    onStatement(it.service.db, 'sale_credit_shares', {
      before: async () => {
        second = await it.given.paidSale(parent, shares(recipients))
        again = settle()
      },
    })
    await settle()
    await again
    expect([await legsOf(parent, first), await legsOf(parent, second!)]).toEqual([['SETTLED'], ['SETTLED']])
  })

  test('that rests is not woken by a payment', async () => {
    const { parent, recipients } = await parentWith(1)
    const sale = await it.given.sale(parent, shares(recipients))
    const takes = onStatement(it.service.db, 'split_message_take', {})
    await pay(parent, sale)
    it.service.settlements.poke()
    expect(takes.left()).toBe(1)
    await settle()
    expect(await legsOf(parent, sale)).toEqual(['SETTLED'])
  })

  test('that is stopped ends the batch under way and takes no other', async () => {
    const { parent, recipients } = await parentWith(20)
    for (let made = 0; made < 26; made += 1) await it.given.paidSale(parent, shares(recipients))
    const other = await another()
    const [reached, release] = [gate(), gate()]
    onStatement(other.db, 'sale_credit_shares', {
      before: () => {
        reached.open()
        return release.opened
      },
    })
    void other.settlements.run()
    await reached.opened
    let ended = false
    const stopped = other.settlements.stop().then(() => {
      ended = true
    })
    expect((await creditsOf(recipients)).reduce((sum, n) => sum + n)).toBe(0)
    expect(ended).toBe(false)
    release.open()
    await stopped
    expect((await creditsOf(recipients)).reduce((sum, n) => sum + n)).toBe(500)
    await other.settlements.run()
    expect((await creditsOf(recipients)).reduce((sum, n) => sum + n)).toBe(500)
    await settle()
    expect(await creditsOf(recipients)).toEqual(Array(20).fill(26))
  })
  test('of a service that is closed ends its batch first', async () => {
    const { parent, recipients } = await parentWith(2)
    const sale = await it.given.paidSale(parent, shares(recipients))
    const other = await anotherService(it)
    const [reached, release] = [gate(), gate()]
    onStatement(other.db, 'sale_credit_shares', {
      before: () => {
        reached.open()
        return release.opened
      },
    })
    other.settlements.start()
    await reached.opened
    const closed = other.close()
    // Whoever is still busy with the batch has the database until then.
    await balancesOf(recipients)
    release.open()
    await closed
    expect(await legsOf(parent, sale)).toEqual(['SETTLED', 'SETTLED'])
  })
})

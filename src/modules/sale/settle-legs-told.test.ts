import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { loseConnection } from '../../../test/harness/faulty-database.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { type Receiver, startReceiver } from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { SECOND_MS } from '../../kernel/calendar.ts'

const it = testService({ deliveries: true })
const settle = () => it.service.settlements.run()
const LEASE_MS = 30 * SECOND_MS
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterEach(() => {
  // A slot that nobody gives back would starve its account in the end.
  expect(it.service.deliveries.inFlight()).toBe(0)
})
afterAll(() => receiver.stop())

async function sharedSale(count: number) {
  const parent = await it.given.account({ splitEnabled: true })
  const recipients: TestAccount[] = []
  for (let made = 0; made < count; made += 1) {
    const { body } = await parent.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })
    const { apiKey, apiToken, webhookSecret } = body.credentials
    const api = it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
    await api.put('/v1.1/account/notifications', { payment: { url: `${receiver.url}/recipient` } })
    recipients.push({ api, id: body.recipient.recipientId, apiKey, apiToken, webhookSecret })
  }
  await parent.api.put('/v1.1/account/notifications', { payment: { url: `${receiver.url}/parent` } })
  const split = recipients.map(({ id }, index) => ({ recipientId: id, amount: index + 1 }))
  const sale = await it.given.paidSale(parent, { amount: 300, split })
  await it.deliver()
  const block = (await parent.api.get(`/v1.1/transactions/${sale.uuid}`)).body.split
  return { recipients, transactions: block.recipients.map((leg: { transactionId: string }) => leg.transactionId) }
}

/** What each of the transactions was told, by the calls that arrived. */
const heardOf = (transactions: readonly string[]) =>
  transactions.map((id) =>
    receiver.calls
      .filter(({ url, body }) => url === '/recipient' && body.saleToken === id)
      .map(({ body }) => body.split.settlementStatus),
  )
const creditedOnce = async (recipients: readonly TestAccount[]) =>
  (await Promise.all(recipients.map(async ({ api }) => (await api.get('/v1.1/balance')).body.balance))).every(
    (balance, index) => balance === index + 1,
  )

describe('a recipient with an address', () => {
  test('hears of its share right after it was taken up, once; nothing waits for a look', async () => {
    const { recipients, transactions } = await sharedSale(3)
    expect(heardOf(transactions)).toEqual([[], [], []])
    await settle()
    await it.service.deliveries.idle()
    expect(heardOf(transactions)).toEqual(Array(3).fill(['PROCESSING']))
    await it.deliver()
    expect(heardOf(transactions)).toEqual(Array(3).fill(['PROCESSING']))
    expect(await creditedOnce(recipients)).toBe(true)
  })

  test('hears of it once when the connection breaks after the take-up was committed', async () => {
    const { recipients, transactions } = await sharedSale(3)
    loseConnection(it.service.db, 'sale_take_up_shares', 'after')
    await settle()
    await it.deliver()
    expect(heardOf(transactions)).toEqual(Array(3).fill(['PROCESSING']))
    it.clock.advance(LEASE_MS)
    await settle()
    await it.deliver()
    expect(heardOf(transactions)).toEqual(Array(3).fill(['PROCESSING']))
    expect(await creditedOnce(recipients)).toBe(true)
  })

  test('hears of it once when the connection breaks before', async () => {
    const { recipients, transactions } = await sharedSale(3)
    loseConnection(it.service.db, 'sale_take_up_shares', 'before')
    await settle()
    await it.deliver()
    expect(heardOf(transactions)).toEqual([[], [], []])
    it.clock.advance(LEASE_MS)
    await settle()
    await it.deliver()
    expect(heardOf(transactions)).toEqual(Array(3).fill(['PROCESSING']))
    expect(await creditedOnce(recipients)).toBe(true)
  })

  test('hears of it once when somebody else took its share up first', async () => {
    const { recipients, transactions } = await sharedSale(2)
    const { db } = it.service
    const query = db.query
    let again = true
    // The second take-up begins just before the first one is sent.
    db.query = async (asked, values) => {
      if (asked.name === 'sale_take_up_shares' && again) {
        again = false
        await query(asked, values)
      }
      return query(asked, values)
    }
    await settle()
    db.query = query
    await it.deliver()
    it.clock.advance(LEASE_MS)
    await it.deliver()
    expect(heardOf(transactions).map(({ length }) => length)).toEqual([1, 1])
    expect(await creditedOnce(recipients)).toBe(true)
  })
})

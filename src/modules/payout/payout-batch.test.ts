import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { moneyOf, payoutBody } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()

/** 99.01 available. */
async function shop(settings: Record<string, unknown> = {}): Promise<TestAccount> {
  const account = await it.given.account({ autoSettle: false, ...settings })
  await it.given.paidSale(account)
  return account
}
const batch = (account: TestAccount, payments: unknown, headers: Record<string, string> = {}) =>
  account.api.post('/v1.1/payout/create/batch', { payments }, { headers })
const of = (...amounts: number[]) => amounts.map((amount) => payoutBody({ amount }))
const amountsOf = (body: { result: { amount: number }[] }) => body.result.map(({ amount }) => amount)
const notCovered = [
  {
    field: 'amount',
    message: 'the balance does not cover the amount and its fee',
    code: 'payout.insufficientBalance',
  },
]

describe('a batch of payouts', () => {
  test('makes all of them, in order, each as if it were alone', async () => {
    const account = await shop({ fees: { PAYOUT: { fixed: 1 } } })
    const { http, body } = await batch(account, of(10, 20, 30))
    expect([http, Object.keys(body)]).toEqual([200, ['status', 'message', 'result']])
    expect([body.status, body.message, amountsOf(body)]).toEqual([0, 'success', [10, 20, 30]])
    for (const payout of body.result) {
      expect(payout).toMatchObject({ type: 'PAYOUT', situation: 'PENDING', serviceFee: 1 })
      expect((await account.api.get(`/v1.1/payout/${payout.uuid}`)).body).toMatchObject(payout)
    }
    expect(new Set(body.result.flatMap(({ id, uuid }: { id: number; uuid: string }) => [id, uuid])).size).toBe(6)
    expect(await moneyOf(account)).toEqual({ available: 36.01, blocked: 60 })
  })

  test('makes what it can: each sees what those before it have left, a smaller one behind may still fit', async () => {
    const account = await shop()
    const { http, body } = await batch(account, of(60, 50, 39.01, 0.01))
    expect([http, body.status, body.message, amountsOf(body)]).toEqual([200, 1, 'partial success', [60, 39.01]])
    expect(body.rejectedItems).toEqual([
      { index: 1, errors: notCovered },
      { index: 3, errors: notCovered },
    ])
    expect(await moneyOf(account)).toEqual({ available: 0, blocked: 99.01 })
  })

  test('names every fault of every item that cannot be read, and makes the others', async () => {
    const account = await shop()
    const items = [payoutBody({ amount: 0, currency: 'USD' }), ...of(10), 'nothing', null, payoutBody({ notes: 7 })]
    const { body } = await batch(account, items)
    expect([body.status, amountsOf(body)]).toEqual([1, [10]])
    const faults = body.rejectedItems.map(({ index, errors }: { index: number; errors: { field: string }[] }) => [
      index,
      errors.map(({ field }) => field),
    ])
    const absent = ['amount', 'currency', 'referenceCode', 'beneficiary']
    expect(faults).toEqual([
      [0, ['amount', 'currency']],
      [2, absent],
      [3, absent],
      [4, ['notes']],
    ])
  })

  test('that is refused whole says so item by item, and nothing is made', async () => {
    const account = await shop()
    const { http, body } = await batch(account, of(100, 200))
    expect([http, body.status, body.result]).toEqual([200, 1, []])
    expect(body.rejectedItems.map(({ index }: { index: number }) => index)).toEqual([0, 1])
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })

  test.each([
    ['absent', undefined, 'may not be null'],
    ['null', null, 'may not be null'],
    ['empty', [], 'must be a list of 1 to 100 payouts'],
    ['no list', {}, 'must be a list of 1 to 100 payouts'],
    ['too long', Array(101).fill({}), 'must be a list of 1 to 100 payouts'],
  ])('whose list is %s is refused', async (_what, payments, message) => {
    const { http, body } = await batch(await shop(), payments)
    expect([http, body.errors]).toEqual([400, [{ field: 'payments', message }]])
  })

  test('has room for 100, each with a number of its own', async () => {
    const { body } = await batch(await shop(), of(...Array(100).fill(0.5)))
    expect([body.status, new Set(body.result.map(({ id }: { id: number }) => id)).size]).toEqual([0, 100])
  })

  test('has room for 100 of the largest, and for no more than 512 KiB', async () => {
    const account = await shop()
    const wide = (length: number) => 'ç'.repeat(length)
    const largest = payoutBody({
      amount: 0.5,
      referenceCode: wide(100),
      notes: wide(255),
      callbackURL: `https://shop.example/${'x'.repeat(230)}`,
      beneficiary: {
        name: wide(255),
        email: `${'x'.repeat(240)}@example.com`,
        document: { type: 'OTHER', number: wide(25) },
        bankDetails: { pixKey: wide(77) },
      },
    })
    const { http, body } = await batch(account, Array(100).fill(largest))
    expect([http, body.status, body.result.length]).toEqual([200, 0, 100])
    const tooMuch = await batch(account, Array(100).fill({ ...largest, more: 'x'.repeat(8_000) }))
    expect([tooMuch.http, tooMuch.body.message]).toEqual([413, 'the body is larger than this route takes'])
    expect((await account.api.post('/v1.1/payout/create', { notes: 'x'.repeat(70_000) })).http).toBe(413)
  })

  test('is made once per key, partial or not', async () => {
    const account = await shop()
    const payments = of(60, 60)
    const headers = { 'idempotency-key': randomUUID() }
    const [first, again] = [await batch(account, payments, headers), await batch(account, payments, headers)]
    expect([first.body.status, again.headers['idempotency-replayed'], again.body]).toEqual([1, 'true', first.body])
    expect(await moneyOf(account)).toEqual({ available: 39.01, blocked: 60 })
  })
})

import { describe, expect, test } from 'vitest'
import { pay, shopper, type TestAccount } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import { hear, linesOf, moneyOf, railReport, simulate } from '../../../test/harness/money-out.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS } from '../../kernel/calendar.ts'
import { OPERATOR_ACCOUNT_ID } from '../account/index.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const NOON = '2026-11-16 12:00:00'
const LATER = '2026-11-16 12:01:00'
const OPERATOR = { id: '00000000-0000-7000-8000-000000000001' }

/** Four ways a payment fits no sale; nothing settles by itself. */
const misfits = [
  ['a late one', 'SALE_NOT_PENDING', (account: TestAccount) => it.given.cancelledSale(account), {}],
  ['a doubled one', 'ALREADY_PAID', (account: TestAccount) => it.given.paidSale(account), {}],
  ['a cent short', 'AMOUNT_DIFFERS', (account: TestAccount) => it.given.sale(account), { amount: 99.99 }],
] as const
async function shop(settings: Record<string, unknown> = {}): Promise<TestAccount> {
  return it.given.account({ autoSettle: false, ...settings })
}
const query = async ({ api }: TestAccount, uuid: string) => (await api.get(`/v1.1/reversals/${uuid}`)).body.reversal
const holdOf = async (uuid: string) => {
  const sql = `select reversal_due_cr - reversal_due_dr as n from book where account_id = (select account_id from reversal where id = $1)`
  return (await it.rows<{ n: number }>(sql, [uuid]))[0]!.n
}

describe('money that fits no sale', () => {
  test.each(misfits)(
    '%s (%s) is held apart from the balance until it has gone back',
    async (_what, reason, make, as) => {
      it.clock.set(NOON)
      const account = await shop()
      const sale = await make(account)
      const before = { ...(await moneyOf(account)), lines: await linesOf(account) }
      const { uuid, reversedAmount } = (await pay(account, sale, as)).body.reversal
      expect(await query(account, uuid)).toMatchObject({ status: 'PENDING', reason, date: null })
      expect(await holdOf(uuid)).toBe(Math.round(reversedAmount * 100))
      it.clock.advance(MINUTE_MS)
      const { http, body } = await simulate(account, 'reversal', uuid, 'paid')
      expect([http, body]).toEqual([200, { status: 0, message: 'success', reversal: { uuid, status: 'PAID' } }])
      expect(await query(account, uuid)).toMatchObject({ status: 'PAID', creation: NOON, date: LATER })
      expect(await holdOf(uuid)).toBe(0)
      expect({ ...(await moneyOf(account)), lines: await linesOf(account) }).toEqual(before)
    },
  )

  test('that nobody takes back is the account’s, with a line of its own under the sale', async () => {
    it.clock.set(NOON)
    const account = await shop()
    const sale = await it.given.cancelledSale(account)
    const { uuid } = (await pay(account, sale)).body.reversal
    await simulate(account, 'reversal', uuid, 'cancelled')
    expect(await query(account, uuid)).toMatchObject({ status: 'CANCELLED', date: NOON })
    expect(await moneyOf(account)).toEqual({ available: 100, blocked: 0 })
    const { result } = (await account.api.get('/v1.1/statement')).body
    expect(result).toMatchObject([{ type: 'REVERSAL', saleToken: sale.uuid, amount: 100, balance: 100 }])
  })

  test('leaves its sale as it was, also when it ends', async () => {
    const account = await shop()
    const sale = await it.given.sale(account)
    const { uuid } = (await pay(account, sale, { amount: 1 })).body.reversal
    await simulate(account, 'reversal', uuid, 'paid')
    const { situation, refunds } = (await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body
    expect([situation, refunds.requested]).toEqual(['PENDING', 0])
    expect((await pay(account, sale)).body.sale.situation).toBe('PAID')
  })

  test('is told when it is made, and when it has gone back or could not', async () => {
    it.clock.set(NOON)
    const account = await merchant((hook) => ({ reversal: { url: hook, enabled: true } }))
    await account.api.put('/v1.1/sandbox/account', { autoSettle: false })
    const bankDetails = { bank: '001', branch: '1234', account: '56789-0' }
    const sale = await it.given.cancelledSale(account, { shopper: { ...shopper, bankDetails } })
    const [gone, kept] = [(await pay(account, sale)).body.reversal, (await pay(account, sale)).body.reversal]
    await settle()
    it.clock.advance(MINUTE_MS)
    await simulate(account, 'reversal', gone.uuid, 'paid')
    await simulate(account, 'reversal', kept.uuid, 'cancelled')
    await settle()
    const told = (reversal: { id: number; uuid: string }, status: string, date: string) =>
      JSON.stringify({
        id: reversal.id,
        uuid: reversal.uuid,
        currency: 'BRL',
        originalAmount: 100,
        reversedAmount: 100,
        status,
        bankDetails,
        sale: { id: sale.id, uuid: sale.uuid },
        creation: NOON,
        receipt: null,
        reason: 'SALE_NOT_PENDING',
        date,
      })
    expect(account.calls().map(({ text }) => text)).toEqual([
      told(gone, 'PENDING', NOON),
      told(kept, 'PENDING', NOON),
      told(gone, 'PAID', LATER),
      told(kept, 'CANCELLED', LATER),
    ])
    expect(new Set(account.calls().map(({ url }) => url.split('?')[1]))).toEqual(
      new Set(['reversing=true&type=reversing']),
    )
    const attempts = (await account.api.get(`/v1.1/transactions/${kept.uuid}/webhook`)).body.notifications
    expect(attempts.map(({ eventType }: { eventType: string }) => eventType).sort()).toEqual([
      'REVERSAL_CANCEL',
      'REVERSAL_CREATE',
    ])
  })
})

describe('money that names nobody', () => {
  test.each([
    ['PAID', 0],
    ['CANCELLED', 700],
  ] as const)('is the operator’s own: %s leaves %i in its book, and no merchant hears of it', async (outcome, left) => {
    const availableOf = async () => {
      const sql = 'select available_cr - available_dr as n from book where account_id = $1'
      return (await it.rows<{ n: number }>(sql, [OPERATOR_ACCOUNT_ID]))[0]!.n
    }
    const [before, told] = [await availableOf(), await it.rows('select id from notification')]
    const [heard] = await it.service.door.apply([railPayment(it.clock, { txid: 'nobody', amount: 7 })])
    if (heard!.outcome !== 'reversed') throw new Error(heard!.outcome)
    expect(heard).toMatchObject({ outcome: 'reversed', accountId: OPERATOR_ACCOUNT_ID })
    expect(await availableOf()).toBe(before)
    expect(await hear(it, await railReport(it, OPERATOR, 'REVERSAL', heard!.reversalId, { outcome }))).toBe('applied')
    expect((await availableOf()) - before).toBe(left)
    expect(await it.rows('select id from notification')).toEqual(told)
    const { result } = (await it.operator.get('/operator/v1/reversals')).body
    // Those of one moment come in any order.
    const shown = result.find(({ uuid }: { uuid: string }) => uuid === heard!.reversalId)
    expect(shown).toMatchObject({ status: outcome, sale: null, reversedAmount: 7 })
  })
})

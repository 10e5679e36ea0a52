import { describe, expect, test } from 'vitest'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { wireTimestamp } from '../../kernel/calendar.ts'
import type { AccountId, ReversalId } from '../../kernel/ids.ts'
import { findReversal } from './reversal.ts'

const it = testService()

const numberOf = async (account: TestAccount) =>
  (await it.rows<{ id: number }>('select id from account where uuid = $1', [account.id]))[0]!.id as AccountId
const heldOf = async (id: AccountId) =>
  (
    await it.rows<{ n: number }>('select reversal_due_cr - reversal_due_dr as n from book where account_id = $1', [id])
  )[0]!.n

describe('a reversal', () => {
  test('is told to whoever paid, with its reason and its amount', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 80 })
    const reply = await pay(account, sale, { amount: 79.99 })
    expect(reply.body).toMatchObject({
      status: 0,
      sale: { uuid: sale.uuid, situation: 'PENDING' },
      reversal: { status: 'PENDING', reason: 'AMOUNT_DIFFERS', reversedAmount: 79.99 },
    })
  })

  test('heard twice answers with the first one', async () => {
    const account = await it.given.account()
    const sale = await it.given.paidSale(account)
    const endToEnd = 'E'.padEnd(32, '7')
    const [first, again] = [await pay(account, sale, { endToEnd }), await pay(account, sale, { endToEnd })]
    expect(first.body.reversal.reason).toBe('ALREADY_PAID')
    expect(again.body).toEqual(first.body)
  })

  test('is found by its account only', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const sale = await it.given.cancelledSale(account, { amount: 12.34 })
    const id = (await pay(account, sale)).body.reversal.uuid as ReversalId
    const accountId = await numberOf(account)
    expect(await findReversal(it.service.db, accountId, id)).toMatchObject({
      accountId,
      id,
      saleId: sale.uuid,
      amount: 1_234,
      reason: 'SALE_NOT_PENDING',
      state: 'PENDING',
    })
    expect(await findReversal(it.service.db, await numberOf(other), id)).toBeUndefined()
  })

  test('is made in the time of its account', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    const { uuid } = (await pay(account, sale)).body.reversal
    const reversal = await findReversal(it.service.db, await numberOf(account), uuid)
    expect(wireTimestamp(reversal!.createdAt)).toBe('2026-11-19 12:00:00')
  })

  test('several of one batch have numbers of their own, and the book holds all of their money', async () => {
    const account = await it.given.account()
    const amounts = [1, 2, 3, 4]
    const sales = await Promise.all(amounts.map((amount) => it.given.cancelledSale(account, { amount })))
    const outcomes = await it.service.door.apply(sales.map((sale) => railPayment(it.clock, sale)))
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['reversed']))
    const rows = await it.rows<{ number: number; amount_cents: number }>(
      'select number, amount_cents from reversal where account_id = $1 order by amount_cents',
      [await numberOf(account)],
    )
    expect(rows.map(({ amount_cents }) => amount_cents)).toEqual([100, 200, 300, 400])
    expect(new Set(rows.map(({ number }) => number)).size).toBe(4)
    expect(rows.every(({ number }) => number > 0)).toBe(true)
    expect(await heldOf(await numberOf(account))).toBe(1_000)
    expect((await account.api.get('/v1.1/balance')).body).toMatchObject({ balance: 0, available: 0, blocked: 0 })
  })
})

import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { statement } from '../../platform/database/database.ts'
import { findBalance, findTrialBalance, setOverdraftLimit } from './book.store.ts'
import { type BookAccount, bookAccountNames, bookAccounts } from './chart.ts'
import { lockBooksCte, postLinesCtes } from './posting.ts'

const it = testService()

const numberOf = async (account: TestAccount) =>
  (await it.rows<{ id: number }>('select id from account where uuid = $1', [account.id]))[0]!.id as AccountId
const bookOf = async (id: AccountId) => (await it.rows('select * from book where account_id = $1', [id]))[0]!

type Line = { from: BookAccount; to: BookAccount; amount: number; code?: number; leg?: number; source?: string }
let sources = 0
const newSource = () => `00000000-0000-7000-8000-${String(++sources).padStart(12, '0')}`

const postSql = statement<{ book_seq: number; available_after: number }>(
  '',
  `with input as materialized (select $1::bigint as account_id),
   locked_books as materialized (${lockBooksCte('input')}),
   lines as materialized (
     select b.account_id, l.source_id, l.code, l.leg, l.debit, l.credit, l.amount, l.ord, null::uuid as subject_id,
       $2::timestamptz as event_at, $3::integer as hour, $2::timestamptz as posted_at
     from locked_books b, unnest($4::uuid[], $5::smallint[], $6::smallint[], $7::smallint[], $8::smallint[], $9::bigint[])
       with ordinality as l(source_id, code, leg, debit, credit, amount, ord)
   ), ${postLinesCtes('lines')}
   select book_seq, available_after::bigint from numbered order by book_seq`,
)

/** Writes lines into a book by the ledger's own statement, whatever business asked for them. Holds belong to a refund or payout, so these go to `adjust`. */
function post(id: AccountId, lines: readonly Line[]) {
  const now = it.clock.now()
  return it.service.db.query(postSql, [
    id,
    new Date(now).toISOString(),
    Math.floor(now / 3_600_000),
    lines.map(({ source }) => source ?? newSource()),
    lines.map(({ code }) => code ?? 90),
    lines.map(({ leg }) => leg ?? 0),
    lines.map(({ from }) => bookAccounts[from]),
    lines.map(({ to }) => bookAccounts[to]),
    lines.map(({ amount }) => amount),
  ])
}

const refusalOf = (promise: Promise<unknown>) =>
  promise.then(() => undefined).catch(({ code, constraint }) => ({ code, constraint }))
const update = (id: AccountId, change: string) => it.rows(`update book set ${change} where account_id = $1`, [id])

describe('the database itself refuses a book that cannot be', () => {
  test.each([
    ['a debit without its credit', 'available_cr = available_cr + 1', 'book_balances'],
    ['a credit without its debit', 'clearing_dr = clearing_dr + 1', 'book_balances'],
    ['two sides that differ by a cent', 'clearing_dr = clearing_dr + 101, fee_cr = fee_cr + 100', 'book_balances'],
    ['a cent below nought', 'available_dr = available_dr + 9902, fee_cr = fee_cr + 9902', 'book_not_overdrawn'],
    [
      'a hold given back twice',
      'refund_due_dr = refund_due_dr + 1, clearing_cr = clearing_cr + 1',
      'book_holds_not_negative',
    ],
    ['a payout hold below nought', 'payout_due_dr = 1, clearing_cr = clearing_cr + 1', 'book_holds_not_negative'],
    ['a reversal hold below nought', 'reversal_due_dr = 1, clearing_cr = clearing_cr + 1', 'book_holds_not_negative'],
    ['an overdraft below nought', 'overdraft_limit_cents = -1', 'book_overdraft_limit_cents_check'],
  ])('%s', async (_what, change, constraint) => {
    const account = await it.given.account()
    await it.given.paidSale(account)
    const id = await numberOf(account)
    const before = await bookOf(id)
    expect(await refusalOf(update(id, change))).toEqual({ code: '23514', constraint })
    expect(await bookOf(id)).toEqual(before)
  })

  test('an overdrawn posting fails whole: no line, no count', async () => {
    const account = await it.given.account({ overdraftLimit: 10 })
    const id = await numberOf(account)
    const before = await bookOf(id)
    const lines: Line[] = [
      { from: 'available', to: 'refund_due', amount: 1_000 },
      { from: 'available', to: 'refund_due', amount: 1 },
    ]
    expect(await refusalOf(post(id, lines))).toEqual({ code: '23514', constraint: 'book_not_overdrawn' })
    expect(await bookOf(id)).toEqual(before)
    expect(await it.rows('select 1 from transfer where account_id = $1', [id])).toEqual([])
    expect(await it.rows('select 1 from book_hour where account_id = $1', [id])).toEqual([])
  })

  test('every account of the chart has its two counters, and all of them are in the sum that must balance', async () => {
    const id = await numberOf(await it.given.account())
    for (const name of bookAccountNames.filter((account) => account !== 'clearing'))
      expect(await refusalOf(update(id, `${name}_cr = ${name}_cr + 1`))).toMatchObject({ constraint: 'book_balances' })
  })
})

describe('a line', () => {
  test('is posted once: its natural key refuses it a second time, and the book stays', async () => {
    const id = await numberOf(await it.given.account({ overdraftLimit: 100 }))
    const line: Line = { from: 'available', to: 'adjust', amount: 5, source: newSource() }
    await post(id, [line])
    const before = await bookOf(id)
    expect(await refusalOf(post(id, [line]))).toEqual({ code: '23505', constraint: 'transfer_pkey' })
    expect(await refusalOf(post(id, [{ ...line, amount: 6 }]))).toMatchObject({ code: '23505' })
    expect(await bookOf(id)).toEqual(before)
    await post(id, [{ ...line, leg: 1 }])
    expect(await bookOf(id)).toMatchObject({ version: 2, adjust_cr: 10 })
  })

  test('a number of a book is given once', async () => {
    const id = await numberOf(await it.given.account({ overdraftLimit: 100 }))
    await post(id, [{ from: 'available', to: 'adjust', amount: 5 }])
    const copy = `insert into transfer select account_id, $2, code, leg, book_seq, debit, credit, amount_cents,
      available_after_cents, event_at, posted_at from transfer where account_id = $1`
    expect(await refusalOf(it.rows(copy, [id, newSource()]))).toMatchObject({
      code: '23505',
      constraint: 'transfer_account_id_book_seq_key',
    })
  })

  test.each([
    ['of nothing', { from: 'available', to: 'fee', amount: 0 }],
    ['of less than nothing', { from: 'available', to: 'fee', amount: -1 }],
    ['from an account to itself', { from: 'fee', to: 'fee', amount: 1 }],
  ] as const)('%s is refused', async (_what, line) => {
    const id = await numberOf(await it.given.account())
    expect(await refusalOf(post(id, [line]))).toMatchObject({ code: '23514' })
  })

  test('knows its number and the balance after it, gap-free from batch to batch', async () => {
    const id = await numberOf(await it.given.account({ overdraftLimit: 1 }))
    const hold = (amount: number): Line => ({ from: 'available', to: 'adjust', amount })
    const back = (amount: number): Line => ({ from: 'adjust', to: 'available', amount })
    const silent: Line = { from: 'adjust', to: 'receivable', amount: 1 }
    expect(await post(id, [hold(50), silent, back(20)])).toEqual([
      { book_seq: 1, available_after: -50 },
      { book_seq: 2, available_after: -50 },
      { book_seq: 3, available_after: -30 },
    ])
    expect(await post(id, [hold(70), back(99)])).toEqual([
      { book_seq: 4, available_after: -100 },
      { book_seq: 5, available_after: -1 },
    ])
    expect(await bookOf(id)).toMatchObject({ version: 5, available_lines: 4 })
  })
})

describe('balances', () => {
  test('balance = available + blocked; blocked = open refund and payout holds; reversals are in neither', async () => {
    const account = await it.given.account()
    const sale = await it.given.paidSale(account)
    await account.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`)
    const id = await numberOf(account)
    expect((await account.api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 10 })).http).toBe(200)
    const beneficiary = { name: 'Fornecedor', pixKey: 'fornecedor@example.com' }
    const payout = { amount: 2, currency: 'BRL', referenceCode: 'p', beneficiary }
    expect((await account.api.post('/v1.1/payout/create', payout)).http).toBe(200)
    const { body } = await account.api.get('/v1.1/balance')
    expect(body).toMatchObject({ balance: 99.01, available: 87.01, blocked: 12, date: '2026-11-16 12:00:00' })
    expect(await findBalance(it.service.db, id)).toEqual({ available: 8_701, blocked: 1_200, overdraftLimit: 0 })
  })

  test('the date is the account’s own', async () => {
    const account = await it.given.account()
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 2 })
    expect((await account.api.get('/v1.1/balance')).body.date).toBe('2026-11-18 12:00:00')
  })

  test('the overdraft limit may not fall below what is used', async () => {
    const account = await it.given.account({ overdraftLimit: 10 })
    const id = await numberOf(account)
    await post(id, [{ from: 'available', to: 'adjust', amount: 600 }])
    const set = (cents: number) => it.service.db.inTransaction((tx) => setOverdraftLimit(tx, id, cents as Cents))
    expect([await set(599), await set(600)]).toEqual([false, true])
    const refused = await account.api.put('/v1.1/sandbox/account', { overdraftLimit: 5.99 })
    expect([refused.http, refused.body.errors[0].field]).toEqual([400, 'overdraftLimit'])
  })

  test('all books together are one ledger whose sides are equal', async () => {
    await it.given.paidSale(await it.given.account())
    const trial = await findTrialBalance(it.service.db)
    const sum = (side: 'debit' | 'credit') => bookAccountNames.reduce((total, name) => total + trial[name][side], 0)
    expect(sum('debit')).toBe(sum('credit'))
    expect(trial.clearing.debit).toBeGreaterThan(0)
  })
})

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { railPayment } from '../test/harness/rail-payment.ts'
import { type StartedService, startTestService, type TestService } from '../test/harness/test-service.ts'
import { audit, findViolations } from './audit.ts'
import { notificationChecks } from './modules/notification/index.ts'
import { phoneChecks } from './modules/phone/index.ts'
import { recurrenceChecks } from './modules/recurrence/index.ts'

let it: StartedService

/** Two merchants with money, sales in every state, money to give back, money for nobody, and sales that are shared. */
beforeAll(async () => {
  it = await startTestService()
  const [account, other] = [await it.given.account(), await it.given.account()]
  const paid = await it.given.paidSale(account)
  await it.given.paidSale(account, { amount: 20 })
  await it.given.paidSale(other)
  await it.given.sale(account)
  const cancelled = await it.given.cancelledSale(account)
  const unknown = { txid: 'nobody', amount: 7 }
  await it.service.door.apply([paid, cancelled, unknown].map((sale) => railPayment(it.clock, sale as never)))
  const parent = await it.given.account({ splitEnabled: true })
  const { recipientId } = (await parent.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })).body.recipient
  const shared = { split: [{ recipientId, amount: 30 }] }
  await it.given.paidSale(parent, shared)
  await it.service.settlements.run()
  await it.given.sale(parent, shared)
  await it.given.cancelledSale(parent, shared)
  await it.given.paidSale(parent, shared)
  await spendMoney(it)
})
afterAll(() => it.stop())

/** Refunds and payouts in every state. */
async function spendMoney(it: TestService) {
  const { api, ...spender } = await it.given.account({ autoSettle: false, fees: { PAYOUT: { fixed: 1 } } })
  const sale = await it.given.paidSale({ api, ...spender }, { amount: 500 })
  const refund = async (amount: number) =>
    (await api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount })).body.uuid as string
  const payout = async (amount: number) => {
    const beneficiary = { name: 'Fornecedor', pixKey: 'fornecedor@example.com' }
    const body = { amount, currency: 'BRL', referenceCode: `p${amount}`, beneficiary }
    return (await api.post('/v1.1/payout/create', body)).body.uuid as string
  }
  const ends = { refund: await refund(40), payout: await payout(30) }
  await api.post(`/v1.1/sandbox/sim/refund/${ends.refund}/paid`)
  await api.post(`/v1.1/sandbox/sim/refund/${await refund(20)}/cancelled`)
  await api.post(`/v1.1/sandbox/sim/payout/${ends.payout}/paid`)
  await api.post(`/v1.1/sandbox/sim/payout/${await payout(25)}/failed/PE0001`)
  await api.put(`/v1.1/payout/${await payout(15)}/cancel`)
  await refund(10)
  await payout(5)
}

const places = { account: 0, other: 1, parent: 2, recipient: 3, spender: 4 }
const book = (whose: keyof typeof places) =>
  `(select account_id from book where account_id > 1 order by account_id offset ${places[whose]} limit 1)`
const paidSale = `(select id from sale where account_id = ${book('account')} and state = 'PAID' order by id limit 1)`
/** The parent's sale of that state, and its recipient's share; two of them are paid, and one of the two is not credited yet. */
const sharedSale = (state: string) =>
  `(select id from sale where account_id = ${book('parent')} and state = '${state}' order by id limit 1)`
const share = (state: string) => `(select id from sale where account_id = ${book('recipient')} and state = '${state}')`
const settledShare = `(select id from sale where settlement = 'SETTLED')`
const refundIn = (state: string) => `(select id from refund where state = '${state}')`
const payoutIn = (state: string) => `(select id from payout where state = '${state}')`
const withoutCheck = (name: string) => `alter table book drop constraint ${name};`
const nowhere = `'00000000-0000-7000-8000-0000000000ff'`
/** A line that no rule of business knows, with its book in order. */
const strayLine = (
  code: number,
  { from = 'receivable', whose = 'account', source = nowhere, leg = 0, amount = 5 } = {},
) => `
  insert into transfer (account_id, source_id, code, leg, book_seq, debit, credit, amount_cents, available_after_cents, event_at, posted_at)
  select account_id, ${source}, ${code}, ${leg}, version + 1, ${from === 'transit' ? 8 : 9}, 10, ${amount}, available_cr - available_dr, '2026-11-16', '2026-11-16'
  from book where account_id = ${book(whose as keyof typeof places)};
  update book set version = version + 1, ${from}_dr = ${from}_dr + ${amount}, adjust_cr = adjust_cr + ${amount}
  where account_id = ${book(whose as keyof typeof places)};`

const corruptions: { check: string; what: string; sql: string; also?: string[] }[] = [
  {
    check: 'every book balances: debits equal credits',
    what: 'a credit in one book and a debit in another',
    sql: `${withoutCheck('book_balances')}
      update book set fee_cr = fee_cr + 1 where account_id = ${book('account')};
      update book set adjust_dr = adjust_dr + 1 where account_id = ${book('other')};`,
    also: ['every counter of a book is the sum of its transfers'],
  },
  {
    check: 'no book is below its overdraft limit',
    what: 'a limit that was lowered below what is used',
    sql: `${withoutCheck('book_not_overdrawn')} ${withoutCheck('book_overdraft_limit_cents_check')}
      update book set overdraft_limit_cents = available_dr - available_cr - 1 where account_id = ${book('other')};`,
  },
  {
    check: 'every counter of a book is the sum of its transfers',
    what: 'counters without a line',
    sql: `update book set adjust_dr = 1, receivable_cr = 1 where account_id = ${book('account')}`,
  },
  {
    check: 'no transfer is without a book',
    what: 'a line of an account that is not',
    sql: `insert into transfer values (999, ${nowhere}, 90, 0, 1, 8, 10, 5, 0, '2026-11-16', '2026-11-16')`,
  },
  {
    check: 'the sequence of a book has no gaps: version = count = highest number',
    what: 'a number that was left out',
    sql: 'update transfer set book_seq = 2 where account_id = 1',
  },
  {
    check: 'the sequence of a book has no gaps: version = count = highest number',
    what: 'a version ahead of its lines',
    sql: 'update book set version = version + 1 where account_id = 1',
  },
  {
    check: 'the balance after each line is the running sum of the lines before it',
    what: 'a balance that was written wrongly',
    sql: 'update transfer set available_after_cents = available_after_cents + 1 where code = 12',
  },
  {
    check: 'the counts of statement lines are right, in all and by the hour',
    what: 'a line more in all',
    sql: `update book set available_lines = available_lines + 1 where account_id = ${book('other')}`,
  },
  {
    check: 'the counts of statement lines are right, in all and by the hour',
    what: 'an hour that knows another range',
    sql: `update book_hour set seq_high = seq_high + 1 where account_id = ${book('other')}`,
  },
  {
    check: 'the counts of statement lines are right, in all and by the hour',
    what: 'a line in another hour',
    sql: `update book_hour set hour = hour + 1 where account_id = ${book('other')}`,
  },
  {
    check: 'the counts of statement lines are right, in all and by the hour',
    what: 'an hour that brought in more than its lines',
    sql: `update book_hour set received_cents = received_cents + 1 where account_id = ${book('other')}`,
  },
  {
    check: 'the trial balance over all books is zero',
    what: 'a fee that went to an account that is not',
    sql: `${withoutCheck('book_balances')}
      update transfer set credit = 3 where account_id = ${book('other')} and code = 12;
      update book set fee_cr = 0 where account_id = ${book('other')};`,
    also: ['every book balances: debits equal credits'],
  },
  {
    check: 'a paid sale has posted what its legs leave and its fee, once and exactly',
    what: 'a fee that changed after the payment',
    sql: `update sale set fee_cents = fee_cents - 1 where id = ${paidSale}`,
  },
  {
    check: 'a paid sale has posted what its legs leave and its fee, once and exactly',
    what: 'an amount that changed after the payment',
    sql: `update sale set amount_cents = amount_cents + 1 where id = ${paidSale}`,
  },
  {
    check: 'a paid sale has posted what its legs leave and its fee, once and exactly',
    what: 'a fee that was taken twice',
    sql: strayLine(12, { source: paidSale, leg: 1, amount: 99 }),
  },
  {
    check: 'no line belongs to a sale that is not paid',
    what: 'a fee for nothing',
    sql: strayLine(12),
  },
  {
    check: 'one end-to-end id pays at most one sale',
    what: 'one payment for two sales',
    sql: `update inbox set rail = 'elsewhere', rail_id = (select min(end_to_end) from sale) where outcome_id =
        (select id from sale where end_to_end is not null order by end_to_end desc limit 1);
      update sale set end_to_end = (select min(end_to_end) from sale) where id =
        (select id from sale where end_to_end is not null order by end_to_end desc limit 1);`,
  },
  {
    check: 'the counts of sales by hour and state are right',
    what: 'a pending sale too many',
    sql: `update sale_hour set pending = pending + 1 where account_id = ${book('account')}`,
  },
  {
    check: 'the counts of sales by hour and state are right',
    what: 'an hour that was lost',
    sql: `update sale_hour set pending = 0, paid = 0, cancelled = 0 where account_id = ${book('other')}`,
  },
  {
    check: 'the counts of payments by hour are right',
    what: 'a payment too many',
    sql: `update sale_hour set processed = processed + 1 where account_id = ${book('other')}`,
  },
  {
    check: 'a sale was made when its id says',
    what: 'a sale a millisecond older than its id',
    sql: `update sale set created_at = created_at + interval '1 millisecond' where id = ${paidSale}`,
  },
  {
    check: 'the legs of a sale are as many and take as much as it says, and never more than it can pay its fee from',
    what: 'a leg more than there is',
    sql: `update sale set legs = legs + 1 where id = ${sharedSale('PENDING')}`,
  },
  {
    check: 'the legs of a sale are as many and take as much as it says, and never more than it can pay its fee from',
    what: 'a leg that grew, with its share',
    sql: `update split_leg set amount_cents = amount_cents + 1 where sale_id = ${sharedSale('PENDING')};
      update sale set amount_cents = amount_cents + 1 where id = ${share('PENDING')};`,
  },
  {
    check: 'the legs of a sale are as many and take as much as it says, and never more than it can pay its fee from',
    what: 'a fee that the rest does not cover',
    sql: `alter table sale drop constraint sale_split_fits;
      update sale set fee_cents = amount_cents - split_cents + 1 where id = ${sharedSale('PENDING')};`,
  },
  {
    check: "every leg has its transaction on the recipient's side, which stands as its sale stands",
    what: 'a share that outlived its sale',
    sql: `update sale set state = 'PENDING' where id = ${share('CANCELLED')};
      update sale_hour set pending = pending + 1, cancelled = cancelled - 1 where account_id = ${book('recipient')};`,
  },
  {
    check: "every leg has its transaction on the recipient's side, which stands as its sale stands",
    what: 'a share of another amount than its leg',
    sql: `update sale set amount_cents = amount_cents + 1 where id = ${share('PENDING')}`,
  },
  {
    check: "every leg has its transaction on the recipient's side, which stands as its sale stands",
    what: 'a share that was lost',
    sql: `delete from sale where id = ${share('PENDING')};
      update sale_hour set pending = pending - 1 where account_id = ${book('recipient')};`,
  },
  {
    check: "every leg has its transaction on the recipient's side, which stands as its sale stands",
    what: 'a share without a leg',
    sql: `delete from split_leg where sale_id = ${sharedSale('PENDING')};
      update sale set legs = 0, split_cents = 0 where id = ${sharedSale('PENDING')};`,
  },
  {
    check: 'the shares of a sale leave its book when it is paid, once and exactly',
    what: 'a share that stayed',
    sql: `update transfer set code = 90, source_id = ${nowhere} where ctid =
        (select ctid from transfer where code = 11 order by book_seq limit 1)`,
  },
  {
    check: 'the shares of a sale leave its book when it is paid, once and exactly',
    what: 'a share that left before its sale was paid',
    sql: strayLine(11, { whose: 'parent', source: sharedSale('PENDING') }),
  },
  {
    check: 'the shares of a sale leave its book when it is paid, once and exactly',
    what: 'a share that left twice',
    sql: strayLine(11, { whose: 'parent', source: sharedSale('PAID'), leg: 1 }),
  },
  {
    check: 'the shares of a sale leave its book when it is paid, once and exactly',
    what: 'a share of no sale',
    sql: strayLine(11),
  },
  {
    check: 'a share is credited once, exactly, and only when it is settled',
    what: 'a settled share whose credit went elsewhere',
    sql: `update transfer set code = 90, source_id = ${nowhere} where code = 21`,
    also: ['the counts of statement lines are right, in all and by the hour'],
  },
  {
    check: 'a share is credited once, exactly, and only when it is settled',
    what: 'a share that was credited twice',
    sql: strayLine(21, { whose: 'recipient', source: settledShare, leg: 1 }),
  },
  {
    check: 'a share is credited once, exactly, and only when it is settled',
    what: 'a credit before the payment',
    sql: strayLine(21, { whose: 'recipient', source: share('PENDING') }),
  },
  {
    check: 'a share is credited once, exactly, and only when it is settled',
    what: 'a credit for nothing',
    sql: strayLine(21),
  },
  {
    check: 'money in transit is the shares under way',
    what: 'money that left the way',
    sql: strayLine(90, { from: 'transit' }),
  },
  {
    check: 'a message waits for every share under way, and for no other',
    what: 'a message that was lost',
    sql: 'delete from split_message',
  },
  {
    check: 'a message waits for every share under way, and for no other',
    what: 'a message for a share that has arrived',
    sql: `insert into split_message select account_id, id, '2026-11-16' from sale where id = ${settledShare}`,
  },
  {
    check: 'a message waits for every share under way, and for no other',
    what: 'a message for a share that is not paid',
    sql: `insert into split_message select account_id, id, '2026-11-16' from sale where id = ${share('PENDING')}`,
  },
  {
    check: 'what a book holds for reversals is the sum of the pending ones',
    what: 'a reversal that ended without a line',
    sql: `update reversal set state = 'CANCELLED', closed_at = created_at where account_id = 1;
      delete from outflow where account_id = 1;`,
    also: ['a reversal was held once, and left its hold once, the way its state says'],
  },
  {
    check: 'a reversal was held once, and left its hold once, the way its state says',
    what: 'a line of another reversal',
    sql: `update transfer set source_id = ${nowhere} where code = 40 and account_id = 1`,
  },
  {
    check: 'a reversal was held once, and left its hold once, the way its state says',
    what: 'a reversal of nothing that went back',
    sql: strayLine(43),
  },
  {
    check: 'every payment the rail reported paid a sale or became a reversal',
    what: 'a report without an effect',
    sql: `insert into inbox (rail, kind, rail_id, content_hash, account_id, outcome, outcome_id, settled_at, received_at)
      values ('sandbox', 'payment', 'E1', '', 1, 'APPLIED', ${nowhere}, '2026-11-16', '2026-11-16')`,
  },
  {
    check: 'every paid sale and every reversal was reported by the rail',
    what: 'a reversal that nobody reported',
    sql: `update inbox set amount_cents = amount_cents + (select amount_cents from reversal r where r.reason = 'ALREADY_PAID')
        where outcome_id = (select id from reversal where reason = 'SALE_NOT_PENDING');
      delete from inbox where outcome_id = (select id from reversal where reason = 'ALREADY_PAID');`,
  },
  {
    check: 'every paid sale and every reversal was reported by the rail',
    what: 'a paid sale that nobody reported',
    sql: `delete from inbox where outcome_id = ${paidSale}`,
    also: ['the books hold what came in: clearing equals the payments reported'],
  },
  {
    check: 'the books hold what came in: clearing equals the payments reported',
    what: 'a cent more than was reported',
    sql: `update inbox set amount_cents = amount_cents - 1 where account_id = 1`,
  },
  {
    check: 'what a book holds for refunds is the sum of the pending ones',
    what: 'a refund that ended without a line',
    sql: `update refund set state = 'CANCELLED', closed_at = created_at where state = 'PENDING';
      update refund_hour set pending = pending - 1, cancelled = cancelled + 1;
      update sale set refunded_cents = refunded_cents - 1000 where refunded_cents > 0;
      delete from outflow where kind = 'REFUND';`,
    also: ['a refund was held once, and left its hold once, the way its state says'],
  },
  {
    check: 'a refund was held once, and left its hold once, the way its state says',
    what: 'a refund whose way out was lost',
    sql: `update transfer set source_id = ${nowhere} where code = 31`,
  },
  {
    check: 'a refund was held once, and left its hold once, the way its state says',
    what: 'a refund that was never held',
    sql: `update transfer set source_id = ${nowhere} where code = 30 and source_id = ${refundIn('CANCELLED')}`,
  },
  {
    check: 'a refund was held once, and left its hold once, the way its state says',
    what: 'a refund that went out and still waits',
    sql: strayLine(31, { whose: 'spender', source: refundIn('PENDING') }),
  },
  {
    check: 'a refund was held once, and left its hold once, the way its state says',
    what: 'a refund that went out and came back',
    sql: strayLine(32, { whose: 'spender', source: refundIn('PAID') }),
  },
  {
    check: 'a refund was held once, and left its hold once, the way its state says',
    what: 'a refund that went out twice',
    sql: strayLine(31, { whose: 'spender', source: refundIn('PAID'), leg: 1, amount: 4_000 }),
  },
  {
    check: 'a refund was held once, and left its hold once, the way its state says',
    what: 'a refund of nothing that came back',
    sql: strayLine(32),
  },
  {
    check: 'the refunds of a sale that were not cancelled are what it says, and never more than it',
    what: 'a sale that forgot a cent of its refunds',
    sql: 'update sale set refunded_cents = refunded_cents - 1 where refunded_cents > 0',
  },
  {
    check: 'the refunds of a sale that were not cancelled are what it says, and never more than it',
    what: 'a sale that nobody refunded',
    sql: `update sale set refunded_cents = 1 where id = ${paidSale}`,
  },
  {
    check: 'the counts of refunds by hour and state are right',
    what: 'a paid refund too many',
    sql: 'update refund_hour set paid = paid + 1',
  },
  {
    check: 'the counts of refunds by hour and state are right',
    what: 'a refund that went out in another hour',
    sql: `update refund_hour set processed = 0;
      insert into refund_hour select account_id, hour + 1, 0, 0, 0, 1 from refund_hour;`,
  },
  {
    check: 'the rail has an order for everything that is on its way out, and for nothing else',
    what: 'orders that were lost',
    sql: 'delete from outflow where account_id = 1',
  },
  {
    check: 'the rail has an order for everything that is on its way out, and for nothing else',
    what: 'an order for a payout that was cancelled',
    sql: `insert into outflow select account_id, id, 'PAYOUT', 'RESERVED', '{}', created_at from payout where state = 'CANCELLED'`,
  },
  {
    check: 'the rail has an order for everything that is on its way out, and for nothing else',
    what: 'an order of another kind',
    sql: `update outflow set kind = 'PAYOUT' where kind = 'REFUND'`,
  },
  {
    check: 'what a book holds for payouts is the sum of the pending ones',
    what: 'a payout that ended without a line',
    sql: `update payout set state = 'PAID', closed_at = created_at where state = 'PENDING';
      update payout_hour set pending = pending - 1, paid = paid + 1, processed = processed + 1;
      delete from outflow where kind = 'PAYOUT';`,
    also: ['a payout was held once, and left its hold once, the way its state says'],
  },
  {
    check: 'a payout was held once, and left its hold once, the way its state says',
    what: 'a fee that was never taken',
    sql: `update transfer set source_id = ${nowhere} where code = 51 and source_id = ${payoutIn('PENDING')}`,
  },
  {
    check: 'a payout was held once, and left its hold once, the way its state says',
    what: 'a fee that did not come back',
    sql: `update transfer set source_id = ${nowhere} where code = 54 and source_id = ${payoutIn('FAILED')}`,
  },
  {
    check: 'a payout was held once, and left its hold once, the way its state says',
    what: 'a payout that was cancelled and went out',
    sql: strayLine(52, { whose: 'spender', source: payoutIn('CANCELLED') }),
  },
  {
    check: 'a payout was held once, and left its hold once, the way its state says',
    what: 'a payout that went out and came back',
    sql: strayLine(53, { whose: 'spender', source: payoutIn('PAID') }),
  },
  {
    check: 'a payout was held once, and left its hold once, the way its state says',
    what: 'a fee that came back twice',
    sql: strayLine(54, { whose: 'spender', source: payoutIn('FAILED'), leg: 1, amount: 100 }),
  },
  {
    check: 'a payout was held once, and left its hold once, the way its state says',
    what: 'a payout of nothing that came back',
    sql: strayLine(53),
  },
  {
    check: 'the counts of payouts by hour and state are right',
    what: 'a failed payout too few',
    sql: 'update payout_hour set failed = failed - 1',
  },
  {
    check: 'the counts of payouts by hour and state are right',
    what: 'a payout that went out in another hour',
    sql: `update payout_hour set processed = 0;
      insert into payout_hour select account_id, hour + 1, 0, 0, 0, 0, 1 from payout_hour;`,
  },
]

describe('the audit', () => {
  test('finds nothing wrong with books that are right, and says so rule by rule', async () => {
    const said: string[] = []
    const right = await audit(it.connection, (line) => said.push(line))
    expect(right).toBe(true)
    expect(said.filter((line) => line.startsWith('  holds ')).length).toBe(said.length - 1)
    expect(said.at(-1)).toMatch(/^\nThe books are right: \d+ rules hold\.$/)
  })

  test.each(corruptions)('finds $what: $check', async ({ check, sql, also = [] }) => {
    const broken = await it.brokenBy(sql)
    expect(broken.sort()).toEqual([check, ...also].sort())
  })

  test('has a corruption here for each of its rules', async () => {
    const names: string[] = []
    await findViolations(it.connection, ({ name }) => names.push(name))
    // Notifications, recurrences and phones break theirs beside their modules.
    const elsewhere = [...notificationChecks, ...recurrenceChecks, ...phoneChecks].map(({ name }) => name)
    expect([...new Set(corruptions.map(({ check }) => check)), ...elsewhere].sort()).toEqual(names.sort())
  })

  test('counts every broken row, shows ten of them, and says which rules are broken', async () => {
    const said: string[] = []
    await it.rows(`insert into inbox (rail, kind, rail_id, content_hash, account_id, outcome, outcome_id, settled_at, received_at)
      select 'sandbox', 'payment', 'E' || n, '', 1, 'APPLIED', ${nowhere}, '2026-11-16', '2026-11-16' from generate_series(1, 25) n`)
    onTestFinished(() => it.rows(`delete from inbox where outcome_id = ${nowhere}`).then(() => {}))
    const right = await audit(it.connection, (line) => said.push(line))
    const violations = await findViolations(it.connection)
    expect(right).toBe(false)
    expect(violations).toMatchObject([{ count: 25 }])
    expect(violations[0]!.examples).toHaveLength(10)
    expect(said).toContain('  BROKEN  every payment the rail reported paid a sale or became a reversal (25)')
    expect(said.at(-1)).toBe('\n1 rules are broken.')
  })
})

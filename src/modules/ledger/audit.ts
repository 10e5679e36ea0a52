import { bookAccountNames, bookAccounts, receivedCodes } from './chart.ts'

/** A rule that must hold for every row: the query finds the ones that break it. */
export type AuditCheck = { readonly name: string; readonly sql: string }

const counted = bookAccountNames.flatMap((name) => [
  `coalesce(sum(t.amount_cents) filter (where t.debit = ${bookAccounts[name]}), 0)::bigint as ${name}_dr`,
  `coalesce(sum(t.amount_cents) filter (where t.credit = ${bookAccounts[name]}), 0)::bigint as ${name}_cr`,
])
const differs = bookAccountNames.flatMap((name) => [`b.${name}_dr <> t.${name}_dr`, `b.${name}_cr <> t.${name}_cr`])
const sum = (side: string) => bookAccountNames.map((name) => `b.${name}_${side}`).join(' + ')
const AVAILABLE = bookAccounts.available

/** Finds lines of these codes that belong to no row of the table, or are a second one of their kind. */
export const strayLines = (rows: string, codes: readonly number[]): string => `
  select t.account_id, t.source_id from transfer t left join ${rows} r on r.account_id = t.account_id and r.id = t.source_id
  where t.code in (${codes.join(', ')}) and (r.id is null or t.leg <> 0)`

export const ledgerChecks: readonly AuditCheck[] = [
  {
    name: 'every book balances: debits equal credits',
    sql: `select b.account_id from book b where ${sum('dr')} <> ${sum('cr')}`,
  },
  {
    name: 'no book is below its overdraft limit',
    sql: 'select account_id from book where available_cr - available_dr + overdraft_limit_cents < 0',
  },
  {
    name: 'every counter of a book is the sum of its transfers',
    sql: `select b.account_id from book b
      join (select b2.account_id, ${counted.join(', ')} from book b2 left join transfer t on t.account_id = b2.account_id group by b2.account_id) t
        on t.account_id = b.account_id
      where ${differs.join(' or ')}`,
  },
  {
    name: 'no transfer is without a book',
    sql: 'select t.account_id, t.source_id from transfer t left join book b on b.account_id = t.account_id where b.account_id is null',
  },
  {
    name: 'the sequence of a book has no gaps: version = count = highest number',
    sql: `select b.account_id from book b
      left join (select account_id, count(*) as n, max(book_seq) as high, min(book_seq) as low from transfer group by account_id) t
        on t.account_id = b.account_id
      where b.version <> coalesce(t.n, 0) or b.version <> coalesce(t.high, 0) or coalesce(t.low, 1) <> 1`,
  },
  {
    name: 'the balance after each line is the running sum of the lines before it',
    sql: `select account_id, book_seq from (
        select account_id, book_seq, available_after_cents,
          sum(case when credit = ${AVAILABLE} then amount_cents when debit = ${AVAILABLE} then -amount_cents else 0 end)
            over (partition by account_id order by book_seq) as running
        from transfer) t
      where available_after_cents <> running`,
  },
  {
    name: 'the counts of statement lines are right, in all and by the hour',
    sql: `select b.account_id from book b
      left join (select account_id, count(*) as n from transfer where ${AVAILABLE} in (debit, credit) group by account_id) t using (account_id)
      left join (select account_id, sum(lines)::bigint as n from book_hour group by account_id) h using (account_id)
      where b.available_lines <> coalesce(t.n, 0) or b.available_lines <> coalesce(h.n, 0)
      union all
      select t.account_id from (
        select account_id, floor(extract(epoch from event_at) / 3600)::integer as hour, count(*) as n, min(book_seq) as low, max(book_seq) as high,
          coalesce(sum(amount_cents) filter (where code in (${receivedCodes.join(', ')})), 0)::bigint as received
        from transfer where ${AVAILABLE} in (debit, credit) group by 1, 2) t
      full join book_hour h on h.account_id = t.account_id and h.hour = t.hour
      where h.lines is distinct from t.n or h.seq_low is distinct from t.low or h.seq_high is distinct from t.high
        or h.received_cents is distinct from t.received`,
  },
  {
    name: 'the trial balance over all books is zero',
    sql: `select debit, credit from (select sum(${sum('dr')}) as debit, sum(${sum('cr')}) as credit from book b) t where debit <> credit`,
  },
]

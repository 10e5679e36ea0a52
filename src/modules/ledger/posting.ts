import type { Cents } from '../../kernel/cents.ts'
import { bookAccountNames, bookAccounts, receivedCodes, type TransferKind, transferRules } from './chart.ts'

/** One line of a book to be written: it has one debit, one credit and one amount, so it cannot be unbalanced. */
export type Posting = { readonly kind: TransferKind; readonly leg: number; readonly amount: Cents }

/** As parallel arrays for `unnest`; a batch is one constant text whatever its size. Lines of nothing are left out. */
export type PostingColumns = {
  /** Which item of the batch (1-based, as SQL counts) the line belongs to. */
  ord: number[]
  code: number[]
  leg: number[]
  debit: number[]
  credit: number[]
  amount: number[]
}

export function postingColumns(items: readonly (readonly Posting[])[]): PostingColumns {
  const columns: PostingColumns = { ord: [], code: [], leg: [], debit: [], credit: [], amount: [] }
  items.forEach((postings, index) => {
    for (const { kind, leg, amount } of postings) {
      if (amount === 0) continue
      const rule = transferRules[kind]
      columns.ord.push(index + 1)
      columns.code.push(rule.code)
      columns.leg.push(leg)
      columns.debit.push(bookAccounts[rule.from])
      columns.credit.push(bookAccounts[rule.to])
      columns.amount.push(amount)
    }
  })
  return columns
}

const AVAILABLE = bookAccounts.available

/**
 * Locks the books of a batch, in order, before anything else is locked. Each is looked up by itself: a join would be
 * planned while there are few books, as a walk over all of them.
 */
export const lockBooksCte = (input: string): string => `
  select b.account_id from (select distinct account_id from ${input} order by account_id) i
  cross join lateral (select account_id from book where account_id = i.account_id for no key update) b`

/**
 * Common table expressions that write the lines found in `lines` (account_id, source_id, code, leg, debit, credit,
 * amount, event_at, hour, posted_at, subject_id, ord) into books that the statement has locked: one update a book, gap-free numbers from
 * the locked row, and the available balance after each line. Every line has its book and every book that moved a line, so
 * the full join is a plain one that cannot be planned as each with each.
 */
export function postLinesCtes(lines: string): string {
  const sums = bookAccountNames.flatMap((name) => [
    `coalesce(sum(amount) filter (where debit = ${bookAccounts[name]}), 0)::bigint as ${name}_dr`,
    `coalesce(sum(amount) filter (where credit = ${bookAccounts[name]}), 0)::bigint as ${name}_cr`,
  ])
  const sets = bookAccountNames.flatMap((name) => [
    `${name}_dr = b.${name}_dr + d.${name}_dr`,
    `${name}_cr = b.${name}_cr + d.${name}_cr`,
  ])
  const effect = `case when credit = ${AVAILABLE} then amount when debit = ${AVAILABLE} then -amount else 0 end`
  return `
  book_delta as (
    select account_id, count(*) as n, count(*) filter (where ${AVAILABLE} in (debit, credit)) as available_n,
      ${sums.join(',\n      ')}
    from ${lines} group by account_id
  ), book_moved as (
    update book b set version = b.version + d.n, available_lines = b.available_lines + d.available_n,
      ${sets.join(',\n      ')}
    from book_delta d where b.account_id = d.account_id
    returning b.account_id, b.version - d.n as base,
      b.available_cr - b.available_dr - d.available_cr + d.available_dr as available_before
  ), numbered as materialized (
    select l.*, m.base + row_number() over in_order as book_seq,
      m.available_before + sum(${effect}) over in_order as available_after
    from ${lines} l full join book_moved m using (account_id)
    window in_order as (partition by l.account_id order by l.ord, l.code, l.leg)
  ), transfer_added as (
    insert into transfer (account_id, source_id, code, leg, book_seq, debit, credit, amount_cents, available_after_cents, event_at, posted_at, subject_id)
    select account_id, source_id, code, leg, book_seq, debit, credit, amount, available_after, event_at, posted_at, subject_id from numbered
    returning account_id
  ), book_hour_counted as (
    insert into book_hour as h (account_id, hour, lines, seq_low, seq_high, received_cents)
    select account_id, hour, count(*), min(book_seq), max(book_seq),
      coalesce(sum(amount) filter (where code in (${receivedCodes.join(', ')})), 0)::bigint
    from numbered where ${AVAILABLE} in (debit, credit)
    group by 1, 2 order by 1, 2
    on conflict (account_id, hour) do update set lines = h.lines + excluded.lines,
      seq_low = least(h.seq_low, excluded.seq_low), seq_high = greatest(h.seq_high, excluded.seq_high),
      received_cents = h.received_cents + excluded.received_cents
    returning account_id
  )`
}

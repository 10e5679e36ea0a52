import { hourOf, type Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { Balance } from './book.store.ts'
import { lockBooksCte, type Posting, postingColumns, postLinesCtes } from './posting.ts'

const lockSql = statement<{ available: number; blocked: number; overdraft_limit_cents: number }>(
  'book_lock',
  `select available_cr - available_dr as available, overdraft_limit_cents,
     refund_due_cr - refund_due_dr + payout_due_cr - payout_due_dr as blocked
   from book where account_id = $1 for no key update`,
)

/**
 * A guarded debit locks its book before it decides: nobody spends the same money meanwhile. Undefined where there is no
 * such account: the rail may name any.
 */
export async function lockBook(tx: Transaction, accountId: AccountId): Promise<Balance | undefined> {
  const [row] = await tx.query(lockSql, [accountId])
  return (
    row && {
      available: row.available as Cents,
      blocked: row.blocked as Cents,
      overdraftLimit: row.overdraft_limit_cents as Cents,
    }
  )
}

const postSql = statement<{ account_id: number }>(
  'book_post',
  `with input as materialized (
     select $1::bigint as account_id
   ), locked_books as materialized (${lockBooksCte('input')}
   ), lines as materialized (
     select i.account_id, $2::uuid as source_id, l.code, l.leg, l.debit, l.credit, l.amount, $3::timestamptz as event_at,
       $4::integer as hour, $5::timestamptz as posted_at, 1 as ord, $6::uuid as subject_id
     from unnest($7::smallint[], $8::smallint[], $9::smallint[], $10::smallint[], $11::bigint[]) as l(code, leg, debit, credit, amount), input i
     where (select count(*) from locked_books) > 0
   ), ${postLinesCtes('lines')}
   select account_id from book_moved`,
)

export type Entry = {
  readonly accountId: AccountId
  /** The refund, reversal or payout whose money moves. */
  readonly sourceId: string
  /** What the merchant knows the line by, where it is not the source itself. */
  readonly subjectId: string | null
  readonly postings: readonly Posting[]
  /** Account time. */
  readonly at: Instant
  readonly now: Instant
}

/** Writes the lines of one thing that happened in one book. */
export async function post(
  tx: Transaction,
  { accountId, sourceId, subjectId, postings, at, now }: Entry,
): Promise<void> {
  const { code, leg, debit, credit, amount } = postingColumns([postings])
  if (code.length === 0) return
  const time = [sqlTime(at), hourOf(at), sqlTime(now)]
  await tx.query(postSql, [accountId, sourceId, ...time, subjectId, code, leg, debit, credit, amount])
}

import { HOUR_MS, type Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import {
  findPageWindow,
  isEmpty,
  type PageQuery,
  type PageWindow,
  pageWindowStatement,
} from '../../platform/database/hour-pages.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { bookAccounts, ruleOf, type StatementType } from './chart.ts'

export type StatementLine = {
  readonly sequence: number
  readonly date: Instant
  readonly type: StatementType
  readonly subjectId: string
  readonly description: string
  /** Positive in, negative out. */
  readonly amount: Cents
  readonly balance: Cents
}

const AVAILABLE = bookAccounts.available
const windowSql = pageWindowStatement('statement_window', 'book_hour', 'lines')

// An hour knows the range of sequence numbers it lies in; ranges overlap only where an account's clock was set back.
const seqRange = `
  book_seq >= (select min(seq_low) from book_hour where account_id = $1 and hour between $2 and $3)
  and book_seq <= (select max(seq_high) from book_hour where account_id = $1 and hour between $2 and $3)
  and event_at >= $4 and event_at < $5`

type LineRow = {
  book_seq: number
  source_id: string
  subject_id: string | null
  code: number
  credit: number
  amount_cents: number
  available_after_cents: number
  event_at: Instant
}

const linesSql = statement<LineRow>(
  'statement_lines',
  `select book_seq, source_id, subject_id, code, credit, amount_cents, available_after_cents, event_at from transfer
   where account_id = $1 and ${seqRange} and ${AVAILABLE} in (debit, credit)
   order by book_seq desc offset $6 limit $7`,
)

/** Each line that touches `available`, newest first, with the balance after it. */
export async function findStatement(db: Queryable, accountId: AccountId, page: PageQuery) {
  const window = await findPageWindow(db, windowSql, accountId, page)
  const rows = isEmpty(window)
    ? []
    : await db.query(linesSql, [...rangeValues(accountId, window), page.offset - window.before, page.limit])
  return { total: window.total, lines: rows.map(lineFromRow) }
}

function lineFromRow(row: LineRow): StatementLine {
  const rule = ruleOf(row.code)!
  return {
    sequence: row.book_seq,
    date: row.event_at,
    type: rule.type!,
    subjectId: row.subject_id ?? row.source_id,
    description: rule.description,
    amount: (row.credit === AVAILABLE ? row.amount_cents : -row.amount_cents) as Cents,
    balance: row.available_after_cents as Cents,
  }
}

const rangeValues = (accountId: AccountId, { oldestHour, newestHour }: PageWindow) => [
  accountId,
  oldestHour,
  newestHour,
  sqlTime((oldestHour * HOUR_MS) as Instant),
  sqlTime(((newestHour + 1) * HOUR_MS) as Instant),
]

const sourcesSql = statement<{ source_id: string }>(
  'transfer_sources',
  `select source_id from transfer where account_id = $1 and ${seqRange} and code = $6
   order by book_seq desc offset $7 limit $8`,
)

/** What was posted under a code in a window of hours, newest first: the order in which things were processed. */
export async function findPostedSources(
  db: Queryable,
  {
    accountId,
    code,
    window,
    skip,
    limit,
  }: { accountId: AccountId; code: number; window: PageWindow; skip: number; limit: number },
): Promise<string[]> {
  const rows = await db.query(sourcesSql, [...rangeValues(accountId, window), code, skip, limit])
  return rows.map((row) => row.source_id)
}

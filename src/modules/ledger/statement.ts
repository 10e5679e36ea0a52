import { HOUR_MS, type Instant, SECOND_MS } from '../../kernel/calendar.ts'
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
const HOUR_S = HOUR_MS / SECOND_MS
const windowSql = pageWindowStatement('statement_window', 'book_hour', 'lines')

/**
 * Lines of a window of hours, newest hour first and by sequence within it, as the counts of the hours say. An hour knows
 * the range of sequence numbers it lies in; ranges overlap where an account's clock was set back, so every hour is read
 * for itself. What is skipped lies in the newest hour: the window begins there.
 */
const linesOfHours = (columns: string, condition: string) => `
  select l.* from book_hour h cross join lateral (
    select ${columns} from transfer
    where account_id = $1 and book_seq between h.seq_low and h.seq_high and ${condition}
      and event_at >= to_timestamp(h.hour::bigint * ${HOUR_S}) and event_at < to_timestamp((h.hour::bigint + 1) * ${HOUR_S})
    order by book_seq desc offset case h.hour when $3 then $4::bigint else 0 end limit $5
  ) l
  where h.account_id = $1 and h.hour between $2 and $3
  order by h.hour desc, l.book_seq desc limit $5`

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
  linesOfHours(
    'book_seq, source_id, subject_id, code, credit, amount_cents, available_after_cents, event_at',
    `${AVAILABLE} in (debit, credit)`,
  ),
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

const boundsSql = statement<{ low: number | null; high: number | null }>(
  'statement_bounds',
  'select min(seq_low) as low, max(seq_high) as high from book_hour where account_id = $1 and hour >= $2 and hour < $3',
)
const belowSql = statement<LineRow>(
  'statement_lines_below',
  `select book_seq, source_id, subject_id, code, credit, amount_cents, available_after_cents, event_at from transfer
   where account_id = $1 and book_seq >= $2 and book_seq < $3 and ${AVAILABLE} in (debit, credit)
     and event_at >= to_timestamp($4::bigint * ${HOUR_S}) and event_at < to_timestamp($5::bigint * ${HOUR_S})
   order by book_seq desc limit $6`,
)

/** All lines of some hours, newest first, page by page. Lines that are written meanwhile come after the first one read. */
export async function* statementPages(
  db: Queryable,
  accountId: AccountId,
  { hourFrom, hourTo, limit }: Omit<PageQuery, 'offset'>,
): AsyncGenerator<StatementLine[]> {
  const [bounds] = await db.query(boundsSql, [accountId, hourFrom, hourTo])
  const low = bounds?.low
  if (low == null) return
  for (let below = bounds!.high! + 1; ; ) {
    const rows = await db.query(belowSql, [accountId, low, below, hourFrom, hourTo, limit])
    if (rows.length > 0) yield rows.map(lineFromRow)
    if (rows.length < limit) return
    below = rows.at(-1)!.book_seq
  }
}

const rangeValues = (accountId: AccountId, { oldestHour, newestHour }: PageWindow) => [
  accountId,
  oldestHour,
  newestHour,
]

const sourcesSql = statement<{ source_id: string }>(
  'transfer_sources',
  linesOfHours('source_id, book_seq', 'code = any($6::smallint[])'),
)

/** What was posted under some codes in a window of hours, newest first: the order in which things were processed. */
export async function findPostedSources(
  db: Queryable,
  {
    accountId,
    codes,
    window,
    skip,
    limit,
  }: { accountId: AccountId; codes: readonly number[]; window: PageWindow; skip: number; limit: number },
): Promise<string[]> {
  const rows = await db.query(sourcesSql, [...rangeValues(accountId, window), skip, limit, codes])
  return rows.map((row) => row.source_id)
}

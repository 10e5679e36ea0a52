import { wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { type StatementLine, statementPages } from '../ledger/index.ts'

const PAGE = 1_000
const LINE_END = '\r\n'
const columns = ['id', 'date', 'type', 'saleToken', 'description', 'amount', 'balance']

/** A spreadsheet would run what begins like a formula; numbers of ours may begin with a minus. */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const csvRow = (cells: readonly (string | number)[]): string => cells.map(csvCell).join(',') + LINE_END

const rowOf = (line: StatementLine): string =>
  csvRow([
    line.sequence,
    wireTimestamp(line.date),
    line.type,
    line.subjectId,
    line.description,
    centsToWire(line.amount),
    centsToWire(line.balance),
  ])

/** The statement as text, a page at a time: whoever reads slowly makes us read slowly. */
export async function* statementCsv(
  db: Queryable,
  accountId: AccountId,
  hours: { readonly hourFrom: number; readonly hourTo: number },
): AsyncGenerator<string> {
  yield csvRow(columns)
  for await (const lines of statementPages(db, accountId, { ...hours, limit: PAGE })) yield lines.map(rowOf).join('')
}

import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { type BookAccount, bookAccountNames, bookAccounts, type TransferKind, transferRules } from './chart.ts'

export type Transfer = {
  readonly accountId: AccountId
  readonly sourceId: string
  readonly kind: TransferKind
  readonly leg: number
  readonly sequence: number
  readonly from: BookAccount
  readonly to: BookAccount
  readonly amount: Cents
  /** Account time. */
  readonly at: Instant
}

type Row = {
  account_id: number
  source_id: string
  code: number
  leg: number
  book_seq: number
  debit: number
  credit: number
  amount_cents: number
  event_at: Instant
}

const kinds = new Map<number, TransferKind>(
  (Object.keys(transferRules) as TransferKind[]).map((kind) => [transferRules[kind].code, kind]),
)
const names = new Map<number, BookAccount>(bookAccountNames.map((name) => [bookAccounts[name], name]))

const transferFromRow = (row: Row): Transfer => ({
  accountId: row.account_id as AccountId,
  sourceId: row.source_id,
  kind: kinds.get(row.code)!,
  leg: row.leg,
  sequence: row.book_seq,
  from: names.get(row.debit)!,
  to: names.get(row.credit)!,
  amount: row.amount_cents as Cents,
  at: row.event_at,
})

const columns = 't.account_id, t.source_id, t.code, t.leg, t.book_seq, t.debit, t.credit, t.amount_cents, t.event_at'

const ofSourcesSql = statement<Row>(
  'transfers_of_sources',
  `select ${columns} from transfer t where t.account_id = $1 and t.source_id = any($2::uuid[]) order by t.book_seq`,
)

/** Every line that some things made in the account's book, in order. */
export async function findTransfersOf(
  db: Queryable,
  accountId: AccountId,
  sourceIds: readonly string[],
): Promise<Transfer[]> {
  return (await db.query(ofSourcesSql, [accountId, sourceIds])).map(transferFromRow)
}

const sequencesSql = statement<{ account_id: number; version: number }>(
  'book_sequences',
  'select account_id, version from book where account_id = any($1::bigint[])',
)

/** The number of the last line in each book. */
export async function findLastSequences(
  db: Queryable,
  accountIds: readonly AccountId[],
): Promise<Map<AccountId, number>> {
  const rows = await db.query(sequencesSql, [accountIds])
  return new Map(rows.map((row) => [row.account_id as AccountId, row.version]))
}

const afterSql = statement<Row>(
  'transfers_after',
  `select ${columns} from unnest($1::bigint[], $2::bigint[]) k(account_id, seq) cross join lateral (
     select * from transfer where account_id = k.account_id and book_seq > k.seq order by book_seq limit $3) t
   order by t.account_id, t.book_seq`,
)

/** Lines after a known one, a few of each book. Numbers are given under the book's lock, so none comes in late. */
export async function findTransfersAfter(
  db: Queryable,
  marks: ReadonlyMap<AccountId, number>,
  limit: number,
): Promise<Transfer[]> {
  const values = [[...marks.keys()], [...marks.values()], limit]
  return (await db.query(afterSql, values)).map(transferFromRow)
}

const receivedSql = statement<{ hour: number; received_cents: number }>(
  'book_hour_received',
  'select hour, received_cents from book_hour where account_id = $1 and hour >= $2 and hour < $3',
)

export type Hours = { readonly hourFrom: number; readonly hourTo: number }

/** What sales brought in, by the hour. */
export async function findReceived(db: Queryable, accountId: AccountId, { hourFrom, hourTo }: Hours) {
  const rows = await db.query(receivedSql, [accountId, hourFrom, hourTo])
  return rows.map((row) => ({ hour: row.hour, received: row.received_cents as Cents }))
}

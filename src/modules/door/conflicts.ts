import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import type { CollectionNews, MandateNews, OutflowSettled, PaymentReceived } from '../../rail/rail.ts'

/** News that contradicts what was heard before: set aside, for a person to decide. */
export type Conflict = {
  readonly id: string
  readonly rail: string
  readonly kind: string
  readonly railId: string
  readonly receivedAt: Instant
  readonly event: PaymentReceived | OutflowSettled | MandateNews | CollectionNews
  /** What was heard first under this name and acted on. */
  readonly first: {
    readonly accountId: AccountId
    readonly outcome: 'APPLIED' | 'REVERSED'
    readonly outcomeId: string
    readonly amount: Cents | null
    readonly receivedAt: Instant
  } | null
}

type Row = {
  id: string
  rail: string
  kind: string
  rail_id: string
  content: string
  received_at: Instant
  account_id: number | null
  outcome: 'APPLIED' | 'REVERSED'
  outcome_id: string
  amount_cents: number | null
  first_received_at: Instant
}

// The id tells the time, so the key is the order of the list.
const listSql = statement<Row>(
  'inbox_conflicts',
  `select c.id, c.rail, c.kind, c.rail_id, c.content, c.received_at, i.account_id, i.outcome, i.outcome_id, i.amount_cents,
     i.received_at as first_received_at
   from (select * from inbox_conflict order by id desc offset $1 limit $2) c
     left join inbox i on i.rail = c.rail and i.kind = c.kind and i.rail_id = c.rail_id
   order by c.id desc`,
)
const countSql = statement<{ n: number }>('inbox_conflict_count', 'select count(*) as n from inbox_conflict')

const fromRow = (row: Row): Conflict => ({
  id: row.id,
  rail: row.rail,
  kind: row.kind,
  railId: row.rail_id,
  receivedAt: row.received_at,
  event: JSON.parse(row.content),
  first:
    row.account_id === null
      ? null
      : {
          accountId: row.account_id as AccountId,
          outcome: row.outcome,
          outcomeId: row.outcome_id,
          amount: row.amount_cents as Cents | null,
          receivedAt: row.first_received_at,
        },
})

/** Newest first. */
export async function findConflicts(
  db: Queryable,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ total: number; conflicts: Conflict[] }> {
  const [[count], rows] = await Promise.all([db.query(countSql), db.query(listSql, [offset, limit])])
  return { total: count!.n, conflicts: rows.map(fromRow) }
}

import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { txidOf } from '../../kernel/txid.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { OutflowInstruction, OutflowKind, OutflowOrder } from '../../rail/rail.ts'

/** Money whose hold is committed and whose end the rail will tell. */
export type NewOutflow = {
  readonly accountId: AccountId
  readonly id: string
  readonly kind: OutflowKind
  readonly instruction: OutflowInstruction
  readonly now: Instant
  /** Account time; null where nobody settles it by itself. */
  readonly settlesAt: Instant | null
}

/** What the rail knows the order by. */
export const referenceOf = (accountId: AccountId, id: string) =>
  txidOf({ accountId, saleId: id as SaleId, renewals: 0 })

const addSql = statement(
  'outflow_add',
  `insert into outflow (account_id, id, kind, instruction, due_at, settles_at) values ($1, $2, $3, $4, $5, $6)`,
)

export async function addOutflow(
  tx: Transaction,
  { accountId, id, kind, instruction, now, settlesAt }: NewOutflow,
): Promise<void> {
  const settles = settlesAt === null ? null : sqlTime(settlesAt)
  await tx.query(addSql, [accountId, id, kind, JSON.stringify(instruction), sqlTime(now), settles])
}

/** Part of the door's statement: a reversal is on its way back from the start. \`rows\` has account_id, id, instruction and settles_at. */
export const addOutflowsCte = (rows: string, now: string): string => `
  insert into outflow (account_id, id, kind, instruction, due_at, settles_at)
  select account_id, id, 'REVERSAL', instruction, ${now}, settles_at from ${rows}`

type OrderRow = { account_id: number; id: string; kind: OutflowKind; instruction: string; tries: number }
export type TakenOrder = { readonly accountId: AccountId; readonly id: string; readonly tries: number } & {
  readonly order: OutflowOrder
}

const takeSql = statement<OrderRow>(
  'outflow_take',
  `with picked as materialized (
     select ctid as place from outflow where state = 'RESERVED' and due_at <= $1 order by due_at limit $3 for update skip locked
   )
   update outflow o set due_at = $2, tries = o.tries + 1 where o.ctid = any (array(select place from picked))
   returning o.account_id, o.id, o.kind, o.instruction, o.tries`,
)

/** Orders to send; whoever takes them has them until the lease ends. */
export async function takeOrders(
  db: Queryable,
  { now, leaseEnds, limit }: { now: Instant; leaseEnds: Instant; limit: number },
): Promise<TakenOrder[]> {
  const rows = await db.query(takeSql, [sqlTime(now), sqlTime(leaseEnds), limit])
  return rows.map((row) => ({
    accountId: row.account_id as AccountId,
    id: row.id,
    tries: row.tries,
    order: {
      ...(JSON.parse(row.instruction) as OutflowInstruction),
      kind: row.kind,
      reference: referenceOf(row.account_id as AccountId, row.id),
    },
  }))
}

const keyColumns = (orders: readonly TakenOrder[]) => [
  orders.map(({ accountId }) => accountId),
  orders.map(({ id }) => id),
]

const sentSql = statement(
  'outflow_sent',
  `update outflow o set state = 'SENT' from unnest($1::bigint[], $2::uuid[]) i(account_id, id)
   where o.account_id = i.account_id and o.id = i.id and o.state = 'RESERVED'`,
)

export async function markSent(db: Queryable, orders: readonly TakenOrder[]): Promise<void> {
  await db.query(sentSql, keyColumns(orders))
}

const postponeSql = statement(
  'outflow_postpone',
  `update outflow o set due_at = to_timestamp(i.due_ms / 1000::float8)
   from unnest($1::bigint[], $2::uuid[], $3::float8[]) i(account_id, id, due_ms)
   where o.account_id = i.account_id and o.id = i.id and o.state = 'RESERVED'`,
)

export async function postponeOrders(
  db: Queryable,
  orders: readonly TakenOrder[],
  dueAt: (order: TakenOrder) => Instant,
): Promise<void> {
  await db.query(postponeSql, [...keyColumns(orders), orders.map(dueAt)])
}

const endSql = statement('outflow_end', 'delete from outflow where account_id = $1 and id = $2')

/** The rail has said how it ended. */
export async function endOutflow(tx: Transaction, accountId: AccountId, id: string): Promise<void> {
  await tx.query(endSql, [accountId, id])
}

export type DueOutflow = {
  readonly accountId: AccountId
  readonly id: string
  readonly kind: OutflowKind
  readonly dueAt: Instant
}
type DueRow = { account_id: number; id: string; kind: OutflowKind; settles_at: Instant }
const dueFromRow = (row: DueRow): DueOutflow => ({
  accountId: row.account_id as AccountId,
  id: row.id,
  kind: row.kind,
  dueAt: row.settles_at,
})

const dueSql = statement<DueRow>(
  'outflow_due',
  `select account_id, id, kind, settles_at from outflow where settles_at <= $1 order by settles_at, kind, id limit $2`,
)

/** What settles by itself by real time. */
export async function findDueOutflows(db: Queryable, now: Instant, limit: number): Promise<DueOutflow[]> {
  return (await db.query(dueSql, [sqlTime(now), limit])).map(dueFromRow)
}

const dueOfAccountSql = statement<DueRow>(
  'outflow_due_of_account',
  `select account_id, id, kind, settles_at from outflow
   where account_id = $1 and settles_at <= $2 order by settles_at, kind, id limit $3`,
)

/** The same of one account, by its own clock. */
export async function findDueOutflowsOf(
  db: Queryable,
  accountId: AccountId,
  now: Instant,
  limit: number,
): Promise<DueOutflow[]> {
  return (await db.query(dueOfAccountSql, [accountId, sqlTime(now), limit])).map(dueFromRow)
}

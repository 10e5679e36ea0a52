import { type Instant, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { type Txid, txidOf } from '../../kernel/txid.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { OutflowInstruction, OutflowKind } from '../../rail/rail.ts'
import { lockBook } from '../ledger/index.ts'
import { askAt } from './outflow.ts'

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

/** Part of the door's statement: a reversal is on its way back from the start. `rows` has account_id, id, instruction and settles_at. */
export const addOutflowsCte = (rows: string, now: string): string => `
  insert into outflow (account_id, id, kind, instruction, due_at, settles_at)
  select account_id, id, 'REVERSAL', instruction, ${now}, settles_at from ${rows}`

/** An order, as whoever took it knows it. */
export type TakenOrder = {
  readonly accountId: AccountId
  readonly id: string
  readonly kind: OutflowKind
  readonly reference: Txid
  /** How often it was sent, and how often the rail was asked about it; this time included. */
  readonly tries: number
  readonly asked: number
  readonly instruction: OutflowInstruction
}
type OrderRow = {
  account_id: number
  id: string
  kind: OutflowKind
  instruction: string
  tries: number
  asked: number
}

/** Each condition is an index of its own. */
const waiting = {
  send: "state = 'RESERVED' and cancel_asked_at is null",
  look_up: "state = 'SENT' and cancel_asked_at is null",
  withdraw: 'cancel_asked_at is not null',
}
const takeSql = (what: keyof typeof waiting, counter: 'tries' | 'asked') =>
  statement<OrderRow>(
    `outflow_take_to_${what}`,
    `with picked as materialized (
       select ctid as place from outflow where ${waiting[what]} and due_at <= $1 order by due_at limit $3 for update skip locked
     )
     update outflow o set due_at = $2, ${counter} = o.${counter} + 1 where o.ctid = any (array(select place from picked))
     returning o.account_id, o.id, o.kind, o.instruction, o.tries, o.asked`,
  )
const takeStatements = {
  send: takeSql('send', 'tries'),
  look_up: takeSql('look_up', 'asked'),
  withdraw: takeSql('withdraw', 'asked'),
}

export const LEASE_MS = 30 * SECOND_MS
export const BATCH = 100

/** Orders with which something is to be done now; whoever takes them has them until the lease ends. */
export async function takeOrders(db: Queryable, what: keyof typeof waiting, now: Instant): Promise<TakenOrder[]> {
  const rows = await db.query(takeStatements[what], [sqlTime(now), sqlTime(plusMs(now, LEASE_MS)), BATCH])
  return rows.map((row) => ({
    accountId: row.account_id as AccountId,
    id: row.id,
    kind: row.kind,
    reference: referenceOf(row.account_id as AccountId, row.id),
    tries: row.tries,
    asked: row.asked,
    instruction: JSON.parse(row.instruction) as OutflowInstruction,
  }))
}

type OrderKey = Pick<TakenOrder, 'accountId' | 'id'>
const keyColumns = (orders: readonly OrderKey[]) => [
  orders.map(({ accountId }) => accountId),
  orders.map(({ id }) => id),
]

const sentSql = statement(
  'outflow_sent',
  `update outflow o set state = 'SENT', due_at = case when cancel_asked_at is null then $3 else due_at end
   from unnest($1::bigint[], $2::uuid[]) i(account_id, id)
   where o.account_id = i.account_id and o.id = i.id and o.state = 'RESERVED'`,
)

/** The rail has them; should nothing be heard of them, somebody asks. */
export async function markSent(db: Queryable, orders: readonly TakenOrder[], now: Instant): Promise<void> {
  await db.query(sentSql, [...keyColumns(orders), sqlTime(askAt(now))])
}

const lostSql = statement(
  'outflow_lost',
  `update outflow set state = 'RESERVED', due_at = $3, asked = 0
   where account_id = $1 and id = $2 and state = 'SENT' and cancel_asked_at is null`,
)

/** The rail never heard of it: it is sent again, under the same reference. */
export async function markLost(db: Queryable, { accountId, id }: OrderKey, now: Instant): Promise<void> {
  await db.query(lostSql, [accountId, id, sqlTime(now)])
}

const postponeSql = (what: keyof typeof waiting) =>
  statement(
    `outflow_postpone_to_${what}`,
    `update outflow o set due_at = to_timestamp(i.due_ms / 1000::float8)
     from unnest($1::bigint[], $2::uuid[], $3::float8[]) i(account_id, id, due_ms)
     where o.account_id = i.account_id and o.id = i.id and ${waiting[what]}`,
  )
const postponeStatements = {
  send: postponeSql('send'),
  look_up: postponeSql('look_up'),
  withdraw: postponeSql('withdraw'),
}

/** Of what has moved on meanwhile, nothing changes. */
export async function postponeOrders(
  db: Queryable,
  what: keyof typeof waiting,
  orders: readonly TakenOrder[],
  dueAt: (order: TakenOrder) => Instant,
): Promise<void> {
  await db.query(postponeStatements[what], [...keyColumns(orders), orders.map(dueAt)])
}

const lockSql = statement<{ tries: number; cancel_asked: boolean; instruction: string }>(
  'outflow_lock',
  `select tries, cancel_asked_at is not null as cancel_asked, instruction from outflow where account_id = $1 and id = $2 for update`,
)

/**
 * Nobody takes it meanwhile, and whoever has just taken it is seen. Undefined: it has ended. Its book is locked first, as
 * whoever ends it does.
 */
export async function lockOrder(tx: Transaction, accountId: AccountId, id: string) {
  await lockBook(tx, accountId)
  const [row] = await tx.query(lockSql, [accountId, id])
  const instruction = row && (JSON.parse(row.instruction) as OutflowInstruction)
  return row && { wasTaken: row.tries > 0, cancelAsked: row.cancel_asked, instruction: instruction! }
}

const wantBackSql = statement(
  'outflow_want_back',
  `update outflow set cancel_asked_at = coalesce(cancel_asked_at, $3), cancel_reason = coalesce(cancel_reason, $4), due_at = $5,
     asked = case when cancel_asked_at is null then 1 else asked + 1 end
   where account_id = $1 and id = $2`,
)

/** Its merchant wants it back; whoever says so asks the rail, and has until the lease ends. */
export async function wantBack(
  tx: Transaction,
  { accountId, id, reason, now }: OrderKey & { readonly reason: string | null; readonly now: Instant },
): Promise<void> {
  await tx.query(wantBackSql, [accountId, id, sqlTime(now), reason, sqlTime(plusMs(now, LEASE_MS))])
}

const goOnSql = statement(
  'outflow_go_on',
  `update outflow set cancel_asked_at = null, cancel_reason = null, asked = 0,
     due_at = case state when 'SENT' then $4::timestamptz else $3::timestamptz end
   where account_id = $1 and id = $2 and cancel_asked_at is not null`,
)

/** The rail keeps it: it goes on as before. */
export async function goOn(db: Queryable, { accountId, id }: OrderKey, now: Instant): Promise<void> {
  await db.query(goOnSql, [accountId, id, sqlTime(now), sqlTime(askAt(now))])
}

export type EndedOrder = { readonly cancelAsked: boolean; readonly cancelReason: string | null }
const endSql = statement<{ cancel_asked: boolean; cancel_reason: string | null }>(
  'outflow_end',
  `delete from outflow where account_id = $1 and id = $2 returning cancel_asked_at is not null as cancel_asked, cancel_reason`,
)

/** The rail has said how it ended, or never heard of it. Answers whether its merchant wanted it back. */
export async function endOutflow(tx: Transaction, accountId: AccountId, id: string): Promise<EndedOrder> {
  const [row] = await tx.query(endSql, [accountId, id])
  return { cancelAsked: row?.cancel_asked ?? false, cancelReason: row?.cancel_reason ?? null }
}

const countSql = statement<{ state: string; n: number }>(
  'outflow_count',
  'select state, count(*) as n from outflow group by state',
)

/** How many orders wait to be sent, and how many for their end. */
export async function countOrders(db: Queryable): Promise<{ readonly reserved: number; readonly sent: number }> {
  const rows = await db.query(countSql)
  const of = (state: string) => rows.find((row) => row.state === state)?.n ?? 0
  return { reserved: of('RESERVED'), sent: of('SENT') }
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
  `select account_id, id, kind, settles_at from outflow where settles_at <= $1 and cancel_asked_at is null order by settles_at, kind, id limit $2`,
)

/** What settles by itself by real time. */
export async function findDueOutflows(db: Queryable, now: Instant, limit: number): Promise<DueOutflow[]> {
  return (await db.query(dueSql, [sqlTime(now), limit])).map(dueFromRow)
}

const dueOfAccountSql = statement<DueRow>(
  'outflow_due_of_account',
  `select account_id, id, kind, settles_at from outflow
   where account_id = $1 and settles_at <= $2 and cancel_asked_at is null order by settles_at, kind, id limit $3`,
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

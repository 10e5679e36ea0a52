import type { Instant } from '../../kernel/calendar.ts'
import type { Cents, ShareUnits } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'

/** A leg of a sale as it was agreed at checkout; it never changes. */
export type Leg = {
  /** The parent's. */
  readonly accountId: AccountId
  readonly saleId: SaleId
  /** Its place in the request, from 0. */
  readonly leg: number
  readonly recipientId: AccountId
  readonly recipientUuid: AccountUuid
  /** The recipient-side transaction. */
  readonly transactionId: SaleId
  readonly amount: Cents
  readonly share: ShareUnits | null
  readonly externalReference: string | null
}

type Row = {
  account_id: number
  sale_id: string
  leg: number
  recipient_account_id: number
  recipient_uuid: string
  transaction_id: string
  amount_cents: number
  share: number | null
  external_reference: string | null
}

const findSql = statement<Row>(
  'split_legs',
  `select l.account_id, l.sale_id, l.leg, l.recipient_account_id, l.recipient_uuid, l.transaction_id, l.amount_cents, l.share,
     l.external_reference
   from unnest($1::bigint[], $2::uuid[]) k(account_id, sale_id) join split_leg l using (account_id, sale_id)
   order by l.account_id, l.sale_id, l.leg`,
)

/** The legs of some sales, by sale, each in the order of the request. */
export async function findLegs(
  db: Queryable,
  sales: readonly { readonly accountId: AccountId; readonly id: SaleId }[],
): Promise<Map<SaleId, readonly Leg[]>> {
  const found = new Map<SaleId, Leg[]>()
  if (sales.length === 0) return found
  const rows = await db.query(findSql, [sales.map((sale) => sale.accountId), sales.map((sale) => sale.id)])
  for (const row of rows) {
    const leg: Leg = {
      accountId: row.account_id as AccountId,
      saleId: row.sale_id as SaleId,
      leg: row.leg,
      recipientId: row.recipient_account_id as AccountId,
      recipientUuid: row.recipient_uuid as AccountUuid,
      transactionId: row.transaction_id as SaleId,
      amount: row.amount_cents as Cents,
      share: row.share as ShareUnits | null,
      externalReference: row.external_reference,
    }
    const known = found.get(leg.saleId)
    if (known) known.push(leg)
    else found.set(leg.saleId, [leg])
  }
  return found
}

/** The recipient-side transactions of the sales in `sales`, which has account_id, id and legs. */
export const legsOfSql = (sales: string): string => `
    select l.recipient_account_id, l.transaction_id
    from ${sales} p join split_leg l on l.account_id = p.account_id and l.sale_id = p.id where p.legs > 0`

/**
 * Part of the checkout's statement: rows of `legRows`, joined by the writer with what it created. The columns of a leg are
 * those of its recipient-side transaction too.
 */
export const legRows = (first: number): string => {
  const at = (offset: number) => `$${first + offset}`
  return `unnest(${at(0)}::bigint[], ${at(1)}::smallint[], ${at(2)}::bigint[], ${at(3)}::uuid[], ${at(4)}::uuid[], ${at(5)}::bigint[], ${at(6)}::integer[], ${at(7)}::text[],
       ${at(8)}::bigint[], ${at(9)}::bigint[], ${at(10)}::bigint[], ${at(11)}::integer[])
     as l(ord, leg, recipient_account_id, recipient_uuid, transaction_id, leg_amount, share, external_reference,
       leg_number, leg_created_ms, leg_expires_ms, leg_hour)`
}

export type LegRow = Leg & {
  /** The sale's place in the batch, from 1. */
  readonly ord: number
  readonly number: number
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly hour: number
}

export function legColumns(legs: readonly LegRow[]): unknown[][] {
  const column = (of: (leg: LegRow) => unknown) => legs.map(of)
  return [
    column((leg) => leg.ord),
    column((leg) => leg.leg),
    column((leg) => leg.recipientId),
    column((leg) => leg.recipientUuid),
    column((leg) => leg.transactionId),
    column((leg) => leg.amount),
    column((leg) => leg.share),
    column((leg) => leg.externalReference),
    column((leg) => leg.number),
    column((leg) => leg.createdAt),
    column((leg) => leg.expiresAt),
    column((leg) => leg.hour),
  ]
}

export const addLegsCte = (legs: string): string => `
  insert into split_leg (account_id, sale_id, leg, recipient_account_id, recipient_uuid, transaction_id, amount_cents, share, external_reference)
  select account_id, sale_id, leg, recipient_account_id, recipient_uuid, transaction_id, leg_amount, share, external_reference
  from ${legs}`

/** Part of the payment's statement: every paid leg is told to its recipient's side. `legs` has account_id and transaction_id. */
export const addMessagesCte = (legs: string, now: string): string => `
  insert into split_message (account_id, transaction_id, due_at)
  select account_id, transaction_id, ${now} from ${legs}`

export type Message = { readonly accountId: AccountId; readonly transactionId: SaleId; readonly tries: number }

const takeSql = statement<{ account_id: number; transaction_id: string; tries: number }>(
  'split_message_take',
  `with picked as materialized (
     select ctid as place from split_message where due_at <= $1 order by due_at limit $3 for update skip locked
   )
   update split_message m set due_at = $2, tries = m.tries + 1
   where m.ctid = any (array(select place from picked)) returning m.account_id, m.transaction_id, m.tries`,
)

/** Takes due messages until the lease ends; one whose process dies is due again then. */
export async function takeMessages(
  db: Queryable,
  { now, leaseEnds, limit }: { now: Instant; leaseEnds: Instant; limit: number },
): Promise<Message[]> {
  const rows = await db.query(takeSql, [sqlTime(now), sqlTime(leaseEnds), limit])
  return rows.map((row) => ({
    accountId: row.account_id as AccountId,
    transactionId: row.transaction_id as SaleId,
    tries: row.tries,
  }))
}

const countSql = statement<{ n: number }>('split_message_count', 'select count(*) as n from split_message')

/** Shares that wait to be credited. */
export async function countMessages(db: Queryable): Promise<number> {
  return (await db.query(countSql))[0]!.n
}

/** Part of the credit's statement: its message has arrived. `settled` has account_id and id. */
export const dropMessagesCte = (settled: string): string => `
  delete from split_message m using ${settled} s where m.account_id = s.account_id and m.transaction_id = s.id`

const dropSql = statement(
  'split_message_drop',
  dropMessagesCte('(select * from unnest($1::bigint[], $2::uuid[]) k(account_id, id))'),
)

/** Messages that came again although their share is settled. */
export async function dropMessages(db: Queryable, messages: readonly Message[]): Promise<void> {
  await db.query(dropSql, [
    messages.map(({ accountId }) => accountId),
    messages.map(({ transactionId }) => transactionId),
  ])
}

const postponeSql = statement(
  'split_message_postpone',
  `update split_message m set due_at = to_timestamp(i.due_ms / 1000::float8)
   from unnest($1::bigint[], $2::uuid[], $3::float8[]) i(account_id, transaction_id, due_ms)
   where m.account_id = i.account_id and m.transaction_id = i.transaction_id`,
)

export async function postponeMessages(
  db: Queryable,
  messages: readonly (Message & { readonly dueAt: Instant })[],
): Promise<void> {
  await db.query(postponeSql, [
    messages.map(({ accountId }) => accountId),
    messages.map(({ transactionId }) => transactionId),
    messages.map(({ dueAt }) => dueAt),
  ])
}

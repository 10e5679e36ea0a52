import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'

export type SaleHour = {
  readonly hour: number
  /** Made in the hour, and how many of them stand where now. */
  readonly created: number
  readonly paidOfThem: number
  /** Paid in the hour, whenever they were made. */
  readonly paid: number
}

const hoursSql = statement<{ hour: number; created: number; paid: number; processed: number }>(
  'sale_hours',
  `select hour, pending + paid + cancelled as created, paid, processed from sale_hour
   where account_id = $1 and hour >= $2 and hour < $3`,
)

export async function findSaleHours(
  db: Queryable,
  accountId: AccountId,
  { hourFrom, hourTo }: { hourFrom: number; hourTo: number },
): Promise<SaleHour[]> {
  const rows = await db.query(hoursSql, [accountId, hourFrom, hourTo])
  return rows.map((row) => ({ hour: row.hour, created: row.created, paidOfThem: row.paid, paid: row.processed }))
}

const RECENT_HOURS = 24 * 31
const marksSql = statement<{ account_id: number; mark: string }>(
  'sale_marks',
  `select h.account_id, sum(pending) || ' ' || sum(paid) || ' ' || sum(cancelled) as mark
   from unnest($1::bigint[]) k(account_id) cross join lateral (
     select * from sale_hour where account_id = k.account_id order by hour desc limit ${RECENT_HOURS}) h
   group by h.account_id`,
)

/** Changes whenever a sale of the account's last busy hours is made or changes its state. */
export async function findSaleMarks(db: Queryable, accountIds: readonly AccountId[]): Promise<Map<AccountId, string>> {
  const rows = await db.query(marksSql, [accountIds])
  return new Map(rows.map((row) => [row.account_id as AccountId, row.mark]))
}

import { hourOf, type Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, NumberId, PayoutId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { PayoutError } from '../../rail/rail.ts'
import type { Beneficiary, Payout, PayoutEndState, PayoutState } from './payout.ts'

export type PayoutRow = {
  account_id: number
  id: string
  number: number
  amount_cents: number
  fee_cents: number
  reference_code: string
  beneficiary: string
  callback_url: string | null
  notes: string | null
  state: PayoutState
  error_code: PayoutError | null
  error_detail: string | null
  created_at: Instant
  closed_at: Instant | null
}

const columns =
  'account_id, id, number, amount_cents, fee_cents, reference_code, beneficiary, callback_url, notes, state, error_code, error_detail, created_at, closed_at'

export const payoutFromRow = (row: PayoutRow): Payout => ({
  accountId: row.account_id as AccountId,
  id: row.id as PayoutId,
  number: row.number as NumberId,
  amount: row.amount_cents as Cents,
  fee: row.fee_cents as Cents,
  referenceCode: row.reference_code,
  beneficiary: JSON.parse(row.beneficiary) as Beneficiary,
  callbackUrl: row.callback_url,
  notes: row.notes,
  state: row.state,
  errorCode: row.error_code,
  errorDetail: row.error_detail,
  createdAt: row.created_at,
  closedAt: row.closed_at,
})

const insertSql = statement(
  'payout_insert',
  `with counted as (
     insert into payout_hour as h (account_id, hour, pending, paid, cancelled, failed, processed) values ($1, $11, 1, 0, 0, 0, 0)
     on conflict (account_id, hour) do update set pending = h.pending + 1
   )
   insert into payout (account_id, id, number, amount_cents, fee_cents, reference_code, beneficiary, callback_url, notes, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
)

export async function insertPayout(tx: Transaction, payout: Payout): Promise<void> {
  await tx.query(insertSql, [
    payout.accountId,
    payout.id,
    payout.number,
    payout.amount,
    payout.fee,
    payout.referenceCode,
    JSON.stringify(payout.beneficiary),
    payout.callbackUrl,
    payout.notes,
    sqlTime(payout.createdAt),
    hourOf(payout.createdAt),
  ])
}

const findSql = statement<PayoutRow>('payout_find', `select ${columns} from payout where account_id = $1 and id = $2`)
const lockSql = statement<PayoutRow>(
  'payout_lock',
  `select ${columns} from payout where account_id = $1 and id = $2 for no key update`,
)

export async function findPayout(db: Queryable, accountId: AccountId, id: PayoutId): Promise<Payout | undefined> {
  const [row] = await db.query(findSql, [accountId, id])
  return row && payoutFromRow(row)
}

export async function lockPayout(tx: Transaction, accountId: AccountId, id: PayoutId): Promise<Payout | undefined> {
  const [row] = await tx.query(lockSql, [accountId, id])
  return row && payoutFromRow(row)
}

const closeSql = (to: PayoutEndState) => {
  const [paid, cancelled, failed] = (['PAID', 'CANCELLED', 'FAILED'] as const).map((state) => (state === to ? 1 : 0))
  return statement<{ turns: number }>(
    `payout_close_${to}`,
    `with closed as (
       update payout set state = '${to}', closed_at = $3, error_code = $4, error_detail = $5, cancel_reason = $6, turns = turns + 1
       where account_id = $1 and id = $2 and state = 'PENDING' returning turns
     ), counted as (
       insert into payout_hour as h (account_id, hour, pending, paid, cancelled, failed, processed)
       select $1, hour, sum(pending)::bigint, sum(paid)::bigint, sum(cancelled)::bigint, sum(failed)::bigint, sum(processed)::bigint from (
         values ($7::integer, -1, ${paid}, ${cancelled}, ${failed}, 0), ($8::integer, 0, 0, 0, 0, ${paid})
       ) c(hour, pending, paid, cancelled, failed, processed)
       where exists (select 1 from closed) group by hour order by hour
       on conflict (account_id, hour) do update set pending = h.pending + excluded.pending, paid = h.paid + excluded.paid,
         cancelled = h.cancelled + excluded.cancelled, failed = h.failed + excluded.failed, processed = h.processed + excluded.processed
     )
     select turns from closed`,
  )
}
const closeStatements: Record<PayoutEndState, ReturnType<typeof closeSql>> = {
  PAID: closeSql('PAID'),
  CANCELLED: closeSql('CANCELLED'),
  FAILED: closeSql('FAILED'),
}

export type PayoutEnd = {
  readonly to: PayoutEndState
  readonly at: Instant
  readonly error: PayoutError | null
  readonly detail: string | null
  readonly reason: string | null
}

/** Answers the turn of the news; the guard repeats the state. */
export async function closePayout(
  tx: Transaction,
  { accountId, id, createdAt }: Payout,
  { to, at, error, detail, reason }: PayoutEnd,
): Promise<number> {
  const values = [accountId, id, sqlTime(at), error, detail, reason, hourOf(createdAt), hourOf(at)]
  return (await tx.query(closeStatements[to], values))[0]!.turns
}

const byIdsSql = statement<PayoutRow>(
  'payout_by_ids',
  `select ${columns} from unnest($2::uuid[]) as w(wanted) join payout on account_id = $1 and id = wanted`,
)

export async function findPayoutsById(db: Queryable, accountId: AccountId, ids: readonly string[]): Promise<Payout[]> {
  return ids.length === 0 ? [] : (await db.query(byIdsSql, [accountId, ids])).map(payoutFromRow)
}

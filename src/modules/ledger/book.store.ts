import type { Cents } from '../../kernel/cents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { type BookAccount, bookAccountNames } from './chart.ts'

const openSql = statement('book_open', 'insert into book (account_id, overdraft_limit_cents) values ($1, $2)')

/** An account is opened with its book. */
export async function openBook(tx: Transaction, accountId: AccountId, overdraftLimit: Cents): Promise<void> {
  await tx.query(openSql, [accountId, overdraftLimit])
}

export type Balance = {
  readonly available: Cents
  /** Open refund and payout holds. */
  readonly blocked: Cents
  readonly overdraftLimit: Cents
}

const balanceSql = statement<{ available: number; blocked: number; overdraft_limit_cents: number }>(
  'book_balance',
  `select available_cr - available_dr as available, overdraft_limit_cents,
     refund_due_cr - refund_due_dr + payout_due_cr - payout_due_dr as blocked
   from book where account_id = $1`,
)

export async function findBalance(db: Queryable, accountId: AccountId): Promise<Balance | undefined> {
  const [row] = await db.query(balanceSql, [accountId])
  return (
    row && {
      available: row.available as Cents,
      blocked: row.blocked as Cents,
      overdraftLimit: row.overdraft_limit_cents as Cents,
    }
  )
}

const setOverdraftSql = statement<{ account_id: number }>(
  'book_set_overdraft',
  `update book set overdraft_limit_cents = $2
   where account_id = $1 and available_cr - available_dr + $2 >= 0 returning account_id`,
)

/** False when the account already uses more than the new limit. */
export async function setOverdraftLimit(tx: Transaction, accountId: AccountId, limit: Cents): Promise<boolean> {
  return (await tx.query(setOverdraftSql, [accountId, limit])).length === 1
}

export type TrialBalance = Readonly<Record<BookAccount, { debit: Cents; credit: Cents }>>

const sums = bookAccountNames.map(
  (name) => `sum(${name}_dr)::bigint as ${name}_dr, sum(${name}_cr)::bigint as ${name}_cr`,
)
const trialBalanceSql = statement<Record<string, number>>('book_trial_balance', `select ${sums.join(', ')} from book`)

/** All books together are the operator's general ledger. */
export async function findTrialBalance(db: Queryable): Promise<TrialBalance> {
  const [row] = await db.query(trialBalanceSql)
  const side = (name: BookAccount) => ({ debit: row![`${name}_dr`] as Cents, credit: row![`${name}_cr`] as Cents })
  return Object.fromEntries(bookAccountNames.map((name) => [name, side(name)])) as TrialBalance
}

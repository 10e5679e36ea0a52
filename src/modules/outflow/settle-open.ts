import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { lockBook } from '../ledger/index.ts'
import { settlesAt } from './outflow.ts'

const beginSql = statement(
  'outflow_begin_to_settle',
  'update outflow set settles_at = $2 where account_id = $1 and settles_at is null',
)
const bringNearSql = statement(
  'outflow_bring_near',
  'update outflow set settles_at = $2 where account_id = $1 and settles_at > $2',
)

/** As if it were made now. Whoever makes more meanwhile waits for the book, and then sees the account as it is. */
async function settleFromNow(tx: Transaction, sql: typeof beginSql, accountId: AccountId, now: Instant): Promise<void> {
  await lockBook(tx, accountId)
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = settlesAt({ autoSettle: true }, accountNow(account, now))!
  await tx.query(sql, [accountId, sqlTime(at)])
}

/** The account wants what goes out to settle by itself, and so does what is on its way already. */
export const beginToSettle = (tx: Transaction, accountId: AccountId, now: Instant) =>
  settleFromNow(tx, beginSql, accountId, now)

/** The account's clock was set back: what was made ahead does not wait until then. */
export const bringNear = (tx: Transaction, accountId: AccountId, now: Instant) =>
  settleFromNow(tx, bringNearSql, accountId, now)

import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'

/** Money is settled by the clock of whoever gets it. */
export async function receiversTime(db: Queryable, accountId: AccountId, now: Instant): Promise<Instant> {
  return accountNow((await findAccountTerms(db, [accountId])).get(accountId)!, now)
}

import type { AccountId } from '../kernel/ids.ts'
import { accountNow, findAccountsAhead, findAccountTerms } from '../modules/account/index.ts'
import { expireSale, expireSales, findNextExpiry } from '../modules/sale/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { pruneKeys } from '../platform/idempotency/idempotency.store.ts'

const EXPIRE_BATCH = 500
const PRUNE_BATCH = 1_000
const ACCOUNTS_PAGE = 200

export type SweepContext = { readonly db: Database; readonly clock: Clock; readonly onExpired: (count: number) => void }

/** Everything of a kind that is due now, in batches, until a batch comes back short. */
export async function sweepExpiries({ db, clock, onExpired }: SweepContext): Promise<number> {
  let all = 0
  for (;;) {
    const { cancelled, full } = await expireSales(db, clock.now(), EXPIRE_BATCH)
    all += cancelled
    if (cancelled > 0) onExpired(cancelled)
    // Full of sales that others hold: the next turn will find them free.
    if (!full || cancelled === 0) break
  }
  return all + (await sweepAccountsAhead({ db, clock, onExpired }))
}

/** An account whose clock runs ahead expires its sales by that clock. */
async function sweepAccountsAhead({ db, clock, onExpired }: SweepContext): Promise<number> {
  let all = 0
  for (let after = 0 as AccountId; ; ) {
    const accountIds = await findAccountsAhead(db, after, ACCOUNTS_PAGE)
    const terms = await findAccountTerms(db, accountIds)
    for (const accountId of accountIds) {
      for (;;) {
        const due = await findNextExpiry(db, accountId, accountNow(terms.get(accountId)!, clock.now()))
        if (due === undefined) break
        if (await db.inTransaction((tx) => expireSale(tx, accountId, due.saleId))) all += 1
      }
    }
    if (accountIds.length < ACCOUNTS_PAGE) break
    after = accountIds.at(-1)!
  }
  if (all > 0) onExpired(all)
  return all
}

export async function sweepIdempotencyKeys({ db, clock }: SweepContext): Promise<void> {
  while ((await pruneKeys(db, clock.now(), PRUNE_BATCH)) === PRUNE_BATCH);
}

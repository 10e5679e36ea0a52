import type { Instant } from '../kernel/calendar.ts'
import type { AccountId } from '../kernel/ids.ts'
import {
  type AccountTerms,
  accountNow,
  findAccountsAhead,
  findAccountTerms,
  pruneAttempts,
  pruneSessions,
} from '../modules/account/index.ts'
import { keepNotificationDays } from '../modules/notification/index.ts'
import { expireLateSales, expireSale, expireSales, findNextExpiries } from '../modules/sale/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { pruneKeys } from '../platform/idempotency/idempotency.store.ts'

const EXPIRE_BATCH = 500
const PRUNE_BATCH = 1_000
const ACCOUNTS_PAGE = 200

export type SweepContext = {
  readonly db: Database
  readonly clock: Clock
  readonly onExpired: (count: number) => void
  readonly notificationDays: number
  /** Notifications that waited for their receiver until they were no longer kept. */
  readonly onUndelivered: (count: number) => void
  /** Settles what goes out by itself, of everybody or of one account by its own clock; a sandbox has it. */
  readonly settleOutflows?: (
    stopping: () => boolean,
    account?: { readonly accountId: AccountId; readonly now: Instant },
  ) => Promise<number>
  /** A step each: what merchants want back, and what the rail has had for long. True when there may be more. */
  readonly withdrawOrders: () => Promise<boolean>
  readonly lookUpOrders: () => Promise<boolean>
  /** Does what is due of recurrences, of everybody or of one account by its own clock. */
  readonly runRecurrences?: (
    stopping: () => boolean,
    account?: { readonly accountId: AccountId; readonly now: Instant },
  ) => Promise<void>
  /** Between two batches: a stop need not wait for the rest. */
  readonly stopping?: () => boolean
}

/** Everything that expired, in batches, until one comes back short. */
export async function sweepExpiries(context: SweepContext): Promise<number> {
  const { db, clock, onExpired, stopping } = context
  for (let all = 0; ; ) {
    const { cancelled, more } = await expireSales(db, clock.now(), EXPIRE_BATCH)
    all += cancelled
    if (cancelled > 0) onExpired(cancelled)
    if (stopping?.()) return all
    if (!more) return all + (await sweepAccountsAhead(context))
  }
}

export async function sweepLateExpiries({ db, onExpired }: SweepContext): Promise<number> {
  const cancelled = await expireLateSales(db, EXPIRE_BATCH)
  if (cancelled > 0) onExpired(cancelled)
  return cancelled
}

/** Money on its way out that settles by itself. */
export async function sweepOutflows(context: SweepContext): Promise<number> {
  const { clock, settleOutflows, stopping = () => false } = context
  if (settleOutflows === undefined) return 0
  let all = await settleOutflows(stopping)
  await eachAccountAhead(context, async (account) => {
    all += await settleOutflows(stopping, { accountId: account.id, now: accountNow(account, clock.now()) })
  })
  return all
}

/** Asks the rail for what merchants want back and about what it has said nothing of. */
export async function sweepOrders({ withdrawOrders, lookUpOrders, stopping }: SweepContext): Promise<void> {
  while ((await withdrawOrders()) && !stopping?.());
  while (!stopping?.() && (await lookUpOrders()));
}

/** Mandates that nobody answered, and charges whose time has come. */
export async function sweepRecurrences(context: SweepContext): Promise<void> {
  const { clock, runRecurrences, stopping = () => false } = context
  if (runRecurrences === undefined) return
  await runRecurrences(stopping)
  await eachAccountAhead(context, (account) =>
    runRecurrences(stopping, { accountId: account.id, now: accountNow(account, clock.now()) }),
  )
}

/** An account whose clock runs ahead expires its sales by that clock. */
async function sweepAccountsAhead(context: SweepContext): Promise<number> {
  let all = 0
  await eachAccountAhead(context, async (account) => {
    all += await expireAhead(context, account)
  })
  if (all > 0) context.onExpired(all)
  return all
}

async function eachAccountAhead(context: SweepContext, work: (account: AccountTerms) => Promise<void>): Promise<void> {
  const { db, stopping } = context
  for (let after = 0 as AccountId; ; ) {
    const accountIds = await findAccountsAhead(db, after, ACCOUNTS_PAGE)
    const terms = await findAccountTerms(db, accountIds)
    for (const accountId of accountIds) if (!stopping?.()) await work(terms.get(accountId)!)
    if (accountIds.length < ACCOUNTS_PAGE || stopping?.()) return
    after = accountIds.at(-1)!
  }
}

async function expireAhead({ db, clock }: SweepContext, account: AccountTerms): Promise<number> {
  const now = accountNow(account, clock.now())
  let cancelled = 0
  for (const { saleId } of await findNextExpiries(db, account.id, now, EXPIRE_BATCH))
    if (await db.inTransaction((tx) => expireSale(tx, { accountId: account.id, saleId, now }))) cancelled += 1
  return cancelled
}

export async function sweepIdempotencyKeys({ db, clock, stopping }: SweepContext): Promise<void> {
  while ((await pruneKeys(db, clock.now(), PRUNE_BATCH)) === PRUNE_BATCH && !stopping?.());
}

/** Sessions that ended, and attempts to sign in that no longer count. */
export async function sweepSessions({ db, clock }: SweepContext): Promise<void> {
  await pruneSessions(db, clock.now())
  await pruneAttempts(db, clock.now())
}

export async function sweepNotificationDays({
  db,
  clock,
  notificationDays,
  onUndelivered,
}: SweepContext): Promise<void> {
  const { undelivered } = await keepNotificationDays(db, clock.now(), notificationDays)
  if (undelivered > 0) onUndelivered(undelivered)
}

import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { PayoutError } from '../../rail/rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { lockBook, post } from '../ledger/index.ts'
import { type Outbox, tell } from '../notification/index.ts'
import { endOutflow } from '../outflow/index.ts'
import { closePayout, lockPayout } from './payout.store.ts'
import { movePayout, type Payout, type PayoutTrigger, payoutNews, postingsForPayout } from './payout.ts'

export type SettlePayoutContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly outbox: Outbox
  readonly now: Instant
}
export type EndPayout = {
  readonly accountId: AccountId
  readonly id: PayoutId | undefined
  readonly on: PayoutTrigger
  readonly error?: PayoutError
  readonly reason?: string | null
}
export type EndPayoutRefusal = { readonly code: 'payout.notFound' | 'payout.notPending' }

/** Paid, failed or cancelled: out of its hold, and told where it is news. */
export async function endPayout(
  { tx, ids, outbox, now }: SettlePayoutContext,
  { accountId, id, on, error, reason }: EndPayout,
): Promise<Result<Payout, EndPayoutRefusal>> {
  await lockBook(tx, accountId)
  const payout = id && (await lockPayout(tx, accountId, id))
  if (!payout) return refuse({ code: 'payout.notFound' })
  const to = movePayout(payout.state, on)
  if (to === undefined || to === 'PENDING') return refuse({ code: 'payout.notPending' })
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = accountNow(account, now)
  const errorCode = to === 'FAILED' ? (error ?? 'PE0004') : null
  const turn = await closePayout(tx, payout, { to, at, error: errorCode, reason: reason ?? null })
  const ended: Payout = { ...payout, state: to, errorCode, closedAt: at }
  await post(tx, { accountId, sourceId: payout.id, subjectId: null, postings: postingsForPayout[to](payout), at, now })
  await endOutflow(tx, accountId, payout.id)
  if (to !== 'CANCELLED')
    await tell(tx, { news: payoutNews(ended, at), settings: account.notifications, turn, ids, outbox, now })
  return ok(ended)
}

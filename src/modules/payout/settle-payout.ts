import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { OutflowSettled } from '../../rail/rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { lockBook, post } from '../ledger/index.ts'
import { type Outbox, tell } from '../notification/index.ts'
import { endOutflow } from '../outflow/index.ts'
import { closePayout, lockPayout, type PayoutEnd } from './payout.store.ts'
import {
  cleanDetail,
  movePayout,
  type Payout,
  type PayoutState,
  payoutNews,
  postingsForPayout,
  triggerOf,
} from './payout.ts'

export type SettlePayoutContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly outbox: Outbox
  readonly now: Instant
}
export type PayoutRefusal =
  | { readonly code: 'payout.notFound' }
  | { readonly code: 'payout.notPending'; readonly state: PayoutState }

/** Book, then payout: whoever ends it looks at it under both locks. */
export async function lockPending(
  tx: Transaction,
  accountId: AccountId,
  id: PayoutId | undefined,
): Promise<Result<Payout, PayoutRefusal>> {
  await lockBook(tx, accountId)
  const payout = id && (await lockPayout(tx, accountId, id))
  if (!payout) return refuse({ code: 'payout.notFound' })
  return payout.state === 'PENDING' ? ok(payout) : refuse({ code: 'payout.notPending', state: payout.state })
}

export type SettlePayout = {
  readonly accountId: AccountId
  readonly id: PayoutId
} & Pick<OutflowSettled, 'outcome' | 'error' | 'detail'>

const CANCELLED_BY_THE_RAIL = 'The bank cancelled it.'

/** What the rail says of it. */
export async function settlePayout(
  context: SettlePayoutContext,
  { accountId, id, outcome, error, detail }: SettlePayout,
): Promise<Result<Payout, PayoutRefusal>> {
  const pending = await lockPending(context.tx, accountId, id)
  if (!pending.ok) return pending
  const { cancelAsked, cancelReason } = await endOutflow(context.tx, accountId, id)
  const to = movePayout(pending.value.state, triggerOf(outcome, cancelAsked))!
  if (to !== 'FAILED') return ok(await endPayout(context, pending.value, { to, reason: cancelReason }))
  const why = cleanDetail(detail) ?? (outcome === 'CANCELLED' ? CANCELLED_BY_THE_RAIL : null)
  return ok(await endPayout(context, pending.value, { to, error: error ?? 'PE0004', detail: why }))
}

type Ending = Pick<PayoutEnd, 'to'> & Partial<Pick<PayoutEnd, 'error' | 'detail' | 'reason'>>

/** Out of its hold, and told where it is news. */
export async function endPayout(
  { tx, ids, outbox, now }: SettlePayoutContext,
  payout: Payout,
  { to, error = null, detail = null, reason = null }: Ending,
): Promise<Payout> {
  const { accountId, id } = payout
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = accountNow(account, now)
  const turn = await closePayout(tx, payout, { to, at, error, detail, reason })
  const ended: Payout = { ...payout, state: to, errorCode: error, errorDetail: detail, closedAt: at }
  await post(tx, { accountId, sourceId: id, subjectId: null, postings: postingsForPayout[to](payout), at, now })
  if (to !== 'CANCELLED')
    await tell(tx, { news: payoutNews(ended, at), settings: account.notifications, turn, ids, outbox, now })
  return ended
}

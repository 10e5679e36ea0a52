import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, RefundId, ReversalId, SaleId } from '../../kernel/ids.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { lockBook, post } from '../ledger/index.ts'
import { type Outbox, tell } from '../notification/index.ts'
import { changeRefunded, lockAnySale } from '../sale/index.ts'
import { closeRefund, lockRefund } from './refund.store.ts'
import { postingsForRefund, refundNews } from './refund.ts'
import { closeReversal, lockReversal, postingsForReversal, reversalNews } from './reversal.ts'

export type SettleContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly outbox: Outbox
  readonly now: Instant
}

/** How the rail says that money on its way back has ended. */
export type ReturnOutcome = 'PAID' | 'CANCELLED'

/** False when there is no such refund, or it has ended already. Books first, then the sale, then the refund. */
export async function settleRefund(
  { tx, ids, outbox, now }: SettleContext,
  { accountId, id, outcome }: { accountId: AccountId; id: RefundId; outcome: ReturnOutcome },
): Promise<boolean> {
  await lockBook(tx, accountId)
  const refund = await lockRefund(tx, accountId, id)
  if (refund?.state !== 'PENDING') return false
  const sale = (await lockAnySale(tx, accountId, refund.saleId))!
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = accountNow(account, now)
  await closeRefund(tx, refund, outcome, at)
  const postings = postingsForRefund[outcome](refund.amount)
  await post(tx, { accountId, sourceId: id, subjectId: sale.id, postings, at, now })
  const isNews = outcome === 'PAID'
  const turn = await changeRefunded(tx, sale, isNews ? 0 : -refund.amount, { news: isNews })
  const news = refundNews({ ...refund, state: outcome, closedAt: at }, sale, at)
  if (isNews) await tell(tx, { news, settings: account.notifications, turn, ids, outbox, now })
  return true
}

/** Money that fitted nothing has gone back; or it could not, and is the account's. */
export async function settleReversal(
  { tx, ids, outbox, now }: SettleContext,
  { accountId, id, outcome }: { accountId: AccountId; id: ReversalId; outcome: ReturnOutcome },
): Promise<boolean> {
  await lockBook(tx, accountId)
  const reversal = await lockReversal(tx, accountId, id)
  if (reversal?.state !== 'PENDING') return false
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = accountNow(account, now)
  await closeReversal(tx, reversal, outcome, at)
  const postings = postingsForReversal[outcome](reversal.amount)
  await post(tx, { accountId, sourceId: id, subjectId: reversal.saleId, postings, at, now })
  const sale = reversal.saleId && (await lockAnySale(tx, accountId, reversal.saleId as SaleId))
  if (!sale) return true
  const turn = await changeRefunded(tx, sale, 0, { news: true })
  const news = reversalNews({ ...reversal, state: outcome }, sale, at)
  await tell(tx, { news, settings: account.notifications, turn, ids, outbox, now })
  return true
}

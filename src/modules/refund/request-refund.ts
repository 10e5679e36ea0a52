import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, NumberId, RefundId, SaleId } from '../../kernel/ids.ts'
import { ok, type Result } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { lockBook, post } from '../ledger/index.ts'
import { addOutflow, settlesAt } from '../outflow/index.ts'
import { changeRefunded, lockAnySale, type Sale } from '../sale/index.ts'
import { insertRefund } from './refund.store.ts'
import { mayRefund, postingsForRefund, type Refund, type RefundRefusal } from './refund.ts'

export type RequestRefund = {
  readonly accountId: AccountId
  readonly saleId: SaleId | undefined
  readonly amount: Cents
  readonly reason: string | null
  readonly callbackUrl: string | null
}
export type RequestRefundContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly now: Instant
}
export type RequestedRefund = { readonly refund: Refund; readonly sale: Sale; readonly available: Cents }

/** The book is locked, then the sale, then it is decided: two refunds of one sale wait for each other. */
export async function requestRefund(
  { tx, ids, numbers, now }: RequestRefundContext,
  asked: RequestRefund,
): Promise<Result<RequestedRefund, RefundRefusal>> {
  const { accountId, amount } = asked
  const balance = (await lockBook(tx, accountId))!
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = accountNow(account, now)
  const found = asked.saleId && (await lockAnySale(tx, accountId, asked.saleId))
  const allowed = mayRefund(found || undefined, amount, at, balance)
  if (!allowed.ok) return allowed
  const sale = allowed.value
  const refund: Refund = {
    accountId,
    id: ids.uuidAt(at) as RefundId,
    number: (await numbers.next()) as NumberId,
    saleId: sale.id,
    amount,
    reason: asked.reason,
    callbackUrl: asked.callbackUrl,
    state: 'PENDING',
    createdAt: at,
    closedAt: null,
  }
  await insertRefund(tx, refund)
  await changeRefunded(tx, sale, amount, { news: false })
  await post(tx, {
    accountId,
    sourceId: refund.id,
    subjectId: sale.id,
    postings: postingsForRefund.PENDING(amount),
    at,
    now,
  })
  const instruction = { amount, endToEnd: sale.endToEnd, beneficiary: null }
  await addOutflow(tx, {
    accountId,
    id: refund.id,
    kind: 'REFUND',
    instruction,
    now,
    settlesAt: settlesAt(account, at),
  })
  return ok({ refund, sale, available: (balance.available - amount) as Cents })
}

import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, NumberId, PayoutId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { lockBook, post } from '../ledger/index.ts'
import { addOutflow, settlesAt } from '../outflow/index.ts'
import { insertPayout } from './payout.store.ts'
import { type Beneficiary, covers, type Payout, postingsForPayout } from './payout.ts'

export type NewPayout = {
  readonly amount: Cents
  readonly referenceCode: string
  readonly beneficiary: Beneficiary
  readonly callbackUrl: string | null
  readonly notes: string | null
}
export type CreatePayoutContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly now: Instant
}
export type CreatePayoutRefusal = { readonly code: 'payout.insufficientBalance' }

/** Several of one account, in order: each sees what those before it have left. */
export async function createPayouts(
  { tx, ids, numbers, now }: CreatePayoutContext,
  accountId: AccountId,
  asked: readonly NewPayout[],
): Promise<Result<Payout, CreatePayoutRefusal>[]> {
  const freshNumbers = await numbers.take(asked.length)
  let balance = (await lockBook(tx, accountId))!
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = accountNow(account, now)
  const results: Result<Payout, CreatePayoutRefusal>[] = []
  for (const [index, wanted] of asked.entries()) {
    const payout: Payout = {
      accountId,
      id: ids.uuidAt(at) as PayoutId,
      number: freshNumbers[index] as NumberId,
      ...wanted,
      fee: account.payoutFee,
      state: 'PENDING',
      errorCode: null,
      errorDetail: null,
      createdAt: at,
      closedAt: null,
    }
    if (!covers(balance, payout)) {
      results.push(refuse({ code: 'payout.insufficientBalance' }))
      continue
    }
    balance = { ...balance, available: (balance.available - payout.amount - payout.fee) as Cents }
    await insertPayout(tx, payout)
    const postings = postingsForPayout.PENDING(payout)
    await post(tx, { accountId, sourceId: payout.id, subjectId: null, postings, at, now })
    const instruction = { amount: payout.amount, endToEnd: null, beneficiary: payout.beneficiary }
    const settles = settlesAt(account, at)
    await addOutflow(tx, { accountId, id: payout.id, kind: 'PAYOUT', instruction, now, settlesAt: settles })
    results.push(ok(payout))
  }
  return results
}

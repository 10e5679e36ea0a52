import type { Instant } from '../../kernel/calendar.ts'
import { partsOfTxid, type Txid } from '../../kernel/txid.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Rail } from '../../rail/rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { chargeOf } from './create-sales.ts'
import { findSale } from './sale.store.ts'
import { currentTxid, hasQrCode, type Sale } from './sale.ts'

export const payableStates = ['PENDING', 'PAID', 'EXPIRED', 'CANCELLED'] as const
export type PayableState = (typeof payableStates)[number]

/** A sale as its payer may see it: nothing of the shopper, nothing that is the merchant's alone. */
export type Payable = {
  readonly txid: Txid
  readonly state: PayableState
  readonly sale: Pick<Sale, 'amount' | 'expiresAt' | 'paidAt'>
  readonly receiver: string
  /** By the account's clock, as the expiry is. */
  readonly now: Instant
  /** Null when it can no longer be paid. */
  readonly brCode: string | null
}

/**
 * Time decides before the sweep does: what is past its expiry is shown as expired. So is what was cancelled and would
 * have expired since; either way nobody can pay it.
 */
export function payableState({ state, expiresAt }: Pick<Sale, 'state' | 'expiresAt'>, now: Instant): PayableState {
  if (state === 'PAID') return 'PAID'
  return now > expiresAt ? 'EXPIRED' : state
}

/** By any txid that was ever issued for it; one from before a renewal leads to the sale as it is now. */
export async function findPayable(
  { db, clock, rail }: { readonly db: Queryable; readonly clock: Clock; readonly rail: Rail },
  txid: string,
): Promise<Payable | undefined> {
  const parts = partsOfTxid(txid)
  const sale = parts && (await findSale(db, parts.accountId, parts.saleId))
  if (!sale || !hasQrCode(sale) || parts.renewals > sale.renewals) return undefined
  const account = (await findAccountTerms(db, [sale.accountId])).get(sale.accountId)!
  const now = accountNow(account, clock.now())
  const state = payableState(sale, now)
  const [charge] = state === 'PENDING' ? await rail.openCharges([chargeOf(sale, account)]) : []
  return { txid: currentTxid(sale), state, sale, receiver: account.name, now, brCode: charge?.brCode ?? null }
}

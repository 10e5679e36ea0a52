import { assert } from '../../kernel/assert.ts'
import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, AccountUuid, SaleId } from '../../kernel/ids.ts'
import { findMove } from '../../kernel/moves.ts'
import type { Fault } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { RENEWALS_MAX } from '../../kernel/txid.ts'
import type { Transaction } from '../../platform/database/database.ts'
import {
  type AccountTerms,
  accountNow,
  findAccountTerms,
  findLinkedRecipients,
  type LinkedRecipient,
} from '../account/index.ts'
import { findLegs, type Leg, renewalFaults } from '../split/index.ts'
import { lockSale, moveSale, setShareExpiries } from './sale.store.ts'
import { expiryOf, type Sale, saleMoves } from './sale.ts'

export type RenewSaleRefusal =
  | { code: 'sale.notFound' }
  | { code: 'sale.notCancelled' }
  | { code: 'sale.legsRefused'; faults: readonly Fault[] }
export type RenewSale = { accountId: AccountId; saleId: SaleId | undefined; maxAgeMinutes: number }

/** Same uuid, amount and fee; a new txid, hence a new QR code. Every older txid pays the sale too. */
export async function renewSale(
  { tx, now }: { tx: Transaction; now: Instant },
  { accountId, saleId, maxAgeMinutes }: RenewSale,
): Promise<Result<{ sale: Sale; account: AccountTerms; legs: readonly Leg[] }, RenewSaleRefusal>> {
  const sale = saleId && (await lockSale(tx, accountId, saleId))
  if (!sale) return refuse({ code: 'sale.notFound' })
  const move = findMove(saleMoves, sale.state, 'renew')
  // A cycle is charged once: its sale has no QR code that could be renewed, nor has the first payment of a mandate that ended.
  if (!move || sale.mandateId !== null) return refuse({ code: 'sale.notCancelled' })
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const legs = sale.legs === 0 ? [] : ((await findLegs(tx, [sale])).get(sale.id) ?? [])
  const recipients = await findRecipients(tx, legs)
  const faults = renewalFaults(legs, (uuid) => recipients.get(uuid))
  if (faults.length > 0) return refuse({ code: 'sale.legsRefused', faults })
  assert(sale.renewals < RENEWALS_MAX, 'a sale was renewed more often than its txid can count')

  const renewal = { renewals: sale.renewals + 1, expiresAt: expiryOf(accountNow(account, now), maxAgeMinutes) }
  const moved = await moveSale(tx, sale, move, renewal)
  assert(moved, 'a locked sale changed under us')
  // Each share by its recipient's own clock.
  const endOf = (leg: Leg) => expiryOf(accountNow(recipients.get(leg.recipientUuid)!, now), maxAgeMinutes)
  await setShareExpiries(tx, legs, endOf)
  return ok({ sale: { ...sale, ...renewal, state: move[2] }, account, legs })
}

/** Amounts stay as they were agreed; the recipients are looked at again. */
async function findRecipients(tx: Transaction, legs: readonly Leg[]): Promise<Map<AccountUuid, LinkedRecipient>> {
  if (legs.length === 0) return new Map()
  const keys = legs.map((leg) => ({ parentId: leg.accountId, uuid: leg.recipientUuid }))
  return new Map((await findLinkedRecipients(tx, keys)).map((recipient) => [recipient.uuid, recipient]))
}

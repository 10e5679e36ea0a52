import type { Instant } from '../../kernel/calendar.ts'
import { txidOf } from '../../kernel/txid.ts'
import { type CobPayload, cobPayload, type RecPayload, recPayload } from '../../rail/sandbox/payloads.ts'
import type { AccountTerms } from '../account/index.ts'
import { awaitsPayer, endOfMandate, type Recurrence } from '../recurrence/index.ts'
import type { Sale } from '../sale/index.ts'

/** What a location has to show: nothing was ever there, or nothing is any more. */
export type Shown<Payload> = Payload | 'unknown' | 'closed'

/**
 * A charge that was paid is still shown, so that the payer learns why it cannot be paid again; one that is past its time
 * is too, until it is cancelled: that it is, the payer's bank sees by itself.
 */
export function showCharge(
  sale: Sale | undefined,
  renewals: number,
  account: Pick<AccountTerms, 'uuid'>,
  now: Instant,
): Shown<CobPayload> {
  // A recipient-side transaction has no charge at the rail, and that of a recurrence is collected without a code.
  if (sale === undefined || sale.parentId !== null || sale.chargeId !== null || renewals > sale.renewals)
    return 'unknown'
  if (sale.state === 'CANCELLED') return 'closed'
  return cobPayload({
    ...sale,
    txid: txidOf({ accountId: sale.accountId, saleId: sale.id, renewals }),
    renewals,
    status: sale.state === 'PAID' ? 'CONCLUIDA' : 'ATIVA',
    now,
    key: account.uuid,
  })
}

/** A mandate is shown while somebody may still authorize it, and while it is in force. */
export function showMandate(
  found: Pick<Recurrence, 'mandate' | 'plan'> | undefined,
  account: Pick<AccountTerms, 'name'>,
  now: Instant,
): Shown<RecPayload> {
  if (found === undefined) return 'unknown'
  const { mandate, plan } = found
  const isOpen = awaitsPayer(mandate.state) ? now <= mandate.expiresAt : mandate.state === 'APPROVED'
  if (!isOpen) return 'closed'
  return recPayload({
    ...mandate,
    contract: mandate.referenceCode,
    object: plan.title,
    debtor: { name: mandate.shopper.name, document: mandate.shopper.document!.number },
    finalDate: endOfMandate(mandate),
    receiver: account.name,
  })
}

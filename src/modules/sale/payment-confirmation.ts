import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import type { News } from '../notification/index.ts'
import type { SplitBlock } from '../split/index.ts'
import type { Sale } from './sale.ts'

type Confirmed = Pick<Sale, 'accountId' | 'id' | 'referenceCode' | 'amount' | 'callbackUrl' | 'shopper'>

/** Told when a sale becomes PAID: exactly these fields, texts where nothing is known. A shared sale shows its block as it stands. */
export const paymentConfirmation = (sale: Confirmed, paidAt: Instant, split?: () => SplitBlock): News => ({
  accountId: sale.accountId,
  event: 'PAYMENT_CONFIRMATION',
  resourceId: sale.id,
  alsoId: null,
  callbackUrl: sale.callbackUrl,
  at: paidAt,
  body: () => ({
    saleToken: sale.id,
    referenceCode: sale.referenceCode,
    currency: 'BRL',
    amount: centsToWire(sale.amount),
    shopper: shopperOf(sale),
    date: wireTimestamp(paidAt),
    newStatus: 'PAID',
    ...(split && { split: split() }),
  }),
})

/** The first word is the first name, the rest the last one. */
function shopperOf({ shopper }: Confirmed) {
  const [firstName = '', ...rest] = shopper.name.trim().split(/\s+/)
  return {
    id: shopper.id ?? '',
    firstName,
    lastName: rest.join(' '),
    email: shopper.email,
    agency: shopper.bankDetails?.branch ?? '',
    account: shopper.bankDetails?.account ?? '',
  }
}

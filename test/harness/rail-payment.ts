import type { Cents } from '../../src/kernel/cents.ts'
import type { EndToEndId } from '../../src/kernel/ids.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { PaymentReceived } from '../../src/rail/rail.ts'
import type { TestSale } from './given.ts'

let count = 0

/** 32 characters, as the rail makes them; each call another one. */
export const newEndToEnd = (): EndToEndId => `E99999004${String(++count).padStart(23, '0')}` as EndToEndId

/** What the rail reports when a payer has paid this charge in full, just now. */
export const railPayment = (
  clock: Clock,
  sale: Pick<TestSale, 'txid' | 'amount'>,
  fields: Partial<Omit<PaymentReceived, 'amount'>> & { amount?: number } = {},
): PaymentReceived => ({
  kind: 'payment',
  rail: 'sandbox',
  endToEnd: newEndToEnd(),
  txid: sale.txid,
  settledAt: clock.now(),
  payer: { document: '52998224725', name: 'Pagador de Teste', ispb: '99999004' },
  ...fields,
  amount: (fields.amount ?? Math.round(sale.amount * 100)) as Cents,
})

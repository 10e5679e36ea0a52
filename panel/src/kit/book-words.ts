import { defineWords, useWords } from './words.ts'

/** What the accounts of a book are called, by the ledger's own names. */
const bookWords = defineWords({
  clearing: ['Recebido do arranjo', 'Received from the rail'],
  available: ['Disponível', 'Available'],
  refund_due: ['Devoluções a pagar', 'Refunds to pay'],
  fee: ['Tarifas', 'Fees'],
  payout_due: ['Transferências a pagar', 'Payouts to pay'],
  reversal_due: ['Estornos a pagar', 'Reversals to pay'],
  transit: ['Em trânsito', 'In transit'],
  receivable: ['A receber', 'Receivable'],
  adjust: ['Ajustes', 'Adjustments'],
})

export function useBookName(): (account: string) => string {
  const w: Readonly<Record<string, string>> = useWords(bookWords)
  return (account) => w[account] ?? account
}

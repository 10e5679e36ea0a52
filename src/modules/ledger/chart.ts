/** Chart of accounts of a book. The numbers are stored; the names are columns of `book`. */
export const bookAccounts = {
  clearing: 1,
  available: 2,
  refund_due: 4,
  fee: 5,
  payout_due: 6,
  reversal_due: 7,
  transit: 8,
  receivable: 9,
  adjust: 10,
} as const

export type BookAccount = keyof typeof bookAccounts
export const bookAccountNames = Object.keys(bookAccounts) as BookAccount[]

export type StatementType =
  | 'SALE'
  | 'RECURRENCE'
  | 'SPLIT_CREDIT'
  | 'FEE'
  | 'REFUND'
  | 'REFUND_CANCELLED'
  | 'PAYOUT'
  | 'PAYOUT_FEE'
  | 'PAYOUT_RETURNED'
  | 'REVERSAL'
  | 'ADJUSTMENT'

export type TransferRule = {
  readonly code: number
  readonly from: BookAccount
  readonly to: BookAccount
  /** Null: the line never touches `available`, so no statement shows it. */
  readonly type: StatementType | null
  readonly description: string
}

/**
 * Every way money moves inside a book. Money flows from the debited account to the credited one. Lines of one thing that
 * happened stand in the order of their codes: what comes in, then its fee.
 */
export const transferRules = {
  chargePaid: { code: 9, from: 'clearing', to: 'available', type: 'RECURRENCE', description: 'Recurring PIX charge' },
  salePaid: { code: 10, from: 'clearing', to: 'available', type: 'SALE', description: 'PIX sale' },
  splitOut: { code: 11, from: 'clearing', to: 'transit', type: null, description: "A recipient's share, on its way" },
  saleFee: { code: 12, from: 'available', to: 'fee', type: 'FEE', description: 'PIX fee' },
  splitIn: { code: 21, from: 'transit', to: 'available', type: 'SPLIT_CREDIT', description: 'Share of a sale' },
  refundHeld: { code: 30, from: 'available', to: 'refund_due', type: 'REFUND', description: 'Refund' },
  refundPaid: { code: 31, from: 'refund_due', to: 'clearing', type: null, description: 'Refund, gone out' },
  refundReturned: {
    code: 32,
    from: 'refund_due',
    to: 'available',
    type: 'REFUND_CANCELLED',
    description: 'Refund, given back',
  },
  reversalHeld: { code: 40, from: 'clearing', to: 'reversal_due', type: null, description: 'Payment to give back' },
  reversalPaid: { code: 43, from: 'reversal_due', to: 'clearing', type: null, description: 'Payment given back' },
  reversalKept: {
    code: 44,
    from: 'reversal_due',
    to: 'available',
    type: 'REVERSAL',
    description: 'Payment that could not be given back',
  },
  payoutHeld: { code: 50, from: 'available', to: 'payout_due', type: 'PAYOUT', description: 'Payout' },
  payoutFee: { code: 51, from: 'available', to: 'fee', type: 'PAYOUT_FEE', description: 'Payout fee' },
  payoutPaid: { code: 52, from: 'payout_due', to: 'clearing', type: null, description: 'Payout, gone out' },
  payoutReturned: {
    code: 53,
    from: 'payout_due',
    to: 'available',
    type: 'PAYOUT_RETURNED',
    description: 'Payout, given back',
  },
  payoutFeeReturned: {
    code: 54,
    from: 'fee',
    to: 'available',
    type: 'PAYOUT_RETURNED',
    description: 'Payout fee, given back',
  },
} as const satisfies Record<string, TransferRule>

export type TransferKind = keyof typeof transferRules

/** Money that sales brought in, before their fee. */
export const receivedCodes: readonly number[] = [
  transferRules.chargePaid.code,
  transferRules.salePaid.code,
  transferRules.splitIn.code,
]

const rulesByCode = new Map<number, TransferRule>(Object.values(transferRules).map((rule) => [rule.code, rule]))
export const ruleOf = (code: number): TransferRule | undefined => rulesByCode.get(code)

export { refundChecks } from './audit.ts'
export { type RefundRoutesContext, refundRoutes, reversalListSchema, reversalWire } from './refund.routes.ts'
export { findRefund, findRefundsById, findRefundsOf } from './refund.store.ts'
export { bankDetailsOf, type Refund } from './refund.ts'
export {
  addReversalsCte,
  findReversal,
  findReversals,
  findReversalsOf,
  postingsForReversal,
  type Reversal,
  reversalNews,
} from './reversal.ts'
export { settleRefund, settleReversal } from './settle-refund.ts'

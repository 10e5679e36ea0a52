export { refundChecks } from './audit.ts'
export { addReversalsCte, findReversal, postingsForReversal, type Reversal } from './reversal.ts'

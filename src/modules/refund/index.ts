export { refundChecks } from './audit.ts'
export { addReversalsCte, findReversal, postingsForReversal } from './reversal.ts'

export { refundChecks } from './audit.ts'
export { addReversalsCte, findReversal, postingsForReversal, type Reversal, reversalNews } from './reversal.ts'

export { type AuditCheck, ledgerChecks, strayLines } from './audit.ts'
export { type AuditRun, auditStates, auditTroubles, type RuleResult } from './audit-run.ts'
export { type Auditor, createAuditor, TookTooLong } from './auditor.ts'
export {
  type Balance,
  findBalance,
  findTrialBalance,
  openBook,
  setOverdraftLimit,
} from './book.store.ts'
export { transferRules } from './chart.ts'
export {
  findLastSequences,
  findReceived,
  findTransfersAfter,
  findTransfersOf,
  type Transfer,
} from './find-transfers.ts'
export { ledgerRoutes } from './ledger.routes.ts'
export { type Entry, lockBook, post } from './post.ts'
export { lockBooksCte, type Posting, postingColumns, postLinesCtes } from './posting.ts'
export { findPostedSources, type StatementLine, statementPages } from './statement.ts'

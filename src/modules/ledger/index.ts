export { type AuditCheck, ledgerChecks, strayLines } from './audit.ts'
export {
  type Balance,
  findBalance,
  findTrialBalance,
  openBook,
  setOverdraftLimit,
} from './book.store.ts'
export { transferRules } from './chart.ts'
export { ledgerRoutes } from './ledger.routes.ts'
export { type Entry, lockBook, post } from './post.ts'
export { lockBooksCte, type Posting, postingColumns, postLinesCtes } from './posting.ts'
export { findPostedSources } from './statement.ts'

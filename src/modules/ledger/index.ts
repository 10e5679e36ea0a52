export { type AuditCheck, ledgerChecks } from './audit.ts'
export {
  type Balance,
  findBalance,
  findTrialBalance,
  openBook,
  setOverdraftLimit,
  type TrialBalance,
} from './book.store.ts'
export { type BookAccount, type StatementType, transferRules } from './chart.ts'
export { ledgerRoutes } from './ledger.routes.ts'
export { lockBooksCte, type Posting, postingColumns, postLinesCtes } from './posting.ts'
export { findPostedSources, findStatement, type StatementLine } from './statement.ts'

import { type AuditCheck, transferRules } from '../ledger/index.ts'

export const refundChecks: readonly AuditCheck[] = [
  {
    name: 'what a book holds for reversals is the sum of the pending ones',
    sql: `select b.account_id from book b
      left join (select account_id, sum(amount_cents)::bigint as n from reversal where state = 'PENDING' group by account_id) r using (account_id)
      where b.reversal_due_cr - b.reversal_due_dr <> coalesce(r.n, 0)`,
  },
  {
    name: 'every reversal was posted once and exactly',
    sql: `select r.account_id, r.id from reversal r
      left join transfer t on t.account_id = r.account_id and t.source_id = r.id and t.code = ${transferRules.reversalHeld.code}
      where t.amount_cents is distinct from r.amount_cents`,
  },
]

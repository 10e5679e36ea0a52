import type { AuditCheck } from '../ledger/index.ts'

export const doorChecks: readonly AuditCheck[] = [
  {
    name: 'every payment the rail reported paid a sale or became a reversal',
    sql: `select i.rail_id from inbox i
      left join sale s on i.outcome = 'APPLIED' and s.account_id = i.account_id and s.id = i.outcome_id
      left join reversal r on i.outcome = 'REVERSED' and r.account_id = i.account_id and r.id = i.outcome_id
      where i.kind = 'payment' and coalesce(s.end_to_end, r.end_to_end) is distinct from i.rail_id`,
  },
  {
    name: 'every paid sale and every reversal was reported by the rail',
    sql: `select s.end_to_end from sale s where s.state = 'PAID' and s.parent_id is null
        and not exists (select 1 from inbox i where i.account_id = s.account_id and i.outcome_id = s.id and i.rail_id = s.end_to_end)
      union all
      select r.end_to_end from reversal r
      where not exists (select 1 from inbox i where i.account_id = r.account_id and i.outcome_id = r.id and i.rail_id = r.end_to_end)`,
  },
  {
    name: 'the books hold what came in: clearing equals the payments reported',
    sql: `select b.account_id from book b
      left join (select account_id, sum(amount_cents)::bigint as n from inbox where kind = 'payment' group by account_id) i using (account_id)
      where b.clearing_dr <> coalesce(i.n, 0)`,
  },
]

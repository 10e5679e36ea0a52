import type { AuditCheck } from '../ledger/index.ts'

export const phoneChecks: readonly AuditCheck[] = [
  {
    name: "every phone's statement adds up to its balance, line by line",
    sql: `select p.id from phone p left join (
        select phone_id, sum(amount_cents)::bigint as total, count(*) as lines, max(seq) as last,
          bool_and(balance_after_cents = running) as holds
        from (select e.*, sum(amount_cents) over (partition by phone_id order by seq) as running from phone_entry e) e
        group by phone_id) e on e.phone_id = p.id
      where p.balance_cents <> coalesce(e.total, 0) or p.entries <> coalesce(e.lines, 0) or coalesce(e.lines, 0) <> coalesce(e.last, 0)
        or not coalesce(e.holds, true)`,
  },
  {
    name: 'every payment of a phone that is done with was reported to the receiver, as it was made',
    sql: `select e.end_to_end from phone_entry e
      left join inbox i on i.rail = 'sandbox' and i.kind = 'payment' and i.rail_id = e.end_to_end
      where e.outcome in ('PAID', 'REVERSED') and (i.rail_id is null or i.amount_cents <> -e.amount_cents or i.txid is distinct from e.txid
        or (i.outcome = 'APPLIED') <> (e.outcome = 'PAID'))`,
  },
]

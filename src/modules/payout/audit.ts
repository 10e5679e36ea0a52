import { type AuditCheck, strayLines, transferRules } from '../ledger/index.ts'

const { payoutHeld, payoutFee, payoutPaid, payoutReturned, payoutFeeReturned } = transferRules
const codes = [payoutHeld, payoutFee, payoutPaid, payoutReturned, payoutFeeReturned].map(({ code }) => code)

/** The line that a payout must have under a code, if its state asks for it. */
const line = (name: string, code: number) =>
  `left join transfer ${name} on ${name}.account_id = p.account_id and ${name}.source_id = p.id and ${name}.code = ${code}`

export const payoutChecks: readonly AuditCheck[] = [
  {
    name: 'what a book holds for payouts is the sum of the pending ones',
    sql: `select b.account_id from book b
      left join (select account_id, sum(amount_cents)::bigint as n from payout where state = 'PENDING' group by account_id) p using (account_id)
      where b.payout_due_cr - b.payout_due_dr <> coalesce(p.n, 0)`,
  },
  {
    name: 'a payout was held once, and left its hold once, the way its state says',
    sql: `select p.account_id, p.id from payout p
      ${line('h', payoutHeld.code)} ${line('f', payoutFee.code)} ${line('d', payoutPaid.code)}
      ${line('r', payoutReturned.code)} ${line('g', payoutFeeReturned.code)}
      where h.amount_cents is distinct from p.amount_cents or coalesce(f.amount_cents, 0) <> p.fee_cents
        or d.amount_cents is distinct from case when p.state = 'PAID' then p.amount_cents end
        or r.amount_cents is distinct from case when p.state in ('CANCELLED', 'FAILED') then p.amount_cents end
        or coalesce(g.amount_cents, 0) <> case when p.state in ('CANCELLED', 'FAILED') then p.fee_cents else 0 end
      union all ${strayLines('payout', codes)}`,
  },
  {
    name: 'the counts of payouts by hour and state are right',
    sql: `select coalesce(p.account_id, h.account_id) as account_id, coalesce(p.hour, h.hour) as hour from (
        select account_id, hour, sum(pending) as pending, sum(paid) as paid, sum(cancelled) as cancelled, sum(failed) as failed, sum(processed) as processed
        from (
          select account_id, floor(extract(epoch from created_at) / 3600)::integer as hour, (state = 'PENDING')::integer as pending,
            (state = 'PAID')::integer as paid, (state = 'CANCELLED')::integer as cancelled, (state = 'FAILED')::integer as failed, 0 as processed
          from payout
          union all
          select account_id, floor(extract(epoch from closed_at) / 3600)::integer, 0, 0, 0, 0, 1 from payout where state = 'PAID') e
        group by 1, 2) p
      full join payout_hour h on h.account_id = p.account_id and h.hour = p.hour
      where coalesce(p.pending, 0) <> coalesce(h.pending, 0) or coalesce(p.paid, 0) <> coalesce(h.paid, 0)
        or coalesce(p.cancelled, 0) <> coalesce(h.cancelled, 0) or coalesce(p.failed, 0) <> coalesce(h.failed, 0)
        or coalesce(p.processed, 0) <> coalesce(h.processed, 0)`,
  },
]

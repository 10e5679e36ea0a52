import { type AuditCheck, strayLines, transferRules } from '../ledger/index.ts'

const { refundHeld, refundPaid, refundReturned, reversalHeld, reversalPaid, reversalKept } = transferRules

/** A row in `rows` has these three lines, once: held, gone out, given back; the last two as its state says. */
const threeLines = (rows: string, [held, paid, returned]: readonly [number, number, number]) => {
  const line = (name: string, code: number) =>
    `left join transfer ${name} on ${name}.account_id = r.account_id and ${name}.source_id = r.id and ${name}.code = ${code}`
  return `select r.account_id, r.id from ${rows} r ${line('h', held)} ${line('p', paid)} ${line('b', returned)}
    where h.amount_cents is distinct from r.amount_cents
      or p.amount_cents is distinct from case r.state when 'PAID' then r.amount_cents end
      or b.amount_cents is distinct from case r.state when 'CANCELLED' then r.amount_cents end
    union all ${strayLines(rows, [held, paid, returned])}`
}

export const refundChecks: readonly AuditCheck[] = [
  {
    name: 'what a book holds for reversals is the sum of the pending ones',
    sql: `select b.account_id from book b
      left join (select account_id, sum(amount_cents)::bigint as n from reversal where state = 'PENDING' group by account_id) r using (account_id)
      where b.reversal_due_cr - b.reversal_due_dr <> coalesce(r.n, 0)`,
  },
  {
    name: 'a reversal was held once, and left its hold once, the way its state says',
    sql: threeLines('reversal', [reversalHeld.code, reversalPaid.code, reversalKept.code]),
  },
  {
    name: 'what a book holds for refunds is the sum of the pending ones',
    sql: `select b.account_id from book b
      left join (select account_id, sum(amount_cents)::bigint as n from refund where state = 'PENDING' group by account_id) r using (account_id)
      where b.refund_due_cr - b.refund_due_dr <> coalesce(r.n, 0)`,
  },
  {
    name: 'a refund was held once, and left its hold once, the way its state says',
    sql: threeLines('refund', [refundHeld.code, refundPaid.code, refundReturned.code]),
  },
  {
    name: 'the refunds of a sale that were not cancelled are what it says, and never more than it',
    sql: `select s.account_id, s.id from sale s
      left join (select account_id, sale_id, sum(amount_cents)::bigint as n from refund where state <> 'CANCELLED' group by 1, 2) r
        on r.account_id = s.account_id and r.sale_id = s.id
      where s.refunded_cents <> coalesce(r.n, 0) or s.refunded_cents > s.amount_cents or (s.refunded_cents > 0 and s.state <> 'PAID')`,
  },
  {
    name: 'the counts of refunds by hour and state are right',
    sql: `select coalesce(r.account_id, h.account_id) as account_id, coalesce(r.hour, h.hour) as hour from (
        select account_id, hour, sum(pending) as pending, sum(paid) as paid, sum(cancelled) as cancelled, sum(processed) as processed
        from (
          select account_id, floor(extract(epoch from created_at) / 3600)::integer as hour, (state = 'PENDING')::integer as pending,
            (state = 'PAID')::integer as paid, (state = 'CANCELLED')::integer as cancelled, 0 as processed
          from refund
          union all
          select account_id, floor(extract(epoch from closed_at) / 3600)::integer, 0, 0, 0, 1 from refund where state = 'PAID') e
        group by 1, 2) r
      full join refund_hour h on h.account_id = r.account_id and h.hour = r.hour
      where coalesce(r.pending, 0) <> coalesce(h.pending, 0) or coalesce(r.paid, 0) <> coalesce(h.paid, 0)
        or coalesce(r.cancelled, 0) <> coalesce(h.cancelled, 0) or coalesce(r.processed, 0) <> coalesce(h.processed, 0)`,
  },
  {
    name: 'the rail has an order for everything that is on its way out, and for nothing else',
    sql: `select coalesce(o.account_id, p.account_id) as account_id, coalesce(o.id, p.id) as id from outflow o
      full join (
        select account_id, id, 'REFUND' as kind from refund where state = 'PENDING'
        union all select account_id, id, 'REVERSAL' from reversal where state = 'PENDING'
        union all select account_id, id, 'PAYOUT' from payout where state = 'PENDING'
      ) p on p.account_id = o.account_id and p.id = o.id and p.kind = o.kind
      where o.id is null or p.id is null`,
  },
]

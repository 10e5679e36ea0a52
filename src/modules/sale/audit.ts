import { type AuditCheck, transferRules } from '../ledger/index.ts'

const PAID = transferRules.salePaid.code
const FEE = transferRules.saleFee.code

export const saleChecks: readonly AuditCheck[] = [
  {
    name: 'a paid sale has posted its amount and its fee, once and exactly',
    sql: `select s.account_id, s.id from sale s
      left join transfer p on p.account_id = s.account_id and p.source_id = s.id and p.code = ${PAID}
      left join transfer f on f.account_id = s.account_id and f.source_id = s.id and f.code = ${FEE}
      where s.state = 'PAID' and (p.amount_cents is distinct from s.amount_cents or coalesce(f.amount_cents, 0) <> s.fee_cents)`,
  },
  {
    name: 'no line belongs to a sale that is not paid',
    sql: `select t.account_id, t.source_id from transfer t
      left join sale s on s.account_id = t.account_id and s.id = t.source_id
      where t.code in (${PAID}, ${FEE}) and s.state is distinct from 'PAID'`,
  },
  {
    name: 'one end-to-end id pays at most one sale',
    sql: 'select end_to_end from sale where end_to_end is not null group by end_to_end having count(*) > 1',
  },
  {
    name: 'the counts of sales by hour and state are right',
    sql: `select coalesce(s.account_id, h.account_id) as account_id, coalesce(s.hour, h.hour) as hour from (
        select account_id, floor(extract(epoch from created_at) / 3600)::integer as hour,
          count(*) filter (where state = 'PENDING') as pending, count(*) filter (where state = 'PAID') as paid,
          count(*) filter (where state = 'CANCELLED') as cancelled
        from sale group by 1, 2) s
      full join sale_hour h on h.account_id = s.account_id and h.hour = s.hour
      where coalesce(s.pending, 0) <> coalesce(h.pending, 0) or coalesce(s.paid, 0) <> coalesce(h.paid, 0)
        or coalesce(s.cancelled, 0) <> coalesce(h.cancelled, 0)`,
  },
  {
    name: 'the counts of payments by hour are right',
    sql: `select coalesce(s.account_id, h.account_id) as account_id from (
        select account_id, floor(extract(epoch from paid_at) / 3600)::integer as hour, count(*) as n
        from sale where state = 'PAID' group by 1, 2) s
      full join sale_hour h on h.account_id = s.account_id and h.hour = s.hour
      where coalesce(s.n, 0) <> coalesce(h.processed, 0)`,
  },
  {
    name: 'a sale was made when its id says',
    sql: `select account_id, id from sale
      where ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint <> (extract(epoch from created_at) * 1000)::bigint`,
  },
]

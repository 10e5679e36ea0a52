import { type AuditCheck, transferRules } from '../ledger/index.ts'

const PAID = `(${transferRules.salePaid.code}, ${transferRules.chargePaid.code})`
const OUT = transferRules.splitOut.code
const IN = transferRules.splitIn.code
const FEE = transferRules.saleFee.code

export const saleChecks: readonly AuditCheck[] = [
  {
    name: 'a paid sale has posted what its legs leave and its fee, once and exactly',
    sql: `select s.account_id, s.id from sale s
      left join transfer p on p.account_id = s.account_id and p.source_id = s.id and p.code in ${PAID}
      left join transfer f on f.account_id = s.account_id and f.source_id = s.id and f.code = ${FEE}
      where s.state = 'PAID' and s.parent_id is null
        and (coalesce(p.amount_cents, 0) <> s.amount_cents - s.split_cents or coalesce(f.amount_cents, 0) <> s.fee_cents)
      union all select account_id, source_id from transfer where (code in ${PAID} or code = ${FEE}) and leg <> 0`,
  },
  {
    name: 'no line belongs to a sale that is not paid',
    sql: `select t.account_id, t.source_id from transfer t
      left join sale s on s.account_id = t.account_id and s.id = t.source_id
      where (t.code in ${PAID} or t.code = ${FEE}) and s.state is distinct from 'PAID'`,
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
        from sale where state = 'PAID' and amount_cents > split_cents and coalesce(settlement, 'SETTLED') = 'SETTLED' group by 1, 2) s
      full join sale_hour h on h.account_id = s.account_id and h.hour = s.hour
      where coalesce(s.n, 0) <> coalesce(h.processed, 0)`,
  },
  {
    name: 'a sale was made when its id says',
    sql: `select account_id, id from sale
      where ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint <> (extract(epoch from created_at) * 1000)::bigint`,
  },
  {
    name: 'the legs of a sale are as many and take as much as it says, and never more than it can pay its fee from',
    sql: `select s.account_id, s.id from sale s
      left join (select account_id, sale_id, count(*) as n, sum(amount_cents)::bigint as total from split_leg group by 1, 2) l
        on l.account_id = s.account_id and l.sale_id = s.id
      where s.legs <> coalesce(l.n, 0) or s.split_cents <> coalesce(l.total, 0) or s.split_cents + s.fee_cents > s.amount_cents`,
  },
  {
    name: "every leg has its transaction on the recipient's side, which stands as its sale stands",
    sql: `select l.account_id, l.sale_id, l.leg from split_leg l
      left join sale s on s.account_id = l.account_id and s.id = l.sale_id
      left join sale c on c.account_id = l.recipient_account_id and c.id = l.transaction_id and c.parent_id = l.sale_id
        and c.parent_account_id = l.account_id
      where c.state is null or c.state is distinct from s.state or c.amount_cents <> l.amount_cents
      union all
      select c.parent_account_id, c.parent_id, null from sale c where c.parent_id is not null and not exists (
        select 1 from split_leg l where l.account_id = c.parent_account_id and l.sale_id = c.parent_id and l.transaction_id = c.id)`,
  },
  {
    name: 'the shares of a sale leave its book when it is paid, once and exactly',
    sql: `select l.account_id, l.sale_id from split_leg l join sale s on s.account_id = l.account_id and s.id = l.sale_id
      left join transfer t on t.account_id = l.account_id and t.source_id = l.sale_id and t.code = ${OUT} and t.leg = l.leg
      where t.amount_cents is distinct from case s.state when 'PAID' then l.amount_cents end
      union all
      select t.account_id, t.source_id from transfer t where t.code = ${OUT} and not exists (
        select 1 from split_leg l where l.account_id = t.account_id and l.sale_id = t.source_id and l.leg = t.leg)`,
  },
  {
    name: 'a share is credited once, exactly, and only when it is settled',
    sql: `select c.account_id, c.id from sale c
      left join transfer t on t.account_id = c.account_id and t.source_id = c.id and t.code = ${IN}
      where c.parent_id is not null and t.amount_cents is distinct from case c.settlement when 'SETTLED' then c.amount_cents end
      union all
      select t.account_id, t.source_id from transfer t
      left join sale c on c.account_id = t.account_id and c.id = t.source_id and c.parent_id is not null
      where t.code = ${IN} and (c.id is null or c.state <> 'PAID')`,
  },
  {
    name: 'money in transit is the shares under way',
    sql: `select b.transit, c.under_way from (select coalesce(sum(transit_cr - transit_dr), 0)::bigint as transit from book) b,
        (select coalesce(sum(amount_cents), 0)::bigint as under_way from sale
         where parent_id is not null and state = 'PAID' and settlement <> 'SETTLED') c
      where b.transit <> c.under_way`,
  },
  {
    name: 'a message waits for every share under way, and for no other',
    sql: `select coalesce(c.account_id, m.account_id) as account_id, coalesce(c.id, m.transaction_id) as id
      from (select account_id, id from sale where parent_id is not null and state = 'PAID' and settlement <> 'SETTLED') c
      full join split_message m on m.account_id = c.account_id and m.transaction_id = c.id
      where c.id is null or m.transaction_id is null`,
  },
]

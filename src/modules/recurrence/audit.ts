import type { AuditCheck } from '../ledger/index.ts'

const open = "(c.state in ('PENDING_SCHEDULE', 'SCHEDULED') or c.next_attempt is not null)"

export const recurrenceChecks: readonly AuditCheck[] = [
  {
    name: 'a charge stands as its sale stands',
    sql: `select c.account_id, c.id from charge c
      left join sale s on s.account_id = c.account_id and s.id = c.sale_id
      where c.sale_id is not null and (s.id is null or s.charge_id is distinct from c.id or s.mandate_id is distinct from c.mandate_id
        or s.amount_cents <> c.amount_cents or s.number <> c.sale_number or s.end_to_end is distinct from c.end_to_end
        or s.state <> case when c.state = 'PAID' then 'PAID' when ${open} then 'PENDING' else 'CANCELLED' end)
      union all
      select s.account_id, s.id from sale s where s.charge_id is not null and not exists (
        select 1 from charge c where c.account_id = s.account_id and c.id = s.charge_id and c.sale_id = s.id)`,
  },
  {
    name: 'a mandate counts its open charges',
    sql: `select m.account_id, m.id from mandate m
      left join (select account_id, mandate_id, count(*) as n from charge c where ${open} group by 1, 2) o
        on o.account_id = m.account_id and o.mandate_id = m.id
      where m.open_charges <> coalesce(o.n, 0)`,
  },
  {
    name: 'the next cycle of a mandate waits to be registered, and no other',
    sql: `select m.account_id, m.id from mandate m where m.next_cycle is not null and not exists (
        select 1 from charge c where c.account_id = m.account_id and c.mandate_id = m.id and c.cycle = m.next_cycle
          and c.state = 'PENDING_SCHEDULE')
      union all
      select c.account_id, c.id from charge c join mandate m on m.account_id = c.account_id and m.id = c.mandate_id
      where c.state = 'PENDING_SCHEDULE' and c.sale_id is null and m.next_cycle is distinct from c.cycle`,
  },
  {
    name: 'a mandate that ended has no open charge, and one that is in force has something to wait for',
    sql: `select account_id, id from mandate
      where (state in ('REJECTED', 'EXPIRED', 'CANCELLED', 'CONCLUDED', 'CREATED', 'APPROVING') and (open_charges > 0 or next_cycle is not null))
        or (state = 'APPROVED' and open_charges = 0)`,
  },
  {
    name: 'no cycle between the first and the last of a mandate is missing',
    sql: `select account_id, mandate_id from charge group by 1, 2 having count(*) <> max(cycle) - min(cycle) + 1`,
  },
  {
    name: 'whatever waits for its time has a due row, and nothing else has',
    sql: `select coalesce(w.account_id, d.account_id) as account_id, coalesce(w.id, d.id) as id from (
        select m.account_id, m.id, 'expire' as kind from mandate m where m.state in ('CREATED', 'APPROVING')
        union all
        select c.account_id, c.id, case c.state when 'SCHEDULED' then 'collect' when 'FAILED' then 'retry' else 'register' end
        from charge c join mandate m on m.account_id = c.account_id and m.id = c.mandate_id
        where c.state = 'SCHEDULED' or (m.state = 'APPROVED' and ${open})) w
      full join recurrence_due d on d.account_id = w.account_id and d.id = w.id
      where w.kind is distinct from d.kind`,
  },
  {
    name: 'every mandate is found by its idRec',
    sql: `select m.account_id, m.id from mandate m full join mandate_rec r on r.id_rec = m.id_rec
      where m.id is distinct from r.mandate_id or m.account_id is distinct from r.account_id`,
  },
  {
    name: 'a plan counts its mandates',
    sql: `select p.account_id, p.id from plan p
      left join (select account_id, plan_id, count(*) as n from mandate group by 1, 2) m on m.account_id = p.account_id and m.plan_id = p.id
      where p.mandates <> coalesce(m.n, 0)`,
  },
  {
    name: 'the first payment of a mandate is a sale of its id, and paid only when it was authorized',
    sql: `select m.account_id, m.id from mandate m
      left join sale s on s.account_id = m.account_id and s.id = m.id and s.mandate_id = m.id and s.charge_id is null
      where m.immediate <> (s.id is not null) or (s.state = 'PAID' and m.approved_at is null)`,
  },
]

import { hourSql } from './sale.store.ts'
import type { SaleState } from './sale.ts'

/**
 * Parts of the door's statement that belong to sales. `input` has ord, account_id, sale_id, effect, expected_state,
 * end_to_end, event_at, hour and created_hour.
 */
const PENDING: SaleState = 'PENDING'
const PAID: SaleState = 'PAID'

/** Pays the items that are still PENDING; the guard repeats the state they were decided on. */
export const paySalesCte = (input: string): string => `
  update sale s set state = '${PAID}', paid_at = i.event_at, end_to_end = i.end_to_end, turns = s.turns + 1
  from ${input} i
  where i.effect = 'pay' and s.account_id = i.account_id and s.id = i.sale_id and s.state = '${PENDING}'
  returning i.*, s.turns as turn, s.amount_cents > s.split_cents as booked`

/**
 * Locks the sales whose payment does not fit and tells how they stand now: a sale that was renewed meanwhile would
 * take the money after all, so the item is decided again.
 */
export const holdSalesCte = (input: string): string => `
  select s.account_id, s.id, s.state from sale s
  join (select distinct account_id, sale_id from ${input} where effect = 'reverse' and sale_id is not null) i
    on s.account_id = i.account_id and s.id = i.sale_id
  order by s.account_id, s.id for no key update of s`

/** News of a sale whose state stays as it is takes the sale's next turn all the same. */
export const takeTurnsCte = (input: string): string => `
  update sale s set turns = s.turns + 1 from ${input} i
  where s.account_id = i.account_id and s.id = i.sale_id returning i.ord, s.turns as turn`

/**
 * Pays the recipient-side transactions of the sales in `paid`; `children` has ord, account_id, id and event_at. They are
 * credited later, each in its own account.
 */
export const payChildrenCte = (children: string, paid: string): string => `
  update sale s set state = '${PAID}', paid_at = c.event_at
  from ${children} c join ${paid} p using (ord)
  where s.account_id = c.account_id and s.id = c.id and s.state = '${PENDING}'
  returning s.account_id, s.id as transaction_id, ${hourSql('s.created_at')} as created_hour`

/**
 * Counters of the hour a sale was made in and of the hour it was booked in; often the same row, so they are added first. A
 * share is booked when it is credited, and a sale that leaves its parent nothing is not booked in its balance at all.
 */
export const countPaidCte = (paid: string, children: string): string => `
  insert into sale_hour as h (account_id, hour, pending, paid, cancelled, processed)
  select account_id, hour, sum(pending)::bigint, sum(paid)::bigint, 0, sum(processed)::bigint from (
    select account_id, created_hour as hour, -1 as pending, 1 as paid, 0 as processed from ${paid}
    union all
    select account_id, created_hour, -1, 1, 0 from ${children}
    union all
    select account_id, hour, 0, 0, 1 from ${paid} where booked
  ) moved
  group by account_id, hour order by account_id, hour
  on conflict (account_id, hour) do update set pending = h.pending + excluded.pending, paid = h.paid + excluded.paid,
    processed = h.processed + excluded.processed
  returning account_id`

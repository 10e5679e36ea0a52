-- What came in from sales in the hour, so that a chart of a month costs a month of hours.
alter table book_hour add column received_cents bigint not null default 0;
update book_hour h set received_cents = t.cents
from (
  select account_id, floor(extract(epoch from event_at) / 3600)::integer as hour, sum(amount_cents)::bigint as cents
  from transfer where credit = 2 and code in (9, 10, 21) group by 1, 2) t
where t.account_id = h.account_id and t.hour = h.hour;

-- A charge that is cancelled before it was a sale keeps the price that it had.
alter table charge
  drop constraint charge_check,
  add constraint charge_amount_known check (amount_cents is not null or (sale_id is null and state in ('PENDING_SCHEDULE', 'CANCELLED')));

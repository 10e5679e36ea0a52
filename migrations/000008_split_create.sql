-- A sale may be shared. The parent counts its legs and what they take; the recipient-side transaction of a leg is a sale of
-- the recipient's, made and moved with its parent, and the only place that says how far its settlement has come.
alter table sale
  add column legs smallint not null default 0,
  add column split_cents bigint not null default 0,
  add column parent_account_id bigint,
  add column parent_id uuid,
  add column settlement text check (settlement in ('PENDING', 'PROCESSING', 'SETTLED', 'FAILED')),
  add constraint sale_split_fits check (split_cents between 0 and amount_cents - fee_cents),
  add constraint sale_is_child check ((parent_id is null) = (settlement is null) and (parent_id is null) = (parent_account_id is null)),
  drop constraint sale_check2,
  -- A child is paid by its parent's payment.
  add constraint sale_paid_by check ((state = 'PAID' and parent_id is null) = (end_to_end is not null));

-- Children expire with their parent.
drop index sale_by_expiry;
create index sale_by_expiry on sale (expires_at) where parent_id is null;

create table split_leg (
  account_id bigint not null,
  sale_id uuid not null,
  leg smallint not null,
  recipient_account_id bigint not null,
  recipient_uuid uuid not null,
  -- The recipient-side transaction.
  transaction_id uuid not null,
  amount_cents bigint not null check (amount_cents > 0),
  -- Ten-thousandths of one per cent, as sent; null for a leg by amount.
  share integer check (share between 1 and 1000000),
  external_reference text,
  primary key (account_id, sale_id, leg)
);

-- One message a leg, from the parent's payment to the recipient's credit. due_at is the due time and the lease in one.
create table split_message (
  account_id bigint not null,
  transaction_id uuid not null,
  due_at timestamptz not null,
  tries integer not null default 0,
  primary key (account_id, transaction_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index split_message_due on split_message (due_at);

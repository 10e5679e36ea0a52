-- Money that a merchant gives back to a payer.
create table refund (
  account_id bigint not null,
  id uuid not null,
  number bigint not null,
  sale_id uuid not null,
  amount_cents bigint not null check (amount_cents > 0),
  reason text,
  callback_url text,
  state text not null default 'PENDING' check (state in ('PENDING', 'PAID', 'CANCELLED')),
  created_at timestamptz not null,
  closed_at timestamptz,
  primary key (account_id, id),
  check ((state = 'PENDING') = (closed_at is null))
);
create index refund_of_sale on refund (account_id, sale_id, id);
create index refund_by_amount on refund (account_id, amount_cents, id);

-- What refunds that were not cancelled take together: never more than the sale.
alter table sale add column refunded_cents bigint not null default 0,
  add constraint sale_refunds_fit check (refunded_cents between 0 and amount_cents);

alter table reversal add column closed_at timestamptz,
  add constraint reversal_closed check ((state = 'PENDING') = (closed_at is null));

-- Money that a merchant sends to a bank account or a PIX key.
create table payout (
  account_id bigint not null,
  id uuid not null,
  number bigint not null,
  amount_cents bigint not null check (amount_cents > 0),
  fee_cents bigint not null check (fee_cents >= 0),
  reference_code text not null,
  beneficiary json not null,
  callback_url text,
  notes text,
  state text not null default 'PENDING' check (state in ('PENDING', 'PAID', 'CANCELLED', 'FAILED')),
  error_code text,
  cancel_reason text,
  created_at timestamptz not null,
  closed_at timestamptz,
  turns integer not null default 0,
  primary key (account_id, id),
  check ((state = 'PENDING') = (closed_at is null)),
  check ((state = 'FAILED') = (error_code is not null))
);
create index payout_by_reference on payout (account_id, reference_code, id);
create index payout_by_amount on payout (account_id, amount_cents, id);

-- How many refunds and payouts made in an hour stand where, beside the sales of the hour.
create table refund_hour (
  account_id bigint not null, hour integer not null,
  pending bigint not null, paid bigint not null, cancelled bigint not null, processed bigint not null,
  primary key (account_id, hour)
) with (fillfactor = 50);
create table payout_hour (
  account_id bigint not null, hour integer not null,
  pending bigint not null, paid bigint not null, cancelled bigint not null, failed bigint not null, processed bigint not null,
  primary key (account_id, hour)
) with (fillfactor = 50);

-- An order to the rail, from the commit that holds its money until the rail says how it ended. It carries an id that we made,
-- so it can be sent again after an unknown outcome.
create table outflow (
  account_id bigint not null,
  id uuid not null,
  kind text not null check (kind in ('REFUND', 'REVERSAL', 'PAYOUT')),
  state text not null default 'RESERVED' check (state in ('RESERVED', 'SENT')),
  instruction json not null,
  -- Real time: when to send it next, or until when somebody is sending it.
  due_at timestamptz not null,
  tries integer not null default 0,
  -- Account time: when the sandbox settles it by itself; null where a person does.
  settles_at timestamptz,
  primary key (account_id, id)
);
create index outflow_to_send on outflow (due_at) where state = 'RESERVED';
create index outflow_to_settle on outflow (settles_at) where settles_at is not null;

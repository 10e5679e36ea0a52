-- Numeric ids are handed out in blocks, so no sequence sits on the hot path.
create table number_block (
  only_row boolean primary key default true check (only_row),
  next_number bigint not null
);
insert into number_block (next_number) values (1000);

create table account (
  id bigint primary key,
  uuid uuid not null unique,
  kind text not null check (kind in ('MERCHANT', 'OPERATOR')),
  status text not null check (status in ('ACTIVE', 'SUSPENDED', 'CLOSED')),
  name text not null,
  email text,
  document text,
  city text not null,
  password_hash text,
  created_at timestamptz not null,
  -- Account time = real time + offset. Only the sandbox moves it, and never back before real time.
  clock_offset_ms bigint not null default 0 check (clock_offset_ms >= 0),
  -- A jump of the clock under way; it lapses if its process dies.
  clock_busy_until timestamptz,
  split_enabled boolean not null default false,
  split_recipients_max integer not null default 20 check (split_recipients_max between 1 and 1000),
  unique_reference_code boolean not null default false,
  auto_settle boolean not null default true,
  boleto_enabled boolean not null default false,
  boleto_fee_cents bigint check (boleto_fee_cents >= 0),
  pix_fee_share integer not null check (pix_fee_share between 0 and 1000000),
  pix_fee_fixed_cents bigint not null check (pix_fee_fixed_cents >= 0),
  payout_fee_fixed_cents bigint not null default 0 check (payout_fee_fixed_cents >= 0),
  rate_limit_per_second integer check (rate_limit_per_second > 0),
  payment_url text,
  reversal_url text,
  reversal_enabled boolean not null default false,
  refund_url text,
  refund_enabled boolean not null default false,
  payout_url text,
  payout_enabled boolean not null default false,
  webhook_secret bytea,
  webhook_secret_previous bytea,
  webhook_secret_previous_ends_at timestamptz,
  check (not reversal_enabled or reversal_url is not null),
  check (not refund_enabled or refund_url is not null),
  check (not payout_enabled or payout_url is not null)
);
-- An e-mail may repeat until it is somebody's way to sign in.
create unique index account_sign_in on account (lower(email)) where password_hash is not null;
create index account_newest on account (created_at desc, id desc);
create index account_clock_moved on account (id) where clock_offset_ms > 0;

-- The operator's own account holds money whose merchant nobody knows.
insert into account (id, uuid, kind, status, name, city, created_at, pix_fee_share, pix_fee_fixed_cents)
values (1, '00000000-0000-7000-8000-000000000001', 'OPERATOR', 'ACTIVE', 'Operator', 'BRASILIA', '2020-01-01T00:00:00Z', 0, 0);

-- One row a key: the token in force and, during a rotation's overlap, the one before it.
create table credential (
  api_key uuid primary key,
  account_id bigint not null references account (id),
  token_hash bytea not null,
  token_sealed bytea not null,
  token_used_at timestamptz,
  previous_hash bytea,
  previous_sealed bytea,
  previous_ends_at timestamptz,
  rotated_at timestamptz not null
);
create index credential_of_account on credential (account_id);

create table recipient (
  account_id bigint not null references account (id),
  recipient_account_id bigint not null references account (id),
  active boolean not null,
  linked_at timestamptz not null,
  primary key (account_id, recipient_account_id),
  check (account_id <> recipient_account_id)
);

-- The key is (account, uuid v7 of the creation in account time), so it is also the list order and the date index.
-- state, paid_at and end_to_end are in no index: paying stays a HOT update.
create table sale (
  account_id bigint not null,
  id uuid not null,
  number bigint not null,
  amount_cents bigint not null check (amount_cents > 0),
  fee_cents bigint not null check (fee_cents between 0 and amount_cents),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  renewals integer not null default 0,
  state text not null default 'PENDING' check (state in ('PENDING', 'PAID', 'CANCELLED')),
  end_to_end text,
  reference_code text not null,
  callback_url text,
  shopper json not null,
  -- What the merchant sent along and only wants back: observation, redirectURL, taxData and the like.
  extra json,
  primary key (account_id, id),
  check ((state = 'PAID') = (paid_at is not null)),
  check ((state = 'PAID') = (end_to_end is not null))
) with (fillfactor = 85, autovacuum_vacuum_insert_scale_factor = 0.05);
create index sale_by_reference on sale (account_id, reference_code, id);
create index sale_by_amount on sale (account_id, amount_cents, id);
create index sale_by_expiry on sale (expires_at);

-- How many sales made in an hour stand where, and how many were paid in it: exact totals and a way to any page.
create table sale_hour (
  account_id bigint not null,
  hour integer not null,
  pending bigint not null,
  paid bigint not null,
  cancelled bigint not null,
  processed bigint not null,
  primary key (account_id, hour)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Reference codes used while the account asked for unique ones. A cancelled sale keeps its code.
create table sale_reference (
  account_id bigint not null,
  reference_code text not null,
  sale_id uuid not null,
  primary key (account_id, reference_code)
);

-- Up to where the expiry sweep has looked: account time equals real time for all but sandbox jumpers.
create table sale_expiry_watermark (
  only_row boolean primary key default true check (only_row),
  swept_to timestamptz not null
);
insert into sale_expiry_watermark (swept_to) values ('2020-01-01T00:00:00Z');

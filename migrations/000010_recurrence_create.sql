-- The first 12 hex digits are the creation in account time, so the key is also the list order.
create table plan (
  account_id bigint not null,
  id text collate "C" not null check (id ~ '^[0-9a-f]{24}$'),
  title text not null,
  description text,
  frequency text not null check (frequency in ('WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMIANNUAL', 'ANNUALLY')),
  -- How many cycles; 0 is open-ended.
  period integer not null check (period between 0 and 100),
  immediate_cents bigint check (immediate_cents > 0),
  recurrence_cents bigint not null check (recurrence_cents > 0),
  minimum_cents bigint not null check (minimum_cents > 0),
  retry_policy text not null check (retry_policy in ('ACCEPT_3R_7D', 'NOT_ACCEPT')),
  enabled boolean not null,
  created_at timestamptz not null,
  -- How many mandates were made under it.
  mandates bigint not null default 0,
  primary key (account_id, id)
) with (fillfactor = 80);

-- What a payer authorizes. The id is the recurrence checkout's, and that of its immediate sale where it has one.
-- Every change counts up the version: whoever decided on an older one decides again.
create table mandate (
  account_id bigint not null,
  id uuid not null,
  number bigint not null,
  id_rec text collate "C" not null,
  plan_id text collate "C" not null,
  version integer not null default 0,
  turns integer not null default 0,
  state text not null check (state in ('CREATED', 'APPROVING', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELLING', 'CANCELLED', 'CONCLUDED')),
  value_type text not null check (value_type in ('FIXED', 'VARIABLE')),
  amount_cents bigint check (amount_cents > 0),
  minimum_cents bigint check (minimum_cents > 0),
  -- A price for the next cycle only.
  one_off_cents bigint check (one_off_cents > 0),
  periodicity text not null check (periodicity in ('WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMIANNUAL', 'ANNUALLY')),
  initial_date date not null,
  final_date date,
  -- Null: open-ended.
  last_cycle integer,
  retries boolean not null,
  immediate boolean not null,
  -- The cycle whose charge waits to be registered; null when there is none.
  next_cycle integer,
  open_charges integer not null default 0 check (open_charges >= 0),
  reference_code text not null,
  callback_url text,
  shopper json not null,
  payer_document text not null,
  payer_name text not null,
  payer_ispb text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  approved_at timestamptz,
  primary key (account_id, id),
  check ((value_type = 'FIXED') = (amount_cents is not null)),
  check ((value_type = 'VARIABLE') = (minimum_cents is not null)),
  check (one_off_cents is null or value_type = 'VARIABLE')
) with (fillfactor = 80);
create index mandate_of_plan on mandate (account_id, plan_id, id);
create index mandate_by_update on mandate (account_id, updated_at, id);

-- The rail knows a mandate by its idRec alone.
create table mandate_rec (
  id_rec text collate "C" primary key,
  account_id bigint not null,
  mandate_id uuid not null
);

-- One charge a cycle. It is a sale from its registration on.
create table charge (
  account_id bigint not null,
  id uuid not null,
  number bigint not null,
  mandate_id uuid not null,
  cycle integer not null check (cycle >= 0),
  state text not null check (state in ('PENDING_SCHEDULE', 'SCHEDULED', 'PAID', 'FAILED', 'CANCELLED')),
  due_date date not null,
  -- Settled when it is registered.
  amount_cents bigint check (amount_cents > 0),
  sale_id uuid,
  sale_number bigint,
  -- 0 is the collection on the due date; after that the retries, and which of them is to come.
  attempt integer not null default 0 check (attempt between 0 and 3),
  next_attempt integer check (next_attempt between 1 and 3),
  end_to_end text,
  rejection_code text,
  cancel_reason text,
  created_at timestamptz not null,
  primary key (account_id, id),
  unique (account_id, mandate_id, cycle),
  check ((amount_cents is null) = (sale_id is null)),
  check ((sale_id is null) = (sale_number is null)),
  check (state in ('PENDING_SCHEDULE', 'CANCELLED') or sale_id is not null),
  check ((state = 'PAID') = (end_to_end is not null)),
  check (next_attempt is null or (state = 'FAILED' and next_attempt > attempt))
) with (fillfactor = 80);
create index charge_by_due_date on charge (account_id, due_date, id);

-- What is to be done next with a mandate or a charge, in account time; whoever works on it has it until the lease ends.
create table recurrence_due (
  account_id bigint not null,
  id uuid not null,
  kind text not null check (kind in ('expire', 'register', 'retry', 'collect')),
  due_at timestamptz not null,
  leased_until timestamptz,
  primary key (account_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
-- What the engine does, and what is the payers' banks' to do: neither is passed over to find the other.
create index recurrence_due_at on recurrence_due (due_at) where kind <> 'collect';
create index recurrence_due_to_collect on recurrence_due (due_at) where kind = 'collect';
create index recurrence_due_of_account on recurrence_due (account_id, due_at);

-- A charge's sale names both; the sale that is paid when a mandate is given names the mandate, whose id it has.
alter table sale add column mandate_id uuid, add column charge_id uuid;

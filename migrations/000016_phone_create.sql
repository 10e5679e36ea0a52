-- The payers of the sandbox: an account at a toy bank for each browser. Empty in production.
create table phone (
  id uuid primary key,
  secret_hash bytea not null,
  name text not null,
  document text not null unique,
  balance_cents bigint not null check (balance_cents >= 0),
  -- How many lines its statement has.
  entries integer not null default 0,
  opened_at timestamptz not null
);

-- The statement. A line is never changed, only what became of its payment is added.
create table phone_entry (
  phone_id uuid not null references phone (id),
  seq integer not null,
  -- What makes it one: whoever asks for the same again gets this line.
  key text collate "C" not null,
  kind text not null check (kind in ('OPENING', 'TOP_UP', 'PAYMENT', 'COLLECTION', 'GIVEN_BACK')),
  -- Below zero: it left the account.
  amount_cents bigint not null check (amount_cents <> 0),
  balance_after_cents bigint not null check (balance_after_cents >= 0),
  counterparty text,
  end_to_end text collate "C",
  txid text collate "C",
  -- By the receiver's clock.
  settled_at timestamptz not null,
  -- SENT: debited, and not yet known what the receiver's bank made of it.
  outcome text check (outcome in ('SENT', 'PAID', 'REVERSED')),
  primary key (phone_id, seq),
  unique (phone_id, key),
  check ((kind in ('PAYMENT', 'COLLECTION')) = (outcome is not null)),
  check ((amount_cents < 0) = (kind in ('PAYMENT', 'COLLECTION')))
);
create unique index phone_entry_by_payment on phone_entry (end_to_end) where amount_cents < 0;
create index phone_entry_sent on phone_entry (phone_id, seq) where outcome = 'SENT';

-- A code that was read: what it can be paid for, and whether the payer said no.
create table phone_reading (
  phone_id uuid not null references phone (id),
  id uuid not null,
  read_at timestamptz not null,
  account_id bigint not null,
  txid text collate "C" not null,
  amount_cents bigint not null check (amount_cents > 0),
  receiver text not null,
  -- The mandate that is given with the payment.
  id_rec text collate "C",
  refused boolean not null default false,
  primary key (phone_id, id)
);

-- Mandates that the phone has read. How they stand is the rail's to say; the maximum is the payer's alone.
create table phone_mandate (
  phone_id uuid not null references phone (id),
  id_rec text collate "C" not null,
  read_at timestamptz not null,
  offer json not null,
  -- It is given by paying a charge, not by itself.
  pay_first boolean not null,
  maximum_cents bigint check (maximum_cents > 0),
  primary key (phone_id, id_rec)
);

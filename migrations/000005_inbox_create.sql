-- Every fact the rail reported and we acted on, once. It belongs to no account: the rail's id is the key.
create table inbox (
  rail text not null,
  kind text not null,
  rail_id text not null,
  content_hash bytea not null,
  account_id bigint not null,
  outcome text not null check (outcome in ('APPLIED', 'REVERSED')),
  -- The sale that was paid, or the reversal that was made.
  outcome_id uuid not null,
  txid text,
  amount_cents bigint,
  settled_at timestamptz not null,
  payer_document text,
  payer_name text,
  payer_ispb text,
  received_at timestamptz not null,
  primary key (rail, kind, rail_id)
);

-- The same rail id with other content: kept, set aside, alarmed; a person decides.
create table inbox_conflict (
  id uuid primary key,
  rail text not null,
  kind text not null,
  rail_id text not null,
  content_hash bytea not null,
  content json not null,
  received_at timestamptz not null,
  unique (rail, kind, rail_id, content_hash)
);

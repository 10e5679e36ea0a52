-- One self-balancing book an account: cumulative debits and credits that never fall.
-- The checks refuse an unbalanced or overdrawn commit whatever the code above believes.
create table book (
  account_id bigint primary key,
  version bigint not null default 0,
  available_lines bigint not null default 0,
  overdraft_limit_cents bigint not null default 0 check (overdraft_limit_cents >= 0),
  clearing_dr bigint not null default 0,
  clearing_cr bigint not null default 0,
  available_dr bigint not null default 0,
  available_cr bigint not null default 0,
  refund_due_dr bigint not null default 0,
  refund_due_cr bigint not null default 0,
  fee_dr bigint not null default 0,
  fee_cr bigint not null default 0,
  payout_due_dr bigint not null default 0,
  payout_due_cr bigint not null default 0,
  reversal_due_dr bigint not null default 0,
  reversal_due_cr bigint not null default 0,
  transit_dr bigint not null default 0,
  transit_cr bigint not null default 0,
  receivable_dr bigint not null default 0,
  receivable_cr bigint not null default 0,
  adjust_dr bigint not null default 0,
  adjust_cr bigint not null default 0,
  constraint book_balances check (
    clearing_dr + available_dr + refund_due_dr + fee_dr + payout_due_dr + reversal_due_dr + transit_dr + receivable_dr + adjust_dr
    = clearing_cr + available_cr + refund_due_cr + fee_cr + payout_due_cr + reversal_due_cr + transit_cr + receivable_cr + adjust_cr
  ),
  constraint book_not_overdrawn check (available_cr - available_dr + overdraft_limit_cents >= 0),
  constraint book_holds_not_negative check (
    refund_due_cr >= refund_due_dr and payout_due_cr >= payout_due_dr and reversal_due_cr >= reversal_due_dr
  )
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

insert into book (account_id) values (1);

create table transfer (
  account_id bigint not null,
  source_id uuid not null,
  code smallint not null,
  leg smallint not null,
  book_seq bigint not null,
  debit smallint not null,
  credit smallint not null,
  amount_cents bigint not null check (amount_cents > 0),
  -- Available balance after this line, so that a statement page costs a page.
  available_after_cents bigint not null,
  -- Account time, then real time.
  event_at timestamptz not null,
  posted_at timestamptz not null,
  -- The id a merchant knows the line by, where it is not the source itself.
  subject_id uuid,
  check (debit <> credit),
  primary key (account_id, source_id, code, leg),
  unique (account_id, book_seq)
);

-- Lines that touch `available`, by the hour of their account time, with the range of sequence numbers they lie in.
create table book_hour (
  account_id bigint not null,
  hour integer not null,
  lines bigint not null,
  seq_low bigint not null,
  seq_high bigint not null,
  primary key (account_id, hour)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Who is signed in. A browser holds the token, we hold its hash; the account that sessions of the operator belong to is the operator's own.
create table session (
  account_id bigint not null references account (id),
  token_hash bytea not null,
  created_at timestamptz not null,
  -- Moves on with use, up to the end that nothing moves.
  idle_ends_at timestamptz not null,
  ends_at timestamptz not null,
  primary key (account_id, token_hash)
);
create index session_by_end on session (ends_at);

-- Attempts to sign in or to register, by a hash of who tries: an address or an e-mail. Shared by all processes.
create table attempt (
  key_hash bytea primary key,
  -- When everything that was tried so far is paid off.
  free_at timestamptz not null
);
create index attempt_by_time on attempt (free_at);

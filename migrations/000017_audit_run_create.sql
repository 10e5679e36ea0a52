-- The newest audit of the books that an operator asked for: one row, so two never run beside each other.
create table audit_run (
  only_row boolean primary key default true check (only_row),
  id uuid not null,
  started_at timestamptz not null,
  -- It lapses if its process dies.
  held_until timestamptz not null,
  ended_at timestamptz,
  trouble text check (trouble in ('TIME_LIMIT', 'STOPPED')),
  -- Every rule with what breaks it.
  rules json,
  check ((ended_at is null) = (trouble is null and rules is null)),
  check (trouble is null or rules is null)
);

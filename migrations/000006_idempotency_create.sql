-- Stored answers of Idempotency-Key, for 24 h of real time.
create table idempotency_key (
  account_id bigint not null,
  key text not null,
  request_hash bytea not null,
  http_status smallint,
  answer bytea,
  -- The answer holds credentials and is encrypted.
  sealed boolean not null default false,
  created_at timestamptz not null,
  primary key (account_id, key)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index idempotency_key_age on idempotency_key using brin (created_at);

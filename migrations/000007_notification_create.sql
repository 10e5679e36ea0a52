-- What merchants are told: frozen bytes, written with the change they tell of. The id is a uuid v7 of real time, so it is
-- the list order and the partition key at once. A day's partition takes its attempts with it when it goes.
create table notification (
  account_id bigint not null,
  id uuid not null,
  -- The sale, recurrence checkout or payout it tells of: first attempts of one resource start in order of their turn.
  resource_id uuid not null,
  turn integer not null check (turn > 0),
  -- The refund, reversal or charge that it can be found under as well.
  also_id uuid,
  event text not null,
  -- Account time, as the wire shows it.
  created_at timestamptz not null,
  -- The resource's own address, if it had one; url is where that or the account's setting led, with the event's query.
  callback_url text,
  url text not null,
  payload text not null,
  primary key (account_id, id)
) partition by range (id);
create index notification_of_resource on notification (account_id, resource_id, id);
create index notification_of_also on notification (account_id, also_id, id) where also_id is not null;
-- Days are made ahead by the worker; should it ever be away that long, nothing fails.
create table notification_default partition of notification default;

create table notification_attempt (
  account_id bigint not null,
  notification_id uuid not null,
  number integer not null check (number > 0),
  -- Account time, as the wire shows it.
  at timestamptz not null,
  duration_ms integer not null,
  status text not null check (status in ('SUCCESS', 'HTTP_STATUS_NOT_EQUALS_200', 'HTTP_REQUEST_TIMEOUT')),
  response_code smallint not null,
  -- Why there was no whole answer.
  failure text,
  -- Nothing was due after it.
  last boolean not null,
  -- Null: the notification's own.
  url text,
  request_headers json not null,
  response_headers json not null,
  response_body bytea not null,
  primary key (account_id, notification_id, number)
) partition by range (notification_id);
create index notification_attempt_failed on notification_attempt (account_id, notification_id)
  where last and status <> 'SUCCESS';
create table notification_attempt_default partition of notification_attempt default;

-- Narrow and hot: a row is here only while work is left. due_at is the due time and the lease in one. claims is the
-- fencing number. A row that is held although its lease has lapsed lost its process in the middle of a call.
create table notification_queue (
  account_id bigint not null,
  resource_id uuid not null,
  turn integer not null,
  notification_id uuid not null,
  due_at timestamptz not null,
  held boolean not null,
  claims integer not null,
  attempts integer not null,
  attempts_left smallint not null check (attempts_left > 0),
  -- Null: the notification's own.
  url text,
  primary key (account_id, resource_id, turn)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  -- A plan made on a table cut down to nothing reads it whole, and is kept when it has grown again.
  vacuum_truncate = off);
create index notification_queue_due on notification_queue (account_id, due_at);

-- How many notifications the sale has had; counted by the statement that changes the sale, so in commit order.
alter table sale add column turns integer not null default 0;

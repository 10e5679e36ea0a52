-- An order that its merchant wants back: the rail is asked, and until it has answered nobody sends or settles it.
-- due_at is when to send a RESERVED one, when to ask how a SENT one stands, or when to ask for one that is wanted back.
alter table outflow
  -- Real time.
  add column cancel_asked_at timestamptz,
  add column cancel_reason text,
  -- How often the rail was asked, since it was sent or wanted back.
  add column asked integer not null default 0;
drop index outflow_to_send;
create index outflow_to_send on outflow (due_at) where state = 'RESERVED' and cancel_asked_at is null;
create index outflow_to_look_up on outflow (due_at) where state = 'SENT' and cancel_asked_at is null;
create index outflow_to_withdraw on outflow (due_at) where cancel_asked_at is not null;

-- Why a payout failed, in the rail's words.
alter table payout add column error_detail text;

-- What went out, by when it did.
create index refund_by_end on refund (account_id, closed_at, id) where state = 'PAID';
create index payout_by_end on payout (account_id, closed_at, id) where state = 'PAID';

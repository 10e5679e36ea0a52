-- Money that came in and fits no sale: kept apart from the balance until it has gone back.
create table reversal (
  account_id bigint not null,
  id uuid not null,
  number bigint not null,
  sale_id uuid,
  txid text,
  end_to_end text not null,
  original_amount_cents bigint,
  amount_cents bigint not null check (amount_cents > 0),
  reason text not null check (reason in ('SALE_NOT_PENDING', 'ALREADY_PAID', 'AMOUNT_DIFFERS', 'UNKNOWN_CHARGE')),
  state text not null default 'PENDING' check (state in ('PENDING', 'PAID', 'CANCELLED')),
  created_at timestamptz not null,
  primary key (account_id, id)
);
create index reversal_of_sale on reversal (account_id, sale_id) where sale_id is not null;

import { hourSql } from './sale.store.ts'

/**
 * Parts of the statement that changes recurrences. The rows of new sales have sale_id, number, charge_id, amount, fee,
 * created_ms, expires_ms, account_id, mandate_id, reference_code, callback_url, shopper and turns.
 */
export const addChargeSalesCte = (rows: string): string => `
  insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, reference_code, callback_url, shopper,
    mandate_id, charge_id, turns)
  select account_id, sale_id, number, amount, fee, to_timestamp(created_ms / 1000), to_timestamp(expires_ms / 1000), reference_code,
    callback_url, shopper, mandate_id, charge_id, turns
  from ${rows}`

/** Cancels what is still pending of `rows` (account_id, sale_id). */
export const cancelChargeSalesCte = (rows: string): string => `
  update sale s set state = 'CANCELLED' from ${rows}
  where s.account_id = gone.account_id and s.id = gone.sale_id and s.state = 'PENDING'
  returning s.account_id, ${hourSql('s.created_at')} as hour`

/** One row an hour, whatever happened in it: a statement may change a row once only. */
export const countSalesCte = (deltas: readonly string[]): string => `
  insert into sale_hour as h (account_id, hour, pending, paid, cancelled, processed)
  select account_id, hour, sum(pending)::bigint, sum(paid)::bigint, sum(cancelled)::bigint, sum(processed)::bigint
  from (${deltas.join(' union all ')}) moved
  group by account_id, hour order by account_id, hour
  on conflict (account_id, hour) do update set pending = h.pending + excluded.pending, paid = h.paid + excluded.paid,
    cancelled = h.cancelled + excluded.cancelled, processed = h.processed + excluded.processed`

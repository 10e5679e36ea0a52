import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { createDatabase, dropDatabase, placeOf } from '../../../test/harness/test-server.ts'
import { clientConfig } from './database.ts'

const registered = vi.hoisted(() => [] as { name: string; text: string }[])
// Every statement of the service is made when its module is loaded, so loading the service lists them all.
vi.mock('./database.ts', async (original) => {
  const actual = await original<typeof import('./database.ts')>()
  const statement: typeof actual.statement = (name, text) => {
    registered.push({ name, text })
    return actual.statement(name, text)
  }
  return { ...actual, statement }
})
await import('../../service.ts')

const server = inject('server')
const name = `quitado_statements_${process.pid}`
let client: pg.Client

const ROWS = 20_000

/** Twenty thousand sales, paid and told, of forty accounts over four weeks. */
const filling = `
  insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, paid_at, state, end_to_end, reference_code, shopper)
  select 1000 + n % 40, (lpad(to_hex(1794000000000 + n * 120000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, n, 100 + n % 977, 1,
    to_timestamp(1794000000 + n * 120), to_timestamp(1794086400 + n * 120), to_timestamp(1794000060 + n * 120), 'PAID', 'E' || n, 'order ' || n, '{}'
  from generate_series(1, ${ROWS}::bigint) n;
  insert into transfer (account_id, source_id, code, leg, book_seq, debit, credit, amount_cents, available_after_cents, event_at, posted_at)
  select account_id, id, code, 0, row_number() over (partition by account_id order by id, code), code, 2, 1, 1, paid_at, paid_at
  from sale, unnest(array[10, 12]) code;
  insert into inbox (rail, kind, rail_id, content_hash, account_id, outcome, outcome_id, amount_cents, settled_at, received_at)
  select 'sandbox', 'payment', end_to_end, '', account_id, 'APPLIED', id, amount_cents, paid_at, paid_at from sale;
  insert into reversal (account_id, id, number, sale_id, end_to_end, amount_cents, reason, created_at)
  select account_id, id, number, id, end_to_end, 1, 'ALREADY_PAID', paid_at from sale;
  insert into sale_hour select account_id, floor(extract(epoch from created_at) / 3600)::integer, 0, count(*), 0, count(*) from sale group by 1, 2;
  insert into book_hour select account_id, floor(extract(epoch from event_at) / 3600)::integer, count(*), min(book_seq), max(book_seq), 0 from transfer group by 1, 2;
  insert into book (account_id) select distinct account_id from sale;
  insert into idempotency_key (account_id, key, request_hash, created_at) select account_id, 'key ' || number, '', created_at from sale;
  insert into split_leg (account_id, sale_id, leg, recipient_account_id, recipient_uuid, transaction_id, amount_cents)
  select account_id, id, 0, account_id, id, id, 1 from sale;
  insert into split_message (account_id, transaction_id, due_at) select account_id, id, created_at from sale;
  insert into refund (account_id, id, number, sale_id, amount_cents, created_at, state, closed_at)
  select account_id, id, number, id, amount_cents, paid_at, 'PAID', paid_at from sale;
  insert into payout (account_id, id, number, amount_cents, fee_cents, reference_code, beneficiary, created_at, state, closed_at)
  select account_id, id, number, amount_cents, 0, reference_code, '{}', paid_at, 'PAID', paid_at from sale;
  insert into refund_hour select account_id, hour, 0, paid, 0, paid from sale_hour;
  insert into payout_hour select account_id, hour, 0, paid, 0, 0, paid from sale_hour;
  insert into outflow (account_id, id, kind, state, instruction, due_at, settles_at, cancel_asked_at)
  select account_id, id, 'REFUND', case number % 3 when 0 then 'SENT' else 'RESERVED' end, '{}', paid_at, paid_at,
    case number % 7 when 0 then paid_at end from sale;
  insert into plan (account_id, id, title, frequency, period, recurrence_cents, minimum_cents, retry_policy, enabled, created_at)
  select account_id, substr(replace(id::text, '-', ''), 1, 12) || lpad(to_hex(number), 12, '0'), '', 'MONTHLY', 0, 1, 1, 'NOT_ACCEPT', true, created_at
  from sale;
  insert into mandate (account_id, id, number, id_rec, plan_id, state, value_type, amount_cents, periodicity, initial_date, retries, immediate,
    reference_code, shopper, payer_document, payer_name, created_at, updated_at, expires_at)
  select account_id, id, number, 'RN' || number, substr(replace(id::text, '-', ''), 1, 12) || lpad(to_hex(number), 12, '0'), 'CREATED', 'FIXED', 1,
    'MONTHLY', created_at::date, false, false, '', '{}', '', '', created_at, created_at, created_at
  from sale;
  insert into sale_reference select account_id, reference_code, id from sale;
  insert into account (id, uuid, kind, status, name, city, created_at, pix_fee_share, pix_fee_fixed_cents)
  select 100000 + number, id, 'MERCHANT', 'ACTIVE', '', '', created_at, 0, 0 from sale;
  insert into credential (api_key, account_id, token_hash, token_sealed, rotated_at) select uuid, id, '', '', created_at from account;
  insert into book (account_id) select id from account where id > 1;
  insert into session (account_id, token_hash, created_at, idle_ends_at, ends_at)
  select id, uuid_send(uuid), created_at, created_at, created_at from account;
  insert into attempt (key_hash, free_at) select uuid_send(uuid), created_at from account;
  insert into notification (account_id, id, resource_id, turn, also_id, event, created_at, url, payload)
  select account_id, id, id, 1, id, 'PAYMENT_CONFIRMATION', paid_at, 'http://127.0.0.1:1/', '{}' from sale;
  insert into notification_attempt (account_id, notification_id, number, at, duration_ms, status, response_code, last, request_headers,
    response_headers, response_body)
  select account_id, id, 1, paid_at, 5, 'SUCCESS', 200, true, '{}', '{}', '' from sale;
  insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left)
  select account_id, id, 1, id, paid_at, false, 1, 1, 5 from sale;
  insert into recipient (account_id, recipient_account_id, active, linked_at) select 1, 100000 + number, true, created_at from sale;
  analyze;`

beforeAll(async () => {
  await createDatabase(server, name, server.template)
  client = new pg.Client(clientConfig(placeOf(server, name)))
  await client.connect()
  await client.query(filling)
  // What a connection uses after its first few calls: one plan for every set of values.
  await client.query('set plan_cache_mode = force_generic_plan')
})
afterAll(async () => {
  await client.end()
  await dropDatabase(server, name)
})

const named = registered.filter((statement) => statement.name !== '')
const preparable = named.filter(({ text }) => /^\s*(with|select|insert|update|delete)\b/i.test(text))
const textOf = (wanted: string) => named.find((statement) => statement.name === wanted)!.text
const quoted = (wanted: string) => pg.escapeIdentifier(`test ${wanted}`)

async function prepared<Value>(wanted: string, work: () => Promise<Value>): Promise<Value> {
  await client.query(`prepare ${quoted(wanted)} as ${textOf(wanted)}`)
  const value = await work()
  await client.query(`deallocate ${quoted(wanted)}`)
  return value
}

async function planOf(wanted: string): Promise<string> {
  const parameters = Math.max(0, ...[...textOf(wanted).matchAll(/\$(\d+)/g)].map(([, at]) => Number(at)))
  const nulls = Array(parameters).fill('null').join(', ')
  const explain = `explain (costs off) execute ${quoted(wanted)}${nulls && `(${nulls})`}`
  const { rows } = await prepared(wanted, () => client.query(explain))
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

/** `Seq Scan on sale s` is `sale`; scans of our own CTEs are named otherwise. */
const scannedWhole = (plan: string) => [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table!)
const indexesOf = (plan: string) => [
  ...new Set([...plan.matchAll(/Index (?:Only )?Scan (?:Backward )?(?:using|on) (\w+)/g)].map(([, index]) => index!)),
]

describe('every statement of the service', () => {
  test('has a name of its own, short enough for PostgreSQL', () => {
    expect(new Set(named.map((statement) => statement.name)).size).toBe(named.length)
    expect(named.filter((statement) => statement.name.length > 63)).toEqual([])
    expect(named.length).toBeGreaterThan(50)
  })

  test('is understood by the migrated schema', async () => {
    for (const statement of preparable) {
      const refusal = await prepared(statement.name, async () => undefined).catch((error: Error) => error.message)
      expect([statement.name, refusal]).toEqual([statement.name, undefined])
    }
    const settings = named.filter((statement) => !preparable.includes(statement))
    expect(settings.filter(({ text }) => !text.startsWith('set local '))).toEqual([])
  })
})

describe('the plan of a hot statement goes by an index', () => {
  const resourceIndex = 'notification_default_account_id_resource_id_id_idx'
  const alsoIndex = 'notification_default_account_id_also_id_id_idx'
  test.each([
    ['credential_find', ['account_pkey', 'credential_pkey']],
    ['account_terms', ['account_pkey']],
    ['book_balance', ['book_pkey']],
    ['inbox_find', ['inbox_pkey']],
    ['sale_find', ['sale_pkey']],
    ['sale_lock', ['sale_pkey']],
    ['sale_move_PENDING_CANCELLED', ['sale_hour_pkey', 'sale_pkey', 'split_leg_pkey']],
    ['sale_move_CANCELLED_PENDING', ['sale_hour_pkey', 'sale_pkey', 'split_leg_pkey']],
    ['sale_find_payable', ['sale_pkey']],
    ['sale_insert_batch', ['account_pkey', 'idempotency_key_pkey', 'sale_reference_pkey']],
    ['sale_insert_plain_batch', ['account_pkey']],
    ['door_apply_batch', ['book_pkey', 'sale_pkey']],
    ['sale_page_ALL', ['sale_hour_pkey', 'sale_pkey']],
    ['sale_page_PAID', ['sale_hour_pkey', 'sale_pkey']],
    ['sale_page_PENDING', ['sale_hour_pkey', 'sale_pkey']],
    ['sale_page_CANCELLED', ['sale_hour_pkey', 'sale_pkey']],
    ['sale_window_ALL', ['sale_hour_pkey']],
    ['sale_window_PROCESSED', ['sale_hour_pkey']],
    ['statement_window', ['book_hour_pkey']],
    ['statement_lines', ['book_hour_pkey', 'transfer_account_id_book_seq_key']],
    ['transfer_sources', ['book_hour_pkey', 'transfer_account_id_book_seq_key']],
    ['sale_expire_sweep', ['sale_by_expiry', 'sale_hour_pkey', 'sale_pkey', 'split_leg_pkey']],
    ['sale_expire_one', ['sale_hour_pkey', 'sale_pkey', 'split_leg_pkey']],
    ['sale_due_of_account', ['sale_hour_pkey', 'sale_pkey']],
    ['split_legs', ['split_leg_pkey']],
    ['split_message_take', ['split_message_due']],
    ['split_message_postpone', ['split_message_pkey']],
    ['sale_settlements', ['sale_pkey']],
    ['sale_find_shares', ['sale_pkey']],
    ['sale_take_up_shares', ['sale_pkey']],
    ['sale_credit_shares', ['book_pkey', 'sale_pkey', 'split_message_pkey']],
    ['recipient_find_linked', ['account_uuid_key', 'recipient_pkey']],
    ['reversal_find', ['reversal_pkey']],
    ['reversal_lock', ['reversal_pkey']],
    ['reversal_close', ['reversal_pkey']],
    ['reversal_list', ['reversal_pkey']],
    ['book_lock', ['book_pkey']],
    ['book_post', ['book_pkey']],
    ['sale_lock_any', ['sale_pkey']],
    ['sale_refund', ['sale_pkey']],
    ['refund_find', ['refund_pkey']],
    ['refund_lock', ['refund_pkey']],
    ['refund_by_ids', ['refund_pkey']],
    ['refunds_of_sales', ['refund_of_sale']],
    ['refund_close_PAID', ['refund_pkey']],
    ['refund_close_CANCELLED', ['refund_pkey']],
    ['payout_find', ['payout_pkey']],
    ['payout_lock', ['payout_pkey']],
    ['payout_by_ids', ['payout_pkey']],
    ['payout_close_PAID', ['payout_pkey']],
    ['payout_close_FAILED', ['payout_pkey']],
    ['payout_close_CANCELLED', ['payout_pkey']],
    ['plan_find', ['plan_pkey']],
    ['plan_lock', ['plan_pkey']],
    ['plan_update', ['plan_pkey']],
    ['plan_list', ['plan_pkey']],
    ['plan_mandates', ['mandate_of_plan']],
    ['transaction_processed_REFUND', ['refund_by_end']],
    ['transaction_processed_PAYOUT', ['payout_by_end']],
    ['transaction_processed_REFUND_PAYOUT', ['payout_by_end', 'refund_by_end']],
    ['outflow_take_to_send', ['outflow_to_send']],
    ['outflow_take_to_look_up', ['outflow_to_look_up']],
    ['outflow_take_to_withdraw', ['outflow_to_withdraw']],
    ['outflow_sent', ['outflow_pkey']],
    ['outflow_lost', ['outflow_pkey']],
    ['outflow_postpone_to_send', ['outflow_pkey']],
    ['outflow_postpone_to_look_up', ['outflow_pkey']],
    ['outflow_postpone_to_withdraw', ['outflow_pkey']],
    ['outflow_lock', ['outflow_pkey']],
    ['outflow_begin_to_settle', ['outflow_pkey']],
    ['outflow_want_back', ['outflow_pkey']],
    ['outflow_go_on', ['outflow_pkey']],
    ['outflow_end', ['outflow_pkey']],
    ['outflow_due', ['outflow_to_settle']],
    ['outflow_due_of_account', ['outflow_to_settle']],
    ['inbox_find_outflow', ['inbox_pkey']],
    ['idempotency_find', ['idempotency_key_pkey']],
    ['inbox_find_payer', ['inbox_pkey']],
    ['account_delivery_credentials', ['account_pkey', 'credential_of_account']],
    ['notification_tell', []],
    ['notification_claim', ['notification_default_pkey', 'notification_queue_due', 'notification_queue_pkey']],
    ['notification_record', ['notification_queue_pkey']],
    ['notification_due_accounts', ['notification_queue_due']],
    ['notification_give_back', ['notification_queue_pkey']],
    ['notification_attempts', ['notification_attempt_default_pkey', alsoIndex, resourceIndex]],
    ['notification_lock_last', [alsoIndex, resourceIndex, 'notification_default_pkey']],
    [
      'notification_start_series',
      ['notification_attempt_default_pkey', 'notification_default_pkey', 'notification_queue_pkey'],
    ],
    ['session_find', ['account_pkey', 'credential_of_account', 'session_pkey']],
    ['session_living', ['account_pkey', 'session_pkey']],
    ['session_note_use', ['session_pkey']],
    ['session_prune', ['session_by_end']],
    ['attempt_take', []],
    ['attempt_prune', ['attempt_by_time']],
    ['sale_hours', ['sale_hour_pkey']],
    ['sale_marks', ['sale_hour_pkey']],
    ['book_sequences', ['book_pkey']],
    ['book_hour_received', ['book_hour_pkey']],
    ['transfers_of_sources', ['transfer_pkey']],
    ['transfers_after', ['transfer_account_id_book_seq_key']],
    ['statement_bounds', ['book_hour_pkey']],
    ['statement_lines_below', ['transfer_account_id_book_seq_key']],
    ['reversals_of_sale', ['reversal_of_sale']],
    ['inbox_find_payment', ['inbox_pkey']],
    [
      'notification_deliveries',
      ['notification_attempt_default_pkey', alsoIndex, resourceIndex, 'notification_queue_pkey'],
    ],
    ['notification_marks', ['notification_attempt_default_pkey', 'notification_queue_pkey']],
    ['notification_restart_series', ['notification_default_pkey', 'notification_queue_pkey']],
  ])('%s', async (wanted, indexes) => {
    const plan = await planOf(wanted)
    expect(scannedWhole(plan), plan).toEqual([])
    expect(indexesOf(plan).sort(), plan).toEqual(indexes)
  })
})

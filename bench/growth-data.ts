import pg from 'pg'
import { clientConfig } from '../src/platform/database/database.ts'

/**
 * A year of these accounts' sales, made by the database itself: PAID for the most part, some CANCELLED, and recent ones
 * PENDING, with transfers, counts and inbox such that the audit finds nothing.
 */
export async function loadSales(
  socketFolder: string,
  apiKeys: readonly string[],
  count: number,
  say: (step: string) => void,
): Promise<void> {
  const client = new pg.Client(clientConfig({ host: socketFolder, database: 'quitado' }))
  await client.connect()
  try {
    const { rows } = await client.query<{ account_id: number }>(
      'select account_id from credential where api_key = any($1::uuid[])',
      [apiKeys],
    )
    const accounts = rows.map(({ account_id }) => account_id)
    for (const [name, sql] of steps(accounts, count, await indexesOfSale(client))) {
      const began = performance.now()
      await client.query(sql)
      say(`${name} (${Math.round((performance.now() - began) / 1000)} s)`)
    }
  } finally {
    await client.end()
  }
}

type Index = { readonly name: string; readonly made: string }

/** Made again after the rows are in, as the migrations left them. */
async function indexesOfSale(client: pg.Client): Promise<Index[]> {
  const { rows } = await client.query<Index>(
    `select indexname as name, indexdef as made from pg_indexes where tablename = 'sale' and indexname <> 'sale_pkey'`,
  )
  return rows
}

function steps(
  accounts: readonly number[],
  count: number,
  indexes: readonly Index[],
): readonly (readonly [string, string])[] {
  const theirs = `account_id in (${accounts.join(', ')})`
  // Shifted by one after each round of the accounts: a state that falls on every twentieth sale falls on all of them.
  const account = `(array[${accounts.join(', ')}]::bigint[])[1 + (n + n / ${accounts.length}) % ${accounts.length}]`
  const shopper = `{"id":"7","name":"Maria da Silva","email":"maria@example.com","document":{"type":"CPF","number":"52998224725"}}`
  return [
    [
      'made room',
      `set enable_seqscan = on; set synchronous_commit = off; set work_mem = '512MB'; set maintenance_work_mem = '1GB'; ${indexes.map(({ name }) => `drop index ${name}`).join(';')}`,
    ],
    [
      `made ${count} sales`,
      `insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, paid_at, state, end_to_end, reference_code, callback_url, shopper)
       select ${account}, (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid, 1000000000 + n, amount,
         greatest(1, (amount * 99 + 5000) / 10000), to_timestamp(ms / 1000::float8), to_timestamp((ms + 2592000000) / 1000::float8),
         case state when 'PAID' then to_timestamp((ms + 60000) / 1000::float8) end, state,
         case state when 'PAID' then 'E99999004' || lpad(n::text, 23, '0') end, 'order-' || n, 'http://127.0.0.1:9/hook', '${shopper}'
       from (
         select n, ms, md5(n::text) as hash, 100 + (n * 7919 % 20000)::bigint as amount,
           case when n > ${count} * 0.97 and n % 20 = 0 then 'PENDING' when n % 7 = 0 or n <= ${count} * 0.97 and n % 20 = 0 then 'CANCELLED' else 'PAID' end as state
         from (select n, (extract(epoch from clock_start) * 1000)::bigint + (n * (31536000000 / ${count}::numeric))::bigint as ms
           from generate_series(1::bigint, ${count}::bigint) n, (select date_trunc('hour', statement_timestamp()) - interval '365 days' as clock_start) c) t) s
       order by ms`,
    ],
    ['indexed them', indexes.map(({ made }) => made).join(';')],
    [
      'counted them',
      `insert into sale_hour (account_id, hour, pending, paid, cancelled, processed)
       select account_id, hour, sum(pending), sum(paid), sum(cancelled), sum(processed) from (
         select account_id, floor(extract(epoch from created_at) / 3600)::integer as hour, count(*) filter (where state = 'PENDING') as pending,
           count(*) filter (where state = 'PAID') as paid, count(*) filter (where state = 'CANCELLED') as cancelled, 0 as processed
         from sale where ${theirs} group by 1, 2
         union all
         select account_id, floor(extract(epoch from paid_at) / 3600)::integer, 0, 0, 0, count(*) from sale
         where ${theirs} and state = 'PAID' group by 1, 2) c
       group by 1, 2`,
    ],
    [
      'booked them',
      `insert into transfer (account_id, source_id, code, leg, book_seq, debit, credit, amount_cents, available_after_cents, event_at, posted_at)
       select account_id, id, code, 0, row_number() over line, debit, credit, amount,
         sum(case when credit = 2 then amount else -amount end) over line, paid_at, paid_at
       from (
         select account_id, id, paid_at, 10 as code, 1 as debit, 2 as credit, amount_cents as amount from sale where ${theirs} and state = 'PAID'
         union all
         select account_id, id, paid_at, 12, 2, 5, fee_cents from sale where ${theirs} and state = 'PAID') l
       window line as (partition by account_id order by paid_at, id, code)`,
    ],
    [
      'balanced the books',
      `update book set version = t.n, available_lines = t.n, clearing_dr = t.paid, available_cr = t.paid, available_dr = t.fee, fee_cr = t.fee
       from (select account_id, count(*) as n, sum(amount_cents) filter (where code = 10)::bigint as paid, sum(amount_cents) filter (where code = 12)::bigint as fee
         from transfer where ${theirs} group by account_id) t
       where book.account_id = t.account_id`,
    ],
    [
      'counted their lines',
      `insert into book_hour (account_id, hour, lines, seq_low, seq_high, received_cents)
       select account_id, floor(extract(epoch from event_at) / 3600)::integer, count(*), min(book_seq), max(book_seq),
         coalesce(sum(amount_cents) filter (where code = 10), 0)::bigint
       from transfer where ${theirs} group by 1, 2`,
    ],
    [
      'filled the inbox',
      `insert into inbox (rail, kind, rail_id, content_hash, account_id, outcome, outcome_id, amount_cents, settled_at, payer_document, payer_name, payer_ispb, received_at)
       select 'sandbox', 'payment', end_to_end, '\\x00', account_id, 'APPLIED', id, amount_cents, paid_at, '52998224725', 'Pagador de Teste', '99999004', paid_at
       from sale where ${theirs} and state = 'PAID'`,
    ],
    ['vacuumed', 'vacuum (analyze) sale, transfer, inbox, sale_hour, book_hour, book'],
    ['wrote it all down', 'checkpoint'],
  ]
}

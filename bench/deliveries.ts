import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Instant } from '../src/kernel/calendar.ts'
import { openAccount } from '../src/modules/account/index.ts'
import { keepNotificationDays } from '../src/modules/notification/index.ts'
import { clientConfig, openDatabase } from '../src/platform/database/database.ts'
import { createDatabaseIfMissing, migrate } from '../src/platform/database/migrate.ts'
import { createNumberBlocks } from '../src/platform/number-blocks.ts'
import { startEmbeddedPostgres } from '../src/platform/postgres-embedded/index.ts'
import { systemRandomIds } from '../src/platform/random-ids.ts'
import { createSecrets } from '../src/platform/secrets.ts'
import type { ToDelivery } from './delivery-process.ts'
import { round } from './load.ts'
import type { BenchRow } from './report.ts'

const ACCOUNTS = 200
const BACKLOG = 160_000
const HALF_RATE = 4_000
const PAY_RATE = 1_500
const SECONDS = 12

/**
 * Deliveries a second to a receiver on the same machine, attempts recorded: a backlog drained as fast as it goes, then
 * payments at half the asked rate, from each one's commit to the arrival of its notification.
 */
export async function benchDeliveries(runs: number): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (let run = 1; run <= runs; run += 1) {
    const world = await prepareWorld()
    try {
      rows.push({ run, ...(await drain(world)) })
      console.log(`  run ${run}: ${JSON.stringify(rows.at(-1))}`)
      for (const [kind, perSecond] of [
        ['tell', HALF_RATE],
        ['pay', PAY_RATE],
      ] as const) {
        rows.push({ run, ...(await atRate(world, kind, perSecond)) })
        console.log(`  run ${run}: ${JSON.stringify(rows.at(-1))}`)
      }
    } finally {
      await world.close()
    }
  }
  return rows
}

type Report = { calls: number; first: number; last: number; arrivals: [string, number][] }
type World = {
  readonly client: pg.Client
  readonly accounts: readonly number[]
  readonly receiver: ChildProcess
  readonly url: string
  startProcess(): Promise<ChildProcess>
  close(): Promise<void>
}

const ask = <Answer>(child: ChildProcess, message: unknown): Promise<Answer> =>
  new Promise((done, failed) => {
    child.once('message', (answer) => done(answer as Answer))
    child.once('exit', (code) => failed(new Error(`a process of the bench ended (${code})`)))
    child.send(message as never)
  })
const forked = (file: string) => fork(join(import.meta.dirname, file), { serialization: 'advanced' })

async function prepareWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-bench-'))
  const server = await startEmbeddedPostgres({ folder })
  const connection = { host: server.socketFolder, database: 'quitado' }
  await createDatabaseIfMissing(connection)
  await migrate(connection)
  const receiver = forked('webhook-receiver.ts')
  const { port } = await new Promise<{ port: number }>((done) =>
    receiver.once('message', (said) => done(said as never)),
  )
  const key = randomBytes(32)
  const url = `http://127.0.0.1:${port}/hook`
  const accounts = await openAccounts(connection, key, url)
  const client = new pg.Client(clientConfig(connection))
  await client.connect()
  return {
    client,
    accounts,
    receiver,
    url,
    async startProcess() {
      const child = forked('delivery-process.ts')
      await ask(child, { type: 'start', connection, key: key.toString('hex') } satisfies ToDelivery)
      return child
    },
    async close() {
      receiver.removeAllListeners('exit')
      receiver.disconnect()
      await client.end()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function openAccounts(connection: { host: string; database: string }, key: Buffer, url: string) {
  const db = openDatabase(connection, { connectionsMax: 2, queryTimeoutMs: 60_000, onError: () => {} })
  const ids = systemRandomIds()
  const [secrets, numbers] = [createSecrets([key], ids), createNumberBlocks(db)]
  const now = Date.now() as Instant
  const accounts: number[] = []
  await keepNotificationDays(db, now, 90)
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const asked = {
      name: `Loja ${index}`,
      email: null,
      document: null,
      city: null,
      passwordHash: null,
      splitEnabled: false,
    }
    const opened = await db.inTransaction((tx) => openAccount({ tx, ids, secrets, numbers, now }, asked))
    if (opened.ok) accounts.push(opened.value.id)
  }
  await db.query({ name: '', text: 'update account set payment_url = $1 where id > 1' }, [url])
  await db.close()
  return accounts
}

const saleId = (hash: string) =>
  `(lpad(to_hex(extract(epoch from now())::bigint * 1000), 12, '0') || '7' || substr(${hash}, 1, 3) || '8' || substr(${hash}, 4, 15))::uuid`

/** Sales that wait for their payment. */
async function addSales({ client, accounts }: World, count: number, tag: string) {
  await client.query(
    `insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, reference_code, shopper)
     select ($1::bigint[])[1 + n % cardinality($1::bigint[])], ${saleId(`md5('${tag}' || n)`)}, 1000000000 + n, 10000, 99, now(), now() + interval '1 day', '${tag}-' || n,
       '{"id":"7","name":"Maria da Silva","email":"maria@example.com","document":{"type":"CPF","number":"52998224725"}}'
     from generate_series(1, ${count}) n`,
    [accounts],
  )
  await client.query(
    'insert into sale_hour select account_id, floor(extract(epoch from created_at) / 3600)::integer, count(*), 0, 0, 0 from sale group by 1, 2 on conflict (account_id, hour) do update set pending = sale_hour.pending + excluded.pending',
  )
  const { rows } = await client.query<{ account_id: number; id: string; amount_cents: number }>(
    `select account_id, id, amount_cents from sale where reference_code like '${tag}-%' order by md5(id::text)`,
  )
  return rows.map((row) => [row.account_id, row.id, row.amount_cents] as const)
}

/** Notifications that wait for their first attempt, as a confirmation is written. */
async function addBacklog({ client, accounts }: World, count: number): Promise<void> {
  const payload = `'{"saleToken":"' || resource_id || '","referenceCode":"order-' || n || '","currency":"BRL","amount":100,"shopper":{"id":"7","firstName":"Maria","lastName":"da Silva","email":"maria@example.com","agency":"","account":""},"date":"2026-11-16 12:00:00","newStatus":"PAID"}'`
  await client.query(
    `create temp table made as
     select n, ($1::bigint[])[1 + n % cardinality($1::bigint[])] as account_id, ${saleId(`md5('n' || n)`)} as id, ${saleId(`md5('r' || n)`)} as resource_id
     from generate_series(1, ${count}) n`,
    [accounts],
  )
  await client.query(
    `insert into notification (account_id, id, resource_id, turn, event, created_at, url, payload)
     select m.account_id, m.id, m.resource_id, 1, 'PAYMENT_CONFIRMATION', now(), a.payment_url, ${payload}
     from made m join account a on a.id = m.account_id`,
  )
  await client.query(
    `insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left)
     select account_id, resource_id, 1, id, now(), false, 1, 0, 6 from made`,
  )
  await client.query('drop table made')
  await client.query('vacuum analyze notification, notification_queue')
  await client.query('checkpoint')
}

const transactions = async (client: pg.Client) => {
  // A connection tells its counts when it is idle for a moment.
  await new Promise((done) => setTimeout(done, 1_500))
  const { rows } = await client.query<{ n: number }>(
    'select xact_commit as n from pg_stat_database where datname = current_database()',
  )
  return rows[0]!.n
}
const recorded = async (client: pg.Client) =>
  (await client.query<{ n: number }>(`select count(*) as n from notification_attempt where status = 'SUCCESS'`))
    .rows[0]!.n
const waiting = async (client: pg.Client) =>
  (await client.query<{ n: number }>('select count(*) as n from notification_queue')).rows[0]!.n

async function drain(world: World) {
  const { client, receiver } = world
  await addBacklog(world, BACKLOG)
  const before = await transactions(client)
  const child = await world.startProcess()
  while ((await waiting(client)) > 0) await new Promise((done) => setTimeout(done, 250))
  const statements = (await transactions(client)) - before
  const { calls, first, last } = await ask<Report>(receiver, { type: 'report' })
  const attempts = await recorded(client)
  await stopped(child)
  if (attempts !== BACKLOG || calls !== BACKLOG)
    throw new Error(`${calls} calls, ${attempts} attempts recorded of ${BACKLOG}`)
  return {
    what: 'backlog',
    perSecond: Math.round(calls / ((last - first) / 1000)),
    statementsPerDelivery: round(statements / calls, 4),
  }
}

/** `tell` writes notifications alone; `pay` is the door's whole work for a payment, of which they are a part. */
async function atRate(world: World, type: 'tell' | 'pay', perSecond: number) {
  const { client, receiver, url } = world
  const warm = await addSales(world, perSecond * 3, `${type}-warm`)
  const sales = await addSales(world, perSecond * SECONDS, type)
  await client.query('vacuum analyze sale')
  await client.query('checkpoint')
  await ask(receiver, { type: 'forget' })
  const child = await world.startProcess()
  await ask(child, { type, sales: warm, perSecond, url } satisfies ToDelivery)
  const began = performance.now()
  const { commits } = await ask<{ commits: [string, number][] }>(child, {
    type,
    sales,
    perSecond,
    url,
  } satisfies ToDelivery)
  const seconds = (performance.now() - began) / 1000
  while ((await waiting(client)) > 0) await new Promise((done) => setTimeout(done, 250))
  const { arrivals } = await ask<Report>(receiver, { type: 'report' })
  await stopped(child)
  const arrivedAt = new Map(arrivals)
  const { rows } = await client.query<{ id: string; resource_id: string }>('select id, resource_id from notification')
  const notificationOf = new Map(rows.map((row) => [row.resource_id, row.id]))
  const times = commits
    .map(([sale, at]) => Math.max(0, arrivedAt.get(notificationOf.get(sale)!)! - at))
    .sort((a, b) => a - b)
  const at = (share: number) => round(times[Math.min(times.length - 1, Math.floor(times.length * share))]!)
  return {
    what: type === 'tell' ? 'notifications, handed over' : 'payments through the door',
    perSecond: Math.round(commits.length / seconds),
    commitToArrivalP50Ms: at(0.5),
    commitToArrivalP99Ms: at(0.99),
    commitToArrivalMaxMs: at(1),
  }
}

function stopped(child: ChildProcess): Promise<unknown> {
  child.removeAllListeners('exit')
  child.send({ type: 'stop' } satisfies ToDelivery)
  return new Promise((done) => child.once('exit', done))
}

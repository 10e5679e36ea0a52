import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Instant } from '../src/kernel/calendar.ts'
import { openAccount } from '../src/modules/account/index.ts'
import { keepNotificationDays } from '../src/modules/notification/index.ts'
import { type Connection, clientConfig, openDatabase } from '../src/platform/database/database.ts'
import { createDatabaseIfMissing, migrate } from '../src/platform/database/migrate.ts'
import { createNumberBlocks } from '../src/platform/number-blocks.ts'
import { startEmbeddedPostgres } from '../src/platform/postgres-embedded/index.ts'
import { systemRandomIds } from '../src/platform/random-ids.ts'
import { createSecrets } from '../src/platform/secrets.ts'
import { childrenOf } from '../test/harness/running-service.ts'
import type { SharedSale, ToSplit } from './split-process.ts'

export type SplitWorld = {
  readonly connection: Connection
  readonly client: pg.Client
  readonly accounts: readonly number[]
  startProcess(): Promise<ChildProcess>
  /** Seconds of processor time that the database and the receiver have used. */
  used(): { readonly database: number; readonly receiver: number }
  close(): Promise<void>
}

export const askProcess = <Answer>(child: ChildProcess, message: ToSplit): Promise<Answer> =>
  new Promise((done, failed) => {
    const ended = (code: number | null) => failed(new Error(`the process of the bench ended (${code})`))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      done(answer as Answer)
    })
    child.send(message as never)
  })

const TICKS_PER_SECOND = 100
/** Processor time of a process so far, its own and what it did for others in the system. */
export function secondsOf(pid: number): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const fields = after.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

const forked = (file: string) => fork(join(import.meta.dirname, file), { serialization: 'advanced' })

/** A server and accounts of its own; told: every account has an address, at a receiver on this machine. */
export async function prepareSplitWorld({ accounts: count, told }: { accounts: number; told: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-bench-'))
  const server = await startEmbeddedPostgres({ folder })
  const connection = { host: server.socketFolder, database: 'quitado' }
  await createDatabaseIfMissing(connection)
  await migrate(connection)
  const receiver = told ? forked('webhook-receiver.ts') : undefined
  const heard =
    receiver && new Promise<{ port: number }>((done) => receiver.once('message', (said) => done(said as never)))
  const key = randomBytes(32)
  const accounts = await openAccounts(connection, key, count, heard && `http://127.0.0.1:${(await heard).port}/hook`)
  const client = new pg.Client(clientConfig(connection))
  await client.connect()
  const postmaster = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const world: SplitWorld = {
    connection,
    client,
    accounts,
    async startProcess() {
      const child = forked('split-process.ts')
      await askProcess(child, { type: 'start', connection, key: key.toString('hex') })
      return child
    },
    used: () => ({
      database: [{ pid: postmaster }, ...childrenOf(postmaster)].reduce((sum, { pid }) => sum + secondsOf(pid), 0),
      receiver: receiver ? secondsOf(receiver.pid!) : 0,
    }),
    async close() {
      receiver?.disconnect()
      await client.end()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return world
}

async function openAccounts(connection: Connection, key: Buffer, count: number, url: string | undefined) {
  const db = openDatabase(connection, { connectionsMax: 2, queryTimeoutMs: 60_000, onError: () => {} })
  const ids = systemRandomIds()
  const [secrets, numbers] = [createSecrets([key], ids), createNumberBlocks(db)]
  const now = Date.now() as Instant
  const accounts: number[] = []
  await keepNotificationDays(db, now, 90)
  for (let index = 0; index < count; index += 1) {
    const asked = {
      name: `Loja ${index}`,
      email: null,
      document: null,
      city: null,
      passwordHash: null,
      splitEnabled: true,
    }
    const opened = await db.inTransaction((tx) => openAccount({ tx, ids, secrets, numbers, now }, asked))
    if (opened.ok) accounts.push(opened.value.id)
  }
  if (url !== undefined) await db.query({ name: '', text: 'update account set payment_url = $1 where id > 1' }, [url])
  await db.close()
  return accounts
}

const LEG_CENTS = 100
const FEE_CENTS = 99
const idOf = (hash: string) =>
  `(lpad(to_hex(extract(epoch from date_trunc('second', now()))::bigint * 1000), 12, '0') || '7' || substr(${hash}, 1, 3) || '8' || substr(${hash}, 4, 15))::uuid`
const shopper = `'{"id":"7","name":"Maria da Silva","email":"maria@example.com","document":{"type":"CPF","number":"52998224725"}}'`

/** Shared sales that wait for their payment, as a checkout leaves them. Spread: another parent and others for each; else one parent's, always for the same recipients. */
export async function addSharedSales(
  { client, accounts }: SplitWorld,
  { count, legs, tag, spread }: { count: number; legs: number; tag: string; spread: boolean },
): Promise<SharedSale[]> {
  const parent = spread ? 'n' : '0'
  await client.query('begin')
  await client.query(
    `insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, reference_code, shopper, legs, split_cents)
     select ($1::bigint[])[1 + ${parent} % cardinality($1::bigint[])], ${idOf(`md5('${tag}' || n)`)}, 1000000000 + n, 10000, ${FEE_CENTS},
       date_trunc('second', now()), now() + interval '1 day', '${tag}-' || n, ${shopper}, ${legs}, ${legs * LEG_CENTS}
     from generate_series(1, ${count}) n`,
    [accounts],
  )
  await client.query(
    `insert into split_leg (account_id, sale_id, leg, recipient_account_id, recipient_uuid, transaction_id, amount_cents)
     select s.account_id, s.id, k, r.id, r.uuid, ${idOf(`md5(s.id::text || k)`)}, ${LEG_CENTS}
     from (select account_id, id, substr(reference_code, ${tag.length + 2})::integer as n from sale where reference_code like '${tag}-%') s
       cross join generate_series(0, ${legs - 1}) k
       join account r on r.id = ($1::bigint[])[1 + (${parent} + 1 + k * ${spread ? 7 : 1}) % cardinality($1::bigint[])]`,
    [accounts],
  )
  await client.query(
    `insert into sale (account_id, id, number, amount_cents, fee_cents, created_at, expires_at, reference_code, shopper,
       parent_account_id, parent_id, settlement)
     select l.recipient_account_id, l.transaction_id, 2000000000, l.amount_cents, 0, s.created_at, s.expires_at, s.id::text, s.shopper,
       s.account_id, s.id, 'PENDING'
     from sale s join split_leg l on l.account_id = s.account_id and l.sale_id = s.id where s.reference_code like '${tag}-%'`,
  )
  await client.query(
    `insert into sale_hour (account_id, hour, pending, paid, cancelled, processed)
     select account_id, floor(extract(epoch from created_at) / 3600)::integer, count(*), 0, 0, 0 from sale where state = 'PENDING' group by 1, 2
     on conflict (account_id, hour) do update set pending = excluded.pending`,
  )
  await client.query('commit')
  const { rows } = await client.query<{ account_id: number; id: string; amount_cents: number; legs: string[] }>(
    `select s.account_id, s.id, s.amount_cents, array_agg(l.transaction_id::text) as legs
     from sale s join split_leg l on l.account_id = s.account_id and l.sale_id = s.id
     where s.reference_code like '${tag}-%' group by 1, 2, 3 order by md5(s.id::text)`,
  )
  return rows.map((row) => [row.account_id, row.id, row.amount_cents, row.legs] as const)
}

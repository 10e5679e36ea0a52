import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Instant } from '../../src/kernel/calendar.ts'
import { openAccount } from '../../src/modules/account/index.ts'
import { keepNotificationDays } from '../../src/modules/notification/index.ts'
import { type Connection, clientConfig, openDatabase } from '../../src/platform/database/database.ts'
import { createDatabaseIfMissing, migrate } from '../../src/platform/database/migrate.ts'
import { createNumberBlocks } from '../../src/platform/number-blocks.ts'
import { startEmbeddedPostgres } from '../../src/platform/postgres-embedded/index.ts'
import { systemRandomIds } from '../../src/platform/random-ids.ts'
import { createSecrets } from '../../src/platform/secrets.ts'
import type { ToIsolated } from './isolation-process.ts'
import type { BadReceivers } from './isolation-receivers.ts'

/** How many wait for each of the bad receivers. */
export type Backlog = { readonly blackHole: number; readonly drip: number; readonly closed: number }

export type World = {
  readonly client: pg.Client
  /** Two halves, so that nobody is both handed over and claimed. */
  readonly healthy: readonly number[]
  readonly bad: readonly number[]
  readonly receiver: ChildProcess
  readonly url: string
  startProcess(delivers: boolean): Promise<ChildProcess>
  close(): Promise<void>
}

const HEALTHY = 200
const here = (file: string) => join(import.meta.dirname, file)
const forked = (path: string) => fork(path, { serialization: 'advanced' })

export function ask<Answer>(child: ChildProcess, message: unknown): Promise<Answer> {
  child.send(message as never)
  return heard<Answer>(child)
}

const heard = <Answer>(child: ChildProcess): Promise<Answer> =>
  new Promise((done, failed) => {
    const ended = (code: number | null) => failed(new Error(`a process of the proof ended (${code})`))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      done(answer as Answer)
    })
  })

export async function createWorld(backlog: Backlog): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-isolation-'))
  const server = await startEmbeddedPostgres({ folder })
  const connection = { host: server.socketFolder, database: 'quitado' }
  await createDatabaseIfMissing(connection)
  await migrate(connection)
  const [receiver, badReceivers] = [
    forked(here('../../bench/webhook-receiver.ts')),
    forked(here('isolation-receivers.ts')),
  ]
  const [{ port }, ports] = await Promise.all([heard<{ port: number }>(receiver), heard<BadReceivers>(badReceivers)])
  const key = randomBytes(32)
  const accounts = await openAccounts(connection, key, HEALTHY + 3)
  const [healthy, bad] = [accounts.slice(0, HEALTHY), accounts.slice(HEALTHY)]
  const client = new pg.Client(clientConfig(connection))
  await client.connect()
  await client.query('create extension pg_stat_statements')
  for (const [index, name] of (['blackHole', 'drip', 'closed'] as const).entries())
    await addNotifications(client, bad[index]!, `http://127.0.0.1:${ports[name]}/hook`, backlog[name])
  await client.query('vacuum analyze notification')
  return {
    client,
    healthy,
    bad,
    receiver,
    url: `http://127.0.0.1:${port}/hook`,
    async startProcess(delivers) {
      const child = forked(here('isolation-process.ts'))
      await ask(child, { type: 'start', connection, key: key.toString('hex'), delivers } satisfies ToIsolated)
      return child
    },
    async close() {
      for (const child of [receiver, badReceivers]) child.disconnect()
      await client.end()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function openAccounts(connection: Connection, key: Buffer, count: number): Promise<number[]> {
  const db = openDatabase(connection, { connectionsMax: 2, queryTimeoutMs: 60_000, onError: () => {} })
  const ids = systemRandomIds()
  const [secrets, numbers] = [createSecrets([key], ids), createNumberBlocks(db)]
  const now = Date.now() as Instant
  const asked = { email: null, document: null, city: null, passwordHash: null, splitEnabled: false }
  const accounts: number[] = []
  await keepNotificationDays(db, now, 90)
  for (let index = 0; index < count; index += 1) {
    const opened = await db.inTransaction((tx) =>
      openAccount({ tx, ids, secrets, numbers, now }, { name: `Loja ${index}`, ...asked }),
    )
    if (opened.ok) accounts.push(opened.value.id)
  }
  await db.close()
  return accounts
}

const uuidOf = (hash: string) =>
  `(lpad(to_hex(extract(epoch from now())::bigint * 1000), 12, '0') || '7' || substr(${hash}, 1, 3) || '8' || substr(${hash}, 4, 15))::uuid`

/** As a confirmation is written, without its place in the queue. */
async function addNotifications(client: pg.Client, account: number, url: string, count: number): Promise<void> {
  const payload = `'{"saleToken":"","referenceCode":"order-' || n || '","currency":"BRL","amount":100,"shopper":{"id":"7","firstName":"Maria","lastName":"da Silva","email":"maria@example.com","agency":"","account":""},"date":"2026-11-16 12:00:00","newStatus":"PAID"}'`
  await client.query(
    `insert into notification (account_id, id, resource_id, turn, event, created_at, url, payload)
     select $1, ${uuidOf(`md5('n' || n)`)}, ${uuidOf(`md5('r' || n)`)}, 1, 'PAYMENT_CONFIRMATION', now(), $2, ${payload}
     from generate_series(1, $3::integer) n`,
    [account, url, count],
  )
}

/**
 * The queue as it stands at the beginning of every run: with all that the bad ones have waiting, or after a backlog that
 * came and went.
 */
export async function setTheQueue({ client, bad }: World, withBad: boolean): Promise<void> {
  await client.query('truncate notification_attempt')
  await client.query('delete from notification_queue')
  await client.query('vacuum notification_queue')
  if (withBad)
    await client.query(
      `insert into notification_queue (account_id, resource_id, turn, notification_id, due_at, held, claims, attempts, attempts_left)
       select account_id, resource_id, 1, id, now(), false, 1, 0, 6 from notification where account_id = any ($1::bigint[])`,
      [bad],
    )
  await client.query('vacuum analyze notification_queue, notification_attempt')
  await client.query('checkpoint')
}

export type ClaimCost = { readonly micros: number; readonly pages: number }

/** What a claim costs inside the server since the last time it was asked: pages do not depend on how busy the machine is. */
export async function takeClaimCost({ client }: World): Promise<ClaimCost> {
  const { rows } = await client.query<ClaimCost>(
    `select coalesce(sum(total_exec_time) * 1000 / sum(calls), 0)::bigint as micros,
       coalesce(sum(shared_blks_hit + shared_blks_read) / sum(calls), 0)::bigint as pages
     from pg_stat_statements where query like 'with picked as materialized%'`,
  )
  await client.query('select pg_stat_statements_reset()')
  return rows[0]!
}

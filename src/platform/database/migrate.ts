import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type Connection, clientConfig } from './database.ts'

const folder = fileURLToPath(new URL('../../../migrations/', import.meta.url))
const LOCK = 7_149_316_284

/** Forward only, one transaction for all that is missing, one migrator at a time. */
export async function migrate(connection: Connection): Promise<readonly string[]> {
  const client = new pg.Client(clientConfig(connection))
  client.on('error', () => {})
  await client.connect()
  try {
    await requireVersion(client)
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [LOCK])
    await client.query(
      'create table if not exists migration (name text primary key, applied_at timestamptz not null default clock_timestamp())',
    )
    const { rows } = await client.query<{ name: string }>('select name from migration')
    const known = new Set(rows.map((row) => row.name))
    const missing = (await migrationNames()).filter((name) => !known.has(name))
    for (const name of missing) {
      await client.query(await readFile(folder + name, 'utf8'))
      await client.query('insert into migration (name) values ($1)', [name])
    }
    await client.query('commit')
    return missing
  } finally {
    await client.end()
  }
}

export async function migrationNames(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{6}_\w+\.sql$/.test(name)).sort()
}

export class DatabaseTooOld extends Error {}

async function requireVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string }>("select current_setting('server_version_num') as version")
  const major = Math.floor(Number(rows[0]!.version) / 10_000)
  if (major < 15) throw new DatabaseTooOld(`DATABASE_URL: PostgreSQL 15 or newer is needed, this is ${major}`)
}

/** The embedded server starts with the administrator's database only. */
export async function createDatabaseIfMissing(connection: { host: string; database: string }): Promise<void> {
  const client = new pg.Client(clientConfig({ host: connection.host, database: 'postgres' }))
  client.on('error', () => {})
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [connection.database])
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(connection.database)}`)
  } finally {
    await client.end()
  }
}

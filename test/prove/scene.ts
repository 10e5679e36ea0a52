import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type Connection, clientConfig } from '../../src/platform/database/database.ts'
import { attachEmbeddedPostgres } from '../../src/platform/postgres-embedded/index.ts'
import { childrenOf, type RunningService } from '../harness/running-service.ts'

/** The database and the processes of a service that runs as it ships, seen from outside. */
export const AWAY_MS = 60_000

/** The service's own database, once it is there again. */
export async function connectionTo(folder: string): Promise<Connection> {
  for (const began = performance.now(); performance.now() - began < AWAY_MS; await wait(20)) {
    const server = attachEmbeddedPostgres(folder)
    if (server) return { host: server.socketFolder, database: 'quitado' }
  }
  throw new Error(`the database did not come back within ${AWAY_MS / 1000} s`)
}

export async function connect(folder: string): Promise<pg.Client> {
  const client = new pg.Client({ ...clientConfig(await connectionTo(folder)), application_name: 'proof' })
  client.on('error', () => {})
  await client.connect()
  return client
}

export async function ask<Row extends pg.QueryResultRow>(
  folder: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  for (const began = performance.now(); ; await wait(50)) {
    const client = await connect(folder).catch(() => undefined)
    try {
      if (client) return (await client.query<Row>(sql, values)).rows
    } catch (error) {
      if (performance.now() - began > AWAY_MS) throw error
    } finally {
      await client?.end().catch(() => {})
    }
    if (performance.now() - began > AWAY_MS) throw new Error('the database stayed away')
  }
}

export const postmasterOf = (folder: string): number =>
  Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])

export const servicePids = ({ pid }: RunningService): number[] =>
  childrenOf(pid)
    .filter(({ command }) => command.includes('process.ts'))
    .map((child) => child.pid)

/** The database's processes that work for the service. */
export const backendPids = (folder: string): number[] =>
  childrenOf(postmasterOf(folder))
    .filter(({ command }) => command.includes('quitado'))
    .map((child) => child.pid)

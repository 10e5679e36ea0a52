import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { pino } from 'pino'
import type { BatchSettings } from '../../src/batches.ts'
import type { Config } from '../../src/config.ts'
import { clientConfig, type Database } from '../../src/platform/database/database.ts'
import { systemRandomIds } from '../../src/platform/random-ids.ts'
import { createService, type Service } from '../../src/service.ts'
import { type ApiClient, apiClient } from './api-client.ts'
import { PATIENCE_MS, until } from './patience.ts'
import { OPERATOR_TOKEN, type TestService } from './test-service.ts'

/** Another process of the service, on the same database and clock. */
export async function anotherService(
  { config, connection, clock }: TestService,
  { batches = {}, env = config.env }: { batches?: Partial<BatchSettings>; env?: Config['env'] } = {},
): Promise<Service & { readonly api: ApiClient }> {
  const service = await createService({
    config: { ...config, env },
    connection,
    operatorToken: OPERATOR_TOKEN,
    encryptionKeys: [Buffer.alloc(32, 7)],
    clock,
    ids: systemRandomIds(),
    logger: pino({ level: 'silent' }),
    databaseTimeoutMs: PATIENCE_MS,
    batches,
  })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...service, api: apiClient((service.app.server.address() as AddressInfo).port) }
}

export type OtherService = Awaited<ReturnType<typeof anotherService>>

/**
 * Lets two processes work on the database of a third, which rests meanwhile, and answers how often PostgreSQL had to
 * break a deadlock. A connection tells its count when it ends, so the two are closed first.
 */
export async function deadlocksBetweenTwo(
  it: TestService,
  work: (services: readonly [OtherService, OtherService]) => Promise<void>,
): Promise<number> {
  const watcher = new pg.Client(clientConfig(it.connection))
  await watcher.connect()
  const ask = async (sql: string): Promise<number[]> =>
    (await watcher.query<{ n: number }>(`${sql} where datname = current_database()`)).rows.map(({ n }) => n)
  const [before] = await ask('select deadlocks as n from pg_stat_database')
  const known = new Set(await ask('select pid as n from pg_stat_activity'))
  const services = [await anotherService(it), await anotherService(it)] as const
  try {
    await work(services)
  } finally {
    for (const service of services) await service.close()
    await until(async () => (await ask('select pid as n from pg_stat_activity')).every((pid) => known.has(pid)))
  }
  const [after] = await ask('select deadlocks as n from pg_stat_database')
  await watcher.end()
  return after! - before!
}

type Hook = { readonly before?: () => unknown; readonly after?: () => unknown }

/**
 * Does something just before a statement is sent, or after it was answered, the next `times` times. What it throws is
 * what the service hears from its database.
 */
export function onStatement(db: Database, name: string, { before, after }: Hook, times = 1): { left(): number } {
  const ask = db.query
  let left = times
  db.query = async (asked, values) => {
    if (asked.name !== name || left === 0) return ask(asked, values)
    left -= 1
    await before?.()
    const rows = await ask(asked, values)
    await after?.()
    return rows
  }
  return { left: () => left }
}

const lose = () => {
  throw new Error('Connection terminated unexpectedly')
}

/** The connection breaks at a statement: before it had an effect, or after its commit and before its answer. */
export const loseConnection = (db: Database, name: string, when: 'before' | 'after', times = 1) =>
  onStatement(db, name, { [when]: lose }, times)

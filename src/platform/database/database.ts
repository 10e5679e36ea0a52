import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { arrayTypesOf, parametersOf } from './array-values.ts'
import { parserFor } from './sql-values.ts'

/** A named prepared statement: one text whatever the size of a batch, planned once a connection. */
export type Statement<Row> = {
  readonly name: string
  readonly text: string
  /** What its casts say of the parameters that are arrays. */
  readonly arrays?: ReturnType<typeof arrayTypesOf>
  readonly row?: Row
}

/** The text carries the name, so that the server's own statistics and its list of what runs show it. */
export function statement<Row = Record<string, never>>(name: string, text: string): Statement<Row> {
  return { name, text: `${text} /* ${name} */`, arrays: arrayTypesOf(text) }
}

export interface Queryable {
  query<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>
}

declare const open: unique symbol
/** Required by all that locks or writes more than one statement's worth; made by `inTransaction` only. */
export interface Transaction extends Queryable {
  readonly [open]: true
  /** What must wait until the effect is certain; forgotten when the transaction fails. */
  afterCommit(work: () => void): void
}

export interface Database extends Queryable {
  inTransaction<Value>(work: (tx: Transaction) => Promise<Value>): Promise<Value>
  /** For queries whose shape varies, such as filters. */
  readonly builder: Kysely<Record<string, Record<string, unknown>>>
  close(): Promise<void>
}

export type Connection = { readonly host: string; readonly database: string } | { readonly url: string }

export type DatabaseOptions = {
  connectionsMax: number
  queryTimeoutMs: number
  connectTimeoutMs?: number | undefined
  onError: (error: Error) => void
}
const CONNECT_MS_MAX = 5_000

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    parserFor(oid, pg.types.getTypeParser(oid, format as 'text') as (text: string) => unknown),
} as pg.CustomTypesConfig

export function clientConfig(connection: Connection, connectTimeoutMs = CONNECT_MS_MAX): pg.ClientConfig {
  const place =
    'url' in connection
      ? { connectionString: connection.url }
      : { host: connection.host, user: 'postgres', database: connection.database }
  return { ...place, types, application_name: 'quitado', keepAlive: true, connectionTimeoutMillis: connectTimeoutMs }
}

export function openDatabase(connection: Connection, options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...clientConfig(connection, options.connectTimeoutMs),
    max: options.connectionsMax,
    query_timeout: options.queryTimeoutMs,
    idleTimeoutMillis: 60_000,
  })
  // A connection that the server cuts emits 'error' while idle; unheard, it would end the process.
  pool.on('error', options.onError)
  pool.on('connect', (client) => client.on('error', options.onError))
  return {
    query: (asked, values) => run(pool, asked, values),
    async inTransaction(work) {
      const client = await pool.connect()
      let broken: Error | undefined
      try {
        await client.query('begin')
        const later: (() => void)[] = []
        const tx = { ...oneAfterAnother(client), afterCommit: (step: () => void) => void later.push(step) }
        const value = await work(tx as unknown as Transaction)
        await client.query('commit')
        for (const step of later) step()
        return value
      } catch (error) {
        broken = await client.query('rollback').then(
          () => undefined,
          (failure: Error) => failure,
        )
        throw error
      } finally {
        client.release(broken)
      }
    },
    builder: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    close: () => pool.end(),
  }
}

/** A connection runs one statement at a time; whoever asks for several at once gets them in turn. */
function oneAfterAnother(client: pg.PoolClient): Queryable {
  let last: Promise<unknown> = Promise.resolve()
  return {
    query<Row>(asked: Statement<Row>, values?: readonly unknown[]): Promise<Row[]> {
      const next = last.then(
        () => run(client, asked, values),
        () => run(client, asked, values),
      )
      last = next
      return next
    },
  }
}

async function run<Row>(
  on: pg.Pool | pg.PoolClient,
  asked: Statement<Row>,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { name, text, arrays } = asked
  const result = await on.query({ name, text, values: arrays ? parametersOf(arrays, values) : [...values] })
  return result.rows as Row[]
}

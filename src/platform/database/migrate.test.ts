import pg from 'pg'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { createDatabase, dropDatabase, placeOf } from '../../../test/harness/test-server.ts'
import { clientConfig } from './database.ts'
import { createDatabaseIfMissing, migrate, migrationNames } from './migrate.ts'

const server = inject('server')
const made: string[] = []

async function emptyDatabase() {
  const name = `quitado_migrate_${process.pid}_${made.length}`
  made.push(name)
  await createDatabase(server, name)
  return placeOf(server, name)
}

afterEach(async () => {
  for (const name of made.splice(0)) await dropDatabase(server, name)
})

async function ask(place: ReturnType<typeof placeOf>, sql: string) {
  const client = new pg.Client(clientConfig(place))
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe('migrations', () => {
  test('are numbered one after the other, without a gap', async () => {
    const names = await migrationNames()
    expect(names.map((name) => name.slice(0, 6))).toEqual(names.map((_, at) => String(at + 1).padStart(6, '0')))
  })

  test('run once: the second time there is nothing to do', async () => {
    const place = await emptyDatabase()
    expect(await migrate(place)).toEqual(await migrationNames())
    expect(await migrate(place)).toEqual([])
    expect((await ask(place, 'select name from migration order by name')).map((row) => row.name)).toEqual(
      await migrationNames(),
    )
  })

  test('processes that start together migrate once between them', async () => {
    const place = await emptyDatabase()
    const runs = await Promise.all(Array.from({ length: 4 }, () => migrate(place)))
    expect(runs.flat().sort()).toEqual(await migrationNames())
  })

  test('are all or nothing: one that cannot run leaves the database as it was', async () => {
    const place = await emptyDatabase()
    await ask(place, 'create table inbox (somebody integer)')
    await expect(migrate(place)).rejects.toThrow('already exists')
    const tables = await ask(place, `select tablename from pg_tables where schemaname = 'public'`)
    expect(tables).toEqual([{ tablename: 'inbox' }])
  })

  test.runIf('host' in server)('a database that is missing is made, one that is there is left alone', async () => {
    const name = `quitado_migrate_${process.pid}_missing`
    made.push(name)
    const place = { host: (server as { host: string }).host, database: name }
    await createDatabaseIfMissing(place)
    await ask(place, 'create table kept (id integer)')
    await createDatabaseIfMissing(place)
    expect(await ask(place, 'select * from kept')).toEqual([])
  })
})

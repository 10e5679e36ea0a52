import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { attachEmbeddedPostgres } from './postmaster-file.ts'
import {
  folderWithDatabase,
  postmasterPid,
  progressOf,
  query,
  serverProcesses,
  socketOf,
  start,
  startChild,
  temporaryFolder,
  until,
} from './test-harness.ts'

describe('start and stop', () => {
  test('the first start creates the database, the second finds it with its rows', async () => {
    const folder = temporaryFolder()
    const progress: string[] = []
    const onProgress = (sentence: string) => progress.push(sentence)

    const first = await start({ folder, onProgress })
    expect(progress).toEqual(['Creating the database…', `Starting PostgreSQL ${first.version}…`])
    expect(first.socketFolder).toBe(join(folder, 'postgres-socket'))
    await query(first.socketFolder, 'create table kept (id int); insert into kept values (1)')
    await first.stop()
    expect(serverProcesses(folder)).toEqual([])
    progress.length = 0

    const second = await start({ folder, onProgress })
    expect(progress).toEqual([`Starting PostgreSQL ${second.version}…`])
    expect(second.socketFolder).toBe(first.socketFolder)
    expect(await query(second.socketFolder, 'select id from kept')).toEqual([{ id: 1 }])
  })

  test('the cluster is safe and private: checksums, durable commits, no network, the built-in locale', async () => {
    const { socketFolder } = await start({ folder: await folderWithDatabase(), settings: { listen_addresses: '*' } })
    const names = ['data_checksums', 'fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'TimeZone']
    const settings = await query(
      socketFolder,
      `select name, setting from pg_settings where name = any('{${names}}') order by name collate "C"`,
    )
    expect(settings.map(({ name, setting }) => `${name}=${setting}`)).toEqual([
      'TimeZone=UTC',
      'data_checksums=on',
      'fsync=on',
      'full_page_writes=on',
      'listen_addresses=',
      'synchronous_commit=on',
    ])
    const [database] = await query(
      socketFolder,
      `select pg_encoding_to_char(encoding) as encoding, datlocprovider, datlocale, upper('ção') as upper,
         (select count(*) > 0 from pg_hba_file_rules where type = 'host' and auth_method <> 'reject') as network
       from pg_database where datname = current_database()`,
    )
    expect(database).toEqual({
      encoding: 'UTF8',
      datlocprovider: 'b',
      datlocale: 'C.UTF-8',
      upper: 'ÇÃO',
      network: false,
    })
    await query(socketFolder, 'create extension pg_stat_statements')
  })

  test('stop may be asked twice, and lets the next start in', async () => {
    const folder = await folderWithDatabase()
    const server = await start({ folder })
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    expect(serverProcesses(folder)).toEqual([])
    expect(existsSync(join(folder, 'quitado.pid'))).toBe(false)
    await start({ folder })
  })

  test('a running server is found from outside, and only while it runs', async () => {
    const folder = await folderWithDatabase()
    expect(attachEmbeddedPostgres(folder)).toBeUndefined()
    const own = await start({ folder })
    expect(attachEmbeddedPostgres(folder)).toEqual({ socketFolder: own.socketFolder })
    await own.stop()
    expect(attachEmbeddedPostgres(folder)).toBeUndefined()

    const child = startChild({ folder })
    const socketFolder = await socketOf(child)
    expect(attachEmbeddedPostgres(folder)).toEqual({ socketFolder })
    await child.kill()
    await until('the server to end', () => serverProcesses(folder).length === 0)
    expect(attachEmbeddedPostgres(folder)).toBeUndefined()
  })

  test('a database that does not start says why', async () => {
    const folder = await folderWithDatabase()
    const failed = start({ folder, settings: { shared_buffers: 'plenty' } })
    await expect(failed).rejects.toThrow(/^PostgreSQL did not start \(exit code 1\): .*shared_buffers.*plenty/s)
    await start({ folder })
  })

  test("a terminal's Ctrl-C reaches the service, not the database", async () => {
    const folder = await folderWithDatabase()
    const child = startChild({ folder })
    const socketFolder = await socketOf(child)
    process.kill(-child.process.pid!, 'SIGINT')
    await until('the service to hear it', () => child.messages.some(({ interrupted }) => interrupted))
    expect(await query(socketFolder, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

describe('one service per folder', () => {
  test('a second start is told in one line', async () => {
    const folder = await folderWithDatabase()
    const { socketFolder } = await start({ folder })
    const line = `Quitado is already running on ${folder} (process ${process.pid}).`
    await expect(start({ folder })).rejects.toHaveProperty('message', line)
    const child = startChild({ folder })
    await expect(socketOf(child)).rejects.toHaveProperty('message', line)
    expect(await query(socketFolder, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('of several first starts at once exactly one wins', async () => {
    const folder = temporaryFolder()
    const children = [1, 2, 3].map(() => startChild({ folder }))
    const answers = await Promise.allSettled(children.map(socketOf))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of answers)
      if (answer.status === 'rejected')
        expect(String(answer.reason)).toMatch(/^Error: Quitado is already running on \S+( \(process \d+\))?\.$/)
  })
})

describe('kill -9 of the service', () => {
  test('leaves no server behind, and no committed row is lost', async () => {
    const folder = await folderWithDatabase()
    const child = startChild({ folder })
    await query(await socketOf(child), 'create table kept (id int); insert into kept values (1)')
    await child.kill()
    await until('the server to end', () => serverProcesses(folder).length === 0)
    expect(readdirSync(folder)).toContain('quitado.pid')

    const { socketFolder } = await start({ folder })
    expect(await query(socketFolder, 'select id from kept')).toEqual([{ id: 1 }])
  })

  test('the next start waits for the server that is still shutting down', async () => {
    const folder = await folderWithDatabase()
    const child = startChild({ folder })
    await socketOf(child)
    const pid = postmasterPid(folder)
    process.kill(pid, 'SIGSTOP')
    await child.kill()

    const progress: string[] = []
    const starting = start({ folder, onProgress: (sentence) => progress.push(sentence) })
    await until('the wait', () => progress.length > 0)
    expect(progress).toEqual([`Waiting for the previous PostgreSQL (process ${pid}) to finish…`])
    process.kill(pid, 'SIGCONT')
    const { socketFolder } = await starting
    expect(await query(socketFolder, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(postmasterPid(folder)).not.toBe(pid)
  })

  test('while the database is being created leaves nothing that the next start would trip over', async () => {
    const folder = temporaryFolder()
    const unfinished = () => readdirSync(folder).filter((name) => name.startsWith('postgres.unfinished-'))
    const child = startChild({ folder })
    await until('initdb to begin', () => unfinished().length > 0)
    await child.kill()
    await until('its last words', () => progressOf(child).length > 0)
    expect(progressOf(child)).toEqual(['Creating the database…'])
    expect(existsSync(join(folder, 'postgres'))).toBe(false)
    // The orphaned initdb clears its own work away, in its own time; a power cut would have left this.
    mkdirSync(join(folder, 'postgres.unfinished-abc123/base'), { recursive: true })
    writeFileSync(join(folder, 'postgres.unfinished-abc123/PG_VERSION'), '18\n')

    const { socketFolder } = await start({ folder })
    expect(await query(socketFolder, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(unfinished()).not.toContain('postgres.unfinished-abc123')
  })
})

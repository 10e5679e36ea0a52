import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  folderWithDatabase,
  postmasterPid,
  query,
  serverProcesses,
  start,
  temporaryFolder,
  until,
} from './test-harness.ts'

describe('kill -9 of the database', () => {
  test('it comes back by itself, at the same place, with what was committed', async () => {
    const folder = await folderWithDatabase()
    const told: string[] = []
    const tell = (sentence: string) => told.push(sentence)
    const { socketFolder, version } = await start({ folder, onProgress: tell, onCrash: tell })
    await query(socketFolder, 'create table kept (id int); insert into kept values (1)')
    told.length = 0

    const pid = postmasterPid(folder)
    process.kill(pid, 'SIGKILL')
    await until('the server to be back', () => told.includes(`PostgreSQL ${version} is running again.`))
    expect(told).toEqual([
      'PostgreSQL ended unexpectedly (signal SIGKILL). Starting it again…',
      'Recovering what was committed before the crash…',
      `PostgreSQL ${version} is running again.`,
    ])
    expect(postmasterPid(folder)).not.toBe(pid)
    expect(await query(socketFolder, 'select id from kept')).toEqual([{ id: 1 }])
  })

  test('it waits for a backend that outlived its postmaster', async () => {
    const folder = await folderWithDatabase()
    const crashes: string[] = []
    const progress: string[] = []
    const { socketFolder, version } = await start({
      folder,
      onProgress: (sentence) => progress.push(sentence),
      onCrash: (sentence) => crashes.push(sentence),
    })
    const client = new pg.Client({ host: socketFolder, user: 'postgres', database: 'postgres' })
    client.on('error', () => {})
    await client.connect()
    const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows as [{ pid: number }]
    process.kill(pid, 'SIGSTOP')
    process.kill(postmasterPid(folder), 'SIGKILL')
    await until('a try in vain', () => crashes.find((line) => line.includes('does not start yet')))
    expect(crashes.join('\n')).toContain('pre-existing shared memory block')
    process.kill(pid, 'SIGCONT')
    await until('the server to be back', () => progress.includes(`PostgreSQL ${version} is running again.`))
    expect(await query(socketFolder, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('stop ends the retries too', async () => {
    const folder = await folderWithDatabase()
    const crashes: string[] = []
    const { stop } = await start({ folder, onCrash: (sentence) => crashes.push(sentence) })
    process.kill(postmasterPid(folder), 'SIGKILL')
    await until('the crash to be seen', () => crashes.length > 0)
    await stop()
    expect(serverProcesses(folder)).toEqual([])
    await start({ folder })
  })
})

describe('remains of an earlier life', () => {
  test('pids that now belong to somebody else are not taken for a running service', async () => {
    const folder = await folderWithDatabase()
    const { socketFolder, stop } = await start({ folder })
    await query(socketFolder, 'create table kept (id int); insert into kept values (1)')
    await stop()

    const stranger = spawn('sleep', ['600'])
    onTestFinished(() => void stranger.kill())
    const remains = `${stranger.pid}\n${folder}/postgres\n1700000000\n5432\n${socketFolder}\n\n  1 1\nready\n`
    writeFileSync(join(folder, 'quitado.pid'), `${stranger.pid}\n`)
    writeFileSync(join(folder, 'postgres/postmaster.pid'), remains, { mode: 0o600 })
    writeFileSync(join(socketFolder, '.s.PGSQL.5432.lock'), remains, { mode: 0o600 })

    await start({ folder })
    expect(await query(socketFolder, 'select id from kept')).toEqual([{ id: 1 }])
  })

  test('what is no database, or one of another release, is left alone', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'postgres'))
    writeFileSync(join(folder, 'postgres/notes.txt'), 'mine')
    await expect(start({ folder })).rejects.toThrow(/postgres is not a PostgreSQL database/)
    writeFileSync(join(folder, 'postgres/PG_VERSION'), '14\n')
    await expect(start({ folder })).rejects.toThrow(/was made by PostgreSQL 14, and this release brings \d+/)
    expect(existsSync(join(folder, 'postgres/notes.txt'))).toBe(true)
  })
})

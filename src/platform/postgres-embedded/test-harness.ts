import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, onTestFinished } from 'vitest'
import type { Host } from './host.ts'
import { isServerOf } from './process-table.ts'
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './start.ts'

export const NOBODY = 65534
export const isRoot = process.getuid?.() === 0

/** False too when the project lies in a private home, where another user finds neither Node nor the source. */
export const canBeNobody = isRoot && mayNobodyUse(process.execPath) && mayNobodyUse(import.meta.filename)

function mayNobodyUse(path: string): boolean {
  return spawnSync('test', ['-r', path], { cwd: '/', uid: NOBODY, gid: NOBODY }).status === 0
}

/** A bound for what should come soon, so that a failure is told and does not hang; nothing is timed by it. */
const PATIENCE_MS = 50_000

export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const begin = performance.now(); performance.now() - begin < PATIENCE_MS; await delay(10)) {
    const seen = await look()
    if (seen) return seen
  }
  throw new Error(`waited in vain for ${what}`)
}

/** Deleted after the test, when the servers that the test started there have ended. */
export function temporaryFolder(owner?: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-test-'))
  if (owner !== undefined) chownSync(folder, owner, owner)
  onTestFinished(async () => {
    await until('no server left', () => serverProcesses(folder).length === 0)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  })
  return folder
}

/** A data folder that has a cluster already: copying one is much faster than making it. */
export async function folderWithDatabase(owner?: number): Promise<string> {
  template ??= makeTemplate()
  const folder = temporaryFolder(owner)
  const cluster = join(folder, 'postgres')
  cpSync(await template, cluster, { recursive: true })
  chmodSync(cluster, 0o700)
  if (owner !== undefined)
    for (const entry of ['', ...readdirSync(cluster, { recursive: true, encoding: 'utf8' })])
      chownSync(join(cluster, entry), owner, owner)
  return folder
}

let template: Promise<string> | undefined
const templateFolders: string[] = []

async function makeTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-test-'))
  templateFolders.push(folder)
  const server = await startEmbeddedPostgres({ folder })
  await server.stop()
  return join(folder, 'postgres')
}

afterAll(() => {
  for (const folder of templateFolders) rmSync(folder, { recursive: true, force: true })
})

export async function start(options: EmbeddedPostgresOptions, host?: Host): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options, host)
  onTestFinished(server.stop)
  return server
}

/** One statement on a connection of its own; rows as objects. */
export async function query(socketFolder: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: socketFolder, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

export const postmasterPid = (folder: string): number =>
  Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])

/** Every process that works in the cluster: the postmaster, its backends, and those that lost it. */
export function serverProcesses(folder: string): number[] {
  const cluster = join(folder, 'postgres')
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => folderOf(pid) === cluster && isServerOf(cluster, pid))
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

type Message = { progress?: string; crash?: string; up?: { socketFolder: string }; error?: string; interrupted?: true }

/** A Quitado of its own: a process that starts the server, tells what it hears, and may be killed. */
type Child = Readonly<{ process: ChildProcess; messages: Message[]; kill(): Promise<void> }>

type ChildPlan = { folder: string; uid?: number; host?: Partial<Host> }

const script = `
const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('start.ts', import.meta.url).href)})
const { describeHost } = await import(${JSON.stringify(new URL('host.ts', import.meta.url).href)})
const { folder, host } = JSON.parse(process.argv[1])
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
process.on('SIGINT', () => say({ interrupted: true }))
try {
  const options = { folder, onProgress: (progress) => say({ progress }), onCrash: (crash) => say({ crash }) }
  const { socketFolder } = await startEmbeddedPostgres(options, { ...(await describeHost()), ...host })
  say({ up: { socketFolder } })
} catch (error) {
  say({ error: error.message })
}`

export function startChild({ folder, uid, host = {} }: ChildPlan): Child {
  const argv = ['--input-type=module', '--eval', script, JSON.stringify({ folder, host })]
  const child = spawn(process.execPath, argv, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  const messages: Message[] = []
  createInterface({ input: child.stdout }).on('line', (line) => messages.push(JSON.parse(line) as Message))
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  return { process: child, messages, kill }
}

export async function socketOf(child: Child): Promise<string> {
  const message = await until('the child to start', () => child.messages.find(({ up, error }) => up ?? error))
  if (!message.up) throw new Error(message.error)
  return message.up.socketFolder
}

export const progressOf = (child: Child): string[] => child.messages.flatMap(({ progress }) => progress ?? [])

import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, inject } from 'vitest'
import { createDatabase, dropDatabase, placeOf } from './test-server.ts'

const root = resolve(import.meta.dirname, '../..')
/** Every start would compile the same files again. */
const compiled = join(root, 'node_modules/.cache/compiled')
const cleanUps: (() => unknown)[] = []

/** For an afterEach: whatever a test started is stopped, latest first. */
export async function cleanUp(): Promise<void> {
  for (const step of cleanUps.splice(0).reverse()) await step()
}
export const later = (step: () => unknown): void => void cleanUps.push(step)

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-start-'))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

let template: Promise<string> | undefined
const templates: string[] = []
afterAll(() => {
  for (const folder of templates) rmSync(folder, { recursive: true, force: true })
})

/** As the first start and a stop leave it: to copy a database is much faster than to make it. */
export async function usedFolder(): Promise<string> {
  template ??= makeTemplate()
  const folder = newFolder()
  // With its owner, who is not always ourselves.
  execFileSync('cp', ['-a', `${await template}/.`, folder])
  return folder
}

async function makeTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-start-'))
  templates.push(folder)
  const first = await quitado({ QUITADO_DATA: folder })
  first.signal('SIGTERM')
  await first.ended
  return folder
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => done(port))
    })
  })
}

/** An empty database of the test server, as a DATABASE_URL. */
export async function newDatabaseUrl(): Promise<string> {
  const server = inject('server')
  const database = `quitado_start_${process.pid}_${Math.floor(performance.now() * 1000)}`
  await createDatabase(server, database)
  later(() => dropDatabase(server, database))
  const place = placeOf(server, database)
  return 'url' in place
    ? place.url
    : `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(place.host)}`
}

export type Started = {
  readonly port: number
  readonly pid: number
  output(): string
  signal(name: NodeJS.Signals): void
  readonly ended: Promise<number | null>
}

/** `npm start`'s own command, until it is ready or has ended. */
export async function quitado(env: Record<string, string>, args: readonly string[] = []): Promise<Started> {
  const port = Number(env['PORT'] ?? (await freePort()))
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, LOG_LEVEL: 'warn', PORT: String(port), ...env },
  })
  let output = ''
  const ended = new Promise<number | null>((done) => child.once('exit', done))
  await new Promise<void>((done) => {
    const hear = (chunk: Buffer) => {
      output += chunk
      if (output.includes('Quitado is ready') && output.endsWith('\n')) done()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('close', () => done())
  })
  later(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return { port, pid: child.pid!, output: () => output, signal: (name) => child.kill(name), ended }
}

export const postmasterOf = (folder: string): number =>
  Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
export const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export type Account = { readonly apiKey: string; readonly apiToken: string }

export type RunningService = {
  readonly port: number
  readonly folder: string
  readonly pid: number
  readonly secondsToReady: number
  /** Resolves when the supervisor has ended, however it did. */
  readonly gone: Promise<void>
  stop(): Promise<void>
}

export type ServiceSettings = {
  readonly port?: number
  readonly folder?: string
  readonly env?: Record<string, string>
}

const root = resolve(import.meta.dirname, '../..')

/** The service as it ships: `npm start`'s own command, logging on, its log in a file. */
export async function startService({ port = 18_080, folder, env = {} }: ServiceSettings = {}): Promise<RunningService> {
  const data = folder ?? mkdtempSync(join(tmpdir(), 'quitado-run-'))
  const log = openSync(join(data, 'service.log'), 'a')
  const began = performance.now()
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { ...process.env, PORT: String(port), QUITADO_DATA: data, ...env },
    stdio: ['ignore', 'pipe', log],
  })
  const gone = new Promise<void>((done) => child.once('exit', () => done()))
  await ready(child, data)
  return {
    port,
    folder: data,
    pid: child.pid!,
    gone,
    secondsToReady: (performance.now() - began) / 1000,
    async stop() {
      await stopped(child)
      if (folder === undefined) rmSync(data, { recursive: true, force: true })
    },
  }
}

function ready(child: ChildProcess, data: string): Promise<void> {
  return new Promise((done, failed) => {
    let printed = ''
    child.stdout!.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Quitado is ready')) done()
    })
    child.once('exit', () =>
      failed(new Error(`the service did not start:\n${printed}\n${readFileSync(join(data, 'service.log'), 'utf8')}`)),
    )
  })
}

function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((done) => {
    child.once('exit', () => done())
    child.kill('SIGTERM')
  })
}

export type RegisteredAccount = Account & { readonly id: string }

export async function registerAccounts(port: number, count: number): Promise<RegisteredAccount[]> {
  const accounts: RegisteredAccount[] = []
  for (let index = 0; index < count; index += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1.1/sandbox/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Loja ${index}`, email: `loja${index}@example.com` }),
    })
    const { account, credentials } = (await answer.json()) as { account: { id: string }; credentials: Account }
    accounts.push({ id: account.id, ...credentials })
  }
  return accounts
}

export const credentialHeaders = ({ apiKey, apiToken }: Account) => ({ 'x-api-key': apiKey, 'x-api-token': apiToken })

/** Processes whose parent is the given one, with their command lines. */
export function childrenOf(parent: number): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return Number(fields[1]) === parent ? [{ pid: Number(name), command }] : []
      } catch {
        return []
      }
    })
}

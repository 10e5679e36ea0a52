import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { apiClient } from '../harness/api-client.ts'
import { type Account, type RunningService, startService } from '../harness/running-service.ts'
import { AWAY_MS, ask, connect } from './scene.ts'
import type { FromReceiver, LoggedCall, Manner, ToReceiver } from './webhook-receiver.ts'

export const PORT = 18_281
export const TIMEOUT_MS = 2_000
/** What the service adds to the time-out. */
export const LEASE_MS = TIMEOUT_MS + 20_000

/** An account whose notifications go to the receiver. */
export type Shop = Account & { readonly id: number }

export type Receiver = {
  readonly port: number
  behave(path: string, manner: Manner): Promise<void>
  /** Resolves when the path has gathered its calls. */
  gathered(path: string): Promise<void>
  report(path: string): Promise<readonly LoggedCall[]>
  stop(): void
}

export type World = {
  readonly folder: string
  readonly receiver: Receiver
  service: RunningService
  start(processes: number): Promise<void>
  close(): Promise<void>
}

export async function createWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-webhooks-'))
  const receiver = await startReceiver()
  const world: World = {
    folder,
    receiver,
    service: undefined as never,
    async start(processes) {
      world.service = await startService({
        port: PORT,
        folder,
        env: {
          LOG_LEVEL: 'warn',
          QUITADO_PROCESSES: String(processes),
          QUITADO_WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS),
          QUITADO_WEBHOOK_RETRY_SECONDS: '2',
        },
      })
    },
    async close() {
      await world.service?.stop()
      receiver.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return world
}

async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'), { serialization: 'advanced' })
  const heard = <Type extends FromReceiver['type']>(type: Type, path?: string) =>
    new Promise<Extract<FromReceiver, { type: Type }>>((done, failed) => {
      child.once('exit', failed)
      child.on('message', function listen(message: FromReceiver) {
        if (message.type !== type || ('path' in message && message.path !== path)) return
        child.off('message', listen).off('exit', failed)
        done(message as Extract<FromReceiver, { type: Type }>)
      })
    })
  const ask = <Type extends FromReceiver['type']>(message: ToReceiver, answer: Type) => {
    const answered = heard(answer)
    child.send(message)
    return answered
  }
  const { port } = await heard('listening')
  return {
    port,
    behave: async (path, manner) => void (await ask({ type: 'behave', path, manner }, 'behaves')),
    gathered: async (path) => void (await heard('gathered', path)),
    report: async (path) => (await ask({ type: 'report', path }, 'reported')).calls,
    stop: () => child.disconnect(),
  }
}

let shops = 0

export async function openShops({ folder, receiver }: World, count: number, path: string): Promise<Shop[]> {
  const api = apiClient(PORT)
  const accounts: Account[] = []
  for (let made = 0; made < count; made += 1) {
    const name = `loja${++shops}`
    const opened = await api.post('/v1.1/sandbox/register', { name, email: `${name}@example.com` })
    const { apiKey, apiToken } = opened.body.credentials
    const url = `http://127.0.0.1:${receiver.port}${path}`
    const told = await api
      .as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
      .put('/v1.1/account/notifications', { payment: { url } })
    if (told.http !== 200) throw new Error(`an address was refused: ${told.text}`)
    accounts.push({ apiKey, apiToken })
  }
  const ids = await ask<{ api_key: string; account_id: number }>(
    folder,
    'select api_key, account_id from credential where api_key = any ($1::uuid[])',
    [accounts.map(({ apiKey }) => apiKey)],
  )
  return accounts.map((account) => ({ ...account, id: ids.find((row) => row.api_key === account.apiKey)!.account_id }))
}

/** Locks something until it is let go, so that the service stands still at a known place. */
export async function hold(folder: string, sql: string, values: unknown[] = []): Promise<{ letGo(): Promise<void> }> {
  const client = await connect(folder)
  await client.query('begin')
  await client.query(sql, values)
  return {
    async letGo() {
      await client.query('rollback')
      await client.end()
    },
  }
}

/** Resolves when a statement of the service waits for a lock. */
export async function blocked(folder: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < AWAY_MS; await wait(10)) {
    const rows = await ask<{ pid: number }>(
      folder,
      `select pid from pg_stat_activity where application_name = 'quitado' and wait_event_type = 'Lock'`,
    )
    if (rows.length > 0) return
  }
  throw new Error('nothing of the service waits for the lock')
}

/** A statement that was sent goes on without its sender, unless its connection ends too. */
export const cutConnections = (folder: string) =>
  ask(folder, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'quitado'`)

export async function untilGone(pids: readonly number[]): Promise<void> {
  const alive = (pid: number) => {
    try {
      return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return false
    }
  }
  while (pids.some(alive)) await wait(5)
}

/**
 * Rows that were leased by the moment of the kill and still are: calls that were on their way then. Those of the kill
 * before it were leased before that.
 */
export async function inFlightAt(folder: string, killedAt: number, killedBefore = 0): Promise<number> {
  // What the dead process had sent to the database is decided by then.
  await wait(200)
  const [row] = await ask<{ n: number }>(
    folder,
    `select count(*) as n from notification_queue
     where held and due_at > to_timestamp($1 / 1000.0) and due_at <= to_timestamp($2 / 1000.0)`,
    [killedBefore + LEASE_MS, killedAt + LEASE_MS],
  )
  return row!.n
}

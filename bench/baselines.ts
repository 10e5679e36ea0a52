import { type ChildProcess, execFile, fork } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDatabaseIfMissing } from '../src/platform/database/migrate.ts'
import type { RunningService } from '../test/harness/running-service.ts'
import { httpRequest, runLoad } from './load.ts'

export type Baselines = { readonly tpcb: number | undefined; readonly inserts: number; readonly plainRoute: number }
export type BaselineOptions = {
  readonly say: (line: string) => void
  /** A trial of the bench itself: small and short. */
  readonly trial?: boolean
}

/** What this machine, this database server and this driver do without the product: same server, nothing else running. */
export async function measureBaselines(
  service: RunningService,
  { say, trial = false }: BaselineOptions,
): Promise<Baselines> {
  const socket = join(service.folder, 'postgres-socket')
  say('baseline: a route that answers a constant')
  const plain = await runLoad({
    port: service.port,
    connections: 256,
    seconds: trial ? 1 : 8,
    warmUpSeconds: trial ? 1 : 4,
    make: () => httpRequest('GET', '/healthz', {}),
  })
  say(`baseline: ${plain.perSecond} constant answers/s; one insert a request`)
  const inserts = await singleInserts(socket, trial)
  say(`baseline: ${inserts} inserts/s; TPC-B`)
  const transactions = await tpcb(socket, trial)
  say(transactions === undefined ? 'baseline: pgbench is not installed' : `baseline: ${transactions} TPC-B/s`)
  return { tpcb: transactions, inserts, plainRoute: plain.perSecond }
}

/** One row, one commit, one HTTP request each, through the same driver. */
async function singleInserts(socket: string, trial: boolean): Promise<number> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'insert-server.ts'), [socket])
  const { port } = await new Promise<{ port: number }>((done) => child.once('message', (said) => done(said as never)))
  try {
    const body = JSON.stringify({ reference: 'order-1', amount: 1050 })
    const load = { port, connections: 64, seconds: trial ? 1 : 8, warmUpSeconds: trial ? 1 : 4 }
    return (await runLoad({ ...load, make: () => httpRequest('POST', '/', {}, body) })).perSecond
  } finally {
    child.kill()
  }
}

const execute = promisify(execFile)

/** Where pgbench is installed: scale 100, 32 clients, prepared, 30 s. */
async function tpcb(socket: string, trial: boolean): Promise<number | undefined> {
  const run = async (...args: string[]) =>
    (await execute('pgbench', ['-h', socket, '-U', 'postgres', ...args, 'tpcb'])).stdout
  await createDatabaseIfMissing({ host: socket, database: 'tpcb' })
  try {
    await run('-i', '-s', trial ? '1' : '100', '-q')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
  const printed = await run('-c', '32', '-j', '2', '-M', 'prepared', '-T', trial ? '2' : '30')
  return Math.round(Number(/tps = ([\d.]+)/.exec(printed)?.[1]))
}

import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { join } from 'node:path'
import { createDatabaseIfMissing } from '../src/platform/database/migrate.ts'
import type { RunningService } from '../test/harness/running-service.ts'
import { httpRequest, runLoad } from './load.ts'

export type Baselines = { readonly tpcb: number | undefined; readonly inserts: number; readonly plainRoute: number }

/** What this machine, this database server and this driver do without the product: same server, nothing else running. */
export async function measureBaselines(service: RunningService): Promise<Baselines> {
  const socket = join(service.folder, 'postgres-socket')
  const plain = await runLoad({
    port: service.port,
    connections: 256,
    seconds: 5,
    warmUpSeconds: 1,
    make: () => httpRequest('GET', '/healthz', {}),
  })
  return { tpcb: await tpcb(socket), inserts: await singleInserts(socket), plainRoute: plain.perSecond }
}

/** One row, one commit, one HTTP request each, through the same driver. */
async function singleInserts(socket: string): Promise<number> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'insert-server.ts'), [socket])
  const { port } = await new Promise<{ port: number }>((done) => child.once('message', (said) => done(said as never)))
  try {
    const body = JSON.stringify({ reference: 'order-1', amount: 1050 })
    const load = { port, connections: 64, seconds: 8, warmUpSeconds: 2 }
    return (await runLoad({ ...load, make: () => httpRequest('POST', '/', {}, body) })).perSecond
  } finally {
    child.kill()
  }
}

/** Where pgbench is installed: scale 100, 32 clients, prepared, 30 s. */
async function tpcb(socket: string): Promise<number | undefined> {
  const run = (...args: string[]) =>
    execFileSync('pgbench', ['-h', socket, '-U', 'postgres', ...args, 'tpcb'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  try {
    await createDatabaseIfMissing({ host: socket, database: 'tpcb' })
    run('-i', '-s', '100', '-q')
  } catch {
    return undefined
  }
  const printed = run('-c', '32', '-j', '2', '-M', 'prepared', '-T', '30')
  return Math.round(Number(/tps = ([\d.]+)/.exec(printed)?.[1]))
}

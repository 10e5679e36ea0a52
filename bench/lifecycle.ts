import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findViolations } from '../src/audit.ts'
import { clientConfig } from '../src/platform/database/database.ts'
import {
  type Account,
  childrenOf,
  credentialHeaders,
  type RunningService,
  registerAccounts,
  startService,
} from '../test/harness/running-service.ts'
import { measureBaselines } from './baselines.ts'
import {
  type Processors,
  processorsBetween,
  processorsUsed,
  resetStatements,
  type StatementCost,
  statementCosts,
} from './cost.ts'
import { checkoutRequests } from './create.ts'
import { httpRequest, openLane, round } from './load.ts'
import type { BenchRow } from './report.ts'

const CONNECTIONS = 512
const WARM_UP_SECONDS = 15
const ACCOUNTS = 100

export type LifecycleOptions = {
  readonly seconds: number
  readonly accounts?: number
  readonly processes?: number
  /** Measured on the same server, right after. */
  readonly baselines?: boolean
}

/**
 * The whole life of a charge, as fast as it goes: checkout over HTTP, payment by the rail's door over HTTP, posted,
 * webhook delivered to a receiver on this machine and recorded. A life counts when its payment was answered; what is
 * still under way at the end is waited for, and everything is counted and audited.
 */
export async function benchLifecycle({
  seconds,
  accounts = ACCOUNTS,
  processes,
  baselines = true,
}: LifecycleOptions): Promise<BenchRow[]> {
  const receiver = await startReceiver()
  const service = await startService({ env: processes === undefined ? {} : { QUITADO_PROCESSES: String(processes) } })
  try {
    const shops = await registerAccounts(service.port, accounts)
    const row = await runLives(service, shops, receiver, seconds)
    const beside = baselines ? await measureBaselines(service) : {}
    return [{ accounts, ...row, ...ratiosOf(row.livesPerSecond, beside) }]
  } finally {
    await service.stop()
    receiver.child.kill()
  }
}

function ratiosOf(
  lives: number,
  { tpcb, inserts, plainRoute }: Partial<Awaited<ReturnType<typeof measureBaselines>>>,
): BenchRow {
  return {
    ...(tpcb ? { tpcb, livesToTpcb: round(lives / tpcb) } : {}),
    ...(inserts ? { inserts, livesToInserts: round(lives / inserts) } : {}),
    ...(plainRoute ? { plainRoute, livesToPlainRoute: round(lives / plainRoute) } : {}),
  }
}

async function runLives(service: RunningService, shops: readonly Account[], receiver: Receiver, seconds: number) {
  const database = { host: join(service.folder, 'postgres-socket'), database: 'quitado' }
  const client = new pg.Client(clientConfig(database))
  await client.connect()
  try {
    await liveFor(service.port, shops, receiver.url, WARM_UP_SECONDS)
    const wal = await walPosition(client)
    const memory = serviceMemory(service)
    const delivered = await receiver.calls()
    await resetStatements(client)
    const others = { generator: process.pid, receiver: receiver.child.pid! }
    const used = processorsUsed(service, others)
    const lived = await liveFor(service.port, shops, receiver.url, seconds)
    const deliveredInTime = (await receiver.calls()) - delivered
    const walBytes = (await walPosition(client)) - wal
    const drainSeconds = await drained(client)
    const processors = processorsBetween(used, processorsUsed(service, others))
    printCosts(await statementCosts(client), processors, lived.lives)
    const { sales, paid, attempts } = await counted(client)
    const violations = await findViolations(database)
    return {
      livesPerSecond: Math.round(lived.lives / seconds),
      deliveredPerSecond: Math.round(deliveredInTime / seconds),
      drainSeconds,
      checkoutP50Ms: lived.checkout.at(0.5),
      checkoutP99Ms: lived.checkout.at(0.99),
      paymentP50Ms: lived.payment.at(0.5),
      paymentP99Ms: lived.payment.at(0.99),
      refused: lived.refused,
      walBytesPerLife: Math.round(walBytes / Math.max(1, lived.lives)),
      pssMb: `${memory} → ${serviceMemory(service)}`,
      lost: `${sales - paid} unpaid, ${paid - attempts} undelivered, ${violations.length} rules broken`,
    }
  } finally {
    await client.end()
  }
}

function printCosts(statements: readonly StatementCost[], processors: Processors, lives: number): void {
  const us = (seconds: number) => Math.round((seconds * 1e6) / lives)
  console.log(
    `  processor a life: ${Object.entries(processors)
      .map(([who, s]) => `${who} ${us(s)} µs`)
      .join(', ')}`,
  )
  for (const { name, calls, us: spent, walBytes } of statements.slice(0, 12))
    console.log(
      `    ${name}: ${round(calls / lives, 4)} a life, ${round(spent / calls / 1000)} ms each, ${Math.round(spent / lives)} µs and ${Math.round(walBytes / lives)} bytes of log a life`,
    )
}

type Times = { add(ms: number): void; at(share: number): number }
function times(): Times {
  const all: number[] = []
  let sorted: number[] | undefined
  return {
    add: (ms) => void all.push(ms),
    at(share) {
      sorted ??= [...all].sort((a, b) => a - b)
      return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
    },
  }
}

let started = 0
const UUID = Buffer.from('"uuid":"')

/** Each connection makes a charge, then pays it, then the next. */
async function liveFor(port: number, shops: readonly Account[], url: string, seconds: number) {
  const make = checkoutRequests(shops, url)
  const headers = shops.map(credentialHeaders)
  const ends = performance.now() + seconds * 1000
  const [checkout, payment] = [times(), times()]
  let [lives, refused] = [0, 0]
  const lanes = await Promise.all(Array.from({ length: CONNECTIONS }, () => openLane(port)))
  await Promise.all(
    lanes.map(async (lane) => {
      while (performance.now() < ends) {
        const index = started++
        const began = performance.now()
        const made = await lane.send(make(index))
        checkout.add(performance.now() - began)
        if (made.status !== 200) {
          refused += 1
          continue
        }
        const at = made.body.indexOf(UUID) + UUID.length
        const path = `/v1.1/sandbox/sim/sale/${made.body.toString('latin1', at, at + 36)}/paid`
        const asked = performance.now()
        const paid = await lane.send(httpRequest('POST', path, headers[index % headers.length]!))
        payment.add(performance.now() - asked)
        if (paid.status === 200) lives += 1
        else refused += 1
      }
      lane.close()
    }),
  )
  return { lives, refused, checkout, payment }
}

async function walPosition(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as at")
  return rows[0].at
}

/** Until every notification has been delivered and recorded. */
async function drained(client: pg.Client): Promise<number> {
  const began = performance.now()
  for (;;) {
    const { rows } = await client.query('select count(*) as n from notification_queue')
    if (rows[0].n === 0) return round((performance.now() - began) / 1000, 1)
    await new Promise((done) => setTimeout(done, 100))
  }
}

async function counted(client: pg.Client): Promise<{ sales: number; paid: number; attempts: number }> {
  const { rows } = await client.query(
    `select count(*) as sales, count(*) filter (where state = 'PAID') as paid,
       (select count(*) from notification_attempt where status = 'SUCCESS') as attempts from sale`,
  )
  return rows[0]
}

/** The service's own processes, without the database: PSS, so that shared pages count once. */
function serviceMemory(service: RunningService): number {
  const processes = childrenOf(service.pid).filter(({ command }) => command.includes('process.ts'))
  const kilobytes = processes.map(({ pid }) =>
    Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
  )
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024)
}

type Receiver = { readonly url: string; readonly child: ChildProcess; calls(): Promise<number> }

async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'), { serialization: 'advanced' })
  const heard = <Answer>() => new Promise<Answer>((done) => child.once('message', (said) => done(said as Answer)))
  const { port } = await heard<{ port: number }>()
  return {
    url: `http://127.0.0.1:${port}/hook`,
    child,
    async calls() {
      const answer = heard<{ calls: number }>()
      child.send({ type: 'count' })
      return (await answer).calls
    },
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { clientConfig } from '../src/platform/database/database.ts'
import { type RunningService, startService } from '../test/harness/running-service.ts'
import { processorsBetween, processorsUsed, resetStatements, serviceProcesses, statementCosts } from './cost.ts'
import { round } from './load.ts'
import { ACCOUNTS, expectRight, prepareRecurrences, RESTING_EACH } from './recurrence-world.ts'
import type { BenchRow } from './report.ts'
import { pssKb } from './start.ts'

const PORT = 18_085
const POLL_MS = 250
const CALLS_EACH = 2

const method = (due: number) => `
  ${due * (1 + RESTING_EACH)} approved mandates of ${ACCOUNTS} accounts, loaded by COPY while the service is down. The charges of ${due} of
  them fall due on one day whose collection hour has passed: as after a night of downtime, all of them are to be
  registered and collected when the service starts. It runs as \`npm start\` runs it, its database and the receiver of
  its notifications on the same machine. Times are the rows' own, counted from when the service says that it is ready:
  reserved is a sale's creation, scheduled and paid the creation of these notifications, delivered the recorded attempts.
  The end is when nothing is due and every notification is delivered and recorded; then the audit must find nothing.
`

/** One day's charges among ten times as many mandates: registered, collected, told. */
export async function benchRecurrence(due: number): Promise<BenchRow[]> {
  console.log(method(due))
  const folder = mkdtempSync(join(tmpdir(), 'quitado-bench-recurrence-'))
  const receiver = fork(join(import.meta.dirname, 'webhook-receiver.ts'), { serialization: 'advanced' })
  try {
    const { port } = await heard<{ port: number }>(receiver)
    await prepareRecurrences(folder, PORT, `http://127.0.0.1:${port}/hook`, due)
    return [await measure(folder, receiver, due)]
  } finally {
    receiver.disconnect()
    rmSync(folder, { recursive: true, force: true })
  }
}

const heard = <Answer>(child: ChildProcess) =>
  new Promise<Answer>((done) => child.once('message', (said) => done(said as Answer)))

async function measure(folder: string, receiver: ChildProcess, due: number): Promise<BenchRow> {
  const load = loadavg()[0]!
  const service = await startService({ port: PORT, folder })
  const readyAt = Date.now()
  const connection = { host: join(folder, 'postgres-socket'), database: 'quitado' }
  const client = new pg.Client(clientConfig(connection))
  await client.connect()
  const watched = watch(service, receiver)
  try {
    await resetStatements(client)
    while (await isBusy(client)) await wait(POLL_MS)
    const took = (Date.now() - readyAt) / 1000
    const { peaks, processors } = watched.end()
    await expectAllTold(receiver, due)
    const phases = await phasesOf(client, readyAt)
    const statements = await statementCosts(client)
    await expectRight(connection)
    for (const { what, from, to, n } of phases) console.log(`  ${what}: ${n}, from ${from} s to ${to} s`)
    for (const { name, calls, us } of statements.slice(0, 12))
      console.log(
        `    ${name}: ${calls} calls, ${round(us / calls / 1000, 1)} ms each, ${Math.round(us / 1000)} ms in all`,
      )
    const perSecond = (asked: string) => {
      const { from, to, n } = phases.find(({ what }) => what === asked)!
      return Math.round(n / Math.max(to - from, 0.001))
    }
    return {
      charges: due,
      registeredPerSecond: perSecond('scheduled'),
      collectedPerSecond: perSecond('paid'),
      deliveriesPerSecond: perSecond('delivered'),
      overallPerSecond: Math.round(due / took),
      seconds: round(took, 1),
      statementsPerCharge: round(statements.reduce((sum, { calls }) => sum + calls, 0) / due, 3),
      ...Object.fromEntries(peaks.map(([name, kb]) => [`${name}Mb`, Math.round(kb / 1024)])),
      ...Object.fromEntries(
        Object.entries(processors).map(([name, seconds]) => [`${name}MsPerCharge`, round((seconds * 1000) / due)]),
      ),
      load: `${round(load, 1)} to ${round(loadavg()[0]!, 1)}`,
    }
  } finally {
    watched.end()
    await client.end()
    await service.stop()
  }
}

/** Something is due, or waits to be told. */
async function isBusy(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ busy: boolean }>(
    'select exists (select 1 from recurrence_due where due_at <= now()) or exists (select 1 from notification_queue) as busy',
  )
  return rows[0]!.busy
}

async function expectAllTold(receiver: ChildProcess, due: number): Promise<void> {
  receiver.send({ type: 'report' })
  const { calls, arrivals } = await heard<{ calls: number; arrivals: unknown[] }>(receiver)
  if (calls !== due * CALLS_EACH || arrivals.length !== calls)
    throw new Error(`${calls} calls of ${arrivals.length} notifications, for ${due} charges`)
}

type Phase = { readonly what: string; readonly from: number; readonly to: number; readonly n: number }

/** First and last of each, in seconds after the service was ready. */
async function phasesOf(client: pg.Client, readyAt: number): Promise<Phase[]> {
  const { rows } = await client.query<{ what: string; low: number; high: number; n: number }>(
    `select 'reserved' as what, min(created_at) as low, max(created_at) as high, count(*) as n from sale
     union all
     select case event when 'RECURRENCE_CHARGE_PAID' then 'paid' else 'scheduled' end, min(created_at), max(created_at), count(*)
     from notification where event in ('RECURRENCE_CHARGE_SCHEDULED', 'RECURRENCE_CHARGE_PAID') group by event
     union all
     select 'delivered', min(at), max(at), count(*) from notification_attempt where status = 'SUCCESS'`,
  )
  const seconds = (at: number) => round((at - readyAt) / 1000)
  return rows.map(({ what, low, high, n }) => ({ what, from: seconds(low), to: seconds(high), n }))
}

/** The most memory that each process of the service held (proportional), and the seconds of processor that everybody took. */
function watch(running: RunningService, receiver: ChildProcess) {
  const service = [
    ['supervisor', running.pid] as const,
    ...serviceProcesses(running.pid).map((pid, at) => [`process${at + 1}`, pid] as const),
  ]
  const most = new Map<string, number>()
  const timer = setInterval(() => {
    const now = service.map(([name, each]) => [name, pssKb(each)] as const)
    for (const [name, kb] of [...now, ['service', now.reduce((sum, [, kb]) => sum + kb, 0)] as const])
      most.set(name, Math.max(most.get(name) ?? 0, kb))
  }, POLL_MS)
  const others = { receiver: receiver.pid! }
  const before = processorsUsed(running, others)
  return {
    end() {
      clearInterval(timer)
      return { peaks: [...most], processors: processorsBetween(before, processorsUsed(running, others)) }
    },
  }
}

import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findViolations } from '../src/audit.ts'
import { clientConfig } from '../src/platform/database/database.ts'
import { type RunningService, registerAccounts, startService } from '../test/harness/running-service.ts'
import { serviceProcesses } from './cost.ts'
import { liveClosed, type Target } from './lives.ts'
import { round } from './load.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { pssKb } from './start.ts'

const ACCOUNTS = 100
/** The compiler of the service needs that long until the rate stays. */
const WARM_UP_SECONDS = 15
const TRIAL_SECONDS = 10

export type LifeWorld = {
  readonly service: RunningService
  readonly receiver: Receiver
  readonly target: Target
  readonly database: { readonly host: string; readonly database: string }
  readonly client: pg.Client
}

export const say = (line: string): void => console.log(`  ${line}`)

/** The service as it ships with an empty database, a hundred accounts, and a receiver for their confirmations. */
export async function inLifeWorld<Result>(work: (world: LifeWorld) => Promise<Result>): Promise<Result> {
  const receiver = await startReceiver()
  const service = await startService()
  const database = { host: join(service.folder, 'postgres-socket'), database: 'quitado' }
  const client = new pg.Client(clientConfig(database))
  try {
    await client.connect()
    // The embedded server keeps the service from it; counting wants whole tables.
    await client.query('set enable_seqscan = on')
    const shops = await registerAccounts(service.port, ACCOUNTS)
    return await work({
      service,
      receiver,
      database,
      client,
      target: { port: service.port, shops, callbackUrl: receiver.url },
    })
  } finally {
    await client.end()
    await service.stop()
    receiver.stop()
  }
}

/** A short measurement is a trial of the bench itself: everything around it is short as well, and the row says so. */
export const isTrial = (seconds: number): boolean => seconds < TRIAL_SECONDS
export const atMost = (wanted: number, seconds: number): number =>
  isTrial(seconds) ? Math.min(wanted, seconds) : wanted

export async function warmUp(target: Target, seconds: number): Promise<void> {
  say('warming up')
  await liveClosed(target, atMost(WARM_UP_SECONDS, seconds))
}

/** Supervisor and processes, without the database. PSS: what they share counts once. */
export const serviceMemoryMb = ({ pid }: RunningService): number =>
  Math.round([pid, ...serviceProcesses(pid)].reduce((sum, each) => sum + pssKb(each), 0) / 1024)

/** Until every notification has been delivered and recorded; answers the seconds that took. */
export async function drained({ client }: LifeWorld): Promise<number> {
  const began = performance.now()
  for (;;) {
    const { rows } = await client.query<{ n: number }>('select count(*) as n from notification_queue')
    if (rows[0]!.n === 0) return round((performance.now() - began) / 1000, 1)
    await wait(100)
  }
}

export type Counts = { readonly sales: number; readonly paid: number; readonly delivered: number }

export async function counts({ client }: LifeWorld): Promise<Counts> {
  const { rows } = await client.query<Counts>(
    `select count(*) as sales, count(*) filter (where state = 'PAID') as paid,
       (select count(*) from notification_attempt where status = 'SUCCESS') as delivered from sale`,
  )
  return rows[0]!
}

/** What is missing of the sales made since: unpaid ones, confirmations not recorded as delivered, rules of the audit. */
export async function missing(world: LifeWorld, before: Counts = { sales: 0, paid: 0, delivered: 0 }) {
  await drained(world)
  const now = await counts(world)
  const violations = await findViolations(world.database)
  for (const { check, count } of violations) say(`BROKEN ${check} (${count})`)
  const paid = now.paid - before.paid
  return {
    sales: now.sales - before.sales,
    unpaid: now.sales - before.sales - paid,
    undelivered: paid - (now.delivered - before.delivered),
    rulesBroken: violations.length,
  }
}

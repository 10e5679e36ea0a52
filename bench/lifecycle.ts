import { measureBaselines } from './baselines.ts'
import type { Chart } from './chart.ts'
import {
  type Processors,
  processorsBetween,
  processorsUsed,
  resetStatements,
  type StatementCost,
  statementCosts,
} from './cost.ts'
import { checkoutRequests } from './create.ts'
import {
  atMost,
  drained,
  inLifeWorld,
  isTrial,
  type LifeWorld,
  missing,
  say,
  serviceMemoryMb,
  warmUp,
} from './life-world.ts'
import { liveClosed, openLives } from './lives.ts'
import { round, runLoad } from './load.ts'
import { type BenchReport, withSpread } from './report.ts'

const OPEN_SECONDS = 20
const OPEN_CONNECTIONS = 512
const CHECKOUT_SECONDS = 10
const CHECKOUT_CONNECTIONS = 256
/** Far from every number that a life of the same run was begun with. */
const CHECKOUTS_FROM = 1_000_000_000

/**
 * The whole life of a charge: checkout over HTTP, payment over HTTP, posted, webhook delivered to a receiver on this
 * machine and recorded. First as fast as it goes, then at half of that in an open loop; a life counts when its payment was
 * answered, and at the end everything is counted and audited. Then checkouts alone, and what the machine does without us.
 */
export async function benchLifecycle(seconds: number, runs: number): Promise<BenchReport> {
  const rows: Awaited<ReturnType<typeof oneRun>>[] = []
  for (let run = 1; run <= runs; run += 1) {
    say(`run ${run} of ${runs}`)
    rows.push(await inLifeWorld((world) => oneRun(world, run, seconds)))
  }
  return { rows: withSpread(rows), chart: chartOf(rows.at(-1)!, seconds) }
}

async function oneRun(world: LifeWorld, run: number, seconds: number) {
  await warmUp(world.target, seconds)
  const closed = await asFastAsItGoes(world, seconds)
  const half = await atHalf(world, closed.livesPerSecond, seconds)
  const left = await missing(world)
  say(`${left.sales} sales: ${left.unpaid} unpaid, ${left.undelivered} undelivered; ${left.rulesBroken} rules broken`)
  const checkoutsPerSecond = await checkoutsAlone(world, seconds)
  const { tpcb, inserts, plainRoute } = await measureBaselines(world.service, { say, trial: isTrial(seconds) })
  const { livesPerSecond } = closed
  return {
    run: isTrial(seconds) ? `${run} (trial)` : run,
    ...closed,
    ...half,
    ...left,
    checkoutsPerSecond,
    inserts,
    plainRoute,
    tpcb: tpcb ?? 'no pgbench',
    livesToTpcb: tpcb ? round(livesPerSecond / tpcb, 3) : '',
    checkoutsToTpcb: tpcb ? round(checkoutsPerSecond / tpcb, 3) : '',
    livesToInserts: round(livesPerSecond / inserts, 3),
    checkoutsToInserts: round(checkoutsPerSecond / inserts, 3),
    livesToPlainRoute: round(livesPerSecond / plainRoute, 3),
    checkoutsToPlainRoute: round(checkoutsPerSecond / plainRoute, 3),
  }
}

async function asFastAsItGoes(world: LifeWorld, seconds: number) {
  const { client, service, receiver, target } = world
  const others = { generator: process.pid, receiver: receiver.pid }
  await drained(world)
  await resetStatements(client)
  const [wal, delivered, memory] = [await walPosition(world), await receiver.calls(), serviceMemoryMb(service)]
  const used = processorsUsed(service, others)
  const began = performance.now()
  const { tally, perSecond, slowestWindow } = await liveClosed(target, seconds, say)
  const deliveredPerSecond = Math.round((((await receiver.calls()) - delivered) * 1000) / (performance.now() - began))
  const drainSeconds = await drained(world)
  const walBytes = (await walPosition(world)) - wal
  const processors = processorsBetween(used, processorsUsed(service, others))
  const statements = await statementCosts(client)
  printCosts(statements, processors, tally.lives)
  const perLife = (amount: number, decimals = 0) => round(amount / Math.max(1, tally.lives), decimals)
  return {
    livesPerSecond: perSecond,
    slowestFiveSeconds: slowestWindow,
    deliveredPerSecond,
    drainSeconds,
    refused: tally.refusedCheckouts + tally.refusedPayments + tally.otherAnswers,
    checkoutP50Ms: tally.checkout.at(0.5),
    checkoutP99Ms: tally.checkout.at(0.99),
    paymentP50Ms: tally.payment.at(0.5),
    paymentP99Ms: tally.payment.at(0.99),
    statementsPerLife: perLife(
      statements.reduce((sum, { calls }) => sum + calls, 0),
      3,
    ),
    walBytesPerLife: perLife(walBytes),
    ...Object.fromEntries(Object.entries(processors).map(([who, s]) => [`${who}UsPerLife`, perLife(s * 1e6)])),
    memoryMbBefore: memory,
    memoryMbAfter: serviceMemoryMb(service),
  }
}

async function atHalf({ target }: LifeWorld, livesPerSecond: number, seconds: number) {
  const halfRate = Math.round(livesPerSecond / 2)
  say(`open loop at half of it: ${halfRate} lives/s`)
  const open = await openLives(target, OPEN_CONNECTIONS)
  const tally = await open.offer(halfRate, atMost(OPEN_SECONDS, seconds))
  await open.answered()
  open.close()
  return {
    halfRate,
    halfCheckoutP50Ms: tally.checkout.at(0.5),
    halfCheckoutP99Ms: tally.checkout.at(0.99),
    halfCheckoutMaxMs: tally.checkout.at(1),
    halfPaymentP50Ms: tally.payment.at(0.5),
    halfPaymentP99Ms: tally.payment.at(0.99),
    halfLateP99Ms: tally.late.at(0.99),
  }
}

/** They stay unpaid, so they come after the count. */
async function checkoutsAlone({ target }: LifeWorld, seconds: number): Promise<number> {
  say('checkouts alone')
  const make = checkoutRequests(target.shops, target.callbackUrl)
  const { perSecond, statuses } = await runLoad({
    port: target.port,
    connections: CHECKOUT_CONNECTIONS,
    seconds: atMost(CHECKOUT_SECONDS, seconds),
    warmUpSeconds: 1,
    make: (index) => make(CHECKOUTS_FROM + index),
  })
  if (Object.keys(statuses).join() !== '200') throw new Error(`answers: ${JSON.stringify(statuses)}`)
  return perSecond
}

async function walPosition({ client }: LifeWorld): Promise<number> {
  const { rows } = await client.query<{ at: number }>(
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as at",
  )
  return rows[0]!.at
}

function printCosts(statements: readonly StatementCost[], processors: Processors, lives: number): void {
  const us = (seconds: number) => Math.round((seconds * 1e6) / lives)
  const shares = Object.entries(processors).map(([who, seconds]) => `${who} ${us(seconds)} µs`)
  say(`processor a life: ${shares.join(', ')}`)
  for (const { name, calls, us: spent, walBytes } of statements.slice(0, 12))
    say(
      `  ${name}: ${round(calls / lives, 4)} a life, ${round(spent / calls / 1000)} ms each, ${Math.round(spent / lives)} µs and ${Math.round(walBytes / lives)} bytes of log a life`,
    )
}

function chartOf(row: Awaited<ReturnType<typeof oneRun>>, seconds: number): Chart {
  const bar = (label: string, value: string | number | undefined, baseline = false) =>
    typeof value === 'number' ? [{ label, value, baseline }] : []
  return {
    kind: 'bars',
    title: 'Full lives of a charge a second, beside what the machine does',
    note: `Checkout, payment, posting, webhook delivered and recorded, over ${seconds} s; all on one machine.`,
    bars: [
      ...bar('full lives', row.livesPerSecond),
      ...bar('checkouts alone', row.checkoutsPerSecond),
      ...bar('pgbench TPC-B', row.tpcb, true),
      ...bar('one insert a request', row.inserts, true),
      ...bar('a constant over HTTP', row.plainRoute, true),
    ],
  }
}

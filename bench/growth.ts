import { findViolations } from '../src/audit.ts'
import { loadSales } from './growth-data.ts'
import { counts, inLifeWorld, isTrial, type LifeWorld, missing, say, warmUp } from './life-world.ts'
import { liveClosed } from './lives.ts'
import { round } from './load.ts'
import type { BenchReport } from './report.ts'

const SMALLEST = 10_000

/** The rate of full lives with ever more sales in the tables, all of them of the accounts that live. */
export async function benchGrowth(most: number, seconds: number): Promise<BenchReport> {
  const rows: (Awaited<ReturnType<typeof livesBeside>> & { toFirst: number })[] = []
  for (let sales = SMALLEST; sales <= most; sales *= 10) {
    say(`${sales} sales`)
    const row = await inLifeWorld((world) => livesBeside(world, sales, seconds))
    rows.push({ ...row, toFirst: round(row.livesPerSecond / (rows[0] ?? row).livesPerSecond, 3) })
  }
  return {
    rows,
    chart: {
      kind: 'line',
      title: 'Full lives of a charge a second, by the sales that are there already',
      note: `Measured over ${seconds} s each, on a database of its own; all on one machine.`,
      xTitle: 'sales in the table',
      yTitle: 'lives a second',
      logarithmic: true,
      points: rows.map((row) => [row.sales, row.livesPerSecond] as const),
    },
  }
}

async function livesBeside(world: LifeWorld, sales: number, seconds: number) {
  const keys = world.target.shops.map(({ apiKey }) => apiKey)
  await loadSales(world.database.host, keys, sales, say)
  const violations = await findViolations(world.database)
  if (violations.length > 0) throw new Error(`the data fails the audit: ${JSON.stringify(violations)}`)
  say('audited')
  const loaded = await counts(world)
  await warmUp(world.target, seconds)
  const { tally, perSecond, slowestWindow } = await liveClosed(world.target, seconds, say)
  const { unpaid, undelivered, rulesBroken } = await missing(world, loaded)
  return {
    sales,
    kind: isTrial(seconds) ? 'trial' : 'measured',
    livesPerSecond: perSecond,
    slowestFiveSeconds: slowestWindow,
    checkoutP99Ms: tally.checkout.at(0.99),
    paymentP99Ms: tally.payment.at(0.99),
    gigabytes: await databaseSize(world),
    unpaid,
    undelivered,
    rulesBroken,
  }
}

async function databaseSize({ client }: LifeWorld): Promise<number> {
  const { rows } = await client.query<{ gb: string }>(
    'select round(pg_database_size(current_database()) / 1e9, 2)::text as gb',
  )
  return Number(rows[0]!.gb)
}

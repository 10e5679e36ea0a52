import { benchAccount } from './account.ts'
import { benchCreate } from './create.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchGrowth } from './growth.ts'
import { benchLifecycle } from './lifecycle.ts'
import { benchList } from './list.ts'
import { benchMemory } from './memory.ts'
import { benchOverload } from './overload.ts'
import { benchQuery } from './query.ts'
import { benchRecurrence } from './recurrence.ts'
import { type BenchReport, type BenchRow, report, withSpread } from './report.ts'
import { benchSplit } from './split.ts'
import { benchStart } from './start.ts'

type Bench = {
  /** What its numbers mean. */
  readonly takes: string
  run(size?: number, second?: number): Promise<readonly BenchRow[] | BenchReport>
}

/** Without a name, `npm run bench` runs all of them in this order. */
const benches: Readonly<Record<string, Bench>> = {
  create: { takes: '[runs]', run: async (runs = 3) => withSpread(await benchCreate(runs), 'processes') },
  lifecycle: { takes: '[seconds] [runs]', run: (seconds = 60, runs = 1) => benchLifecycle(seconds, runs) },
  overload: {
    takes: '[seconds] [connections]',
    run: (seconds = 20, connections = 3_000) => benchOverload(seconds, connections),
  },
  account: { takes: '[seconds a round] [rounds]', run: (seconds = 15, rounds = 3) => benchAccount(seconds, rounds) },
  query: { takes: '[checkouts a second]', run: (perSecond = 4_000) => benchQuery(perSecond) },
  deliveries: { takes: '[runs]', run: async (runs = 3) => withSpread(await benchDeliveries(runs), 'what') },
  split: { takes: '[runs]', run: async (runs = 1) => withSpread(await benchSplit(runs), 'what') },
  recurrence: { takes: '[charges]', run: (charges = 100_000) => benchRecurrence(charges) },
  memory: { takes: '[minutes]', run: (minutes = 10) => benchMemory(minutes) },
  growth: { takes: '[sales] [seconds]', run: (sales = 10_000_000, seconds = 15) => benchGrowth(sales, seconds) },
  list: { takes: '[sales]', run: (sales = 10_000_000) => benchList(sales) },
  start: { takes: '', run: () => benchStart() },
}

const [name, ...sizes] = process.argv.slice(2)
const [size, second] = sizes.map(Number)
const names = name === undefined ? Object.keys(benches) : [name]
for (const each of names) {
  const bench = benches[each]
  if (bench === undefined || sizes.some((text) => !(Number(text) > 0))) {
    const usage = Object.entries(benches).map(([known, { takes }]) => `  npm run bench ${known} ${takes}`)
    console.error(`there are:\n${usage.join('\n')}`)
    process.exitCode = 1
    break
  }
  console.log(`bench ${each}`)
  const result = await bench.run(size, second)
  report(each, 'rows' in result ? result : { rows: result })
}

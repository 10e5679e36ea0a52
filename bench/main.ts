import { benchCreate } from './create.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchLifecycle } from './lifecycle.ts'
import { benchList } from './list.ts'
import { benchQuery } from './query.ts'
import { benchRecurrence } from './recurrence.ts'
import { type BenchRow, report } from './report.ts'
import { benchSplit } from './split.ts'
import { benchStart } from './start.ts'

/**
 * `npm run bench [create [runs] | deliveries [runs] | lifecycle [seconds] | split [runs] | recurrence [charges] | query
 * [checkouts a second] | list [sales] | start]`; without a name: all of them.
 */
const benches: Readonly<Record<string, (size: number | undefined) => Promise<BenchRow[]>>> = {
  create: (runs = 3) => benchCreate(runs),
  deliveries: (runs = 3) => benchDeliveries(runs),
  lifecycle: (seconds = 60) => benchLifecycle({ seconds }),
  split: (runs = 1) => benchSplit(runs),
  recurrence: (charges = 100_000) => benchRecurrence(charges),
  query: (perSecond = 4_000) => benchQuery(perSecond),
  start: () => benchStart(),
  list: (sales = 10_000_000) => benchList(sales),
}

const [name, size] = process.argv.slice(2)
const names = name === undefined ? Object.keys(benches) : [name]
for (const each of names) {
  const bench = benches[each]
  if (bench === undefined) {
    console.error(`npm run bench ${each}: unknown; there are ${Object.keys(benches).join(', ')}`)
    process.exitCode = 1
    break
  }
  console.log(`bench ${each}`)
  report(each, await bench(size === undefined ? undefined : Number(size)))
}

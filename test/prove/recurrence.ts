import type { Instant } from '../../src/kernel/calendar.ts'
import { liveThrough } from './recurrence-day.ts'
import { planOf } from './recurrence-plan.ts'
import { judge, lookAt } from './recurrence-verdict.ts'
import { printTable, seededRandom } from './table.ts'

const SHOWN_MAX = 40

/**
 * kill -9 while the engine registers a day's charges, the payers' banks collect them and merchants are told, and while
 * other accounts live through days of failing and retrying: in the end everything is as it is on a day without kills. No
 * cycle is skipped or doubled, every charge is one sale, paid once, told once, and every cent is where it should be.
 */
export async function proveRecurrence(kills: number, seed: number): Promise<boolean> {
  const random = seededRandom(seed)
  const plan = planOf(kills, random, Date.now() as Instant)
  console.log(`A day of ${plan.charges.length} charges: ${kills} kills, seed ${seed}`)
  const quiet = await liveThrough(plan, undefined, lookAt)
  console.log(`  without kills: ${quiet.seconds} s`)
  const struck = await liveThrough(plan, random, lookAt)
  printTable(`Recurrences under kill -9, seed ${seed}`, struck.rows)
  const verdicts = [['without kills', quiet] as const, [`with ${kills} kills`, struck] as const].map(
    ([day, { seen, seconds }]) => ({ day, seconds, ...judge(plan, seen, quiet.seen) }),
  )
  printTable(
    'What came of the day',
    verdicts.flatMap(({ day, seconds, rows }) => rows.map((row) => ({ day, seconds, ...row }))),
  )
  const problems = verdicts.flatMap((verdict) => verdict.problems.map((problem) => `${verdict.day}: ${problem}`))
  for (const problem of problems.slice(0, SHOWN_MAX)) console.error(problem)
  if (problems.length > SHOWN_MAX) console.error(`and ${problems.length - SHOWN_MAX} more`)
  return problems.length === 0
}

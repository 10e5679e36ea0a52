import { inLifeWorld, isTrial, missing, say, warmUp } from './life-world.ts'
import { liveClosed } from './lives.ts'
import { round } from './load.ts'
import type { BenchRow } from './report.ts'
import { median } from './times.ts'

/**
 * One account that takes all the traffic, beside a hundred that share it: the same service, in turns, so that whatever
 * else the machine does meets both.
 */
export function benchAccount(seconds: number, rounds: number): Promise<BenchRow[]> {
  return inLifeWorld(async (world) => {
    const hundred = world.target
    const one = { ...hundred, shops: hundred.shops.slice(0, 1) }
    await warmUp(hundred, seconds)
    await warmUp(one, seconds)
    const rows: { round: number; hundredPerSecond: number; onePerSecond: number; ratio: number }[] = []
    for (let turn = 1; turn <= rounds; turn += 1) {
      const of100 = (await liveClosed(hundred, seconds)).perSecond
      const of1 = (await liveClosed(one, seconds)).perSecond
      rows.push({ round: turn, hundredPerSecond: of100, onePerSecond: of1, ratio: round(of1 / of100, 3) })
      say(`round ${turn} of ${rounds}: a hundred accounts ${of100} lives/s, one account ${of1} lives/s`)
    }
    const { unpaid, undelivered, rulesBroken } = await missing(world)
    const middle = (figure: 'hundredPerSecond' | 'onePerSecond' | 'ratio') =>
      round(median(rows.map((row) => row[figure])), 3)
    return [
      ...rows.map((row) => ({ ...row, unpaid: '', undelivered: '', rulesBroken: '' })),
      {
        round: isTrial(seconds) ? 'median (trial)' : 'median',
        hundredPerSecond: middle('hundredPerSecond'),
        onePerSecond: middle('onePerSecond'),
        ratio: middle('ratio'),
        unpaid,
        undelivered,
        rulesBroken,
      },
    ]
  })
}

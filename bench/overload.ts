import { processorsBetween, processorsUsed } from './cost.ts'
import { atMost, inLifeWorld, isTrial, type LifeWorld, missing, say, warmUp } from './life-world.ts'
import { liveClosed, type OpenLives, openLives, type Tally } from './lives.ts'
import { round } from './load.ts'
import type { BenchRow } from './report.ts'

const TIMES = 3
const MAXIMUM_SECONDS = 10
const BEFORE_SECONDS = 10
const FILL_SECONDS = 5
const AFTER_SECONDS = 15
const WELL_MS = 50

/**
 * Three times what the service can do is offered, and nobody waits for answers: how much of the maximum is still done, what
 * the rest is told, and how soon it is well again when the load falls to half. The connections must be more than the
 * service's queues hold, or the generator is held up before the service has to refuse anything.
 */
export function benchOverload(seconds: number, connections: number): Promise<BenchRow[]> {
  return inLifeWorld(async (world) => {
    await warmUp(world.target, seconds)
    const maximum = (await liveClosed(world.target, atMost(MAXIMUM_SECONDS, seconds), say)).perSecond
    const open = await openLives(world.target, connections)
    const half = Math.round(maximum / 2)
    say(`at most ${maximum} lives/s; before: ${half} lives/s`)
    const before = await open.offer(half, atMost(BEFORE_SECONDS, seconds))
    await open.answered()
    const beforeP99Ms = before.checkout.at(0.99)
    const { figures, tallies } = await overloaded(world, open, maximum * TIMES, seconds)
    const { after, ...recovery } = await recovered(open, half, {
      seconds: atMost(AFTER_SECONDS, seconds * 2),
      limitMs: round(Math.max(WELL_MS, 2 * beforeP99Ms)),
    })
    await open.answered()
    open.close()
    const left = await missing(world)
    const all = [before, ...tallies, ...after]
    const sum = (of: 'refusedCheckouts' | 'refusedPayments' | 'otherAnswers') =>
      all.reduce((total, each) => total + each[of], 0)
    if (sum('refusedCheckouts') + sum('refusedPayments') === 0)
      say(`nothing was refused: ${connections} connections did not fill the queues of the service`)
    return [
      {
        maximum: isTrial(seconds) ? `${maximum} (trial)` : maximum,
        connections,
        ...figures,
        goodputToMaximum: round(figures.goodput / maximum, 3),
        beforeP99Ms,
        ...recovery,
        // A sale whose payment was refused waits for the next try; whatever else is unpaid is lost.
        unpaid: left.unpaid,
        lost: left.unpaid - sum('refusedPayments') - sum('otherAnswers'),
        undelivered: left.undelivered,
        rulesBroken: left.rulesBroken,
      },
    ]
  })
}

/** First the queues fill, which lets nothing through; only then is it measured. */
async function overloaded({ service, receiver }: LifeWorld, open: OpenLives, rate: number, seconds: number) {
  say(`now ${rate} lives/s for ${seconds} s, after ${atMost(FILL_SECONDS, seconds)} s in which the queues fill`)
  const filling = await open.offer(rate, atMost(FILL_SECONDS, seconds), false)
  const used = () => processorsUsed(service, { generator: process.pid, receiver: receiver.pid })
  const [processors, began, early] = [used(), performance.now(), { ...filling }]
  const tally = await open.offer(rate, seconds, false)
  const passed = (performance.now() - began) / 1000
  const perSecond = (of: 'lives' | 'refusedCheckouts' | 'refusedPayments' | 'otherAnswers') =>
    Math.round((tally[of] + filling[of] - early[of]) / passed)
  const figures = {
    offered: rate,
    sent: Math.round((rate * seconds - tally.unsent) / passed),
    goodput: perSecond('lives'),
    refusedCheckouts: perSecond('refusedCheckouts'),
    refusedPayments: perSecond('refusedPayments'),
    otherAnswers: perSecond('otherAnswers'),
    acceptedP99Ms: tally.checkout.at(0.99),
    generatorLateP99Ms: tally.late.at(0.99),
    generatorBusy: round(processorsBetween(processors, used())['generator']! / passed),
  }
  say(`a second: ${figures.goodput} lives done, ${figures.refusedCheckouts} checkouts refused, ${figures.sent} sent`)
  return { figures, tallies: [filling, tally] }
}

/**
 * Second by second: from when on two in a row are well, with nothing refused. Those who wait for a connection count from
 * when they were due.
 */
async function recovered(open: OpenLives, rate: number, { seconds, limitMs }: { seconds: number; limitMs: number }) {
  say(`now ${rate} lives/s; well means under ${limitMs} ms`)
  const each: Tally[] = []
  for (let second = 0; second < seconds; second += 1) each.push(await open.offer(rate, 1))
  await open.answered()
  const p99s = each.map(({ checkout }) => checkout.at(0.99))
  say(`p99 of each second: ${p99s.join(', ')} ms`)
  const isWell = (tally: Tally | undefined) =>
    tally === undefined ||
    (tally.checkout.at(0.99) < limitMs && tally.refusedCheckouts + tally.refusedPayments + tally.otherAnswers === 0)
  const well = each.findIndex((tally, second) => isWell(tally) && isWell(each[second + 1]))
  return { after: each, wellUnderMs: limitMs, recoverySeconds: well < 0 ? `not within ${seconds}` : well }
}

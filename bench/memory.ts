import { setTimeout as wait } from 'node:timers/promises'
import { atMost, inLifeWorld, isTrial, missing, say, serviceMemoryMb, warmUp } from './life-world.ts'
import { liveClosed, openLives } from './lives.ts'
import { round } from './load.ts'
import type { BenchReport } from './report.ts'
import { median } from './times.ts'

const SHARE = 0.7
const MAXIMUM_SECONDS = 10
const EVERY_SECONDS = 10
const CONNECTIONS = 512

type Sample = { readonly minute: number; readonly pssMb: number }

/** The memory of the service while lives come in at a steady share of the most it can do. */
export function benchMemory(minutes: number): Promise<BenchReport> {
  const seconds = minutes * 60
  return inLifeWorld(async (world) => {
    await warmUp(world.target, seconds)
    const { perSecond } = await liveClosed(world.target, atMost(MAXIMUM_SECONDS, seconds))
    const rate = Math.round(perSecond * SHARE)
    say(`at most ${perSecond} lives/s; now ${rate} lives/s for ${minutes} minutes`)
    const open = await openLives(world.target, CONNECTIONS)
    const [samples, tally] = await Promise.all([
      sampled(() => serviceMemoryMb(world.service), seconds),
      open.offer(rate, seconds),
    ])
    await open.answered()
    open.close()
    const { unpaid, undelivered, rulesBroken } = await missing(world)
    const firstMinuteMb = median(samples.filter(({ minute }) => minute <= 1).map(({ pssMb }) => pssMb))
    const lastMinuteMb = median(samples.filter(({ minute }) => minute >= minutes - 1).map(({ pssMb }) => pssMb))
    const row = {
      minutes: isTrial(seconds) ? `${minutes} (trial)` : minutes,
      livesPerSecond: rate,
      lives: tally.lives,
      firstMinuteMb,
      lastMinuteMb,
      lastToFirst: round(lastMinuteMb / firstMinuteMb, 3),
      mbPerMinute: round(slope(samples)),
      mbPerMinuteOfSecondHalf: round(slope(samples.filter(({ minute }) => minute > minutes / 2))),
      mostMb: Math.max(...samples.map(({ pssMb }) => pssMb)),
      unpaid,
      undelivered,
      rulesBroken,
    }
    return {
      rows: [row],
      samples,
      chart: {
        kind: 'line',
        title: `Memory of the service at ${rate} lives a second`,
        note: 'PSS of all its processes, without the database.',
        xTitle: 'minutes',
        yTitle: 'MB',
        points: samples.map(({ minute, pssMb }) => [minute, pssMb] as const),
      },
    }
  })
}

async function sampled(read: () => number, seconds: number): Promise<Sample[]> {
  const began = performance.now()
  const samples: Sample[] = []
  const passed = () => (performance.now() - began) / 1000
  const every = Math.min(EVERY_SECONDS, seconds / 3)
  for (let due = 0; due <= seconds; due += every) {
    await wait(Math.max(0, due - passed()) * 1000)
    samples.push({ minute: round(passed() / 60), pssMb: read() })
    say(`${samples.at(-1)!.minute} min: ${samples.at(-1)!.pssMb} MB`)
  }
  return samples
}

/** Megabytes a minute by least squares: one high sample at an end must not decide it. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, each) => sum + of(each), 0) / samples.length
  const [x, y] = [mean(({ minute }) => minute), mean(({ pssMb }) => pssMb)]
  const width = mean(({ minute }) => (minute - x) ** 2)
  return width === 0 ? 0 : mean(({ minute, pssMb }) => (minute - x) * (pssMb - y)) / width
}

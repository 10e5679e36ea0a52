import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Spent, Told } from './isolation-process.ts'
import { ask, type ClaimCost, createWorld, setTheQueue, takeClaimCost, type World } from './isolation-world.ts'
import { printTable, type Row } from './table.ts'

const HANDED_OVER_RATE = 700
const CLAIMED_RATE = 300
const WARM_UP_SECONDS = 5
const SECONDS = 20
const ARRIVE_MS = 30_000
const DRIP_BACKLOG = 1_000
/** As many as last for a run. */
const CLOSED_MIN = 20_000
/** The aim: the healthy ones' 99th percentile with the bad ones, against that without. */
const RATIO_MAX = 1.1

type Times = { readonly p50: number; readonly p99: number }
type Run = {
  readonly withBad: boolean
  readonly handedOver: Times
  readonly claimed: Times
  readonly claimMs: number
  readonly lookMs: number
  readonly cost: ClaimCost
  readonly missing: number
  readonly badAttempts: number
  readonly row: Row
}

/**
 * Healthy accounts beside a black hole with a long backlog, a receiver that answers a byte a second and a closed port:
 * the same flow without them and with them, in turn, each with processes of its own.
 */
export async function proveIsolation(backlog: number, rounds: number): Promise<boolean> {
  const world = await createWorld({
    blackHole: backlog,
    drip: DRIP_BACKLOG,
    closed: Math.max(backlog / 10, CLOSED_MIN),
  })
  const runs: Run[] = []
  try {
    for (let round = 1; round <= rounds; round += 1)
      for (const withBad of [false, true]) {
        runs.push(await measure(world, withBad, round))
        console.log(`  ${JSON.stringify(runs.at(-1)!.row)}`)
      }
  } finally {
    await world.close()
  }
  printTable(
    `Commit to arrival at healthy receivers, ms; ${backlog} wait for the black hole`,
    runs.map(({ row }) => row),
  )
  return judge(runs)
}

async function measure(world: World, withBad: boolean, round: number): Promise<Run> {
  await setTheQueue(world, withBad)
  await ask(world.receiver, { type: 'forget' })
  const [deliverer, writer] = [await world.startProcess(true), await world.startProcess(false)]
  try {
    await flow(world, deliverer, writer, WARM_UP_SECONDS)
    await ask(deliverer, { type: 'reset' })
    await takeClaimCost(world)
    const badBefore = await attemptsOfBad(world)
    const told = await flow(world, deliverer, writer, SECONDS)
    const spent = await ask<Spent>(deliverer, { type: 'report' })
    const cost = await takeClaimCost(world)
    const badAttempts = (await attemptsOfBad(world)) - badBefore
    const arrivals = await arrivalsOf(world, [...told.handedOver.commits, ...told.claimed.commits])
    return runOf(round, withBad, told, arrivals, spent, cost, badAttempts)
  } finally {
    for (const child of [deliverer, writer]) await ended(child)
  }
}

/** Half of the healthy accounts are handed over by the process that delivers, half are written by one that does not. */
async function flow({ healthy, url }: World, deliverer: ChildProcess, writer: ChildProcess, seconds: number) {
  const half = healthy.length / 2
  const tell = (child: ChildProcess, accounts: readonly number[], perSecond: number) =>
    ask<Told>(child, { type: 'tell', accounts, url, perSecond, seconds })
  const [handedOver, claimed] = await Promise.all([
    tell(deliverer, healthy.slice(0, half), HANDED_OVER_RATE),
    tell(writer, healthy.slice(half), CLAIMED_RATE),
  ])
  return { handedOver, claimed }
}

async function attemptsOfBad({ client, bad }: World): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select count(*) as n from notification_attempt where account_id = any ($1::bigint[])',
    [bad],
  )
  return rows[0]!.n
}

/** Late ones get the time to come: only then is one missing. */
async function arrivalsOf({ receiver }: World, commits: Told['commits']): Promise<Map<string, number>> {
  for (const began = performance.now(); ; await wait(200)) {
    const report = await ask<{ arrivals: [string, number][] }>(receiver, { type: 'report' })
    const arrivals = new Map(report.arrivals)
    if (commits.every(([id]) => arrivals.has(id)) || performance.now() - began > ARRIVE_MS) return arrivals
  }
}

function runOf(
  round: number,
  withBad: boolean,
  told: { readonly handedOver: Told; readonly claimed: Told },
  arrivals: ReadonlyMap<string, number>,
  spent: Spent,
  cost: ClaimCost,
  badAttempts: number,
): Run {
  const [handedOver, claimed] = [timesOf(told.handedOver, arrivals), timesOf(told.claimed, arrivals)]
  const commits = [...told.handedOver.commits, ...told.claimed.commits]
  const missing = commits.filter(([id]) => !arrivals.has(id)).length
  const [claimMs, lookMs] = [spent.claimMs / spent.claims, spent.lookMs / spent.looks]
  const row = {
    round,
    run: withBad ? 'with' : 'without',
    'handed over p50': shown(handedOver.p50),
    'handed over p99': shown(handedOver.p99),
    'claimed p50': shown(claimed.p50),
    'claimed p99': shown(claimed.p99),
    'claims a second': Math.round(spent.claims / SECONDS),
    'mean claim': shown(claimMs),
    'in the server': shown(cost.micros / 1000),
    'pages a claim': cost.pages,
    'looks a second': Math.round(spent.looks / SECONDS),
    'mean look': shown(lookMs),
    'attempts at bad ones': badAttempts,
    'CPU %': Math.round(spent.cpuMs / SECONDS / 10),
    missing,
  }
  return { withBad, handedOver, claimed, claimMs, lookMs, cost, missing, badAttempts, row }
}

function timesOf({ commits }: Told, arrivals: ReadonlyMap<string, number>): Times {
  const times = commits
    .map(([id, at]) => Math.max(0, (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - at))
    .sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  return { p50: at(0.5), p99: at(0.99) }
}

const shown = (ms: number): string => ms.toFixed(2)

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2
}

const figures: readonly (readonly [name: string, of: (run: Run) => number, bound: boolean])[] = [
  ['handed over p50', (run) => run.handedOver.p50, false],
  ['handed over p99', (run) => run.handedOver.p99, true],
  ['claimed p50', (run) => run.claimed.p50, false],
  ['claimed p99', (run) => run.claimed.p99, true],
  ['mean claim', (run) => run.claimMs, false],
  ['mean claim in the server', (run) => run.cost.micros / 1000, false],
  ['mean look', (run) => run.lookMs, false],
]

/** Medians over the rounds: one run on a shared machine says little. */
function judge(runs: readonly Run[]): boolean {
  const rows = figures.map(([name, of, bound]) => {
    const [without, withBad] = [false, true].map((bad) => median(runs.filter((run) => run.withBad === bad).map(of)))
    return { name, without: without!, with: withBad!, ratio: withBad! / without!, bound }
  })
  printTable(
    'Medians over the rounds, ms',
    rows.map((row) => ({
      what: row.name,
      without: shown(row.without),
      with: shown(row.with),
      ratio: row.ratio.toFixed(2),
      aim: row.bound ? `at most ${RATIO_MAX.toFixed(2)}` : '',
    })),
  )
  const kept = rows.every(({ bound, ratio }) => !bound || ratio <= RATIO_MAX)
  return kept && runs.every(({ missing, withBad, badAttempts }) => missing === 0 && (!withBad || badAttempts > 0))
}

/** Its work is thrown away with the queue, so it need not drain. */
function ended(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  child.kill('SIGKILL')
  return new Promise((done) => child.once('exit', done))
}

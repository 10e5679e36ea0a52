import { setTimeout as wait } from 'node:timers/promises'
import { ask, postmasterOf, servicePids } from './scene.ts'
import { printTable, type Row, seededRandom } from './table.ts'
import { type Payers, preparePayments, startPaying } from './webhook-payer.ts'
import type { Manner } from './webhook-receiver.ts'
import { type Done, type Seen, verdictOf } from './webhook-verdict.ts'
import {
  blocked,
  createWorld,
  cutConnections,
  hold,
  inFlightAt,
  openShops,
  PORT,
  type Shop,
  untilGone,
  type World,
} from './webhook-world.ts'

/** Paid together in the cases that stop at a named point. */
const TOGETHER = 16
const LANES = 24
const PAUSE_MS = 10
/** By then a stop has let go of everything that does not wait for the database. */
const STOP_MS = 1_000
const DELIVERED_MS = 180_000

type Stage = {
  readonly world: World
  readonly path: string
  readonly processes: number
  readonly shops: readonly Shop[]
  readonly random: () => number
}
type Case = {
  readonly name: string
  readonly processes: number
  readonly manner: Manner
  /** The receiver never accepts, so every series ends after its six attempts. */
  readonly refused?: boolean
  readonly run: (stage: Stage) => Promise<Done>
  /** What must be true beyond what is true of every case. */
  readonly also?: (seen: Seen, done: Done) => readonly (readonly [said: string, holds: boolean])[]
}

/**
 * Crash matrix of webhook delivery: the service, its database and their connections die at named points and at random
 * ones. Every payment acknowledged is told, every call is explained by an attempt, and nothing is told twice but what
 * was on its way at a kill. `only` picks the cases whose name has it.
 */
export async function proveWebhooks(cycles: number, seed: number, only = ''): Promise<boolean> {
  const world = await createWorld()
  const rows: Row[] = []
  const problems: string[] = []
  try {
    for (const [index, one] of [...namedPoints, ...randomMoments(cycles)].entries()) {
      if (!one.name.includes(only)) continue
      const began = performance.now()
      const { row, faults } = await runCase(world, one, seededRandom(seed + index))
      rows.push(row)
      problems.push(...faults.map((fault) => `${one.name}: ${fault}`))
      console.log(`  ${one.name}: ${Math.round((performance.now() - began) / 1000)} s, ${faults.length} faults`)
    }
  } finally {
    await world.close()
  }
  printTable(`Webhook crash matrix, seed ${seed}`, rows)
  for (const problem of problems.slice(0, 40)) console.error(problem)
  return problems.length === 0
}

let cases = 0

async function runCase(world: World, one: Case, random: () => number): Promise<{ row: Row; faults: string[] }> {
  const path = `/case-${++cases}`
  await world.start(one.processes)
  await world.receiver.behave(path, one.manner)
  const shops = await openShops(world, 4, path)
  const done = await one.run({ world, path, processes: one.processes, shops, random })
  await untilDelivered(world, shops)
  const seen = await verdictOf(world, path, shops, done, one.refused ?? false)
  await world.service.stop()
  const broken = (one.also?.(seen, done) ?? []).filter(([, holds]) => !holds).map(([said]) => `not so: ${said}`)
  return { row: rowOf(one, done, seen), faults: [...seen.problems, ...broken] }
}

const rowOf = ({ name, processes }: Case, { kills, inFlight }: Done, seen: Seen): Row => ({
  case: name,
  processes,
  kills,
  'payments acknowledged': seen.payments,
  notifications: seen.notifications,
  calls: seen.calls,
  'attempt rows': seen.rows,
  'lost rows': seen.lostRows,
  'of those arrived': seen.lostThatArrived,
  'in flight at kills': inFlight,
  doubles: seen.doubles,
  'lost notifications': seen.lost,
  audit: seen.auditBroken === 0 ? 'holds' : `${seen.auditBroken} broken`,
})

/** Leases of the dead lapse, retries come due: in the end nothing of the case waits. */
async function untilDelivered({ folder }: World, shops: readonly Shop[]): Promise<void> {
  for (const began = performance.now(); performance.now() - began < DELIVERED_MS; await wait(250)) {
    const [row] = await ask<{ n: number }>(
      folder,
      'select count(*) as n from notification_queue where account_id = any ($1::bigint[])',
      [shops.map(({ id }) => id)],
    )
    if (row!.n === 0) return
  }
  throw new Error(`notifications still wait after ${DELIVERED_MS / 1000} s`)
}

const holdBook = ({ folder }: World, shop: Shop) =>
  hold(folder, 'select 1 from book where account_id = $1 for update', [shop.id])

function killService({ service }: World): number {
  for (const pid of servicePids(service)) process.kill(pid, 'SIGKILL')
  return Date.now()
}

/** The paying statement waits for the book when its process dies. */
async function killBeforeCommit({ world, shops }: Stage, commits: boolean): Promise<Done> {
  const { acknowledged, pay } = await preparePayments(PORT, shops[0]!, TOGETHER)
  const book = await holdBook(world, shops[0]!)
  const paid = pay()
  await blocked(world.folder)
  const killedAt = killService(world)
  if (!commits) await cutConnections(world.folder)
  await book.letGo()
  const inFlight = await inFlightAt(world.folder, killedAt)
  await paid
  return { acknowledged, kills: 1, inFlight }
}

/** Everything is committed and acknowledged; the credentials of the calls cannot be read. */
async function killBeforeCall({ world, shops }: Stage): Promise<Done> {
  const { acknowledged, pay } = await preparePayments(PORT, shops[0]!, TOGETHER)
  const book = await holdBook(world, shops[0]!)
  const paid = pay()
  await blocked(world.folder)
  const credentials = await hold(world.folder, 'lock table credential in access exclusive mode')
  await book.letGo()
  await paid
  await blocked(world.folder)
  const killedAt = killService(world)
  await credentials.letGo()
  return { acknowledged, kills: 1, inFlight: await inFlightAt(world.folder, killedAt) }
}

/** The receiver kills: when the calls have arrived, or when its answers have left. */
async function killByReceiver({ world, path, shops }: Stage, answer: boolean): Promise<Done> {
  const { acknowledged, pay } = await preparePayments(PORT, shops[0]!, TOGETHER)
  const kill = servicePids(world.service)
  await world.receiver.behave(path, { how: 'gather', count: TOGETHER, answer, kill })
  const gathered = world.receiver.gathered(path)
  const paid = pay()
  await gathered
  const inFlight = await inFlightAt(world.folder, Date.now())
  await paid
  return { acknowledged, kills: 1, inFlight }
}

/** The answers are in, and none of them can be written down. */
async function killBeforeRecord({ world, path, shops }: Stage): Promise<Done> {
  const { acknowledged, pay } = await preparePayments(PORT, shops[0]!, TOGETHER)
  await world.receiver.behave(path, { how: 'gather', count: TOGETHER, answer: true, kill: [] })
  const gathered = world.receiver.gathered(path)
  const attempts = await hold(world.folder, 'lock table notification_attempt in share mode')
  await pay()
  await gathered
  await blocked(world.folder)
  const killedAt = killService(world)
  await cutConnections(world.folder)
  await attempts.letGo()
  return { acknowledged, kills: 1, inFlight: await inFlightAt(world.folder, killedAt) }
}

/** A clean stop lets the paying statement end, and nobody is left to make its calls. */
async function stopBeforeCommit({ world, shops, processes }: Stage): Promise<Done> {
  const { acknowledged, pay } = await preparePayments(PORT, shops[0]!, TOGETHER)
  const book = await holdBook(world, shops[0]!)
  const paid = pay()
  await blocked(world.folder)
  const stopped = world.service.stop()
  await wait(STOP_MS)
  await book.letGo()
  await stopped
  await world.start(processes)
  await paid
  return { acknowledged, kills: 1, inFlight: 0 }
}

const atOnce: Manner = { how: 'accept', delayMs: 0 }
const soon: Manner = { how: 'accept', delayMs: 40 }

const namedPoints: readonly Case[] = [
  {
    name: 'before the commit, which fails',
    processes: 1,
    manner: atOnce,
    run: (stage) => killBeforeCommit(stage, false),
    also: (seen) => [
      ['one call each', seen.calls === TOGETHER],
      ['no row is lost', seen.lostRows === 0],
    ],
  },
  {
    name: 'before the commit, which comes after the death',
    processes: 1,
    manner: atOnce,
    run: (stage) => killBeforeCommit(stage, true),
    also: (seen, { inFlight }) => [
      ['one call each', seen.calls === TOGETHER],
      ['what was committed has a lost row', seen.lostRows === inFlight && inFlight > 0],
    ],
  },
  {
    name: 'after the commit, before the call',
    processes: 1,
    manner: atOnce,
    run: killBeforeCall,
    also: (seen) => [
      ['one call each', seen.calls === TOGETHER],
      ['one lost row each', seen.lostRows === TOGETHER],
    ],
  },
  {
    name: 'during the call',
    processes: 1,
    manner: atOnce,
    run: (stage) => killByReceiver(stage, false),
    also: (seen) => [
      ['two calls each', seen.calls === 2 * TOGETHER],
      ['one lost row each, and it had arrived', seen.lostRows === TOGETHER && seen.lostThatArrived === TOGETHER],
      ['none was accepted twice', seen.doubles === 0],
    ],
  },
  {
    name: 'after the 200, before the record',
    processes: 1,
    manner: atOnce,
    run: killBeforeRecord,
    also: (seen) => [
      ['two calls each', seen.calls === 2 * TOGETHER],
      ['one lost row each, and it had arrived', seen.lostRows === TOGETHER && seen.lostThatArrived === TOGETHER],
      ['each was accepted twice', seen.doubles === TOGETHER],
    ],
  },
  {
    name: 'at the 200',
    processes: 1,
    manner: atOnce,
    run: (stage) => killByReceiver(stage, true),
  },
  {
    name: 'clean stop before the commit',
    processes: 1,
    manner: atOnce,
    run: stopBeforeCommit,
    also: (seen) => [
      ['one call each', seen.calls === TOGETHER],
      ['no row is lost', seen.lostRows === 0],
    ],
  },
]

const blows = ['service process', 'supervisor', 'database server', 'connections', 'clean stop'] as const
type Blow = (typeof blows)[number]

/** Answers when somebody died who may have had calls on their way, and 0 when nobody did. */
async function strike(blow: Blow, { world, processes, random }: Stage): Promise<number> {
  const { service, folder } = world
  const pids = servicePids(service)
  if (blow === 'database server') process.kill(postmasterOf(folder), 'SIGKILL')
  else if (blow === 'connections') await cutConnections(folder)
  else if (blow === 'clean stop') {
    await service.stop()
    await world.start(processes)
  } else if (blow === 'supervisor') {
    process.kill(service.pid, 'SIGKILL')
    await untilGone([service.pid, ...pids])
    const killedAt = Date.now()
    await world.start(processes)
    return killedAt
  } else {
    const victim = pids[Math.floor(random() * pids.length)]
    if (victim === undefined) return 0
    process.kill(victim, 'SIGKILL')
    return Date.now()
  }
  return 0
}

async function strikeUnderLoad(stage: Stage, cycles: number, of: readonly Blow[]): Promise<Done> {
  const { random } = stage
  const payers = startPaying(PORT, stage.shops, LANES, PAUSE_MS)
  let inFlight = 0
  let killedBefore = 0
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    await wait(300 + random() * 900)
    const before = payers.acknowledged.size
    const killedAt = await strike(of[Math.floor(random() * of.length)]!, stage)
    if (killedAt > 0) {
      inFlight += await inFlightAt(stage.world.folder, killedAt, killedBefore)
      killedBefore = killedAt
    }
    await untilServing(payers, before)
  }
  await payers.stop()
  return { acknowledged: payers.acknowledged, kills: cycles, inFlight }
}

async function untilServing({ acknowledged }: Payers, before: number): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (acknowledged.size > before + LANES) return
    await wait(50)
  }
  throw new Error('the service did not come back within 30 s')
}

function randomMoments(cycles: number): readonly Case[] {
  const run = (of: readonly Blow[]) => (stage: Stage) => strikeUnderLoad(stage, cycles, of)
  const explained = (seen: Seen, { inFlight }: Done) =>
    [['every lost row was on its way at a kill', seen.lostRows <= inFlight]] as const
  return [
    { name: 'service process', processes: 2, manner: soon, run: run(['service process']), also: explained },
    { name: 'supervisor', processes: 1, manner: soon, run: run(['supervisor']), also: explained },
    { name: 'database server', processes: 2, manner: soon, run: run(['database server']) },
    { name: 'connections cut', processes: 1, manner: soon, run: run(['connections']) },
    { name: 'clean stop', processes: 2, manner: soon, run: run(['clean stop']), also: explained },
    { name: 'everything, moody receiver', processes: 2, manner: { how: 'moody', seed: 1 }, run: run(blows) },
    {
      name: 'service process, receiver refuses',
      processes: 1,
      manner: { how: 'refuse' },
      refused: true,
      run: run(['service process']),
      also: (seen) => [['six attempts each', seen.rows === 6 * seen.notifications]],
    },
  ]
}

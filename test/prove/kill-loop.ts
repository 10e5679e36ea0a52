import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningService, startService } from '../harness/running-service.ts'
import { followLines } from './lines.ts'
import { backendPids, postmasterOf, servicePids } from './scene.ts'
import { printTable, type Row, seededRandom } from './table.ts'
import { journalOf, witnessArguments } from './witness.ts'

/** `committing backend`: the connection is lost at a commit, and nobody knows on which side of it. */
export type Target =
  | 'supervisor'
  | 'service process'
  | 'all processes'
  | 'database server'
  | 'database backend'
  | 'committing backend'

export type Verdict = {
  readonly tables: readonly (readonly [title: string, rows: readonly Row[]])[]
  readonly problems: readonly string[]
}

/** kill -9 at random moments while a witness uses the service; in the end what it was told is set against what is there. */
export type KillProof<Accounts, Entry> = {
  readonly title: string
  readonly port: number
  readonly env: Record<string, string>
  readonly targets: readonly Target[]
  /** Between two kills, at least and at most. */
  readonly pauseMs: readonly [number, number]
  /** The witness's file, and how many clients it is. */
  readonly witness: string
  readonly lanes: number
  /** Which lines of its journal say that the service answered. */
  readonly answers?: (entry: Entry) => boolean
  readonly prepare: () => Promise<Accounts>
  /** What the dead left behind. */
  readonly look?: (folder: string, killedAt: number) => Promise<Row>
  /** After the witness has ended; the service still runs. */
  readonly judge: (folder: string, accounts: Accounts, entries: readonly Entry[]) => Promise<Verdict>
}

const SHOWN_MAX = 40

export async function proveUnderKills<Accounts, Entry>(
  proof: KillProof<Accounts, Entry>,
  cycles: number,
  seed: number,
): Promise<boolean> {
  const { port, lanes, answers = () => true } = proof
  const random = seededRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'quitado-prove-'))
  const start = () => startService({ port, folder, env: proof.env })
  const journal = followLines<Entry>(journalOf(folder))
  const entries: Entry[] = []
  let answered = 0
  const read = () => {
    const fresh = journal.fresh()
    for (const entry of fresh) entries.push(entry)
    answered += fresh.filter(answers).length
    return answered
  }
  console.log(`${proof.title}: ${cycles} kills, seed ${seed}`)
  let service = await start()
  let witness: ChildProcess | undefined
  try {
    const accounts = await proof.prepare()
    const file = join(import.meta.dirname, proof.witness)
    witness = fork(file, witnessArguments(port, folder, accounts, lanes, seed))
    const ended = new Promise<number | null>((done) => witness!.once('exit', done))
    const rows: Row[] = []
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      const [least, most] = proof.pauseMs
      await wait(least + random() * (most - least))
      const target = proof.targets[Math.floor(random() * proof.targets.length)]!
      const killedAt = Date.now()
      const struck = await kill(target, { service, folder, random, start })
      service = struck.service
      const before = read()
      // Every client may have had its answer before the kill; one answer more is of after it.
      await untilAnswering(() => read() > before + lanes, witness)
      const again = Date.now() - killedAt
      const left = (await proof.look?.(folder, killedAt)) ?? {}
      rows.push({
        cycle,
        killed: struck.killed,
        'answers until then': before,
        'serving again after (ms)': again,
        ...left,
      })
      console.log(`  ${cycle}/${cycles} killed: ${struck.killed}`)
    }
    witness.send('stop')
    const code = await ended
    if (code !== 0) throw new Error(`the witness ended with ${code}`)
    read()
    const { tables, problems } = await proof.judge(folder, accounts, entries)
    printTable(`${proof.title}, seed ${seed}`, rows)
    for (const [title, its] of tables) printTable(title, its)
    for (const problem of problems.slice(0, SHOWN_MAX)) console.error(problem)
    if (problems.length > SHOWN_MAX) console.error(`and ${problems.length - SHOWN_MAX} more`)
    return problems.length === 0
  } finally {
    witness?.kill('SIGKILL')
    await service.stop()
    journal.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Scene = {
  readonly service: RunningService
  readonly folder: string
  readonly random: () => number
  readonly start: () => Promise<RunningService>
}

/** Answers who it was: where nobody commits, any backend goes. */
export async function kill(target: Target, scene: Scene): Promise<{ service: RunningService; killed: Target }> {
  const { service, folder, random, start } = scene
  if (target === 'supervisor') {
    process.kill(service.pid, 'SIGKILL')
    await service.gone
    return { service: await start(), killed: target }
  }
  if (target === 'committing backend') {
    const victim = committing(backendPids(folder))
    if (victim === undefined) return kill('database backend', scene)
    process.kill(victim, 'SIGKILL')
    return { service, killed: target }
  }
  const oneOf = (pids: number[]) => pids.slice(Math.floor(random() * pids.length)).slice(0, 1)
  const victims = {
    'service process': () => oneOf(servicePids(service)),
    'all processes': () => servicePids(service),
    'database server': () => [postmasterOf(folder)],
    'database backend': () => oneOf(backendPids(folder)),
  }[target]()
  for (const pid of victims) process.kill(pid, 'SIGKILL')
  return { service, killed: target }
}

const LOOK_MS = 1_000

/** Looked for without a pause: a commit takes a few milliseconds, and the title of its process says so. */
function committing(pids: readonly number[]): number | undefined {
  for (const began = performance.now(); performance.now() - began < LOOK_MS; )
    for (const pid of pids) if (titleOf(pid).includes(' COMMIT')) return pid
  return undefined
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

async function untilAnswering(answers: () => boolean, witness: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (answers()) return
    if (witness.exitCode !== null) throw new Error('the witness ended')
    await wait(50)
  }
  throw new Error('the service did not come back within 30 s')
}

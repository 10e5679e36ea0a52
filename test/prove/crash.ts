import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findViolations } from '../../src/audit.ts'
import { type Connection, clientConfig } from '../../src/platform/database/database.ts'
import { attachEmbeddedPostgres } from '../../src/platform/postgres-embedded/index.ts'
import { childrenOf, type RunningService, registerAccounts, startService } from '../harness/running-service.ts'
import { printTable, type Row, seededRandom } from './table.ts'

const PORT = 18_181
const LANES = 24
const targets = ['supervisor', 'service process', 'database server', 'database backend'] as const
type Target = (typeof targets)[number]

/** kill -9 of the service and of the database at random moments under load; nothing acknowledged may be lost or doubled. */
export async function proveCrash(cycles: number, seed: number): Promise<boolean> {
  const random = seededRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'quitado-crash-'))
  const journal = join(folder, 'acknowledged.jsonl')
  writeFileSync(journal, '')
  const start = () => startService({ port: PORT, folder, env: { LOG_LEVEL: 'warn' } })
  let service = await start()
  const accounts = await registerAccounts(PORT, 8)
  const client = fork(join(import.meta.dirname, 'crash-client.ts'), [
    String(PORT),
    journal,
    JSON.stringify(accounts),
    String(LANES),
  ])
  const rows: Row[] = []
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    await wait(300 + random() * 1_500)
    const target = targets[Math.floor(random() * targets.length)]!
    const before = acknowledged(journal).length
    const began = performance.now()
    service = await crash(target, service, folder, start)
    await serving(before, journal, client)
    rows.push({
      cycle,
      killed: target,
      'acknowledged before': before,
      'serving again after (ms)': Math.round(performance.now() - began),
    })
    console.log(`  ${cycle}/${cycles} killed the ${target}`)
  }
  client.send('stop')
  await new Promise((resolve) => client.once('exit', resolve))
  const verdict = await verify(folder, journal)
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
  printTable(`Crash loop, seed ${seed}`, rows)
  printTable('What was acknowledged, against what is there', [verdict.row])
  for (const problem of verdict.problems.slice(0, 20)) console.error(problem)
  return verdict.problems.length === 0
}

async function crash(target: Target, service: RunningService, folder: string, start: () => Promise<RunningService>) {
  const postmaster = () => Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  if (target === 'supervisor') {
    process.kill(service.pid, 'SIGKILL')
    await service.gone
    return start()
  }
  const victim = {
    'service process': () => childrenOf(service.pid).find((child) => child.command.includes('process.ts'))?.pid,
    'database server': postmaster,
    'database backend': () => childrenOf(postmaster()).find((child) => child.command.includes('quitado'))?.pid,
  }[target]()
  if (victim !== undefined) process.kill(victim, 'SIGKILL')
  return service
}

/** Serving again: the witness got an answer to something new. */
async function serving(before: number, journal: string, client: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (acknowledged(journal).length > before + LANES) return
    if (client.exitCode !== null) throw new Error('the witness ended')
    await wait(50)
  }
  throw new Error('the service did not come back within 30 s')
}

type Entry = { created?: string; reference?: string; paid?: string; endToEnd?: string }
const acknowledged = (journal: string): Entry[] =>
  readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line))

async function verify(folder: string, journal: string): Promise<{ row: Row; problems: string[] }> {
  const connection: Connection = { host: attachEmbeddedPostgres(folder)!.socketFolder, database: 'quitado' }
  const client = new pg.Client(clientConfig(connection))
  await client.connect()
  const sales = await client.query<{ id: string; reference_code: string; state: string; end_to_end: string | null }>(
    'select id, reference_code, state, end_to_end from sale',
  )
  const reversals = await client.query('select id from reversal')
  await client.end()
  const entries = acknowledged(journal)
  const byId = new Map(sales.rows.map((sale) => [sale.id, sale]))
  const references = new Set(sales.rows.map((sale) => sale.reference_code))
  const lost = entries
    .filter(({ created }) => created && !byId.has(created))
    .map((entry) => `lost sale ${JSON.stringify(entry)}`)
  const unpaid = entries
    .filter(
      ({ paid, endToEnd }) => paid && (byId.get(paid)?.state !== 'PAID' || byId.get(paid)?.end_to_end !== endToEnd),
    )
    .map((entry) => `lost payment ${JSON.stringify(entry)}`)
  const doubled = sales.rows.length - references.size
  const violations = await findViolations(connection)
  const problems = [
    ...lost,
    ...unpaid,
    ...(doubled > 0 ? [`${doubled} sales were created twice`] : []),
    ...reversals.rows.map((row) => `a payment was booked twice: reversal ${row.id}`),
    ...violations.map(({ check, count }) => `audit: ${check} (${count})`),
  ]
  const row = {
    'sales acknowledged': entries.filter(({ created }) => created).length,
    'payments acknowledged': entries.filter(({ paid }) => paid).length,
    'sales there': sales.rows.length,
    lost: lost.length + unpaid.length,
    doubled: doubled + reversals.rows.length,
    'audit rules broken': violations.length,
  }
  return { row, problems }
}

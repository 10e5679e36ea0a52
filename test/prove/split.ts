import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type Connection, clientConfig } from '../../src/platform/database/database.ts'
import { attachEmbeddedPostgres } from '../../src/platform/postgres-embedded/index.ts'
import { apiClient } from '../harness/api-client.ts'
import { startReceiver } from '../harness/receiver.ts'
import { childrenOf, credentialHeaders, type RunningService, startService } from '../harness/running-service.ts'
import { verifyShares } from './split-books.ts'
import type { Shared, Sharer } from './split-witness.ts'
import { printTable, type Row, seededRandom } from './table.ts'

const PORT = 18_282
const ACCOUNTS = 24
const LANES = 24
const LEASE_MS = 30_000
const OPERATOR_TOKEN = 'operator-token-of-the-proof'
const env = { LOG_LEVEL: 'warn', QUITADO_PROCESSES: '2', QUITADO_OPERATOR_TOKEN: OPERATOR_TOKEN }
const targets = [
  'service process',
  'service process',
  'both processes',
  'supervisor',
  'database server',
  'database backend',
] as const
type Target = (typeof targets)[number]

/**
 * kill -9 at random moments while shared sales are paid: every leg of a paid sale is settled in the end, credited once and
 * told once, whatever died while it was on its way.
 */
export async function proveSplit(cycles: number, seed: number): Promise<boolean> {
  const random = seededRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'quitado-split-'))
  const journal = join(folder, 'acknowledged.jsonl')
  writeFileSync(journal, '')
  const start = () => startService({ port: PORT, folder, env })
  const receiver = await startReceiver()
  let service = await start()
  let witness: ChildProcess | undefined
  try {
    const accounts = await prepareAccounts(receiver.url)
    witness = fork(join(import.meta.dirname, 'split-witness.ts'), [
      String(PORT),
      journal,
      JSON.stringify(accounts),
      String(LANES),
      String(seed),
    ])
    const rows: Row[] = []
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      await wait(500 + random() * 2_000)
      const target = targets[Math.floor(random() * targets.length)]!
      const before = acknowledged(journal).length
      const began = performance.now()
      const killedAt = Date.now()
      service = await kill(target, { service, folder, random, start })
      await serving(before, journal, witness)
      const again = Math.round(performance.now() - began)
      const left = await leftBehind(folder, killedAt)
      rows.push({ cycle, killed: target, 'sales paid before': before, 'serving again after (ms)': again, ...left })
      console.log(`  ${cycle}/${cycles} killed: ${target}`)
    }
    witness.send('stop')
    await new Promise((resolve) => witness!.once('exit', resolve))
    const seconds = await untilNoneIsUnderWay(folder)
    const verdict = await verifyShares(connectionOf(folder), accounts, acknowledged(journal))
    printTable(`Settlement under kill -9, seed ${seed}`, rows)
    printTable(`The books ${seconds} s after the last payment`, [verdict.row])
    for (const problem of verdict.problems.slice(0, 20)) console.error(problem)
    return verdict.problems.length === 0
  } finally {
    witness?.kill('SIGKILL')
    await service.stop()
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Everybody is a recipient of everybody else; every second one has an address. */
async function prepareAccounts(url: string): Promise<Sharer[]> {
  const api = apiClient(PORT)
  const operator = api.as({ authorization: `Bearer ${OPERATOR_TOKEN}` })
  const accounts: Sharer[] = []
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const { body } = await api.post('/v1.1/sandbox/register', { name: `Loja ${index}`, email: `l${index}@example.com` })
    const account = { id: body.account.id, ...body.credentials } as Sharer
    const own = api.as(credentialHeaders(account))
    await own.put('/v1.1/sandbox/account', { splitEnabled: true })
    if (index % 2 === 0) await own.put('/v1.1/account/notifications', { payment: { url } })
    accounts.push(account)
  }
  for (const parent of accounts)
    for (const { id } of accounts.filter((one) => one !== parent)) {
      const linked = await operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId: id })
      if (linked.http !== 201) throw new Error(`a recipient could not be linked: ${linked.text}`)
    }
  return accounts
}

type Scene = {
  readonly service: RunningService
  readonly folder: string
  readonly random: () => number
  readonly start: () => Promise<RunningService>
}

async function kill(target: Target, { service, folder, random, start }: Scene): Promise<RunningService> {
  if (target === 'supervisor') {
    process.kill(service.pid, 'SIGKILL')
    await service.gone
    return start()
  }
  const postmaster = () => Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const processes = () => childrenOf(service.pid).filter(({ command }) => command.includes('process.ts'))
  const backends = () => childrenOf(postmaster()).filter(({ command }) => command.includes('quitado'))
  const oneOf = (found: { pid: number }[]) => found.slice(Math.floor(random() * found.length)).slice(0, 1)
  const victims = {
    'service process': () => oneOf(processes()),
    'both processes': processes,
    'database server': () => [{ pid: postmaster() }],
    'database backend': () => oneOf(backends()),
  }[target]()
  for (const { pid } of victims) process.kill(pid, 'SIGKILL')
  return service
}

/** Serving again: the witness was told of new payments. */
async function serving(before: number, journal: string, witness: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (acknowledged(journal).length > before + LANES) return
    if (witness.exitCode !== null) throw new Error('the witness ended')
    await wait(50)
  }
  throw new Error('the service did not come back within 30 s')
}

const acknowledged = (journal: string): Shared[] =>
  readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line))

const connectionOf = (folder: string): Connection => ({
  host: attachEmbeddedPostgres(folder)!.socketFolder,
  database: 'quitado',
})

async function ask<Found extends pg.QueryResultRow>(folder: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client(clientConfig(connectionOf(folder)))
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Found>(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** Legs whose lease began before the kill and that nobody has credited since: what the dead left in the middle. */
async function leftBehind(folder: string, killedAt: number): Promise<Row> {
  const [found] = await ask<{ taken: number; processing: number }>(
    folder,
    `select count(*) as taken, count(*) filter (where c.settlement = 'PROCESSING') as processing
     from split_message m join sale c on c.account_id = m.account_id and c.id = m.transaction_id
     where m.tries > 0 and m.due_at <= $1`,
    [new Date(killedAt + LEASE_MS).toISOString()],
  )
  return { 'legs left leased': found!.taken, 'of them PROCESSING': found!.processing }
}

async function untilNoneIsUnderWay(folder: string): Promise<number> {
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 1000)
  for (;;) {
    const [found] = await ask<{ n: number }>(folder, 'select count(*) as n from split_message')
    if (found!.n === 0 || seconds() > 120) return seconds()
    await wait(500)
  }
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { childrenOf, type RunningService } from '../test/harness/running-service.ts'
import { secondsOf } from './split-world.ts'

/** Seconds of processor, by who took them. */
export type Processors = Readonly<Record<string, number>>

/** What the service, its database and the others on this machine have used so far. */
export function processorsUsed({ pid, folder }: RunningService, others: Readonly<Record<string, number>>): Processors {
  const postmaster = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const server = childrenOf(postmaster)
  const isBackend = ({ command }: { command: string }) => command.includes('[local]')
  return {
    service: secondsOfAll([pid, ...serviceProcesses(pid)]),
    backends: secondsOfAll(server.filter(isBackend).map((one) => one.pid)),
    server: secondsOfAll([postmaster, ...server.filter((one) => !isBackend(one)).map((one) => one.pid)]),
    ...Object.fromEntries(Object.entries(others).map(([name, each]) => [name, secondsOfAll([each])])),
  }
}

export const serviceProcesses = (supervisor: number): number[] =>
  childrenOf(supervisor).flatMap(({ pid, command }) => (command.includes('process.ts') ? [pid] : []))

export const processorsBetween = (before: Processors, after: Processors): Processors =>
  Object.fromEntries(Object.entries(after).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]))

/** Whoever ends while its siblings are counted is left out. */
const secondsOfAll = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    try {
      return sum + secondsOf(pid)
    } catch {
      return sum
    }
  }, 0)

export type StatementCost = {
  readonly name: string
  readonly calls: number
  readonly us: number
  readonly rows: number
  readonly walBytes: number
}

const NAME = /\/\* (\w+) \*\/\s*$/

/** Every statement since the last reset, the dearest first, by the name that it carries. */
export async function statementCosts(client: pg.Client): Promise<StatementCost[]> {
  const { rows } = await client.query<Omit<StatementCost, 'name'> & { text: string }>(
    `select calls, (total_exec_time * 1000)::bigint as us, rows, wal_bytes::bigint as "walBytes", query as text
     from pg_stat_statements order by us desc`,
  )
  return rows.map(({ text, ...cost }) => ({
    name: NAME.exec(text)?.[1] ?? text.replace(/\s+/g, ' ').slice(0, 60),
    ...cost,
  }))
}

export async function resetStatements(client: pg.Client): Promise<void> {
  await client.query('create extension if not exists pg_stat_statements')
  await client.query('select pg_stat_statements_reset()')
}

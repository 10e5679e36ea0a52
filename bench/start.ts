import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { childrenOf, startService } from '../test/harness/running-service.ts'
import { round } from './load.ts'
import type { BenchRow } from './report.ts'

/** From the command to ready, first and later; then the memory that service and database hold while idle. */
export async function benchStart(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-bench-start-'))
  const rows: BenchRow[] = []
  try {
    for (const start of ['first', 'second', 'third']) {
      const service = await startService({ folder })
      rows.push({ start, readySeconds: round(service.secondsToReady), idleMemoryMb: await idleMemory(service.pid) })
      await service.stop()
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function idleMemory(supervisor: number): Promise<number> {
  await wait(5_000)
  return Math.round(familyOf(supervisor).reduce((sum, pid) => sum + pssKb(pid), 0) / 1024)
}

const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap((child) => familyOf(child.pid))]

/** Proportional: what processes share is counted once. */
export function pssKb(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
}

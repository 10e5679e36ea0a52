import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { systemCode } from './error.ts'

export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return systemCode(thrown) === 'EPERM'
  }
}

/** Whether this process is a PostgreSQL server of this cluster: after a crash its pid may be anybody's. */
export function isServerOf(cluster: string, pid: number): boolean {
  if (!isAlive(pid)) return false
  if (!existsSync('/proc/self/stat')) return isPostgresByPs(pid)
  return isPostgresByProc(pid) && worksIn(cluster, pid)
}

function isPostgresByProc(pid: number): boolean {
  try {
    const [, name, state] = /\((.*)\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    // Z and X: it has ended, and its parent has not looked yet.
    return name === 'postgres' && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

/** A server stays in the folder of its cluster. What we may not look at counts as ours, to be on the safe side. */
function worksIn(cluster: string, pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch (thrown) {
    return systemCode(thrown) !== 'ENOENT'
  }
}

function isPostgresByPs(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,comm=', '-p', String(pid)], { encoding: 'utf8' })
  const [state = '', name = ''] = stdout.trim().split(/\s+/)
  return name.endsWith('postgres') && !state.startsWith('Z')
}

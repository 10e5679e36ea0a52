import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { EmbeddedPostgresError } from './error.ts'
import { foldersOf } from './folders.ts'
import { isAlive, isServerOf } from './process-table.ts'
import { SOCKET_PORT } from './settings.ts'

type Postmaster = Readonly<{ pid: number; socketFolder: string; status: string }>

/** A server that is still ready after this long is not the remains of a dead Quitado. */
const PREDECESSOR_MS = 10_000
/** A shutdown writes at most the shared buffers to the disk; even a slow one has done that by now. */
const SHUTDOWN_MS = 60_000
const POLL_MS = 20

/** The running server of this data folder, for commands that work beside the service. */
export function attachEmbeddedPostgres(folder: string): { socketFolder: string } | undefined {
  const server = runningServer(foldersOf(folder).cluster)
  return server?.status === 'ready' ? { socketFolder: server.socketFolder } : undefined
}

/** The server of a Quitado that was killed shuts down by itself. Two servers on one cluster would destroy it. */
export async function waitForPredecessor(cluster: string, onProgress: (sentence: string) => void): Promise<void> {
  const begin = performance.now()
  let server = runningServer(cluster)
  if (server) onProgress(`Waiting for the previous PostgreSQL (process ${server.pid}) to finish…`)
  while (server) {
    const waitedMs = performance.now() - begin
    if (waitedMs > (server.status === 'stopping' ? SHUTDOWN_MS : PREDECESSOR_MS))
      throw new EmbeddedPostgresError(`Another PostgreSQL (process ${server.pid}) is using ${cluster}: stop it first.`)
    await delay(POLL_MS)
    server = runningServer(cluster)
  }
}

/**
 * What a killed server leaves behind names its pid, and PostgreSQL refuses to start while any process has that number,
 * which in a container is likely. To be called only under the folder's lock: then nobody else can be starting one.
 * Backends that outlived their postmaster are still noticed, by the shared memory that they hold.
 */
export function removeRemains({ cluster, socketFolder }: { cluster: string; socketFolder: string }): void {
  const left = readPostmasterFile(cluster)
  if (left && isServerOf(cluster, left.pid)) return
  if (left && isAlive(left.pid)) rmSync(postmasterFile(cluster), { force: true })
  const socket = join(socketFolder, `.s.PGSQL.${SOCKET_PORT}`)
  rmSync(socket, { force: true })
  rmSync(`${socket}.lock`, { force: true })
}

export const isReady = (cluster: string): boolean => readPostmasterFile(cluster)?.status === 'ready'

function runningServer(cluster: string): Postmaster | undefined {
  const server = readPostmasterFile(cluster)
  return server && isServerOf(cluster, server.pid) ? server : undefined
}

/** Lines: pid, data folder, start time, port, socket folder, listen address, shared memory, status. */
function readPostmasterFile(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(postmasterFile(cluster), 'utf8').split('\n')
    return { pid: Number(lines[0]), socketFolder: lines[4] ?? '', status: (lines[7] ?? '').trim() }
  } catch {
    return undefined
  }
}

const postmasterFile = (cluster: string) => join(cluster, 'postmaster.pid')

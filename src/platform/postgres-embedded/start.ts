import { mkdirSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { ensureCluster } from './cluster.ts'
import { EmbeddedPostgresError, messageOf } from './error.ts'
import { type Folders, foldersOf } from './folders.ts'
import { describeHost, type Host } from './host.ts'
import { chooseIdentity, handOver } from './identity.ts'
import { lockFolder } from './lock.ts'
import { waitForPredecessor } from './postmaster-file.ts'
import { prepareProgram } from './program.ts'
import { embeddedSettings, type Settings, structuralSettings } from './settings.ts'
import { prepareSocketFolder } from './socket.ts'
import { keepRunning, startServer } from './supervise.ts'

export type EmbeddedPostgresOptions = Readonly<{
  /** QUITADO_DATA: the cluster is kept in its folder `postgres`. */
  folder: string
  /** Laid over `embeddedSettings` of this machine. */
  settings?: Settings
  onProgress?: (sentence: string) => void
  onCrash?: (sentence: string) => void
}>

/** Connect with `pg` by host = socketFolder, as user postgres, to database postgres. */
export type EmbeddedPostgres = Readonly<{
  socketFolder: string
  version: string
  stop(): Promise<void>
}>

/**
 * Starts the PostgreSQL of a data folder, makes its cluster first if there is none, and keeps it running until `stop`.
 * The server never outlives this process.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions, host?: Host): Promise<EmbeddedPostgres> {
  const found = host ?? (await describeHost())
  const folders = foldersOf(options.folder)
  makeDataFolder(folders)
  const lock = lockFolder(folders)
  try {
    return await startLocked(options, found, folders, lock.release)
  } catch (thrown) {
    lock.release()
    throw thrown
  }
}

async function startLocked(
  { settings = {}, onProgress = () => {}, onCrash = () => {} }: EmbeddedPostgresOptions,
  host: Host,
  folders: Folders,
  unlock: () => void,
): Promise<EmbeddedPostgres> {
  await waitForPredecessor(folders.cluster, onProgress)
  const identity = await chooseIdentity(host, folders)
  handOver(identity, folders)
  const program = await prepareProgram(host.program, folders, identity)
  const how = { program, identity, hasDeathSignal: host.hasDeathSignal }
  await ensureCluster(folders, how, onProgress)

  const socket = prepareSocketFolder(folders, identity)
  onProgress(`Starting PostgreSQL ${program.version}…`)
  const plan = {
    ...how,
    onProgress,
    cluster: folders.cluster,
    socketFolder: socket.path,
    settings: {
      ...embeddedSettings(memoryBytes(), availableParallelism()),
      ...settings,
      ...structuralSettings(socket.path),
    },
  }
  const stopServer = keepRunning(await startServer(plan), plan, onCrash)
  let stopped: Promise<void> | undefined
  const stopOnce = async () => {
    try {
      await stopServer()
      socket.remove()
    } finally {
      unlock()
    }
  }
  return {
    socketFolder: socket.path,
    version: program.version,
    stop: () => {
      stopped ??= stopOnce()
      return stopped
    },
  }
}

function makeDataFolder({ data }: Folders): void {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
  } catch (thrown) {
    throw new EmbeddedPostgresError(`Quitado cannot make its data folder ${data}: ${messageOf(thrown)}.`)
  }
}

/** In a container the limit counts, not the machine. */
const memoryBytes = () => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

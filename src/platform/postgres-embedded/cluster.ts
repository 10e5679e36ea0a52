import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Identity, spawnTied } from './command.ts'
import { EmbeddedPostgresError, messageOf } from './error.ts'
import type { Folders } from './folders.ts'
import { binary, type Program } from './program.ts'

type Maker = Readonly<{ program: Program; identity: Identity; hasDeathSignal: boolean }>

/**
 * Makes the cluster unless it is there. It is made under another name and renamed when complete: a kill at any moment
 * leaves either no cluster or a whole one.
 */
export async function ensureCluster(
  folders: Folders,
  maker: Maker,
  onProgress: (sentence: string) => void,
): Promise<void> {
  await removeUnfinished(folders)
  if (existsSync(folders.cluster)) {
    if (readdirSync(folders.cluster).length > 0) return checkVersion(folders.cluster, maker.program)
  }
  onProgress('Creating the database…')
  const unfinished = mkdtempSync(unfinishedPrefix(folders))
  if (maker.identity.account) chownSync(unfinished, maker.identity.account.uid, maker.identity.account.gid)
  await initialise(unfinished, maker)
  renameSync(unfinished, folders.cluster)
  syncFolder(folders.data)
}

const unfinishedPrefix = ({ cluster }: Folders) => `${cluster}.unfinished-`

/**
 * An initdb that lost its Quitado a moment ago may still be writing there, until it notices. What even the retries leave
 * does no harm, and the next start clears it away.
 */
async function removeUnfinished(folders: Folders): Promise<void> {
  const prefix = basename(unfinishedPrefix(folders))
  for (const name of readdirSync(folders.data).filter((name) => name.startsWith(prefix)))
    await rm(join(folders.data, name), { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }).catch(() => {})
}

async function initialise(folder: string, { program, ...how }: Maker): Promise<void> {
  const initdb = spawnTied(
    [
      binary(program.folder, 'initdb'),
      `--pgdata=${folder}`,
      '--username=postgres',
      // The socket lies in a private folder, so whoever reaches it is the owner. Nobody comes over a network.
      '--auth-local=trust',
      '--auth-host=reject',
      '--encoding=UTF8',
      // The built-in locale sorts the same on every system and with every release of its C library.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
    ],
    how,
  )
  const ending = await initdb.ended
  if (ending.ok) return
  rmSync(folder, { recursive: true, force: true })
  throw new EmbeddedPostgresError(`PostgreSQL could not create its database (${ending.words}): ${initdb.log().trim()}`)
}

function checkVersion(cluster: string, program: Program): void {
  const [major = ''] = program.version.split('.')
  let made: string
  try {
    made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  } catch (thrown) {
    throw new EmbeddedPostgresError(`${cluster} is not a PostgreSQL database: ${messageOf(thrown)}.`)
  }
  if (made !== major)
    throw new EmbeddedPostgresError(
      `${cluster} was made by PostgreSQL ${made}, and this release brings ${major}: it has to be converted first.`,
    )
}

/** Makes the rename itself survive a power cut. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

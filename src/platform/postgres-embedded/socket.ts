import { createHash } from 'node:crypto'
import { chmodSync, lchownSync, lstatSync, mkdirSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Identity } from './command.ts'
import { systemCode } from './error.ts'
import type { Folders } from './folders.ts'
import { SOCKET_PORT } from './settings.ts'

/** The kernel takes 108 bytes on Linux and 104 on macOS, the final zero included. */
const SOCKET_PATH_BYTES_MAX = 100

type SocketFolder = Readonly<{ path: string; remove(): void }>

/** The same path at every start if possible: a client that was told once keeps finding the server. */
export function prepareSocketFolder(folders: Folders, { account }: Identity): SocketFolder {
  if (!fits(folders.socket)) return privateTemporaryFolder(folders, account)
  mkdirSync(folders.socket, { recursive: true, mode: 0o700 })
  chmodSync(folders.socket, 0o700)
  if (account) lchownSync(folders.socket, account.uid, account.gid)
  return { path: folders.socket, remove: () => {} }
}

const fits = (socketFolder: string): boolean =>
  Buffer.byteLength(join(socketFolder, `.s.PGSQL.${SOCKET_PORT}`)) <= SOCKET_PATH_BYTES_MAX

/** Anybody could have made the stable name first, in a folder that all may write to; then a random one is taken. */
function privateTemporaryFolder({ data }: Folders, account: Identity['account']): SocketFolder {
  const name = `quitado-${createHash('sha256').update(data).digest('hex').slice(0, 16)}`
  const parent = fits(join(tmpdir(), `${name}-xxxxxx`)) ? tmpdir() : '/tmp'
  let path = join(parent, name)
  const isNew = makeFolder(path)
  const isOurs = !isNew && isPrivateTo(path, account?.uid ?? process.getuid?.())
  if (!isNew && !isOurs) path = mkdtempSync(`${path}-`)
  if (account && !isOurs) lchownSync(path, account.uid, account.gid)
  return { path, remove: () => removeIfEmpty(path) }
}

function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') return false
    throw thrown
  }
}

function isPrivateTo(path: string, uid: number | undefined): boolean {
  const found = lstatSync(path)
  return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // A killed server left its socket there; the next start clears it away.
  }
}

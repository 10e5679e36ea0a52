import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { EmbeddedPostgresError, messageOf } from './error.ts'
import type { Folders } from './folders.ts'
import { isAlive } from './process-table.ts'

type FolderLock = Readonly<{ release(): void }>

const SQLITE_BUSY = 5

/** A process that was just killed holds its locks until the kernel has taken it apart. */
const DYING_OWNER_MS = 500

/** A lock that the garbage collector closed would be a lock lost. */
const held = new Set<DatabaseSync>()

/**
 * One Quitado per data folder. The lock is the kernel's own, on a file that stays empty: it is gone with the process
 * that holds it, after kill -9 and after a power cut, so that no pid has to be guessed dead. Node's only way to such a
 * lock is SQLite, which takes one for a transaction; this transaction never ends.
 *
 * Nothing in this process may open the lock file by other means: closing any handle of a file drops all the locks that
 * a process holds on it. Hence the second file for the pid, which serves the message only.
 */
export function lockFolder(folders: Folders): FolderLock {
  const lock = openLock(folders)
  held.add(lock)
  writeFileSync(folders.ownerFile, `${process.pid}\n`)
  return {
    release() {
      if (!held.delete(lock)) return
      rmSync(folders.ownerFile, { force: true })
      lock.close()
    },
  }
}

function openLock(folders: Folders): DatabaseSync {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(folders.lockFile, { timeout: DYING_OWNER_MS })
    // The journal stays in memory: one left on disk by a kill would have to be rolled back, and two starts that try
    // that at once refuse each other.
    lock.exec('pragma journal_mode = memory; begin immediate')
    return lock
  } catch (thrown) {
    lock?.close()
    const busy = thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_BUSY
    if (!busy) throw new EmbeddedPostgresError(`Quitado cannot lock ${folders.lockFile}: ${messageOf(thrown)}.`)
    throw new EmbeddedPostgresError(`Quitado is already running on ${folders.data}${ownerWords(folders)}.`)
  }
}

/** Between taking the lock and writing its pid the file may name a dead predecessor; then no process is named. */
function ownerWords({ ownerFile }: Folders): string {
  try {
    const pid = Number(readFileSync(ownerFile, 'utf8'))
    return isAlive(pid) ? ` (process ${pid})` : ''
  } catch {
    return ''
  }
}

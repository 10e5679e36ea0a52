import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { type Identity, run } from './command.ts'
import { EmbeddedPostgresError, systemCode } from './error.ts'
import type { Folders } from './folders.ts'
import type { ProgramSource } from './host.ts'

/** Binaries that were seen to run. */
export type Program = Readonly<{ folder: string; version: string }>

export const binary = (folder: string, name: 'initdb' | 'postgres'): string => join(folder, 'bin', name)

const COPY_PREFIX = 'postgres-program-'

/**
 * The binaries run where npm put them. They are copied into the data folder, once, when that place cannot be completed
 * (installed by another user) or not entered by the account that runs the server (below a private home).
 */
export async function prepareProgram(source: ProgramSource, folders: Folders, identity: Identity): Promise<Program> {
  if (completeProgram(source.folder)) {
    const { version } = await askVersion(source.folder, identity)
    if (version) return { folder: source.folder, version }
  }
  const copy = copyProgram(source, folders)
  const { version, output } = await askVersion(copy, identity)
  if (version) return { folder: copy, version }
  rmSync(copy, { recursive: true, force: true })
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run on this system (${output.trim()}): ` +
      'set DATABASE_URL to a PostgreSQL 15 or newer.',
  )
}

async function askVersion(folder: string, identity: Identity) {
  const { ok, output } = await run([binary(folder, 'postgres'), '--version'], identity)
  return { version: ok ? /\d+(\.\d+)?/.exec(output)?.[0] : undefined, output }
}

/**
 * Does what the package's install script would have done: an npm package cannot hold symbolic links, and may lose
 * executable bits. Several starts may do it at once; each link appears whole or not at all.
 */
function completeProgram(folder: string): boolean {
  try {
    for (const { source, target } of readLinks(folder)) makeLink(join(folder, source), join(folder, target))
    for (const name of readdirSync(join(folder, 'bin'))) makeExecutable(join(folder, 'bin', name))
    return true
  } catch (thrown) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemCode(thrown) ?? '')) return false
    throw thrown
  }
}

/** Paths in the list begin at the package, ours at its folder `native`. */
function readLinks(folder: string): { source: string; target: string }[] {
  const inside = (path: string) => relative('native', path)
  try {
    const links = JSON.parse(readFileSync(join(folder, 'pg-symlinks.json'), 'utf8')) as ReturnType<typeof readLinks>
    return links.map(({ source, target }) => ({ source: inside(source), target: inside(target) }))
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return []
    throw thrown
  }
}

function makeLink(source: string, target: string): void {
  try {
    // A system that forbids writing may say so even where the link already is, so look first.
    statSync(target)
  } catch {
    try {
      symlinkSync(relative(dirname(target), source), target)
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown
    }
  }
}

function makeExecutable(path: string): void {
  if ((statSync(path).mode & 0o111) !== 0o111) chmodSync(path, 0o755)
}

function copyProgram(source: ProgramSource, { data }: Folders): string {
  const copy = join(data, COPY_PREFIX + source.release)
  const others = readdirSync(data).filter((name) => name.startsWith(COPY_PREFIX) && name !== basename(copy))
  for (const name of others) rmSync(join(data, name), { recursive: true, force: true })
  try {
    statSync(copy)
  } catch {
    // Under its own name only when complete: a copy cut short by a kill is thrown away by the next one.
    const unfinished = mkdtempSync(join(data, `${COPY_PREFIX}unfinished-`))
    chmodSync(unfinished, 0o755)
    cpSync(source.folder, unfinished, { recursive: true, verbatimSymlinks: true })
    renameSync(unfinished, copy)
  }
  completeProgram(copy)
  return copy
}

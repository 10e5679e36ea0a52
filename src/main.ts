import { audit } from './audit.ts'
import { ConfigError, readConfig } from './config.ts'
import { DatabaseTooOld, migrate } from './platform/database/migrate.ts'
import { EmbeddedPostgresError } from './platform/postgres-embedded/index.ts'
import { attachDatabase } from './start/database.ts'
import { StartFailed } from './start/processes.ts'
import { start } from './start/start.ts'

const say = (sentence: string) => void process.stdout.write(`${sentence}\n`)

const commands: Readonly<Record<string, () => Promise<void>>> = {
  start: async () => start(readConfig()),
  async migrate() {
    const database = await attachDatabase(readConfig(), say)
    try {
      const applied = await migrate(database.connection)
      say(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
    } finally {
      await database.stop()
    }
  },
  async audit() {
    const database = await attachDatabase(readConfig(), () => {})
    try {
      process.exitCode = (await audit(database.connection, say)) ? 0 : 1
    } finally {
      await database.stop()
    }
  },
}

const name = process.argv[2] ?? 'start'
const command = commands[name]
if (command === undefined) fail(`quitado ${name}: unknown command; there are ${Object.keys(commands).join(', ')}`)
else command().catch((error: unknown) => fail(lineOf(error)))

function fail(line: string): void {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}

/** Trouble that a person can mend is one line; a bug keeps its stack. */
function lineOf(error: unknown): string {
  if (
    error instanceof ConfigError ||
    error instanceof StartFailed ||
    error instanceof EmbeddedPostgresError ||
    error instanceof DatabaseTooOld
  )
    return error.message
  const { code, message, stack } = error as { code?: string; message?: string; stack?: string }
  if (code === '42P01') return 'There is no Quitado database here yet: npm start or npm run migrate makes one.'
  const unreachable = code !== undefined && /^(E[A-Z]+|28...|3D000|08...)$/.test(code)
  return unreachable ? `DATABASE_URL: cannot connect (${message || code})` : (stack ?? String(error))
}

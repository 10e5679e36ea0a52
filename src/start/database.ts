import type { Config } from '../config.ts'
import type { Connection } from '../platform/database/database.ts'
import { createDatabaseIfMissing, migrate } from '../platform/database/migrate.ts'
import { attachEmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres-embedded/index.ts'

const DATABASE = 'quitado'

export type RunningDatabase = { readonly connection: Connection; stop(): Promise<void> }
type Say = (sentence: string) => void

/** The configured server, or the embedded one, migrated either way. */
export async function startDatabase(config: Config, say: Say): Promise<RunningDatabase> {
  const running = config.databaseUrl === undefined ? await startEmbedded(config, say) : external(config.databaseUrl)
  try {
    const applied = await migrate(running.connection)
    if (applied.length > 0) say(`Database migrated (${applied.length} steps).`)
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}

/** For commands: the server that runs already, or one for their own duration, as it stands. */
export async function attachDatabase(config: Config, say: Say): Promise<RunningDatabase> {
  if (config.databaseUrl !== undefined) return external(config.databaseUrl)
  const attached = attachEmbeddedPostgres(config.dataFolder)
  if (attached === undefined) return startEmbedded(config, say)
  return { connection: { host: attached.socketFolder, database: DATABASE }, stop: async () => {} }
}

const external = (url: string): RunningDatabase => ({ connection: { url }, stop: async () => {} })

async function startEmbedded(config: Config, say: Say): Promise<RunningDatabase> {
  const server = await startEmbeddedPostgres({ folder: config.dataFolder, onProgress: say, onCrash: say })
  const connection = { host: server.socketFolder, database: DATABASE }
  try {
    await createDatabaseIfMissing(connection)
    return { connection, stop: () => server.stop() }
  } catch (error) {
    await server.stop()
    throw error
  }
}

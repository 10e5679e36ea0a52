import { join } from 'node:path'
import type { Config } from '../config.ts'
import { opensSecrets } from '../modules/account/index.ts'
import { keepNotificationDays } from '../modules/notification/index.ts'
import { systemClock } from '../platform/clock.ts'
import type { Connection } from '../platform/database/database.ts'
import { openDatabase } from '../platform/database/database.ts'
import { systemRandomIds } from '../platform/random-ids.ts'
import { createSecrets } from '../platform/secrets.ts'
import { banner } from './banner.ts'
import { startDatabase } from './database.ts'
import { type Demo, demoAccount } from './demo-account.ts'
import { dropNewKey, type KeptSecrets, keepSecrets } from './kept-secrets.ts'
import { preparePages } from './pages.ts'
import { type Processes, StartFailed, startProcesses } from './processes.ts'

const say = (sentence: string) => void process.stdout.write(`${sentence}\n`)

/** The supervisor: it owns the database server, the migrations and the service processes. */
export async function start(config: Config): Promise<void> {
  const began = performance.now()
  say(`Quitado, ${config.env}, data in ${config.dataFolder}`)
  const ids = systemRandomIds()
  // Beside the database's start: both take a moment the first time, and none later.
  const pages = config.role === 'worker' ? undefined : preparePages(say)
  const database = await startDatabase(config, say)
  let processes: Processes | undefined
  const stop = stopOnce(async () => {
    await processes?.stop()
    await database.stop()
  })
  try {
    const secrets = keepSecrets(config, ids)
    const demo = await prepareDatabase(config, database.connection, secrets)
    await pages
    processes = await startProcesses({
      count: config.processes,
      worker: config.role !== 'api',
      start: {
        type: 'start',
        connection: database.connection,
        operatorToken: secrets.operatorToken,
        encryptionKeys: secrets.encryptionKeys.map((key) => key.toString('base64')),
      },
      onDeath: say,
    })
    const operatorTokenFile = config.operatorToken === undefined ? join(config.dataFolder, 'operator-token') : undefined
    const seconds = (Math.round((performance.now() - began) / 10) / 100).toString()
    process.stdout.write(
      banner({ publicUrl: config.role === 'worker' ? undefined : config.publicUrl, demo, operatorTokenFile, seconds }),
    )
  } catch (error) {
    await stop()
    throw error
  }
}

/** The first signal drains, the second does not wait. */
function stopOnce(work: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= work()
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopping !== undefined) process.exit(1)
      say('Stopping…')
      stop().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
  return stop
}

/**
 * Days to write notifications into, and a look at the secrets: a database whose secrets nobody can open would answer 403
 * to everybody, so better not to start.
 */
async function prepareDatabase(config: Config, connection: Connection, kept: KeptSecrets): Promise<Demo | undefined> {
  const ids = systemRandomIds()
  const db = openDatabase(connection, { connectionsMax: 2, queryTimeoutMs: 15_000, onError: () => {} })
  try {
    const secrets = createSecrets(kept.encryptionKeys, ids)
    await keepNotificationDays(db, systemClock.now(), config.webhookKeepDays)
    if (!(await opensSecrets(db, secrets))) {
      if (kept.isNewKey) dropNewKey(config.dataFolder)
      const where = config.encryptionKeys
        ? 'another key'
        : `another key than that of ${join(config.dataFolder, 'encryption-key')}`
      throw new StartFailed(`QUITADO_ENCRYPTION_KEY: the secrets of this database were sealed with ${where}`)
    }
    const serves = config.env === 'sandbox' && config.role !== 'worker'
    return serves ? await demoAccount({ db, secrets, ids, clock: systemClock, folder: config.dataFolder }) : undefined
  } finally {
    await db.close()
  }
}

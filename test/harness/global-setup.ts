import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/platform/database/migrate.ts'
import { startEmbeddedPostgres } from '../../src/platform/postgres-embedded/index.ts'
import { preparePages } from '../../src/start/pages.ts'
import { createDatabase, dropDatabase, placeOf, type TestServer } from './test-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    server: TestServer
  }
}

/**
 * One real PostgreSQL for the whole run, with a migrated template that each test file clones. Another server serves
 * when QUITADO_TEST_DATABASE_URL names one (an address that may create databases). The pages are built once, too.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await preparePages((sentence) => console.log(sentence))
  const url = process.env['QUITADO_TEST_DATABASE_URL']
  const { server, stop } = url === undefined ? await embedded() : { server: { url }, stop: async () => {} }
  const template = `quitado_template_${process.pid}`
  await createDatabase(server, template)
  await migrate(placeOf(server, template))
  project.provide('server', { ...server, template })
  return async () => {
    await dropDatabase(server, template)
    await stop()
  }
}

async function embedded() {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-test-'))
  // What a test commits need not survive a power cut; the proofs of that run with the real settings.
  const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' }
  const postgres = await startEmbeddedPostgres({ folder, settings })
  return {
    server: { host: postgres.socketFolder },
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

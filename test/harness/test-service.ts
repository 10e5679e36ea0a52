import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import type { BatchSettings } from '../../src/batches.ts'
import { type Config, readConfig } from '../../src/config.ts'
import type { Connection } from '../../src/platform/database/database.ts'
import { createLog } from '../../src/platform/log.ts'
import { systemRandomIds } from '../../src/platform/random-ids.ts'
import type { Rail } from '../../src/rail/rail.ts'
import { createSandboxRail } from '../../src/rail/sandbox/sandbox-rail.ts'
import { createService, type Service } from '../../src/service.ts'
import { sweepExpiries, sweepOrders, sweepOutflows, sweepRecurrences } from '../../src/worker/sweeps.ts'
import { type ApiClient, apiClient } from './api-client.ts'
import { bookAudit } from './book-audit.ts'
import { type Given, givens } from './given.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { PATIENCE_MS } from './patience.ts'
import { createDatabase, dropDatabase, placeOf } from './test-server.ts'

export type TestService = {
  /** Without credentials. */
  readonly api: ApiClient
  readonly operator: ApiClient
  readonly given: Given
  readonly clock: ManualClock
  readonly service: Service
  readonly connection: Connection
  readonly config: Config
  /** Lines of the log since the start, as objects. */
  readonly logged: Record<string, unknown>[]
  /** Delivers what is due now and waits until every result is recorded. */
  deliver(): Promise<void>
  /** What the background worker would do now. */
  sweep(): Promise<void>
  /** The rules of the books that do not hold now. */
  violations(): Promise<Record<string, unknown>[]>
  /** Those that would not hold after a change, which is taken back. */
  brokenBy(sql: string): Promise<string[]>
  /** Plain SQL, for looking only. */
  rows<Row = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

export type StartedService = TestService & { stop(): Promise<void> }

export type TestServiceOptions = {
  readonly batches?: Partial<BatchSettings>
  readonly env?: Record<string, string>
  /** True: notifications are delivered, as in a process of the role `all`. */
  readonly deliveries?: boolean
  /** What the rail does otherwise than the sandbox's. */
  readonly rail?: Partial<Rail>
}

export const OPERATOR_TOKEN = 'operator-token-of-the-tests'
let databases = 0

/**
 * A service of its own for a test file: cloned database, manual clock, real HTTP. After each test the books are
 * audited and no connection may still be out.
 */
export function testService(options: TestServiceOptions = {}): TestService {
  const holder: { current?: StartedService } = {}
  beforeAll(async () => {
    holder.current = await startTestService(options)
  })
  afterEach(async () => {
    expect(await holder.current!.violations()).toEqual([])
  })
  afterAll(() => holder.current?.stop())
  return new Proxy({} as TestService, { get: (_target, name) => holder.current![name as keyof TestService] })
}

export async function startTestService({
  batches,
  env = {},
  deliveries = false,
  rail,
}: TestServiceOptions = {}): Promise<StartedService> {
  const server = inject('server')
  const database = `quitado_${process.pid}_${++databases}`
  await createDatabase(server, database, server.template)
  const connection = placeOf(server, database)
  const clock = manualClock()
  const config = readConfig({ PUBLIC_URL: 'http://pay.test', ...env })
  const logged: Record<string, unknown>[] = []
  const { logger, requestLine } = createLog(config.logLevel, clock, {
    stream: { write: (line: string) => void logged.push(JSON.parse(line)) },
    linesTogether: 1,
  })
  const service = await createService({
    config,
    connection,
    operatorToken: OPERATOR_TOKEN,
    encryptionKeys: [Buffer.alloc(32, 7)],
    clock,
    ids: systemRandomIds(),
    logger,
    requestLine,
    databaseTimeoutMs: PATIENCE_MS,
    ...(batches ? { batches } : {}),
    ...(rail ? { rail: { ...createSandboxRail('pay.test'), ...rail } } : {}),
  })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  if (deliveries) service.deliveries.start()
  const books = bookAudit(connection)
  const api = apiClient((service.app.server.address() as AddressInfo).port)
  return {
    api,
    operator: api.as({ authorization: `Bearer ${OPERATOR_TOKEN}` }),
    given: givens(api),
    clock,
    service,
    connection,
    config,
    logged,
    async deliver() {
      await service.deliveries.idle()
      await service.deliveries.look()
      await service.deliveries.idle()
    },
    async sweep() {
      await sweepExpiries(service.sweeps)
      await sweepOutflows(service.sweeps)
      await sweepOrders(service.sweeps)
      await sweepRecurrences(service.sweeps)
    },
    violations: books.violations,
    brokenBy: books.brokenBy,
    rows: <Row>(sql: string, values: readonly unknown[] = []) => service.db.query<Row>({ name: '', text: sql }, values),
    async stop() {
      await books.close()
      await service.close()
      await dropDatabase(server, database)
    },
  }
}

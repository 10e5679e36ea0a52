import type { FastifyInstance } from 'fastify'
import { createApp } from './api/app.ts'
import { accountCredentials, operatorCredentials } from './api/authenticate.ts'
import { operatorRoutes } from './api/operator.routes.ts'
import { pageApis } from './api/page-apis.ts'
import { pageRoutes } from './api/pages.ts'
import { payRoutes } from './api/pay.routes.ts'
import { createRateLimiter } from './api/rate-limit.ts'
import { serviceRoutes } from './api/service.routes.ts'
import { auditRules } from './audit.ts'
import {
  type BatchSettings,
  checkoutBatches,
  defaultBatches,
  simulatedPaymentBatches,
  takesNoCharge,
} from './batches.ts'
import type { Config } from './config.ts'
import type { AccountId, PayoutId, RefundId, ReversalId, SaleId } from './kernel/ids.ts'
import {
  accountNow,
  accountRoutes,
  createAuthenticator,
  createDeliveryCredentials,
  findAccountTerms,
  rememberTerms,
} from './modules/account/index.ts'
import {
  applyOutflow,
  applyOutflowAlone,
  createDoor,
  type Door,
  type DoorContext,
  findPayer,
  insideDoor,
} from './modules/door/index.ts'
import { createAuditor, ledgerRoutes } from './modules/ledger/index.ts'
import { locationRoutes } from './modules/location/index.ts'
import { countWaiting, createDispatcher, type Dispatcher, notificationRoutes } from './modules/notification/index.ts'
import { countOrders, lookUpOrders, sendDueOrders, withdrawOrders } from './modules/outflow/index.ts'
import { liveRoutes, panelRecurrenceRoutes, panelRoutes } from './modules/panel/index.ts'
import { findPayout, payoutRoutes } from './modules/payout/index.ts'
import { phoneRoutes } from './modules/phone/index.ts'
import {
  cancelChargeOfSale,
  isMandate,
  mandateImageRoutes,
  planRoutes,
  recurrenceRoutes,
} from './modules/recurrence/index.ts'
import { findRefund, findReversal, refundRoutes } from './modules/refund/index.ts'
import {
  checkoutRoutes,
  createCheckoutParser,
  createQrImages,
  createSales,
  findSale,
  qrImageRoutes,
  saleRoutes,
  settleStep,
} from './modules/sale/index.ts'
import {
  outflowSimulatorRoutes,
  paySales,
  recurrenceSimulatorRoutes,
  registrationRoutes,
  selfServiceRoutes,
  settleDueOutflows,
  simulatorRoutes,
} from './modules/simulator/index.ts'
import { countMessages, recipientRoutes } from './modules/split/index.ts'
import { transactionRoutes } from './modules/transaction/index.ts'
import type { Clock } from './platform/clock.ts'
import {
  type Connection,
  type Database,
  openDatabase,
  statement,
  type Transaction,
} from './platform/database/database.ts'
import type { Logger, RequestLine } from './platform/log.ts'
import { createLooker, type Looker } from './platform/looker.ts'
import { createMetrics, type Metrics } from './platform/metrics.ts'
import { createNumberBlocks } from './platform/number-blocks.ts'
import { createThreadedOutgoing } from './platform/outgoing/threaded.ts'
import type { RandomIds } from './platform/random-ids.ts'
import { createSecrets, type Secrets } from './platform/secrets.ts'
import type { OutflowSettled, Rail } from './rail/rail.ts'
import { createSandboxRail } from './rail/sandbox/sandbox-rail.ts'
import { deliveryObserver } from './worker/delivery-observer.ts'
import { recurrenceRuns } from './worker/recurrence-runs.ts'
import type { SweepContext } from './worker/sweeps.ts'

export type ServiceOptions = {
  readonly config: Config
  readonly connection: Connection
  readonly operatorToken: string
  readonly encryptionKeys: readonly Buffer[]
  readonly clock: Clock
  readonly ids: RandomIds
  readonly logger: Logger
  readonly requestLine?: RequestLine | undefined
  readonly batches?: Partial<BatchSettings>
  /** For a connection and for an answer; by default what a caller may wait for. */
  readonly databaseTimeoutMs?: number
  /** By default the sandbox's. */
  readonly rail?: Rail
  /** All processes of this host; by default this one. */
  readonly renderMetrics?: () => Promise<string>
}

export type Service = {
  readonly app: FastifyInstance
  readonly db: Database
  readonly door: Door
  readonly doorContext: DoorContext & { readonly db: Database }
  /** Rests until it is started: a process that only serves the API leaves deliveries to others. */
  readonly deliveries: Dispatcher
  /** Credits shares, and sends orders to the rail; both rest until they are started. */
  readonly settlements: Looker
  readonly orders: Looker
  readonly secrets: Secrets
  readonly rail: Rail
  readonly metrics: Metrics
  readonly sweeps: SweepContext
  /** Answers what was accepted, then lets go of the database. */
  close(): Promise<void>
}

const LOOK_MS = 200
const QUERY_MS_MAX = 15_000
const pingSql = statement<{ one: number }>('ping', 'select 1 as one')

/** One process of the service, put together by hand: who knows whom is read here. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, clock, ids, logger } = options
  const db = openDatabase(options.connection, {
    connectionsMax: 10,
    queryTimeoutMs: options.databaseTimeoutMs ?? QUERY_MS_MAX,
    connectTimeoutMs: options.databaseTimeoutMs,
    onError: (error) => logger.warn({ err: error }, 'a database connection failed'),
  })
  const metrics = createMetrics()
  const secrets = createSecrets(options.encryptionKeys, ids)
  const numbers = createNumberBlocks(db)
  const rail = options.rail ?? createSandboxRail(config.publicUrl.replace(/^https?:\/\//i, ''))
  const batches = { ...defaultBatches(config.processes), ...options.batches }
  const observeBatch = (batch: string) => (size: number) => metrics.batchSize.observe({ batch }, size)

  const creation = { db, clock, ids, numbers, rail, terms: rememberTerms(db) }
  const creations = checkoutBatches({
    ...batches,
    run: (items) => createSales(creation, items),
    onBatch: observeBatch('checkout'),
  })
  const alarm = (message: string, details: Record<string, unknown>) => {
    metrics.alarms.inc({ alarm: message })
    logger.error({ alarm: true, ...details }, message)
  }
  const deliveries = createDispatcher({
    db,
    clock,
    outgoing: createThreadedOutgoing({ timeoutMs: config.webhookTimeoutMs, allowPrivate: config.webhookAllowPrivate }),
    credentials: createDeliveryCredentials(secrets),
    retry: { retrySeconds: config.webhookRetrySeconds, jitter: Math.random },
    timeoutMs: config.webhookTimeoutMs,
    observe: deliveryObserver(metrics, logger),
  })
  const troubleOfLooking = (error: unknown, doing: string) =>
    logger.warn({ err: error, doing }, 'background work had trouble; it goes on')
  const settlements = createLooker({
    everyMs: LOOK_MS,
    step: () => settleStep({ db, clock, ids, outbox: deliveries, trouble: troubleOfLooking }),
    trouble: (error) => troubleOfLooking(error, 'settle shares'),
  })
  const orders = createLooker({
    everyMs: LOOK_MS,
    step: () => sendDueOrders({ db, clock, rail, trouble: troubleOfLooking }),
    trouble: (error) => troubleOfLooking(error, 'send orders'),
  })
  const doorContext = {
    db,
    inTransaction: db.inTransaction,
    clock,
    ids,
    numbers,
    outbox: deliveries,
    legsPaid: settlements.poke,
    ordersReserved: orders.poke,
    alarm,
  }
  const asking = {
    db,
    clock,
    rail,
    hear: (event: OutflowSettled) => applyOutflowAlone(doorContext, event),
    trouble: troubleOfLooking,
  }
  const door = createDoor(doorContext, { ...batches, onBatch: observeBatch('door') })
  const payments = simulatedPaymentBatches({
    ...batches,
    run: (items) => paySales(doorContext, items),
    onBatch: observeBatch('simulator'),
  })

  const authenticator = createAuthenticator(db, secrets, clock)
  const command = { db, clock, secrets, ids }
  const images = createQrImages()
  const pix = { ...command, rail, images, publicUrl: config.publicUrl }
  metrics.readQueueDepths(() => queueDepths())
  const queueDepths = () => ({
    checkout: creations.depth(),
    door: door.batcher.depth(),
    simulator: payments.depth(),
    deliveries: deliveries.inFlight(),
  })

  const auditor = createAuditor({
    ...command,
    run: (limits) => auditRules(options.connection, limits),
    alarm,
    trouble: troubleOfLooking,
  })
  const operatorApi = operatorRoutes({ ...command, numbers, authenticator, queueDepths, waiting, auditor })
  const app = await createApp({
    logger,
    requestLine: options.requestLine,
    metrics,
    publicUrl: config.publicUrl,
    proxies: config.proxies,
    newRequestId: () => ids.uuid(),
    async routes(root) {
      await root.register(
        serviceRoutes({
          metrics,
          isReady: () =>
            db.query(pingSql).then(
              () => true,
              () => false,
            ),
          renderMetrics: options.renderMetrics ?? (() => metrics.registry.metrics()),
        }),
      )
      await root.register(pageRoutes({ env: config.env }))
      await root.register(payRoutes({ ...pix, processes: config.processes }))
      await root.register(qrImageRoutes(pix))
      await root.register(mandateImageRoutes(pix))
      // What only a sandbox has does not exist in production.
      if (config.env === 'sandbox') {
        await root.register(registrationRoutes({ ...command, numbers }))
        await root.register(locationRoutes({ ...options, db, publicUrl: config.publicUrl }))
      }
      await root.register(
        async (operator) => {
          operator.addHook('onRequest', operatorCredentials(options.operatorToken))
          await operator.register(operatorApi)
        },
        { prefix: '/operator/v1' },
      )
      await root.register(async (merchant) => {
        merchant.addHook('onRequest', accountCredentials(authenticator, createRateLimiter(clock, config.processes)))
        await merchant.register(merchantApi)
      })
      await root.register(
        pageApis({
          ...command,
          numbers,
          publicUrl: config.publicUrl,
          environment: config.env,
          processes: config.processes,
          operatorToken: options.operatorToken,
          merchantRoutes: merchantApi,
          operatorRoutes: operatorApi,
          panelRoutes: (sessions) => [
            panelRoutes({ ...command, outbox: deliveries, railName: rail.name }),
            panelRecurrenceRoutes({ db, clock, rail }),
            liveRoutes({ db, sessions, trouble: troubleOfLooking }),
          ],
          phoneRoutes: phoneRoutes({ ...pix, door, doorContext }),
        }),
      )
    },
  })

  /** Everything that an account may ask, whoever let it in. */
  async function merchantApi(merchant: FastifyInstance): Promise<void> {
    await merchant.register(
      checkoutRoutes({
        ...pix,
        creations,
        isFull: takesNoCharge([creations, door.batcher, payments], batches),
        numbers,
        createIn: (inside, items) => createSales({ ...creation, ...inside, terms: rememberTerms(inside.db) }, items),
        parser: createCheckoutParser(config.env === 'production'),
      }),
    )
    await merchant.register(
      saleRoutes({ ...pix, voidCharge, findPayer: (endToEnd) => findPayer(db, rail.name, endToEnd) }),
    )
    await merchant.register(transactionRoutes({ db }))
    await merchant.register(recipientRoutes({ db }))
    await merchant.register(refundRoutes({ ...command, numbers, send: orders.poke }))
    await merchant.register(
      payoutRoutes({
        ...command,
        numbers,
        outbox: deliveries,
        rail,
        hear: (tx, event) => applyOutflow(insideDoor(doorContext, tx), tx, event),
        send: orders.poke,
        trouble: troubleOfLooking,
      }),
    )
    await merchant.register(planRoutes(command))
    await merchant.register(
      recurrenceRoutes({ ...pix, numbers, outbox: deliveries, verifyDigits: config.env === 'production' }),
    )
    await merchant.register(ledgerRoutes({ db, accountTime }))
    await merchant.register(accountRoutes({ ...command, authenticator }))
    await merchant.register(notificationRoutes({ ...command, isKnown, poke: deliveries.poke }))
    if (config.env !== 'sandbox') return
    await merchant.register(selfServiceRoutes({ ...command, numbers }))
    await merchant.register(simulatorRoutes({ ...command, payments, doorContext, rail }))
    await merchant.register(outflowSimulatorRoutes({ ...command, doorContext }))
    await merchant.register(recurrenceSimulatorRoutes({ ...command, doorContext, rail }))
  }

  /** Whatever a merchant may have been told of. */
  async function isKnown(accountId: AccountId, uuid: string): Promise<boolean> {
    const found = await Promise.all([
      findSale(db, accountId, uuid as SaleId),
      findReversal(db, accountId, uuid as ReversalId),
      findRefund(db, accountId, uuid as RefundId),
      findPayout(db, accountId, uuid as PayoutId),
    ])
    return found.some((one) => one !== undefined) || isMandate(db, accountId, uuid)
  }

  /** The charge that a sale is, is cancelled with it. */
  async function voidCharge(tx: Transaction, accountId: AccountId, saleId: SaleId): Promise<boolean> {
    return cancelChargeOfSale({ tx, ids, outbox: deliveries, now: clock.now() }, accountId, saleId)
  }

  /** The door as it is when the news come. */
  const applyNews: Door['apply'] = (events, known) => door.apply(events, known)

  async function waiting() {
    const [notifications, shares, orders] = await Promise.all([countWaiting(db), countMessages(db), countOrders(db)])
    return { notifications, shares, ordersReserved: orders.reserved, ordersSent: orders.sent }
  }

  async function accountTime(accountId: AccountId) {
    const terms = await findAccountTerms(db, [accountId])
    return accountNow(terms.get(accountId)!, clock.now())
  }

  return {
    app,
    db,
    door,
    doorContext,
    deliveries,
    settlements,
    orders,
    secrets,
    rail,
    metrics,
    sweeps: {
      db,
      clock,
      onExpired: (count) => metrics.expired.inc(count),
      withdrawOrders: () => withdrawOrders(asking),
      lookUpOrders: () => lookUpOrders(asking),
      runRecurrences: recurrenceRuns({
        engine: { db, clock, ids, numbers, outbox: deliveries, rail, hear: applyNews },
        ...(config.env === 'sandbox' && { bank: { db, clock, apply: applyNews } }),
      }),
      ...(config.env === 'sandbox' && {
        settleOutflows: (stopping, account) => settleDueOutflows({ db, door: doorContext }, stopping, account),
      }),
      notificationDays: config.webhookKeepDays,
      onUndelivered: (count) => alarm('notifications were given up after the days they are kept', { count }),
    },
    async close() {
      // A connection that was busy when the stop began is let go as soon as its answer is out.
      const letGo = setInterval(() => app.server.closeIdleConnections(), 20)
      const served = app.close().finally(() => clearInterval(letGo))
      await Promise.all([served, Promise.all([settlements.stop(), orders.stop()]).then(() => deliveries.stop())])
      await Promise.all([creations.drained(), payments.drained(), door.batcher.drained(), auditor.stop()])
      await db.close()
    },
  }
}

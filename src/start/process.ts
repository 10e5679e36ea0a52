import { AggregatorRegistry } from 'prom-client'
import { type Config, readConfig } from '../config.ts'
import { systemClock } from '../platform/clock.ts'
import { createLog } from '../platform/log.ts'
import { systemRandomIds } from '../platform/random-ids.ts'
import { createService, type Service } from '../service.ts'
import { startWorker, type Worker } from '../worker/worker.ts'
import type { FromProcess, ToProcess } from './messages.ts'

/** A service process: started by the supervisor, told everything by it, gone when it is gone. */
const config = readConfig()
const log = createLog(config.logLevel, systemClock)
const tell = (message: FromProcess) => process.send?.(message)

let running: { service: Service; worker: Worker | undefined } | undefined
let stopping = false

// A terminal's Ctrl-C reaches the whole group; the supervisor alone decides when to drain.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))
process.on('message', (message: ToProcess) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'stop') void stop()
  else if (message.type === 'metrics') metricsAsked.get(message.id)?.(message.text)
})
tell({ type: 'hello' })

async function start(told: Extract<ToProcess, { type: 'start' }>): Promise<void> {
  try {
    const service = await createService({
      config,
      connection: told.connection,
      operatorToken: told.operatorToken,
      encryptionKeys: told.encryptionKeys.map((key) => Buffer.from(key, 'base64')),
      clock: systemClock,
      ids: systemRandomIds(),
      logger: log.logger,
      requestLine: log.requestLine,
      ...(config.processes > 1 ? { renderMetrics: askSupervisorForMetrics } : {}),
    })
    AggregatorRegistry.setRegistries(service.metrics.registry)
    new AggregatorRegistry()
    if (config.role !== 'worker') await service.app.listen({ host: config.host, port: config.port, backlog: 4_096 })
    if (config.role !== 'api') {
      service.deliveries.start()
      service.settlements.start()
      service.orders.start()
    }
    running = { service, worker: told.worker ? startWorker(service.sweeps, log.logger) : undefined }
    tell({ type: 'ready' })
  } catch (error) {
    tell({ type: 'failed', line: failureLine(config, error) })
  }
}

function failureLine({ host, port }: Config, error: unknown): string {
  const { code, message } = error as { code?: string; message: string }
  if (code === 'EADDRINUSE') return `PORT: ${port} is in use on ${host}`
  if (code === 'EACCES') return `PORT: no right to listen on ${host}:${port}`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `HOST: cannot listen on ${host}`
  log.logger.error({ err: error }, 'the service did not start')
  return message
}

async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  await Promise.all([running?.worker?.stop(), running?.service.close()])
  log.flush()
  process.exit(0)
}

const metricsAsked = new Map<number, (text: string) => void>()
let metricsCount = 0

function askSupervisorForMetrics(): Promise<string> {
  return new Promise((resolve) => {
    const id = ++metricsCount
    metricsAsked.set(id, (text) => {
      metricsAsked.delete(id)
      resolve(text)
    })
    tell({ type: 'metrics', id })
  })
}

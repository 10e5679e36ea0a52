import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500]

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  let depths: () => Readonly<Record<string, number>> = () => ({})
  new Gauge({
    name: 'quitado_queue_items',
    help: 'Items that wait for a batch.',
    labelNames: ['batch'],
    registers,
    // Read when somebody looks, in every process of the host.
    collect() {
      for (const [batch, depth] of Object.entries(depths())) this.set({ batch }, depth)
    },
  })
  return {
    registry,
    readQueueDepths(read: () => Readonly<Record<string, number>>) {
      depths = read
    },
    requests: new Histogram({
      name: 'quitado_http_request_seconds',
      help: 'Time to answer, by route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS,
      registers,
    }),
    batchSize: new Histogram({
      name: 'quitado_batch_items',
      help: 'Items committed together, by kind of batch.',
      labelNames: ['batch'],
      buckets: SIZES,
      registers,
    }),
    expired: new Counter({
      name: 'quitado_sales_expired_total',
      help: 'Sales cancelled because their time passed.',
      registers,
    }),
    deliveryAttempts: new Counter({
      name: 'quitado_webhook_attempts_total',
      help: 'Webhook attempts, by how they ended.',
      labelNames: ['status'],
      registers,
    }),
    deliverySeconds: new Histogram({
      name: 'quitado_webhook_attempt_seconds',
      help: 'Time a receiver took.',
      buckets: SECONDS,
      registers,
    }),
    deliveryHandOver: new Histogram({
      name: 'quitado_webhook_start_seconds',
      help: 'From a commit or a claim to the start of the attempt.',
      buckets: SECONDS,
      registers,
    }),
    deliveryBehind: new Gauge({
      name: 'quitado_webhook_behind_seconds',
      help: 'How long the account that waits longest for a delivery has been waiting.',
      aggregator: 'max',
      registers,
    }),
    alarms: new Counter({
      name: 'quitado_alarms_total',
      help: 'Things a person must look at.',
      labelNames: ['alarm'],
      registers,
    }),
  }
}

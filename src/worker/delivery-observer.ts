import type { DispatcherObserver } from '../modules/notification/index.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'

export function deliveryObserver(metrics: Metrics, logger: Logger): DispatcherObserver {
  return {
    attempted(status, durationMs) {
      metrics.deliveryAttempts.inc({ status })
      if (status !== 'LOST') metrics.deliverySeconds.observe(durationMs / 1000)
    },
    handedOver: (waitedMs) => metrics.deliveryHandOver.observe(waitedMs / 1000),
    behind: (ms) => metrics.deliveryBehind.set(ms / 1000),
    trouble: (error, doing) => logger.warn({ err: error, doing }, 'deliveries had trouble; they go on'),
  }
}

import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/calendar.ts'
import type { Logger } from '../platform/log.ts'
import {
  type SweepContext,
  sweepExpiries,
  sweepIdempotencyKeys,
  sweepLateExpiries,
  sweepNotificationDays,
  sweepOrders,
  sweepOutflows,
  sweepRecurrences,
  sweepSessions,
} from './sweeps.ts'

type Job = {
  readonly name: string
  readonly everyMs: number
  readonly run: (context: SweepContext) => Promise<unknown>
}

/** Which background work runs, and how often. */
const jobs: readonly Job[] = [
  { name: 'expire sales', everyMs: SECOND_MS, run: sweepExpiries },
  { name: 'settle what goes out', everyMs: SECOND_MS, run: sweepOutflows },
  { name: 'ask the rail about orders', everyMs: 5 * SECOND_MS, run: sweepOrders },
  { name: 'run recurrences', everyMs: SECOND_MS, run: sweepRecurrences },
  { name: 'expire sales committed late', everyMs: MINUTE_MS, run: sweepLateExpiries },
  { name: 'forget idempotency keys', everyMs: 10 * MINUTE_MS, run: sweepIdempotencyKeys },
  { name: 'forget sessions', everyMs: 10 * MINUTE_MS, run: sweepSessions },
  { name: 'keep days of notifications', everyMs: HOUR_MS, run: sweepNotificationDays },
]

export type Worker = { stop(): Promise<void> }

/** Each job at its own pace, never twice at once; a failure is logged and the next turn tries again. */
export function startWorker(context: SweepContext, logger: Logger): Worker {
  let stopped = false
  const loops = jobs.map((job) => {
    let timer: NodeJS.Timeout | undefined
    let running: Promise<void> = Promise.resolve()
    const turn = async () => {
      try {
        await job.run({ ...context, stopping: () => stopped })
      } catch (error) {
        if (!stopped) logger.warn({ err: error, job: job.name }, 'background work failed; it will be tried again')
      }
      if (!stopped) schedule()
    }
    const schedule = () => {
      timer = setTimeout(() => {
        running = turn()
      }, job.everyMs)
    }
    schedule()
    return {
      stop() {
        clearTimeout(timer)
        return running
      },
    }
  })
  return {
    async stop() {
      stopped = true
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

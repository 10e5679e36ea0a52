import { type DestinationStream, destination, type Logger, pino } from 'pino'

export type { Logger }

/** Values of these names never reach a log line. */
const secretPaths = ['apiToken', 'authorization', 'password', 'webhookSecret', 'token', 'x-api-token'].flatMap(
  (name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`],
)

export type Log = {
  readonly logger: Logger
  /** For lines whose every field is known to be no secret: looking for one would cost more than the line. */
  readonly plainLogger: Logger
  flush(): void
}

/** Lines go to standard error in small batches: a line a request must not cost a system call a request. */
export function createLog(level: string, stream?: DestinationStream): Log {
  const target = stream ?? destination({ dest: 2, sync: false, minLength: 4096 })
  const logger = pino({ level, redact: { paths: secretPaths, censor: '[secret]' }, base: { pid: process.pid } }, target)
  const plainLogger = pino({ level, base: { pid: process.pid } }, target)
  const flushable = target as Partial<{ flushSync(): void; flush(): void }>
  if (stream === undefined) setInterval(() => flushable.flush?.(), 500).unref()
  return {
    logger,
    plainLogger,
    flush() {
      try {
        flushable.flushSync?.()
      } catch {
        // Not opened yet: there is nothing to flush.
      }
    },
  }
}

import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { Clock } from './clock.ts'

export type { Logger }

/** Values of these names never reach a log line. */
const secretPaths = ['apiToken', 'authorization', 'password', 'webhookSecret', 'token', 'x-api-token'].flatMap(
  (name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`],
)

/** What PostgreSQL tells of a row (detail, where, query) is people's data: an error's name, place and code are enough. */
function errorLine(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { type, message, stack, code, table, constraint } = pino.stdSerializers.err(error)
  return { type, message, stack, code, table, constraint }
}

export type RequestFacts = {
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
  readonly accountId: number
}
/** Writes the line that a request leaves. Its fields are known and none is a secret, so nothing looks for one. */
export type RequestLine = (facts: RequestFacts) => void

export type Log = {
  readonly logger: Logger
  /** Undefined when the level leaves such lines out. */
  readonly requestLine: RequestLine | undefined
  flush(): void
}

type LogTarget = { readonly stream?: DestinationStream; readonly linesTogether?: number }

/** Lines go to standard error in small batches: a line a request must not cost a system call a request. */
export function createLog(
  level: string,
  clock: Clock,
  { stream, linesTogether = LINES_TOGETHER }: LogTarget = {},
): Log {
  const target = stream ?? destination({ dest: 2, sync: false, minLength: 4096 })
  const redact = { paths: secretPaths, censor: '[secret]' }
  const logger = pino({ level, redact, serializers: { err: errorLine }, base: { pid: process.pid } }, target)
  const flushable = target as Partial<{ flushSync(): void; flush(): void }>
  const requests = requestLines(target, clock, linesTogether)
  if (stream === undefined)
    setInterval(() => {
      requests.pass()
      flushable.flush?.()
    }, 500).unref()
  return {
    logger,
    requestLine: logger.isLevelEnabled('info') ? requests.add : undefined,
    flush() {
      requests.pass()
      try {
        flushable.flushSync?.()
      } catch {
        // Not opened yet: there is nothing to flush.
      }
    },
  }
}

const INFO = 30
/** The stream measures whatever it is given, which costs as much as making a line. */
const LINES_TOGETHER = 50

/** In the shape of the other lines but put together by hand: it is written ten thousand times a second. */
function requestLines(target: DestinationStream, clock: Clock, together: number) {
  const head = `{"level":${INFO},"pid":${process.pid},"time":`
  let waiting: string[] = []
  function pass(): void {
    if (waiting.length === 0) return
    const lines = waiting.join('')
    waiting = []
    target.write(lines)
  }
  const add: RequestLine = ({ requestId, method, path, status, ms, accountId }) => {
    const account = accountId === 0 ? '' : `,"accountId":${accountId}`
    const what = `"method":"${method}","path":${JSON.stringify(path)},"status":${status},"ms":${Math.round(ms * 1000) / 1000}`
    waiting.push(`${head}${clock.now()},"requestId":"${requestId}",${what}${account}}\n`)
    if (waiting.length >= together) pass()
  }
  return { add, pass }
}

import { Call, failed, type OutgoingAnswer } from './call.ts'
import { createConnector } from './connect.ts'
import { createInFlight } from './in-flight.ts'
import { createPools } from './pools.ts'
import { createResolveName, type ResolveName } from './resolve-name.ts'

export type { OutgoingAnswer } from './call.ts'
export type { OutgoingFailure } from './failure.ts'
export type { ResolvedAddress, ResolveName } from './resolve-name.ts'

export type OutgoingOptions = {
  /** All of it: name, connection, TLS, request, answer. */
  readonly timeoutMs: number
  /** False: only https, and only to public addresses. */
  readonly allowPrivate: boolean
  /** Addresses of a name; by default DNS (and the hosts file). */
  readonly resolve?: ResolveName
  /** Further certificates to trust, for tests with an authority of their own. */
  readonly ca?: string
}

export type OutgoingRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Outgoing = {
  /** POSTs once; never rejects, never follows a redirect, never sends a second time. */
  post(request: OutgoingRequest): Promise<OutgoingAnswer>
  /** Ends every call in flight with the failure `stopped`. */
  stopAll(): void
  /** Waits for the calls in flight, takes no more, and ends the connections. */
  close(): Promise<void>
}

/** Sends to strangers: no answer, however late, large or malformed, costs more than its own call. */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { timeoutMs, allowPrivate, ca, resolve = createResolveName() } = options
  const connector = createConnector({ timeoutMs, allowPrivate, resolve, ca })
  const inFlight = createInFlight(timeoutMs)
  const pools = createPools({
    connect: connector.connect,
    allowH2: false,
    // How many calls a receiver gets at once is decided by whoever posts them.
    connections: null,
    pipelining: 1,
    // The call's own deadline covers these.
    headersTimeout: 0,
    bodyTimeout: 0,
    // An idle connection is dropped before the receiver does: a request sent into its closing is lost.
    keepAliveTimeout: 1_500,
    keepAliveTimeoutThreshold: 1_000,
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: 16_384,
  })
  let closed = false

  return {
    post({ url, headers, body }) {
      if (closed) return Promise.resolve(failed('stopped'))
      const target = URL.parse(url)
      const secure = target?.protocol === 'https:'
      if (target === null || !(secure || target.protocol === 'http:')) return Promise.resolve(failed('invalid'))
      if (!secure && !allowPrivate) return Promise.resolve(failed('forbidden'))
      return new Promise((answer) => {
        const call = new Call(inFlight, secure, answer)
        const path = target.pathname + target.search
        pools.dispatch({ origin: target.origin, path, method: 'POST', headers, body }, call)
      })
    },
    stopAll: () => inFlight.stopAll(),
    async close() {
      closed = true
      await inFlight.idle()
      connector.abandon()
      await pools.destroy()
    },
  }
}

import type { Dispatcher } from 'undici'
import { failureOf, type OutgoingFailure } from './failure.ts'
import type { InFlight, UnderWay } from './in-flight.ts'

export type OutgoingAnswer = {
  /** 0 when no status arrived. */
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  /** At most 16 KiB of it. */
  readonly body: Buffer
  readonly truncated: boolean
  /** Null when the answer came in whole, or as much of it as is ever read (64 KiB); else why not. */
  readonly failure: OutgoingFailure | null
}

const KEPT_MAX = 16_384
// Reading a little on saves the connection for the next call.
const READ_MAX = 65_536

const noHeaders: OutgoingAnswer['headers'] = Object.freeze({})
const noBody = Buffer.alloc(0)
const over = new Error('the call is over')

export const failed = (failure: OutgoingFailure): OutgoingAnswer => ({
  status: 0,
  headers: noHeaders,
  body: noBody,
  truncated: false,
  failure,
})

/** One request and what comes of it. It is answered once; whatever happens later changes nothing. */
export class Call implements Dispatcher.DispatchHandler, UnderWay {
  deadline = 0
  before: UnderWay | null = null
  after: UnderWay | null = null

  readonly #inFlight: InFlight
  readonly #secure: boolean
  #answer: ((answer: OutgoingAnswer) => void) | null
  #controller: Dispatcher.DispatchController | null = null
  #status = 0
  #headers = noHeaders
  readonly #kept: Buffer[] = []
  #read = 0

  constructor(inFlight: InFlight, secure: boolean, answer: (answer: OutgoingAnswer) => void) {
    this.#inFlight = inFlight
    this.#secure = secure
    this.#answer = answer
    inFlight.add(this)
  }

  end(why: 'timeout' | 'stopped'): void {
    this.#finish()?.(this.#said(why))
    this.#controller?.abort(over)
  }

  /** Connected, nothing written yet: a call that is over ends here, and none of its bytes leave. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#answer === null) controller.abort(over)
    else this.#controller = controller
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status
    this.#headers = headers as OutgoingAnswer['headers']
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = KEPT_MAX - this.#read
    // A part is copied, or it would keep the whole in memory.
    if (room > 0) this.#kept.push(chunk.length <= room ? chunk : Buffer.from(chunk.subarray(0, room)))
    this.#read += chunk.length
    if (this.#read <= READ_MAX) return
    this.#finish()?.(this.#said(null))
    controller.abort(over)
  }

  onResponseEnd(): void {
    const answer = this.#finish()
    // The connection is free one turn of the event loop from now. A next call at once would open another.
    if (answer !== null) process.nextTick(setImmediate, answer, this.#said(null))
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const connected = this.#controller !== null
    this.#finish()?.(this.#said(failureOf(error, { secure: this.#secure, connected, status: this.#status })))
  }

  /** Whom to answer, unless that is done. */
  #finish(): ((answer: OutgoingAnswer) => void) | null {
    const answer = this.#answer
    if (answer !== null) this.#inFlight.remove(this)
    this.#answer = null
    return answer
  }

  #said(failure: OutgoingFailure | null): OutgoingAnswer {
    return {
      status: this.#status,
      headers: this.#headers,
      body: this.#kept.length <= 1 ? (this.#kept[0] ?? noBody) : Buffer.concat(this.#kept),
      truncated: this.#read > KEPT_MAX,
      failure,
    }
  }
}

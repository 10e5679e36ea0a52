import { connect, type Socket } from 'node:net'

/** One HTTP request, as the bytes that go over the wire. */
export type MakeRequest = (index: number) => Buffer

export type LoadOptions = {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Open loop: so many requests a second are due whatever the service does. Absent: as fast as answers come. */
  readonly perSecond?: number
  readonly make: MakeRequest
  readonly onAnswer?: (status: number, body: Buffer) => void
}

export type LoadResult = {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
  readonly statuses: Readonly<Record<string, number>>
}

const HEADER_END = Buffer.from('\r\n\r\n')

/**
 * A small HTTP client on bare sockets: a generator that costs more than the service would measure itself. In an open
 * loop the time counts from when a request was due, not from when it could be sent (no coordinated omission).
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const began = performance.now()
  const measureFrom = began + options.warmUpSeconds * 1000
  const end = measureFrom + options.seconds * 1000
  let sent = 0

  const dueTime = (index: number) =>
    options.perSecond === undefined ? undefined : began + (index * 1000) / options.perSecond
  const lanes = Array.from({ length: options.connections }, () => openLane(options.port))
  const sockets = await Promise.all(lanes)

  await Promise.all(
    sockets.map(async (lane) => {
      for (;;) {
        const index = sent++
        const due = dueTime(index)
        if (due !== undefined) await until(due)
        const start = due ?? performance.now()
        if (start >= end) break
        const { status, body } = await lane.send(options.make(index))
        const now = performance.now()
        options.onAnswer?.(status, body)
        if (start >= measureFrom && now <= end + 1000) {
          latencies.push(now - start)
          statuses[status] = (statuses[status] ?? 0) + 1
        }
      }
      lane.close()
    }),
  )
  return summarise(latencies, statuses, options.seconds)
}

function summarise(latencies: number[], statuses: Record<string, number>, seconds: number): LoadResult {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return {
    requests: sorted.length,
    perSecond: Math.round(sorted.length / seconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: at(1),
    statuses,
  }
}

export const round = (value: number, decimals = 2): number => Math.round(value * 10 ** decimals) / 10 ** decimals

/** Never early, and not to the microsecond: a generator that spins would take the core that it wants to measure. */
async function until(due: number): Promise<void> {
  for (let wait = due - performance.now(); wait > 0; wait = due - performance.now())
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(wait)))
}

export type Answer = { readonly status: number; readonly body: Buffer; readonly retryAfter: boolean }
export type Lane = { send(request: Buffer): Promise<Answer>; close(): void }

export function openLane(port: number): Promise<Lane> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
    let held: Buffer | undefined
    socket.on('error', (error) => (waiting ? waiting.reject(error) : reject(error)))
    socket.on('close', () => waiting?.reject(new Error('the service closed the connection')))
    socket.on('data', (chunk) => {
      held = held === undefined ? chunk : Buffer.concat([held, chunk])
      const answer = parse(held)
      if (answer === undefined) return
      held = undefined
      const { resolve: done } = waiting!
      waiting = undefined
      done(answer)
    })
    socket.on('connect', () =>
      resolve({
        send: (request) =>
          new Promise((done, failed) => {
            if (socket.destroyed) return failed(new Error('the connection is closed'))
            waiting = { resolve: done, reject: failed }
            socket.write(request)
          }),
        close: () => socket.destroy(),
      }),
    )
  })
}

function parse(bytes: Buffer): Answer | undefined {
  const headerEnd = bytes.indexOf(HEADER_END)
  if (headerEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headerEnd)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  if (bytes.length < headerEnd + 4 + length) return undefined
  const status = Number(head.slice(9, 12))
  return { status, body: bytes.subarray(headerEnd + 4), retryAfter: status === 503 && /retry-after: /i.test(head) }
}

export function httpRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const content =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}${content}\r\n${body ?? ''}`)
}

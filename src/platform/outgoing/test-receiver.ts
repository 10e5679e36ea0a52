import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'

/** A request as it came over the wire. */
export type Received = { readonly head: string; readonly body: Buffer }

export type Receiver = {
  readonly port: number
  readonly url: string
  /** Requests that came in whole. */
  readonly requests: Received[]
  readonly connections: Socket[]
  /** All bytes that came, request or not. */
  bytes(): number
  /** Resolves with the next connection, before any TLS. */
  accepted(): Promise<Socket>
  /** Resolves with the next request. */
  requested(): Promise<Received>
}

export type ReceiverOptions = { readonly tls?: TlsOptions; readonly host?: string; readonly port?: number }

/** Some containers have none. */
export const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

/** Answers each request as told, byte by byte: no HTTP library smooths it over. */
export async function startReceiver(
  answer: (socket: Socket, request: Received) => unknown,
  { tls, host = '127.0.0.1', port = 0 }: ReceiverOptions = {},
): Promise<Receiver> {
  const requests: Received[] = []
  const connections: Socket[] = []
  const raw = new Set<Socket>()
  let bytes = 0
  const serve = (socket: Socket) => {
    connections.push(socket)
    let pending = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      pending = Buffer.concat([pending, chunk])
      for (let request = firstRequest(pending); request !== undefined; request = firstRequest(pending)) {
        pending = pending.subarray(request.head.length + request.body.length)
        requests.push(request)
        server.emit('requested', request)
        answer(socket, request)
      }
    })
  }
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
  server.on('connection', (socket: Socket) => {
    raw.add(socket)
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  server.listen(port, host)
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of raw) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const listening = (server.address() as AddressInfo).port
  return {
    port: listening,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${listening}/hook`,
    requests,
    connections,
    bytes: () => bytes,
    accepted: async () => (await once(server, 'connection'))[0] as Socket,
    requested: async () => (await once(server, 'requested'))[0] as Received,
  }
}

function firstRequest(bytes: Buffer): Received | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end + 4)
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  const body = bytes.subarray(end + 4, end + 4 + length)
  return body.length === length ? { head, body } : undefined
}

/** Resolves when the socket is closed, however that came about. */
export const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()))

/** A whole answer. */
export function response(status: number, headers: readonly string[] = [], body: Buffer | string = ''): Buffer {
  const lines = [`HTTP/1.1 ${status} Any`, ...headers]
  if (status !== 204) lines.push(`content-length: ${Buffer.byteLength(body)}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)])
}

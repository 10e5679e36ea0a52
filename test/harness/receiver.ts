import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export type ReceivedCall = {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}
export type Answering = (reply: ServerResponse, call: ReceivedCall, request: IncomingMessage) => void

export type Receiver = {
  readonly url: string
  readonly port: number
  readonly calls: ReceivedCall[]
  /** From now on; a number answers that status. */
  answer(how: Answering | number): void
  /** Resolves when so many calls have arrived in all. */
  received(count: number): Promise<void>
  stop(): Promise<void>
}

/** A merchant's webhook endpoint: it keeps what arrives and answers as it is told, 200 at first. */
export async function startReceiver(): Promise<Receiver> {
  const calls: ReceivedCall[] = []
  const sockets = new Set<Socket>()
  let waiting: { count: number; done: () => void }[] = []
  let how: Answering = (reply) => void reply.end('ok')
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const call = {
        url: request.url!,
        headers: request.headers,
        text,
        body: text === '' ? undefined : JSON.parse(text),
      }
      calls.push(call)
      how(reply, call, request)
      for (const { done } of waiting.filter(({ count }) => calls.length >= count)) done()
      waiting = waiting.filter(({ count }) => calls.length < count)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    calls,
    answer(told) {
      how = typeof told === 'number' ? (reply) => void reply.writeHead(told).end() : told
    },
    received: (count) =>
      calls.length >= count ? Promise.resolve() : new Promise((done) => waiting.push({ count, done })),
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

import { createServer, type Socket } from 'node:net'

/** Receivers that must harm nobody but themselves: one never answers, one answers a byte a second. */
export type BadReceivers = { readonly blackHole: number; readonly drip: number; readonly closed: number }

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok'

function swallow(socket: Socket): void {
  socket.on('error', () => {})
  socket.resume()
}

function drip(socket: Socket): void {
  let sent = 0
  socket.on('error', () => {})
  socket.once('data', () => {
    const timer = setInterval(() => {
      if (sent < ANSWER.length) socket.write(ANSWER[sent++]!)
    }, 1_000)
    socket.on('close', () => clearInterval(timer))
  })
}

function listen(serve: (socket: Socket) => void): Promise<{ port: number; close(): Promise<unknown> }> {
  const server = createServer(serve)
  return new Promise((done) =>
    server.listen(0, '127.0.0.1', 1_024, () =>
      done({
        port: (server.address() as { port: number }).port,
        close: () => new Promise((closed) => server.close(closed)),
      }),
    ),
  )
}

const [hole, dripping, closed] = [await listen(swallow), await listen(drip), await listen(swallow)]
await closed.close()
process.on('disconnect', () => process.exit(0))
process.send?.({ blackHole: hole.port, drip: dripping.port, closed: closed.port } satisfies BadReceivers)

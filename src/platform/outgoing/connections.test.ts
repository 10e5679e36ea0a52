import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createConnector } from './connect.ts'
import { createOutgoing, type OutgoingOptions } from './outgoing.ts'
import { closed, hasIPv6, response, startReceiver } from './test-receiver.ts'

function outgoing(options: Partial<OutgoingOptions> = {}) {
  const made = createOutgoing({ timeoutMs: 10_000, allowPrivate: true, ...options })
  onTestFinished(() => made.close())
  return made
}

const request = (url: string) => ({ url, headers: {}, body: '{}' })

describe('a connection', () => {
  test('is used again by the next call, even one made at once', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const { post } = outgoing()
    for (let call = 1; call <= 5; call += 1) await post(request(receiver.url))
    expect(receiver.requests).toHaveLength(5)
    expect(receiver.connections).toHaveLength(1)
  })

  test('outlives the call that made it', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const timeoutMs = 200
    const { post } = outgoing({ timeoutMs })
    for (const began = performance.now(); performance.now() < began + 2 * timeoutMs; )
      expect(await post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
    expect(receiver.connections).toHaveLength(1)
  })

  test('once made is not given up with those being made', async () => {
    const receiver = await startReceiver(() => {})
    const { connect, abandon } = createConnector({ timeoutMs: 10_000, allowPrivate: true, resolve: async () => [] })
    const target = { hostname: '127.0.0.1', protocol: 'http:', port: String(receiver.port) }
    const made = await new Promise<Socket | null>((resolve) => connect(target, (_error, socket) => resolve(socket)))
    abandon()
    expect(made).toMatchObject({ destroyed: false })
    made?.destroy()
  })

  test('carries one call at a time', async () => {
    const waiting: Socket[] = []
    const receiver = await startReceiver((socket) => {
      waiting.push(socket)
      if (waiting.length === 20) for (const one of waiting) one.write(response(200))
    })
    const { post } = outgoing()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(request(receiver.url))))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(receiver.connections).toHaveLength(20)
  })

  test('that the receiver closed while idle is not used', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const { post } = outgoing()
    await post(request(receiver.url))
    const [socket] = receiver.connections
    socket!.end()
    // The client has taken note when its own side is closed too.
    await closed(socket!)
    expect(await post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
    expect(receiver.connections).toHaveLength(2)
  })

  test('that answers with close is not used again', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200, ['connection: close'])))
    const { post } = outgoing()
    await post(request(receiver.url))
    expect(await post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
    expect(receiver.connections).toHaveLength(2)
  })

  test.each([
    ['no hint', []],
    ['a hint of two seconds', ['keep-alive: timeout=2']],
  ])('with %s is closed by us when it stays idle', async (_name, headers) => {
    const receiver = await startReceiver((socket) => socket.write(response(200, headers)))
    await outgoing().post(request(receiver.url))
    await closed(receiver.connections[0]!)
  })

  test('with a hint of a second is not kept', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200, ['keep-alive: timeout=1'])))
    const { post } = outgoing()
    await post(request(receiver.url))
    await post(request(receiver.url))
    expect(receiver.connections).toHaveLength(2)
  })

  test('with words nobody asked for is not used again', async () => {
    const receiver = await startReceiver((socket) => socket.write(Buffer.concat([response(200), response(500)])))
    const { post } = outgoing()
    expect(await post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
    expect(await post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
    expect(receiver.connections).toHaveLength(2)
  })
})

describe('a connection that fails', () => {
  test('refused by a closed port', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`
    const { post } = outgoing()
    expect(await post(request(url))).toMatchObject({ status: 0, failure: 'refused' })
    expect(await post(request(url.replace('127.0.0.1', 'localhost')))).toMatchObject({ status: 0, failure: 'refused' })
  })

  const resets: [string, (socket: Socket) => void, number][] = [
    ['reset before the answer', (socket) => socket.resetAndDestroy(), 0],
    ['closed before the answer', (socket) => socket.end(), 0],
    ['closed within the head', (socket) => socket.end('HTTP/1.1 200 OK\r\nx:'), 0],
    ['closed after an informational answer', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'), 0],
    ['closed within the body', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal'), 200],
    [
      'closed as announced, but within the body',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nhal'),
      200,
    ],
    [
      'closed as announced, but within a chunk',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhal'),
      200,
    ],
  ]

  test.each(resets)('%s', async (_name, answer, status) => {
    const receiver = await startReceiver(answer)
    const answered = await outgoing().post(request(receiver.url))
    expect(answered).toMatchObject({ status, failure: 'reset' })
    expect(answered.body.toString()).toBe(status === 0 ? '' : 'hal')
    // Never a second time: the receiver may have acted on the first.
    expect(receiver.requests).toHaveLength(1)
  })

  test('reset within the body', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal')
      setTimeout(() => socket.resetAndDestroy(), 50)
    })
    const answered = await outgoing().post(request(receiver.url))
    expect(answered).toMatchObject({ status: 200, failure: 'reset' })
  })

  test('a used one that breaks under the next call is not repeated', async () => {
    const receiver = await startReceiver((socket) => {
      if (receiver.requests.length === 1) socket.write(response(200))
      else socket.resetAndDestroy()
    })
    const { post } = outgoing()
    await post(request(receiver.url))
    expect(await post(request(receiver.url))).toMatchObject({ status: 0, failure: 'reset' })
    expect(receiver.requests).toHaveLength(2)
  })
})

describe('names', () => {
  test.each(['localhost', 'LOCALHOST', 'localhost.', 'shop.localhost', 'a.b.localhost.'])(
    '%s is this machine, whatever the name server says',
    async (name) => {
      const receiver = await startReceiver((socket) => socket.write(response(200)))
      const { post } = outgoing({ resolve: () => Promise.reject(new Error('asked')) })
      expect(await post(request(`http://${name}:${receiver.port}/`))).toMatchObject({ status: 200, failure: null })
    },
  )

  test.skipIf(!hasIPv6)('localhost is IPv6 too', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)), { host: '::1' })
    expect(await outgoing().post(request(`http://localhost:${receiver.port}/`))).toMatchObject({ status: 200 })
  })

  test('an address that refuses gives way to the next', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const { post } = outgoing({
      resolve: async () => [
        { address: '::1', family: 6 },
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    })
    expect(await post(request(`http://receiver.test:${receiver.port}/`))).toMatchObject({ status: 200, failure: null })
  })

  test.each([
    ['has no address', async () => []],
    ['is not found', () => Promise.reject(new Error('ENOTFOUND'))],
  ])('a name that %s', async (_name, resolve) => {
    const answered = await outgoing({ resolve }).post(request('http://receiver.test/'))
    expect(answered).toMatchObject({ status: 0, failure: 'name' })
  })
})

/** A port that nobody listens on, just now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

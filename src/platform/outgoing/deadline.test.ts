import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutgoing, type OutgoingOptions, type ResolvedAddress } from './outgoing.ts'
import { receiverCertificate, receiverKey, testAuthority } from './test-certificates.ts'
import { closed, response, startReceiver } from './test-receiver.ts'

const loopback: ResolvedAddress = { address: '127.0.0.1', family: 4 }

function outgoing(options: Partial<OutgoingOptions> = {}) {
  const made = createOutgoing({ timeoutMs: 10_000, allowPrivate: true, ...options })
  onTestFinished(() => made.close())
  return made
}

const request = (url: string) => ({ url, headers: {}, body: '{}' })

describe('the deadline', () => {
  const cases: [string, (socket: Socket) => void, object][] = [
    ['no answer', () => {}, { status: 0, headers: {} }],
    ['half a head', (socket) => socket.write('HTTP/1.1 200 OK\r\nx: '), { status: 0, headers: {} }],
    ['an informational answer only', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), { status: 0 }],
    ['a head that drips', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ', 'y'), { status: 0 }],
    ['no body', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n'), { status: 200 }],
    ['a body that drips', (socket) => drip(socket, 'HTTP/1.1 500 OK\r\nx: y\r\n\r\n', 'z'), { status: 500 }],
    [
      'a redirect without end',
      (socket) => drip(socket, 'HTTP/1.1 302 OK\r\nlocation: /\r\n\r\n', 'z'),
      { status: 302 },
    ],
  ]

  test.each(cases)('ends %s', async (_name, answer, expected) => {
    const receiver = await startReceiver(answer)
    const ended = receiver.accepted().then(closed)
    const answered = await outgoing({ timeoutMs: 300 }).post(request(receiver.url))
    expect(answered).toMatchObject({ ...expected, failure: 'timeout' })
    await ended
  })

  test('keeps what had come by then', async () => {
    const receiver = await startReceiver((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 9\r\n\r\nhal'),
    )
    const answered = await outgoing({ timeoutMs: 300 }).post(request(receiver.url))
    expect(answered).toMatchObject({ status: 200, headers: { x: 'y' }, truncated: false, failure: 'timeout' })
    expect(answered.body.toString()).toBe('hal')
  })

  test('covers the name', async () => {
    const { post } = outgoing({ timeoutMs: 300, resolve: () => new Promise(() => {}) })
    expect(await post(request('http://receiver.test/'))).toMatchObject({ status: 0, failure: 'timeout' })
  })

  test('covers the greeting of TLS', async () => {
    const receiver = await startReceiver(() => {})
    const answered = await outgoing({ timeoutMs: 300 }).post(request(receiver.url.replace('http:', 'https:')))
    expect(answered).toMatchObject({ status: 0, failure: 'timeout' })
  })

  test('is each call’s own', async () => {
    const answers: (() => void)[] = []
    const receiver = await startReceiver((socket) => answers.push(() => socket.write(response(200))))
    const { post } = outgoing({ timeoutMs: 600 })
    const first = post(request(receiver.url))
    await receiver.requested()
    const second = post(request(receiver.url))
    await receiver.requested()
    answers[1]!()
    expect(await second).toMatchObject({ status: 200, failure: null })
    // The timer was set for the first call; a third one gets another.
    const third = post(request(receiver.url))
    expect(await first).toMatchObject({ status: 0, failure: 'timeout' })
    expect(await third).toMatchObject({ status: 0, failure: 'timeout' })
  })
})

describe('a call that is over', () => {
  test.each(['http', 'https'])('sends nothing by %s when the connection comes late', async (scheme) => {
    const tls = scheme === 'https' ? { tls: { key: receiverKey, cert: receiverCertificate } } : {}
    const receiver = await startReceiver((socket) => socket.write(response(200)), tls)
    const name = Promise.withResolvers<ResolvedAddress[]>()
    const { post, stopAll } = outgoing({ ca: testAuthority, resolve: () => name.promise })
    const call = post(request(`${scheme}://receiver.test:${receiver.port}/`))
    stopAll()
    expect(await call).toMatchObject({ status: 0, failure: 'stopped' })
    const accepted = receiver.accepted()
    name.resolve([loopback])
    await closed(await accepted)
    expect(receiver.bytes()).toBe(0)
  })

  test('sends nothing when its time passed while connecting', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const name = Promise.withResolvers<ResolvedAddress[]>()
    const { post } = outgoing({ timeoutMs: 300, resolve: () => name.promise })
    const url = `http://receiver.test:${receiver.port}/`
    expect(await post(request(url))).toMatchObject({ status: 0, failure: 'timeout' })
    name.resolve([loopback])
    // The next call goes through: had the first one been sent, it would have come before it.
    expect(await post(request(url))).toMatchObject({ status: 200, failure: null })
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('stopping', () => {
  test('ends all calls in flight, wherever they are', async () => {
    const silent = await startReceiver(() => {})
    const inBody = await startReceiver((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n1'))
    const { post, stopAll } = outgoing({ resolve: () => new Promise(() => {}) })
    const calls = [post(request('http://receiver.test/')), post(request(silent.url)), post(request(inBody.url))]
    const ended = [silent, inBody].map((receiver) => receiver.accepted().then(closed))
    await Promise.all([silent.requested(), inBody.requested()])
    stopAll()
    expect((await Promise.all(calls)).map(({ failure }) => failure)).toEqual(['stopped', 'stopped', 'stopped'])
    await Promise.all(ended)
  })

  test('does not touch the calls that come after it', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const { post, stopAll } = outgoing()
    stopAll()
    expect(await post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
  })

  test('closing waits for the calls in flight and takes no more', async () => {
    let finish = () => {}
    const receiver = await startReceiver((socket) => {
      finish = () => socket.write(response(200))
    })
    const { post, close } = outgoing()
    const call = post(request(receiver.url))
    await receiver.requested()
    const closing = close()
    expect(await post(request(receiver.url))).toMatchObject({ status: 0, failure: 'stopped' })
    finish()
    expect(await call).toMatchObject({ status: 200, failure: null })
    await closing
    await close()
  })

  test('closing ends idle connections and those still being made', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200, ['keep-alive: timeout=3600'])))
    // It takes the connection and never greets.
    const mute = createServer().listen(0, '127.0.0.1')
    await once(mute, 'listening')
    onTestFinished(() => void mute.close())
    const { post, stopAll, close } = outgoing()
    await post(request(receiver.url))
    const muted = once(mute, 'connection')
    const call = post(request(`https://127.0.0.1:${(mute.address() as { port: number }).port}/`))
    const [socket] = (await muted) as [Socket]
    const ended = [closed(receiver.connections[0]!), closed(socket.on('error', () => {}).resume())]
    stopAll()
    await call
    await close()
    await Promise.all(ended)
  })
})

/** Byte after byte, until the other side has had enough. */
function drip(socket: Socket, beginning: string, byte: string): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(byte), 10)
  socket.once('close', () => clearInterval(timer))
}

import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutgoing, type OutgoingOptions } from './outgoing.ts'
import { response, startReceiver } from './test-receiver.ts'

const KiB = 1024

function outgoing(options: Partial<OutgoingOptions> = {}) {
  const made = createOutgoing({ timeoutMs: 10_000, allowPrivate: true, ...options })
  onTestFinished(() => made.close())
  return made
}

/** Posts to a receiver that answers with these bytes and leaves the connection open. */
async function postTo(answer: Buffer | string, options: Partial<OutgoingOptions> = {}) {
  const receiver = await startReceiver((socket) => socket.write(answer))
  const answered = await outgoing(options).post({ url: receiver.url, headers: {}, body: '{}' })
  return { receiver, answered }
}

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`

describe('the request', () => {
  test('arrives byte for byte', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const body = '{"value":12.50,"payer":"José \u{1F600}","note":"a\\u0000b"}'
    const headers = { 'Content-Type': 'application/json', 'X-Odd': ' two  spaces;é', 'webhook-id': '1' }
    await outgoing().post({ url: `${receiver.url}/a%20b/../c?x=1&y=%2F#part`, headers, body })
    const [request] = receiver.requests
    expect(request!.head.split('\r\n')).toEqual([
      'POST /hook/c?x=1&y=%2F HTTP/1.1',
      `host: 127.0.0.1:${receiver.port}`,
      'connection: keep-alive',
      'Content-Type: application/json',
      'X-Odd:  two  spaces;é',
      'webhook-id: 1',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      '',
    ])
    expect(request!.body.toString()).toBe(body)
  })

  test('may be empty', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    expect(await outgoing().post({ url: receiver.url, headers: {}, body: '' })).toMatchObject({ status: 200 })
    expect(receiver.requests[0]!.head).toContain('content-length: 0\r\n')
  })

  test('leaves the name and password of an address behind', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const url = `http://name:password@127.0.0.1:${receiver.port}/`
    expect(await outgoing().post({ url, headers: {}, body: '' })).toMatchObject({ status: 200, failure: null })
    expect(receiver.requests[0]!.head).not.toContain('authorization')
  })

  test.each([
    '',
    'receiver',
    '/hook',
    'https://',
    'http://[::1',
    'http://a b/',
    'ftp://127.0.0.1/',
    'http://127.0.0.1:99999/',
  ])('is invalid with the address "%s"', async (url) =>
    expect(await outgoing().post({ url, headers: {}, body: '' })).toMatchObject({ status: 0, failure: 'invalid' }),
  )

  test.each([
    { 'a b': 'x' },
    { a: 'x\r\ninjected: y' },
    { a: '\u{1F600}' },
    { 'content-length': '7' },
    { 'transfer-encoding': 'chunked' },
    { expect: '100-continue' },
  ])('is invalid with the headers %j', async (headers) => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const answered = await outgoing().post({
      url: receiver.url,
      headers: headers as Record<string, string>,
      body: '{}',
    })
    expect(answered).toMatchObject({ status: 0, failure: 'invalid' })
    expect(receiver.bytes()).toBe(0)
  })
})

describe('the answer', () => {
  test.each([200, 201, 202, 204, 400, 404, 410, 429, 500, 503])('%i is told with headers and body', async (status) => {
    const body = status === 204 ? '' : 'said'
    const { answered } = await postTo(response(status, ['Retry-After: 7'], body))
    expect(answered).toMatchObject({ status, headers: { 'retry-after': '7' }, truncated: false, failure: null })
    expect(answered.body.toString()).toBe(body)
  })

  test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    const target = await startReceiver((socket) => socket.write(response(200)))
    const { answered, receiver } = await postTo(response(status, [`location: ${target.url}`]))
    expect(answered).toMatchObject({ status, headers: { location: target.url }, failure: null })
    expect(receiver.requests).toHaveLength(1)
    expect(target.connections).toHaveLength(0)
  })

  test('keeps headers that come twice, and any name', async () => {
    const { answered } = await postTo(response(200, ['Set-Cookie: a=1', 'set-cookie: b=2', '__proto__: x', 'x: \xe9']))
    expect(answered.headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], x: '\xe9' })
    expect(Object.entries(answered.headers)).toContainEqual(['__proto__', 'x'])
  })

  test.each([
    ['100', head('HTTP/1.1 100 Continue')],
    ['103', head('HTTP/1.1 103 Early Hints', 'link: </a>', 'link: </b>')],
    [
      '100, 102 and 103',
      head('HTTP/1.1 100') + head('HTTP/1.1 102 Processing', 'a: b') + head('HTTP/1.1 103 x', 'c: d'),
    ],
    ['100 of HTTP/1.0', head('HTTP/1.0 100 Continue')],
  ])('passes over %s, in one piece and in single bytes', async (_name, informational) => {
    const whole = Buffer.concat([Buffer.from(informational), response(200, ['e: f'], 'HTTP/1.1 100 Continue\r\n\r\n')])
    const expected = { status: 200, headers: { e: 'f' }, failure: null }
    const { answered } = await postTo(whole)
    expect(answered).toMatchObject(expected)
    expect(answered.headers).not.toHaveProperty('c')
    expect(answered.body.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    const drip = await startReceiver((socket) => writeEach(socket, whole))
    const dripped = await outgoing().post({ url: drip.url, headers: {}, body: '{}' })
    expect(dripped).toMatchObject(expected)
    expect(dripped.body).toEqual(answered.body)
  })

  test('passes over a 100 on a connection that is used again', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write(head('HTTP/1.1 100 Continue'))
      socket.write(response(200, [], 'ok'))
    })
    const { post } = outgoing()
    for (let call = 1; call <= 3; call += 1) {
      const answered = await post({ url: receiver.url, headers: {}, body: '{}' })
      expect(answered).toMatchObject({ status: 200, failure: null })
    }
    expect(receiver.connections).toHaveLength(1)
  })

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['a wrong version', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a broken header', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n'],
    ['a broken header after a length', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nno colon\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
    ['headers over 16 KiB', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(16 * KiB)}\r\n\r\n`],
    ['many small headers', `HTTP/1.1 200 OK\r\n${'xxxxxxx: yyyyyyy\r\n'.repeat(2_000)}\r\n`],
    ['an endless informational answer', `HTTP/1.1 100 Continue\r\n${'xxxxxxx: yyyyyyy\r\n'.repeat(2_000)}`],
  ])('is invalid with %s', async (_name, bytes) => {
    const { answered } = await postTo(bytes)
    expect(answered).toMatchObject({ status: 0, failure: 'invalid', truncated: false })
    expect(answered.body).toHaveLength(0)
  })

  test('keeps the status when a chunk is malformed', async () => {
    const { answered } = await postTo('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n')
    expect(answered).toMatchObject({ status: 200, failure: 'invalid' })
    expect(answered.body.toString()).toBe('ok')
  })

  test('may have 15 KiB of headers', async () => {
    const { answered } = await postTo(response(200, [`x: ${'x'.repeat(15 * KiB)}`]))
    expect(answered).toMatchObject({ status: 200, failure: null })
  })

  test('without a length ends with the connection', async () => {
    const receiver = await startReceiver((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nto the end'))
    const answered = await outgoing().post({ url: receiver.url, headers: {}, body: '{}' })
    expect(answered).toMatchObject({ status: 200, failure: null })
    expect(answered.body.toString()).toBe('to the end')
  })
})

describe('the body of an answer', () => {
  const letters = (length: number) => Buffer.alloc(length, 'abcdefghijklmnopqrstuvwxyz')

  test.each([
    [16 * KiB - 1, false],
    [16 * KiB, false],
    [16 * KiB + 1, true],
    [64 * KiB - 1, true],
    [64 * KiB, true],
    [64 * KiB + 1, true],
    [1024 * KiB, true],
  ])('of %i bytes: truncated %s', async (length, truncated) => {
    const { answered } = await postTo(response(200, [], letters(length)))
    expect(answered).toMatchObject({ status: 200, truncated, failure: null })
    expect(answered.body).toEqual(letters(Math.min(length, 16 * KiB)))
  })

  test.each([
    [64 * KiB, 1],
    [65 * KiB + 1, 2],
  ])('of %i bytes leaves %i connection for two calls', async (length, connections) => {
    const receiver = await startReceiver((socket) => socket.write(response(200, [], letters(length))))
    const { post } = outgoing()
    await post({ url: receiver.url, headers: {}, body: '{}' })
    await post({ url: receiver.url, headers: {}, body: '{}' })
    expect(receiver.connections).toHaveLength(connections)
  })

  test('that never ends is read to 64 KiB and answers as complete', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const pour = () => {
        while (!socket.destroyed && socket.write(`400\r\n${'x'.repeat(KiB)}\r\n`));
      }
      socket.on('drain', pour)
      pour()
    })
    const answered = await outgoing().post({ url: receiver.url, headers: {}, body: '{}' })
    expect(answered).toMatchObject({ status: 200, truncated: true, failure: null })
    expect(answered.body).toEqual(Buffer.alloc(16 * KiB, 'x'))
  })

  test('that is compressed stays as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000 * KiB))
    const { answered } = await postTo(response(200, ['content-encoding: gzip'], bomb))
    expect(answered).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' }, failure: null })
    expect(answered.body).toEqual(bomb.subarray(0, 16 * KiB))
  })

  test('in many small pieces is put together', async () => {
    const receiver = await startReceiver((socket) => writeEach(socket, response(200, [], letters(300))))
    const answered = await outgoing().post({ url: receiver.url, headers: {}, body: '{}' })
    expect(answered).toMatchObject({ status: 200, truncated: false, failure: null })
    expect(answered.body).toEqual(letters(300))
  })
})

/** Each byte in a packet of its own, as far as that can be had. */
async function writeEach(socket: Socket, bytes: Buffer): Promise<void> {
  socket.setNoDelay(true)
  for (const byte of bytes) {
    socket.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
}

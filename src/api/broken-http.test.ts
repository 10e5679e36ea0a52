import { EventEmitter } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()

/** Writes bytes to a socket and reads until the service closes it. */
function say(bytes: string): Promise<string> {
  const { port } = it.service.app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', reject)
  })
}

function answerOf(text: string) {
  const [head, body] = text.split('\r\n\r\n') as [string, string]
  const [line, ...headers] = head.split('\r\n')
  const named = new Map(
    headers.map((header) => header.split(': ') as [string, string]).map(([k, v]) => [k.toLowerCase(), v]),
  )
  // Node writes a body without a length in one chunk.
  const json = named.has('transfer-encoding') ? body.split('\r\n')[1]! : body
  return { http: Number(line!.split(' ')[1]), headers: named, body: JSON.parse(json), text }
}

const REGISTER = 'POST /v1.1/sandbox/register HTTP/1.1\r\nHost: x\r\n'

describe('what is not HTTP', () => {
  test.each([
    ['noise', 'GARBAGE\r\n\r\n', 400],
    ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a version that is none', 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['a method that is none', 'FOO /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an address that is none', 'GET healthz HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['NUL in the address', 'GET /heal\0thz HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a header without a name', 'GET /healthz HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400],
    ['NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Api-Key: a\0b\r\n\r\n', 400],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a length that is none', `${REGISTER}Content-Length: abc\r\n\r\n`, 400],
    ['two lengths', `${REGISTER}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ['a length and chunks', `${REGISTER}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n`, 400],
    ['a broken chunk', `${REGISTER}Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nZZ\r\n`, 400],
    ['a header of 20 KB', `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['a thousand headers', `GET /healthz HTTP/1.1\r\nHost: x\r\n${'X-A: 1234567890\r\n'.repeat(1_500)}\r\n`, 431],
    ['an address of 20 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['an expectation', 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n', 417],
  ])('%s is answered in our form', async (_name, bytes, http) => {
    const answer = answerOf(await say(bytes))
    expect(answer.http, answer.text).toBe(http)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.body).toEqual({ status: -1, message: expect.any(String), errorCount: 0, errors: [] })
    expect(answer.text).not.toMatch(/HPE_|Parse|\.js|\.ts|node/i)
  })

  test('the service goes on as if nothing had been', async () => {
    expect((await it.api.get('/healthz')).http).toBe(200)
    expect((await (await it.given.account()).api.get('/v1.1/balance')).http).toBe(200)
  })

  test('a request that takes too long to arrive is told so, and a socket that is gone is left alone', () => {
    const socket = Object.assign(new EventEmitter(), { writable: true, said: '', destroyed: false })
    const end = (text: string) => void Object.assign(socket, { said: text })
    const destroy = () => void Object.assign(socket, { destroyed: true })
    const { server } = it.service.app
    server.emit('clientError', { code: 'ERR_HTTP_REQUEST_TIMEOUT' }, Object.assign(socket, { end, destroy }))
    expect(answerOf(socket.said)).toMatchObject({ http: 408, body: { message: 'the request took too long to arrive' } })
    socket.said = ''
    server.emit('clientError', { code: 'ECONNRESET' }, socket)
    expect([socket.said, socket.destroyed]).toEqual(['', true])
  })
})

describe('HTTP that is unusual but right', () => {
  const CLOSE = 'Connection: close\r\n\r\n'

  test.each([
    ['HTTP/1.0 without a host', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ['an absolute address', `GET http://pay.test/healthz HTTP/1.1\r\nHost: x\r\n${CLOSE}`, 200],
    ['100-continue', `${REGISTER}Expect: 100-continue\r\nContent-Length: 2\r\n${CLOSE}{}`, 100],
    ['an upgrade that we do not offer', `GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n${CLOSE}`, 200],
    ['OPTIONS *', `OPTIONS * HTTP/1.1\r\nHost: x\r\n${CLOSE}`, 405],
  ])('%s', async (_name, bytes, http) => {
    expect(Number((await say(bytes)).split(' ')[1])).toBe(http)
  })

  test('a body in chunks is a body, and its size is counted', async () => {
    const chunked = (text: string) =>
      `${REGISTER}Transfer-Encoding: chunked\r\n${CLOSE}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
    expect(answerOf(await say(chunked('{"name":"Loja"}'))).body.errors).toEqual([
      { field: 'email', message: 'may not be null' },
    ])
    expect(answerOf(await say(chunked(`"${'x'.repeat(70_000)}"`))).http).toBe(413)
  })

  test('two requests in one breath are two answers, in order', async () => {
    const text = await say(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nope HTTP/1.1\r\nHost: x\r\n${CLOSE}`)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404'])
  })

  test('credentials sent twice are no credentials', async () => {
    const { apiKey, apiToken } = await it.given.account()
    const pair = `x-api-key: ${apiKey}\r\nx-api-token: ${apiToken}\r\n`
    const text = await say(`GET /v1.1/balance HTTP/1.1\r\nHost: x\r\n${pair}${pair}${CLOSE}`)
    expect(answerOf(text).http).toBe(403)
  })
})

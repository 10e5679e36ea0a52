import type { Socket } from 'node:net'
import tls from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutgoing, type OutgoingOptions } from './outgoing.ts'
import {
  expiredCertificate,
  receiverCertificate,
  receiverKey,
  selfSignedCertificate,
  testAuthority,
} from './test-certificates.ts'
import { response, startReceiver } from './test-receiver.ts'

const trusted = { key: receiverKey, cert: receiverCertificate }

function outgoing(options: Partial<OutgoingOptions> = {}) {
  const made = createOutgoing({
    timeoutMs: 10_000,
    allowPrivate: true,
    ca: testAuthority,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  })
  onTestFinished(() => made.close())
  return made
}

const startSecure = (options: tls.TlsOptions) =>
  startReceiver((socket) => socket.write(response(200, [], 'ok')), { tls: options })
const request = (url: string) => ({ url, headers: {}, body: '{}' })

describe('TLS', () => {
  test.each(['127.0.0.1', 'localhost', 'receiver.test', 'RECEIVER.test.'])('with %s is trusted', async (host) => {
    const receiver = await startSecure(trusted)
    const answered = await outgoing().post(request(`https://${host}:${receiver.port}/`))
    expect(answered).toMatchObject({ status: 200, failure: null })
    expect(receiver.connections[0]).toMatchObject({
      // Names are sent, addresses are not, and never the root's dot.
      servername: host === '127.0.0.1' ? false : host.toLowerCase().replace(/\.$/, ''),
      alpnProtocol: false,
    })
  })

  test('speaks HTTP/1.1 to a receiver that would rather speak HTTP/2', async () => {
    const receiver = await startSecure({ ...trusted, ALPNProtocols: ['h2', 'http/1.1'] })
    expect(await outgoing().post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
    expect(receiver.connections[0]).toMatchObject({ alpnProtocol: 'http/1.1' })
  })

  test('keeps the connection', async () => {
    const receiver = await startSecure(trusted)
    const { post } = outgoing()
    for (let call = 1; call <= 3; call += 1) await post(request(receiver.url))
    expect(receiver.requests).toHaveLength(3)
    expect(receiver.connections).toHaveLength(1)
  })

  test('resumes its session on a new connection', async () => {
    const resumed: boolean[] = []
    const answer = (socket: Socket) => {
      resumed.push((socket as tls.TLSSocket).isSessionReused())
      socket.write(response(200, ['connection: close']))
    }
    const receiver = await startReceiver(answer, { tls: trusted })
    const { post } = outgoing()
    await post(request(receiver.url))
    await post(request(receiver.url))
    expect(resumed).toEqual([false, true])
  })

  test.each([
    ['signed by itself', { key: receiverKey, cert: selfSignedCertificate }, 'receiver.test'],
    ['expired', { key: receiverKey, cert: expiredCertificate }, 'receiver.test'],
    ['for another name', trusted, 'elsewhere.test'],
  ])('refuses a certificate %s', async (_name, options, host) => {
    const receiver = await startSecure(options)
    const answered = await outgoing().post(request(`https://${host}:${receiver.port}/`))
    expect(answered).toMatchObject({ status: 0, failure: 'tls' })
    expect(receiver.bytes()).toBe(0)
  })

  test('refuses an authority that it was not told of', async () => {
    const receiver = await startSecure(trusted)
    const made = createOutgoing({ timeoutMs: 10_000, allowPrivate: true })
    onTestFinished(() => made.close())
    expect(await made.post(request(receiver.url))).toMatchObject({ status: 0, failure: 'tls' })
    expect(receiver.bytes()).toBe(0)
  })

  test.each(['TLSv1', 'TLSv1.1'] as const)('refuses %s, even where the process allows it', async (version) => {
    const defaults = [tls.DEFAULT_MIN_VERSION, tls.DEFAULT_CIPHERS] as const
    tls.DEFAULT_MIN_VERSION = 'TLSv1'
    tls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0'
    onTestFinished(() => {
      tls.DEFAULT_MIN_VERSION = defaults[0]
      tls.DEFAULT_CIPHERS = defaults[1]
    })
    const receiver = await startSecure({ ...trusted, minVersion: version, maxVersion: version })
    expect(await outgoing().post(request(receiver.url))).toMatchObject({ status: 0, failure: 'tls' })
    expect(receiver.bytes()).toBe(0)
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s', async (version) => {
    const receiver = await startSecure({ ...trusted, minVersion: version, maxVersion: version })
    expect(await outgoing().post(request(receiver.url))).toMatchObject({ status: 200, failure: null })
  })

  test('fails where plain HTTP answers', async () => {
    // A greeting ends no request head, so answer whatever comes.
    const receiver = await startReceiver(() => {})
    void receiver.accepted().then((socket) => socket.once('data', () => socket.end(response(400))))
    const answered = await outgoing().post(request(receiver.url.replace('http:', 'https:')))
    expect(answered).toMatchObject({ status: 0, failure: 'tls' })
  })

  test('fails where a certificate of ours is asked for', async () => {
    const receiver = await startSecure({ ...trusted, requestCert: true, rejectUnauthorized: true, ca: testAuthority })
    expect((await outgoing().post(request(receiver.url))).failure).toMatch(/^(tls|reset)$/)
    expect(receiver.requests).toHaveLength(0)
  })
})

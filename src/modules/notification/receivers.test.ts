import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { dispatcherBeside } from '../../../test/harness/dispatcher-beside.ts'
import { pay, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { attemptsOf, listenAt, notificationsOf } from '../../../test/harness/receiver.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { createOutgoing, type OutgoingOptions } from '../../platform/outgoing/outgoing.ts'
import {
  expiredCertificate,
  receiverCertificate,
  receiverKey,
  selfSignedCertificate,
  testAuthority,
} from '../../platform/outgoing/test-certificates.ts'
import { closed, type Received, response, startReceiver } from '../../platform/outgoing/test-receiver.ts'

const it = testService()
const tls = { key: receiverKey, cert: receiverCertificate }
const SHORT_MS = 1_000

type Expected = {
  readonly status: 'SUCCESS' | 'HTTP_STATUS_NOT_EQUALS_200' | 'HTTP_REQUEST_TIMEOUT'
  readonly responseCode: number
  readonly failure: string | null
  readonly headers?: Record<string, unknown>
  readonly body?: unknown
}

/** Its clock is a day ahead, so that account time and real time are told apart. */
async function listeningAccount(url: string): Promise<{ account: TestAccount; now: string }> {
  const account = await listenAt(await it.given.account(), url)
  const { now } = (await account.api.post('/v1.1/sandbox/clock/advance', { days: 1 })).body
  return { account, now }
}

/** A sale is paid, and its notification called once. */
async function tell(url: string, options: Partial<OutgoingOptions> = {}) {
  const { account, now } = await listeningAccount(url)
  const sale = await it.given.sale(account)
  const { timeoutMs = 30_000 } = options
  const outgoing = createOutgoing({ allowPrivate: true, ca: testAuthority, ...options, timeoutMs })
  const dispatcher = dispatcherBeside(it, { outgoing, timeoutMs })
  expect((await pay(account, sale)).body.sale.situation).toBe('PAID')
  await dispatcher.deliver()
  return { account, sale, now }
}

const headersOf = ({ head }: Received): Record<string, string> =>
  Object.fromEntries(
    head
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(/: (.*)/s).slice(0, 2)),
  )

const payloadOf = (sale: TestSale) =>
  it
    .rows<{ payload: string }>('select payload from notification where resource_id = $1', [sale.uuid])
    .then(([row]) => row!.payload)

/** The record of the one attempt, and what becomes of the notification. */
async function expectRecord(
  { account, sale, now }: Awaited<ReturnType<typeof tell>>,
  url: string,
  { status, responseCode, failure, headers = {}, body = '' }: Expected,
) {
  const attempts = await attemptsOf(account, sale)
  const [id] = (await notificationsOf(account)).map((one: { id: string }) => one.id)
  const timestamp = String(Math.floor(it.clock.now() / 1000))
  const payload = await payloadOf(sale)
  const key = Buffer.from(account.webhookSecret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')
  expect(attempts).toEqual([
    {
      date: now,
      endpoint: url,
      eventType: 'PAYMENT_CONFIRMATION',
      status,
      responseCode,
      request: {
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Quitado-Webhooks/1.0',
          accept: '*/*',
          'accept-encoding': 'identity',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${signature}`,
          authorization: 'Basic [hidden]',
        },
        payload,
      },
      response: { headers, body },
    },
  ])
  // Only a 200 ends the series.
  const succeeded = status === 'SUCCESS'
  expect(await notificationsOf(account)).toEqual([
    {
      id,
      transactionUUID: sale.uuid,
      eventType: 'PAYMENT_CONFIRMATION',
      state: succeeded ? 'DELIVERED' : 'PENDING',
      endpoint: url,
      creation: now,
      attempts: 1,
      lastAttempt: { date: now, status, responseCode, failure },
    },
  ])
  const waiting = await it.rows(
    'select attempts, attempts_left, held, due_at from notification_queue where resource_id = $1',
    [sale.uuid],
  )
  const next = { attempts: 1, attempts_left: 5, held: false, due_at: it.clock.now() + 60_000 }
  expect(waiting).toEqual(succeeded ? [] : [next])
  return attempts[0]
}

/** What arrived is what the record says, but for the credentials and what HTTP itself needs. */
function expectArrived(request: Received, account: TestAccount, attempt: { request: Record<string, unknown> }) {
  const { host, connection, 'content-length': length, authorization, ...told } = headersOf(request)
  expect(request.head).toMatch(/^POST \/hook HTTP\/1\.1\r\n/)
  expect(request.body.toString()).toBe(attempt.request['payload'])
  expect(Number(length)).toBe(request.body.length)
  const { authorization: _hidden, ...kept } = attempt.request['headers'] as Record<string, string>
  expect(told).toEqual(kept)
  expect(authorization).toBe(`Basic ${Buffer.from(`${account.apiKey}:${account.apiToken}`).toString('base64')}`)
}

const drip = (socket: Socket, head: string, byte: string) => {
  socket.write(head)
  const timer = setInterval(() => socket.write(byte), 20)
  socket.on('close', () => clearInterval(timer))
}
const pour = (socket: Socket, head: string) => {
  socket.write(head)
  const more = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(16_384, 'z')));
  }
  socket.on('drain', more)
  more()
}

const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
const euros = '€'.repeat(10_000)
const refused = 'HTTP_STATUS_NOT_EQUALS_200' as const
const timeout = 'HTTP_REQUEST_TIMEOUT' as const

type Kind = readonly [
  name: string,
  /** `connection` is what the socket runs on: under TLS another one. */
  answer: (socket: Socket, connection: Socket) => unknown,
  expected: Expected,
  settings?: Partial<OutgoingOptions>,
]

const kinds: Kind[] = [
  [
    '200',
    (socket) => socket.write(response(200, ['x-shop: a', 'Set-Cookie: a=1', 'set-cookie: b=2'], 'thanks')),
    {
      status: 'SUCCESS',
      responseCode: 200,
      failure: null,
      headers: { 'x-shop': 'a', 'set-cookie': ['a=1', 'b=2'], 'content-length': '6' },
      body: 'thanks',
    },
  ],
  [
    '200 without a body',
    (socket) => socket.write(response(200)),
    { status: 'SUCCESS', responseCode: 200, failure: null, headers: { 'content-length': '0' } },
  ],
  [
    '200 that ends with its connection',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nx-shop: a\r\n\r\nok'),
    { status: 'SUCCESS', responseCode: 200, failure: null, headers: { 'x-shop': 'a' }, body: 'ok' },
  ],
  ...([201, 202, 204, 301, 302, 307, 400, 404, 429, 500, 503] as const).map(
    (code): Kind => [
      String(code),
      (socket) => socket.write(response(code, ['location: /elsewhere', 'x-shop: a'])),
      {
        status: refused,
        responseCode: code,
        failure: null,
        headers: {
          location: '/elsewhere',
          'x-shop': 'a',
          ...(code === 204 ? {} : { 'content-length': '0' }),
        },
      },
    ],
  ),
  ['no answer', () => {}, { status: timeout, responseCode: 0, failure: 'timeout' }, { timeoutMs: SHORT_MS }],
  [
    'slow headers',
    (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-shop: ', 'a'),
    { status: timeout, responseCode: 0, failure: 'timeout' },
    { timeoutMs: SHORT_MS },
  ],
  [
    'a slow body of a 200',
    (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-shop: a\r\n\r\n', 'z'),
    {
      status: timeout,
      responseCode: 200,
      failure: 'timeout',
      headers: { 'x-shop': 'a' },
      body: expect.stringMatching(/^z+$/),
    },
    { timeoutMs: SHORT_MS },
  ],
  [
    'a slow body of a 500',
    (socket) => drip(socket, 'HTTP/1.1 500 No\r\nx-shop: a\r\n\r\n', 'z'),
    {
      status: refused,
      responseCode: 500,
      failure: 'timeout',
      headers: { 'x-shop': 'a' },
      body: expect.stringMatching(/^z+$/),
    },
    { timeoutMs: SHORT_MS },
  ],
  [
    'a reset',
    (_socket, connection) => connection.resetAndDestroy(),
    { status: timeout, responseCode: 0, failure: 'reset' },
  ],
  ['a close', (socket) => socket.end(), { status: timeout, responseCode: 0, failure: 'reset' }],
  [
    'a body cut short',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal'),
    { status: timeout, responseCode: 200, failure: 'reset', headers: { 'content-length': '9' }, body: 'hal' },
  ],
  [
    'an endless body',
    (socket) => pour(socket, 'HTTP/1.1 200 OK\r\nx-shop: a\r\n\r\n'),
    {
      status: 'SUCCESS',
      responseCode: 200,
      failure: null,
      headers: { 'x-shop': 'a' },
      body: 'z'.repeat(16_384),
    },
  ],
  [
    'an endless body of a 404',
    (socket) => pour(socket, 'HTTP/1.1 404 No\r\nx-shop: a\r\n\r\n'),
    { status: refused, responseCode: 404, failure: null, headers: { 'x-shop': 'a' }, body: 'z'.repeat(16_384) },
  ],
  [
    'a body of 30 KB, cut within a character',
    (socket) => socket.write(response(200, [], euros)),
    {
      status: 'SUCCESS',
      responseCode: 200,
      failure: null,
      headers: { 'content-length': '30000' },
      body: Buffer.from(euros).subarray(0, 16_384).toString(),
    },
  ],
  [
    'a body with bytes that are no text',
    (socket) => socket.write(response(200, [], Buffer.from([0x61, 0x00, 0xff, 0x62]))),
    { status: 'SUCCESS', responseCode: 200, failure: null, headers: { 'content-length': '4' }, body: 'a\u0000\ufffdb' },
  ],
  [
    'headers with bytes that are no ASCII',
    (socket) => socket.write(response(200, ['x-shop: caf\u00e9 "\\'], 'ok')),
    {
      status: 'SUCCESS',
      responseCode: 200,
      failure: null,
      headers: { 'x-shop': expect.stringMatching(/^caf.{1,2} "\\$/), 'content-length': '2' },
      body: 'ok',
    },
  ],
  [
    'a gzip bomb, which is never unpacked',
    (socket) => socket.write(response(200, ['content-encoding: gzip'], bomb)),
    {
      status: 'SUCCESS',
      responseCode: 200,
      failure: null,
      headers: { 'content-encoding': 'gzip', 'content-length': String(bomb.length) },
      body: bomb.subarray(0, 16_384).toString('utf8'),
    },
  ],
  [
    'something that is no HTTP',
    (socket) => socket.write('220 shop.example ESMTP\r\n\r\n'),
    { status: timeout, responseCode: 0, failure: 'invalid' },
  ],
  [
    'a header without a name',
    (socket) => socket.write('HTTP/1.1 200 OK\r\n: a\r\n\r\n'),
    { status: timeout, responseCode: 0, failure: 'invalid' },
  ],
  [
    'headers of 20 KB',
    (socket) => socket.write(response(200, [`x-shop: ${'a'.repeat(20_000)}`])),
    { status: timeout, responseCode: 0, failure: 'invalid' },
  ],
]

describe.each([
  ['http', undefined],
  ['https', tls],
] as const)('over %s, the record of', (scheme, secure) => {
  const named = kinds.map(([name, answer, expected, settings = {}]) => ({ name, answer, expected, settings }))
  test.each(named)('$name', async ({ answer, expected, settings }) => {
    let connection: Socket
    const receiver = await startReceiver(
      (socket) => answer(socket, connection),
      secure === undefined ? {} : { tls: secure },
    )
    void receiver.accepted().then((accepted) => {
      connection = accepted
    })
    expect(receiver.url).toMatch(`${scheme}:`)
    const told = await tell(receiver.url, settings)
    const attempt = await expectRecord(told, receiver.url, expected)
    expect(receiver.requests).toHaveLength(1)
    expectArrived(receiver.requests[0]!, told.account, attempt)
  })
})

describe('the record of a call that reached nobody', () => {
  const nobody = (failure: string): Expected => ({ status: timeout, responseCode: 0, failure })

  test.each([
    ['has expired', { key: receiverKey, cert: expiredCertificate }, '127.0.0.1'],
    ['nobody vouches for', { key: receiverKey, cert: selfSignedCertificate }, '127.0.0.1'],
    ['is of another name', tls, 'other.localhost'],
  ])('a certificate that %s', async (_name, own, host) => {
    const receiver = await startReceiver((socket) => socket.write(response(200)), { tls: own })
    const url = `https://${host}:${receiver.port}/hook`
    await expectRecord(await tell(url), url, nobody('tls'))
    expect(receiver.requests).toHaveLength(0)
  })

  test('https where there is only http', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    // It takes the greeting for the beginning of a request, and never answers.
    receiver.accepted().then(
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      () => {},
    )
    const url = receiver.url.replace('http:', 'https:')
    await expectRecord(await tell(url), url, nobody('tls'))
    expect(receiver.requests).toHaveLength(0)
  })

  test('http where there is only https', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)), { tls })
    const url = receiver.url.replace('https:', 'http:')
    const told = await tell(url)
    expect((await attemptsOf(told.account, told.sale))[0]).toMatchObject({ status: timeout, responseCode: 0 })
    expect(receiver.requests).toHaveLength(0)
  })

  test('a closed port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const url = `http://127.0.0.1:${port}/hook`
    await expectRecord(await tell(url), url, nobody('refused'))
  })

  test('a name without an address', async () => {
    const url = 'https://shop.test/hook'
    await expectRecord(await tell(url, { resolve: async () => [] }), url, nobody('name'))
  })

  test('an address that is not public', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)), { tls })
    await expectRecord(await tell(receiver.url, { allowPrivate: false }), receiver.url, nobody('forbidden'))
    expect(receiver.bytes()).toBe(0)
  })

  test('http in a service that only calls https', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    await expectRecord(await tell(receiver.url, { allowPrivate: false }), receiver.url, nobody('forbidden'))
    expect(receiver.connections).toHaveLength(0)
  })
})

describe('the record', () => {
  test('holds no credential, in any column', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const { account, sale } = await tell(receiver.url)
    const basic = Buffer.from(`${account.apiKey}:${account.apiToken}`).toString('base64')
    expect(receiver.requests[0]!.head).toContain(basic)
    const rows = await it.rows(
      `select a::text as attempt, n::text as notification from notification n
       join notification_attempt a on a.account_id = n.account_id and a.notification_id = n.id where n.resource_id = $1`,
      [sale.uuid],
    )
    const everything = JSON.stringify(rows)
    expect(everything).toContain('Basic [hidden]')
    for (const secret of [basic, account.apiToken, account.webhookSecret]) expect(everything).not.toContain(secret)
  })

  test('says how long the call took, and keeps no more than 16 KiB of the answer', async () => {
    const receiver = await startReceiver((socket) => pour(socket, 'HTTP/1.1 200 OK\r\n\r\n'))
    const { sale } = await tell(receiver.url)
    const [row] = await it.rows(
      `select a.number, a.duration_ms, octet_length(a.response_body) as kept, a.last, a.url from notification n
       join notification_attempt a on a.account_id = n.account_id and a.notification_id = n.id where n.resource_id = $1`,
      [sale.uuid],
    )
    expect(row).toEqual({ number: 1, duration_ms: expect.any(Number), kept: 16_384, last: true, url: null })
    expect(row!['duration_ms']).toBeGreaterThanOrEqual(0)
  })

  test('a connection is closed by the deadline, and the call is over', async () => {
    const receiver = await startReceiver(() => {})
    const ended = receiver.accepted().then(closed)
    await tell(receiver.url, { timeoutMs: SHORT_MS })
    await ended
  })
})

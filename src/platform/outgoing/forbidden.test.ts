import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isPublicAddress } from './addresses.ts'
import { guardPeer } from './connect.ts'
import { createOutgoing, type ResolvedAddress } from './outgoing.ts'
import { hasIPv6, type Receiver, response, startReceiver } from './test-receiver.ts'

const v4 = (address: string): ResolvedAddress => ({ address, family: 4 })
const v6 = (address: string): ResolvedAddress => ({ address, family: 6 })
// In space that nobody has been given: public by our rule, and nobody answers.
const nowhere = v6('2d00::1')

const loopbacks = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7F.1',
  '0x7f.0x0.0x0.0x1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '00000177.0.0.1',
  '127.0.0.0x1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '0x7f。1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  '[::0.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[64:ff9b:1:ffff::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2002:7f00:0001::1]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'LOCALHOST.',
  'foo.localhost',
  'a.b.c.localhost.',
  'loc%61lhost',
  'ｌｏｃａｌｈｏｓｔ',
  'Ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'localhost。',
]

const unspecified = [
  '0',
  '0.0.0.0',
  '0.0',
  '0x0',
  '00000000000',
  '0.1.2.3',
  '[::]',
  '[0:0:0:0:0:0:0:0]',
  '[::ffff:0.0.0.0]',
]

const metadata = [
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0xA9.0xFE.0xA9.0xFE',
  '0251.0376.0251.0376',
  '025177524776',
  '169.254.43518',
  '169.16689662',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
]

const others = [
  '10.0.0.1',
  '10.255.255.255',
  '0xa000001',
  '012.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.257',
  '3232235777',
  '100.64.0.1',
  '100.127.255.255',
  '198.18.0.1',
  '198.19.255.255',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '4294967295',
  '0xffffffff',
  '[fc00::1]',
  '[fdff:ffff::1]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[4000::1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:192.168.0.1]',
]

const names: Record<string, ResolvedAddress[]> = {
  'loopback.test': [v4('127.0.0.1')],
  'loopback6.test': [v6('::1')],
  'mapped.test': [v6('::ffff:127.0.0.1')],
  'unspecified.test': [v4('0.0.0.0')],
  'metadata.test': [v4('169.254.169.254')],
  'public-and-private.test': [nowhere, v4('127.0.0.1')],
  'private-and-public.test': [v4('127.0.0.1'), nowhere],
  'many-and-one.test': [nowhere, nowhere, nowhere, nowhere, v6('::1')],
  'zone.test': [v6('fe80::1%lo')],
  'odd.test': [v4('0x7f.1')],
  'xn--bcher-kva.test': [v4('127.0.0.1')],
}

const whole = (port: number) => [
  `https://example.com@127.0.0.1:${port}/`,
  `https://example.com:443@127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}\\@example.com/`,
  `https://127.0.0.1:${port}#@example.com/`,
  `https://127.0.0.1:${port}?@example.com/`,
  `https:\\\\127.0.0.1:${port}\\`,
  `https:127.0.0.1:${port}/`,
  `https:////127.0.0.1:${port}/`,
  `HTTPS://127.0.0.1:${port}/`,
  ` https://127.0.0.1:${port}/ `,
  `https://127.0.\n0.1:${port}/`,
  `ht\ttps://127.0.0.1:${port}/`,
  `https://LOOPBACK.test:${port}/`,
  `https://loopback.test.:${port}/`,
  `https://loop\u00adback.test:${port}/`,
  `https://b\u00fccher.test:${port}/`,
]

const unreadable = (port: number) => [
  `https://127.0.0.256:${port}/`,
  `https://1.2.3.4.5:${port}/`,
  `https://0x100000000:${port}/`,
  `https://127.0.0.1.example.0x1:${port}/`,
  `https://[::1:${port}/`,
  `https://::1:${port}/`,
  `https://[::1%25lo]:${port}/`,
  `https://[fe80::1%lo]:${port}/`,
  `https://[::ffff:127.0.0.1.1]:${port}/`,
  `https://127.0.0.1:${port}0000/`,
  `https://127.0.0.1 :${port}/`,
  `https://exa mple.test:${port}/`,
  `//127.0.0.1:${port}/`,
  `127.0.0.1:${port}`,
  `localhost:${port}`,
  `ftp://127.0.0.1:${port}/`,
  `ws://127.0.0.1:${port}/`,
  `gopher://127.0.0.1:${port}/`,
  `file:///etc/passwd`,
  `unix:/var/run/docker.sock`,
  `data:text/plain,x`,
  `javascript:alert(1)`,
  '',
]

/** Sentinels on all of this machine's addresses, one port. */
async function startSentinels() {
  const everywhere = await startReceiver((socket) => socket.write(response(200)), { host: '0.0.0.0' })
  const sentinels: [string, Receiver][] = [['127.0.0.1', everywhere]]
  if (hasIPv6) {
    const place = { host: '::1', port: everywhere.port }
    sentinels.push(['::1', await startReceiver((socket) => socket.write(response(200)), place)])
  }
  /** How many came. What is still on its way is let in by a connection of our own, which is not counted. */
  async function reached(): Promise<number> {
    let count = 0
    for (const [host, receiver] of sentinels) {
      const accepted = receiver.accepted()
      const own = connect(everywhere.port, host)
      await Promise.all([once(own, 'connect'), accepted])
      own.destroy()
      count += receiver.connections.length - 1
    }
    return count
  }
  return { port: everywhere.port, reached }
}

function publicOnly(resolve = async (name: string) => names[name.replace(/\.$/, '')] ?? []) {
  const made = createOutgoing({ timeoutMs: 300, allowPrivate: false, resolve })
  onTestFinished(() => made.close())
  return made
}

const request = (url: string) => ({ url, headers: {}, body: '{}' })

describe('where private addresses are forbidden', () => {
  test('no spelling of one is reached, by http or https', async () => {
    const { port, reached } = await startSentinels()
    const { post } = publicOnly()
    const hosts = [...loopbacks, ...unspecified, ...metadata, ...others, ...Object.keys(names)]
    expect(new Set(hosts).size).toBeGreaterThanOrEqual(80)
    const urls = [...hosts.flatMap((host) => [`https://${host}:${port}/`, `http://${host}:${port}/`]), ...whole(port)]
    const answers = await Promise.all(urls.map(async (url) => [url, (await post(request(url))).failure]))
    expect(answers).toEqual(urls.map((url) => [url, 'forbidden']))
    expect(await reached()).toBe(0)
  })

  test('what is no address of http is invalid', async () => {
    const { port, reached } = await startSentinels()
    const { post } = publicOnly()
    const urls = unreadable(port)
    const answers = await Promise.all(urls.map(async (url) => [url, (await post(request(url))).failure]))
    expect(answers).toEqual(urls.map((url) => [url, 'invalid']))
    expect(await reached()).toBe(0)
  })

  test('the sentinels are reached where they are allowed', async () => {
    const { port, reached } = await startSentinels()
    const made = createOutgoing({ timeoutMs: 5_000, allowPrivate: true, resolve: async (name) => names[name] ?? [] })
    onTestFinished(() => made.close())
    const hosts = [
      '127.0.0.1',
      '0.0.0.0',
      'localhost',
      'loopback.test',
      ...(hasIPv6 ? ['[::1]', 'loopback6.test'] : []),
    ]
    for (const host of hosts)
      expect([host, (await made.post(request(`http://${host}:${port}/`))).status]).toEqual([host, 200])
    expect(await reached()).toBe(hosts.length)
  })

  test('http is forbidden even to a public address', async () => {
    let asked = 0
    const { post } = publicOnly(async () => {
      asked += 1
      return [nowhere]
    })
    expect(await post(request('http://public.test/'))).toMatchObject({ status: 0, failure: 'forbidden' })
    expect(asked).toBe(0)
  })

  test('a public address is tried', async () => {
    const { post } = publicOnly(async () => [nowhere])
    for (const url of ['https://public.test/', 'https://[2d00::1]/'])
      expect((await post(request(url))).failure).toMatch(/^(unreachable|timeout|refused)$/)
  })

  test('a name is looked up once a connection: the address that was checked is the one that is used', async () => {
    const { port, reached } = await startSentinels()
    let asked = 0
    // Public at first, private from then on.
    const { post } = publicOnly(async () => {
      asked += 1
      return asked === 1 ? [nowhere] : [v4('127.0.0.1')]
    })
    expect((await post(request(`https://rebinding.test:${port}/`))).failure).toMatch(/^(unreachable|timeout|refused)$/)
    expect(asked).toBe(1)
    expect(await post(request(`https://rebinding.test:${port}/`))).toMatchObject({ status: 0, failure: 'forbidden' })
    expect(asked).toBe(2)
    expect(await reached()).toBe(0)
  })
})

describe('whom a connection has reached', () => {
  const connecting: [string, (port: number) => Socket][] = [
    ['plain', (port) => connect({ port, host: '127.0.0.1' })],
    ['TLS', (port) => connectTls({ port, host: '127.0.0.1' })],
    [
      'TLS to one of several addresses',
      (port) => connectTls({ port, host: 'localhost', ...{ autoSelectFamily: true } }),
    ],
  ]
  test.each(connecting)('is checked before a word is said: %s', async (_name, start) => {
    const receiver = await startReceiver(() => {})
    const accepted = receiver.accepted()
    const socket = start(receiver.port)
    guardPeer(socket, isPublicAddress)
    const [error] = await once(socket, 'error')
    expect(error).toMatchObject({ failure: 'forbidden' })
    const peer = await accepted
    await once(peer, 'close')
    expect(peer.bytesRead).toBe(0)
  })
})

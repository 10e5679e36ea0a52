import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseHosts } from './hosts-file.ts'
import { createOutgoing } from './outgoing.ts'
import { createResolveName, type ResolveNameOptions } from './resolve-name.ts'

type Type = 'A' | 'AAAA'
/** Addresses as bytes; `silent` is no answer at all, a number a response code (3: no such name). */
type Zone = Record<string, Partial<Record<Type, number[][] | 'silent' | number>> & { ttl?: number }>

/** A name server of a few lines: header, the question again, the answers. */
async function startNameServer(zone: Zone) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message: Buffer, from: RemoteInfo) => {
    let at = 12
    const labels: string[] = []
    for (let length = message[at]!; length > 0; length = message[at]!) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const name = labels.join('.').toLowerCase()
    const type = message.readUInt16BE(at + 1) === 1 ? 'A' : 'AAAA'
    asked.push(`${name} ${type}`)
    const found = zone[name]?.[type] ?? []
    if (found === 'silent') return
    const addresses = typeof found === 'number' ? [] : found
    const header = Buffer.alloc(12)
    message.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const answers = addresses.map((address) => {
      const record = Buffer.alloc(12)
      record.writeUInt16BE(0xc00c, 0)
      record.writeUInt16BE(type === 'A' ? 1 : 28, 2)
      record.writeUInt16BE(1, 4)
      record.writeUInt32BE(zone[name]?.ttl ?? 30, 6)
      record.writeUInt16BE(address.length, 10)
      return Buffer.concat([record, Buffer.from(address)])
    })
    socket.send(Buffer.concat([header, message.subarray(12, at + 5), ...answers]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { asked, servers: [`127.0.0.1:${socket.address().port}`] }
}

async function start(zone: Zone, options: ResolveNameOptions = {}) {
  const server = await startNameServer(zone)
  const clock = { ms: 1_000_000 }
  const resolve = createResolveName({
    servers: server.servers,
    hostsFile: '/dev/null',
    now: () => clock.ms,
    timeoutMs: 100,
    ...options,
  })
  return { resolve, clock, asked: server.asked, servers: server.servers }
}

const one = [[10, 0, 0, 1]]
const six = [[0x20, 0x01, ...Array<number>(13).fill(0), 1]]

describe('resolving a name', () => {
  test('asks for both families at once', async () => {
    const { resolve, asked } = await start({ 'both.test': { A: [...one, [10, 0, 0, 2]], AAAA: six } })
    expect(await resolve('both.test')).toEqual([
      { address: '2001::1', family: 6 },
      { address: '10.0.0.1', family: 4 },
      { address: '10.0.0.2', family: 4 },
    ])
    expect(asked.toSorted()).toEqual(['both.test A', 'both.test AAAA'])
  })

  test.each([
    ['A only', { A: one }, '10.0.0.1'],
    ['AAAA only', { AAAA: six }, '2001::1'],
    ['A, and a failure for AAAA', { A: one, AAAA: 2 }, '10.0.0.1'],
    ['AAAA, and a failure for A', { AAAA: six, A: 3 }, '2001::1'],
  ])('does with %s', async (_name, records, address) => {
    const { resolve } = await start({ 'some.test': records })
    expect((await resolve('some.test')).map((found) => found.address)).toEqual([address])
  })

  test('does not wait long for a family that gets no answer', async () => {
    const { resolve } = await start({ 'some.test': { A: one, AAAA: 'silent' } }, { timeoutMs: 600_000 })
    expect(await resolve('some.test')).toEqual([{ address: '10.0.0.1', family: 4 }])
  })

  test.each([
    ['no such name', { A: 3, AAAA: 3 }],
    ['no address', {}],
    ['a failing server', { A: 2, AAAA: 2 }],
    ['a silent server', { A: 'silent' as const, AAAA: 'silent' as const }],
  ])('fails with %s', async (_name, records) => {
    const { resolve, servers } = await start({ 'none.test': records })
    await expect(resolve('none.test')).rejects.toMatchObject({ failure: 'name' })
    const made = createOutgoing({
      timeoutMs: 10_000,
      allowPrivate: true,
      resolve: createResolveName({ servers, hostsFile: '/dev/null', timeoutMs: 100 }),
    })
    onTestFinished(() => made.close())
    const answered = await made.post({ url: 'http://none.test/', headers: {}, body: '' })
    expect(answered).toMatchObject({ status: 0, failure: 'name' })
  })

  test('a silent server does not outlast a call', async () => {
    const { servers } = await start({ 'none.test': { A: 'silent', AAAA: 'silent' } })
    const resolve = createResolveName({ servers, hostsFile: '/dev/null' })
    const made = createOutgoing({ timeoutMs: 300, allowPrivate: true, resolve })
    onTestFinished(() => made.close())
    const answered = await made.post({ url: 'http://none.test/', headers: {}, body: '' })
    expect(answered).toMatchObject({ status: 0, failure: 'timeout' })
  })
})

describe('what is remembered', () => {
  test.each([
    ['5 seconds at least', 0, 5_000],
    ['as long as it says', 30, 30_000],
    ['60 seconds at most', 86_400, 60_000],
  ])('an address: %s', async (_name, ttl, ms) => {
    const { resolve, clock, asked } = await start({ 'some.test': { A: one, ttl } })
    await resolve('some.test')
    clock.ms += ms - 1
    await resolve('some.test')
    expect(asked).toHaveLength(2)
    clock.ms += 1
    await resolve('some.test')
    expect(asked).toHaveLength(4)
  })

  test('a failure: 5 seconds', async () => {
    const { resolve, clock, asked } = await start({ 'none.test': { A: 3, AAAA: 3 } })
    await expect(resolve('none.test')).rejects.toThrow('none.test')
    clock.ms += 4_999
    await expect(resolve('none.test')).rejects.toThrow('none.test')
    expect(asked).toHaveLength(2)
    clock.ms += 1
    await expect(resolve('none.test')).rejects.toThrow('none.test')
    expect(asked).toHaveLength(4)
  })

  test('one question for all who ask at once, however they spell it', async () => {
    const { resolve, asked } = await start({ 'some.test': { A: one } })
    const names = ['some.test', 'some.test', 'SOME.test', 'some.test.']
    const found = await Promise.all(names.map(resolve))
    expect(new Set(found).size).toBe(1)
    expect(asked).toHaveLength(2)
  })

  test('no more names than allowed, the oldest goes first', async () => {
    const zone = { 'a.test': { A: one }, 'b.test': { A: one }, 'c.test': { A: one } }
    const { resolve, asked } = await start(zone, { namesMax: 2 })
    for (const name of ['a.test', 'b.test', 'c.test']) await resolve(name)
    asked.length = 0
    await resolve('c.test')
    await resolve('b.test')
    expect(asked).toEqual([])
    await resolve('a.test')
    expect(asked).toHaveLength(2)
  })
})

describe('the hosts file', () => {
  test('is read', () => {
    const hosts = parseHosts(
      '# all\n127.0.0.1\tlocalhost Shop.test. # mine\r\n::1 localhost\n\n999.1.1.1 bad\n10.0.0.1\n',
    )
    expect([...hosts]).toEqual([
      [
        'localhost',
        [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
      ],
      ['shop.test', [{ address: '127.0.0.1', family: 4 }]],
    ])
  })

  test('goes before the name server, and is read again when it has changed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quitado-hosts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const hostsFile = join(folder, 'hosts')
    writeFileSync(hostsFile, '10.9.9.9 some.test\n')
    const { resolve, clock, asked } = await start({ 'some.test': { A: one } }, { hostsFile })
    expect(await resolve('SOME.test')).toEqual([{ address: '10.9.9.9', family: 4 }])
    writeFileSync(hostsFile, '10.8.8.88 some.test\n')
    clock.ms += 5_000
    expect(await resolve('some.test')).toEqual([{ address: '10.8.8.88', family: 4 }])
    expect(asked).toEqual([])
    rmSync(hostsFile)
    clock.ms += 5_000
    expect(await resolve('some.test')).toEqual([{ address: '10.0.0.1', family: 4 }])
  })
})

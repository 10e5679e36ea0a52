import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLocalhost, isPublicAddress } from './addresses.ts'

// Written down apart from the code's own table, from the registries.
const closedRanges = {
  4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '168.63.129.16/32',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
  6: [
    '0:0:0:0:0:0:0:0/8',
    '64:ff9b:0:0:0:0:0:0/96',
    '64:ff9b:1:0:0:0:0:0/48',
    '100:0:0:0:0:0:0:0/64',
    '2001:0:0:0:0:0:0:0/23',
    '2001:db8:0:0:0:0:0:0/32',
    '2002:0:0:0:0:0:0:0/16',
    '3fff:0:0:0:0:0:0:0/20',
    '5f00:0:0:0:0:0:0:0/16',
    'fc00:0:0:0:0:0:0:0/7',
    'fe80:0:0:0:0:0:0:0/10',
    'fec0:0:0:0:0:0:0:0/10',
    'ff00:0:0:0:0:0:0:0/8',
    // All but 2000::/3.
    '0:0:0:0:0:0:0:0/3',
    '4000:0:0:0:0:0:0:0/2',
    '8000:0:0:0:0:0:0:0/1',
  ],
} as const

type Family = 4 | 6
const bits = { 4: 32n, 6: 128n } as const

const numberOf = (family: Family, address: string): bigint =>
  address
    .split(family === 4 ? '.' : ':')
    .map((part) => BigInt(family === 4 ? part : `0x${part}`))
    .reduce((value, part) => (value << (family === 4 ? 8n : 16n)) | part, 0n)

function textOf(family: Family, value: bigint): string {
  const [parts, width, radix] = family === 4 ? ([4, 8, 10] as const) : ([8, 16, 16] as const)
  return Array.from({ length: parts }, (_, index) => {
    const shift = BigInt((parts - 1 - index) * width)
    return ((value >> shift) & ((1n << BigInt(width)) - 1n)).toString(radix)
  }).join(family === 4 ? '.' : ':')
}

function rangesOf(family: Family): { from: bigint; to: bigint }[] {
  return closedRanges[family].map((range) => {
    const [network, prefix] = range.split('/') as [string, string]
    const from = numberOf(family, network)
    return { from, to: from + (1n << (bits[family] - BigInt(prefix))) - 1n }
  })
}

/** Anywhere, or right at the edge of a range, on either side. */
const addressIn = (family: Family) => {
  const last = (1n << bits[family]) - 1n
  const edges = rangesOf(family).flatMap(({ from, to }) => [from - 1n, from, from + 1n, to - 1n, to, to + 1n])
  const within = rangesOf(family).map(({ from, to }) => fc.bigInt({ min: from, max: to }))
  return fc.oneof(
    fc.bigInt({ min: 0n, max: last }),
    fc.constantFrom(...edges.filter((edge) => edge >= 0n && edge <= last)),
    ...within,
  )
}

describe('a public address', () => {
  test.each([4, 6] as const)('of IPv%i lies outside every closed range', (family) => {
    const ranges = rangesOf(family)
    fc.assert(
      fc.property(addressIn(family), (value) => {
        const open = !ranges.some(({ from, to }) => value >= from && value <= to)
        expect(isPublicAddress(textOf(family, value))).toBe(open)
      }),
      { numRuns: 10_000 },
    )
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '168.63.129.15',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '177.10.20.30',
    '192.0.1.1',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '200.160.2.3',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:12ff:0:4::6',
    '2400:cb00::1',
    '2606:4700:4700::1111',
    '2804:14d::1',
    '2A00:1450:4001:0800:0000:0000:0000:200e',
    '3ffe:ffff::1',
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(true))

  test.each([
    '',
    'localhost',
    'receiver.test',
    '1.1.1',
    '1.1.1.1.1',
    '01.1.1.1',
    '1.1.1.256',
    '0x01010101',
    '16843009',
    ' 1.1.1.1',
    '1.1.1.1 ',
    '1.1.1.1/8',
    '[2606:4700::1]',
    '2606:4700:::1',
    '2606:4700::1%eth0',
    'fe80::1%lo',
    '::ffff:8.8.8.8',
    '::8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::',
  ])('is not what looks like one or hides one: "%s"', (address) => expect(isPublicAddress(address)).toBe(false))
})

describe('this machine', () => {
  test.each(['localhost', 'LOCALHOST', 'localhost.', 'Shop.Localhost.', 'a.b.localhost'])('is %s', (name) =>
    expect(isLocalhost(name)).toBe(true),
  )
  test.each(['localhost.test', 'mylocalhost', 'local', '', '.', '127.0.0.1'])('is not "%s"', (name) =>
    expect(isLocalhost(name)).toBe(false),
  )
})

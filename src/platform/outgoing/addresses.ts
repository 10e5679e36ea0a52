import { BlockList, isIP } from 'node:net'

// IANA's special-purpose registries, and what clouds answer inside their networks.
const closedIPv4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's host, which answers every machine there
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

// Within 2000::/3 only. All else is closed anyway: loopback, mapped and compatible IPv4, NAT64, unique local,
// link-local, site-local, segment routing, multicast.
const closedIPv6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries an IPv4 address
  ['3fff::', 20], // documentation
]

const closed = new BlockList()
for (const [network, prefix] of closedIPv4) closed.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of closedIPv6) closed.addSubnet(network, prefix, 'ipv6')

const globalIPv6 = new BlockList()
globalIPv6.addSubnet('2000::', 3, 'ipv6')

/** Whether the address belongs to the public internet. What cannot be read as an address does not. */
export function isPublicAddress(address: string): boolean {
  // A zone belongs to local addresses only.
  if (address.includes('%')) return false
  const family = isIP(address)
  if (family === 4) return !closed.check(address, 'ipv4')
  return family === 6 && globalIPv6.check(address, 'ipv6') && !closed.check(address, 'ipv6')
}

/** `localhost` and all names under it mean this machine, whatever a name server says (RFC 6761). */
export function isLocalhost(name: string): boolean {
  const bare = bareName(name)
  return bare === 'localhost' || bare.endsWith('.localhost')
}

/** Lower case, without the root's dot. */
export const bareName = (name: string): string => name.toLowerCase().replace(/\.+$/, '')

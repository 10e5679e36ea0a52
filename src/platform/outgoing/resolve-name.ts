import { Resolver } from 'node:dns/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { bareName } from './addresses.ts'
import { CallFailure } from './failure.ts'
import { watchHosts } from './hosts-file.ts'

export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 }
export type ResolveName = (name: string) => Promise<readonly ResolvedAddress[]>

export type ResolveNameOptions = {
  readonly hostsFile?: string
  /** Name servers, as `address:port`; by default the machine's. */
  readonly servers?: readonly string[]
  /** For one question to one server, asked twice at most. */
  readonly timeoutMs?: number
  /** Names remembered. */
  readonly namesMax?: number
  /** Milliseconds that never go back. */
  readonly now?: () => number
}

const TTL_MIN_MS = 5_000
const TTL_MAX_MS = 60_000
const FAILED_MS = 5_000
/** Some name servers never answer for the family that a name lacks. */
const OTHER_FAMILY_MS = 300

type Found = { readonly addresses: readonly ResolvedAddress[]; readonly ttlMs: number }
type Remembered = { readonly addresses: Promise<readonly ResolvedAddress[]>; until: number }

/**
 * The hosts file, then DNS, both remembered. Not `dns.lookup`: it runs on four threads, so four slow names would hold up
 * all the others.
 */
export function createResolveName(options: ResolveNameOptions = {}): ResolveName {
  const { namesMax = 10_000, now = () => performance.now() } = options
  const hosts = watchHosts(options.hostsFile ?? '/etc/hosts')
  const names = new Map<string, Remembered>()

  async function find(name: string): Promise<Found> {
    const addresses = (await hosts()).get(name)
    return addresses === undefined ? await askServers(name, options) : { addresses, ttlMs: 0 }
  }

  return (given) => {
    const name = bareName(given)
    const known = names.get(name)
    if (known !== undefined && now() < known.until) return known.addresses
    const finding = find(name)
    // Whoever asks meanwhile waits for the same answer.
    const entry: Remembered = { addresses: finding.then(({ addresses }) => addresses), until: Number.POSITIVE_INFINITY }
    finding.then(
      ({ ttlMs }) => {
        entry.until = now() + Math.min(Math.max(ttlMs, TTL_MIN_MS), TTL_MAX_MS)
      },
      () => {
        entry.until = now() + FAILED_MS
      },
    )
    // Set anew, a name moves to the end: the first one is the oldest.
    names.delete(name)
    names.set(name, entry)
    if (names.size > namesMax) names.delete(names.keys().next().value!)
    return entry.addresses
  }
}

async function askServers(name: string, options: ResolveNameOptions): Promise<Found> {
  // A new one reads the machine's settings again: a laptop changes networks.
  const resolver = new Resolver({ timeout: options.timeoutMs ?? 2_000, tries: 2 })
  if (options.servers !== undefined) resolver.setServers(options.servers)
  const asked = [
    resolver.resolve6(name, { ttl: true }).then((records) => foundIn(records, 6)),
    resolver.resolve4(name, { ttl: true }).then((records) => foundIn(records, 4)),
  ]
  try {
    await Promise.any(asked)
  } catch (error) {
    const reasons = (error as AggregateError).errors.map(({ code }: { code?: string }) => code)
    throw new CallFailure('name', `${name}: ${reasons.join(', ')}`)
  }
  const found = await settledWithin(asked, OTHER_FAMILY_MS)
  // Ends the question that is still open.
  resolver.cancel()
  return {
    // IPv6 first: where it has no route that is known at once, and IPv4 has all the time that is left.
    addresses: found.flatMap(({ addresses }) => addresses),
    ttlMs: Math.min(...found.map(({ ttlMs }) => ttlMs)),
  }
}

const foundIn = (records: readonly { address: string; ttl: number }[], family: 4 | 6): Found => ({
  addresses: records.map(({ address }) => ({ address, family })),
  ttlMs: Math.min(...records.map(({ ttl }) => ttl)) * 1_000,
})

/** Those of the promises that have come true by then, in their order. */
async function settledWithin<T extends object>(promises: readonly Promise<T>[], ms: number): Promise<T[]> {
  const patience = new AbortController()
  const late = wait(ms, undefined, { signal: patience.signal }).catch(() => undefined)
  const results = await Promise.all(promises.map((promise) => Promise.race([promise.catch(() => undefined), late])))
  patience.abort()
  return results.filter((result) => result !== undefined)
}

import { isIP, type LookupFunction, type Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector } from 'undici'
import { bareName, isLocalhost, isPublicAddress } from './addresses.ts'
import { CallFailure } from './failure.ts'
import { passOverInformational } from './pass-over-informational.ts'
import type { ResolvedAddress, ResolveName } from './resolve-name.ts'

export type ConnectOptions = {
  readonly timeoutMs: number
  readonly allowPrivate: boolean
  readonly resolve: ResolveName
  readonly ca?: string | undefined
}

export type Connector = {
  readonly connect: buildConnector.connector
  /** Gives up the connections that are still being made. */
  abandon(): void
}

const SESSIONS_MAX = 10_000

const loopback: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Makes the connections, and is the one place that decides whereto: every address passes here right before its use. */
export function createConnector(options: ConnectOptions): Connector {
  const allows = (address: string) => options.allowPrivate || isPublicAddress(address)
  // It returns the socket, which its type leaves out.
  const base = buildConnector({
    allowH2: false,
    // Its timer is half a second early or late.
    timeout: 0,
    lookup: guardedLookup(options, allows),
    maxCachedSessions: SESSIONS_MAX,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 250,
    // Made once: it costs more than a handshake to make it for each connection.
    secureContext: createSecureContext({
      minVersion: 'TLSv1.2',
      ...(options.ca === undefined ? {} : { ca: [...getCACertificates('default'), options.ca] }),
    }),
  }) as unknown as (target: buildConnector.Options, callback: buildConnector.Callback) => Socket
  const connecting = new Set<Socket>()

  return {
    connect(target, callback) {
      // A literal address is never looked up.
      if (isIP(target.hostname) !== 0 && !allows(target.hostname)) {
        queueMicrotask(() => callback(new CallFailure('forbidden', target.hostname), null))
        return
      }
      const socket = base(withServerName(target), (error, connected) => {
        clearTimeout(timer)
        connecting.delete(socket)
        if (error !== null) return callback(error, null)
        passOverInformational(connected)
        callback(null, connected)
      })
      const timer = setTimeout(() => socket.destroy(new CallFailure('timeout', target.hostname)), options.timeoutMs)
      connecting.add(socket)
      guardPeer(socket, allows)
    },
    abandon() {
      for (const socket of connecting) socket.destroy(new CallFailure('stopped', 'closed'))
    },
  }
}

/** Checks whom the socket has reached, before it says a word: a TLS greeting tells our name and the receiver's. */
export function guardPeer(socket: Socket, allows: (address: string) => boolean): void {
  socket.prependOnceListener('connect', () => {
    const peer = socket.remoteAddress ?? ''
    if (!allows(peer)) socket.destroy(new CallFailure('forbidden', peer))
  })
}

/** A certificate and a greeting name the host without the root's dot. */
function withServerName(target: buildConnector.Options): buildConnector.Options {
  if (target.servername || !target.hostname.endsWith('.')) return target
  return { ...target, servername: bareName(target.hostname) }
}

/** The look-up that the socket itself uses: between check and use there is no second one to answer otherwise. */
function guardedLookup(options: ConnectOptions, allows: (address: string) => boolean): LookupFunction {
  async function find(name: string): Promise<readonly ResolvedAddress[]> {
    if (isLocalhost(name)) {
      if (!options.allowPrivate) throw new CallFailure('forbidden', name)
      return loopback
    }
    const addresses = await options.resolve(name)
    if (addresses.length === 0) throw new CallFailure('name', `${name}: no address`)
    // One is enough: nobody has public and private addresses under one name by chance.
    const refused = addresses.find(({ address }) => !allows(address))
    if (refused !== undefined) throw new CallFailure('forbidden', `${name}: ${refused.address}`)
    return worthTrying(addresses)
  }
  return (name, { all }, callback) => {
    find(name).then(
      (addresses) => {
        if (all) callback(null, [...addresses])
        else callback(null, addresses[0]!.address, addresses[0]!.family)
      },
      (error: unknown) => callback(error instanceof CallFailure ? error : new CallFailure('name', String(error)), ''),
    )
  }
}

/** Each address but the last has a moment only, so that a few of them do not eat up the time there is. */
function worthTrying(addresses: readonly ResolvedAddress[]): readonly ResolvedAddress[] {
  const left = { 4: 2, 6: addresses.some(({ family }) => family === 4) ? 1 : 2 }
  return addresses.filter(({ family }) => left[family]-- > 0)
}

import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { bareName } from './addresses.ts'
import type { ResolvedAddress } from './resolve-name.ts'

type Hosts = ReadonlyMap<string, readonly ResolvedAddress[]>

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, ResolvedAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family !== 4 && family !== 6) continue
    for (const name of names.map(bareName)) {
      const known = hosts.get(name)
      if (known === undefined) hosts.set(name, [{ address, family }])
      else known.push({ address, family })
    }
  }
  return hosts
}

/** The file's names, read again when it has changed. A file that cannot be read has none. */
export function watchHosts(path: string): () => Promise<Hosts> {
  let hosts: Hosts = new Map()
  let seen = ''
  return async () => {
    try {
      const { mtimeNs, size, ino } = await stat(path, { bigint: true })
      const version = `${mtimeNs} ${size} ${ino}`
      if (version !== seen) {
        hosts = parseHosts(await readFile(path, 'utf8'))
        seen = version
      }
      return hosts
    } catch {
      return new Map()
    }
  }
}

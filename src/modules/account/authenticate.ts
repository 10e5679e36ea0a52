import { hash, timingSafeEqual } from 'node:crypto'
import { SECOND_MS } from '../../kernel/calendar.ts'
import { type AccountId, uuidFromWire } from '../../kernel/ids.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { type Credential, findCredential, markTokenUsed } from './account.store.ts'

/** A revoked token lives on for no longer than this. */
export const AUTHENTICATION_CACHE_MS = 5 * SECOND_MS
const ENTRIES_MAX = 20_000
const NO_KEY = '00000000-0000-0000-0000-000000000000'

export type Caller = {
  readonly accountId: AccountId
  readonly apiKey: string
  readonly rateLimitPerSecond: number | null
}

export type Authenticator = {
  /** The caller, when these very credentials passed a moment ago: no look-up, no wait. */
  recall(apiKey: string | undefined, apiToken: string | undefined): Caller | undefined
  authenticate(apiKey: string | undefined, apiToken: string | undefined): Promise<Caller | undefined>
  /** After a rotation or a change of status in this process; others follow within the cache's time. */
  forget(apiKey?: string): void
}

type Entry = {
  readonly credential: Promise<Credential | undefined>
  readonly until: number
  /** The token that passed last, as a digest, and how long it may pass again unseen. */
  passed?: { readonly digest: Buffer; readonly caller: Caller; readonly until: number }
}

// A plain digest: it lives in memory for seconds, beside tokens that requests carry anyway.
const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer')

export function createAuthenticator(db: Database, secrets: Secrets, clock: Clock): Authenticator {
  const cache = new Map<string, Entry>()

  function known(apiKey: string): Promise<Credential | undefined> | undefined {
    const entry = cache.get(apiKey)
    return entry !== undefined && clock.now() < entry.until ? entry.credential : undefined
  }

  function lookUp(apiKey: string): Promise<Credential | undefined> {
    // Concurrent first requests share one look-up. A failed one is not remembered, nor is a key that nobody has:
    // strangers must not push the known ones out.
    const credential = findCredential(db, apiKey)
    const forget = () => void cache.delete(apiKey)
    credential.then((found) => found === undefined && apiKey !== NO_KEY && forget(), forget)
    if (cache.size >= ENTRIES_MAX) cache.clear()
    cache.set(apiKey, { credential, until: clock.now() + AUTHENTICATION_CACHE_MS })
    return credential
  }

  async function admit(key: string, token: string, credential: Credential | undefined): Promise<Caller | undefined> {
    // Both comparisons always run: an unknown key, a wrong token and an old one cost the same.
    const current = secrets.matches(token, credential?.tokenHash)
    const previous = secrets.matches(token, credential?.previousHash ?? undefined)
    if (credential === undefined || credential.status !== 'ACTIVE') return undefined
    const previousLives = credential.previousEndsAt !== null && clock.now() < credential.previousEndsAt
    if (!current && !(previous && previousLives)) return undefined
    if (current && !credential.tokenUsed) {
      await markTokenUsed(db, key, credential.tokenHash, clock.now())
      cache.delete(key)
    }
    const caller = { accountId: credential.accountId, apiKey: key, rateLimitPerSecond: credential.rateLimitPerSecond }
    const entry = cache.get(key)
    if (entry !== undefined) {
      const until = current ? entry.until : Math.min(entry.until, credential.previousEndsAt!)
      entry.passed = { digest: digestOf(token), caller, until }
    }
    return caller
  }

  return {
    recall(apiKey = '', apiToken = '') {
      // Hashed first: a key that is not known takes as long.
      const digest = digestOf(apiToken)
      const passed = cache.get(apiKey)?.passed
      if (passed === undefined || clock.now() >= passed.until) return undefined
      return timingSafeEqual(digest, passed.digest) ? passed.caller : undefined
    },
    async authenticate(apiKey, apiToken) {
      const key = uuidFromWire(apiKey ?? '') ?? NO_KEY
      const token = apiToken ?? ''
      const remembered = known(key)
      const caller = remembered && (await admit(key, token, await remembered))
      // Another process may have rotated the token a moment ago: only the database says no, unless there is no key at all.
      if (caller !== undefined || (remembered !== undefined && key === NO_KEY)) return caller
      return admit(key, token, await lookUp(key))
    },
    forget(apiKey) {
      if (apiKey === undefined) cache.clear()
      else cache.delete(apiKey)
    },
  }
}

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
  authenticate(apiKey: string | undefined, apiToken: string | undefined): Promise<Caller | undefined>
  /** After a rotation or a change of status in this process; others follow within the cache's time. */
  forget(apiKey?: string): void
}

type Entry = { credential: Promise<Credential | undefined>; until: number }

export function createAuthenticator(db: Database, secrets: Secrets, clock: Clock): Authenticator {
  const cache = new Map<string, Entry>()

  function credentialOf(apiKey: string): Promise<Credential | undefined> {
    const now = clock.now()
    const known = cache.get(apiKey)
    if (known !== undefined && now < known.until) return known.credential
    // Concurrent first requests share one look-up; a failed one is not remembered.
    const credential = findCredential(db, apiKey)
    credential.catch(() => cache.delete(apiKey))
    if (cache.size >= ENTRIES_MAX) cache.clear()
    cache.set(apiKey, { credential, until: now + AUTHENTICATION_CACHE_MS })
    return credential
  }

  return {
    async authenticate(apiKey, apiToken) {
      const key = uuidFromWire(apiKey ?? '') ?? NO_KEY
      const credential = await credentialOf(key)
      const token = apiToken ?? ''
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
      return { accountId: credential.accountId, apiKey: key, rateLimitPerSecond: credential.rateLimitPerSecond }
    },
    forget(apiKey) {
      if (apiKey === undefined) cache.clear()
      else cache.delete(apiKey)
    },
  }
}

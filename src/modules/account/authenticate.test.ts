import { describe, expect, test } from 'vitest'
import { manualClock } from '../../../test/harness/manual-clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { systemRandomIds } from '../../platform/random-ids.ts'
import { createSecrets, type Secrets } from '../../platform/secrets.ts'
import { AUTHENTICATION_CACHE_MS, createAuthenticator } from './authenticate.ts'

const KEY = '11111111-1111-4111-8111-111111111111'
const TOKEN = '22222222-2222-4222-8222-222222222222'
const OLD_TOKEN = '33333333-3333-4333-8333-333333333333'
const UNKNOWN_KEY = '44444444-4444-4444-8444-444444444444'

/** One account in a database that counts how often it is asked, and secrets that count comparisons. */
function authenticatorOf(changes: Record<string, unknown> = {}) {
  const clock = manualClock()
  const secrets = createSecrets([Buffer.alloc(32, 7)], systemRandomIds())
  const row: Record<string, unknown> = {
    account_id: 7,
    status: 'ACTIVE',
    rate_limit_per_second: null,
    token_hash: secrets.hash(TOKEN),
    token_used_at: clock.now(),
    previous_hash: null,
    previous_ends_at: null,
    ...changes,
  }
  const asked: string[] = []
  const trouble: { next?: Error | undefined } = {}
  const query = async ({ name }: { name: string }, [apiKey]: readonly unknown[]) => {
    asked.push(name)
    if (trouble.next) {
      const error = trouble.next
      trouble.next = undefined
      throw error
    }
    return name === 'credential_find' && apiKey === KEY ? [row] : []
  }
  const compared: boolean[] = []
  const counting: Secrets = {
    ...secrets,
    matches(secret, hash) {
      compared.push(hash !== undefined)
      return secrets.matches(secret, hash)
    },
  }
  const authenticator = createAuthenticator({ query } as unknown as Database, counting, clock)
  return { authenticator, clock, secrets, row, asked, compared, trouble }
}

describe('authentication', () => {
  test('knows whose key and token they are', async () => {
    const { authenticator } = authenticatorOf({ rate_limit_per_second: 5 })
    expect(await authenticator.authenticate(KEY.toUpperCase(), TOKEN)).toEqual({
      accountId: 7,
      apiKey: KEY,
      rateLimitPerSecond: 5,
    })
  })

  test.each([
    ['a right pair', KEY, TOKEN],
    ['a wrong token', KEY, OLD_TOKEN],
    ['an unknown key', UNKNOWN_KEY, TOKEN],
    ['a key of the wrong shape', 'key', TOKEN],
    ['no key', undefined, TOKEN],
    ['no token', KEY, undefined],
    ['neither', undefined, undefined],
  ])('%s costs one look-up and both comparisons', async (_name, key, token) => {
    const { authenticator, asked, compared } = authenticatorOf()
    await authenticator.authenticate(key, token)
    expect(asked).toEqual(['credential_find'])
    expect(compared).toHaveLength(2)
  })

  test('an old token costs the same as the one in force', async () => {
    const old = authenticatorOf()
    old.row['previous_hash'] = old.secrets.hash(OLD_TOKEN)
    old.row['previous_ends_at'] = old.clock.now() + 1
    expect(await old.authenticator.authenticate(KEY, OLD_TOKEN)).toBeDefined()
    expect(old.asked).toEqual(['credential_find'])
    expect(old.compared).toEqual([true, true])
  })

  test.each(['SUSPENDED', 'CLOSED'])('a right pair of a %s account is refused after the same work', async (status) => {
    const { authenticator, asked, compared } = authenticatorOf({ status })
    expect(await authenticator.authenticate(KEY, TOKEN)).toBeUndefined()
    expect(asked).toEqual(['credential_find'])
    expect(compared).toHaveLength(2)
  })

  test('a right pair is asked for once in five seconds', async () => {
    const { authenticator, clock, asked } = authenticatorOf()
    await Promise.all(Array.from({ length: 20 }, () => authenticator.authenticate(KEY, TOKEN)))
    clock.advance(AUTHENTICATION_CACHE_MS - 1)
    await authenticator.authenticate(KEY, TOKEN)
    expect(asked).toHaveLength(1)
    clock.advance(1)
    await authenticator.authenticate(KEY, TOKEN)
    expect(asked).toHaveLength(2)
    expect(AUTHENTICATION_CACHE_MS).toBeLessThanOrEqual(5_000)
  })

  test('a token that does not fit what is remembered is looked up again: it may be new', async () => {
    const { authenticator, row, secrets, asked } = authenticatorOf()
    await authenticator.authenticate(KEY, TOKEN)
    row['token_hash'] = secrets.hash(OLD_TOKEN)
    expect(await authenticator.authenticate(KEY, OLD_TOKEN)).toBeDefined()
    expect(asked.filter((name) => name === 'credential_find')).toHaveLength(2)
  })

  test('requests without a key do not reach the database again and again', async () => {
    const { authenticator, asked } = authenticatorOf()
    for (const key of [undefined, '', 'x', 'y']) expect(await authenticator.authenticate(key, TOKEN)).toBeUndefined()
    expect(asked).toHaveLength(1)
  })

  test('a look-up that failed is not remembered', async () => {
    const { authenticator, trouble } = authenticatorOf()
    trouble.next = new Error('the database is away')
    await expect(authenticator.authenticate(KEY, TOKEN)).rejects.toThrow('away')
    expect(await authenticator.authenticate(KEY, TOKEN)).toBeDefined()
  })

  test('the first use of a token is written down once', async () => {
    const { authenticator, row, asked } = authenticatorOf({ token_used_at: null })
    await authenticator.authenticate(KEY, TOKEN)
    expect(asked).toEqual(['credential_find', 'credential_mark_used'])
    row['token_used_at'] = 1
    await authenticator.authenticate(KEY, TOKEN)
    expect(asked.filter((name) => name === 'credential_mark_used')).toHaveLength(1)
  })

  test('the use of an old token is not the first use of the new one', async () => {
    const { authenticator, row, secrets, clock, asked } = authenticatorOf({ token_used_at: null })
    row['previous_hash'] = secrets.hash(OLD_TOKEN)
    row['previous_ends_at'] = clock.now() + 1
    expect(await authenticator.authenticate(KEY, OLD_TOKEN)).toBeDefined()
    expect(asked).toEqual(['credential_find'])
  })

  test('an old token ends at its instant, not after it, remembered or not', async () => {
    const { authenticator, row, secrets, clock } = authenticatorOf()
    row['previous_hash'] = secrets.hash(OLD_TOKEN)
    row['previous_ends_at'] = clock.now() + 1_000
    clock.advance(999)
    expect(await authenticator.authenticate(KEY, OLD_TOKEN)).toBeDefined()
    clock.advance(1)
    expect(await authenticator.authenticate(KEY, OLD_TOKEN)).toBeUndefined()
  })

  test('a pair that passed is recalled without a look-up for five seconds, and no other pair is', async () => {
    const { authenticator, clock, asked } = authenticatorOf()
    expect(authenticator.recall(KEY, TOKEN)).toBeUndefined()
    const caller = await authenticator.authenticate(KEY, TOKEN)
    expect(authenticator.recall(KEY, TOKEN)).toEqual(caller)
    for (const [key, token] of [
      [KEY, OLD_TOKEN],
      [KEY, ''],
      [KEY, undefined],
      [UNKNOWN_KEY, TOKEN],
      [undefined, TOKEN],
      [undefined, undefined],
    ])
      expect(authenticator.recall(key, token)).toBeUndefined()
    clock.advance(AUTHENTICATION_CACHE_MS - 1)
    expect(authenticator.recall(KEY, TOKEN)).toEqual(caller)
    clock.advance(1)
    expect(authenticator.recall(KEY, TOKEN)).toBeUndefined()
    expect(asked).toEqual(['credential_find'])
  })

  test('an old token is recalled until its end and no longer; what was refused or forgotten never is', async () => {
    const { authenticator, row, secrets, clock } = authenticatorOf()
    row['previous_hash'] = secrets.hash(OLD_TOKEN)
    row['previous_ends_at'] = clock.now() + 1_000
    await authenticator.authenticate(KEY, OLD_TOKEN)
    clock.advance(999)
    expect(authenticator.recall(KEY, OLD_TOKEN)).toBeDefined()
    clock.advance(1)
    expect(authenticator.recall(KEY, OLD_TOKEN)).toBeUndefined()
    await authenticator.authenticate(KEY, OLD_TOKEN)
    expect(authenticator.recall(KEY, OLD_TOKEN)).toBeUndefined()
    await authenticator.authenticate(KEY, TOKEN)
    authenticator.forget(KEY)
    expect(authenticator.recall(KEY, TOKEN)).toBeUndefined()
  })

  test('what was forgotten is looked up again at once', async () => {
    const { authenticator, row } = authenticatorOf()
    expect(await authenticator.authenticate(KEY, TOKEN)).toBeDefined()
    row['status'] = 'SUSPENDED'
    authenticator.forget(UNKNOWN_KEY)
    expect(await authenticator.authenticate(KEY, TOKEN)).toBeDefined()
    authenticator.forget(KEY)
    expect(await authenticator.authenticate(KEY, TOKEN)).toBeUndefined()
    row['status'] = 'ACTIVE'
    authenticator.forget()
    expect(await authenticator.authenticate(KEY, TOKEN)).toBeDefined()
  })
})

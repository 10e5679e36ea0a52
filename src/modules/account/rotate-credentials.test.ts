import { describe, expect, onTestFinished, test } from 'vitest'
import type { ApiClient } from '../../../test/harness/api-client.ts'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const HOUR = 3_600_000
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const withToken = (account: TestAccount, apiToken: string): ApiClient => account.api.as({ 'x-api-token': apiToken })
const works = async (api: ApiClient): Promise<boolean> => (await api.get('/v1.1/balance')).http === 200

async function rotate(account: Pick<TestAccount, 'api'>, body?: object) {
  const answer = await account.api.post('/v1.1/account/credentials/rotate', body)
  expect(answer.http, answer.text).toBe(200)
  return answer.body as { credentials: { apiKey: string; apiToken: string }; previousTokenEndsAt: string }
}

/** A second process of the same service: same database, its own memory. */
async function anotherProcess(): Promise<ApiClient> {
  const service = await anotherService(it)
  onTestFinished(() => service.close())
  return service.api
}

const usedAt = async (account: TestAccount) =>
  (
    await it.rows<{ token_used_at: number | null }>('select token_used_at from credential where api_key = $1', [
      account.apiKey,
    ])
  )[0]!.token_used_at

describe('rotating the token', () => {
  test('keeps the key, shows a new token once and says when the old one ends', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-16 12:00:00')
    const rotated = await rotate(account)
    expect(rotated).toEqual({
      status: 0,
      message: 'success',
      credentials: { apiKey: account.apiKey, apiToken: expect.stringMatching(uuid) },
      previousTokenEndsAt: '2026-11-17 12:00:00',
    })
    expect(rotated.credentials.apiToken).not.toBe(account.apiToken)
  })

  test.each([
    ['by default 24 hours', undefined, 24],
    ['24 hours', { overlapHours: 24 }, 24],
    ['one hour', { overlapHours: '1' }, 1],
  ])('both tokens work for the overlap: %s', async (_name, body, hours) => {
    const account = await it.given.account()
    const { apiToken } = (await rotate(account, body)).credentials
    it.clock.advance(hours * HOUR - 1)
    expect([await works(account.api), await works(withToken(account, apiToken))]).toEqual([true, true])
    it.clock.advance(1)
    expect([await works(account.api), await works(withToken(account, apiToken))]).toEqual([false, true])
  })

  test('without an overlap the old token is dead within five seconds, in every process', async () => {
    const account = await it.given.account()
    const other = (await anotherProcess()).as({ 'x-api-key': account.apiKey })
    // The second time it is remembered.
    for (const _time of [1, 2]) expect(await works(other.as({ 'x-api-token': account.apiToken }))).toBe(true)
    const { apiToken } = (await rotate(account, { overlapHours: 0 })).credentials
    it.clock.advance(5_000)
    expect(await works(account.api)).toBe(false)
    expect(await works(other.as({ 'x-api-token': account.apiToken }))).toBe(false)
    expect(await works(other.as({ 'x-api-token': apiToken }))).toBe(true)
  })

  test('the new token works at once, also in a process that remembers the old one', async () => {
    const account = await it.given.account()
    const other = (await anotherProcess()).as({ 'x-api-key': account.apiKey })
    for (const _time of [1, 2]) expect(await works(other.as({ 'x-api-token': account.apiToken }))).toBe(true)
    const { apiToken } = (await rotate(account)).credentials
    expect(await works(withToken(account, apiToken))).toBe(true)
    expect(await works(other.as({ 'x-api-token': apiToken }))).toBe(true)
    expect(await works(other.as({ 'x-api-token': account.apiToken }))).toBe(true)
  })

  test('there are never three: a second rotation ends the token before the last', async () => {
    const account = await it.given.account()
    const second = (await rotate(account)).credentials.apiToken
    const third = (await rotate(account)).credentials.apiToken
    it.clock.advance(5_000)
    expect(await works(account.api)).toBe(false)
    expect(await works(withToken(account, second))).toBe(true)
    expect(await works(withToken(account, third))).toBe(true)
  })

  test('the overlap is real time: a jump of the account’s clock does not end it', async () => {
    const account = await it.given.account()
    await rotate(account)
    expect((await account.api.post('/v1.1/sandbox/clock/advance', { days: 3 })).http).toBe(200)
    expect(await works(account.api)).toBe(true)
  })

  test('the first use of the new token is noted, the use of the old one is not', async () => {
    const account = await it.given.account()
    expect(await usedAt(account)).toBeNull()
    await works(account.api)
    expect(await usedAt(account)).toBe(it.clock.now())

    const { apiToken } = (await rotate(account)).credentials
    await works(account.api)
    expect(await usedAt(account)).toBeNull()
    it.clock.advance(60_000)
    const first = it.clock.now()
    await works(withToken(account, apiToken))
    it.clock.advance(60_000)
    await works(withToken(account, apiToken))
    expect(await usedAt(account)).toBe(first)
  })

  test.each([-1, 25, 1.5, 'x', true, {}, []])('an overlap of %j is a 400 that names it', async (overlapHours) => {
    const account = await it.given.account()
    for (const path of ['credentials', 'webhook-secret']) {
      const answer = await account.api.post(`/v1.1/account/${path}/rotate`, { overlapHours })
      expect(answer.http).toBe(400)
      expect(answer.body).toEqual({
        status: -1,
        message: 'field validation failure',
        errorCount: 1,
        errors: [{ field: 'overlapHours', message: 'must be a whole number from 0 to 24' }],
      })
    }
    expect(await works(account.api)).toBe(true)
  })

  test('the operator can rotate for an account, and nobody else’s token changes', async () => {
    const [account, neighbour] = [await it.given.account(), await it.given.account()]
    const path = `/operator/v1/accounts/${account.id}/credentials/rotate`
    const answer = await it.operator.post(path, { overlapHours: 0 })
    expect(answer.body.credentials).toEqual({ apiKey: account.apiKey, apiToken: expect.stringMatching(uuid) })
    it.clock.advance(5_000)
    expect(await works(account.api)).toBe(false)
    expect(await works(withToken(account, answer.body.credentials.apiToken))).toBe(true)
    expect(await works(neighbour.api)).toBe(true)
  })
})

describe('rotating the webhook secret', () => {
  const secretOf = async (account: TestAccount) =>
    (await account.api.get('/v1.1/account/notifications')).body.webhookSecret

  test('makes a new one, shows it, and leaves the token alone', async () => {
    const account = await it.given.account()
    it.clock.set('2026-11-20 08:00:00')
    const answer = await account.api.post('/v1.1/account/webhook-secret/rotate', { overlapHours: 2 })
    expect(answer.http).toBe(200)
    expect(answer.body).toEqual({
      status: 0,
      message: 'success',
      webhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
      previousSecretEndsAt: '2026-11-20 10:00:00',
    })
    expect(answer.body.webhookSecret).not.toBe(account.webhookSecret)
    expect(await secretOf(account)).toBe(answer.body.webhookSecret)
    it.clock.advance(5_000)
    expect(await works(account.api)).toBe(true)
  })

  test('keeps the old one for the overlap, 24 hours by default, so that both can sign', async () => {
    const account = await it.given.account()
    await account.api.post('/v1.1/account/webhook-secret/rotate')
    const [row] = await it.rows<{ previous: Buffer; ends: number; id: number }>(
      'select id, webhook_secret_previous as previous, webhook_secret_previous_ends_at as ends from account where uuid = $1',
      [account.id],
    )
    expect(row!.ends).toBe(it.clock.now() + 24 * HOUR)
    expect(it.service.secrets.open(row!.previous, `account ${row!.id} webhook secret`)).toBe(account.webhookSecret)
  })
})

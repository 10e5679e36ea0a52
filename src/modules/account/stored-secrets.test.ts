import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ApiClient, apiClient } from '../../../test/harness/api-client.ts'
import { OPERATOR_TOKEN, testService } from '../../../test/harness/test-service.ts'
import { systemRandomIds } from '../../platform/random-ids.ts'
import { createService } from '../../service.ts'
import { findApiToken } from './account.store.ts'

const it = testService()
const firstKey = Buffer.alloc(32, 7)
const secondKey = Buffer.alloc(32, 8)

/** Everything in the database as text; bytes are hex. */
async function wholeDatabase(): Promise<string> {
  const tables = await it.rows<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  )
  expect(tables.length).toBeGreaterThan(10)
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = await it.rows<{ text: string }>(`select t::text as text from "${name}" t`)
    texts.push(`${name}: ${rows.map((row) => row.text).join('\n')}`)
  }
  return texts.join('\n').toLowerCase()
}

/** The ways a secret could lie there. */
const formsOf = (secret: string): string[] =>
  [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64'), secret.replaceAll('-', '')].map(
    (form) => form.toLowerCase(),
  )

async function processWith(encryptionKeys: readonly Buffer[]): Promise<ApiClient> {
  const service = await createService({
    config: it.config,
    connection: it.connection,
    operatorToken: OPERATOR_TOKEN,
    encryptionKeys,
    clock: it.clock,
    ids: systemRandomIds(),
    logger: pino({ level: 'silent' }),
  })
  onTestFinished(() => service.close())
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  return apiClient((service.app.server.address() as AddressInfo).port)
}

const register = async (api: ApiClient, fields: object = {}) =>
  (await api.post('/v1.1/sandbox/register', { name: 'Loja', email: 'loja@example.com', ...fields })).body.credentials

describe('secrets at rest', () => {
  test('no token, webhook secret, password or operator token lies in any table, in any form', async () => {
    const password = 'correct-horse-battery-staple'
    const made = await register(it.api, { email: 'secret@example.com', password })
    const api = it.api.as({ 'x-api-key': made.apiKey, 'x-api-token': made.apiToken })
    const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
    const rotated = await api.post('/v1.1/account/credentials/rotate', {}, keyed('rotate'))
    const signed = await api.post('/v1.1/account/webhook-secret/rotate', {}, keyed('sign'))
    const recipient = await api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' }, keyed('recipient'))
    const settings = await api.put('/v1.1/account/notifications', { payment: {} }, keyed('settings'))
    expect([rotated, signed, recipient, settings].map(({ http }) => http)).toEqual([200, 200, 201, 200])

    const secrets = [
      made.apiToken,
      made.webhookSecret,
      rotated.body.credentials.apiToken,
      signed.body.webhookSecret,
      recipient.body.credentials.apiToken,
      recipient.body.credentials.webhookSecret,
      password,
      OPERATOR_TOKEN,
    ]
    const stored = await wholeDatabase()
    // The search would find them: what is no secret is there.
    expect(stored).toContain(made.apiKey)
    expect(stored).toContain('secret@example.com')
    for (const secret of secrets) for (const form of formsOf(secret)) expect(stored.includes(form), form).toBe(false)
  })

  test('answers with credentials are kept encrypted, others are not', async () => {
    const { api, id } = await it.given.account()
    const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
    await api.post('/v1.1/account/credentials/rotate', {}, keyed('1 token'))
    await api.post('/v1.1/account/webhook-secret/rotate', {}, keyed('2 secret'))
    await api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' }, keyed('3 recipient'))
    await api.put('/v1.1/account/notifications', {}, keyed('4 notifications'))
    await api.put('/v1.1/sandbox/account', {}, keyed('5 settings'))
    const rows = await it.rows<{ key: string; sealed: boolean; answer: Buffer }>(
      'select k.* from idempotency_key k join account a on a.id = k.account_id where a.uuid = $1 order by key',
      [id],
    )
    expect(rows.map(({ key, sealed }) => [key, sealed])).toEqual([
      ['1 token', true],
      ['2 secret', true],
      ['3 recipient', true],
      ['4 notifications', true],
      ['5 settings', false],
    ])
    for (const { answer, sealed } of rows) expect(answer.toString('latin1').includes('success')).toBe(!sealed)
  })

  test('a token is a keyed hash and a ciphertext that opens in its own place only', async () => {
    const [one, two] = [await it.given.account(), await it.given.account()]
    const { db, secrets } = it.service
    expect(await findApiToken(db, secrets, one.apiKey)).toBe(one.apiToken)
    await it.rows(
      'update credential c set token_sealed = o.token_sealed from credential o where c.api_key = $1 and o.api_key = $2',
      [two.apiKey, one.apiKey],
    )
    await expect(findApiToken(db, secrets, two.apiKey)).rejects.toThrow()
    expect((await two.api.get('/v1.1/balance')).http).toBe(200)
  })

  test('a webhook secret moved to another account opens there for nobody', async () => {
    const [one, two] = [await it.given.account(), await it.given.account()]
    await it.rows(
      'update account a set webhook_secret = o.webhook_secret from account o where a.uuid = $1 and o.uuid = $2',
      [two.id, one.id],
    )
    const answer = await two.api.get('/v1.1/account/notifications')
    expect(answer.http).toBe(500)
    expect(answer.text).not.toContain(one.webhookSecret)
  })

  test('a password is an Argon2id hash with its parameters and a salt of its own', async () => {
    await register(it.api, { email: 'salt-1@example.com', password: 'the same password' })
    await register(it.api, { email: 'salt-2@example.com', password: 'the same password' })
    const hashes = await it.rows<{ password_hash: string }>(
      "select password_hash from account where email like 'salt-%'",
    )
    expect(new Set(hashes.map((row) => row.password_hash)).size).toBe(2)
    for (const row of hashes)
      expect(row.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w-]{22}\$[\w-]{43}$/)
  })
})

describe('rotating QUITADO_ENCRYPTION_KEY', () => {
  test('with the new key first and the old one after it, everybody’s credentials go on working', async () => {
    const old = await register(await processWith([firstKey]))
    const both = await processWith([secondKey, firstKey])
    const api = both.as({ 'x-api-key': old.apiKey, 'x-api-token': old.apiToken })
    expect((await api.get('/v1.1/account/notifications')).body.webhookSecret).toBe(old.webhookSecret)
  })

  test('what is made meanwhile needs the new key only; what is older needs the old one', async () => {
    const old = await register(await processWith([firstKey]))
    const fresh = await register(await processWith([secondKey, firstKey]))
    const alone = await processWith([secondKey])
    const balance = async ({ apiKey, apiToken }: { apiKey: string; apiToken: string }) =>
      (await alone.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }).get('/v1.1/account/notifications')).http
    expect([await balance(fresh), await balance(old)]).toEqual([200, 403])
  })

  test('a rotated token is hashed with the new key', async () => {
    const old = await register(await processWith([firstKey]))
    const both = (await processWith([secondKey, firstKey])).as({ 'x-api-key': old.apiKey })
    const rotated = await both.as({ 'x-api-token': old.apiToken }).post('/v1.1/account/credentials/rotate')
    const alone = (await processWith([secondKey])).as({ 'x-api-key': old.apiKey })
    const { apiToken } = rotated.body.credentials
    expect((await alone.as({ 'x-api-token': apiToken }).get('/v1.1/balance')).http).toBe(200)
    expect((await alone.as({ 'x-api-token': old.apiToken }).get('/v1.1/balance')).http).toBe(403)
  })
})

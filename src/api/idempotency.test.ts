import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Reply } from '../../test/harness/api-client.ts'
import type { TestAccount } from '../../test/harness/given.ts'
import { accepted, payOut, payoutBody } from '../../test/harness/money-out.ts'
import { testService } from '../../test/harness/test-service.ts'
import { clientConfig } from '../platform/database/database.ts'

const it = testService()
const DAY = 86_400_000
const KEY_ERROR = (message: string) => [{ field: 'Idempotency-Key', message }]

type Request = { readonly method: string; readonly path: string; readonly body: unknown; readonly invalid?: unknown }
type Case = readonly [name: string, ask: (account: TestAccount) => Promise<Request> | Request]

const recipientOf = async (account: TestAccount): Promise<string> =>
  (await account.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })).body.recipient.recipientId

/** The account has 99.01. */
const paying = async (account: TestAccount, path: string): Promise<string> => {
  await it.given.paidSale(account)
  return path
}
const payoutOf = async (account: TestAccount): Promise<string> => {
  await it.given.paidSale(account)
  return accepted(payOut(account))
}

// biome-ignore format: a table
const cases: readonly Case[] = [
  ['notification settings', () => ({ method: 'PUT', path: '/v1.1/account/notifications', body: { payment: { url: 'https://a.example' } }, invalid: { refund: { enabled: true } } })],
  ['token rotation', () => ({ method: 'POST', path: '/v1.1/account/credentials/rotate', body: { overlapHours: 1 }, invalid: { overlapHours: 25 } })],
  ['webhook secret rotation', () => ({ method: 'POST', path: '/v1.1/account/webhook-secret/rotate', body: {}, invalid: { overlapHours: -1 } })],
  ['account settings', () => ({ method: 'PUT', path: '/v1.1/sandbox/account', body: { overdraftLimit: 10 }, invalid: { overdraftLimit: -1 } })],
  ['a new recipient', () => ({ method: 'POST', path: '/v1.1/sandbox/recipients', body: { name: 'Fornecedor' }, invalid: {} })],
  ['a recipient’s switch', async (account) => ({ method: 'PUT', path: `/v1.1/sandbox/recipients/${await recipientOf(account)}`, body: { active: false }, invalid: { active: 'no' } })],
  ['an advance of the clock', () => ({ method: 'POST', path: '/v1.1/sandbox/clock/advance', body: { days: 1 }, invalid: { days: 9_999 } })],
  ['an advance that is refused', () => ({ method: 'POST', path: '/v1.1/sandbox/clock/advance', body: { to: '2040-01-01' } })],
  ['a reset of the clock', () => ({ method: 'POST', path: '/v1.1/sandbox/clock/reset', body: undefined })],
  ['a payment', async (account) => ({ method: 'POST', path: `/v1.1/sandbox/sim/sale/${(await it.given.sale(account)).uuid}/paid`, body: {}, invalid: { amount: 0 } })],
  ['a void', async (account) => ({ method: 'PUT', path: `/v1.1/transactions/${(await it.given.sale(account)).uuid}/void`, body: undefined })],
  ['a refund', async (account) => ({ method: 'PUT', path: `/v1.1/transactions/${(await it.given.paidSale(account)).uuid}/refund`, body: { amount: 10 }, invalid: { amount: 0 } })],
  ['a refund that is refused', async (account) => ({ method: 'PUT', path: `/v1.1/transactions/${(await it.given.sale(account)).uuid}/refund`, body: { amount: 10 } })],
  ['a payout', async (account) => ({ method: 'POST', path: await paying(account, '/v1.1/payout/create'), body: payoutBody(), invalid: payoutBody({ beneficiary: {} }) })],
  ['a payout that is refused', () => ({ method: 'POST', path: '/v1.1/payout/create', body: payoutBody() })],
  ['a batch of payouts', async (account) => ({ method: 'POST', path: await paying(account, '/v1.1/payout/create/batch'), body: { payments: [payoutBody(), payoutBody({ amount: 99 })] }, invalid: { payments: [] } })],
  ['a payout’s cancellation', async (account) => ({ method: 'PUT', path: `/v1.1/payout/${await payoutOf(account)}/cancel`, body: { reason: 'x' }, invalid: { reason: 7 } })],
  ['a payout’s cancellation by DELETE', async (account) => ({ method: 'DELETE', path: '/v1.1/payout', body: { uuid: await payoutOf(account) }, invalid: {} })],
  ['a recipient that is not there', () => ({ method: 'PUT', path: `/v1.1/sandbox/recipients/${randomUUID()}`, body: { active: true } })],
]

const send = (account: TestAccount, { method, path, body }: Omit<Request, 'invalid'>, key: string): Promise<Reply> =>
  account.api.send(method, path, body, { headers: { 'idempotency-key': key } })

const isReplay = ({ headers }: Reply): boolean => headers['idempotency-replayed'] === 'true'

describe('the same key and the same request', () => {
  test.each(cases)('%s: the stored answer again, byte for byte', async (_name, ask) => {
    const account = await it.given.account()
    const request = await ask(account)
    const first = await send(account, request, 'key')
    expect(first.http, first.text).not.toBe(422)
    expect(isReplay(first)).toBe(false)
    for (const path of [request.path, `${request.path}/`]) {
      const again = await send(account, { ...request, path }, 'key')
      expect([again.http, again.text, isReplay(again)]).toEqual([first.http, first.text, true])
      expect(again.headers['content-type']).toBe(first.headers['content-type'])
    }
  })

  test.each(cases)('%s: at once, one effect and one answer', async (_name, ask) => {
    const account = await it.given.account()
    const request = await ask(account)
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(account, request, 'key')))
    const answered = answers.filter(({ http }) => http !== 409)
    expect(new Set(answered.map(({ text }) => text)).size).toBe(1)
    expect(answered.filter((answer) => !isReplay(answer)).length).toBeLessThanOrEqual(1)
    // Of the clock's routes a second one meanwhile is a 409 of its own.
    if (!request.path.includes('/clock/')) expect(answered).toHaveLength(4)
  })

  test('has its effect once: a clock jumps once, one recipient is made, one token rotated', async () => {
    const account = await it.given.account()
    const twice = async (method: string, path: string, body: unknown) => {
      await send(account, { method, path, body }, path)
      return send(account, { method, path, body }, path)
    }
    expect((await twice('POST', '/v1.1/sandbox/clock/advance', { days: 1 })).http).toBe(200)
    expect((await account.api.get('/v1.1/sandbox/clock')).body.offsetSeconds).toBe(DAY / 1_000)

    await twice('POST', '/v1.1/sandbox/recipients', { name: 'Fornecedor' })
    const links = await it.rows('select 1 from recipient r join account a on a.id = r.account_id where a.uuid = $1', [
      account.id,
    ])
    expect(links).toHaveLength(1)

    const { apiToken } = (await twice('POST', '/v1.1/account/credentials/rotate', { overlapHours: 1 })).body.credentials
    expect((await account.api.as({ 'x-api-token': apiToken }).get('/v1.1/balance')).http).toBe(200)
    expect((await account.api.get('/v1.1/balance')).http).toBe(200)
  })
})

describe('the same key and another request', () => {
  test.each(cases)('%s: another body, method or path is a 422', async (_name, ask) => {
    const account = await it.given.account()
    const request = await ask(account)
    await send(account, request, 'key')
    const others = [
      { ...request, body: { ...(request.body as object), other: 1 } },
      { method: 'PUT', path: '/v1.1/account/notifications', body: { other: 1 } },
    ]
    for (const other of others) {
      const answer = await send(account, other, 'key')
      expect(answer.http).toBe(422)
      expect(answer.body).toEqual({
        status: -1,
        message: 'the key was used for another request',
        errorCount: 1,
        errors: KEY_ERROR('was used for another request'),
      })
    }
  })

  test('is free for another account, which gets its own answer', async () => {
    const [one, two] = [await it.given.account(), await it.given.account()]
    const request = { method: 'POST', path: '/v1.1/sandbox/recipients', body: { name: 'Fornecedor' } }
    const [first, second] = [await send(one, request, 'shared'), await send(two, request, 'shared')]
    expect([second.http, isReplay(second)]).toEqual([201, false])
    expect(second.body.recipient.recipientId).not.toBe(first.body.recipient.recipientId)
  })

  test('is free again after 24 hours of real time, whatever the account’s clock says', async () => {
    const account = await it.given.account()
    const request = { method: 'POST', path: '/v1.1/sandbox/recipients', body: { name: 'Fornecedor' } }
    const first = await send(account, request, 'key')
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 3 })
    expect(isReplay(await send(account, request, 'key'))).toBe(true)
    it.clock.advance(DAY - 1)
    expect(isReplay(await send(account, request, 'key'))).toBe(true)
    it.clock.advance(1)
    const later = await send(account, request, 'key')
    expect([later.http, isReplay(later)]).toEqual([201, false])
    expect(later.body.recipient.recipientId).not.toBe(first.body.recipient.recipientId)
    expect((await send(account, request, 'key')).text).toBe(later.text)
  })
})

describe('what is kept for a key', () => {
  test.each(cases.filter(([name]) => !/reset|void|not there|that is refused/.test(name)))(
    '%s: invalid fields are an answer too',
    async (_name, ask) => {
      const account = await it.given.account()
      const request = await ask(account)
      const invalid = { ...request, body: request.invalid }
      const first = await send(account, invalid, 'key')
      expect(first.http, first.text).toBe(400)
      const again = await send(account, invalid, 'key')
      expect([again.http, again.text, isReplay(again)]).toEqual([400, first.text, true])
      expect((await send(account, request, 'key')).http).toBe(422)
    },
  )

  test.each([
    ['unparsable JSON', { raw: '{"a":' }, 400],
    ['a wrong content type', { raw: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    ['a body that is too large', { raw: `"${'x'.repeat(70_000)}"` }, 413],
    ['wrong credentials', { headers: { 'x-api-token': randomUUID() } }, 403],
  ])(
    '%s is not: the key stays free',
    async (_name, { headers, ...options }: { raw?: string; headers?: object }, http) => {
      const account = await it.given.account()
      const path = '/v1.1/sandbox/account'
      const key = { 'idempotency-key': 'key', 'content-type': 'application/json' }
      const refused = await account.api.send('PUT', path, undefined, { headers: { ...key, ...headers }, ...options })
      expect(refused.http).toBe(http)
      const right = await account.api.put(path, { overdraftLimit: 1 }, { headers: key })
      expect([right.http, isReplay(right)]).toEqual([200, false])
    },
  )

  test('a first request that runs for over a second makes the second one a 409', async () => {
    const account = await it.given.account()
    const client = new pg.Client(clientConfig(it.connection))
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('begin')
    await client.query(
      `insert into idempotency_key (account_id, key, request_hash, created_at)
       select id, 'key', '\\x00', '2026-11-16' from account where uuid = $1`,
      [account.id],
    )
    const answer = await send(account, { method: 'PUT', path: '/v1.1/sandbox/account', body: {} }, 'key')
    expect([answer.http, answer.body.errors]).toEqual([409, KEY_ERROR('the first request is still running')])
    await client.query('rollback')
    expect((await send(account, { method: 'PUT', path: '/v1.1/sandbox/account', body: {} }, 'key')).http).toBe(200)
  })
})

describe('a key', () => {
  test.each([
    ['of one character', 'k', 200],
    ['of 255 characters', 'k'.repeat(255), 200],
    ['with spaces and signs', 'a b~!"#', 200],
    ['of 256 characters', 'k'.repeat(256), 400],
    ['that is empty', '', 400],
    ['with letters beyond ASCII', 'chávez', 400],
    ['with a tab', 'a\tb', 400],
  ])('%s', async (_name, key, http) => {
    const account = await it.given.account()
    const answer = await send(account, { method: 'PUT', path: '/v1.1/sandbox/account', body: {} }, key)
    expect(answer.http).toBe(http)
    if (http === 400) expect(answer.body.errors).toEqual(KEY_ERROR('must have 1 to 255 printable characters'))
    if (http === 400) {
      const jump = await send(account, { method: 'POST', path: '/v1.1/sandbox/clock/advance', body: { days: 1 } }, key)
      expect([jump.http, jump.body.errors[0].field]).toEqual([400, 'Idempotency-Key'])
      expect((await account.api.get('/v1.1/sandbox/clock')).body.offsetSeconds).toBe(0)
    }
  })

  test('means nothing on a GET', async () => {
    const account = await it.given.account()
    const headers = { 'idempotency-key': 'k'.repeat(300) }
    expect((await account.api.get('/v1.1/balance', { headers })).http).toBe(200)
  })
})

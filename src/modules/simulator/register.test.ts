import { describe, expect, onTestFinished, test } from 'vitest'
import { startTestService, testService } from '../../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/sandbox/register'
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const register = (fields: Record<string, unknown> = {}) =>
  it.api.post(PATH, { name: 'Loja Exemplo', email: 'loja@example.com', ...fields })

describe('registration', () => {
  test('needs no credentials and gives an account with its own', async () => {
    const answer = await register()
    expect(answer.http).toBe(201)
    expect(answer.body).toEqual({
      status: 0,
      message: 'success',
      account: { id: expect.stringMatching(uuid7), name: 'Loja Exemplo', email: 'loja@example.com' },
      credentials: {
        apiKey: expect.stringMatching(uuid4),
        apiToken: expect.stringMatching(uuid4),
        webhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
      },
    })
    const { apiKey, apiToken } = answer.body.credentials
    const api = it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
    expect((await api.get('/v1.1/balance')).body).toMatchObject({ balance: 0, available: 0, blocked: 0 })
  })

  test('a new account has the documented settings', async () => {
    const { api } = await it.given.account()
    expect((await api.get('/v1.1/sandbox/account')).body).toMatchObject({
      splitEnabled: false,
      uniqueReferenceCode: false,
      autoSettle: true,
      overdraftLimit: 0,
      fees: { PIX: { percent: 0.99, fixed: 0 }, PAYOUT: { fixed: 0 } },
      boleto: { enabled: false, fee: null },
    })
  })

  test('names every invalid field in one answer, in order', async () => {
    const missing = await it.api.post(PATH, {})
    expect(missing.http).toBe(400)
    expect(missing.body).toEqual({
      status: -1,
      message: 'field validation failure',
      errorCount: 2,
      errors: ['name', 'email'].map((field) => ({ field, message: 'may not be null' })),
    })
    const wrong = await it.api.post(PATH, { name: ' ', email: 'a@b', password: 'short', document: '1', city: 5 })
    expect(wrong.http).toBe(400)
    expect(wrong.body.errors).toEqual([
      { field: 'name', message: 'may not be empty' },
      { field: 'email', message: 'must be an e-mail address' },
      { field: 'password', message: 'must have 8 to 200 characters' },
      { field: 'document', message: 'must have 2 to 25 characters' },
      { field: 'city', message: 'must have at most 60 characters' },
    ])
    expect(wrong.body.errorCount).toBe(5)
  })

  test.each([
    ['name', 'a'.repeat(100), 'a'.repeat(101)],
    ['name', 'ação', 'with\u0000nul'],
    ['email', `${'a'.repeat(243)}@example.com`, `${'a'.repeat(244)}@example.com`],
    ['password', 'p'.repeat(200), 'p'.repeat(201)],
    ['document', '52.998.224/7250-00', '1'.repeat(26)],
    ['city', 'c'.repeat(60), 'c'.repeat(61)],
  ])('%s has its limits', async (field, longest, tooLong) => {
    // A password makes the e-mail a sign-in, and a sign-in is used once.
    const email = { email: `limits-${field}@example.com` }
    expect((await register({ ...email, [field]: longest })).http).toBe(201)
    const refused = await register({ ...email, [field]: tooLong })
    expect([refused.http, refused.body.errors.map((error: { field: string }) => error.field)]).toEqual([400, [field]])
  })

  test('e-mails may repeat unless a password is set', async () => {
    const email = 'again@example.com'
    const password = 'long enough'
    expect((await register({ email })).http).toBe(201)
    expect((await register({ email })).http).toBe(201)
    expect((await register({ email, password })).http).toBe(201)
    const taken = await register({ email: 'AGAIN@Example.com', password })
    expect(taken.http).toBe(400)
    expect(taken.body).toEqual({
      status: -1,
      message: 'field validation failure',
      errorCount: 1,
      errors: [{ field: 'email', message: 'is used by another account' }],
    })
    expect((await register({ email })).http).toBe(201)
    expect(await it.rows('select 1 from account where lower(email) = $1', [email])).toHaveLength(4)
  })

  test('of two who register one e-mail with a password at once, one gets it', async () => {
    const both = await Promise.all([1, 2].map(() => register({ email: 'race@example.com', password: 'long enough' })))
    expect(both.map(({ http }) => http).sort()).toEqual([201, 400])
  })

  test('ignores an Idempotency-Key: there is no account yet to remember it for', async () => {
    const headers = { 'idempotency-key': 'same' }
    const body = { name: 'Loja', email: 'keyed@example.com' }
    const [one, two] = [await it.api.post(PATH, body, { headers }), await it.api.post(PATH, body, { headers })]
    expect([one.http, two.http]).toEqual([201, 201])
    expect(two.headers['idempotency-replayed']).toBeUndefined()
    expect(two.body.account.id).not.toBe(one.body.account.id)
  })

  test('many at once in a fresh process are all answered: nobody waits for a connection that waits for them', async () => {
    const fresh = await startTestService()
    onTestFinished(() => fresh.stop())
    const all = await Promise.all(
      Array.from({ length: 40 }, () => fresh.api.post(PATH, { name: 'Loja', email: 'many@example.com' })),
    )
    expect(all.map(({ http }) => http)).toEqual(all.map(() => 201))
    expect(new Set(all.map(({ body }) => body.account.id)).size).toBe(40)
  })
})

import { createHook } from 'node:async_hooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import { asPage, cookieOf, PASSWORD, signedIn } from '../../test/harness/pages.ts'
import { startTestService, testService } from '../../test/harness/test-service.ts'
import { HOUR_MS, MINUTE_MS } from '../kernel/calendar.ts'

const it = testService()
const SESSION = '/panel/api/session'

const signIn = (email: string, password = PASSWORD) => asPage(it.api).post(SESSION, { email, password })

describe('signing in', () => {
  test('gives a cookie that scripts cannot read and other sites cannot send', async () => {
    const { email, id } = await signedIn(it)
    const reply = await signIn(email)
    expect(reply.http).toBe(200)
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(/^quitado-panel=\d+\.[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
    ])
    expect(reply.text).not.toContain(cookieOf(reply).split('.')[1])
    const me = await asPage(it.api).get(SESSION, { headers: { cookie: `other=1; ${cookieOf(reply)}` } })
    expect(me.body).toMatchObject({ environment: 'sandbox', account: { id, email }, clock: { offsetSeconds: 0 } })
    expect(me.headers['cache-control']).toBe('no-store')
  })

  test('over https the cookie is Secure and of this host only', async () => {
    const secure = await startTestService({ env: { PUBLIC_URL: 'https://pay.test' } })
    onTestFinished(() => secure.stop())
    const reply = await asPage(secure.api).post('/register/api', {
      name: 'L',
      email: 'l@example.com',
      password: PASSWORD,
    })
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-quitado-panel=\S+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
    ])
    const panel = asPage(secure.api).as({ cookie: cookieOf(reply) })
    expect((await panel.get('/panel/api/v1.1/balance')).http).toBe(200)
    // A cookie of the plain name may have been planted by a neighbour.
    const plain = asPage(secure.api).as({ cookie: cookieOf(reply).replace('__Host-', '') })
    expect((await plain.get('/panel/api/v1.1/balance')).http).toBe(401)
  })

  test('takes the e-mail in any case', async () => {
    const { email } = await signedIn(it)
    expect((await signIn(email.toUpperCase())).http).toBe(200)
  })

  test('an unknown e-mail, a wrong password, an account without one and a suspended account hear the same', async () => {
    const { email } = await signedIn(it)
    const without = await it.api.post('/v1.1/sandbox/register', { name: 'Loja', email: 'without@example.com' })
    expect(without.http).toBe(201)
    const suspended = await signedIn(it)
    expect(
      (await it.operator.send('PATCH', `/operator/v1/accounts/${suspended.id}`, { status: 'SUSPENDED' })).http,
    ).toBe(200)
    const replies = [
      await signIn('nobody@example.com'),
      await signIn(email, 'a wrong password'),
      await signIn('without@example.com', ''),
      await signIn('without@example.com', 'null'),
      await signIn(suspended.email),
    ]
    expect(replies.map(({ http }) => http)).toEqual([401, 401, 400, 401, 401])
    const words = replies.filter(({ http }) => http === 401).map(({ text }) => text)
    expect(new Set(words).size).toBe(1)
    expect(replies.every(({ headers }) => headers['set-cookie'] === undefined)).toBe(true)
    // And whoever was signed in when the account was suspended is out.
    expect((await suspended.panel.get('/panel/api/v1.1/balance')).http).toBe(401)
  })

  test('an unknown e-mail costs a hash, as a known one does', async () => {
    const { email } = await signedIn(it)
    const hashes = async (of: string) => {
      const types: string[] = []
      const hook = createHook({ init: (_id, type) => void types.push(type) }).enable()
      expect((await signIn(of, 'a wrong password')).http).toBe(401)
      hook.disable()
      return types.filter((type) => type === 'ARGON2REQUEST').length
    }
    expect([await hashes(email), await hashes('nobody-at-all@example.com')]).toEqual([1, 1])
  })

  test('replaces the session that the browser had', async () => {
    const { email } = await signedIn(it)
    const first = cookieOf(await signIn(email))
    const second = await asPage(it.api).post(SESSION, { email, password: PASSWORD }, { headers: { cookie: first } })
    expect(cookieOf(second)).not.toBe(first)
    expect((await it.api.get(SESSION, { headers: { cookie: first } })).body.account).toBeNull()
    expect((await it.api.get(SESSION, { headers: { cookie: cookieOf(second) } })).body.account).not.toBeNull()
  })

  test('an account keeps its twenty newest sessions', async () => {
    const { email } = await signedIn(it)
    const oldest = cookieOf(await signIn(email))
    for (let n = 0; n < 20; n += 1) {
      it.clock.advance(1000)
      expect((await signIn(email)).http).toBe(200)
    }
    expect((await it.api.get(SESSION, { headers: { cookie: oldest } })).body.account).toBeNull()
  })
})

describe('a session', () => {
  test('is stored as a hash only', async () => {
    const { email } = await signedIn(it)
    const token = cookieOf(await signIn(email)).split('=')[1]!
    const [row] = await it.rows<{ all: string }>("select string_agg(s::text, ' ') as all from session s")
    expect(row!.all).not.toContain(token.split('.')[1])
    expect(row!.all).not.toContain(Buffer.from(token.split('.')[1]!, 'base64url').toString('hex'))
  })

  test('ends when it is left alone for two hours, and use moves that on', async () => {
    const { panel } = await signedIn(it)
    const lives = async () => (await panel.get('/panel/api/v1.1/balance')).http === 200
    it.clock.advance(HOUR_MS + 59 * MINUTE_MS)
    expect(await lives()).toBe(true)
    it.clock.advance(HOUR_MS + 59 * MINUTE_MS)
    expect(await lives()).toBe(true)
    it.clock.advance(2 * HOUR_MS)
    expect(await lives()).toBe(false)
  })

  test('ends after twelve hours, however much it is used', async () => {
    const { panel } = await signedIn(it)
    for (let hour = 1; hour < 12; hour += 1) {
      it.clock.advance(HOUR_MS)
      expect((await panel.get('/panel/api/v1.1/balance')).http).toBe(200)
    }
    it.clock.advance(HOUR_MS)
    expect((await panel.get('/panel/api/v1.1/balance')).http).toBe(401)
  })

  test("knows nothing of the account's clock", async () => {
    const { panel } = await signedIn(it)
    expect((await panel.post('/panel/api/v1.1/sandbox/clock/advance', { days: 30 })).http).toBe(200)
    const me = await panel.get(SESSION)
    expect(me.body.clock.offsetSeconds).toBe(30 * 86_400)
    expect(me.body.sessionEndsAt < me.body.clock.now).toBe(true)
  })

  test('ends with signing out, here and for good', async () => {
    const { panel } = await signedIn(it)
    const out = await panel.send('DELETE', SESSION)
    expect(out.http).toBe(200)
    expect(out.headers['set-cookie']).toEqual([expect.stringMatching(/^quitado-panel=; Max-Age=0; /)])
    expect((await panel.get('/panel/api/v1.1/balance')).http).toBe(401)
    expect((await panel.send('DELETE', SESSION)).http).toBe(200)
  })

  test.each([
    ['nothing', ''],
    ['a number alone', 'quitado-panel=1000'],
    ['another secret', `quitado-panel=1000.${'A'.repeat(43)}`],
    ['a number beyond all', `quitado-panel=${'9'.repeat(30)}.${'A'.repeat(43)}`],
    ['quotes', `quitado-panel="1000.${'A'.repeat(43)}"`],
  ])('%s opens nothing', async (_name, cookie) => {
    const reply = await asPage(it.api).get('/panel/api/v1.1/balance', { headers: { cookie } })
    expect([reply.http, reply.body.message]).toEqual([401, 'sign in first'])
  })

  test('credentials of the API open nothing here, and a session opens nothing there', async () => {
    const { api, panel } = await signedIn(it)
    expect((await api.get('/panel/api/v1.1/balance')).http).toBe(401)
    expect((await panel.get('/v1.1/balance')).http).toBe(403)
  })
})

describe('changing the password', () => {
  test('ends the other sessions, keeps this one, and the old password is no good', async () => {
    const { panel, email } = await signedIn(it)
    const other = { headers: { cookie: cookieOf(await signIn(email)) } }
    const changed = await panel.put('/panel/api/password', { currentPassword: PASSWORD, password: 'another password' })
    expect(changed.http, changed.text).toBe(200)
    expect((await panel.get('/panel/api/v1.1/balance')).http).toBe(200)
    expect((await it.api.get('/panel/api/v1.1/balance', other)).http).toBe(401)
    expect((await signIn(email)).http).toBe(401)
    expect((await signIn(email, 'another password')).http).toBe(200)
  })

  test('needs the current one, and a new one that will do', async () => {
    const { panel, email } = await signedIn(it)
    const wrong = await panel.put('/panel/api/password', { currentPassword: 'not this', password: 'another password' })
    expect([wrong.http, wrong.body.errors]).toEqual([400, [{ field: 'currentPassword', message: 'is not right' }]])
    const short = await panel.put('/panel/api/password', { currentPassword: PASSWORD, password: 'short' })
    expect([short.http, short.body.errors[0].field]).toEqual([400, 'password'])
    expect((await signIn(email)).http).toBe(200)
  })

  test('is tried ten times at most', async () => {
    const { panel } = await signedIn(it)
    const change = (currentPassword: string) =>
      panel.put('/panel/api/password', { currentPassword, password: PASSWORD })
    for (let n = 0; n < 10; n += 1) expect((await change('not this')).http).toBe(400)
    expect((await change(PASSWORD)).http).toBe(429)
  })
})

import { describe, expect, test } from 'vitest'
import { asPage, cookieOf, signedIn, signedInOperator } from '../../test/harness/pages.ts'
import { OPERATOR_TOKEN, startTestService, testService } from '../../test/harness/test-service.ts'
import { MINUTE_MS } from '../kernel/calendar.ts'
import { createSessions, OPERATOR_ACCOUNT_ID, operatorTimes } from '../modules/account/index.ts'
import { systemRandomIds } from '../platform/random-ids.ts'

const it = testService()
const SESSION = '/operator/api/session'

describe('the operator signs in with the token', () => {
  test('and the page holds a cookie, never the token', async () => {
    const reply = await asPage(it.api).post(SESSION, { token: OPERATOR_TOKEN })
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(/^quitado-operator=1\.[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/),
    ])
    expect(JSON.stringify(reply.headers) + reply.text).not.toContain(OPERATOR_TOKEN)
    const operator = asPage(it.api).as({ cookie: cookieOf(reply) })
    expect((await operator.get(SESSION)).body).toMatchObject({ signedIn: true, environment: 'sandbox' })
    for (const path of ['accounts', 'queues', 'ledger/trial-balance', 'reversals'])
      expect((await operator.get(`/operator/api/${path}`)).http).toBe(200)
    const made = await operator.post('/operator/api/accounts', { name: 'Loja Nova' })
    expect(made.http).toBe(201)
    const suspended = await operator.send('PATCH', `/operator/api/accounts/${made.body.account.id}`, {
      status: 'SUSPENDED',
    })
    expect(suspended.body.account.status).toBe('SUSPENDED')
  })

  test('and with nothing else', async () => {
    const wrong = await asPage(it.api).post(SESSION, { token: `${OPERATOR_TOKEN}x` })
    expect([wrong.http, wrong.body.message, wrong.headers['set-cookie']]).toEqual([
      401,
      'the token is not right',
      undefined,
    ])
    expect((await asPage(it.api).get(SESSION)).body.signedIn).toBe(false)
    expect((await asPage(it.operator).get('/operator/api/accounts')).http).toBe(401)
  })

  test('for half an hour of rest, and until signing out', async () => {
    const operator = await signedInOperator(it)
    it.clock.advance(29 * MINUTE_MS)
    expect((await operator.get('/operator/api/queues')).http).toBe(200)
    it.clock.advance(30 * MINUTE_MS)
    expect((await operator.get('/operator/api/queues')).http).toBe(401)
    const again = await signedInOperator(it)
    expect((await again.send('DELETE', SESSION)).http).toBe(200)
    expect((await again.get('/operator/api/queues')).http).toBe(401)
  })
})

describe('a session of one kind is none of the other', () => {
  test("a merchant's opens nothing of the operator's", async () => {
    const merchant = await signedIn(it)
    const reply = await asPage(it.api).post('/panel/api/session', {
      email: merchant.email,
      password: 'a password of the tests',
    })
    const token = cookieOf(reply).split('=')[1]!
    const planted = asPage(it.api).as({ cookie: `quitado-operator=${token}; quitado-panel=${token}` })
    expect((await planted.get('/operator/api/accounts')).http).toBe(401)
    expect((await planted.get('/panel/api/v1.1/balance')).http).toBe(200)
  })

  test("the operator's opens no merchant's, not even the operator's own account", async () => {
    const reply = await asPage(it.api).post(SESSION, { token: OPERATOR_TOKEN })
    const token = cookieOf(reply).split('=')[1]!
    const planted = asPage(it.api).as({ cookie: `quitado-panel=${token}` })
    expect((await planted.get('/panel/api/v1.1/balance')).http).toBe(401)
    // Nor would it if it had been opened for the panel.
    const unbound = createSessions(
      { db: it.service.db, ids: systemRandomIds(), clock: it.clock },
      { whose: 'merchant', times: operatorTimes },
    )
    const own = await unbound.open(it.service.db, OPERATOR_ACCOUNT_ID)
    expect(await unbound.find(own)).toBeUndefined()
  })
})

test('another operator token ends the sessions of the old one', async () => {
  const own = await startTestService()
  const sessionsOf = (boundTo: string) =>
    createSessions(
      { db: own.service.db, ids: systemRandomIds(), clock: own.clock },
      { whose: 'operator', times: operatorTimes, boundTo },
    )
  const token = await sessionsOf(OPERATOR_TOKEN).open(own.service.db, OPERATOR_ACCOUNT_ID)
  expect(await sessionsOf(OPERATOR_TOKEN).find(token)).toBeDefined()
  expect(await sessionsOf('another operator token').find(token)).toBeUndefined()
  await own.stop()
})

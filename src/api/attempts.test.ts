import { describe, expect, test } from 'vitest'
import { asPage, cookieOf, PASSWORD, signedIn } from '../../test/harness/pages.ts'
import { startTestService, testService } from '../../test/harness/test-service.ts'
import { addressBlock } from '../modules/account/attempts.ts'
import { sweepSessions } from '../worker/sweeps.ts'

const it = testService({ env: { QUITADO_PROXIES: '1' } })
const from = (address: string) => asPage(it.api).as({ 'x-forwarded-for': address })
const wrong = (email: string) => ({ email, password: 'a wrong password' })

describe('attempts to sign in', () => {
  test('are ten for an e-mail from wherever they come, then one every 90 s; another e-mail is free', async () => {
    const { email } = await signedIn(it)
    for (let n = 0; n < 10; n += 1)
      expect((await from(`10.1.0.${n}`).post('/panel/api/session', wrong(email))).http).toBe(401)
    const limited = await from('10.1.1.1').post('/panel/api/session', {
      email: email.toUpperCase(),
      password: PASSWORD,
    })
    expect([limited.http, limited.headers['retry-after']]).toEqual([429, '90'])
    const other = await signedIn(it)
    expect((await from('10.1.1.1').post('/panel/api/session', { email: other.email, password: PASSWORD })).http).toBe(
      200,
    )
    it.clock.advance(90_000)
    expect((await from('10.1.1.1').post('/panel/api/session', { email, password: PASSWORD })).http).toBe(200)
  })

  test('an unknown e-mail is limited as a known one', async () => {
    for (let n = 0; n < 10; n += 1)
      expect((await from(`10.2.0.${n}`).post('/panel/api/session', wrong('ghost@example.com'))).http).toBe(401)
    expect((await from('10.2.1.1').post('/panel/api/session', wrong('ghost@example.com'))).http).toBe(429)
  })

  test('are fifty from an address, whatever the e-mails', async () => {
    for (let n = 0; n < 50; n += 1)
      expect((await from('10.3.0.1').post('/panel/api/session', wrong(`g${n}@example.com`))).http).toBe(401)
    const limited = await from('10.3.0.1').post('/panel/api/session', wrong('g50@example.com'))
    expect([limited.http, limited.headers['retry-after']]).toEqual([429, '20'])
    expect((await from('10.3.0.2').post('/panel/api/session', wrong('g50@example.com'))).http).toBe(401)
  })

  test('those that get in do not count', async () => {
    const { email } = await signedIn(it)
    for (let n = 0; n < 12; n += 1)
      expect((await from('10.4.0.1').post('/panel/api/session', { email, password: PASSWORD })).http).toBe(200)
  })

  test('made at once are counted each', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => from('10.5.0.1').post('/panel/api/session', wrong('race@example.com'))),
    )
    expect(replies.filter(({ http }) => http === 401)).toHaveLength(10)
    expect(replies.filter(({ http }) => http === 429)).toHaveLength(10)
  })

  test('of a past time are forgotten, and so are sessions that ended', async () => {
    const { email } = await signedIn(it)
    await from('10.6.0.1').post('/panel/api/session', wrong(email))
    it.clock.advance(13 * 3_600_000)
    const { panel } = await signedIn(it)
    await sweepSessions(it.service.sweeps)
    expect(await it.rows('select 1 from attempt')).toHaveLength(1)
    expect(await it.rows('select 1 from session')).toHaveLength(1)
    expect((await panel.get('/panel/api/v1.1/balance')).http).toBe(200)
  })
})

test('an operator token is tried ten times from an address', async () => {
  const guess = () => from('10.7.0.1').post('/operator/api/session', { token: 'not the operator token' })
  for (let n = 0; n < 10; n += 1) expect((await guess()).http).toBe(401)
  expect((await guess()).http).toBe(429)
})

test('a proxy that nobody configured is not believed', async () => {
  const own = await startTestService()
  const liar = (n: number) => asPage(own.api).as({ 'x-forwarded-for': `10.8.0.${n}` })
  for (let n = 0; n < 10; n += 1) await liar(n).post('/operator/api/session', { token: 'not the operator token' })
  expect((await liar(99).post('/operator/api/session', { token: 'not the operator token' })).http).toBe(429)
  await own.stop()
})

describe('registering on the page', () => {
  const register = (fields: Record<string, unknown>, address = '10.9.0.1') =>
    from(address).post('/register/api', { name: 'Loja', email: 'page@example.com', password: PASSWORD, ...fields })

  test('shows the credentials and is signed in', async () => {
    const reply = await register({ email: 'first@example.com', document: '529.982.247-25' })
    expect(reply.http).toBe(201)
    const { apiKey, apiToken, webhookSecret } = reply.body.credentials
    expect(webhookSecret).toMatch(/^whsec_/)
    const api = it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
    expect((await api.get('/v1.1/balance')).http).toBe(200)
    const me = await it.api.get('/panel/api/session', { headers: { cookie: cookieOf(reply) } })
    expect(me.body.account).toEqual(reply.body.account)
  })

  test('names what is wrong field by field, and signs nobody in', async () => {
    const reply = await register({ name: '', email: 'a@b', password: 'short' })
    expect(reply.http).toBe(400)
    expect(reply.body.errors.map(({ field }: { field: string }) => field)).toEqual(['name', 'email', 'password'])
    expect((await register({ email: 'taken@example.com' })).http).toBe(201)
    const taken = await register({ email: 'TAKEN@example.com' })
    expect([taken.http, taken.body.errors]).toEqual([400, [{ field: 'email', message: 'is used by another account' }]])
    expect(taken.headers['set-cookie']).toBeUndefined()
    const without = await register({ password: undefined })
    expect([without.http, without.body.errors[0].field]).toEqual([400, 'password'])
  })

  test('is limited by address', async () => {
    const { http } = await register({ email: 'limits0@example.com' }, '10.10.0.1')
    expect(http).toBe(201)
    const rest = await Promise.all(
      Array.from({ length: 60 }, (_, n) => register({ email: 'limits0@example.com', n }, '10.10.0.1')),
    )
    expect(rest.filter((reply) => reply.http === 429)).toHaveLength(1)
    expect((await register({ email: 'limits1@example.com' }, '10.10.0.2')).http).toBe(201)
  })
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('the address %s counts as %s', (address, block) => {
  expect(addressBlock(address)).toBe(block)
})

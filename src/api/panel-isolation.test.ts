import { expect, test } from 'vitest'
import type { Reply } from '../../test/harness/api-client.ts'
import { checkoutBody } from '../../test/harness/given.ts'
import { accepted, payoutBody } from '../../test/harness/money-out.ts'
import { type SignedIn, signedIn } from '../../test/harness/pages.ts'
import { givenMandate, givenPlan } from '../../test/harness/recurring.ts'
import { type Route, routesBelow } from '../../test/harness/routes.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()
const v = '/panel/api/v1.1'

/** Everything that an account can have. */
async function belongings(shop: SignedIn) {
  const { panel, api } = shop
  await panel.put(`${v}/account/notifications`, { payment: { url: 'http://127.0.0.1:9/hook' } })
  const sale = (await panel.post(`${v}/checkout/transparent`, checkoutBody())).body.response.uuid
  const paid = (await panel.post(`${v}/checkout/transparent`, checkoutBody())).body.response.uuid
  expect((await panel.post(`${v}/sandbox/sim/sale/${paid}/paid`, {})).http).toBe(200)
  const refunded = await accepted(panel.put(`${v}/transactions/${paid}/refund`, { amount: 1 }))
  const payout = await accepted(panel.post(`${v}/payout/create`, payoutBody()))
  const plan = await givenPlan(shop)
  const mandate = await givenMandate({ ...shop, api }, { planId: plan, initialDate: '2027-01-10' })
  return { sale, paid, refund: refunded, payout, plan, idRec: mandate.idRec }
}

test('the routes of the API work through the session, with the account of the session', async () => {
  const one = await signedIn(it)
  const { paid } = await belongings(one)
  expect((await one.panel.get(`${v}/transactions/${paid}`)).body.situation).toBe('PAID')
  expect((await one.api.get(`/v1.1/transactions/${paid}`)).body.situation).toBe('PAID')
  expect((await one.panel.get(`${v}/balance`)).body).toMatchObject({ balance: 99.01, blocked: 11 })
})

test("another account's things are not found, not listed and not changed", async () => {
  const [one, two] = [await signedIn(it), await signedIn(it)]
  const theirs = await belongings(one)
  const before = await everythingOf(one)
  const lookAndChange: [method: string, path: string, body?: unknown][] = [
    ['GET', `${v}/transactions/${theirs.sale}`],
    ['GET', `${v}/transactions/${theirs.refund}`],
    ['GET', `${v}/transactions/pix/${theirs.sale}`],
    ['GET', `${v}/transactions/${theirs.paid}/payment_info`],
    ['PUT', `${v}/transactions/${theirs.sale}/void`],
    ['PUT', `${v}/transactions/${theirs.paid}/refund`, { amount: 1 }],
    ['POST', `${v}/sandbox/sim/sale/${theirs.sale}/paid`, {}],
    ['POST', `${v}/sandbox/sim/refund/${theirs.refund}/paid`],
    ['GET', `${v}/transactions/${theirs.paid}/webhook`],
    ['POST', `${v}/transactions/${theirs.paid}/webhook/redeliver`],
    ['GET', `${v}/payout/${theirs.payout}`],
    ['PUT', `${v}/payout/${theirs.payout}/cancel`],
    ['GET', `${v}/pix-automatic/plans/${theirs.plan}`],
    ['GET', `${v}/pix-automatic/authorizations/${theirs.idRec}`],
    ['PUT', `${v}/pix-automatic/authorizations/${theirs.idRec}/cancel`],
    ['GET', `/panel/api/sales/${theirs.sale}`],
  ]
  for (const [method, path, body] of lookAndChange) {
    const { http, body: answer } = await two.panel.send(method, path, body)
    expect([path, http, answer.message]).toEqual([path, 404, expect.stringMatching(/not found/)])
  }
  const lists = ['transactions', 'notifications', 'pix-automatic/plans', 'pix-automatic/authorizations', 'statement']
  for (const list of lists) {
    const { http, body } = await two.panel.get(`${v}/${list}`)
    expect([list, http, body.totalElements ?? body.total]).toEqual([list, 200, 0])
  }
  expect(await everythingOf(one)).toEqual(before)
})

/** One id of everything that can be named in an address. */
async function namesOf(shop: SignedIn): Promise<string[]> {
  const { panel, api } = shop
  const done = async (asked: Promise<Reply>) => {
    const { http, body, text } = await asked
    expect(http, text).toBeLessThan(300)
    return body
  }
  const { idRec, ...rest } = await belongings(shop)
  const { reversal } = await done(panel.post(`${v}/sandbox/sim/sale/${rest.paid}/paid`, {}))
  const { recipient } = await done(panel.post(`${v}/sandbox/recipients`, { name: 'Sócia' }))
  await done(api.post(`/v1.1/pix-automatic/sandbox/sim/mandate/${idRec}/approved`))
  const { paymentSchedules } = await done(api.get(`/v1.1/pix-automatic/authorizations/${idRec}`))
  const cancelled = (await done(panel.post(`${v}/checkout/transparent`, checkoutBody()))).response.uuid
  await done(panel.put(`${v}/transactions/${cancelled}/void`))
  return [
    ...Object.values(rest),
    idRec,
    cancelled,
    reversal.uuid,
    recipient.recipientId,
    paymentSchedules[0].instructionId,
  ]
}

test("with another account's ids every route answers as with ids that nobody has", async () => {
  const [one, two] = [await signedIn(it), await signedIn(it)]
  for (const { panel } of [one, two])
    expect((await panel.put(`${v}/sandbox/account`, { autoSettle: false, splitEnabled: true })).http).toBe(200)
  const names = await namesOf(one)
  const routes = (await routesBelow(it, '/panel/api/')).filter(({ path }) => path.includes(':'))
  expect(routes.length).toBeGreaterThan(30)
  const before = await everythingOf(one)
  const answer = async ({ panel }: SignedIn, { method, path }: Route, name: string) => {
    it.clock.advance(100)
    const filled = path
      .replace(/:code\b/, path.includes('/payout/') ? 'PE0001' : 'AM04')
      .replace(/:name\b/, 'no-funds-3x')
    const { http, text } = await panel.send(
      method,
      filled.replace(/:\w+/, name),
      method === 'GET' ? undefined : anything,
    )
    return { http, text: text.replaceAll(name, '') }
  }
  for (const route of routes)
    for (const name of names) {
      const nobodys = name.replace(/\w{6}$/, '000000')
      const [theirs, unknown] = [await answer(two, route, name), await answer(two, route, nobodys)]
      const where = `${route.method} ${route.path} ${name}`
      expect([where, theirs.http, theirs.text]).toEqual([where, unknown.http, unknown.text.replaceAll(nobodys, '')])
    }
  for (const name of names) {
    const { body } = await two.panel.get(`/panel/api/sales?search=${name}`)
    expect([name, body.totalElements, body.result]).toEqual([name, 0, []])
    it.clock.advance(100)
  }
  expect(await everythingOf(one)).toEqual(before)
  // The same requests do find what their owner has: the tries above were real.
  const blind: string[] = []
  for (const route of routes) {
    const unknown = await answer(one, route, '00000000-0000-7000-8000-000000000000')
    const found = []
    for (const name of names) found.push((await answer(one, route, name)).text !== unknown.text)
    if (!found.includes(true)) blind.push(`${route.method} ${route.path}`)
  }
  expect(blind).toEqual([])
})

/** A body that every route takes: each reads what it knows. */
const anything = {
  ...checkoutBody(),
  amount: 1,
  active: true,
  title: 'Outro nome',
  frequency: 'MONTHLY',
  recurrenceAmount: 50,
}

/** What could have been changed by somebody else. */
async function everythingOf({ api }: SignedIn) {
  const paths = ['transactions', 'notifications', 'pix-automatic/authorizations', 'statement']
  return Promise.all(paths.map(async (path) => (await api.get(`/v1.1/${path}`)).body))
}

test('credentials sent beside the session change nothing', async () => {
  const [one, two] = [await signedIn(it), await signedIn(it)]
  const { sale } = await belongings(one)
  const headers = { 'x-api-key': one.apiKey, 'x-api-token': one.apiToken }
  expect((await two.panel.get(`${v}/transactions/${sale}`, { headers })).http).toBe(404)
})

test('a rotation through the session is seen at once by the API', async () => {
  const { panel, api } = await signedIn(it)
  expect((await api.get('/v1.1/balance')).http).toBe(200)
  const rotated = await panel.post(`${v}/account/credentials/rotate`, { overlapHours: 0 })
  expect(rotated.http, rotated.text).toBe(200)
  expect((await api.get('/v1.1/balance')).http).toBe(403)
  const { apiKey, apiToken } = rotated.body.credentials
  expect((await it.api.get('/v1.1/balance', { headers: { 'x-api-key': apiKey, 'x-api-token': apiToken } })).http).toBe(
    200,
  )
  expect((await panel.get(`${v}/balance`)).http).toBe(200)
})

test('a session asks fifty times a second at most', async () => {
  const { panel } = await signedIn(it)
  const replies = await Promise.all(Array.from({ length: 80 }, () => panel.get(`${v}/balance`)))
  const limited = replies.filter(({ http }) => http === 429)
  expect(limited.length).toBeGreaterThan(0)
  expect(limited[0]!.headers['retry-after']).toBe('1')
  it.clock.advance(1000)
  expect((await panel.get(`${v}/balance`)).http).toBe(200)
})

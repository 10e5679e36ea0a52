import { expect, test } from 'vitest'
import { checkoutBody } from '../../test/harness/given.ts'
import { type SignedIn, signedIn } from '../../test/harness/pages.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()
const v = '/panel/api/v1.1'

/** Everything that an account can have, made through its own session. */
async function belongings({ panel }: SignedIn) {
  const sale = (await panel.post(`${v}/checkout/transparent`, checkoutBody())).body.response.uuid
  const paid = (await panel.post(`${v}/checkout/transparent`, checkoutBody())).body.response.uuid
  expect((await panel.post(`${v}/sandbox/sim/sale/${paid}/paid`, {})).http).toBe(200)
  return { sale, paid }
}

test('the routes of the API work through the session, with the account of the session', async () => {
  const one = await signedIn(it)
  const { paid } = await belongings(one)
  expect((await one.panel.get(`${v}/transactions/${paid}`)).body.situation).toBe('PAID')
  expect((await one.api.get(`/v1.1/transactions/${paid}`)).body.situation).toBe('PAID')
  expect((await one.panel.get(`${v}/balance`)).body).toMatchObject({ balance: 99.01 })
})

test("another account's things are not found, not listed and not changed", async () => {
  const [one, two] = [await signedIn(it), await signedIn(it)]
  const { sale, paid } = await belongings(one)
  const mine = await belongings(two)
  const tries = [
    await two.panel.get(`${v}/transactions/${sale}`),
    await two.panel.get(`${v}/transactions/${paid}`),
    await two.panel.put(`${v}/transactions/${sale}/void`),
    await two.panel.post(`${v}/sandbox/sim/sale/${sale}/paid`, {}),
    await two.panel.get(`${v}/notifications/${paid}`),
  ]
  expect(tries.map(({ http }) => http)).toEqual([404, 404, 404, 404, 404])
  const list = await two.panel.get(`${v}/transactions`)
  expect(list.body.result.map(({ uuid }: { uuid: string }) => uuid).sort()).toEqual([mine.sale, mine.paid].sort())
  expect((await one.panel.get(`${v}/transactions/${sale}`)).body.situation).toBe('PENDING')
})

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

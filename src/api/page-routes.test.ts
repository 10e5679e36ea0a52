import { randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../test/harness/api-client.ts'
import { asPage, cookieOf, PASSWORD, signedIn } from '../../test/harness/pages.ts'
import { concrete, type Route, routesBelow } from '../../test/harness/routes.ts'
import { OPERATOR_TOKEN, testService } from '../../test/harness/test-service.ts'
import { CONTENT_SECURITY_POLICY } from './pages.ts'
import { pagesFolder } from './pages-folder.ts'

const it = testService()
const pageApis = ['/panel/api', '/operator/api', '/phone/api', '/register/api']
/** What a page asks before it is signed in. */
const open = /^\/(panel|operator)\/api\/session$/

const routes: Route[] = []
let merchantCookie = ''
let operatorCookie = ''
const below = (prefix: string) => routes.filter(({ path }) => path.startsWith(prefix))
const isChange = ({ method }: Route) => method !== 'GET'
const say = ({ method, path }: Route, http: number) => `${method} ${path} ${http}`

beforeAll(async () => {
  for (const prefix of pageApis) routes.push(...(await routesBelow(it, prefix)))
  const { email } = await signedIn(it)
  merchantCookie = cookieOf(await asPage(it.api).post('/panel/api/session', { email, password: PASSWORD }))
  operatorCookie = cookieOf(await asPage(it.api).post('/operator/api/session', { token: OPERATOR_TOKEN }))
})

/** What each of them answers, all together. */
async function answersOf(asked: readonly Route[], client: ApiClient): Promise<string[]> {
  const answers: string[] = []
  for (const route of asked) {
    const { http } = await client.send(route.method, concrete(route.path), isChange(route) ? {} : undefined)
    answers.push(say(route, http))
    it.clock.advance(100)
  }
  return answers
}
const allWith = (asked: readonly Route[], http: number) => asked.map((route) => say(route, http))

test('every route of the pages is tried here', () => {
  expect(below('/panel/api').length).toBeGreaterThan(60)
  expect(below('/operator/api').length).toBeGreaterThan(14)
  expect(below('/phone/api').length).toBeGreaterThan(5)
  for (const path of ['/panel/api/live', '/panel/api/statement.csv', '/operator/api/audit', '/register/api'])
    expect(routes.map((route) => route.path)).toContain(path)
})

describe('a session of another kind, or none', () => {
  const behind = (prefix: string) => below(prefix).filter(({ path }) => !open.test(path))

  test('opens no route of the panel', async () => {
    const token = operatorCookie.split('=')[1]!
    const strangers = [
      asPage(it.api),
      asPage(it.operator),
      asPage(it.api).as({ cookie: operatorCookie }),
      asPage(it.api).as({ cookie: `quitado-panel=${token}` }),
    ]
    for (const stranger of strangers)
      expect(await answersOf(behind('/panel/api'), stranger)).toEqual(allWith(behind('/panel/api'), 401))
  })

  test('opens no route of the operator', async () => {
    const token = merchantCookie.split('=')[1]!
    const { apiKey, apiToken } = await it.given.account()
    const strangers = [
      asPage(it.api),
      asPage(it.operator),
      asPage(it.api).as({ cookie: merchantCookie }),
      asPage(it.api).as({ cookie: `quitado-operator=${token}` }),
      asPage(it.api).as({ 'x-api-key': apiKey, 'x-api-token': apiToken }),
    ]
    for (const stranger of strangers)
      expect(await answersOf(behind('/operator/api'), stranger)).toEqual(allWith(behind('/operator/api'), 401))
  })

  test('opens no route of the API', async () => {
    const cookies = it.api.as({ cookie: `${merchantCookie}; ${operatorCookie}`, 'x-quitado-page': '1' })
    expect((await cookies.get('/v1.1/balance')).http).toBe(403)
    expect((await cookies.get('/operator/v1/accounts')).http).toBe(403)
    expect((await cookies.post('/operator/v1/audit')).http).toBe(403)
  })
})

describe('a change that another site asks for', () => {
  const changes = () => routes.filter(isChange)
  const withCookies = () => it.api.as({ cookie: `${merchantCookie}; ${operatorCookie}` })

  test('is refused by every route without the header of our pages', async () => {
    expect(await answersOf(changes(), withCookies())).toEqual(allWith(changes(), 403))
  })

  test('is refused by every route with a foreign origin', async () => {
    const foreign = asPage(withCookies()).as({ origin: 'https://evil.example' })
    expect(await answersOf(changes(), foreign)).toEqual(allWith(changes(), 403))
  })

  test('as a form would send it, is refused by every route', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' }
    expect(await answersOf(changes(), withCookies().as(headers))).toEqual(allWith(changes(), 403))
  })
})

test('every cookie is kept from scripts and from other sites', async () => {
  const person = { name: 'Loja', email: `${randomUUID()}@example.com`, password: PASSWORD }
  const phone = below('/phone/api').filter(isChange)
  const replies = [
    await asPage(it.api).post('/register/api', person),
    await asPage(it.api).post('/panel/api/session', person),
    await asPage(it.api).post('/operator/api/session', { token: OPERATOR_TOKEN }),
  ]
  for (const { path } of phone) replies.push(await asPage(it.api).post(concrete(path), {}))
  const cookies = replies.flatMap(({ headers }) => headers['set-cookie'] ?? [])
  expect(new Set(cookies.map((cookie) => cookie.split('=')[0]))).toEqual(
    new Set(['quitado-panel', 'quitado-operator', 'quitado-phone']),
  )
  for (const cookie of cookies) expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/)
})

describe('the policy', () => {
  const assets = () => globSync('*.{js,css,svg}', { cwd: join(pagesFolder, 'assets') }).map((name) => `/assets/${name}`)

  test('stands on every page and every asset, and allows nothing inline', async () => {
    const pages = [
      '/',
      '/register',
      '/panel',
      '/panel/sales/x',
      '/pay/x',
      '/phone',
      '/operator',
      '/operator/accounts/x',
    ]
    expect(assets().length).toBeGreaterThan(8)
    for (const path of [...pages, ...assets()]) {
      const { http, headers } = await it.api.get(path)
      expect([path, http, headers['content-security-policy']]).toEqual([path, 200, CONTENT_SECURITY_POLICY])
    }
    expect(CONTENT_SECURITY_POLICY).not.toContain('unsafe')
  })

  test('is kept by what is built: no asset makes code of text', async () => {
    for (const path of assets().filter((name) => name.endsWith('.js'))) {
      const code = (await it.api.get(path)).body.toString()
      expect([path, /\beval\(|new Function\(|document\.write\(/.exec(code)?.[0]]).toEqual([path, undefined])
    }
  })

  test('answers of the pages’ own routes are kept by nobody', async () => {
    const reads = routes.filter((route) => !isChange(route) && !/live$/.test(route.path))
    for (const { path } of reads) {
      const { headers } = await it.api.get(concrete(path), {
        headers: { cookie: `${merchantCookie}; ${operatorCookie}` },
      })
      expect([path, headers['cache-control']]).toEqual([path, 'no-store'])
      it.clock.advance(100)
    }
  })
})

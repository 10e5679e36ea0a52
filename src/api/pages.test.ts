import { gunzipSync } from 'node:zlib'
import { fastify } from 'fastify'
import { describe, expect, test } from 'vitest'
import { testService } from '../../test/harness/test-service.ts'
import { CONTENT_SECURITY_POLICY, pageRoutes } from './pages.ts'

const it = testService()
const html = async (path = '/panel') => (await it.api.get(path)).body.toString() as string
const assetsOf = (page: string) => [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!)

describe('the pages', () => {
  test.each(['/', '/register', '/panel', '/panel/sales/1', '/pay/abc', '/phone', '/phone/pay', '/operator'])(
    '%s is the html, not to be kept, with every header that protects it',
    async (path) => {
      const { http, headers } = await it.api.get(path)
      expect(http).toBe(200)
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      })
    },
  )

  test('the policy is strict: nothing inline, nothing from elsewhere, in no frame', () => {
    expect(CONTENT_SECURITY_POLICY).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(CONTENT_SECURITY_POLICY).not.toMatch(/unsafe|https?:|\*/)
    expect(CONTENT_SECURITY_POLICY).toContain("frame-ancestors 'none'")
  })

  test('the html holds no script or style of its own and loads from this host only', async () => {
    const page = await html()
    expect(page).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+=|https?:/)
    expect(assetsOf(page).length).toBeGreaterThan(1)
  })

  test('an asset is kept for good, compressed as the browser likes, and known by its tag', async () => {
    for (const path of assetsOf(await html())) {
      const plain = await it.api.get(path)
      expect(plain.http).toBe(200)
      expect(plain.headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
      })
      const again = await it.api.get(path, { headers: { 'if-none-match': `W/"other", ${plain.headers['etag']}` } })
      expect([again.http, again.text]).toEqual([304, ''])
    }
    const script = assetsOf(await html()).find((path) => path.endsWith('.js'))!
    const encodings = await Promise.all(
      ['br, gzip', 'gzip', 'br;q=0, gzip', 'identity'].map(
        async (accepted) =>
          (await it.api.get(script, { headers: { 'accept-encoding': accepted } })).headers['content-encoding'],
      ),
    )
    expect(encodings).toEqual(['br', 'gzip', 'gzip', undefined])
    const [plain, gzip] = [
      await it.api.get(script),
      await it.api.get(script, { headers: { 'accept-encoding': 'gzip' } }),
    ]
    expect(gunzipSync(gzip.body)).toEqual(plain.body)
    expect(gzip.headers['etag']).not.toBe(plain.headers['etag'])
  })

  test('HEAD is GET without the body', async () => {
    const [head, get] = [await it.api.send('HEAD', '/panel'), await it.api.get('/panel')]
    expect([head.http, head.text]).toEqual([200, ''])
    for (const name of ['etag', 'content-length', 'content-type', 'content-security-policy'])
      expect(head.headers[name]).toBe(get.headers[name])
  })

  test.each([
    '/nowhere',
    '/assets/nothing.js',
    '/assets/../package.json',
    '/assets/%2e%2e%2fbuilt-from',
    '/register/deep',
    '/panel/api/nothing',
    '/phone/api/nothing',
    '/pay/api',
    '/operator/api/nothing',
    '/operator/v1/nothing',
  ])('%s is the JSON 404', async (path) => {
    const { http, headers, body } = await it.api.get(path)
    expect([http, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8'])
    expect(body.message).toBe('there is no such route')
  })

  test('other methods are refused as everywhere', async () => {
    expect((await it.api.post('/register', {})).http).toBe(405)
    expect((await it.api.post('/', {})).http).toBe(405)
  })

  test('without a build a page says so and keeps nothing', async () => {
    const app = fastify()
    await app.register(pageRoutes({ env: 'sandbox', folder: '/nowhere' }))
    const { statusCode, headers, body } = await app.inject('/panel')
    expect([statusCode, headers['cache-control']]).toEqual([503, 'no-store'])
    expect(body).toContain('The pages were not built')
  })

  test('in production there is no registration and no toy bank, and the page knows where it is', async () => {
    const app = fastify()
    await app.register(pageRoutes({ env: 'production' }))
    const codes = await Promise.all(
      ['/panel', '/operator', '/pay/x', '/register', '/phone', '/phone/x'].map(
        async (path) => (await app.inject(path)).statusCode,
      ),
    )
    expect(codes).toEqual([200, 200, 200, 404, 404, 404])
    expect((await app.inject('/panel')).body).toContain('name="quitado-env" content="production"')
  })
})

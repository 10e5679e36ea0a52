import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()

/** Everything a page would load or link to. */
const addressesIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href|action|url|data-[\w-]+)\s*["']?\s*[=:]\s*["']([^"']+)["']/gi)].map(
    ([, address]) => address!,
  )

describe('what operators and machines ask', () => {
  test.each(['/healthz', '/readyz'])('%s answers success without credentials', async (path) => {
    const answer = await it.api.get(path)
    expect([answer.http, answer.body]).toEqual([200, { status: 0, message: 'success' }])
  })

  test('/metrics counts requests by route, not by address, and shows the queues', async () => {
    const account = await it.given.account()
    const sale = await it.given.paidSale(account)
    await account.api.get(`/v1.1/transactions/${sale.uuid}`)
    await it.api.get('/nowhere/to/be/found')
    await it.api.get('/v1.1/transactions/%zz')
    const count = 'quitado_http_request_seconds_count'
    const wanted = [
      `${count}{method="GET",route="/v1.1/transactions/:uuid",status="200"} 1`,
      `${count}{method="POST",route="/v1.1/checkout/transparent",status="200"} 1`,
      `${count}{method="GET",route="unknown",status="404"} 1`,
      `${count}{method="GET",route="unknown",status="400"} 1`,
      'quitado_batch_items_count{batch="checkout"} 1',
      'quitado_batch_items_count{batch="simulator"} 1',
      'quitado_queue_items{batch="checkout"} 0',
      'quitado_queue_items{batch="door"} 0',
    ]
    // A request is counted once its answer has left.
    let text = ''
    const missing = async () => {
      text = (await it.api.get('/metrics')).text
      return wanted.filter((line) => !text.split('\n').includes(line))
    }
    await expect.poll(missing, { interval: 5 }).toEqual([])
    expect(text).not.toContain(sale.uuid)
    expect(text).not.toContain('nowhere')
    expect((await it.api.get('/metrics')).headers['content-type']).toMatch(/^text\/plain; version=/)
  })

  test('a sweep’s work is counted', async () => {
    const account = await it.given.account()
    await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(120_000)
    await it.sweep()
    expect((await it.api.get('/metrics')).text).toMatch(/^quitado_sales_expired_total 1$/m)
  })
})

describe('the pages', () => {
  test('/docs leads to the reference, which reads our own document', async () => {
    const moved = await it.api.get('/docs')
    expect([moved.http, moved.headers['location']]).toEqual([301, '/docs/'])
    const page = await it.api.get('/docs/')
    expect(page.http).toBe(200)
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.text).toContain('"url": "/openapi.json"')
  })

  test('the reference loads nothing from another host, and its script is ours', async () => {
    const { text } = await it.api.get('/docs/')
    expect(text).not.toMatch(/https?:|["'(]\/\/|@import|preconnect|dns-prefetch/i)
    expect(text).toContain('"withDefaultFonts": false')
    expect(text).toContain('"telemetry": false')
    const scripts = addressesIn(text).filter((address) => address.endsWith('.js'))
    expect(scripts).toEqual(['js/scalar.js'])
    const script = await it.api.get('/docs/js/scalar.js')
    expect([script.http, script.headers['content-type']]).toEqual([200, 'application/javascript; charset=utf-8'])
    expect(script.text.length).toBeGreaterThan(100_000)
  })

  test('the reference runs its own two scripts and no others, and asks this host only', async () => {
    const { headers, text } = await it.api.get('/docs/')
    const policy = Object.fromEntries(
      String(headers['content-security-policy'])
        .split('; ')
        .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
    )
    const [inline, ...others] = [...text.matchAll(/<script(?![^>]*src)[^>]*>([\s\S]*?)<\/script>/g)].map(
      ([, code]) => code!,
    )
    expect(others).toEqual([])
    expect(policy).toEqual({
      'default-src': "'none'",
      'script-src': `'self' 'sha256-${createHash('sha256').update(inline!).digest('base64')}'`,
      'style-src': "'unsafe-inline'",
      'img-src': "'self' data: blob:",
      'connect-src': "'self'",
      'font-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
    expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual(['nosniff', 'no-referrer'])
    expect((await it.api.get('/docs/js/scalar.js')).headers['x-content-type-options']).toBe('nosniff')
  })
})

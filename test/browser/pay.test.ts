import { describe, expect, test } from 'vitest'
import { pay } from '../harness/given.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectFits, testBrowser } from './browser.ts'

const it = testService()
const browser = testBrowser(it)
const FIRST_LOAD_BYTES_MAX = 300 * 1024

describe('the pay page', () => {
  test('shows what to pay and to whom, and turns to paid without a reload', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 1234.5, maxAge: 10 })
    const page = await browser.open(`/pay/${sale.txid}`)
    await page.getByRole('heading', { name: /Pagar R\$\s1\.234,50/ }).waitFor()
    expect(await page.getByRole('timer').textContent()).toMatch(/^(10:00|09:\d\d)$/)
    await page.getByRole('img', { name: 'QR code do PIX' }).waitFor()
    await expect.poll(() => page.evaluate('document.querySelector(".qr").naturalWidth')).toBeGreaterThan(20)
    const { qrCode } = (await account.api.get(`/v1.1/transactions/pix/${sale.uuid}`)).body
    await page.getByRole('button', { name: 'Copiar o código PIX' }).click()
    await page.getByRole('button', { name: 'Copiado' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(qrCode.plain)
    const toyBank = page.getByRole('link', { name: 'Pagar com o banco de brinquedo' })
    expect(await toyBank.getAttribute('href')).toBe(`/phone?code=${encodeURIComponent(qrCode.plain)}`)
    await expectAccessible(page)

    await page.evaluate('globalThis.stillHere = true')
    expect((await pay(account, sale)).http).toBe(200)
    await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
    expect(await page.evaluate('globalThis.stillHere')).toBe(true)
    expect(await page.title()).toContain('Pagamento confirmado')
    expect(await page.getByRole('button', { name: 'Copiar o código PIX' }).count()).toBe(0)
    await expectAccessible(page)
  })

  test('turns to cancelled, and back when the merchant renews', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const page = await browser.open(`/pay/${sale.txid}`, { locale: 'en-US' })
    await page.getByRole('heading', { name: 'Pay R$100.00' }).waitFor()
    expect((await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)).http).toBe(200)
    await page.getByRole('heading', { name: 'This charge was cancelled' }).waitFor()
    await expectAccessible(page)
    expect((await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 30 })).http).toBe(200)
    // Looking at the page again is a reason to ask at once.
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))')
    await page.getByRole('heading', { name: 'Pay R$100.00' }).waitFor()
  })

  test('turns to expired by the clock of the account', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 2 })
    const page = await browser.open(`/pay/${sale.txid}`, { dark: true })
    await page.getByRole('timer').waitFor()
    await expectAccessible(page)
    expect((await account.api.post('/v1.1/sandbox/clock/advance', { minutes: 3 })).http).toBe(200)
    await page.getByRole('heading', { name: 'Esta cobrança venceu' }).waitFor()
    await expectAccessible(page)
  })

  test('fits a phone of 360 px, where the code to copy stands above the image', async () => {
    const account = await it.given.account({})
    const sale = await it.given.sale(account, { amount: 9_999_999.99 })
    const page = await browser.open(`/pay/${sale.txid}`, { width: 360 })
    const copy = page.getByRole('button', { name: 'Copiar o código PIX' })
    await copy.waitFor()
    await page.getByText('Ver o código').click()
    await expectFits(page)
    const [button, image] = [await copy.boundingBox(), await page.getByRole('img').boundingBox()]
    expect(button!.y).toBeLessThan(image!.y)
    expect(button!.height).toBeGreaterThanOrEqual(44)
  })

  test('can be used by keyboard alone, and shows where one is', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const page = await browser.open(`/pay/${sale.txid}`, { locale: 'en-US' })
    await page.getByRole('timer').waitFor()
    const walked: (string | null)[] = []
    for (let step = 0; step < 7; step += 1) {
      await page.keyboard.press('Tab')
      walked.push(await page.locator(':focus').textContent())
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    }
    expect(walked).toEqual([
      'Skip to content',
      'Quitado',
      'PT',
      'EN',
      'Copy the PIX code',
      'Show the code',
      'Pay with the toy bank',
    ])
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    const { qrCode } = (await account.api.get(`/v1.1/transactions/pix/${sale.uuid}`)).body
    await page.getByText(qrCode.plain).waitFor()
  })

  test('says so when there is no such charge', async () => {
    const page = await browser.open('/pay/nothing', { locale: 'en-US', refusals: [/^404 \/pay\/api\/nothing$/] })
    await page.getByRole('heading', { name: 'There is no such charge' }).waitFor()
    await expectAccessible(page)
  })

  test('comes back by itself when the service was away', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const page = await browser.open(`/pay/${sale.txid}`, { refusals: [/^503 \/pay\/api\//] })
    await page.getByRole('timer').waitFor()
    let answered = 0
    await page.route('**/pay/api/*', (route) => {
      answered += 1
      return route.fulfill({ status: 503, json: { status: -1, message: 'away', errorCount: 0, errors: [] } })
    })
    await expect.poll(() => answered, { timeout: 20_000 }).toBeGreaterThan(0)
    expect(await page.getByRole('timer').count()).toBe(1)
    expect((await pay(account, sale)).http).toBe(200)
    await page.unroute('**/pay/api/*')
    await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
  })

  test('loads less than 300 KB, compressed, all of it from this host', async () => {
    const sale = await it.given.sale(await it.given.account())
    const page = await browser.open('/docs-not-loaded-first', { refusals: [/^404 /] })
    const sizes: Promise<number>[] = []
    const hosts = new Set<string>()
    page.on('response', (response) => {
      hosts.add(new URL(response.url()).host)
      sizes.push(
        response
          .request()
          .sizes()
          .then(
            ({ responseBodySize }) => responseBodySize,
            () => 0,
          ),
      )
    })
    await page.goto(`/pay/${sale.txid}`)
    await page.getByRole('timer').waitFor()
    await page.waitForLoadState('load')
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    expect(total).toBeGreaterThan(20_000)
    expect(total).toBeLessThan(FIRST_LOAD_BYTES_MAX)
    expect(hosts.size).toBe(1)
  })
})

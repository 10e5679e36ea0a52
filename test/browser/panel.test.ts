import { describe, expect, test } from 'vitest'
import { merchants } from '../harness/merchants.ts'
import { PASSWORD, signedIn } from '../harness/pages.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectFits, testBrowser } from './browser.ts'
import { panelPages } from './panel-page.ts'

const it = testService({ deliveries: true })
const browser = testBrowser(it)
const { merchant } = merchants(it)
const openPanel = panelPages(browser)

describe('the panel', () => {
  test('signs in and out, and a wrong password is told', async () => {
    const shop = await signedIn(it)
    const page = await browser.open('/panel', { locale: 'en-US', refusals: [/^401 \/panel\/api\/session$/] })
    await page.getByLabel('E-mail').fill(shop.email)
    await page.getByLabel('Password').fill('a wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The e-mail or the password is not right.').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })')).toEqual([])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('a charge made by the API turns to paid without a reload, with its webhook attempt, and is refunded', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', { payment: { url: receiver.hook } })
    const page = await openPanel(shop, '/panel/sales')
    await page.getByText('No sales here.').waitFor()
    const sale = await it.given.sale(shop, { referenceCode: 'order-live', amount: 42 })
    const row = page.getByRole('row', { name: /order-live/ })
    await row.getByText('Pending').waitFor()
    expect((await shop.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {})).http).toBe(200)
    await row.getByText('Paid').waitFor()
    await row.getByRole('link', { name: 'order-live' }).click()
    await page.getByText('Payment received').waitFor()
    await page.getByText('Webhook PAYMENT_CONFIRMATION').waitFor()
    await page.getByText(/^Attempt 1 · 200/).click()
    await page.getByText('authorization: ***').waitFor()
    const shown = await page.locator('main').innerText()
    expect(shown).toContain(sale.uuid)
    for (const secret of [shop.apiToken, shop.webhookSecret]) expect(shown).not.toContain(secret)
    await page.getByRole('button', { name: 'Send the last webhook again' }).click()
    await receiver.received(2)
    await page.getByText(/^Attempt 2 · 200/).waitFor()
    await page.getByRole('button', { name: 'Refund' }).click()
    await page.getByLabel('Amount').fill('12')
    await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click()
    await page.getByText('Refund asked for', { exact: true }).waitFor()
    await page.getByText(/Refund, held/).waitFor()
    await expectAccessible(page)
  })

  test('the simulator pays, and a pending sale is cancelled', async () => {
    const shop = await signedIn(it)
    const sale = await it.given.sale(shop)
    const page = await openPanel(shop, `/panel/sales/${sale.uuid}`)
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByText('Payment received').waitFor()
    await page.getByRole('button', { name: 'Pay one cent too much' }).click()
    await page.getByText('Payment that did not fit', { exact: true }).waitFor()
    const other = await it.given.sale(shop)
    await page.goto(`/panel/sales/${other.uuid}`)
    await page.getByRole('button', { name: 'Cancel the sale' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the sale' }).click()
    await page.getByText('Cancelled', { exact: true }).waitFor()
  })

  test('filters and search stand in the address', async () => {
    const shop = await signedIn(it)
    const paid = await it.given.paidSale(shop, { referenceCode: 'the paid one' })
    await it.given.sale(shop, { referenceCode: 'the open one' })
    const page = await openPanel(shop, '/panel/sales')
    await page.getByLabel('Situation').selectOption('PAID')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 found').waitFor()
    expect(new URL(page.url()).search).toBe('?situation=PAID')
    await page.getByLabel('Search').fill(paid.txid)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'the paid one' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'the paid one' }).waitFor()
    expect(await page.getByLabel('Search').inputValue()).toBe(paid.txid)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('2 found').waitFor()
  })

  test('overview and lists are accessible and fit a phone, in light and dark', async () => {
    const shop = await signedIn(it)
    const sale = await it.given.paidSale(shop)
    for (const dark of [false, true]) {
      const page = await openPanel(shop, '/panel', { width: 360, dark })
      await page.getByText('Available balance').waitFor()
      await page.locator('canvas').first().waitFor()
      for (const path of ['/panel', '/panel/sales', `/panel/sales/${sale.uuid}`]) {
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.getByText('live', { exact: true }).waitFor()
        await expectFits(page)
        await expectAccessible(page)
      }
    }
  })
})

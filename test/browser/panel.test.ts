import { describe, expect, test } from 'vitest'
import { merchants } from '../harness/merchants.ts'
import { PASSWORD, signedIn } from '../harness/pages.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectAccessibleInBoth, expectFits, testBrowser, untilLoaded } from './browser.ts'
import { card, panelPages } from './panel-page.ts'

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

  test('a pending sale is shown to its payer, by code, by the payment page and by the toy bank', async () => {
    const shop = await signedIn(it)
    const sale = await it.given.sale(shop)
    const page = await openPanel(shop, `/panel/sales/${sale.uuid}`)
    const shown = card(page, 'Show it to the payer')
    await expect.poll(() => page.evaluate('document.querySelector(".qr")?.naturalWidth')).toBeGreaterThan(20)
    const { plain } = (await shop.api.get(`/v1.1/transactions/pix/${sale.uuid}`)).body.qrCode
    expect(await shown.locator('code').textContent()).toBe(plain)
    const hrefOf = (name: string) => shown.getByRole('link', { name }).getAttribute('href')
    expect(await hrefOf('Open the payment page')).toBe(`/pay/${sale.txid}`)
    expect(await hrefOf('Pay with the toy bank')).toBe(`/phone?code=${encodeURIComponent(plain)}`)
    await expectAccessible(page)
    await shop.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {})
    await shown.waitFor({ state: 'detached' })
  })

  test('speaks Portuguese about everything that happened, and calls recipients by their names', async () => {
    const shop = await signedIn(it)
    await shop.api.put('/v1.1/sandbox/account', { splitEnabled: true, autoSettle: false })
    const made = await shop.api.post('/v1.1/sandbox/recipients', { name: 'Ana Doces' })
    const { recipientId } = made.body.recipient
    const sale = await it.given.paidSale(shop, { amount: 50, split: [{ recipientId, amount: 10 }] })
    await shop.api.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`, {})
    const page = await openPanel(shop, `/panel/sales/${sale.uuid}`, {
      locale: 'pt-BR',
      refusals: [/^400 .*\/refund$/],
    })
    await card(page, 'Divisão').getByText('Ana Doces').waitFor()
    await card(page, 'Divisão')
      .getByText(/^(Pendente|A caminho|Creditada)$/)
      .waitFor()
    await page.getByText('R$ 50,00 · A cobrança já estava paga').waitFor()

    await page.getByRole('button', { name: 'Devolver', exact: true }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Valor').inputValue()).toBe('50,00')
    await dialog.getByLabel('Valor').fill('50,01')
    await dialog.getByRole('button', { name: 'Devolver' }).click()
    await dialog.getByText('A cobrança não tem tanto a devolver.').waitFor()
    await dialog.getByLabel('Valor').fill('12,34')
    await dialog.getByRole('button', { name: 'Devolver' }).click()

    // Without settling by itself, the person at the simulator is the bank.
    const bank = page.getByRole('group', { name: /Devolução pedida, R\$\s12,34/ })
    await bank.getByRole('button', { name: 'Não foi possível' }).click()
    await page.getByText('Devolução encerrada').waitFor()
    await bank.waitFor({ state: 'detached' })
    await page.getByRole('group').getByRole('button', { name: 'Chegou ao pagador' }).click()
    await page.getByText('Pagamento que não serviu, encerrado').waitFor()
    expect(await page.getByRole('group', { name: /O banco responde/ }).count()).toBe(0)
    const events = await page.locator('.time-line').innerText()
    expect(events).not.toMatch(/PAID|CANCELLED|PENDING|clearing|available|transit|_due/)
    expect(events).toContain('Recebido do arranjo → Disponível')
    expect(events).toMatch(/Parte de um recebedor · .* · R\$\s10,00 · Ana Doces/)
  })

  test('another page begins at its top, and the list is found again as it was left', async () => {
    const shop = await signedIn(it)
    for (let count = 0; count < 20; count++) await it.given.sale(shop, { referenceCode: `order-${count}` })
    const page = await openPanel(shop, '/panel/sales', { width: 360 })
    const scrolled = () => page.evaluate<number>('Math.round(scrollY)')
    await page.getByRole('link', { name: 'order-0' }).click()
    await page.getByRole('heading', { level: 1, name: 'order-0' }).waitFor()
    expect(await scrolled()).toBe(0)
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    await page.goBack()
    await page.getByRole('link', { name: 'order-0' }).waitFor()
    await expect.poll(scrolled).toBeGreaterThan(500)
  })

  test('on a phone the navigation shows where one is', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/credentials', { width: 360 })
    const { x, width } = (await page.locator('nav [aria-current="page"]').boundingBox())!
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(360)
  })

  test('a filter that cannot be is told in the language of the page', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/sales?amount=abc', { locale: 'pt-BR', refusals: [/^400 .*\/sales$/] })
    await page.getByText('Um dos filtros tem um valor que não existe.').waitFor()
    expect(await page.getByText('(opcional)').first().isVisible()).toBe(false)
  })

  test('charges, what was received and conversion are drawn by hour and by day', async () => {
    const shop = await signedIn(it)
    await it.given.paidSale(shop)
    const page = await openPanel(shop)
    for (const span of ['By hour, 48 hours', 'By day, 30 days']) {
      await page.getByRole('tab', { name: span }).click()
      for (const drawn of ['Received', 'Charges, Paid', 'Conversion'])
        await page.getByRole('img', { name: `${drawn}: ${span}` }).waitFor()
    }
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
    const page = await openPanel(shop, '/panel', { width: 360 })
    await page.getByText('Available balance').waitFor()
    await page.locator('canvas').first().waitFor()
    for (const path of ['/panel', '/panel/sales', `/panel/sales/${sale.uuid}`]) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('live', { exact: true }).waitFor()
      await untilLoaded(page)
      await expectFits(page)
      await expectAccessibleInBoth(page)
    }
  })
})

import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { merchants } from '../harness/merchants.ts'
import { accepted, moneyOf, payOut } from '../harness/money-out.ts'
import { signedIn } from '../harness/pages.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectAccessibleInBoth, expectFits, testBrowser } from './browser.ts'
import { expectNothingKept, panelPages } from './panel-page.ts'

const it = testService({ deliveries: true })
const browser = testBrowser(it)
const { merchant } = merchants(it)
const openPanel = panelPages(browser)

describe('money', () => {
  test('a payment shows in balance and statement by itself, and the statement is downloaded', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/money')
    await page.getByText('No lines here.').waitFor()
    await it.given.paidSale(shop, { amount: 100, referenceCode: 'order-money' })
    await page.getByRole('row', { name: /PIX sale.*R\$100\.00/ }).waitFor()
    await page.getByRole('row', { name: /Fee.*-R\$0\.99.*R\$99\.01/ }).waitFor()
    await page.getByRole('status').getByText('R$99.01').first().waitFor()
    await expectAccessible(page)

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('statement.csv')
    const [head, ...lines] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
    expect(head).toBe('id,date,type,saleToken,description,amount,balance')
    expect(lines.map((line) => line.split(',')[2])).toEqual(['FEE', 'SALE'])

    await page
      .getByRole('row', { name: /PIX sale/ })
      .getByRole('link')
      .click()
    await page.getByRole('heading', { name: 'order-money' }).waitFor()
    await page.goBack()
    await page.getByLabel('To day').fill('2001-01-01')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('No lines here.').waitFor()
    const link = page.getByRole('link', { name: 'Download as CSV' })
    expect(await link.getAttribute('href')).toBe('/panel/api/statement.csv?finalDate=2001-01-01')
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('row', { name: /PIX sale/ }).waitFor()
  })

  test('a long statement has pages', async () => {
    const shop = await signedIn(it)
    for (let n = 0; n < 13; n += 1) await it.given.paidSale(shop)
    const page = await openPanel(shop, '/panel/money')
    await page.getByText('Page 1 of 2').waitFor()
    await page.getByRole('button', { name: /Older/ }).click()
    await page.getByText('Page 2 of 2').waitFor()
    expect(new URL(page.url()).search).toBe('?page=2')
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
  })
})

describe('payouts', () => {
  test('one is asked for with every fault beside its field, paid once by a double click, and settled', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', { payout: { url: receiver.hook, enabled: true } })
    await it.given.paidSale(shop)
    const page = await openPanel(shop, '/panel/payouts', { refusals: [/^400 \/panel\/api\/v1\.1\/payout\/create$/] })
    await page.getByText('No payouts here.').waitFor()
    await page.getByRole('link', { name: 'New payout' }).click()
    const send = page.getByRole('button', { name: 'Send the money' })
    await send.click()
    await page.getByText('Say the PIX key.').waitFor()
    expect(await page.getByText('Fill this in.').count()).toBe(3)
    expect(await page.locator(':focus').getAttribute('name')).toBe('amount')
    await page.getByLabel('Goes to').selectOption('Bank account')
    await send.click()
    await page.getByLabel('Branch').and(page.locator('[aria-invalid]')).waitFor()
    expect(await page.getByText('Fill this in.').count()).toBe(6)
    await expectAccessible(page)

    await page.getByLabel('Goes to').selectOption('PIX key')
    await page.getByLabel('PIX key').fill('fornecedor@example.com')
    await page.getByLabel('Amount').fill('1.000,00')
    await page.getByLabel('Reference').fill('rent')
    await page.getByLabel('Name of the beneficiary').fill('Fornecedor Ltda')
    await page.getByLabel('Number of the document').fill('52998224725')
    await send.click()
    await page.getByText('The balance does not cover the amount and its fee.').waitFor()
    await page.getByLabel('Amount').fill('40,00')
    await send.dblclick()

    await page.getByRole('heading', { name: 'rent' }).waitFor()
    await page.getByText('Pending', { exact: true }).waitFor()
    expect(await page.locator('main').innerText()).not.toContain('52998224725')
    expect((await shop.api.get('/v1.1/transactions?type=PAYOUT')).body.totalElements).toBe(1)
    const [fee] = /[\d.]+$/.exec(
      (await page
        .getByText(/^R\$4\d\.\d\d$/)
        .last()
        .textContent())!,
    )!
    const { available, blocked } = await moneyOf({ ...shop })
    expect([available, blocked]).toEqual([Math.round((99.01 - Number(fee)) * 100) / 100, 40])

    await page.getByRole('button', { name: 'It arrives' }).click()
    await page.getByText('Paid', { exact: true }).waitFor()
    await page.getByText('Webhook PAYOUT_PAID').waitFor()
    await page.getByText(/^Attempt 1 · 200/).click()
    await page.getByText('authorization: ***').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Send the last webhook again' }).click()
    await page.getByText(/^Attempt 2 · 200/).waitFor()
  })

  test('sent again after silence it pays once, and another one in its place is asked about first', async () => {
    const shop = await signedIn(it)
    await it.given.paidSale(shop)
    const page = await openPanel(shop, '/panel/payouts/new', {
      refusals: [/^(502|422) \/panel\/api\/v1\.1\/payout\/create$/],
    })
    const create = '**/panel/api/v1.1/payout/create'
    // The service does it, and its answer is lost.
    const loseAnswers = () =>
      page.route(create, async (route) => {
        await route.fetch()
        await route.fulfill({ status: 502, body: '' })
      })
    const send = page.getByRole('button', { name: 'Send the money' })
    const fill = async (reference: string) => {
      await page.getByLabel('Amount').fill('10')
      await page.getByLabel('Reference').fill(reference)
      await page.getByLabel('Name of the beneficiary').fill('Fornecedor Ltda')
      await page.getByLabel('PIX key').fill('fornecedor@example.com')
    }
    const count = async () => (await shop.api.get('/v1.1/transactions?type=PAYOUT')).body.totalElements
    await fill('first')
    await loseAnswers()
    await send.click()
    await page.getByText('The service has trouble right now.').waitFor()
    await page.unroute(create)
    await send.click()
    await page.getByRole('heading', { name: 'first' }).waitFor()
    expect(await count()).toBe(1)

    await page.goto('/panel/payouts/new')
    await fill('second')
    await loseAnswers()
    await send.click()
    await page.getByText('The service has trouble right now.').waitFor()
    await page.unroute(create)
    await page.getByLabel('Reference').fill('third')
    await send.click()
    await page.getByText(/^This form was sent once already/).waitFor()
    expect(await count()).toBe(2)
    await send.click()
    await page.getByRole('heading', { name: 'third' }).waitFor()
    expect(await count()).toBe(3)
  })

  test('one is cancelled, one fails, and the list is filtered; nobody sees another account’s', async () => {
    const [shop, other] = [await signedIn(it), await signedIn(it)]
    await shop.api.put('/v1.1/sandbox/account', { autoSettle: false })
    await it.given.paidSale(shop)
    const [one, two] = [
      await accepted(payOut({ ...shop }, { referenceCode: 'to cancel' })),
      await accepted(payOut({ ...shop }, { referenceCode: 'to fail' })),
    ]
    const page = await openPanel(shop, '/panel/payouts')
    await page.getByText('2 found').waitFor()
    await page.getByRole('link', { name: 'to cancel' }).click()
    await page.getByRole('button', { name: 'Cancel the payout' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('wrong key')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Cancel the payout' }).click()
    await page.getByText('Cancelled', { exact: true }).waitFor()
    expect((await shop.api.get(`/v1.1/payout/${one}`)).body.situation).toBe('CANCELLED')

    await page.goto(`/panel/payouts/${two}`)
    await page.getByLabel('For the reason').selectOption('PE0002')
    await page.getByRole('button', { name: 'It fails' }).click()
    await page.getByText('Failed', { exact: true }).waitFor()
    await page.getByText('PE0002 · The account holder does not match the document.').waitFor()

    await page.getByRole('link', { name: 'All payouts' }).click()
    await page.getByLabel('Situation').selectOption('FAILED')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 found').waitFor()
    expect(new URL(page.url()).search).toBe('?situation=FAILED')

    const elsewhere = await openPanel(other, `/panel/payouts/${one}`, {
      refusals: [/^404 \/panel\/api\/v1\.1\/payout\//],
    })
    await elsewhere.getByText('We did not find what you are looking for.').waitFor()
    expect(await elsewhere.locator('main').innerText()).not.toContain('to cancel')
  })
})

test('recipients are linked with credentials shown once, unlinked and linked again', async () => {
  const shop = await signedIn(it)
  const page = await openPanel(shop, '/panel/recipients', { refusals: [/^400 .*\/recipients$/] })
  await page.getByText('No recipients linked.').waitFor()
  await page.getByText('Split is off for this account').waitFor()
  await page.getByRole('button', { name: 'Open and link' }).click()
  await page.getByText('Fill this in.').waitFor()
  await page.getByLabel('Name').fill('Ana Vendedora')
  await page.getByLabel('CPF or CNPJ').fill('52998224725')
  await page.getByRole('button', { name: 'Open and link' }).click()
  await page.getByText('Ana Vendedora is linked').waitFor()
  await expectAccessible(page)
  const [recipientId, apiKey, apiToken] = await page.locator('.secret code').allTextContents()
  const ana = it.api.as({ 'x-api-key': apiKey!, 'x-api-token': apiToken! })
  expect((await ana.get('/v1.1/balance')).http).toBe(200)
  const row = page.getByRole('row', { name: /Ana Vendedora/ })
  await row.getByText('Active', { exact: true }).waitFor()
  expect(await row.innerText()).toContain(recipientId)
  expect(await row.innerText()).toContain('***.982.247-**')
  await page.getByRole('button', { name: 'Unlink: Ana Vendedora' }).click()
  await row.getByText('Inactive', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Link again: Ana Vendedora' }).click()
  await row.getByText('Active', { exact: true }).waitFor()
  await page.reload()
  await row.waitFor()
  expect(await page.content()).not.toContain(apiToken)
  await expectNothingKept(page)
})

const paths = [
  '/panel/money',
  '/panel/payouts',
  '/panel/payouts/new',
  '/panel/recipients',
  '/panel/notifications',
  '/panel/credentials',
  '/panel/settings',
]

/** Whoever goes by keyboard sees where they are, on every control of the page. */
async function expectFocusSeen(page: Page): Promise<void> {
  await page.locator('#content').focus()
  const controls = await page.locator('main :is(a[href], button, input, select, summary):visible').count()
  expect(controls).toBeGreaterThan(0)
  for (let n = 0; n < Math.min(controls, 12); n += 1) {
    await page.keyboard.press('Tab')
    const [tag, style, width] = await page.evaluate<[string, string, number]>(
      '(() => { const at = document.activeElement, css = getComputedStyle(at); return [at.tagName, css.outlineStyle, parseFloat(css.outlineWidth)] })()',
    )
    expect([tag, style, width]).toEqual([tag, 'solid', 3])
  }
}

describe('every page of it', () => {
  test('is accessible in light and dark, fits a phone and shows the focus', async () => {
    const shop = await signedIn(it)
    await it.given.paidSale(shop)
    const payout = await accepted(payOut({ ...shop }))
    await shop.panel.post('/panel/api/v1.1/sandbox/recipients', { name: 'Um recebedor de nome comprido' })
    const page = await openPanel(shop, '/panel', { width: 360 })
    for (const path of [...paths, `/panel/payouts/${payout}`]) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('live', { exact: true }).waitFor()
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
      await expectFits(page)
      await expectAccessibleInBoth(page)
      await expectFocusSeen(page)
    }
  })

  test('speaks Portuguese', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel', { locale: 'pt-BR' })
    const names = ['Saldo e extrato', 'Transferências', 'Recebedores', 'Avisos', 'Credenciais', 'Configurações']
    for (const name of names) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    }
  })
})

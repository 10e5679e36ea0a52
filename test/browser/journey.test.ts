import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { merchants } from '../harness/merchants.ts'
import { signedIn } from '../harness/pages.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, testBrowser } from './browser.ts'
import { askAsPage, panelPages } from './panel-page.ts'

/** The whole way of a person, from no account at all: nothing is made by other means than clicks, but where there is no page. */
const it = testService({ deliveries: true })
const browser = testBrowser(it)
const { merchant } = merchants(it)
const openPanel = panelPages(browser)

const plain = (text: string | null) => (text ?? '').replaceAll(/\s/g, ' ')

/** A click on a link that opens a window of its own. */
async function follow(page: Page, name: RegExp | string): Promise<Page> {
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name }).first().click(),
  ])
  return opened
}

test('register, charge, pay on the phone, see the panel turn to paid with its webhook, refund', async () => {
  const receiver = await merchant()
  const page = await browser.open('/register')
  await page.getByLabel('Nome da loja').fill('Padaria Aurora')
  await page.getByLabel('E-mail').fill('aurora@example.com')
  await page.getByLabel('Senha').fill('pao de queijo')
  await page.getByRole('button', { name: 'Criar a conta' }).click()
  await page.getByRole('heading', { name: 'Padaria Aurora está pronta' }).waitFor()
  expect(
    await askAsPage(page, 'PUT', '/panel/api/v1.1/account/notifications', { payment: { url: receiver.hook } }),
  ).toBe(200)
  await page.getByRole('button', { name: 'Criar uma cobrança de R$ 10,50' }).click()
  await page.getByText('Cobrança criada').waitFor()

  const panel = await follow(page, /painel/i)
  await panel.getByText('ao vivo', { exact: true }).waitFor()
  await panel.getByRole('link', { name: 'Cobranças' }).click()
  const row = panel.getByRole('row', { name: /first-charge-1/ })
  await row.getByText('Pendente').waitFor()
  await panel.evaluate('globalThis.stillHere = true')

  const checkout = await follow(page, /Abrir a página de pagamento/)
  await checkout.getByRole('heading', { name: /Pagar R\$\s10,50/ }).waitFor()
  await checkout.getByRole('link', { name: 'Pagar com o banco de brinquedo' }).click()
  await checkout.getByRole('button', { name: /^Pagar R\$\s10,50/ }).click()
  await checkout.getByText(/^Pago: R\$/).waitFor()

  await row.getByText('Paga').waitFor()
  expect(await panel.evaluate('globalThis.stillHere')).toBe(true)
  await row.getByRole('link').click()
  await panel.getByText('Pagamento recebido').waitFor()
  await panel.getByText('Aviso PAYMENT_CONFIRMATION').waitFor()
  await panel.getByText(/^Tentativa 1 · 200/).click()
  await panel.getByLabel('Pedido', { exact: true }).getByText('"newStatus": "PAID"').waitFor()
  expect(receiver.calls().map(({ body }) => [body.newStatus, body.amount])).toEqual([['PAID', 10.5]])
  await expectAccessible(panel)

  await panel.getByRole('button', { name: 'Devolver' }).click()
  await panel.getByLabel('Valor').fill('4,00')
  await panel.getByRole('dialog').getByRole('button', { name: 'Devolver' }).click()
  await panel.getByText('Devolução pedida', { exact: true }).waitFor()
  // The sandbox's bank sends money out after a moment of the service's time; then the phone has it back.
  it.clock.advance(10_000)
  await it.sweep()
  await panel.getByText('Devolução encerrada').waitFor()
  await expect
    .poll(async () => plain(await checkout.getByTestId('balance').textContent()), { timeout: 30_000 })
    .toBe('R$ 4.993,50')
})

test('a plan, a mandate, its approval on the phone, a year, twelve charges in the panel and on the phone', async () => {
  const shop = await signedIn(it)
  const receiver = await merchant()
  await shop.api.put('/v1.1/account/notifications', { payment: { url: receiver.hook } })
  const panel = await openPanel(shop)
  await panel.getByRole('link', { name: 'Plans' }).click()
  await panel.getByRole('link', { name: 'New plan' }).click()
  await panel.getByLabel('Title').fill('Bread every month')
  await panel.getByLabel('Price of a cycle').fill('49.90')
  await panel.getByRole('button', { name: 'Make the plan' }).click()
  await panel.getByRole('heading', { level: 1, name: 'Bread every month' }).waitFor()
  await panel.getByRole('link', { name: 'New mandate' }).click()
  await panel.getByLabel('Reference').fill('bread-1')
  await panel.getByLabel('Name').fill('Maria da Silva')
  await panel.getByLabel('E-mail').fill('maria@example.com')
  await panel.getByLabel('Document').fill('529.982.247-25')
  await panel.getByRole('button', { name: 'Ask for the mandate' }).click()
  await panel.getByRole('heading', { level: 1, name: 'bread-1' }).waitFor()
  await panel.evaluate('globalThis.stillHere = true')

  const phone = await follow(panel, 'Authorize with the toy bank')
  await phone.getByRole('heading', { name: 'You are about to authorize' }).waitFor()
  await phone.getByRole('button', { name: 'Authorize', exact: true }).click()
  const state = panel.locator('main [role="status"]').first()
  await state.getByText('Approved').waitFor()
  const charges = (title: string, text: string) =>
    panel.getByRole('table', { name: title }).locator('.badge').getByText(text, { exact: true })
  await charges('Charges to come', 'To be scheduled').waitFor()

  expect(await askAsPage(panel, 'POST', '/panel/api/v1.1/sandbox/clock/advance', { days: 365 })).toBe(200)
  await charges('Past charges', 'Paid').nth(11).waitFor()
  expect(await charges('Past charges', 'Paid').count()).toBe(12)
  expect(await panel.evaluate('globalThis.stillHere')).toBe(true)
  await panel.getByText('Webhook RECURRENCE_CHARGE_PAID').nth(11).waitFor()
  await expectAccessible(panel)

  await phone.getByRole('tab', { name: 'Statement' }).click()
  const collected = phone.getByRole('listitem').filter({ hasText: 'Recurring PIX' })
  await collected.nth(11).waitFor()
  expect(await collected.count()).toBe(12)
  await expect
    .poll(async () => plain(await phone.getByTestId('balance').textContent()), { timeout: 30_000 })
    .toBe('R$4,401.20')

  await panel.getByRole('link', { name: 'Scheduled payments' }).click()
  await panel.getByLabel('State').selectOption('PAID')
  await panel.getByRole('button', { name: 'Filter' }).click()
  await panel.getByText('12 found').waitFor()
})

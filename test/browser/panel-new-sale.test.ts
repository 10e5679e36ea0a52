import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { type SignedIn, signedIn } from '../harness/pages.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessibleInBoth, expectFits, testBrowser } from './browser.ts'
import { card, panelPages } from './panel-page.ts'

const it = testService()
const openPanel = panelPages(testBrowser(it))

const route = '**/panel/api/v1.1/checkout/transparent'
const refused = (http: string) => new RegExp(`^(${http}) /panel/api/v1\\.1/checkout/transparent$`)
const salesOf = async (shop: SignedIn) => (await shop.api.get('/v1.1/transactions')).body

async function fill(page: Page, referenceCode: string): Promise<void> {
  await page.getByLabel('Amount').fill('1.234,56')
  await page.getByLabel('Reference').fill(referenceCode)
  await page.getByLabel('Name of the shopper').fill('Maria da Silva')
  await page.getByLabel('E-mail').fill('maria@example.com')
}

describe('a new charge', () => {
  test('is made from the list with every fault beside its field, once by a double click, and leads to its payer', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/sales', { width: 360, refusals: [refused('400')] })
    await page.getByRole('link', { name: 'New charge' }).click()
    await page.getByRole('heading', { level: 1, name: 'New charge' }).waitFor()
    const create = page.getByRole('button', { name: 'Create the charge' })
    await page.getByLabel('Number of the document').fill('123')
    await page.getByLabel('Valid for').fill('31')
    await page.getByLabel('Unit').selectOption('Days')
    await create.click()
    await page.getByText('A whole number; from one minute to 30 days in all.').waitFor()
    await page.getByText('This is no CPF.').waitFor()
    expect(await page.getByText('Fill this in.').count()).toBe(4)
    expect(await page.locator('[role="alert"]').count()).toBe(0)
    expect(await page.locator(':focus').getAttribute('name')).toBe('amount')
    await expectFits(page)
    await expectAccessibleInBoth(page)

    await fill(page, 'order-by-hand')
    await page.getByLabel('Number of the document').fill('529.982.247-25')
    await page.getByLabel('Valid for').fill('30')
    await create.dblclick()
    await page.getByRole('heading', { level: 1, name: 'order-by-hand' }).waitFor()
    await page.locator('main [role="status"]').getByText('R$1,234.56').waitFor()
    const link = card(page, 'Show it to the payer').getByRole('link', { name: 'Open the payment page' })
    const { totalElements, result } = await salesOf(shop)
    expect([totalElements, result[0].referenceCode]).toEqual([1, 'order-by-hand'])
    const [kept] = await it.rows<{ minutes: number; txid: string }>(
      'select extract(epoch from expires_at - created_at)::int / 60 as minutes from sale where id = $1',
      [result[0].uuid],
    )
    expect(kept!.minutes).toBe(30 * 1_440)
    const payer = await page.context().newPage()
    await payer.goto((await link.getAttribute('href'))!)
    await payer.getByRole('heading', { name: /^Pay R\$1,234\.56/ }).waitFor()
    // Back is the list: a form that was sent is not offered again.
    await page.goBack()
    await page.getByRole('link', { name: 'order-by-hand' }).waitFor()
  })

  test('sent again after silence is the same one, and another in its place is asked about first', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/sales/new', { refusals: [refused('502|422')] })
    const create = page.getByRole('button', { name: 'Create the charge' })
    // The service does it, and its answer is lost.
    const loseAnswer = async () => {
      await page.route(route, async (asked) => {
        await asked.fetch()
        await asked.fulfill({ status: 502, body: '' })
      })
      await create.click()
      await page.getByText('The service has trouble right now.').waitFor()
      await page.unroute(route)
    }
    await fill(page, 'first')
    await loseAnswer()
    await create.click()
    await page.getByRole('heading', { level: 1, name: 'first' }).waitFor()
    expect((await salesOf(shop)).totalElements).toBe(1)

    await page.goto('/panel/sales/new')
    await fill(page, 'second')
    await loseAnswer()
    await page.getByLabel('Reference').fill('third')
    await create.click()
    await page.getByText(/^This form was sent once already/).waitFor()
    expect((await salesOf(shop)).totalElements).toBe(2)
  })

  test('speaks Portuguese, also of a reference that may be used only once', async () => {
    const shop = await signedIn(it)
    await shop.api.put('/v1.1/sandbox/account', { uniqueReferenceCode: true })
    await it.given.sale(shop, { referenceCode: 'pedido-1' })
    const page = await openPanel(shop, '/panel/sales', { locale: 'pt-BR', refusals: [refused('400')] })
    await page.getByRole('link', { name: 'Nova cobrança' }).click()
    await page.getByLabel('Valor').fill('10')
    await page.getByLabel('Referência').fill('pedido-1')
    await page.getByLabel('Nome do comprador').fill('João')
    await page.getByLabel('E-mail').fill('joao@example.com')
    await page.getByRole('button', { name: 'Criar a cobrança' }).click()
    await page.getByText('Já foi usada em outra cobrança.').waitFor()
    await page.getByLabel('Referência').fill('pedido-2')
    await page.keyboard.press('Enter')
    await page.getByText('Cobrança criada.', { exact: true }).waitFor()
    await page.getByRole('heading', { level: 1, name: 'pedido-2' }).waitFor()
  })
})

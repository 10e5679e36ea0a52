import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { asPage } from '../harness/pages.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectFits, testBrowser } from './browser.ts'

const it = testService()
const browser = testBrowser(it)

const fill = async (page: Page, fields: Readonly<Record<string, string>>) => {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value)
}

describe('registration', () => {
  test('in Portuguese: an account, its credentials once, a first charge that turns to paid in another window', async () => {
    const page = await browser.open('/register')
    await expectAccessible(page)
    await fill(page, { 'Nome da loja': 'Padaria Aurora', 'E-mail': 'aurora@example.com', Senha: 'pao de queijo' })
    await page.getByRole('button', { name: 'Criar a conta' }).click()
    await page.getByRole('heading', { name: 'Padaria Aurora está pronta' }).waitFor()
    await expectAccessible(page)

    const shown = await page.locator('.secret code').allTextContents()
    expect(shown).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^whsec_/),
    ])
    const account = it.api.as({ 'x-api-key': shown[0]!, 'x-api-token': shown[1]! })
    expect((await account.get('/v1.1/balance')).http).toBe(200)
    await page.getByRole('button', { name: 'Copiar x-api-key' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown[0])
    const curl = await page.getByLabel('No terminal', { exact: true }).textContent()
    expect(curl).toContain(`-H 'x-api-token: ${shown[1]}'`)

    await page.getByRole('button', { name: 'Criar uma cobrança de R$ 10,50' }).click()
    await page.getByText('Cobrança criada').waitFor()
    await expectAccessible(page)
    const link = page.getByRole('link', { name: /Abrir a página de pagamento/ })
    const [pay] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await pay.getByRole('heading', { name: /Pagar R\$\s10,50/ }).waitFor()

    const [sale] = (await account.get('/v1.1/transactions')).body.result
    expect((await account.post(`/v1.1/sandbox/sim/sale/${sale.uuid}/paid`)).http).toBe(200)
    await pay.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
  })

  test('by keyboard alone, in English, at 360 px', async () => {
    const page = await browser.open('/register', { locale: 'en-US', width: 360 })
    await page.getByRole('heading', { name: 'Create a test account' }).waitFor()
    await expectFits(page)
    await page.getByLabel('Name of the shop').focus()
    for (const text of ['Corner Shop', 'corner@example.com', 'a long password']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    const heading = page.getByRole('heading', { name: 'Corner Shop is ready' })
    await heading.waitFor()
    expect(await page.locator(':focus').textContent()).toBe('Corner Shop is ready')
    await page.getByRole('button', { name: 'Make a charge of R$ 10.50' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Charge made').waitFor()
    await expectFits(page)
    await expectAccessible(page)
  })

  test('says what is wrong beside the field, in the language of the page', async () => {
    const page = await browser.open('/register', { refusals: [/^400 \/register\/api$/] })
    await fill(page, { 'Nome da loja': 'Loja', 'E-mail': 'not an address', Senha: 'short' })
    await page.getByRole('button', { name: 'Criar a conta' }).click()
    await page.getByText('Isto não é um e-mail.').waitFor()
    await page.getByText('A senha precisa de 8 a 200 caracteres.').waitFor()
    const email = page.getByLabel('E-mail')
    expect(await email.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(':focus').getAttribute('name')).toBe('email')
    expect(await page.locator(`[id="${await email.getAttribute('aria-describedby')}"]`).textContent()).toBe(
      'Isto não é um e-mail.',
    )
    await expectAccessible(page)

    const taken = { email: 'taken@example.com', password: 'a password' }
    expect((await it.api.post('/v1.1/sandbox/register', { name: 'Loja', ...taken })).http).toBe(201)
    await fill(page, { 'E-mail': taken.email, Senha: taken.password })
    await page.getByRole('button', { name: 'Criar a conta' }).click()
    await page.getByText('Este e-mail já tem uma conta.').waitFor()
  })

  test('a password is kept as it was typed, blanks and all: it signs in', async () => {
    const page = await browser.open('/register')
    const password = ' com espaços nas pontas '
    await fill(page, { 'Nome da loja': 'Loja', 'E-mail': ' blanks@example.com ', Senha: password })
    await page.getByRole('button', { name: 'Criar a conta' }).click()
    await page.getByRole('heading', { name: 'Loja está pronta' }).waitFor()
    const signIn = await asPage(it.api).post('/panel/api/session', { email: 'blanks@example.com', password })
    expect(signIn.http).toBe(200)
  })

  test('keeps no secret in storage, in the address or in a cookie that scripts can read', async () => {
    const page = await browser.open('/register')
    await fill(page, { 'Nome da loja': 'Loja', 'E-mail': 'secrets@example.com', Senha: 'a long password' })
    await page.getByRole('button', { name: 'Criar a conta' }).click()
    await page.getByRole('heading', { name: 'Loja está pronta' }).waitFor()
    expect(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]')).toEqual(['', 0, 0])
    expect(new URL(page.url()).href).toMatch(/\/register$/)
    await page.reload()
    await page.getByRole('heading', { name: 'Criar uma conta de teste' }).waitFor()
    expect(await page.content()).not.toContain('whsec_')
  })
})

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { auditRules } from '../../src/audit.ts'
import { checkoutBody } from '../harness/given.ts'
import { accepted, payOut } from '../harness/money-out.ts'
import { PASSWORD } from '../harness/pages.ts'
import { newEndToEnd, railPayment } from '../harness/rail-payment.ts'
import { OPERATOR_TOKEN, testService } from '../harness/test-service.ts'
import {
  expectAccessible,
  expectAccessibleInBoth,
  expectFits,
  type OpenOptions,
  testBrowser,
  untilLoaded,
} from './browser.ts'

const it = testService()
const browser = testBrowser(it)

async function openConsole(path = '/operator', options: OpenOptions = {}): Promise<Page> {
  const page = await browser.open(path, { locale: 'en-US', ...options })
  await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  return page
}

const nameOf = async (id: string) => (await it.operator.get(`/operator/v1/accounts/${id}`)).body.account.name as string
const saved = (page: Page) => page.getByRole('status').getByText('Saved').first().waitFor()

describe('the operator console', () => {
  test('opens with the right token only, keeps it nowhere, and closes', async () => {
    const page = await browser.open('/operator/queues', {
      locale: 'en-US',
      refusals: [/^401 \/operator\/api\/session$/],
    })
    await page.getByLabel('Operator token').fill(`${OPERATOR_TOKEN}x`)
    await page.keyboard.press('Enter')
    await page.getByText('The token is not right.').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })')).toEqual([])
    expect(await page.content()).not.toContain(OPERATOR_TOKEN)
    expect(page.url()).not.toContain(OPERATOR_TOKEN)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('finds an account; a switch and a fee hold for the next charge', async () => {
    const [shop, partner] = [await it.given.account(), await it.given.account()]
    const name = await nameOf(shop.id)
    const split = [{ recipientId: partner.id, amount: 10 }]
    const checkOut = (fields: object = {}) => shop.api.post('/v1.1/checkout/transparent', checkoutBody({ ...fields }))
    expect((await checkOut({ split })).body.main_error_message).toBe('split.notEnabled')
    const old = await it.given.sale(shop)

    const page = await openConsole()
    await page.getByLabel('Search').fill(shop.apiKey)
    await page.keyboard.press('Enter')
    await page.getByText('1 found').waitFor()
    expect(new URL(page.url()).search).toBe(`?search=${shop.apiKey}`)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await expectAccessible(page)

    await page.getByLabel('Split', { exact: true }).check()
    await page.getByLabel('PIX, in %').fill('2,5')
    await page.getByLabel('PIX, fixed amount in R$').fill('0.30')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await saved(page)
    await page.getByLabel('Account id of the recipient').fill(partner.id)
    await page.getByRole('button', { name: 'Link recipient' }).click()
    await page.getByRole('button', { name: `Turn ${await nameOf(partner.id)} off` }).waitFor()

    const made = await checkOut({ split })
    expect(made.http, made.text).toBe(200)
    await shop.api.post(`/v1.1/sandbox/sim/sale/${made.body.response.uuid}/paid`)
    expect((await shop.api.get('/v1.1/balance')).body.balance).toBe(100 - 10 - 2.8)
    // What was agreed before stays as it was.
    await shop.api.post(`/v1.1/sandbox/sim/sale/${old.uuid}/paid`)
    expect((await shop.api.get('/v1.1/balance')).body.balance).toBe(87.2 + 99.01)

    await page.getByRole('button', { name: `Turn ${await nameOf(partner.id)} off` }).click()
    await page.getByRole('button', { name: `Turn ${await nameOf(partner.id)} on` }).waitFor()
    expect((await checkOut({ split })).body.main_error_message).toBe('split.recipientInactive')
  })

  test('what is refused stands at its field; suspension closes the API and opens it again', async () => {
    const shop = await it.given.account()
    const page = await openConsole(`/operator/accounts/${shop.id}`, {
      refusals: [/^40[04] \/operator\/api\/accounts\//],
    })
    await page.getByLabel('PIX, in %').fill('101')
    await page.getByLabel('Recipients of a charge').fill('0')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('must be from 0 to 100 with at most four decimals').waitFor()
    expect(await page.locator(':focus').getAttribute('name')).toBe('fees.PIX.percent')
    await page.getByText('must be a whole number from 1 to 1000').waitFor()
    await page.getByLabel('Account id of the recipient').fill(shop.id)
    await page.getByRole('button', { name: 'Link recipient' }).click()
    await page.getByText('There is no other account with this id.').waitFor()

    await page.getByRole('button', { name: 'Suspend the account' }).click()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend the account' }).click()
    await page.getByText('Suspended', { exact: true }).waitFor()
    expect((await shop.api.get('/v1.1/balance')).http).toBe(403)
    await page.getByRole('button', { name: 'Activate the account' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Activate the account' }).click()
    await page.getByText('Active', { exact: true }).waitFor()
    expect((await shop.api.get('/v1.1/balance')).http).toBe(200)
  })

  test('makes an account, gives it a sign-in and a new token, each secret shown once', async () => {
    const page = await openConsole()
    await page.getByRole('button', { name: 'New account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Mercado Novo')
    await dialog.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText('Shown only now').waitFor()
    const [key, token] = await dialog.locator('.secret code').allTextContents()
    const withToken = (presented: string) => it.api.as({ 'x-api-key': key!, 'x-api-token': presented })
    expect((await withToken(token!).get('/v1.1/balance')).http).toBe(200)
    await dialog.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain(token)
    await page.getByRole('link', { name: 'Mercado Novo' }).click()

    await page.getByLabel('E-mail').fill('mercado.novo@example.com')
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Save' }).last().click()
    await saved(page)
    await page.getByRole('button', { name: 'Rotate the token' }).click()
    await dialog.getByLabel('Hours that the old token still works').fill('0')
    await dialog.getByRole('button', { name: 'Rotate the token' }).click()
    await page.getByText('Shown only now').waitFor()
    const [, rotated] = await dialog.locator('.secret code').allTextContents()
    expect((await withToken(token!).get('/v1.1/balance')).http).toBe(403)
    expect((await withToken(rotated!).get('/v1.1/balance')).http).toBe(200)

    const panel = await browser.open('/panel', { locale: 'en-US' })
    await panel.getByLabel('E-mail').fill('mercado.novo@example.com')
    await panel.getByLabel('Password').fill(PASSWORD)
    await panel.keyboard.press('Enter')
    await panel.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  test('shows money of nobody, what was set aside, and what waits', async () => {
    const shop = await it.given.account({ autoSettle: false })
    const sale = await it.given.sale(shop, { amount: 40 })
    const [endToEnd, unknown] = [newEndToEnd(), newEndToEnd()]
    await it.service.door.apply([railPayment(it.clock, sale, { endToEnd })])
    await it.service.door.apply([railPayment(it.clock, sale, { endToEnd, amount: 4_100 })])
    await it.service.door.apply([railPayment(it.clock, { txid: 'nobody', amount: 7.35 }, { endToEnd: unknown })])
    await accepted(payOut(shop))
    const page = await openConsole('/operator/payments')
    const row = page.getByRole('row', { name: new RegExp(unknown) })
    await row.getByText('R$7.35').waitFor()
    await row.getByText('Going back').waitFor()
    await page.getByRole('link', { name: 'Set aside' }).click()
    await page.getByText(endToEnd, { exact: true }).waitFor()
    await page.getByText('R$40.00').waitFor()
    await page.getByText('"amount": 41').waitFor()
    await page.getByRole('link', { name: 'Queues' }).click()
    const reserved = page.locator('.stat', { hasText: 'Orders reserved' }).locator('.stat-value')
    // The payout, and the money of nobody on its way back.
    await reserved.getByText('2', { exact: true }).waitFor()
    await accepted(payOut(shop))
    await reserved.getByText('3', { exact: true }).waitFor()
  })

  test('audits the books on a click, in both languages, and names what is broken', async () => {
    const shop = await it.given.account()
    await it.given.paidSale(shop)
    const page = await openConsole('/operator/audit')
    await page.getByRole('heading', { name: 'Trial balance' }).waitFor()
    await page.getByRole('button', { name: 'Audit now' }).click()
    const rules = (await auditRules(it.connection)).map(({ check }) => check)
    await page.getByText(`The books are right: ${rules.length} rules hold.`).waitFor()
    const shown = page.getByRole('table', { name: 'Rules' }).locator('tbody td:first-child')
    expect((await shown.allTextContents()).sort()).toEqual([...rules].sort())
    await expectAccessible(page)
    await page.getByRole('button', { name: 'PT' }).click()
    await page.getByText(`Os livros estão certos: ${rules.length} regras valem.`).waitFor()
    const translated = await page
      .getByRole('table', { name: 'Regras' })
      .locator('tbody td:first-child')
      .allTextContents()
    expect(translated.filter((text) => rules.includes(text))).toEqual([])
    await page.getByRole('button', { name: 'EN' }).click()

    const break_ = (by: number) => it.rows(`update book set version = version + ${by} where version > 1`)
    await break_(1)
    await page.getByRole('button', { name: 'Audit now' }).click()
    await page.getByText(`1 of ${rules.length} rules do not hold.`).waitFor()
    await page
      .getByText(/"account_id":"\d+"/)
      .first()
      .waitFor()
    await expectAccessible(page)
    await break_(-1)
  })

  test('works by keyboard alone', async () => {
    const { id } = await it.given.account()
    const page = await browser.open('/operator', { locale: 'en-US' })
    await page.getByLabel('Operator token').focus()
    await page.keyboard.type(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByLabel('Search').focus()
    await page.keyboard.type(id)
    await page.keyboard.press('Enter')
    await page.getByText('1 found').waitFor()
    await page.getByRole('link', { name: await nameOf(id), exact: true }).focus()
    await page.keyboard.press('Enter')
    const unique = page.getByLabel('Unique reference')
    await unique.focus()
    await page.keyboard.press('Space')
    await page.getByLabel('PIX, in %').focus()
    await page.keyboard.press('Enter')
    await saved(page)
    expect((await it.operator.get(`/operator/v1/accounts/${id}`)).body.account.uniqueReferenceCode).toBe(true)
  })

  test('is accessible in light and dark and fits a phone, in Portuguese', async () => {
    const shop = await it.given.account()
    const sale = await it.given.sale(shop)
    const endToEnd = newEndToEnd()
    await it.service.door.apply([railPayment(it.clock, sale, { endToEnd })])
    await it.service.door.apply([railPayment(it.clock, sale, { endToEnd, amount: 1 })])
    await it.operator.post(`/operator/v1/accounts/${shop.id}/recipients`, {
      recipientId: (await it.given.account()).id,
    })
    const page = await browser.open('/operator', { width: 360 })
    await page.getByLabel('Token de operação').waitFor()
    await expectFits(page)
    await expectAccessibleInBoth(page)
    await page.getByLabel('Token de operação').fill(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Contas' }).waitFor()
    for (const path of ['', `/accounts/${shop.id}`, '/payments', '/conflicts', '/queues', '/audit']) {
      await page.goto(`/operator${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await untilLoaded(page)
      await expectFits(page)
      await expectAccessibleInBoth(page)
    }
  })

  test('a session that ended asks for the token again', async () => {
    const page = await openConsole('/operator/queues', { refusals: [/^401 \/operator\/api\//] })
    await page.getByText('Orders reserved').waitFor()
    await it.rows('delete from session where account_id = 1')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})

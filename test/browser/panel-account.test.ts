import { describe, expect, test } from 'vitest'
import { merchants } from '../harness/merchants.ts'
import { asPage, PASSWORD, signedIn } from '../harness/pages.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectAccessibleInBoth, expectFits, testBrowser } from './browser.ts'
import { card, expectNothingKept, panelPages } from './panel-page.ts'

const it = testService({ deliveries: true })
const browser = testBrowser(it)
const { merchant } = merchants(it)
const openPanel = panelPages(browser)

const HOUR_MS = 3_600_000

describe('notifications', () => {
  test('an address is saved, a test is sent, and its attempt stands there with request and response', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    receiver.answer((reply) => void reply.writeHead(418, { 'x-pot': 'tea' }).end('short and stout'))
    const page = await openPanel(shop, '/panel/notifications', {
      refusals: [/^400 .*\/(test|notifications)$/],
    })
    const payments = card(page, 'Payments and recurrence')
    await payments.getByRole('button', { name: /^Send a test/ }).click()
    await payments.getByText('Save an address first.').waitFor()
    await payments.getByLabel('Address').fill('not an address')
    await payments.getByRole('button', { name: /^Save/ }).click()
    await payments.getByText('An address that begins with http:// or https://.').waitFor()
    await payments.getByLabel('Address').fill(receiver.hook)
    await payments.getByRole('button', { name: /^Save/ }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await payments.getByRole('button', { name: /^Send a test/ }).click()
    // A second attempt follows some seconds later: it may or may not stand there too.
    const first = payments.getByRole('group').filter({ hasText: /Attempt 1 · 418/ })
    await first.getByText('"group": "payment"').waitFor()
    await first.getByText('x-pot: tea').waitFor()
    await first.getByText('short and stout').waitFor()
    await expectAccessible(page)

    const refunds = card(page, 'Refunds')
    await refunds.getByLabel('Send webhooks').check()
    await refunds.getByRole('button', { name: /^Save/ }).click()
    await refunds.getByText('Fill this in.').waitFor()
    await refunds.getByLabel('Address').fill(`${receiver.hook}/refunds`)
    await refunds.getByRole('button', { name: /^Save/ }).click()
    await expect
      .poll(async () => (await shop.api.get('/v1.1/account/notifications')).body.refund)
      .toEqual({
        url: `${receiver.hook}/refunds`,
        enabled: true,
      })
  })

  test('the secret is shown when asked for and rotated with both signatures in the overlap', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', { payment: { url: receiver.hook } })
    const page = await openPanel(shop, '/panel/notifications')
    const secret = card(page, 'Webhook secret')
    await card(page, 'Payouts').waitFor()
    expect(await page.content()).not.toContain('whsec_')
    await secret.getByRole('button', { name: 'Show' }).click()
    expect(await secret.locator('.secret code').textContent()).toBe(shop.webhookSecret)
    await secret.getByText('Rotate the secret', { exact: true }).first().click()
    await secret.getByLabel('Overlap').selectOption('1 hour')
    await secret.getByRole('button', { name: 'Rotate the secret' }).click()
    await secret.getByText(/^The secret before it still signs until/).waitFor()
    const fresh = await secret.locator('.secret code').textContent()
    expect(fresh).toMatch(/^whsec_/)
    expect(fresh).not.toBe(shop.webhookSecret)
    await card(page, 'Payments and recurrence')
      .getByRole('button', { name: /^Send a test/ })
      .click()
    await receiver.received(1)
    expect(String(receiver.calls()[0]!.headers['webhook-signature']).split(' ')).toHaveLength(2)
    await secret.getByRole('button', { name: 'Hide' }).click()
    expect(await page.content()).not.toContain(fresh)
    await expectNothingKept(page)
  })
})

describe('credentials', () => {
  test('rotate: both tokens work in the overlap, the new one is shown once', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/credentials')
    await page.getByText(shop.apiKey).waitFor()
    expect(await page.content()).not.toContain(shop.apiToken)
    await page.getByLabel('Overlap').selectOption('1 hour')
    await page.getByRole('button', { name: 'Rotate the token' }).click()
    await page.getByText('It is shown only now.').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Copy New token' }).click()
    const token = await page.evaluate<string>('navigator.clipboard.readText()')
    const after = it.api.as({ 'x-api-key': shop.apiKey, 'x-api-token': token })
    expect((await shop.api.get('/v1.1/balance')).http).toBe(200)
    expect((await after.get('/v1.1/balance')).http).toBe(200)
    await page.getByText('The token before it works until').waitFor()
    await expectNothingKept(page)
    expect(page.url()).not.toContain(token)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByLabel('Overlap').waitFor()
    expect(await page.content()).not.toContain(token)
    it.clock.advance(HOUR_MS)
    expect((await shop.api.get('/v1.1/balance')).http).toBe(403)
    expect((await after.get('/v1.1/balance')).http).toBe(200)
  })

  test('the password is changed, and the old one opens nothing', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/credentials', { refusals: [/^400 \/panel\/api\/password$/] })
    const change = card(page, 'Change the password')
    await change.getByLabel('Current password').fill('not this one')
    await change.getByLabel('New password').fill('another password')
    await change.getByRole('button').click()
    await change.getByText('The password is not right.').waitFor()
    await change.getByLabel('Current password').fill(PASSWORD)
    await change.getByRole('button').click()
    await page.getByText('Password changed.').waitFor()
    expect(await change.getByLabel('New password').inputValue()).toBe('')
    const signIn = (password: string) => asPage(it.api).post('/panel/api/session', { email: shop.email, password })
    expect((await signIn(PASSWORD)).http).toBe(401)
    expect((await signIn('another password')).http).toBe(200)
  })
})

describe('settings', () => {
  test('the clock jumps a day, plays what is due, and goes back', async () => {
    const shop = await signedIn(it)
    await it.given.sale(shop, { referenceCode: 'to expire', maxAge: 60 })
    const page = await openPanel(shop, '/panel/settings')
    const clock = card(page, "The account's clock")
    await clock.getByText('in real time').waitFor()
    await clock.getByRole('button', { name: '+ 1 day' }).click()
    await clock.getByText(/· 1 thing happened$/).waitFor()
    await clock.getByText('1 d 0 h ahead').waitFor()
    expect((await shop.api.get('/v1.1/sandbox/clock')).body.offsetSeconds).toBeGreaterThan(86_000)
    await clock.getByLabel('How many').fill('0')
    await clock.getByRole('button', { name: 'Jump', exact: true }).click()
    await clock.getByText('A whole number from 1 to 1830.').waitFor()
    await clock.getByLabel('How many').fill('2')
    await clock.getByLabel('Unit').selectOption('Months')
    await clock.getByRole('button', { name: 'Jump', exact: true }).click()
    await clock.getByText(/· nothing was due$/).waitFor()
    expect((await shop.api.get('/v1.1/sandbox/clock')).body.now).toMatch(/^2027-01-17/)
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Sales', exact: true }).click()
    await page
      .getByRole('row', { name: /to expire/ })
      .getByText('Cancelled')
      .waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await clock.getByRole('button', { name: 'Back to real time' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Back to real time' }).click()
    await clock.getByText('in real time').waitFor()
  })

  test('a clock that jumped is seen on every page at once, leads to its control, and is gone when it goes back', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/sales', { width: 360 })
    const badge = page.getByRole('banner').getByRole('link', { name: /^Account's date: / })
    expect(await badge.count()).toBe(0)
    // By somebody else, and nothing is due on the way: only the time is another.
    const { now } = (await shop.api.post('/v1.1/sandbox/clock/advance', { days: 40 })).body
    await badge.waitFor()
    const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(
      Date.parse(now.slice(0, 10)),
    )
    expect(await badge.textContent()).toBe(`Account's date: ${day}`)
    await expectFits(page)
    await expectAccessibleInBoth(page)
    for (const path of ['', '/sales/new', '/plans', '/mandates', '/money', '/payouts', '/credentials', '/nowhere']) {
      await page.goto(`/panel${path}`)
      await badge.waitFor()
      await expectFits(page)
    }
    await badge.focus()
    await page.keyboard.press('Enter')
    const clock = card(page, "The account's clock")
    await clock.getByText(/^40 d/).waitFor()
    await clock.getByRole('button', { name: '+ 1 year' }).click()
    await badge.getByText('2027').waitFor()
    await page.getByRole('button', { name: 'PT' }).click()
    await page.getByRole('link', { name: /^Data da conta: .* de 2027$/ }).waitFor()
    await page.getByRole('button', { name: 'EN' }).click()
    await shop.api.post('/v1.1/sandbox/clock/reset')
    await badge.waitFor({ state: 'detached' })
    await clock.getByText('in real time').waitFor()
  })

  test('rules are saved, and a wrong one is told beside its field', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/settings', { refusals: [/^400 .*\/sandbox\/account$/] })
    const rules = card(page, 'Rules')
    await rules.getByLabel('Split charges').check()
    await rules.getByLabel('PIX fee, per cent').fill('101')
    await rules.getByRole('button', { name: 'Save' }).click()
    await rules.getByText('From 0 to 100, with at most four decimals.').waitFor()
    expect(await page.locator(':focus').getAttribute('name')).toBe('pixPercent')
    await rules.getByLabel('PIX fee, per cent').fill('1,25')
    await rules.getByLabel('Fee of a payout').fill('2')
    await rules.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect((await shop.api.get('/v1.1/sandbox/account')).body).toMatchObject({
      splitEnabled: true,
      fees: { PIX: { percent: 1.25 }, PAYOUT: { fixed: 2 } },
    })
  })
})

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { merchants } from '../harness/merchants.ts'
import { type SignedIn, signedIn } from '../harness/pages.ts'
import { advanceTo, authorizationOf, recurrences, variable, withRetries } from '../harness/recurrences.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectAccessibleInBoth, expectFits, testBrowser, untilLoaded } from './browser.ts'
import { panelPages } from './panel-page.ts'

const it = testService({ deliveries: true })
const browser = testBrowser(it)
const { merchant } = merchants(it)
const openPanel = panelPages(browser)
const given = recurrences(it)

const plain = (text: string | null) => (text ?? '').replaceAll(/\s/g, ' ')
const rowsOf = (page: Page, title: string) => page.getByRole('table', { name: title }).locator('tbody tr')
const badge = (page: Page, text: string) => page.locator('main [role="status"]').first().getByText(text)

describe('plans', () => {
  test('one is made, refused where it is wrong, changed, switched off and found by filters', async () => {
    const shop = await signedIn(it)
    const page = await openPanel(shop, '/panel/plans', { refusals: [/^400 .*\/plans$/] })
    await page.getByText('No plans here.').waitFor()
    await page.getByRole('link', { name: 'New plan' }).click()
    await page.getByLabel('Title').fill('Gy')
    await page.getByLabel('Price of a cycle').fill('much')
    await page.getByRole('button', { name: 'Make the plan' }).click()
    await page.getByText('Write 3 to 100 letters.').waitFor()
    expect(await page.locator(':focus').getAttribute('name')).toBe('title')
    await page.getByLabel('Title').fill('Gym')
    await page.getByLabel('Price of a cycle').fill('R$ 1.049,90')
    await page.getByLabel('Try again what failed').selectOption('ACCEPT_3R_7D')
    await page.getByRole('button', { name: 'Make the plan' }).click()
    await page.getByRole('heading', { level: 1, name: 'Gym' }).waitFor()
    await page.getByText('R$1,049.90').first().waitFor()
    await page.getByText('Up to 3 times in 7 days').waitFor()

    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByLabel('Price of a cycle').fill('59.90')
    await page.getByRole('button', { name: 'Save' }).click()
    await badge(page, 'R$59.90').waitFor()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await badge(page, 'Inactive').waitFor()
    expect(await page.getByRole('link', { name: 'New mandate' }).count()).toBe(0)

    await page.getByRole('link', { name: 'All plans' }).click()
    await page.getByLabel('State').selectOption('true')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('0 found').waitFor()
    expect(new URL(page.url()).search).toBe('?enabled=true')
    await page.getByLabel('State').selectOption('false')
    await page.getByLabel('Title').fill('gy')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Gym' }).click()
    await page.getByRole('button', { name: 'Activate' }).click()
    await badge(page, 'Active').waitFor()
  })
})

describe('mandates', () => {
  test('one is asked for by keyboard, shows its code, and is cancelled', async () => {
    const shop = await signedIn(it)
    const planId = await given.plan(shop, { title: 'Club' })
    const page = await openPanel(shop, `/panel/plans/${planId}`)
    await page.getByRole('link', { name: 'New mandate' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Reference').focus()
    for (const text of ['member-1', 'Maria da Silva', 'maria@example.com', '529.982.247-25']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'member-1' }).waitFor()
    await badge(page, 'Awaits the payer').waitFor()
    await expect.poll(() => page.evaluate('document.querySelector(".qr").naturalWidth')).toBeGreaterThan(20)
    await page.getByRole('button', { name: 'Copy PIX code' }).click()
    const code = await page.evaluate('navigator.clipboard.readText()')
    expect(code).toMatch(/^0002.*6304[0-9A-F]{4}$/)
    const phone = page.getByRole('link', { name: 'Authorize with the toy bank' })
    expect(await phone.getAttribute('href')).toBe(`/phone?code=${encodeURIComponent(String(code))}`)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Cancel the mandate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the mandate' }).click()
    await badge(page, 'Cancelled').waitFor()
    expect(await page.getByRole('img').count()).toBe(0)
    await page.getByRole('link', { name: 'All mandates' }).click()
    await page.getByLabel('State').selectOption('CANCELLED')
    await page.getByLabel('Payer').fill('maria')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 found').waitFor()
  })

  test('asked for again while the service is still at it, it is one', async () => {
    const shop = await signedIn(it)
    await given.plan(shop)
    const page = await openPanel(shop, '/panel/mandates/new', { refusals: [/^409 /] })
    const keys: (string | undefined)[] = []
    // The service does it, and says that it has not ended yet.
    await page.route('**/checkout/pix-automatic', async (route) => {
      keys.push(route.request().headers()['idempotency-key'])
      const answer = await route.fetch()
      await (keys.length === 1 ? route.fulfill({ status: 409, body: '{}' }) : route.fulfill({ response: answer }))
    })
    await page.getByLabel('Reference').fill('once')
    await page.getByLabel('Name', { exact: true }).fill('Maria da Silva')
    await page.getByLabel('E-mail').fill('maria@example.com')
    await page.getByLabel('Document').fill('529.982.247-25')
    await page.getByRole('button', { name: 'Ask for the mandate' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Ask for the mandate' }).click()
    await page.getByRole('heading', { level: 1, name: 'once' }).waitFor()
    expect(keys[1]).toBe(keys[0])
    expect((await shop.api.get('/v1.1/pix-automatic/authorizations')).body.totalElements).toBe(1)
  })

  test('one with a first payment has a composite code; a wrong document is told beside its field', async () => {
    const shop = await signedIn(it)
    await given.plan(shop)
    const page = await openPanel(shop, '/panel/mandates/new', { refusals: [/^400 .*pix-automatic$/] })
    await page.getByLabel('Reference').fill('first-1')
    await page.getByLabel('Name').fill('Maria')
    await page.getByLabel('E-mail').fill('maria@example.com')
    await page.getByLabel('Document').fill('12')
    await page.getByLabel('Pay a first charge at once').check()
    await page.getByLabel('First payment').fill('5,00')
    await page.getByRole('button', { name: 'Ask for the mandate' }).click()
    await page.getByText('This is neither a CPF nor a CNPJ.').waitFor()
    await page.getByLabel('Document').fill('52998224725')
    await page.getByRole('button', { name: 'Ask for the mandate' }).click()
    await page.getByRole('heading', { level: 1, name: 'first-1' }).waitFor()
    const code = plain(await page.locator('.secret code').first().textContent())
    expect(code).toMatch(/\/pix\//)
    expect(code).toMatch(/\/rec\//)
  })

  test('the simulator approves and schedules, the webhook is seen, and a price counts for one cycle', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', { payment: { url: receiver.hook } })
    const mandate = await given.mandate(shop, variable)
    const page = await openPanel(shop, `/panel/mandates/${mandate.idRec}`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await badge(page, 'Approved').waitFor()
    await page.getByText('Webhook RECURRENCE_AUTHORIZED').waitFor()
    await page.getByText(/^Attempt 1 · 200/).waitFor()
    await page.getByRole('button', { name: 'Schedule the next charge' }).click()
    await page.getByText('Webhook RECURRENCE_CHARGE_SCHEDULED').waitFor()
    expect(await rowsOf(page, 'Charges to come').count()).toBe(2)
    await page.getByRole('button', { name: 'Price of the next cycle' }).click()
    await page.getByRole('dialog').getByLabel('Price of a cycle').fill('77,70')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('R$77.70 in the next cycle only').waitFor()
    await page.getByLabel('Reason code').selectOption('AC03')
    await page.getByRole('button', { name: 'Fail the next charge' }).click()
    await rowsOf(page, 'Past charges').getByText('AC03 · Invalid payer account').waitFor()
    await expectAccessible(page)
  })

  test('a scenario is played, and the list changes by itself when a payer answers', async () => {
    const shop = await signedIn(it)
    const [one, two] = [await given.mandate(shop), await given.mandate(shop)]
    const list = await openPanel(shop, '/panel/mandates')
    await rowsOf(list, 'Mandates').nth(1).waitFor()
    const page = await browser.beside(list, `/panel/mandates/${one.idRec}`)
    await page.getByLabel('Scenario').selectOption('cancel-by-payer')
    await page.getByRole('button', { name: 'Play the scenario' }).click()
    await badge(page, 'Cancelled').waitFor()
    await list.getByText('Cancelled', { exact: true }).and(list.locator('.badge')).waitFor()
    await page.goto(`/panel/mandates/${two.idRec}`)
    await page.getByRole('button', { name: 'Reject' }).click()
    await badge(page, 'Rejected').waitFor()
    await list.locator('.badge').getByText('Rejected').waitFor()
    expect((await authorizationOf(shop, two)).status).toBe('REJECTED')
  })
})

describe('scheduled payments', () => {
  test('are filtered and sorted; one is cancelled before its deadline, with its reason', async () => {
    const shop = await signedIn(it)
    const charge = await given.scheduledCharge(shop)
    const page = await openPanel(shop, '/panel/scheduled-payments')
    await page.getByText('2 found').waitFor()
    await page.getByLabel('State').selectOption('SCHEDULED')
    await page.getByLabel('Order').selectOption('dueDate')
    await page.getByLabel('Direction').selectOption('ASC')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 found').waitFor()
    expect(new URL(page.url()).search).toBe('?status=SCHEDULED&sortBy=dueDate&order=ASC')
    await rowsOf(page, 'Scheduled payments').getByRole('link').first().click()
    await page.getByText(/Can be cancelled until .*10:00:00/).waitFor()
    await page.getByRole('button', { name: 'Cancel this charge' }).click()
    await page.getByLabel('Reason (optional)').fill('paid in the shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel this charge' }).click()
    await badge(page, 'Cancelled').waitFor()
    await page.getByText('paid in the shop').waitFor()
    await page.getByRole('link', { name: 'Show the sale' }).click()
    await page.getByRole('heading', { level: 1, name: charge.mandate.referenceCode }).waitFor()
    await page.getByRole('link', { name: charge.mandate.idRec }).click()
    await badge(page, 'Approved').waitFor()
  })

  test('after the deadline it says why not', async () => {
    const shop = await signedIn(it)
    const charge = await given.scheduledCharge(shop)
    await advanceTo(shop, `${given.inDays(4)} 22:30:00`)
    const page = await openPanel(shop, `/panel/scheduled-payments/${charge.instructionId}`)
    await page.getByText(/The time to cancel ended on/).waitFor()
    expect(await page.getByRole('button', { name: 'Cancel this charge' }).count()).toBe(0)
  })

  test('the simulator rejects with a code, retries and collects', async () => {
    const shop = await signedIn(it)
    const charge = await given.scheduledCharge(shop, withRetries)
    const page = await openPanel(shop, `/panel/scheduled-payments/${charge.instructionId}`)
    await page.getByLabel('Reason code').selectOption('AM02')
    await page.getByRole('button', { name: 'Reject with the code' }).click()
    await page.getByText("AM02 · Above the payer's maximum").waitFor()
    await page.getByText('Tried again on').waitFor()
    await page.getByRole('button', { name: 'Try again now' }).click()
    await badge(page, 'Scheduled').waitFor()
    await page.getByRole('button', { name: 'Collect' }).click()
    await badge(page, 'Paid').waitFor()
    expect(await page.getByRole('heading', { name: 'Simulator' }).count()).toBe(0)
  })
})

/** One of everything, and the pages that show it. */
async function everyPage(shop: SignedIn): Promise<string[]> {
  const waiting = await given.mandate(shop, variable)
  const charge = await given.chargeIn(shop, 'RETRYING')
  return [
    'plans',
    'plans/new',
    `plans/${waiting.planId}`,
    'mandates',
    'mandates/new',
    `mandates/${waiting.idRec}`,
    `mandates/${charge.mandate.idRec}`,
    'scheduled-payments',
    `scheduled-payments/${charge.instructionId}`,
  ].map((path) => `/panel/${path}`)
}

describe('the pages of recurrences', () => {
  test('fit a phone, are accessible in light and dark, and speak Portuguese', async () => {
    const shop = await signedIn(it)
    const paths = await everyPage(shop)
    const page = await openPanel(shop, '/panel/plans', { width: 360, locale: 'pt-BR' })
    for (const path of paths) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('ao vivo', { exact: true }).waitFor()
      await untilLoaded(page)
      await expectFits(page)
      await expectAccessibleInBoth(page)
    }
  })

  test('each page below a list leads back to it, also when the thing is not there', async () => {
    const shop = await signedIn(it)
    const nothing = '00000000-0000-4000-8000-000000000000'
    const lists = {
      plans: 'All plans',
      mandates: 'All mandates',
      'scheduled-payments': 'All scheduled payments',
      sales: 'All sales',
      payouts: 'All payouts',
    }
    const below = (await everyPage(shop)).filter((path) => path.split('/').length === 4)
    const others = ['sales/new', 'payouts/new', ...Object.keys(lists).map((list) => `${list}/${nothing}`)]
    const page = await openPanel(shop, '/panel/plans', { refusals: [/^404 /] })
    for (const path of [...below, ...others.map((other) => `/panel/${other}`)]) {
      const list = path.split('/')[2] as keyof typeof lists
      await page.goto(path)
      await page.getByRole('main').getByRole('link', { name: lists[list], exact: true }).click()
      await expect.poll(() => new URL(page.url()).pathname).toBe(`/panel/${list}`)
    }
  })

  test("another account's things are not found", async () => {
    const [one, two] = [await signedIn(it), await signedIn(it)]
    const paths = (await everyPage(one)).filter((path) => /\/[^/]{20,}$/.test(path))
    expect(paths).toHaveLength(4)
    const page = await openPanel(two, '/panel/plans', { refusals: [/^404 /] })
    for (const path of paths) {
      await page.goto(path)
      await page.getByText('We did not find what you are looking for.').waitFor()
    }
  })
})

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PASSWORD, signedIn } from '../harness/pages.ts'
import { OPERATOR_TOKEN, testService } from '../harness/test-service.ts'
import { testBrowser } from './browser.ts'

const it = testService()
const browser = testBrowser(it)

/** Everything that a page holds, and every address that it asked for. */
async function traceOf(page: Page, asked: readonly string[]): Promise<string> {
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.referrer, history.state])',
  )
  return [await page.content(), kept, ...asked].join('\n')
}

test('no face holds a secret: not in the page, not in storage, not in an address', async () => {
  const shop = await signedIn(it)
  const sale = await it.given.paidSale(shop)
  const page = await browser.open('/', { locale: 'en-US' })
  const asked: string[] = []
  const answers: Promise<string>[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.on('response', (response) => {
    const type = response.headers()['content-type'] ?? ''
    if (/html|javascript|css|json/.test(type)) answers.push(response.text().catch(() => ''))
  })
  await page.goto('/panel')
  await page.getByLabel('E-mail').fill(shop.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goto('/operator')
  await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  const panelPage = (name: string) => `/panel/${name}`
  const places = [
    '/',
    '/register',
    '/panel',
    '/panel/sales',
    `/panel/sales/${sale.uuid}`,
    ...['plans', 'plans/new', 'mandates', 'mandates/new', 'scheduled-payments', 'money', 'payouts', 'payouts/new'].map(
      panelPage,
    ),
    ...['recipients', 'notifications', 'credentials', 'settings'].map(panelPage),
    `/pay/${sale.txid}`,
    '/phone',
    '/operator',
    `/operator/accounts/${shop.id}`,
    '/operator/payments',
    '/operator/conflicts',
    '/operator/queues',
    '/operator/audit',
  ]
  const traces: string[] = []
  for (const place of places) {
    await page.goto(place)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    traces.push(await traceOf(page, asked))
  }
  const cookies = await page.context().cookies()
  expect(cookies.map(({ name }) => name)).toEqual(expect.arrayContaining(['quitado-operator', 'quitado-panel']))
  for (const { httpOnly, sameSite } of cookies) expect([httpOnly, sameSite]).toEqual([true, 'Strict'])
  const secrets = {
    'the api token': shop.apiToken,
    'the webhook secret': shop.webhookSecret,
    'the operator token': OPERATOR_TOKEN,
    'the password': PASSWORD,
    ...Object.fromEntries(cookies.map(({ name, value }) => [`the session ${name}`, value])),
  }
  const seen = [...traces, ...(await Promise.all(answers))].join('\n')
  expect(Object.entries(secrets).flatMap(([name, secret]) => (seen.includes(secret) ? [name] : []))).toEqual([])
  // The trace does see what a page shows.
  expect(seen).toContain(sale.uuid)
})

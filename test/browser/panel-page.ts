import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { PASSWORD, type SignedIn } from '../harness/pages.ts'
import type { OpenOptions, TestBrowser } from './browser.ts'

type OpenPanel = (shop: Pick<SignedIn, 'email'>, path?: string, options?: OpenOptions) => Promise<Page>

/** Signs in as a person does, in English unless told otherwise, and waits until the page is live. */
export const panelPages =
  (browser: TestBrowser): OpenPanel =>
  async (shop, path = '/panel', options = {}) => {
    const page = await browser.open(path, { locale: 'en-US', ...options })
    await page.getByLabel('E-mail').fill(shop.email)
    await page.getByLabel(/^(Password|Senha)/).fill(PASSWORD)
    await page.getByRole('button', { name: /^(Sign in|Entrar)$/ }).click()
    await page.getByText(/^(live|ao vivo)$/).waitFor()
    return page
  }

/** What the page itself could ask: through its session, from its own place. */
export const askAsPage = (page: Page, method: string, path: string, body: unknown): Promise<number> =>
  page.evaluate(
    `fetch(${JSON.stringify(path)}, {
      method: ${JSON.stringify(method)},
      headers: { 'content-type': 'application/json', 'x-quitado-page': '1' },
      body: ${JSON.stringify(JSON.stringify(body))},
    }).then((answer) => answer.status)`,
  )

export const card = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true })

/** No secret where scripts or the next person at the machine could find it. */
export async function expectNothingKept(page: Page): Promise<void> {
  expect(await page.evaluate('document.cookie')).toBe('')
  expect(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })')).toEqual([])
}

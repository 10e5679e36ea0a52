import type { Page } from 'playwright-core'
import { PASSWORD, type SignedIn } from '../harness/pages.ts'
import type { OpenOptions, TestBrowser } from './browser.ts'

/** A page of the panel, in English unless another language is asked for, opened by somebody who signs in there. */
export async function openPanel(
  browser: TestBrowser,
  shop: Pick<SignedIn, 'email'>,
  path: string,
  options: OpenOptions = {},
): Promise<Page> {
  const page = await browser.open(path, { locale: 'en-US', ...options })
  await page.locator('input[name="email"]').fill(shop.email)
  await page.locator('input[name="password"]').fill(PASSWORD)
  await page.keyboard.press('Enter')
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

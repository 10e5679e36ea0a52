import type { Page } from 'playwright-core'
import { PASSWORD, type SignedIn } from '../harness/pages.ts'
import type { OpenOptions, TestBrowser } from './browser.ts'

export type OpenPanel = (shop: SignedIn, path?: string, options?: OpenOptions) => Promise<Page>

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

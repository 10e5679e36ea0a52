import { expect, test } from 'vitest'
import { testService } from '../harness/test-service.ts'
import { testBrowser } from './browser.ts'

const it = testService()
const browser = testBrowser(it)

test('a developer reads the reference, which offers nothing of another company, and sends a request from it', async () => {
  const page = await browser.open('/docs/', { locale: 'en-US', refusals: [/^403 /] })
  await page.getByRole('heading', { name: 'API 1.1' }).waitFor()
  expect(await page.title()).toBe('Quitado API')
  for (const offer of ['Ask AI', 'Generate MCP', 'Deploy', 'Share'])
    expect(await page.getByText(offer, { exact: true }).count()).toBe(0)
  await page
    .getByRole('button', { name: /^Test Request/ })
    .first()
    .click()
  const answer = page.waitForResponse((response) => response.url().includes('/v1.1/'))
  await page.getByRole('button', { name: /^Send/ }).first().click()
  expect((await answer).status()).toBe(403)
})

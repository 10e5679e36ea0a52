import { describe, expect, test } from 'vitest'
import { testService } from '../harness/test-service.ts'
import { expectAccessibleInBoth, expectFits, testBrowser } from './browser.ts'

const it = testService()
const browser = testBrowser(it)

describe('the first page', () => {
  test('speaks the language of the browser until another is chosen, which is kept', async () => {
    const page = await browser.open('/', { locale: 'pt-BR' })
    await page.getByRole('heading', { name: 'Cobranças PIX, quitadas.' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('pt-BR')
    await page.getByRole('button', { name: 'EN' }).click()
    await page.getByRole('heading', { name: 'PIX charges, paid in full.' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    await page.reload()
    await page.getByRole('heading', { name: 'PIX charges, paid in full.' }).waitFor()
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual(['quitado-language'])
  })

  test('is readable at 360 px, accessible in light and dark, and can be walked by keyboard', async () => {
    const page = await browser.open('/', { locale: 'en-US', width: 360 })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectFits(page)
    await expectAccessibleInBoth(page)
    await page.keyboard.press('Tab')
    const focused = page.locator(':focus')
    expect(await focused.textContent()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.locator(':focus').getAttribute('id')).toBe('content')
  })

  test('nothing moves for those who ask for less motion', async () => {
    const page = await browser.open('/', { locale: 'en-US' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    // Whatever a rule sets in motion, by the rule's own class, with how it looks on an element of that class.
    const moving = () =>
      page.evaluate<[string, string, string][]>(`[...document.styleSheets].flatMap(({ cssRules }) => [...cssRules])
        .filter(({ style }) => style?.transitionDuration || style?.animationName)
        .map(({ selectorText }) => {
          const element = document.createElement('span')
          element.className = selectorText.replaceAll('.', ' ')
          document.body.append(element)
          const { transitionDuration, animationName } = getComputedStyle(element)
          element.remove()
          return [selectorText, transitionDuration, animationName]
        })`)
    expect(await moving()).toEqual([
      ['.button', '0.12s, 0.12s', 'none'],
      ['.spinner', '0s', 'turn'],
    ])
    await page.emulateMedia({ reducedMotion: 'reduce' })
    for (const [, duration, animation] of await moving()) expect([duration, animation]).toEqual(['0s', 'none'])
  })

  test.each(['/panel', '/panel/sales/1', '/register', '/phone', '/operator', '/pay/x'])('%s loads', async (path) => {
    const page = await browser.open(path, { refusals: [/^40[134] /] })
    await page.getByRole('heading', { level: 1 }).waitFor()
  })
})

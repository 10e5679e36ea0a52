import type { AddressInfo } from 'node:net'
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { PATIENCE_MS } from '../harness/patience.ts'
import type { TestService } from '../harness/test-service.ts'
import { launchBrowser } from './launch.ts'

export type OpenOptions = {
  readonly locale?: 'pt-BR' | 'en-US'
  readonly width?: number
  readonly dark?: boolean
  /** Answers that a test expects to be refused, as `404 /panel/api/…`; a browser writes them to its console. */
  readonly refusals?: readonly RegExp[]
}

export type TestBrowser = {
  /** A page of a person of its own: no cookies, no storage. */
  open(path: string, options?: OpenOptions): Promise<Page>
  /** One more page of the same person. */
  beside(page: Page, path: string): Promise<Page>
}

const TICK_MS = 50

/** One for all test files of a process, with which it ends. */
let browser: Promise<Browser> | undefined

/**
 * A browser for a test file; time passes in the service as it does in the browser. Whatever a page complains of (console,
 * policy, exceptions) fails the test.
 */
export function testBrowser(it: TestService): TestBrowser {
  let contexts: BrowserContext[] = []
  let complaints: string[] = []
  let ticking: NodeJS.Timeout
  beforeAll(async () => {
    ticking = setInterval(() => it.clock.advance(TICK_MS), TICK_MS)
    browser ??= launchBrowser()
    await browser
  })
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()))
    const heard = complaints
    contexts = []
    complaints = []
    expect(heard).toEqual([])
  })
  afterAll(() => clearInterval(ticking))

  const address = () => `http://127.0.0.1:${(it.service.app.server.address() as AddressInfo).port}`
  return {
    async open(path, { locale = 'pt-BR', width = 1280, dark = false, refusals = [] } = {}) {
      const context = await (await browser!).newContext({
        locale,
        baseURL: address(),
        viewport: { width, height: 900 },
        colorScheme: dark ? 'dark' : 'light',
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      context.setDefaultTimeout(PATIENCE_MS)
      contexts.push(context)
      context.on('page', (page) => watch(page, refusals, (complaint) => complaints.push(complaint)))
      const page = await context.newPage()
      await page.goto(path)
      return page
    },
    async beside(page, path) {
      const another = await page.context().newPage()
      await another.goto(path)
      return another
    },
  }
}

function watch(page: Page, refusals: readonly RegExp[], complain: (complaint: string) => void): void {
  page.on('pageerror', (error) => complain(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    const text = `${message.text()} ${message.location().url}`
    const status = /status of (\d+)/.exec(text)?.[1]
    const refused = status && `${status} ${new URL(message.location().url).pathname}`
    if (refused && refusals.some((expected) => expected.test(refused))) return
    complain(`console: ${text}`)
  })
}

type Violation = {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string }[]
}

/** What is seriously in the way of people who use a keyboard, a reader or their eyes in the sun. */
export function expectAccessible(page: Page): Promise<void> {
  return expectNothingSerious(page, {})
}

async function expectNothingSerious(page: Page, options: axe.RunOptions): Promise<void> {
  // Only what is wrong is told in full: to describe what is right takes longer than to find it.
  const asked = JSON.stringify({ resultTypes: ['violations'], selectors: false, ...options })
  const violations = await page.evaluate<Violation[]>(
    `(async () => {
      ${axe.source}
      // A colour on its way to another is neither of them.
      const moving = document.getAnimations().filter((one) => one instanceof CSSTransition)
      await Promise.allSettled(moving.map(({ finished }) => finished))
      return (await axe.run(document, ${asked})).violations
    })()`,
  )
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  expect(serious).toEqual([])
}

/**
 * In light and dark. Only colours tell the two apart (no script asks which it is), so only their contrast is looked at
 * twice.
 */
export async function expectAccessibleInBoth(page: Page): Promise<void> {
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectNothingSerious(page, { runOnly: ['color-contrast'] })
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Until everything that the page asked for is there; it may wait for several things at once. */
export async function untilLoaded(page: Page): Promise<void> {
  await expect.poll(() => page.locator('.spinner').count()).toBe(0)
}

/** Nothing sticks out to the side: a phone scrolls down only. */
export async function expectFits(page: Page): Promise<void> {
  const [wanted, had] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )
  expect(wanted).toBeLessThanOrEqual(had)
}

import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { loadSales } from '../../bench/growth-data.ts'
import { launchBrowser } from '../browser/launch.ts'
import { type RunningService, startService } from '../harness/running-service.ts'
import { printTable } from './table.ts'

const PORT = 18_484
const RUNS = 5
const USABLE_MS_MAX = 1_000
const FIRST_LOAD_BYTES_MAX = 300 * 1024

type Visit = {
  readonly name: string
  readonly path: string
  /** There when a person can read the page and go on from it. */
  readonly usable: (page: Page) => Promise<unknown>
}
type Seen = { readonly ms: number; readonly bytes: number }
type Cookies = Parameters<BrowserContext['addCookies']>[0]

/**
 * The panel of an account with a million sales, in a real browser that has nothing kept: every page is usable within a
 * second, and the first load is below 300 KB, compressed.
 */
export async function provePanel(count: number): Promise<boolean> {
  const service = await startService({ port: PORT })
  let browser: Browser | undefined
  try {
    const { apiKey, cookies } = await register(service)
    const socket = join(service.folder, 'postgres-socket')
    await loadSales(socket, [apiKey], count, (step) => console.log(`  ${step}`))
    browser = await launchBrowser()
    const visits = await visitsOf(browser, cookies, count)
    // The service and the browser have their first time behind them.
    for (const visit of visits) await look(browser, cookies, visit)
    const rows = []
    for (const visit of visits) rows.push(await measure(browser, cookies, visit))
    printTable(`The panel with ${count} sales: ${RUNS} visits each, nothing kept from the one before`, rows)
    // Seconds say little of a machine that has other work.
    console.log(`  load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores`)
    return rows.every(({ holds }) => holds === 'yes')
  } finally {
    await browser?.close()
    await service.stop()
  }
}

/** As the page does it: an account, its credentials, and a session in a cookie. */
async function register({ port }: RunningService): Promise<{ apiKey: string; cookies: Cookies }> {
  const answer = await fetch(`http://127.0.0.1:${port}/register/api`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-quitado-page': '1' },
    body: JSON.stringify({ name: 'Loja de um milhão', email: 'milhao@example.com', password: 'a long password' }),
  })
  if (answer.status !== 201) throw new Error(`registration: ${answer.status} ${await answer.text()}`)
  const { credentials } = (await answer.json()) as { credentials: { apiKey: string } }
  const [pair] = answer.headers.getSetCookie()[0]!.split(';')
  const [name, value] = pair!.split('=') as [string, string]
  return { apiKey: credentials.apiKey, cookies: [{ name, value, url: `http://127.0.0.1:${port}` }] }
}

type Sale = { readonly uuid: string; readonly referenceCode: string; readonly endToEnd: string | null }
type Sales = { readonly totalPages: number; readonly result: readonly Sale[] }

async function visitsOf(browser: Browser, cookies: Cookies, count: number): Promise<Visit[]> {
  const context = await openContext(browser, cookies)
  const ask = async (query: string): Promise<Sales> =>
    (await (
      await context.request.get(`/panel/api/sales?${query}`, { headers: { 'x-quitado-page': '1' } })
    ).json()) as Sales
  const [all, paid] = [await ask(''), await ask('situation=PAID')]
  const middle = (await ask(`situation=PAID&page=${Math.ceil(paid.totalPages / 2)}`)).result[0]!
  await context.close()
  const rows = (page: Page) => page.locator('tbody tr').first().waitFor()
  const link = (name: string) => (page: Page) => page.getByRole('link', { name, exact: true }).waitFor()
  const pageOf = (page: number) => async (at: Page) => {
    await at
      .getByText(`Page ${page.toLocaleString('en')} of`)
      .or(at.getByText(`Page ${page} of`))
      .waitFor()
    await rows(at)
  }
  const one = `order-${Math.ceil(count / 3)}`
  return [
    { name: 'overview', path: '', usable: (page) => page.locator('.chart canvas').first().waitFor() },
    { name: 'sales', path: '/sales', usable: rows },
    { name: 'sales, last page', path: `/sales?page=${all.totalPages}`, usable: pageOf(all.totalPages) },
    {
      name: 'sales, last page of the paid',
      path: `/sales?situation=PAID&page=${paid.totalPages}`,
      usable: pageOf(paid.totalPages),
    },
    { name: 'search by reference', path: `/sales?search=${one}`, usable: link(one) },
    {
      name: 'search by end-to-end id',
      path: `/sales?search=${middle.endToEnd}`,
      usable: link(middle.referenceCode),
    },
    {
      name: 'a sale',
      path: `/sales/${middle.uuid}`,
      usable: (page) => page.locator('.time-line > li').first().waitFor(),
    },
  ]
}

async function openContext(browser: Browser, cookies: Cookies): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-US', baseURL: `http://127.0.0.1:${PORT}` })
  await context.addCookies(cookies)
  return context
}

/** One visit of a browser that was never here. */
async function look(browser: Browser, cookies: Cookies, { path, usable }: Visit): Promise<Seen> {
  const context = await openContext(browser, cookies)
  try {
    const page = await context.newPage()
    const sizes: Promise<number>[] = []
    // The live stream has no end, and so no size.
    page.on('requestfinished', (request) => {
      const size = request.sizes().then(
        ({ responseBodySize }) => responseBodySize,
        () => 0,
      )
      sizes.push(size)
    })
    const began = performance.now()
    await page.goto(`/panel${path}`, { waitUntil: 'commit' })
    await usable(page)
    const ms = performance.now() - began
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    return { ms, bytes }
  } finally {
    await context.close()
  }
}

async function measure(browser: Browser, cookies: Cookies, visit: Visit) {
  const seen: Seen[] = []
  for (let run = 0; run < RUNS; run += 1) seen.push(await look(browser, cookies, visit))
  const times = seen.map(({ ms }) => ms).sort((a, b) => a - b)
  const median = times[Math.floor(RUNS / 2)]!
  const bytes = Math.max(...seen.map((one) => one.bytes))
  const seconds = (ms: number) => (ms / 1000).toFixed(2)
  return {
    page: visit.name,
    'median s': seconds(median),
    'slowest s': seconds(times.at(-1)!),
    'first load KB': (bytes / 1024).toFixed(0),
    holds: median <= USABLE_MS_MAX && bytes <= FIRST_LOAD_BYTES_MAX ? 'yes' : 'NO',
  }
}

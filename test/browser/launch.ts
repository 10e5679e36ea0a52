import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'

const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
const installed = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** A real browser on any machine: BROWSER_PATH, one that is installed, or the one that came with the packages. */
export async function launchBrowser(): Promise<Browser> {
  const named = process.env['BROWSER_PATH']
  const executablePath = [named, ...installed].find((path) => path !== undefined && existsSync(path))
  if (executablePath !== undefined) return chromium.launch({ executablePath, args })
  if (process.platform !== 'linux' || process.arch !== 'x64') return chromium.launch({ channel: 'chrome', args })
  return launchPacked()
}

/**
 * The packed one is made for another place, so: its arguments are left aside (they stop the browser when a context is
 * closed), it is unpacked beside its version and not where anybody's may lie, with its libraries and its own fonts.
 */
async function launchPacked(): Promise<Browser> {
  const pack = resolve(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..')
  const { version } = JSON.parse(readFileSync(join(pack, 'package.json'), 'utf8')) as { version: string }
  const folder = resolve('node_modules/.cache/chromium', version)
  if (!existsSync(folder)) await unpack(pack, folder)
  const libraries = [join(folder, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':')
  const settings = { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  const env = { ...process.env, ...settings } as Record<string, string>
  return chromium.launch({ executablePath: join(folder, 'chromium'), args, env })
}

/** Aside and then moved: two test files may want it first at the same moment, and neither may see half of it. */
async function unpack(pack: string, folder: string): Promise<void> {
  const aside = `${folder}.${process.pid}`
  mkdirSync(aside, { recursive: true })
  const before = process.env['TMPDIR']
  // It unpacks into the folder for temporary files, wherever that is just then.
  process.env['TMPDIR'] = aside
  try {
    const { default: packed, inflate } = await import('@sparticuz/chromium')
    await packed.executablePath()
    await inflate(join(pack, 'bin', 'al2023.tar.br'))
    writeFileSync(join(aside, 'fonts.conf'), fontSettings(folder))
    renameSync(aside, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    rmSync(aside, { recursive: true, force: true })
  }
}

/** Without a font every text has no size, and what has no size counts as hidden. */
function fontSettings(folder: string): string {
  const dirs = [join(folder, 'fonts'), '/usr/share/fonts'].map((dir) => `<dir>${dir}</dir>`).join('')
  const cache = `<cachedir>${join(folder, 'fonts-cache')}</cachedir>`
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${dirs}${cache}</fontconfig>`
}

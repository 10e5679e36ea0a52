import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pagesFolder } from '../api/pages-folder.ts'
import { BUILT_FROM, sourcesHash } from './pages-sources.ts'

const run = promisify(execFile)
const BUILD_MS_MAX = 120_000
const builder = fileURLToPath(new URL('./build-pages.ts', import.meta.url))
const runBuilder = () => run(process.execPath, [builder], { timeout: BUILD_MS_MAX })

/**
 * Builds the pages when their sources have changed since. A service without pages still collects payments, so trouble
 * here is one line and no more.
 */
export async function preparePages(
  say: (sentence: string) => void,
  { hash = sourcesHash, build = runBuilder }: { hash?: () => string; build?: () => Promise<unknown> } = {},
): Promise<void> {
  try {
    if (builtFrom() === hash()) return
    say('Building the pages')
    await build()
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    const rest = existsSync(join(pagesFolder, 'index.html')) ? 'those of the last build are served' : 'there are none'
    say(`The pages could not be built, ${rest}: ${stderr?.trim() || message}`)
  }
}

function builtFrom(): string | undefined {
  try {
    return readFileSync(join(pagesFolder, BUILT_FROM), 'utf8')
  } catch {
    return undefined
  }
}

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
export const panelFolder = join(root, 'panel')

/** Beside the built pages: what they were built from. */
export const BUILT_FROM = 'built-from'

/** Of everything that the pages are made of; the lock file stands for the packages. */
export function sourcesHash(): string {
  const hash = createHash('sha256')
  const sources = globSync(['panel/src/**/*.{ts,tsx,css,svg}', 'panel/index.html', 'panel/vite.config.ts'], {
    cwd: root,
  })
  for (const path of ['package-lock.json', ...sources.filter((path) => !path.endsWith('.test.ts')).sort()])
    hash.update(`${path}\n`).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}

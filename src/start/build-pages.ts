import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { pagesFolder } from '../api/pages-folder.ts'
import { BUILT_FROM, panelFolder, sourcesHash } from './pages-sources.ts'

/**
 * `npm run build`, and what the supervisor runs when the sources are newer than the pages. A process of its own: the
 * bundler's memory goes with it.
 */
const COMPRESSIBLE = /\.(js|css|svg|json)$/
const SMALLEST_COMPRESSED = 512

async function buildPages(): Promise<void> {
  const hash = sourcesHash()
  const fresh = join(panelFolder, `dist.${process.pid}`)
  const stale = `${fresh}.old`
  try {
    await build({
      configFile: join(panelFolder, 'vite.config.ts'),
      configLoader: 'native',
      build: { outDir: fresh, emptyOutDir: true },
    })
    for (const name of globSync('**/*.*', { cwd: fresh })) if (COMPRESSIBLE.test(name)) compress(join(fresh, name))
    writeFileSync(join(fresh, BUILT_FROM), hash)
    // Whole or not at all: whoever reads meanwhile sees the old folder or the new one.
    mkdirSync(pagesFolder, { recursive: true })
    renameSync(pagesFolder, stale)
    renameSync(fresh, pagesFolder)
  } finally {
    for (const left of [fresh, stale]) rmSync(left, { recursive: true, force: true })
  }
}

function compress(path: string): void {
  if (statSync(path).size < SMALLEST_COMPRESSED) return
  const bytes = readFileSync(path)
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}

buildPages().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { layers, moduleMayImport } from './arrows.ts'

/** A TypeScript file and what it imports by a relative path, both from the root of `src`. */
export type SourceFile = { readonly path: string; readonly imports: readonly string[] }

export function readSources(src: string): SourceFile[] {
  return globSync('**/*.{ts,tsx}', { cwd: src })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => ({ path, imports: importsOf(path, readFileSync(join(src, path), 'utf8')) }))
}

export function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, target]) =>
    relative('.', join(dirname(path), target!)),
  )
}

/** One sentence for each import that points the wrong way. */
export function wrongImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.map((target) => wrongImport(path, target)).filter((wrong) => wrong !== undefined),
  )
}

function wrongImport(path: string, target: string): string | undefined {
  const [from, to] = [layerOf(path), layerOf(target)]
  if (from === undefined || to === undefined)
    return `${path} → ${target}: a folder that scripts/arrows.ts does not know`
  if (to < from) return `${path} → ${target}: imports point down`
  const [fromModule, toModule] = [moduleOf(path), moduleOf(target)]
  if (toModule === undefined || fromModule === toModule) return undefined
  if (target !== `modules/${toModule}/index.ts`) return `${path} → ${target}: modules meet at index.ts only`
  if (fromModule !== undefined && !moduleMayImport[fromModule]?.includes(toModule))
    return `${path} → ${target}: ${fromModule} may import ${moduleMayImport[fromModule]?.join(', ') || 'no module'}`
  return undefined
}

function layerOf(path: string): number | undefined {
  const top = path.split('/')[0]!
  const layer = layers.findIndex((names) => (names as readonly string[]).includes(top))
  return layer < 0 ? undefined : layer
}

const moduleOf = (path: string): string | undefined => /^modules\/([^/]+)\//.exec(path)?.[1]

/** Of the pages: faces use the kit, at its index.ts, and know nothing of each other; the kit knows no face. */
export function wrongPanelImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.map((target) => wrongPanelImport(path, target)).filter((wrong) => wrong !== undefined),
  )
}

function wrongPanelImport(path: string, target: string): string | undefined {
  const [fromFace, toFace] = [faceOf(path), faceOf(target)]
  if (target.startsWith('..')) return `${path} → ${target}: the pages import nothing of the service`
  if (path.startsWith('kit/') && !target.startsWith('kit/')) return `${path} → ${target}: the kit knows itself only`
  if (fromFace === undefined || fromFace === toFace) return undefined
  return target === 'kit/index.ts' ? undefined : `${path} → ${target}: a face imports itself and kit/index.ts`
}

const faceOf = (path: string): string | undefined => /^faces\/([^/]+)\//.exec(path)?.[1]

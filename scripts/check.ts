import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readSources, wrongImports, wrongPanelImports } from './imports.ts'
import { untidy } from './tidy.ts'

/** Everything that can be said of the code without running it: format, lint, types, import directions, dead code. */
const root = resolve(import.meta.dirname, '..')

function tool(name: string, args: readonly string[]): boolean {
  const { status } = spawnSync(join(root, 'node_modules', '.bin', name), args, { cwd: root, stdio: 'inherit' })
  return status === 0
}

function report(problems: readonly string[]): boolean {
  for (const problem of problems) console.error(problem)
  return problems.length === 0
}

function isTidy(): boolean {
  const paths = globSync('{src,panel/src}/**/*.{ts,tsx}', { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
  return report(paths.flatMap((path) => untidy(path, readFileSync(join(root, path), 'utf8'))))
}

const wrongDirections = (): string[] => [
  ...wrongImports(readSources(join(root, 'src'))),
  ...wrongPanelImports(readSources(join(root, 'panel/src'))),
]

const checks: readonly (readonly [string, () => boolean])[] = [
  ['format and lint', () => tool('biome', ['ci', '--error-on-warnings'])],
  ['types', () => tool('tsc', ['-p', '.'])],
  ['types of the pages', () => tool('tsc', ['-p', 'panel'])],
  ['import directions', () => report(wrongDirections())],
  ['tidiness', isTidy],
  ['dead code', () => tool('knip', ['--no-progress'])],
]

let failed = 0
for (const [name, holds] of checks) {
  const began = performance.now()
  const held = holds()
  if (!held) failed += 1
  console.log(`${held ? 'ok  ' : 'FAIL'} ${name} (${Math.round(performance.now() - began)} ms)`)
}
process.exitCode = failed === 0 ? 0 : 1

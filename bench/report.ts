import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printTable } from '../test/prove/table.ts'

export type BenchRow = Readonly<Record<string, string | number>>

/** On the screen as a table, and as JSON under bench/results. */
export function report(name: string, rows: readonly BenchRow[]): void {
  printTable(`bench ${name}`, rows)
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(rows, null, 2)}\n`)
}

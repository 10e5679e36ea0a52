import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { printTable } from '../test/prove/table.ts'
import { type Chart, drawChart } from './chart.ts'
import { round } from './load.ts'
import { median } from './times.ts'

export type BenchRow = Readonly<Record<string, string | number>>
export type BenchReport = {
  readonly rows: readonly BenchRow[]
  /** What the rows were made from, for the file alone. */
  readonly samples?: readonly BenchRow[]
  readonly chart?: Chart
}

const COLUMNS_MAX = 12

/** On the screen as a table, and under bench/results as JSON and, where there is one, as a chart. */
export function report(name: string, { rows, samples, chart }: BenchReport): void {
  printTable(`bench ${name}`, Object.keys(rows[0] ?? {}).length > COLUMNS_MAX ? turned(rows) : rows)
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  const kept = { bench: name, at: new Date().toISOString(), machine: machine(), rows, ...(samples && { samples }) }
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(kept, null, 2)}\n`)
  if (chart) writeFileSync(join(folder, `${name}.svg`), drawChart(chart))
}

const machine = () => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryGb: round(totalmem() / 2 ** 30, 1),
  node: process.version,
})

/** A line a figure, a column a row: a row of thirty figures fits no screen. */
function turned(rows: readonly BenchRow[]): BenchRow[] {
  return Object.keys(rows[0]!).map((figure) => ({
    figure,
    ...Object.fromEntries(rows.map((row, index) => [`row ${index + 1}`, row[figure] ?? ''])),
  }))
}

/** After several runs: the median of every figure, and how far its runs lie apart, as a share of it. */
export function withSpread(rows: readonly BenchRow[], by?: string): BenchRow[] {
  const groups = Map.groupBy(rows, (row) => (by === undefined ? '' : row[by]!))
  const summaries = [...groups].flatMap(([group, runs]) => {
    if (runs.length < 2) return []
    const of = (name: string) => runs.map((run) => run[name])
    const figures = Object.keys(runs[0]!).filter((name) => of(name).every((value) => typeof value === 'number'))
    const row = (title: string, value: (values: number[]) => string | number) => ({
      ...Object.fromEntries(Object.keys(runs[0]!).map((name) => [name, ''])),
      ...Object.fromEntries(figures.map((name) => [name, value(of(name) as number[])])),
      run: title,
      ...(by === undefined ? {} : { [by]: group }),
    })
    return [row('median', (values) => round(median(values), 3)), row('spread', spread)]
  })
  return [...rows, ...summaries]
}

function spread(values: readonly number[]): string {
  const middle = median(values)
  const width = Math.max(...values) - Math.min(...values)
  return middle === 0 ? String(width) : `${round((width / middle) * 100, 1)} %`
}

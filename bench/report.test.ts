import { expect, test } from 'vitest'
import { drawChart } from './chart.ts'
import { withSpread } from './report.ts'

test('one run has no spread', () => {
  const rows = [{ run: 1, perSecond: 100 }]
  expect(withSpread(rows)).toEqual(rows)
})

test('several runs end with their median and how far they lie apart', () => {
  const rows = [90, 110, 100].map((perSecond, index) => ({ run: index + 1, perSecond, answers: 'all 200' }))
  expect(withSpread(rows).slice(3)).toEqual([
    { run: 'median', perSecond: 100, answers: '' },
    { run: 'spread', perSecond: '20 %', answers: '' },
  ])
})

test('runs of different things are not mixed', () => {
  const rows = [1, 2].flatMap((run) => [1, 2].map((processes) => ({ run, processes, perSecond: processes * 100 })))
  expect(withSpread(rows, 'processes').slice(4)).toEqual([
    { run: 'median', processes: 1, perSecond: 100 },
    { run: 'spread', processes: 1, perSecond: '0 %' },
    { run: 'median', processes: 2, perSecond: 200 },
    { run: 'spread', processes: 2, perSecond: '0 %' },
  ])
})

test('a chart has a bar a value, the longest at full length, and words that are text', () => {
  const bars = [
    { label: 'ours & <theirs>', value: 50 },
    { label: 'the machine', value: 100, baseline: true },
  ]
  const drawn = drawChart({ kind: 'bars', title: 'Rates', note: 'a second', bars })
  expect([...drawn.matchAll(/width="([\d.]+)" height="20"/g)].map((found) => Number(found[1]))).toEqual([190, 380])
  expect(drawn).toContain('ours &amp; &lt;theirs>')
})

test('a line over powers of ten has its points at even distances', () => {
  const points = [1e4, 1e5, 1e6].map((sales) => [sales, 3_800] as const)
  const drawn = drawChart({ kind: 'line', title: '', note: '', xTitle: '', yTitle: '', logarithmic: true, points })
  const [a, b, c] = [...drawn.matchAll(/<circle cx="([\d.]+)"/g)].map((found) => Number(found[1])) as [
    number,
    number,
    number,
  ]
  expect(b - a).toBeCloseTo(c - b, 5)
})

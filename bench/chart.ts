export type Bars = {
  readonly kind: 'bars'
  readonly title: string
  /** One line on what was measured and how. */
  readonly note: string
  readonly bars: readonly { readonly label: string; readonly value: number; readonly baseline?: boolean }[]
}

export type Line = {
  readonly kind: 'line'
  readonly title: string
  readonly note: string
  readonly xTitle: string
  readonly yTitle: string
  /** Powers of ten at even distances. */
  readonly logarithmic?: boolean
  readonly points: readonly (readonly [x: number, y: number])[]
}

export type Chart = Bars | Line

const WIDTH = 720
const LEFT = 40
const TOP = 84
const LABELLED_MAX = 12
/** Room for the label of the first point beside those of the axis. */
const INSET = 36
const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1b1f24 }
  .title { font-size: 17px; font-weight: 600 }
  .soft { font-size: 12px; fill: #5d6670 }
  .paper { fill: #ffffff } .main { fill: #0a7f5a } .other { fill: #aab3bd }
  .rule { stroke: #dfe3e8 }
  .line { fill: none; stroke: #0a7f5a; stroke-width: 2; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #e8ebee }
    .soft { fill: #9aa4af }
    .paper { fill: #14181d } .main { fill: #37c493 } .other { fill: #5b6672 }
    .rule { stroke: #2c343d }
    .line { stroke: #37c493 }
  }`

/** A picture that needs nothing beside it and follows the light or dark of whoever looks at it. */
export function drawChart(chart: Chart): string {
  const { height, body } = chart.kind === 'bars' ? drawBars(chart) : drawLine(chart)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${escaped(chart.title)}</title>
<style>${STYLE}
</style>
<rect width="${WIDTH}" height="${height}" class="paper"/>
${text(LEFT, 36, chart.title, 'title')}
${text(LEFT, 58, chart.note, 'soft')}
${body.join('\n')}
</svg>
`
}

function drawBars({ bars }: Bars): { height: number; body: string[] } {
  const [step, thick, from, space] = [34, 20, 240, 380]
  const most = Math.max(...bars.map(({ value }) => value), 1)
  const body = bars.flatMap(({ label, value, baseline }, index) => {
    const y = TOP + index * step
    const width = place((value / most) * space)
    return [
      text(from - 12, y + 15, label, '', 'end'),
      `<rect x="${from}" y="${y}" width="${Math.max(1, width)}" height="${thick}" rx="3" class="${baseline ? 'other' : 'main'}"/>`,
      text(from + width + 8, y + 15, number.format(value)),
    ]
  })
  return { height: TOP + bars.length * step + 16, body }
}

function drawLine({ points, xTitle, yTitle, logarithmic }: Line): { height: number; body: string[] } {
  const plot = { left: 84, right: WIDTH - 44, top: TOP + 34, bottom: 344 }
  const scaled = (x: number) => (logarithmic ? Math.log10(x) : x)
  const [low, high] = [Math.min, Math.max].map((edge) => edge(...points.map(([x]) => scaled(x)))) as [number, number]
  const ticks = ticksTo(Math.max(...points.map(([, y]) => y), 1))
  const top = ticks.at(-1)!
  const xOf = (x: number) =>
    place(plot.left + INSET + ((scaled(x) - low) / (high - low || 1)) * (plot.right - plot.left - 2 * INSET))
  const yOf = (y: number) => place(plot.bottom - (y / top) * (plot.bottom - plot.top))
  const rules = ticks.flatMap((tick) => [
    `<line x1="${plot.left}" x2="${plot.right}" y1="${yOf(tick)}" y2="${yOf(tick)}" class="rule"/>`,
    text(plot.left - 10, yOf(tick) + 4, number.format(tick), 'soft', 'end'),
  ])
  const xTicks = logarithmic ? points.map(([x]) => x) : ticksTo(high).filter((tick) => tick >= low && tick <= high)
  const few = points.length <= LABELLED_MAX
  return {
    height: 404,
    body: [
      ...rules,
      ...xTicks.map((tick) => text(xOf(tick), plot.bottom + 20, number.format(tick), 'soft', 'middle')),
      text(LEFT, plot.top - 26, yTitle, 'soft'),
      text((plot.left + plot.right) / 2, plot.bottom + 44, xTitle, 'soft', 'middle'),
      `<polyline class="line" points="${points.map(([x, y]) => `${xOf(x)},${yOf(y)}`).join(' ')}"/>`,
      ...(few ? points.map(([x, y]) => `<circle cx="${xOf(x)}" cy="${yOf(y)}" r="4" class="main"/>`) : []),
      ...(few ? points.map(([x, y]) => text(xOf(x), yOf(y) - 12, number.format(y), '', 'middle')) : []),
    ],
  }
}

/** From nothing to just above the most, in four to ten steps of 1, 2 or 5. */
function ticksTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const step = power * ([1, 2, 5, 10].find((each) => most / (each * power) <= 6) ?? 10)
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step)
}

const place = (value: number): number => Math.round(value * 10) / 10
const escaped = (words: string): string => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function text(x: number, y: number, words: string, style = '', anchor: 'start' | 'middle' | 'end' = 'start'): string {
  return `<text x="${place(x)}" y="${place(y)}" class="${style}" text-anchor="${anchor}">${escaped(words)}</text>`
}

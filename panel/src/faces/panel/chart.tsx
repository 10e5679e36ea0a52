import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export type Series = { readonly label: string; readonly color: string; readonly values: readonly (number | null)[] }

type ChartProps = {
  /** What it shows, in a sentence: a screen reader has nothing else of a picture. */
  readonly label: string
  readonly timeLabel: string
  /** Wire timestamps or days. */
  readonly times: readonly string[]
  readonly bars: readonly Series[]
  readonly format: (value: number) => string
  readonly formatTime: (at: string) => string
  /** The scale reaches at least this far. */
  readonly top?: number
}

const HEIGHT = 220
/** Nobody pays half a charge. */
const STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()
const LABEL_GAP = 20
/** As wide as its longest label: what is cut off reads as another amount. */
const widthOf = (plot: uPlot, labels: readonly string[] | null): number => {
  plot.ctx.font = String(plot.axes[1]!.font?.[0] ?? plot.ctx.font)
  const widest = Math.max(0, ...(labels ?? []).map((label) => plot.ctx.measureText(label).width))
  return Math.ceil(widest / devicePixelRatio) + LABEL_GAP
}
const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Bars over time, drawn anew when the data or the width changes. */
export function Chart({ label, timeLabel, times, bars, format, formatTime, top = 1 }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const text = colorOf('--text-muted')
    const axis = { stroke: text, grid: { stroke: colorOf('--line'), width: 1 }, ticks: { stroke: colorOf('--line') } }
    const xs = times.map((_, at) => at)
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { drag: { x: false, y: false } },
        scales: {
          x: { time: false, range: [-0.6, times.length - 0.4] },
          y: { range: (_plot, _low, high) => [0, Math.max(high, top)] },
        },
        axes: [
          {
            ...axis,
            values: (_plot, ticks) =>
              ticks.map((at) => (Number.isInteger(at) && times[at] ? formatTime(times[at]) : '')),
          },
          { ...axis, size: widthOf, incrs: STEPS, values: (_plot, ticks) => ticks.map((value) => format(value)) },
        ],
        series: [
          { label: timeLabel, value: (_plot, at) => (at === null || !times[at] ? '' : formatTime(times[at])) },
          ...bars.map((series) => ({
            label: series.label,
            // A border would draw a line where there is nothing.
            width: 0,
            fill: colorOf(series.color),
            paths: uPlot.paths.bars!({ size: [0.7, 40] }),
            points: { show: false },
            value: (_plot: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
      },
      [xs, ...bars.map(({ values }) => [...values])] as uPlot.AlignedData,
      element,
    )
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [timeLabel, times, bars, format, formatTime, top])
  return <div ref={place} className="chart" role="img" aria-label={label} />
}

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
}

const HEIGHT = 220
/** Nobody pays half a charge. */
const STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()
const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Bars over time, drawn anew when the data or the width changes. */
export function Chart({ label, timeLabel, times, bars, format, formatTime }: ChartProps) {
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
          y: { range: (_plot, _low, high) => [0, Math.max(high, 1)] },
        },
        axes: [
          {
            ...axis,
            values: (_plot, ticks) =>
              ticks.map((at) => (Number.isInteger(at) && times[at] ? formatTime(times[at]) : '')),
          },
          { ...axis, size: 72, incrs: STEPS, values: (_plot, ticks) => ticks.map((value) => format(value)) },
        ],
        series: [
          { label: timeLabel, value: (_plot, at) => (at === null || !times[at] ? '' : formatTime(times[at])) },
          ...bars.map((series) => ({
            label: series.label,
            stroke: colorOf(series.color),
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
  }, [timeLabel, times, bars, format, formatTime])
  return <div ref={place} className="chart" role="img" aria-label={label} />
}

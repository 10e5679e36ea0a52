export const units = ['hours', 'days', 'months', 'years'] as const
export type Unit = (typeof units)[number]

const HOUR_MS = 3_600_000
const asUtc = (wire: string): number => Date.parse(`${wire.replace(' ', 'T')}Z`)
const fromUtc = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ')

/** Some seconds after a wire timestamp, `yyyy-MM-dd HH:mm:ss`. */
export const secondsAfter = (wire: string, seconds: number): string => fromUtc(asUtc(wire) + seconds * 1000)

/** A month after 31 January is the last day of February. */
function monthsAfter(wire: string, months: number): string {
  const date = new Date(asUtc(wire))
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, lastDay))
  return fromUtc(date.getTime())
}

const later: Readonly<Record<Unit, (wire: string, count: number) => string>> = {
  hours: (wire, count) => fromUtc(asUtc(wire) + count * HOUR_MS),
  days: (wire, count) => fromUtc(asUtc(wire) + count * 24 * HOUR_MS),
  months: monthsAfter,
  years: (wire, count) => monthsAfter(wire, count * 12),
}

export const timeAfter = (wire: string, count: number, unit: Unit): string => later[unit](wire, count)

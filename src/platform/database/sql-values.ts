import type { Instant } from '../../kernel/calendar.ts'

/** How our values travel: whole numbers are safe or an error, times are instants, json stays the text it is. */
const INT8 = 20
const JSON_TEXT = 114
const TIMESTAMPTZ = 1184
const FLOAT_FREE = new Set([700, 701, 1700])

type Parse = (text: string) => unknown

function int8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is no safe integer`)
  return value
}

// `2026-11-15 02:25:20.123+00`: whatever the session's zone, the offset is in the text. No session state is needed.
function instant(text: string): Instant {
  const zone = text.search(/[+-]\d\d(:?\d\d)?$/)
  const offset = text.slice(zone)
  return Date.parse(
    `${text.slice(0, 10)}T${text.slice(11, zone)}${offset.length === 3 ? `${offset}:00` : offset}`,
  ) as Instant
}

const refuseFloat: Parse = () => {
  throw new TypeError('money is whole cents: cast to bigint in SQL')
}

export function parserFor(oid: number, otherwise: Parse): Parse {
  if (oid === INT8) return int8
  if (oid === TIMESTAMPTZ) return instant
  if (oid === JSON_TEXT) return (text) => text
  return FLOAT_FREE.has(oid) ? refuseFloat : otherwise
}

export const sqlTime = (at: Instant): string => new Date(at).toISOString()

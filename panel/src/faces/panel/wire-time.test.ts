import { expect, test } from 'vitest'
import { secondsAfter, timeAfter, type Unit } from './wire-time.ts'

test.each<[string, number, Unit, string]>([
  ['2026-01-31 23:30:00', 1, 'hours', '2026-02-01 00:30:00'],
  ['2026-02-28 12:00:00', 1, 'days', '2026-03-01 12:00:00'],
  ['2026-01-31 09:00:00', 1, 'months', '2026-02-28 09:00:00'],
  ['2026-11-15 09:00:00', 3, 'months', '2027-02-15 09:00:00'],
  ['2028-02-29 09:00:00', 1, 'years', '2029-02-28 09:00:00'],
])('%s and %i %s is %s', (wire, count, unit, then) => expect(timeAfter(wire, count, unit)).toBe(then))

test('a clock goes on second by second', () => {
  expect(secondsAfter('2026-12-31 23:59:59', 1)).toBe('2027-01-01 00:00:00')
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { systemRandomIds } from '../platform/random-ids.ts'
import type { Instant } from './calendar.ts'
import { firstUuidAt, uuidFromWire } from './ids.ts'

const RUNS = { numRuns: 10_000, seed: 2026 }
const LAST_UUID_V7 = 2 ** 48 - 1

describe('an id in a path', () => {
  test('is a uuid in any case, kept in lower case', () => {
    expect(uuidFromWire('019A8D3C-0000-7000-8000-00000000000F')).toBe('019a8d3c-0000-7000-8000-00000000000f')
  })

  test.each([
    '',
    '0',
    'null',
    '019a8d3c000070008000000000000001',
    '{019a8d3c-0000-7000-8000-000000000001}',
    '019a8d3c-0000-7000-8000-00000000000g',
    '019a8d3c-0000-7000-8000-0000000000011',
    ' 019a8d3c-0000-7000-8000-000000000001',
    '019a8d3c-0000-7000-8000-000000000001\n',
    "019a8d3c-0000-7000-8000-00000000000'",
  ])('%j is none', (text) => {
    expect(uuidFromWire(text)).toBeUndefined()
  })
})

describe('the first uuid of an instant', () => {
  const ids = systemRandomIds()
  const anyInstant = fc.integer({ min: 1, max: LAST_UUID_V7 - 1 }).map((ms) => ms as Instant)

  test('stands between all that were made before and all that are made from then on', () => {
    fc.assert(
      fc.property(anyInstant, (at) => {
        const first = firstUuidAt(at)
        expect(uuidFromWire(first)).toBe(first)
        expect(ids.uuidAt((at - 1) as Instant) < first).toBe(true)
        expect(first < ids.uuidAt(at)).toBe(true)
      }),
      RUNS,
    )
  })

  test('of a time before 1970 is the smallest there is', () => {
    expect(firstUuidAt(-1 as Instant)).toBe('00000000-0000-0000-0000-000000000000')
  })
})

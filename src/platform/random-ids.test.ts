import { describe, expect, test } from 'vitest'
import type { Instant } from '../kernel/calendar.ts'
import { systemRandomIds } from './random-ids.ts'

const ids = systemRandomIds()
// More than one pool of random bytes lasts for.
const many = <Value>(make: () => Value): Value[] => Array.from({ length: 5_000 }, make)

describe('random ids', () => {
  test('a uuid is version 4 and never the same', () => {
    const uuids = many(() => ids.uuid())
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(uuids).size).toBe(uuids.length)
  })

  test('a uuid of an instant is version 7 and begins with it', () => {
    const at = 1_794_712_920_613 as Instant
    const uuids = many(() => ids.uuidAt(at))
    for (const uuid of uuids) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)).toBe(at)
    }
    expect(new Set(uuids).size).toBe(uuids.length)
  })

  test('uuids sort as their instants do, from the first millisecond on', () => {
    const instants = [0, 1, 255, 65_536, 2 ** 32, 1_794_712_920_613, 2 ** 47] as Instant[]
    const uuids = instants.map((at) => ids.uuidAt(at))
    expect([...uuids].sort()).toEqual(uuids)
  })

  test('every free bit of a uuid is sometimes 0 and sometimes 1', () => {
    const fixed = new Set([48, 49, 50, 51, 64, 65])
    const bits = (uuid: string) =>
      BigInt(`0x${uuid.replaceAll('-', '')}`)
        .toString(2)
        .padStart(128, '0')
    const seen = many(() => bits(ids.uuid()))
    for (let bit = 0; bit < 128; bit += 1)
      expect(new Set(seen.map((text) => text[bit])).size, `bit ${bit}`).toBe(fixed.has(bit) ? 1 : 2)
  })

  test('alphanumeric text has the length that was asked for and uses all 62 letters', () => {
    for (const length of [0, 1, 11, 300])
      expect(ids.alphanumeric(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`))
    expect(new Set(ids.alphanumeric(20_000)).size).toBe(62)
  })

  test('no letter comes up more often than another: ten standard deviations are never chance', () => {
    const counts = new Map<string, number>()
    for (const letter of ids.alphanumeric(620_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    for (const [letter, count] of counts) expect(Math.abs(count - 10_000), letter).toBeLessThan(1_000)
  })

  test('bytes are fresh: what a caller keeps never changes', () => {
    const first = ids.bytes(24)
    const copy = Buffer.from(first)
    many(() => ids.bytes(24))
    expect(first).toHaveLength(24)
    expect(first.equals(copy)).toBe(true)
    expect(new Set(many(() => ids.bytes(16).toString('hex'))).size).toBe(5_000)
  })
})

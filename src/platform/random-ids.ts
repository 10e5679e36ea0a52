import { randomFillSync } from 'node:crypto'
import type { Instant } from '../kernel/calendar.ts'

/** Ids and secrets are made here and passed in, so that a test or a simulation can make its own. */
export interface RandomIds {
  /** Version 7: its first 48 bits are the given instant. */
  uuidAt(at: Instant): string
  /** Version 4: tells nothing. */
  uuid(): string
  /** Case-sensitive letters and digits. */
  alphanumeric(length: number): string
  bytes(length: number): Buffer
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function systemRandomIds(): RandomIds {
  // One call into the operating system fills many ids.
  const pool = Buffer.alloc(8192)
  let used = pool.length
  const take = (length: number): number => {
    if (used + length > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += length
    return used - length
  }
  const tail = (at: number) =>
    `${hex[pool[at]!]}${hex[pool[at + 1]!]}-${hex[pool[at + 2]!]}${hex[pool[at + 3]!]}${hex[pool[at + 4]!]}${hex[pool[at + 5]!]}${hex[pool[at + 6]!]}${hex[pool[at + 7]!]}`
  const variant = (at: number) => {
    pool[at] = (pool[at]! & 0x3f) | 0x80
    return tail(at)
  }
  return {
    uuidAt(at) {
      const start = take(10)
      const time = at.toString(16).padStart(12, '0')
      const random = `7${hex[pool[start]!]}${hex[pool[start + 1]!]!.slice(1)}`
      return `${time.slice(0, 8)}-${time.slice(8)}-${random}-${variant(start + 2)}`
    },
    uuid() {
      const start = take(16)
      const head = pool.toString('hex', start, start + 8)
      return `${head.slice(0, 8)}-${head.slice(8, 12)}-4${head.slice(13, 16)}-${variant(start + 8)}`
    },
    alphanumeric(length) {
      let text = ''
      while (text.length < length) {
        const byte = pool[take(1)]!
        // 248 is the largest multiple of 62 in a byte: beyond it some letters would come up more often.
        if (byte < 248) text += letters[byte % 62]
      }
      return text
    },
    bytes: (length) => randomFillSync(Buffer.alloc(length)),
  }
}

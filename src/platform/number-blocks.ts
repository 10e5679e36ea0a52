import { assert } from '../kernel/assert.ts'
import { type Database, statement } from './database/database.ts'

const BLOCK = 1_000
const takeSql = statement<{ first: number }>(
  'number_block_take',
  `update number_block set next_number = next_number + $1 returning next_number - $1 as first`,
)

/** Numeric ids below 2^53, unique over all kinds, taken in blocks ahead of need; gaps are allowed. */
export type NumberBlocks = {
  next(): Promise<number>
  /** As many as a batch needs, without a wait while the block lasts. */
  take(count: number): Promise<number[]>
}

export function createNumberBlocks(db: Database): NumberBlocks {
  let next = 0
  let end = 0
  let ahead: Promise<number> | undefined
  const fetchBlock = () => db.query(takeSql, [BLOCK]).then(([row]) => row!.first)

  async function nextNumber(): Promise<number> {
    while (next === end) {
      const block = ahead ?? fetchBlock()
      ahead = block
      try {
        const first = await block
        // Whoever waits second finds the block already in place.
        if (ahead === block) {
          next = first
          end = first + BLOCK
          ahead = undefined
        }
      } catch (error) {
        if (ahead === block) ahead = undefined
        throw error
      }
    }
    const number = next++
    if (ahead === undefined && end - next < BLOCK / 2) {
      ahead = fetchBlock()
      // A failure shows when the block is needed.
      ahead.catch(() => {})
    }
    return number
  }

  return {
    next: nextNumber,
    async take(count) {
      const numbers: number[] = []
      while (numbers.length < count) numbers.push(await nextNumber())
      return numbers
    },
  }
}

/**
 * Some numbers, taken before a transaction begins: a transaction that waits for a second connection can starve the pool. One
 * that is tried again gets the same.
 */
export async function reserveNumbers(numbers: NumberBlocks, count: number): Promise<NumberBlocks> {
  const reserved = await numbers.take(count)
  return { next: async () => reserved[0]!, take: async (wanted) => reserved.slice(0, wanted) }
}

/** The same for work of several steps: each step gets its own, and a transaction that is tried again begins anew with this. */
export function numbersInTurn(reserved: readonly number[]): NumberBlocks {
  let used = 0
  const take = async (count: number) => {
    assert(used + count <= reserved.length, 'more numbers are needed than were reserved')
    used += count
    return reserved.slice(used - count, used)
  }
  return { next: async () => (await take(1))[0]!, take }
}

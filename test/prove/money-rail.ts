import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { OutflowOrder, Rail } from '../../src/rail/rail.ts'
import { createSandboxRail as createPlainRail } from '../../src/rail/sandbox/sandbox-rail.ts'

export * from '../../src/rail/sandbox/sandbox-rail.ts'

/** The rail keeps its book beside the service's data. */
export const bookOf = (folder: string): string => join(folder, 'rail.jsonl')

/** A line of that book: orders that arrived together, and whether whoever sent them got an answer. */
export type Given = { readonly orders: readonly OutflowOrder[]; readonly answered: boolean }

const UNHEARD = 0.06
const UNANSWERED = 0.12
const SLOW_MS = 120

/**
 * The sandbox's rail, but it writes down every order it is given, takes its time, and sometimes fails: before anything
 * has arrived, or after, so that the sender does not know.
 */
export function createSandboxRail(publicHost: string): Rail {
  const book = bookOf(process.env['QUITADO_DATA']!)
  return {
    ...createPlainRail(publicHost),
    async sendOut(orders) {
      const mood = Math.random()
      await wait(Math.random() * SLOW_MS)
      if (mood < UNHEARD) throw new Error('the rail did not hear')
      const answered = mood >= UNANSWERED
      appendFileSync(book, `${JSON.stringify({ orders, answered } satisfies Given)}\n`)
      await wait(Math.random() * SLOW_MS)
      if (!answered) throw new Error('the rail did not answer')
    },
  }
}

import type { AccountId } from '../../kernel/ids.ts'
import type { Database } from '../../platform/database/database.ts'
import { findClockOffsets } from '../account/index.ts'
import { findLastSequences, findTransfersAfter } from '../ledger/index.ts'
import { findDeliveryMarks } from '../notification/index.ts'
import { findRecurrenceMarks } from '../recurrence/index.ts'
import { findSaleMarks } from '../sale/index.ts'

/** What a listener is told: which parts of the account changed, and of money which lines. */
export type Change = {
  readonly topics: readonly Topic[]
  readonly transfers: readonly { readonly kind: string; readonly source: string }[]
}
export type Topic = 'sales' | 'money' | 'deliveries' | 'recurrence' | 'clock'

type Marks = {
  readonly sales: string
  readonly deliveries: string
  readonly recurrence: string
  readonly sequence: number
  readonly clockOffsetMs: number
}
const TRANSFERS_MAX = 50

export type Watch = {
  /** From now on; resolves when nothing that is committed later can be missed. */
  listen(accountId: AccountId, hear: (change: Change) => void): Promise<() => void>
}

export type WatchOptions = {
  readonly db: Database
  readonly everyMs: number
  /** Runs with every look; what it has to do is done before anybody hears of a change. */
  readonly before: () => Promise<void>
  readonly trouble: (error: unknown) => void
}

/**
 * One look at committed rows serves all listeners of the process, whoever wrote the rows. While nobody listens nobody
 * looks. A look costs six statements by keys, whatever the number of accounts.
 */
export function createWatch({ db, everyMs, before, trouble }: WatchOptions): Watch {
  const listeners = new Map<AccountId, Set<(change: Change) => void>>()
  const marks = new Map<AccountId, Marks>()
  let timer: NodeJS.Timeout | undefined

  async function readMarks(accountIds: readonly AccountId[]): Promise<Map<AccountId, Marks>> {
    const [sales, deliveries, recurrence, sequences, offsets] = await Promise.all([
      findSaleMarks(db, accountIds),
      findDeliveryMarks(db, accountIds),
      findRecurrenceMarks(db, accountIds),
      findLastSequences(db, accountIds),
      findClockOffsets(db, accountIds),
    ])
    const of = (id: AccountId): Marks => ({
      sales: sales.get(id) ?? '',
      deliveries: deliveries.get(id) ?? '',
      recurrence: recurrence.get(id) ?? '',
      sequence: sequences.get(id) ?? 0,
      clockOffsetMs: offsets.get(id) ?? 0,
    })
    return new Map(accountIds.map((id) => [id, of(id)]))
  }

  async function look(): Promise<void> {
    await before()
    const known = new Map([...marks].filter(([id]) => listeners.has(id)))
    if (known.size === 0) return
    const found = await readMarks([...known.keys()])
    const moved = new Map(
      [...known]
        .filter(([id, { sequence }]) => found.get(id)!.sequence > sequence)
        .map(([id, at]) => [id, at.sequence]),
    )
    const transfers = moved.size === 0 ? [] : await findTransfersAfter(db, moved, TRANSFERS_MAX)
    for (const [id, then] of known) {
      const now = found.get(id)!
      // Whoever began to listen meanwhile has marks that are newer than these.
      if (marks.get(id) !== then) continue
      marks.set(id, now)
      const topics = topicsOf(then, now)
      if (topics.length === 0) continue
      const lines = transfers.filter(({ accountId }) => accountId === id)
      const change = { topics, transfers: lines.map(({ kind, sourceId }) => ({ kind, source: sourceId })) }
      for (const hear of listeners.get(id) ?? []) hear(change)
    }
  }

  function schedule(): void {
    if (timer !== undefined || listeners.size === 0) return
    timer = setTimeout(async () => {
      await look().catch(trouble)
      timer = undefined
      schedule()
    }, everyMs)
  }

  return {
    async listen(accountId, hear) {
      const mine = listeners.get(accountId) ?? new Set()
      listeners.set(accountId, mine.add(hear))
      const stop = () => {
        mine.delete(hear)
        if (mine.size > 0 || listeners.get(accountId) !== mine) return
        listeners.delete(accountId)
        marks.delete(accountId)
      }
      try {
        // Others of the account may listen already, with marks that are older: then they are told of what this one sees at once.
        if (!marks.has(accountId)) {
          const found = await readMarks([accountId])
          if (!marks.has(accountId) && listeners.has(accountId)) marks.set(accountId, found.get(accountId)!)
        }
      } catch (error) {
        stop()
        throw error
      }
      schedule()
      return stop
    },
  }
}

function topicsOf(then: Marks, now: Marks): Topic[] {
  const topics: Topic[] = []
  if (then.sales !== now.sales) topics.push('sales')
  if (then.sequence !== now.sequence) topics.push('money')
  if (then.deliveries !== now.deliveries) topics.push('deliveries')
  if (then.recurrence !== now.recurrence) topics.push('recurrence')
  if (then.clockOffsetMs !== now.clockOffsetMs) topics.push('clock')
  return topics
}

import type { AccountId, ReversalId, SaleId } from '../../kernel/ids.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable, Transaction } from '../../platform/database/database.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { type Outbox, outboxAfterCommit } from '../notification/index.ts'
import type { InboxEntry } from './inbox.store.ts'

export type RailEventOutcome =
  /** News of a mandate or a charge concerns no sale by itself. */
  | { readonly outcome: 'applied'; readonly accountId: AccountId; readonly saleId: SaleId | null }
  | { readonly outcome: 'reversed'; readonly accountId: AccountId; readonly reversalId: ReversalId }
  /** Heard before: nothing happens again. A payment has an entry in the inbox. */
  | { readonly outcome: 'duplicate'; readonly of: InboxEntry | null }
  /** It contradicts what is known: kept aside for a person to look at. */
  | { readonly outcome: 'conflict' }

export type DoorContext = {
  readonly db: Queryable
  /** A transaction of its own, or the one that is open already. */
  readonly inTransaction: <Value>(work: (tx: Transaction) => Promise<Value>) => Promise<Value>
  readonly clock: Clock
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly outbox: Outbox
  /** Shares wait to be credited: told after the commit. */
  readonly legsPaid: () => void
  /** Orders wait to be sent: told after the commit. */
  readonly ordersReserved: () => void
  /** A rail that contradicts itself wakes somebody. */
  readonly alarm: (message: string, details: Record<string, unknown>) => void
}

/** The door inside of a transaction: what it tells is looked for after the commit. */
export const insideDoor = <Context extends Omit<DoorContext, 'db'>>(
  context: Context,
  tx: Transaction,
): Context & DoorContext => ({
  ...context,
  db: tx,
  inTransaction: (work) => work(tx),
  outbox: outboxAfterCommit(context.outbox, (work) => tx.afterCommit(work)),
  legsPaid: () => tx.afterCommit(context.legsPaid),
  ordersReserved: () => tx.afterCommit(context.ordersReserved),
})

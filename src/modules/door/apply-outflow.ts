import { createHash } from 'node:crypto'
import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId, RefundId, ReversalId } from '../../kernel/ids.ts'
import { partsOfTxid } from '../../kernel/txid.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import type { OutflowSettled } from '../../rail/rail.ts'
import { endOutflow } from '../outflow/index.ts'
import { endPayout } from '../payout/index.ts'
import { settleRefund, settleReversal } from '../refund/index.ts'
import type { DoorContext } from './door-context.ts'
import { addOutflowToInbox, findOutflowEntry, setAsideOutflow } from './inbox.store.ts'

export type OutflowOutcome =
  | { readonly outcome: 'applied' }
  /** Heard before: nothing happens again. */
  | { readonly outcome: 'duplicate' }
  /** Of nothing we know, or it contradicts what we know: kept aside for a person to look at. */
  | { readonly outcome: 'conflict' }

/** What makes two reports one fact: which order, and how it ended. */
const hashOf = ({ order, reference, outcome, error }: OutflowSettled): Buffer =>
  createHash('sha256').update(JSON.stringify({ order, reference, outcome, error })).digest()

/** How an order ended: its money leaves the hold, or comes back. False where it has ended already: nothing is written then. */
export async function endOrder(
  context: Omit<DoorContext, 'db'>,
  tx: Transaction,
  event: OutflowSettled,
): Promise<boolean> {
  const now = context.clock.now()
  const order = partsOfTxid(event.reference)
  const settled = order && (await settle(context, tx, event, { accountId: order.accountId, id: order.saleId, now }))
  if (!settled) return false
  await addOutflowToInbox(tx, event, { hash: hashOf(event), accountId: order.accountId, id: order.saleId, now })
  return true
}

/** The same from a rail, which may repeat itself and contradict itself. */
async function applyOutflow(
  context: Omit<DoorContext, 'db'>,
  tx: Transaction,
  event: OutflowSettled,
): Promise<OutflowOutcome> {
  if (await endOrder(context, tx, event)) return { outcome: 'applied' }
  const now = context.clock.now()
  const hash = hashOf(event)
  // The book was locked before the state was looked at, so whoever was first is visible here.
  const known = await findOutflowEntry(tx, event)
  if (known?.equals(hash)) return { outcome: 'duplicate' }
  await setAsideOutflow(tx, context.ids.uuidAt(now), event, hash, now)
  tx.afterCommit(() =>
    context.alarm('the rail contradicts what is known of an order', {
      rail: event.rail,
      order: event.order,
      reference: event.reference,
      outcome: event.outcome,
    }),
  )
  return { outcome: 'conflict' }
}

async function settle(
  { ids, outbox }: Omit<DoorContext, 'db'>,
  tx: Transaction,
  { order, outcome, error }: OutflowSettled,
  { accountId, id, now }: { accountId: AccountId; id: string; now: Instant },
): Promise<boolean> {
  const inside = { tx, ids, outbox, now }
  if (order === 'PAYOUT') {
    const on = outcome === 'PAID' ? 'paid' : outcome === 'FAILED' ? 'failed' : 'cancelled'
    return (await endPayout(inside, { accountId, id: id as PayoutId, on, ...(error && { error }) })).ok
  }
  // A return has no failure of its own: what could not be given back is cancelled.
  const end = outcome === 'PAID' ? 'PAID' : 'CANCELLED'
  const done =
    order === 'REFUND'
      ? await settleRefund(inside, { accountId, id: id as RefundId, outcome: end })
      : await settleReversal(inside, { accountId, id: id as ReversalId, outcome: end })
  if (done) await endOutflow(tx, accountId, id)
  return done
}

/** Alone, in a transaction of its own. */
export const applyOutflowAlone = (context: DoorContext & { readonly db: Database }, event: OutflowSettled) =>
  context.db.inTransaction((tx) => applyOutflow(context, tx, event))

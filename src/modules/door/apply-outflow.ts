import { createHash } from 'node:crypto'
import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId, RefundId, ReversalId } from '../../kernel/ids.ts'
import { partsOfTxid } from '../../kernel/txid.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import type { OutflowSettled } from '../../rail/rail.ts'
import { endOutflow } from '../outflow/index.ts'
import { settlePayout } from '../payout/index.ts'
import { settleRefund, settleReversal } from '../refund/index.ts'
import type { DoorContext } from './door-context.ts'
import { addOutflowToInbox, findOutflowEntry, setAsideOutflow } from './inbox.store.ts'

export type OutflowOutcome =
  | { readonly outcome: 'applied' }
  /** Heard before: nothing happens again. */
  | { readonly outcome: 'duplicate' }
  /** Of nothing we know, or it contradicts what we know: kept aside for a person to look at. */
  | { readonly outcome: 'conflict' }

/** What makes two reports one fact: which order, and how it ended. Only a failure has a reason. */
const hashOf = ({ order, reference, outcome, error }: OutflowSettled): Buffer => {
  const content = { order, reference, outcome, error: outcome === 'FAILED' ? error : null }
  return createHash('sha256').update(JSON.stringify(content)).digest()
}

/** Without effect where there is no such order, or it has ended; `asItIs` where it ended so without the rail. */
type Effect = 'settled' | 'asItIs' | 'none'

/** How an order ended: its money leaves the hold, or comes back. Nothing is written where it has ended already. */
async function end(context: Omit<DoorContext, 'db'>, tx: Transaction, event: OutflowSettled): Promise<Effect> {
  const now = context.clock.now()
  const order = partsOfTxid(event.reference)
  if (order === undefined) return 'none'
  const place = { accountId: order.accountId, id: order.saleId, now }
  const effect = await settle(context, tx, event, place)
  if (effect === 'settled') await addOutflowToInbox(tx, event, { hash: hashOf(event), ...place })
  return effect
}

/** False where it has ended already. */
export const endOrder = async (context: Omit<DoorContext, 'db'>, tx: Transaction, event: OutflowSettled) =>
  (await end(context, tx, event)) === 'settled'

/** The same from a rail, which may repeat itself and contradict itself. */
export async function applyOutflow(
  context: Omit<DoorContext, 'db'>,
  tx: Transaction,
  event: OutflowSettled,
): Promise<OutflowOutcome> {
  const effect = await end(context, tx, event)
  if (effect === 'settled') return { outcome: 'applied' }
  const now = context.clock.now()
  const hash = hashOf(event)
  // The book was locked before the state was looked at, so whoever was first is visible here.
  const known = await findOutflowEntry(tx, event)
  if (known?.equals(hash) || effect === 'asItIs') return { outcome: 'duplicate' }
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
  { order, outcome, error, detail }: OutflowSettled,
  { accountId, id, now }: { accountId: AccountId; id: string; now: Instant },
): Promise<Effect> {
  const inside = { tx, ids, outbox, now }
  if (order === 'PAYOUT') {
    const done = await settlePayout(inside, { accountId, id: id as PayoutId, outcome, error, detail: detail ?? null })
    if (done.ok) return 'settled'
    // Its merchant cancelled it, and so does the rail.
    const ended = done.refusal.code === 'payout.notPending' && done.refusal.state
    return ended === 'CANCELLED' && outcome === 'CANCELLED' ? 'asItIs' : 'none'
  }
  // A return has no failure of its own: what could not be given back is cancelled.
  const as = outcome === 'PAID' ? 'PAID' : 'CANCELLED'
  const done =
    order === 'REFUND'
      ? await settleRefund(inside, { accountId, id: id as RefundId, outcome: as })
      : await settleReversal(inside, { accountId, id: id as ReversalId, outcome: as })
  if (done) await endOutflow(tx, accountId, id)
  return done ? 'settled' : 'none'
}

/** Alone, in a transaction of its own. */
export const applyOutflowAlone = (context: DoorContext & { readonly db: Database }, event: OutflowSettled) =>
  context.db.inTransaction((tx) => applyOutflow(context, tx, event))

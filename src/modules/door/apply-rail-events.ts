import { chargeOfTxid } from '../../kernel/txid.ts'
import type { DEFERRED } from '../../platform/batcher.ts'
import type { PaymentReceived, RailEvent } from '../../rail/rail.ts'
import { applyPayments, type PaymentsKnown } from './apply-payments.ts'
import { applyRecurrenceEvents, type Recall, type RecurrenceEvent } from './apply-recurrence.ts'
import type { DoorContext, RailEventOutcome } from './door-context.ts'

/** A payment tells by its txid whether it pays a charge of a recurrence. */
const isOfRecurrence = (event: RailEvent): event is RecurrenceEvent =>
  event.kind !== 'payment' || (event.txid !== null && chargeOfTxid(event.txid) !== undefined)

/** What the caller has just read of that which its news is about; it is not read again. */
export type Known = { readonly recall?: Recall; readonly payments?: PaymentsKnown }

/** The one way in for news from the rail, in batches, one outcome each. */
export async function applyRailEvents(
  context: DoorContext,
  events: readonly RailEvent[],
  known: Known = {},
): Promise<(RailEventOutcome | typeof DEFERRED)[]> {
  const [ofRecurrences, others] = [events.filter(isOfRecurrence), events.filter((event) => !isOfRecurrence(event))]
  if (ofRecurrences.length === 0) return applyPayments(context, others as PaymentReceived[], known.payments)
  const applied = await applyRecurrenceEvents(context, ofRecurrences, known.recall)
  const paid = others.length === 0 ? [] : await applyPayments(context, others as PaymentReceived[], known.payments)
  let [nextOfRecurrence, nextPaid] = [0, 0]
  return events.map((event) => (isOfRecurrence(event) ? applied[nextOfRecurrence++]! : paid[nextPaid++]!))
}

import { chargeOfTxid } from '../../kernel/txid.ts'
import type { DEFERRED } from '../../platform/batcher.ts'
import type { PaymentReceived, RailEvent } from '../../rail/rail.ts'
import { applyPayments } from './apply-payments.ts'
import { applyRecurrenceEvents, type Recall, type RecurrenceEvent } from './apply-recurrence.ts'
import type { DoorContext, RailEventOutcome } from './door-context.ts'

/** A payment tells by its txid whether it pays a charge of a recurrence. */
const isOfRecurrence = (event: RailEvent): event is RecurrenceEvent =>
  event.kind !== 'payment' || (event.txid !== null && chargeOfTxid(event.txid) !== undefined)

/** The one way in for news from the rail, in batches, one outcome each. */
export async function applyRailEvents(
  context: DoorContext,
  events: readonly RailEvent[],
  recall?: Recall,
): Promise<(RailEventOutcome | typeof DEFERRED)[]> {
  const [ofRecurrences, others] = [events.filter(isOfRecurrence), events.filter((event) => !isOfRecurrence(event))]
  if (ofRecurrences.length === 0) return applyPayments(context, others as PaymentReceived[])
  const applied = await applyRecurrenceEvents(context, ofRecurrences, recall)
  const paid = others.length === 0 ? [] : await applyPayments(context, others as PaymentReceived[])
  let [nextOfRecurrence, nextPaid] = [0, 0]
  return events.map((event) => (isOfRecurrence(event) ? applied[nextOfRecurrence++]! : paid[nextPaid++]!))
}

import { partsOfTxid } from '../../kernel/txid.ts'
import { type Batcher, createLanes } from '../../platform/batcher.ts'
import type { RailEvent } from '../../rail/rail.ts'
import { OPERATOR_ACCOUNT_ID } from '../account/index.ts'
import type { RecurrenceOfCharge } from '../recurrence/index.ts'
import { applyRailEvents } from './apply-rail-events.ts'
import type { DoorContext, RailEventOutcome } from './door-context.ts'

export type DoorOptions = {
  readonly lanes: number
  readonly batchMax: number
  readonly queueMax: number
  readonly onBatch?: (size: number) => void
}

/** Events that arrive together are applied together, one outcome each. */
export type Door = {
  /** `known`: charges that the caller has just read or written, by txid. They need not be read again. */
  apply(events: readonly RailEvent[], known?: ReadonlyMap<string, RecurrenceOfCharge>): Promise<RailEventOutcome[]>
  readonly batcher: Batcher<RailEvent, RailEventOutcome>
}

export function createDoor(context: DoorContext, options: DoorOptions): Door {
  // Used once: an event that comes too late is decided again on what is there by then.
  const told = new WeakMap<RailEvent, RecurrenceOfCharge>()
  const recall = (event: RailEvent) => {
    const known = told.get(event)
    told.delete(event)
    return known
  }
  const batcher = createLanes<RailEvent, RailEventOutcome>({
    name: 'door',
    ...options,
    accountOf,
    // Two payments of one sale, or news of one charge: the second is decided when the first is done.
    separate: saleKey,
    run: (events) => applyRailEvents(context, events, { recall }),
  })
  return {
    apply(events, known) {
      for (const event of events) {
        const one = event.kind === 'mandate' || event.txid === null ? undefined : known?.get(event.txid)
        if (one) told.set(event, one)
      }
      return batcher.submitAll(events)
    },
    batcher,
  }
}

const partsOf = (event: RailEvent) =>
  event.kind === 'mandate' || event.txid === null ? undefined : partsOfTxid(event.txid)

/** News that names no account of ours is the operator's, as far as the order of things goes. */
const accountOf = (event: RailEvent): number => partsOf(event)?.accountId ?? OPERATOR_ACCOUNT_ID

function saleKey(event: RailEvent): string {
  if (event.kind === 'mandate') return event.idRec
  const parts = partsOf(event)
  return parts ? `${parts.accountId} ${parts.saleId}` : event.kind === 'payment' ? event.endToEnd : event.txid
}

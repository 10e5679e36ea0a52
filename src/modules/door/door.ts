import { partsOfTxid } from '../../kernel/txid.ts'
import { type Batcher, createBatcher } from '../../platform/batcher.ts'
import type { RailEvent } from '../../rail/rail.ts'
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
  apply(events: readonly RailEvent[]): Promise<RailEventOutcome[]>
  readonly batcher: Batcher<RailEvent, RailEventOutcome>
}

export function createDoor(context: DoorContext, options: DoorOptions): Door {
  const batcher = createBatcher<RailEvent, RailEventOutcome>({
    name: 'door',
    ...options,
    // Two payments of one sale, or news of one charge: the second is decided when the first is done.
    separate: saleKey,
    run: (events) => applyRailEvents(context, events),
  })
  return { apply: (events) => batcher.submitAll(events), batcher }
}

function saleKey(event: RailEvent): string {
  if (event.kind === 'mandate') return event.idRec
  const parts = event.txid === null ? undefined : partsOfTxid(event.txid)
  return parts ? `${parts.accountId} ${parts.saleId}` : event.kind === 'payment' ? event.endToEnd : event.txid
}

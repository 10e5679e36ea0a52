import { partsOfTxid } from '../../kernel/txid.ts'
import { type Batcher, createBatcher } from '../../platform/batcher.ts'
import type { RailEvent } from '../../rail/rail.ts'
import { applyRailEvents, type DoorContext, type RailEventOutcome } from './apply-rail-events.ts'

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
    // Two payments of one sale: the second is decided when the first is done.
    separate: saleKey,
    run: (events) => applyRailEvents(context, events),
  })
  return { apply: (events) => batcher.submitAll(events), batcher }
}

function saleKey({ txid, endToEnd }: RailEvent): string {
  const parts = txid === null ? undefined : partsOfTxid(txid)
  return parts ? `${parts.accountId} ${parts.saleId}` : endToEnd
}

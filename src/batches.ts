import type { CreateSale, CreateSaleOutcome } from './modules/sale/index.ts'
import type { AskedPayment, SimulatedPayment } from './modules/simulator/index.ts'
import { type Batcher, type BatcherOptions, createLanes } from './platform/batcher.ts'

export type BatchSettings = { readonly lanes: number; readonly batchMax: number; readonly queueMax: number }

/**
 * Two batches in flight, of different accounts, keep the database busy while the answers of the other are written;
 * several processes have that between them already.
 */
export const defaultBatches = (processes: number): BatchSettings => ({
  lanes: processes > 1 ? 1 : 2,
  batchMax: 256,
  // Half a second's worth: whoever comes later would wait so long that being told to come again serves him better.
  queueMax: 1_024,
})

type Batches<Item, Outcome> = BatchSettings & Pick<BatcherOptions<Item, Outcome>, 'run' | 'onBatch'>

/** Two requests under one Idempotency-Key are answered one after the other. */
export const checkoutBatches = (
  options: Batches<CreateSale, CreateSaleOutcome>,
): Batcher<CreateSale, CreateSaleOutcome> =>
  createLanes({
    name: 'checkout',
    ...options,
    accountOf: ({ accountId }) => accountId,
    separate: ({ requestKey }) => (requestKey ? `${requestKey.accountId} ${requestKey.key}` : undefined),
  })

/** Two payments of one sale are made one after the other. */
export const simulatedPaymentBatches = (
  options: Batches<AskedPayment, SimulatedPayment>,
): Batcher<AskedPayment, SimulatedPayment> =>
  createLanes({
    name: 'simulated payments',
    ...options,
    accountOf: ({ accountId }) => accountId,
    separate: ({ accountId, saleId }) => `${accountId} ${saleId}`,
  })

/**
 * What has begun is finished first: while half a queue of work is waiting, of whatever kind, no new charge is taken.
 * Otherwise a crowd of checkouts would be let in whose payments are then refused.
 */
export const takesNoCharge =
  (queues: readonly Pick<Batcher<never, never>, 'depth'>[], { queueMax }: BatchSettings) =>
  (): boolean =>
    queues.reduce((sum, queue) => sum + queue.depth(), 0) >= Math.ceil(queueMax / 2)

import { plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Rail } from '../../rail/rail.ts'
import { markSent, postponeOrders, takeOrders } from './outflow.store.ts'
import { sendAgainAt } from './outflow.ts'

export type SendContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly rail: Pick<Rail, 'sendOut'>
  readonly trouble: (error: unknown, doing: string) => void
}

const BATCH = 100
const LEASE_MS = 30 * SECOND_MS

/**
 * Sends what is reserved, between two commits. No answer means that nobody knows: the order stays as it is, its money held,
 * and is sent again with the same reference. True when there may be more.
 */
export async function sendDueOrders({ db, clock, rail, trouble }: SendContext): Promise<boolean> {
  const now = clock.now()
  const orders = await takeOrders(db, { now, leaseEnds: plusMs(now, LEASE_MS), limit: BATCH })
  if (orders.length === 0) return false
  try {
    await rail.sendOut(orders.map(({ order }) => order))
  } catch (error) {
    trouble(error, 'send orders to the rail')
    await postponeOrders(db, orders, ({ tries }) => sendAgainAt(clock.now(), tries))
    return orders.length === BATCH
  }
  await markSent(db, orders)
  return orders.length === BATCH
}

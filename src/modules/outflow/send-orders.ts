import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Rail } from '../../rail/rail.ts'
import { apart } from './apart.ts'
import { BATCH, markSent, postponeOrders, takeOrders } from './outflow.store.ts'
import { sendAgainAt } from './outflow.ts'

export type SendContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly rail: Pick<Rail, 'sendOut'>
  readonly trouble: (error: unknown, doing: string) => void
}

/**
 * Sends what is reserved, between two commits. No answer means that nobody knows: the order stays as it is, its money held,
 * and is sent again with the same reference. True when there may be more.
 */
export async function sendDueOrders({ db, clock, rail, trouble }: SendContext): Promise<boolean> {
  const orders = await takeOrders(db, 'send', clock.now())
  if (orders.length === 0) return false
  await apart(orders, {
    call: (some) => rail.sendOut(some.map(({ kind, reference, instruction }) => ({ ...instruction, kind, reference }))),
    answered: (some) => markSent(db, some, clock.now()),
    unanswered(some, error) {
      trouble(error, 'send orders to the rail')
      return postponeOrders(db, 'send', some, ({ tries }) => sendAgainAt(clock.now(), tries))
    },
  })
  return orders.length === BATCH
}

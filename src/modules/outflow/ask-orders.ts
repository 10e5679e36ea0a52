import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { OutflowSettled, Rail } from '../../rail/rail.ts'
import { apart } from './apart.ts'
import { BATCH, goOn, markLost, postponeOrders, type TakenOrder, takeOrders } from './outflow.store.ts'
import { askAt, sendAgainAt, withdrawn } from './outflow.ts'

export type AskContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly rail: Pick<Rail, 'name' | 'cancelOut' | 'lookUpOut'>
  /** What the rail says of an order goes in by the door. */
  readonly hear: (event: OutflowSettled) => Promise<unknown>
  readonly trouble: (error: unknown, doing: string) => void
}

/** One after the other; what goes wrong with one is its own trouble, and it is taken again after its lease. */
async function each(
  { trouble }: AskContext,
  orders: readonly TakenOrder[],
  work: (order: TakenOrder, index: number) => Promise<unknown>,
): Promise<void> {
  for (const [index, order] of orders.entries())
    await work(order, index).catch((error) => trouble(error, 'act on what the rail says of an order'))
}

const referencesOf = (orders: readonly TakenOrder[]) => orders.map(({ reference }) => reference)

/**
 * Asks for orders that their merchants want back and that nobody has asked for, or got an answer for. True when there may
 * be more.
 */
export async function withdrawOrders(context: AskContext): Promise<boolean> {
  const { db, clock, rail, hear, trouble } = context
  const orders = await takeOrders(db, 'withdraw', clock.now())
  if (orders.length === 0) return false
  await apart(orders, {
    call: (some) => rail.cancelOut(referencesOf(some)),
    answered: (some, answers) =>
      each(context, some, async (order, index) => {
        const now = clock.now()
        if (answers[index] === 'WITHDRAWN') await hear(withdrawn(rail, order, now))
        else await goOn(db, order, now)
      }),
    unanswered(some, error) {
      trouble(error, 'ask the rail for orders back')
      return postponeOrders(db, 'withdraw', some, ({ asked }) => sendAgainAt(clock.now(), asked))
    },
  })
  return orders.length === BATCH
}

/** Asks how orders stand that the rail has had for long without a word. True when there may be more. */
export async function lookUpOrders(context: AskContext): Promise<boolean> {
  const { db, clock, rail, hear, trouble } = context
  const orders = await takeOrders(db, 'look_up', clock.now())
  if (orders.length === 0) return false
  const later = (some: readonly TakenOrder[]) =>
    postponeOrders(db, 'look_up', some, ({ asked }) => askAt(clock.now(), asked))
  await apart(orders, {
    call: (some) => rail.lookUpOut(referencesOf(some)),
    answered: (some, standings) =>
      each(context, some, async (order, index) => {
        const standing = standings[index] ?? 'PENDING'
        if (standing === 'PENDING') await later([order])
        else if (standing === 'UNKNOWN') await markLost(db, order, clock.now())
        else await hear(standing)
      }),
    unanswered(some, error) {
      trouble(error, 'ask the rail about orders')
      return later(some)
    },
  })
  return orders.length === BATCH
}

import { RailAway } from '../../rail/rail.ts'
import type { TakenOrder } from './outflow.store.ts'

type Answered<Answer> = {
  readonly call: (orders: readonly TakenOrder[]) => Promise<Answer>
  readonly answered: (orders: readonly TakenOrder[], answer: Answer) => Promise<void>
  readonly unanswered: (orders: readonly TakenOrder[], error: unknown) => Promise<void>
}

/**
 * One call for all of them. What the rail rejects is tried in halves, so that one bad order keeps no other waiting; a rail
 * that is away is not asked again for each.
 */
export async function apart<Answer>(orders: readonly TakenOrder[], on: Answered<Answer>): Promise<void> {
  let answer: Answer
  try {
    answer = await on.call(orders)
  } catch (error) {
    if (orders.length === 1 || error instanceof RailAway) return on.unanswered(orders, error)
    const half = orders.length >> 1
    await apart(orders.slice(0, half), on)
    return apart(orders.slice(half), on)
  }
  return on.answered(orders, answer)
}

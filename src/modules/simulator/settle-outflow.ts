import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId, RefundId, ReversalId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts'
import type { OutflowKind, OutflowSettled, PayoutError } from '../../rail/rail.ts'
import { SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { type DoorContext, endOrder, insideDoor } from '../door/index.ts'
import { type DueOutflow, findDueOutflows, findDueOutflowsOf, lockOrder, referenceOf } from '../outflow/index.ts'
import { findPayout } from '../payout/index.ts'
import { giveBackToPhone } from '../phone/index.ts'
import { findRefund, findReversal } from '../refund/index.ts'

export type Ending = { readonly outcome: OutflowSettled['outcome']; readonly error: PayoutError | null }
export const paid: Ending = { outcome: 'PAID', error: null }

const eventOf = (
  { accountId, id, kind }: Pick<DueOutflow, 'accountId' | 'id' | 'kind'>,
  { outcome, error }: Ending,
  settledAt: Instant,
): OutflowSettled => ({
  kind: 'outflow',
  rail: SANDBOX_RAIL,
  order: kind,
  reference: referenceOf(accountId, id),
  outcome,
  error,
  settledAt,
})

/**
 * As the sandbox's bank would report it: through the door. False where it has ended already, by whomever: that is no alarm.
 * What a merchant wants back the sandbox's rail lets go of whenever it is asked, so it is not settled any more either.
 */
export async function settleOutflow(
  door: Omit<DoorContext, 'db'>,
  tx: Transaction,
  order: Pick<DueOutflow, 'accountId' | 'id' | 'kind'>,
  ending: Ending,
): Promise<boolean> {
  const locked = await lockOrder(tx, order.accountId, order.id)
  if (locked?.cancelAsked) return false
  const ended = await endOrder(door, tx, eventOf(order, ending, door.clock.now()))
  if (ended && locked && ending.outcome === 'PAID')
    await giveBackToPhone(tx, { ...order, instruction: locked.instruction, now: door.clock.now() })
  return ended
}

type Standing = { readonly state: string; readonly errorCode?: PayoutError | null }
const standingOf: Record<
  OutflowKind,
  (db: Queryable, accountId: AccountId, id: string) => Promise<Standing | undefined>
> = {
  REFUND: (db, accountId, id) => findRefund(db, accountId, id as RefundId),
  REVERSAL: (db, accountId, id) => findReversal(db, accountId, id as ReversalId),
  PAYOUT: (db, accountId, id) => findPayout(db, accountId, id as PayoutId),
}
const isEnd = ({ state, errorCode = null }: Standing, { outcome, error }: Ending) =>
  state === outcome && errorCode === error

export type SimulateRefusal = { readonly code: 'outflow.notFound' | 'outflow.final' }

/** The same end again has no effect; another end than the one it has is refused, and never reaches the door. */
export async function simulateEnd(
  door: Omit<DoorContext, 'db'>,
  tx: Transaction,
  { accountId, id, kind, ending }: { accountId: AccountId; id: string | undefined; kind: OutflowKind; ending: Ending },
): Promise<Result<string, SimulateRefusal>> {
  const found = id === undefined ? undefined : await standingOf[kind](tx, accountId, id)
  if (id === undefined || found === undefined) return refuse({ code: 'outflow.notFound' })
  if (isEnd(found, ending)) return ok(found.state)
  if (found.state !== 'PENDING') return refuse({ code: 'outflow.final' })
  if (await settleOutflow(door, tx, { accountId, id, kind }, ending)) return ok(ending.outcome)
  // Somebody was faster, or wants it back. The book is locked, so what is seen now stays.
  const ended = (await standingOf[kind](tx, accountId, id))!
  return isEnd(ended, ending) ? ok(ended.state) : refuse({ code: 'outflow.final' })
}

const PAGE = 200

export type AutoSettleContext = { readonly db: Database; readonly door: DoorContext }

/** What settles by itself and is due: of everybody by real time, or of one account by its own clock. Answers how many. */
export async function settleDueOutflows(
  { db, door }: AutoSettleContext,
  stopping: () => boolean,
  account?: { readonly accountId: AccountId; readonly now: Instant },
): Promise<number> {
  for (let settled = 0; ; ) {
    const due = account
      ? await findDueOutflowsOf(db, account.accountId, account.now, PAGE)
      : await findDueOutflows(db, door.clock.now(), PAGE)
    let moved = 0
    for (const order of due) {
      if (stopping()) return settled + moved
      if (await db.inTransaction((tx) => settleOutflow(insideDoor(door, tx), tx, order, paid))) moved += 1
    }
    settled += moved
    if (due.length < PAGE || moved === 0) return settled
  }
}

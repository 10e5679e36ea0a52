import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId, RefundId, ReversalId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts'
import type { OutflowKind, OutflowSettled, PayoutError } from '../../rail/rail.ts'
import { SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { applyOutflow, type DoorContext, insideDoor, type OutflowOutcome } from '../door/index.ts'
import { type DueOutflow, findDueOutflows, findDueOutflowsOf, lockOrder, referenceOf } from '../outflow/index.ts'
import { findPayout } from '../payout/index.ts'
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
 * As the sandbox's bank would report it: through the door. What a merchant wants back it lets go of (the sandbox's rail says
 * so whenever it is asked), so it does not settle it any more.
 */
export async function settleOutflow(
  door: Omit<DoorContext, 'db'>,
  tx: Transaction,
  order: Pick<DueOutflow, 'accountId' | 'id' | 'kind'>,
  ending: Ending,
): Promise<OutflowOutcome | { readonly outcome: 'wantedBack' }> {
  if ((await lockOrder(tx, order.accountId, order.id))?.cancelAsked) return { outcome: 'wantedBack' }
  return applyOutflow(door, tx, eventOf(order, ending, door.clock.now()))
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
  const { outcome } = await settleOutflow(door, tx, { accountId, id, kind }, ending)
  return outcome === 'conflict' || outcome === 'wantedBack' ? refuse({ code: 'outflow.final' }) : ok(ending.outcome)
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
      const { outcome } = await db.inTransaction((tx) => settleOutflow(insideDoor(door, tx), tx, order, paid))
      if (outcome === 'applied') moved += 1
    }
    settled += moved
    if (due.length < PAGE || moved === 0) return settled
  }
}

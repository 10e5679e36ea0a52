import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId, RefundId, ReversalId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts'
import type { OutflowKind, OutflowSettled, PayoutError } from '../../rail/rail.ts'
import { SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { type DoorContext, endOrder, insideDoor } from '../door/index.ts'
import { type DueOutflow, findDueOutflows, findDueOutflowsOf, referenceOf } from '../outflow/index.ts'
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

/** As the sandbox's bank would report it: through the door. False where it has ended already, by whomever: that is no alarm. */
export const settleOutflow = (
  door: Omit<DoorContext, 'db'>,
  tx: Transaction,
  order: Pick<DueOutflow, 'accountId' | 'id' | 'kind'>,
  ending: Ending,
): Promise<boolean> => endOrder(door, tx, eventOf(order, ending, door.clock.now()))

const stateOf: Record<OutflowKind, (db: Queryable, accountId: AccountId, id: string) => Promise<string | undefined>> = {
  REFUND: async (db, accountId, id) => (await findRefund(db, accountId, id as RefundId))?.state,
  REVERSAL: async (db, accountId, id) => (await findReversal(db, accountId, id as ReversalId))?.state,
  PAYOUT: async (db, accountId, id) => (await findPayout(db, accountId, id as PayoutId))?.state,
}

export type SimulateRefusal = { readonly code: 'outflow.notFound' | 'outflow.final' }

/** The same end again has no effect; another end than the one it has is refused, and never reaches the door. */
export async function simulateEnd(
  door: Omit<DoorContext, 'db'>,
  tx: Transaction,
  { accountId, id, kind, ending }: { accountId: AccountId; id: string | undefined; kind: OutflowKind; ending: Ending },
): Promise<Result<string, SimulateRefusal>> {
  const state = id === undefined ? undefined : await stateOf[kind](tx, accountId, id)
  if (id === undefined || state === undefined) return refuse({ code: 'outflow.notFound' })
  if (state === ending.outcome) return ok(state)
  if (state !== 'PENDING') return refuse({ code: 'outflow.final' })
  if (await settleOutflow(door, tx, { accountId, id, kind }, ending)) return ok(ending.outcome)
  // Somebody was faster. The book is locked, so what is seen now stays.
  const ended = await stateOf[kind](tx, accountId, id)
  return ended === ending.outcome ? ok(ended) : refuse({ code: 'outflow.final' })
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

import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, PayoutId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import type { OutflowSettled, Rail, Withdrawal } from '../../rail/rail.ts'
import { endOutflow, goOn, lockOrder, referenceOf, wantBack, withdrawn } from '../outflow/index.ts'
import { findPayout } from './payout.store.ts'
import type { Payout } from './payout.ts'
import { endPayout, lockPending, type PayoutRefusal, type SettlePayoutContext } from './settle-payout.ts'

export type CancelPayout = {
  readonly accountId: AccountId
  readonly id: PayoutId | undefined
  readonly reason: string | null
}
/** The rail may have it: only the rail can say whether it is still ours to cancel. */
export type GivenOut = { readonly code: 'payout.givenOut'; readonly wanted: WantedPayout }
export type WantedPayout = CancelPayout & { readonly id: PayoutId }

/** At once, while nobody has ever taken the order to send it. The lock on it excludes whoever would do so just now. */
export async function cancelPayout(
  context: SettlePayoutContext,
  { accountId, id, reason }: CancelPayout,
): Promise<Result<Payout, PayoutRefusal | GivenOut>> {
  const { tx } = context
  const pending = await lockPending(tx, accountId, id)
  if (!pending.ok) return pending
  const payout = pending.value
  const order = await lockOrder(tx, accountId, payout.id)
  if (order?.wasTaken) return refuse({ code: 'payout.givenOut', wanted: { accountId, id: payout.id, reason } })
  await endOutflow(tx, accountId, payout.id)
  return ok(await endPayout(context, payout, { to: 'CANCELLED', reason }))
}

export type WithdrawContext = {
  readonly db: Database
  readonly clock: Clock
  readonly rail: Pick<Rail, 'name' | 'cancelOut'>
}

/**
 * Asks the rail for the order back, between two commits: by the first one nobody sends or settles it any more, and should this
 * process die, another one asks. Throws when the rail does not answer; the money stays held.
 */
export async function withdrawPayout(
  { db, clock, rail }: WithdrawContext,
  { accountId, id, reason }: WantedPayout,
): Promise<Withdrawal | 'ENDED'> {
  const isPending = await db.inTransaction(async (tx) => {
    const pending = await lockPending(tx, accountId, id)
    if (pending.ok) await wantBack(tx, { accountId, id, reason, now: clock.now() })
    return pending.ok
  })
  if (!isPending) return 'ENDED'
  const [answer] = await rail.cancelOut([referenceOf(accountId, id)])
  return answer ?? 'KEPT'
}

export type ConcludeContext = {
  readonly tx: Transaction
  readonly now: Instant
  readonly rail: Pick<Rail, 'name'>
  /** By the door, in this transaction. */
  readonly hear: (tx: Transaction, event: OutflowSettled) => Promise<{ readonly outcome: string }>
}
export type ConcludeRefusal = { readonly code: 'payout.notPending' | 'payout.notWithdrawn' }

/** What the rail has answered, in its effect. A refusal's transaction commits too: what it found out is to stay. */
export async function concludeCancel(
  { tx, now, rail, hear }: ConcludeContext,
  { accountId, id }: WantedPayout,
  answer: Withdrawal | 'ENDED',
): Promise<Result<Payout, ConcludeRefusal>> {
  if (answer === 'KEPT') {
    const pending = await lockPending(tx, accountId, id)
    if (pending.ok) await goOn(tx, { accountId, id }, now)
    return refuse({ code: pending.ok ? 'payout.notWithdrawn' : 'payout.notPending' })
  }
  if (answer === 'ENDED') return refuse({ code: 'payout.notPending' })
  const order = { kind: 'PAYOUT', reference: referenceOf(accountId, id) } as const
  const { outcome } = await hear(tx, withdrawn(rail, order, now))
  return outcome === 'applied' ? ok((await findPayout(tx, accountId, id))!) : refuse({ code: 'payout.notPending' })
}

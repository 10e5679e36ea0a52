import { assert } from '../../kernel/assert.ts'
import type { Instant } from '../../kernel/calendar.ts'
import type { NumberId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Queryable, Transaction } from '../../platform/database/database.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Payer } from '../../rail/rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { type Outbox, outboxAfterCommit } from '../notification/index.ts'
import { type Changing, changing, type Recurrence } from './change.ts'
import { hearMandate } from './hear.ts'
import { TURNS_BEFORE } from './mandate.ts'
import { findRecurrences, lockMandate, type MandateKey } from './recurrence.store.ts'
import { writeChanges } from './write-changes.ts'

export type ChangeMandateContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly outbox: Outbox
  readonly now: Instant
}

/** How many numbers one change of a mandate may need. */
export const NUMBERS_PER_CHANGE = 2

/** One mandate, held while it is decided on and changed. Undefined when there is no such mandate. Its news have turns beyond `turns`. */
export async function changeMandate<Value, Refusal>(
  { tx, ids, numbers, outbox, now }: ChangeMandateContext,
  key: MandateKey,
  decide: (work: Changing, recurrence: Recurrence, at: Instant) => Result<Value, Refusal>,
  turns = 0,
): Promise<Result<Value, Refusal> | undefined> {
  if (!(await lockMandate(tx, key))) return undefined
  const [found] = await findRecurrences(tx, [key])
  const { mandate } = found!
  const recurrence = { ...found!, mandate: { ...mandate, turns: Math.max(mandate.turns, turns) } }
  const account = (await findAccountTerms(tx, [key.accountId])).get(key.accountId)!
  const fresh = await numbers.take(NUMBERS_PER_CHANGE)
  const at = accountNow(account, now)
  const work = changing(recurrence, { at, account, newId: ids.uuidAt, nextNumber: () => fresh.pop() as NumberId })
  const decided = decide(work, recurrence, at)
  if (!decided.ok) return decided
  const item = { change: work.change(), settings: account.notifications }
  const later = outboxAfterCommit(outbox, (step) => tx.afterCommit(step))
  const written = await writeChanges(tx, { ids, outbox: later, now }, [item])
  assert(written.size === 1, 'a locked mandate changed under us')
  return decided
}

/** Whoever paid its first charge has authorized it. */
export async function authorizeMandate(
  context: Omit<ChangeMandateContext, 'tx'> & { readonly db: Queryable },
  key: MandateKey,
  payer: Payer,
): Promise<void> {
  const inside = { ...context, tx: context.db as Transaction }
  const authorize = (work: Changing) => {
    const heard = hearMandate(work, {
      kind: 'mandate',
      rail: '',
      idRec: work.mandate().idRec,
      state: 'APPROVED',
      payer,
    })
    return heard === 'changed' ? ok(undefined) : refuse(heard)
  }
  await changeMandate(inside, key, authorize, TURNS_BEFORE.approvalByIt)
}

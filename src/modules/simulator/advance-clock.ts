import { DAY_MS, type Instant, MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import {
  accountNow,
  findAccountTerms,
  lockAccountTerms,
  releaseClock,
  setClockOffset,
  takeClock,
} from '../account/index.ts'
import { expireSale, findNextExpiry } from '../sale/index.ts'

const JUMP_MS_MAX = 1_830 * DAY_MS
/** How long a jump holds the clock after each step, should its process die. */
const CLAIM_MS = MINUTE_MS

export type ClockReading = { readonly now: Instant; readonly offsetMs: number }
export type AdvanceRefusal = { code: 'clock.backwards' } | { code: 'clock.tooFar' } | { code: 'clock.busy' }
export type Advanced = ClockReading & { readonly processed: number }

type ClockContext = { readonly db: Database; readonly clock: Clock }

export async function readClock({ db, clock }: ClockContext, accountId: AccountId): Promise<ClockReading> {
  const account = (await findAccountTerms(db, [accountId])).get(accountId)!
  return { now: accountNow(account, clock.now()), offsetMs: account.clockOffsetMs }
}

export async function resetClock(
  context: ClockContext,
  accountId: AccountId,
): Promise<Result<ClockReading, { code: 'clock.busy' }>> {
  return holdingClock(context, accountId, async () => {
    await setClockOffset(context.db, accountId, 0, context.clock.now())
    return ok(await readClock(context, accountId))
  })
}

/**
 * Everything due on the way happens in order, each with the account's clock at its own due time and each in a
 * transaction of its own: after a broken call the clock stands at the last one.
 */
export async function advanceClock(
  context: ClockContext,
  accountId: AccountId,
  target: (now: Instant) => Instant,
): Promise<Result<Advanced, AdvanceRefusal>> {
  const { now } = await readClock(context, accountId)
  const to = target(now)
  if (to < now) return refuse({ code: 'clock.backwards' })
  if (to - now > JUMP_MS_MAX) return refuse({ code: 'clock.tooFar' })
  return holdingClock(context, accountId, async () => {
    const processed = await runDue(context, accountId, to)
    const offsetMs = await context.db.inTransaction((tx) => moveClock(context, tx, accountId, to))
    return ok({ now: to, offsetMs, processed })
  })
}

async function runDue(context: ClockContext, accountId: AccountId, to: Instant): Promise<number> {
  for (let processed = 0; ; ) {
    // A payment settled at the very expiry still counts, so a sale is due the moment after.
    const due = await findNextExpiry(context.db, accountId, to)
    if (due === undefined) return processed
    const done = await context.db.inTransaction(async (tx) => {
      await moveClock(context, tx, accountId, plusMs(due.dueAt, 1))
      return expireSale(tx, accountId, due.saleId)
    })
    if (done) processed += 1
  }
}

/** Never back: real time has passed since the jump began. */
async function moveClock({ clock }: ClockContext, tx: Transaction, accountId: AccountId, at: Instant): Promise<number> {
  const account = (await lockAccountTerms(tx, accountId))!
  const now = clock.now()
  const offsetMs = Math.max(account.clockOffsetMs, at - now, 0)
  await setClockOffset(tx, accountId, offsetMs, plusMs(now, CLAIM_MS))
  return offsetMs
}

async function holdingClock<Value, Refusal>(
  { db, clock }: ClockContext,
  accountId: AccountId,
  work: () => Promise<Result<Value, Refusal>>,
): Promise<Result<Value, Refusal | { code: 'clock.busy' }>> {
  const now = clock.now()
  if (!(await takeClock(db, accountId, now, plusMs(now, CLAIM_MS)))) return refuse({ code: 'clock.busy' })
  try {
    return await work()
  } finally {
    await releaseClock(db, accountId)
  }
}

import { DAY_MS, type Instant, MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts'
import { type NumberBlocks, numbersInTurn } from '../../platform/number-blocks.ts'
import type { Rail } from '../../rail/rail.ts'
import {
  accountNow,
  findAccountTerms,
  lockAccountTerms,
  releaseClock,
  setClockOffset,
  takeClock,
} from '../account/index.ts'
import { type DoorContext, insideDoor } from '../door/index.ts'
import { bringNear, findDueOutflowsOf } from '../outflow/index.ts'
import { findNextDue } from '../recurrence/index.ts'
import { expireSale, findNextExpiries } from '../sale/index.ts'
import { playDue } from './play-recurrence.ts'
import { paid, settleOutflow } from './settle-outflow.ts'

const JUMP_MS_MAX = 1_830 * DAY_MS
/** Many jumps together end here: what an account makes late in its life still has years of four digits. */
const CLOCK_MAX = Date.UTC(9000, 0) as Instant
/** Due things read at once. */
const DUE_PAGE = 500
/** How long a jump holds the clock after each step, should its process die. */
const CLAIM_MS = MINUTE_MS
/** A charge that is registered becomes a sale, and the next one is planned. */
const NUMBERS_PER_STEP = 2

export type ClockReading = { readonly now: Instant; readonly offsetMs: number }
export type AdvanceRefusal = { code: 'clock.backwards' } | { code: 'clock.tooFar' } | { code: 'clock.busy' }
export type Advanced = ClockReading & { readonly processed: number }

type ClockContext = {
  readonly db: Database
  readonly clock: Clock
  readonly door: DoorContext
  readonly rail: Rail
}

/** A jump may be asked for twice with one key: then it is answered again, not made again. */
export type JumpAnswer<Reading> = {
  /** True when the same request was answered before, and now has been again. */
  readonly repeat: () => Promise<boolean>
  /** Runs the last step in a transaction that keeps the answer too, then answers. */
  readonly keep: (lastStep: (tx: Transaction) => Promise<Reading>) => Promise<void>
}

export async function readClock(
  { db, clock }: { readonly db: Queryable; readonly clock: Clock },
  accountId: AccountId,
): Promise<ClockReading> {
  const account = (await findAccountTerms(db, [accountId])).get(accountId)!
  return { now: accountNow(account, clock.now()), offsetMs: account.clockOffsetMs }
}

export async function resetClock(
  context: ClockContext,
  accountId: AccountId,
  answer: JumpAnswer<ClockReading>,
): Promise<Result<void, { code: 'clock.busy' }>> {
  const { clock } = context
  return holdingClock(context, accountId, answer, async (letGo) => {
    const reset = async (tx: Transaction): Promise<ClockReading> => {
      await setClockOffset(tx, accountId, 0, clock.now())
      await bringNear(tx, accountId, clock.now())
      await letGo(tx)
      return readClock({ db: tx, clock }, accountId)
    }
    return ok(await answer.keep(reset))
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
  answer: JumpAnswer<Advanced>,
): Promise<Result<void, AdvanceRefusal>> {
  return holdingClock<AdvanceRefusal>(context, accountId, answer, async (letGo) => {
    const { now } = await readClock(context, accountId)
    const to = target(now)
    if (to < now) return refuse({ code: 'clock.backwards' })
    if (to - now > JUMP_MS_MAX || to > CLOCK_MAX) return refuse({ code: 'clock.tooFar' })
    const processed = await runDue(context, accountId, to)
    const arrive = async (tx: Transaction): Promise<Advanced> => {
      const offsetMs = await moveClock(context, tx, accountId, to)
      await letGo(tx)
      return { now: to, offsetMs, processed }
    }
    return ok(await answer.keep(arrive))
  })
}

/** Something due on the way: at which time, and what happens then. Ties go by kind and id. */
type DueThing = {
  readonly dueAt: Instant
  readonly kind: string
  readonly id: string
  /** It may leave something else due on the way. */
  readonly breeds: boolean
  readonly run: (tx: Transaction, now: Instant, numbers: NumberBlocks) => Promise<boolean>
}

async function findDue(context: ClockContext, accountId: AccountId, to: Instant): Promise<DueThing[]> {
  const { db, door } = context
  const [expiries, outflows, recurrences] = await Promise.all([
    findNextExpiries(db, accountId, to, DUE_PAGE),
    findDueOutflowsOf(db, accountId, to, DUE_PAGE),
    findNextDue(db, accountId, to, DUE_PAGE),
  ])
  const things = [
    ...expiries.map(
      ({ saleId, dueAt }): DueThing => ({
        // A payment settled at the very expiry still counts, so a sale is due the moment after.
        dueAt: plusMs(dueAt, 1),
        kind: 'expiry',
        id: saleId,
        breeds: false,
        run: (tx, now) => expireSale(tx, { accountId, saleId, now }),
      }),
    ),
    ...outflows.map(
      (order): DueThing => ({
        dueAt: order.dueAt,
        kind: `outflow ${order.kind}`,
        id: order.id,
        breeds: false,
        run: (tx) => settleOutflow(insideDoor(door, tx), tx, order, paid),
      }),
    ),
    ...recurrences.map(
      (thing): DueThing => ({
        dueAt: thing.dueAt,
        kind: `recurrence ${thing.kind}`,
        id: thing.id,
        breeds: true,
        run: (tx, _, numbers) => playDue({ ...context, door: { ...door, numbers } }, tx, thing),
      }),
    ),
  ]
  things.sort((a, b) => a.dueAt - b.dueAt || compare(a.kind, b.kind) || compare(a.id, b.id))
  // Either list may have been cut: what lies beyond its last one is found the next time.
  return things.slice(0, DUE_PAGE)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

async function runDue(context: ClockContext, accountId: AccountId, to: Instant): Promise<number> {
  for (let processed = 0; ; ) {
    const due = await findDue(context, accountId, to)
    let bred = false
    for (const { dueAt, run, breeds } of due) {
      const numbers = numbersInTurn(breeds ? await context.door.numbers.take(NUMBERS_PER_STEP) : [])
      const done = await context.db.inTransaction(async (tx) => {
        await moveClock(context, tx, accountId, dueAt)
        return run(tx, dueAt, numbers)
      })
      if (done) processed += 1
      // What it left may be due before the next one here.
      bred = breeds
      if (bred) break
    }
    if (!bred && due.length < DUE_PAGE) return processed
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

/** The last step lets go of the clock itself, so that whoever has the answer finds it free. */
async function holdingClock<Refusal>(
  { db, clock }: ClockContext,
  accountId: AccountId,
  { repeat }: Pick<JumpAnswer<never>, 'repeat'>,
  work: (letGo: (tx: Transaction) => Promise<void>) => Promise<Result<void, Refusal>>,
): Promise<Result<void, Refusal | { code: 'clock.busy' }>> {
  if (await repeat()) return ok(undefined)
  const now = clock.now()
  if (!(await takeClock(db, accountId, now, plusMs(now, CLAIM_MS)))) return refuse({ code: 'clock.busy' })
  let held = true
  try {
    // The first request with the key may have ended just before the clock was ours.
    if (await repeat()) return ok(undefined)
    return await work(async (tx) => {
      await releaseClock(tx, accountId)
      held = false
    })
  } finally {
    if (held) await releaseClock(db, accountId)
  }
}

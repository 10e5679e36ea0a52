import { DAY_MS, type Instant, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { ChargeId, MandateId, NumberId } from '../../kernel/ids.ts'
import { chargeTxidOf } from '../../kernel/txid.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { CollectionNews, CollectionOrder, Rail } from '../../rail/rail.ts'
import { type AccountTerms, accountNow, findAccountTerms } from '../account/index.ts'
import type { Outbox } from '../notification/index.ts'
import { type Changing, changing, type Recurrence, type RecurrenceOfCharge } from './change.ts'
import { collectionDay } from './cycle.ts'
import { claimDue, type DueOf, type DueThing, leaseDue } from './due.store.ts'
import { findRecurrences, findRecurrencesOfCharges } from './recurrence.store.ts'
import { type ToWrite, writeChanges } from './write-changes.ts'

export type EngineContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly outbox: Outbox
  readonly rail: Rail
  /** The door: what the rail says at once goes the same way as what it says later. `known`: the charges as they stand, by txid. */
  readonly hear: (news: readonly CollectionNews[], known: ReadonlyMap<string, RecurrenceOfCharge>) => Promise<unknown>
}

const BATCH = 256
const LEASE_MS = 20 * SECOND_MS
/** How long a bank may take to answer before it is asked again. */
const ANSWER_MS = DAY_MS / 12

/** One batch of what is due; true when more may be waiting: a cycle that is registered late leaves the next one due. */
export async function engineStep(context: EngineContext, of: DueOf): Promise<boolean> {
  const now = context.clock.now()
  const leaseEnds = plusMs(now, LEASE_MS)
  const claimed = await claimDue(context.db, { by: 'engine', now, leaseEnds, limit: BATCH, of })
  const outrun = await runDue(context, claimed)
  await leaseDue(context.db, outrun, null)
  return claimed.length > 0
}

/** Answers those that somebody else changed meanwhile: they are to be looked at again. */
export async function runDue(context: EngineContext, things: readonly DueThing[]): Promise<DueThing[]> {
  const expiring = things.filter(({ kind }) => kind === 'expire')
  const sending = things.filter(({ kind }) => kind === 'register' || kind === 'retry')
  const late = await expireMandates(context, expiring)
  return [...late, ...(await sendCharges(context, sending))]
}

async function expireMandates(context: EngineContext, things: readonly DueThing[]): Promise<DueThing[]> {
  const found = await findRecurrences(
    context.db,
    things.map(({ accountId, id }) => ({ accountId, mandateId: id as MandateId })),
  )
  const items = await decideAll(context, found, 0, (work) => work.move('expire'))
  const lost = await writeAll(context, items)
  return things.filter(({ id }) => lost.has(id))
}

/** The price is settled and committed before the bank hears of it; whoever gets no answer sends the same again. */
async function sendCharges(context: EngineContext, things: readonly DueThing[]): Promise<DueThing[]> {
  const keys = things.map(({ accountId, id }) => ({ accountId, chargeId: id as ChargeId }))
  const found = await findRecurrencesOfCharges(context.db, keys)
  const undecided = found.filter(({ charge }) => charge.saleId === null || charge.nextAttempt !== null)
  const items = await decideAll(context, undecided, 2, (work, { charge }) =>
    charge.saleId === null ? work.reserve(charge.id) : work.missRetry(charge.id),
  )
  const lost = await writeAll(context, items)
  const outrun = new Set<string>()
  const changed = new Map<ChargeId, Pick<RecurrenceOfCharge, 'mandate' | 'charge'>>()
  for (const { change } of items)
    for (const charge of change.charges)
      if (lost.has(change.before.id)) outrun.add(charge.id)
      else changed.set(charge.id, { mandate: change.mandate, charge })
  const sending = found.flatMap((before): RecurrenceOfCharge[] => {
    const { mandate, charge } = changed.get(before.charge.id) ?? before
    // A retry that was just put off has its own time.
    const isToSend = charge.state === 'PENDING_SCHEDULE' || (charge === before.charge && charge.nextAttempt !== null)
    return isToSend && mandate.state === 'APPROVED' && !outrun.has(charge.id)
      ? [{ ...before, mandate, charge, charges: [charge] }]
      : []
  })
  if (sending.length > 0) {
    const orders = sending.map(orderOf)
    const news = await context.rail.collect(orders)
    const known = new Map(orders.map(({ txid }, place) => [txid as string, sending[place]!]))
    if (news.length > 0) await context.hear(news, known)
    await waitForAnswers(context, things, orders, news)
  }
  return things.filter(({ id }) => outrun.has(id))
}

function orderOf({ charge, mandate: { idRec, periodicity } }: RecurrenceOfCharge): CollectionOrder {
  const attempt = charge.nextAttempt ?? charge.attempt
  return {
    txid: chargeTxidOf({ accountId: charge.accountId, chargeId: charge.id }),
    idRec,
    amount: charge.amount!,
    dueDate: charge.dueDate,
    attempt,
    collectOn: collectionDay(charge.dueDate, periodicity, attempt)!,
  }
}

/** A bank that has not answered yet is not asked again at once. */
async function waitForAnswers(
  { db, clock }: EngineContext,
  things: readonly DueThing[],
  orders: readonly CollectionOrder[],
  news: readonly CollectionNews[],
): Promise<void> {
  const answered = new Set<string>(news.map(({ txid }) => txid))
  const silent = new Set(orders.filter(({ txid }) => !answered.has(txid)).map(({ txid }) => txid))
  if (silent.size === 0) return
  const waiting = things.filter(({ accountId, id }) =>
    silent.has(chargeTxidOf({ accountId, chargeId: id as ChargeId })),
  )
  await leaseDue(db, waiting, plusMs(clock.now(), ANSWER_MS))
}

/** `numbersEach`: how many numbers one decision may need. */
async function decideAll<Found extends Recurrence>(
  { db, clock, ids, numbers }: EngineContext,
  found: readonly Found[],
  numbersEach: number,
  decide: (work: Changing, one: Found) => boolean,
): Promise<ToWrite[]> {
  if (found.length === 0) return []
  const now = clock.now()
  const [accounts, fresh] = await Promise.all([
    findAccountTerms(
      db,
      found.map(({ mandate }) => mandate.accountId),
    ),
    numbers.take(found.length * numbersEach),
  ])
  const nextNumber = () => fresh.pop() as NumberId
  return found.flatMap((one) => {
    const account = accounts.get(one.mandate.accountId)!
    const work = changing(one, { at: timeOf(account, now), account, newId: ids.uuidAt, nextNumber })
    return decide(work, one) ? [{ change: work.change(), settings: account.notifications }] : []
  })
}

const timeOf = (account: AccountTerms, now: Instant): Instant => accountNow(account, now)

/** The mandates whose change came too late. */
async function writeAll({ db, clock, ids, outbox }: EngineContext, items: readonly ToWrite[]): Promise<Set<string>> {
  const written = await writeChanges(db, { ids, outbox, now: clock.now() }, items)
  return new Set(items.flatMap(({ change }, place) => (written.has(place + 1) ? [] : [change.before.id])))
}

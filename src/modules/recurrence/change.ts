import { assert } from '../../kernel/assert.ts'
import { dayOf, type Instant, plusDays, plusMs, startOfDay } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { ChargeId, EndToEndId, NumberId, SaleId } from '../../kernel/ids.ts'
import { findMove } from '../../kernel/moves.ts'
import { type AccountTerms, feeFor } from '../account/index.ts'
import type { News } from '../notification/index.ts'
import { CANCELLATION, type Charge, type ChargeTrigger, chargeMoves, isOpen, mayRetryAfter } from './charge.ts'
import {
  collectionAt,
  collectionDay,
  cycleAfter,
  dueDateOf,
  firstChargeableDay,
  firstCycleFrom,
  nextRetry,
  RETRIES_MAX,
  registrationAt,
} from './cycle.ts'
import {
  awaitsPayer,
  type ContractTerms,
  type Mandate,
  type MandateTrigger,
  mandateMoves,
  priceOfNextCycle,
  toldOfMandate,
} from './mandate.ts'
import { type ChargeNews, chargeNews, mandateNews } from './recurrence-news.ts'

/** A mandate with what its plan says, and the charges that a decision is about. */
export type Recurrence = {
  readonly mandate: Mandate
  readonly plan: ContractTerms
  readonly charges: readonly Charge[]
}
/** The same, about one charge. */
export type RecurrenceOfCharge = Recurrence & { readonly charge: Charge }

/** Where a decision gets what it must not make up: the account's time and fee, ids and numbers. */
export type Deciding = {
  readonly at: Instant
  readonly account: Pick<AccountTerms, 'pixFee'>
  readonly newId: (at: Instant) => string
  readonly nextNumber: () => NumberId
}

/** The sale that a charge becomes. */
export type ChargeSale = {
  readonly id: SaleId
  readonly number: NumberId
  readonly chargeId: ChargeId
  readonly amount: Cents
  readonly fee: Cents
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

export type DueKind = 'expire' | 'register' | 'retry' | 'collect'
export type Due = { readonly id: string; readonly next: { readonly kind: DueKind; readonly at: Instant } | null }

/** What a decision wants written: all of it, or nothing when the mandate has changed meanwhile. */
export type Change = {
  readonly before: Mandate
  readonly mandate: Mandate
  readonly newCharges: readonly Charge[]
  readonly charges: readonly Charge[]
  readonly newSales: readonly ChargeSale[]
  /** Pending sales that nobody will pay any more. */
  readonly cancelledSales: readonly SaleId[]
  readonly dues: readonly Due[]
  /** In the order in which they are told; the first has the turn after `before.turns`. */
  readonly news: readonly News[]
}

/** What becomes of a recurrence, decided step by step and written as one change. */
export type Changing = {
  readonly mandate: () => Mandate
  readonly charge: (id: ChargeId) => Charge
  /** False, and nothing happens, when the mandate's table has no such move. */
  move(on: MandateTrigger, payer?: Mandate['payer']): boolean
  setOneOff(amount: Cents): void
  /** Settles the price and makes the sale; the next cycle is planned. */
  reserve(id: ChargeId): boolean
  /** The payer's bank has it, for this attempt. */
  schedule(id: ChargeId): boolean
  pay(id: ChargeId, endToEnd: EndToEndId): boolean
  fail(id: ChargeId, on: 'fail' | 'reject', code: string): boolean
  /** False unless the day of the retry to come has passed: then the next one is planned, or it has failed for good. */
  missRetry(id: ChargeId): boolean
  cancel(id: ChargeId, reason: string | null): boolean
  change(): Change
}

export function changing({ mandate: before, plan, charges }: Recurrence, deciding: Deciding): Changing {
  const { at, account, newId, nextNumber } = deciding
  let mandate = before
  const known = new Map(charges.map((charge) => [charge.id, charge]))
  const fresh = new Set<ChargeId>()
  const touched = new Set<ChargeId>()
  const newSales: ChargeSale[] = []
  const cancelledSales: SaleId[] = []
  const news: News[] = []

  const chargeOf = (id: ChargeId): Charge => {
    const charge = known.get(id)
    assert(charge !== undefined, 'a decision is about charges that it was shown')
    return charge
  }
  const put = (charge: Charge): Charge => {
    known.set(charge.id, charge)
    touched.add(charge.id)
    return charge
  }
  const tellOf = (charge: Charge, what: ChargeNews) => news.push(chargeNews({ mandate, plan, charge, at }, what))
  const moved = (charge: Charge, on: ChargeTrigger) => findMove(chargeMoves, charge.state, on)?.[2]

  function plan_(cycle: number | undefined) {
    mandate = { ...mandate, nextCycle: cycle ?? null }
    if (cycle === undefined) return
    const id = newId(at) as ChargeId
    fresh.add(id)
    put({
      accountId: mandate.accountId,
      id,
      number: nextNumber(),
      mandateId: mandate.id,
      cycle,
      state: 'PENDING_SCHEDULE',
      dueDate: dueDateOf(mandate, cycle),
      amount: null,
      saleId: null,
      saleNumber: null,
      attempt: 0,
      nextAttempt: null,
      endToEnd: null,
      rejectionCode: null,
      cancelReason: null,
      createdAt: at,
    })
    mandate = { ...mandate, openCharges: mandate.openCharges + 1 }
  }

  /** It will not be paid any more; with the last one the mandate is done. */
  function close(charge: Charge) {
    if (charge.state !== 'PAID' && charge.saleId !== null) cancelledSales.push(charge.saleId)
    mandate = { ...mandate, openCharges: mandate.openCharges - 1 }
    concludeWhenDone()
  }

  /** The next cycle is an open charge, too. */
  function concludeWhenDone() {
    if (mandate.openCharges === 0) move('conclude')
  }

  /** What it would have cost is settled with it, and a price for this cycle only goes with it: later prices are of other cycles. */
  function asCancelled({ amount: settled }: Charge) {
    const amount = settled ?? priceOfNextCycle(mandate, plan)
    if (settled === null) mandate = { ...mandate, oneOff: null }
    return { rejectionCode: CANCELLATION, amount } as const
  }

  function endCharges() {
    for (const charge of [...known.values()].filter(isOpen)) {
      const cancelled = moved(charge, 'cancel')
      const ended = put({
        ...charge,
        state: cancelled ?? charge.state,
        nextAttempt: null,
        ...(cancelled && asCancelled(charge)),
      })
      close(ended)
      if (charge.state === 'SCHEDULED') tellOf(ended, { event: 'RECURRENCE_CHARGE_FAILED', status: 'CANCELLED' })
    }
  }

  function move(on: MandateTrigger, payer?: Mandate['payer']): boolean {
    const found = findMove(mandateMoves, mandate.state, on)
    if (found === undefined) return false
    const [from, , to] = found
    mandate = { ...mandate, state: to, updatedAt: at, ...(payer && { payer }) }
    if (to === 'APPROVED') {
      mandate = { ...mandate, approvedAt: at }
      plan_(firstCycleFrom(mandate, firstChargeableDay(dayOf(at))))
    }
    // Nobody pays now for what was never authorized.
    if (awaitsPayer(from) && !awaitsPayer(to) && to !== 'APPROVED' && mandate.immediate)
      cancelledSales.push(mandate.id as string as SaleId)
    const event = toldOfMandate[to]
    const ends = to === 'CANCELLED' || to === 'CONCLUDED'
    if (ends) mandate = { ...mandate, nextCycle: null }
    if (event) news.push(mandateNews({ mandate, plan, at }, event))
    if (ends) endCharges()
    // What waits for the mandate, waits no longer.
    if (to === 'CANCELLING') for (const charge of known.values()) touched.add(charge.id)
    if (to === 'APPROVED') concludeWhenDone()
    return true
  }

  function schedule(id: ChargeId): boolean {
    const charge = chargeOf(id)
    const on = charge.nextAttempt === null ? 'schedule' : 'retry'
    const to = moved(charge, on)
    if (to === undefined || charge.saleId === null) return false
    const attempt = charge.nextAttempt ?? charge.attempt
    const scheduled = put({ ...charge, state: to, attempt, nextAttempt: null, rejectionCode: null })
    tellOf(scheduled, { event: 'RECURRENCE_CHARGE_SCHEDULED', status: 'SCHEDULED' })
    return true
  }

  return {
    mandate: () => mandate,
    charge: chargeOf,
    move,
    setOneOff(amount) {
      mandate = { ...mandate, oneOff: amount, updatedAt: at }
    },
    reserve(id) {
      const charge = chargeOf(id)
      const waits = charge.state === 'PENDING_SCHEDULE' && charge.saleId === null
      if (!waits || mandate.state !== 'APPROVED') return false
      const amount = priceOfNextCycle(mandate, plan)
      const sale: ChargeSale = {
        id: newId(at) as SaleId,
        number: nextNumber(),
        chargeId: id,
        amount,
        fee: feeFor(amount, account.pixFee),
        createdAt: at,
        expiresAt: lastCollectionEnds(charge, mandate),
      }
      newSales.push(sale)
      put({ ...charge, amount, saleId: sale.id, saleNumber: sale.number })
      mandate = { ...mandate, oneOff: null }
      plan_(cycleAfter(mandate, charge.cycle))
      return true
    },
    schedule,
    pay(id, endToEnd) {
      const charge = chargeOf(id)
      const to = moved(charge, 'pay')
      if (to === undefined) return false
      const paid = put({ ...charge, state: to, endToEnd })
      tellOf(paid, { event: 'RECURRENCE_CHARGE_PAID', status: 'PAID' })
      close(paid)
      return true
    },
    fail(id, on, code) {
      const charge = chargeOf(id)
      const to = moved(charge, on)
      if (to === undefined) return false
      const next = retryAfter(charge, mandate, code, at)
      const failed = put({ ...charge, state: to, rejectionCode: code, nextAttempt: next ?? null })
      tellOf(failed, { event: 'RECURRENCE_CHARGE_FAILED', status: on === 'reject' ? 'REJECTED' : 'FAILED' })
      if (next === undefined) close(failed)
      return true
    },
    missRetry(id) {
      const charge = chargeOf(id)
      const { dueDate, nextAttempt } = charge
      if (nextAttempt === null || mandate.state !== 'APPROVED') return false
      const today = dayOf(at)
      if (collectionDay(dueDate, mandate.periodicity, nextAttempt)! >= today) return false
      // A retry of today is sent on its day like any other.
      const next = nextRetry({ dueDate, attempt: nextAttempt }, mandate.periodicity, plusMs(startOfDay(today), -1))
      const missed = put({ ...charge, nextAttempt: next ?? null })
      if (next !== undefined) return true
      tellOf(missed, { event: 'RECURRENCE_CHARGE_FAILED', status: 'FAILED' })
      close(missed)
      return true
    },
    cancel(id, reason) {
      const charge = chargeOf(id)
      const to = moved(charge, 'cancel')
      if (to === undefined) return false
      const cancelled = put({ ...charge, ...asCancelled(charge), state: to, cancelReason: reason })
      // The next cycle is planned when this one is registered; this one never will be. A mandate that is being cancelled has none.
      if (charge.saleId === null) plan_(mandate.state === 'APPROVED' ? cycleAfter(mandate, charge.cycle) : undefined)
      if (charge.state === 'SCHEDULED') tellOf(cancelled, { event: 'RECURRENCE_CHARGE_FAILED', status: 'CANCELLED' })
      close(cancelled)
      return true
    },
    change() {
      const after: Mandate = { ...mandate, version: before.version + 1, turns: before.turns + news.length }
      const changed = [...touched].map((id) => chargeOf(id))
      return {
        before,
        mandate: after,
        newCharges: changed.filter(({ id }) => fresh.has(id)),
        charges: changed.filter(({ id }) => !fresh.has(id)),
        newSales,
        cancelledSales,
        dues: [
          ...(awaitsPayer(before.state) ? [{ id: before.id, next: dueOfMandate(after) }] : []),
          ...changed.map((charge) => ({ id: charge.id, next: dueOfCharge(charge, after) })),
        ],
        news,
      }
    },
  }
}

/** All must hold: the policy allows it, a retry is left and its day not begun, and trying again may help. */
function retryAfter(charge: Charge, mandate: Mandate, code: string, at: Instant): number | undefined {
  if (!mandate.retries || mandate.state !== 'APPROVED' || !mayRetryAfter(code)) return undefined
  return nextRetry(charge, mandate.periodicity, at)
}

/** The end of the last day on which the charge can be collected. */
function lastCollectionEnds({ dueDate }: Charge, { retries, periodicity }: Mandate): Instant {
  const last = collectionDay(dueDate, periodicity, retries ? RETRIES_MAX : 0)!
  return plusMs(startOfDay(plusDays(last, 1)), -1)
}

/** A mandate that nobody answers in time. An answer at the very end still counts. */
export const dueOfMandate = (mandate: Pick<Mandate, 'state' | 'expiresAt'>): Due['next'] =>
  awaitsPayer(mandate.state) ? { kind: 'expire', at: plusMs(mandate.expiresAt, 1) } : null

export function dueOfCharge(charge: Charge, mandate: Pick<Mandate, 'state' | 'periodicity'>): Due['next'] {
  const { state, dueDate, createdAt, attempt, nextAttempt } = charge
  if (state === 'SCHEDULED')
    return { kind: 'collect', at: collectionAt(collectionDay(dueDate, mandate.periodicity, attempt)!) }
  if (mandate.state !== 'APPROVED') return null
  if (state === 'PENDING_SCHEDULE')
    return { kind: 'register', at: Math.max(registrationAt(dueDate), createdAt) as Instant }
  if (nextAttempt === null) return null
  return { kind: 'retry', at: startOfDay(collectionDay(dueDate, mandate.periodicity, nextAttempt)!) }
}

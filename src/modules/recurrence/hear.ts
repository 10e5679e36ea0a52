import type { EndToEndId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { CollectionNews, MandateNews, PaymentReceived } from '../../rail/rail.ts'
import type { PaymentMisfit } from '../sale/index.ts'
import type { Changing } from './change.ts'
import { type Charge, INSUFFICIENT_FUNDS, isOpen } from './charge.ts'
import type { Mandate, MandateTrigger } from './mandate.ts'

/** A rail tells things late, twice and out of order: what is known already is no news, what cannot be is a contradiction. */
export type Heard = 'changed' | 'duplicate' | 'conflict'

const triggers: Record<MandateNews['state'], MandateTrigger> = {
  APPROVING: 'present',
  APPROVED: 'approve',
  REJECTED: 'reject',
  EXPIRED: 'expire',
  CANCELLING: 'askCancel',
  CANCELLED: 'cancel',
  CONCLUDED: 'conclude',
}

export function hearMandate(work: Changing, { state, payer }: MandateNews): Heard {
  const before = work.mandate()
  if (hasBeen(before, state)) return 'duplicate'
  // The payer has seen it before he answers.
  if (state === 'APPROVED') work.move('present')
  const known = payer && {
    document: payer.document ?? before.payer.document,
    name: payer.name ?? before.payer.name,
    ispb: payer.ispb ?? before.payer.ispb,
  }
  return work.move(triggers[state], known ?? undefined) ? 'changed' : 'conflict'
}

function hasBeen({ state, approvedAt }: Mandate, told: MandateNews['state']): boolean {
  if (state === told) return true
  if (told === 'APPROVING') return state !== 'CREATED'
  if (told === 'APPROVED') return approvedAt !== null
  return told === 'CANCELLING' && state === 'CANCELLED'
}

export function hearCollection(work: Changing, charge: Charge, { state, attempt, code }: CollectionNews): Heard {
  if (attempt < charge.attempt) return 'duplicate'
  const isPlanned = charge.nextAttempt === attempt
  if (attempt > charge.attempt && !isPlanned) return 'conflict'
  const isWaiting = isPlanned || charge.state === 'PENDING_SCHEDULE'
  if (state === 'SCHEDULED') return isWaiting ? changed(work.schedule(charge.id)) : 'duplicate'
  if (state === 'CANCELLED') return charge.state === 'CANCELLED' ? 'duplicate' : changed(work.cancel(charge.id, null))
  if (charge.state === 'FAILED' && !isPlanned) return charge.rejectionCode === reasonOf(code) ? 'duplicate' : 'conflict'
  // A bank that answers at once may be heard before its first word.
  if (isWaiting && !work.schedule(charge.id)) return 'conflict'
  return changed(work.fail(charge.id, state === 'REJECTED' ? 'reject' : 'fail', reasonOf(code)))
}

const changed = (done: boolean): Heard => (done ? 'changed' : 'conflict')

/** An attempt that came to nothing without a reason found no money. */
const reasonOf = (code: string | null): string => code ?? INSUFFICIENT_FUNDS

/** Any charge that may still be paid takes its money, whatever else was not heard yet; all other money goes back. */
export function hearPayment(
  work: Changing | undefined,
  charge: Charge | undefined,
  { amount, endToEnd }: Pick<PaymentReceived, 'amount' | 'endToEnd'>,
): Result<void, PaymentMisfit> {
  if (work === undefined || charge === undefined || charge.saleId === null) return refuse('UNKNOWN_CHARGE')
  if (charge.state === 'PAID') return refuse('ALREADY_PAID')
  if (!isOpen(charge)) return refuse('SALE_NOT_PENDING')
  if (amount !== charge.amount) return refuse('AMOUNT_DIFFERS')
  if (charge.state !== 'SCHEDULED') work.schedule(charge.id)
  return work.pay(charge.id, endToEnd as EndToEndId) ? ok(undefined) : refuse('SALE_NOT_PENDING')
}

import type { Instant } from '../../kernel/calendar.ts'
import { type Cents, centsToWire } from '../../kernel/cents.ts'
import { priceOfNextCycle, type Recurrence } from '../recurrence/index.ts'
import { isGivenBy } from './answer-mandate.ts'
import type { MandateOffer } from './offer.ts'
import type { KnownMandate } from './phone.store.ts'
import type { Entry, Phone } from './phone.ts'
import type { CodeTaken } from './take-code.ts'

const money = (amount: Cents | null): number | null => (amount === null ? null : centsToWire(amount))
const time = (at: Instant): string => new Date(at).toISOString()

export const phoneWire = ({ name, document, balance }: Phone) => ({ name, document, balance: centsToWire(balance) })

export const entryWire = (entry: Entry) => ({
  seq: entry.seq,
  kind: entry.kind,
  amount: entry.amount / 100,
  balanceAfter: centsToWire(entry.balanceAfter),
  counterparty: entry.counterparty,
  endToEnd: entry.endToEnd,
  at: time(entry.settledAt),
  outcome: entry.outcome,
})

const offerWire = (offer: MandateOffer) => ({ ...offer, amount: money(offer.amount), floor: money(offer.floor) })

/** What was found, and every check on the way; or which one failed, and why. */
export const codeWire = ({ checks, result, readingId }: CodeTaken) => {
  if (!result.ok) return { checks, refusal: result.refusal }
  const { receiver, charge, mandate } = result.value
  return {
    checks,
    reading: {
      id: readingId,
      receiver,
      charge: charge && { ...charge, amount: centsToWire(charge.amount), expiresAt: time(charge.expiresAt) },
      mandate: mandate && offerWire(mandate),
    },
  }
}

export function mandateWire(
  phone: Phone,
  { offer, payFirst, maximum }: KnownMandate,
  { mandate, plan, charges }: Recurrence,
) {
  return {
    ...offerWire(offer),
    payFirst,
    maximum: money(maximum),
    state: mandate.state,
    mine: isGivenBy(mandate, phone),
    charges: charges.map((charge) => ({
      dueDate: charge.dueDate,
      amount: centsToWire(charge.amount ?? priceOfNextCycle(mandate, plan)),
      state: charge.state,
    })),
  }
}

import { assert } from '../../kernel/assert.ts'
import type { Instant } from '../../kernel/calendar.ts'
import { type Cents, centsToWire } from '../../kernel/cents.ts'
import { findMandateKeys, findRecurrences, priceOfNextCycle, type Recurrence } from '../recurrence/index.ts'
import { isGivenBy } from './answer-mandate.ts'
import type { MandateOffer } from './offer.ts'
import { type KnownMandate, listEntries, listKnownMandates } from './phone.store.ts'
import type { Entry, Phone } from './phone.ts'
import type { PhoneContext } from './phone-context.ts'
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

function mandateWire(phone: Phone, { offer, payFirst, maximum }: KnownMandate, { mandate, plan, charges }: Recurrence) {
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

export const STATEMENT_PAGE = 50
const MANDATES_MAX = 100
export const NEWEST = 2 ** 31 - 1

/** Everything that the app's first screen shows. */
export async function viewOf({ db }: PhoneContext, phone: Phone) {
  const [entries, known] = await Promise.all([
    listEntries(db, phone.id, NEWEST, STATEMENT_PAGE),
    listKnownMandates(db, phone.id, MANDATES_MAX),
  ])
  const keys = await findMandateKeys(
    db,
    known.map(({ offer }) => offer.idRec),
  )
  const found = new Map((await findRecurrences(db, keys)).map((one) => [one.mandate.idRec as string, one]))
  return {
    phone: phoneWire(phone),
    mandates: known.map((one) => {
      const recurrence = found.get(one.offer.idRec)
      assert(recurrence !== undefined, 'a mandate that was read exists')
      return mandateWire(phone, one, recurrence)
    }),
    entries: entries.map(entryWire),
  }
}

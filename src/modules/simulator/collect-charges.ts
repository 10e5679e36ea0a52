import { createHash } from 'node:crypto'
import { type Instant, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { ChargeId, EndToEndId } from '../../kernel/ids.ts'
import { chargeTxidOf } from '../../kernel/txid.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { PaymentReceived } from '../../rail/rail.ts'
import { SANDBOX_ISPB, SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import {
  type Charge,
  claimDue,
  collectionAt,
  collectionDay,
  type DueClaim,
  type DueThing,
  findRecurrencesOfCharges,
  type Mandate,
  type RecurrenceOfCharge,
} from '../recurrence/index.ts'

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** One attempt is one payment: whoever reports it twice, reports it under one id. */
function endToEndOf(charge: Charge, mandate: Mandate): EndToEndId {
  const txid = chargeTxidOf({ accountId: charge.accountId, chargeId: charge.id })
  const hash = createHash('sha256').update(`${txid} ${charge.attempt}`).digest()
  const letters = Array.from(hash.subarray(0, 11), (byte) => LETTERS[byte % LETTERS.length]).join('')
  const at = collectionAt(collectionDay(charge.dueDate, mandate.periodicity, charge.attempt)!)
  const minute = new Date(at).toISOString().replace(/\D/g, '').slice(0, 12)
  return `E${mandate.payer.ispb ?? SANDBOX_ISPB}${minute}${letters}` as EndToEndId
}

/** The payer's bank has collected the charge. */
export const collected = (charge: Charge, mandate: Mandate, settledAt: Instant): PaymentReceived => ({
  kind: 'payment',
  rail: SANDBOX_RAIL,
  endToEnd: endToEndOf(charge, mandate),
  txid: chargeTxidOf({ accountId: charge.accountId, chargeId: charge.id }),
  amount: charge.amount!,
  settledAt,
  payer: { ...mandate.payer, ispb: mandate.payer.ispb ?? SANDBOX_ISPB },
})

export type Collections = {
  readonly payments: readonly PaymentReceived[]
  /** The charges that they pay, by txid. */
  readonly known: ReadonlyMap<string, RecurrenceOfCharge>
}

/** Payments of the charges whose day has come: the sandbox's payers have the money, unless somebody said otherwise before. */
export async function collectionsOf(db: Queryable, things: readonly DueThing[], now: Instant): Promise<Collections> {
  const keys = things.map(({ accountId, id }) => ({ accountId, chargeId: id as ChargeId }))
  const [all, accounts] = await Promise.all([
    findRecurrencesOfCharges(db, keys),
    findAccountTerms(
      db,
      keys.map(({ accountId }) => accountId),
    ),
  ])
  const found = all.filter(({ charge }) => charge.state === 'SCHEDULED')
  const payments = found.map(({ charge, mandate }) =>
    collected(charge, mandate, accountNow(accounts.get(charge.accountId)!, now)),
  )
  return { payments, known: new Map(payments.map(({ txid }, place) => [txid!, found[place]!])) }
}

const BATCH = 256
const LEASE_MS = 20 * SECOND_MS

export type CollectContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly apply: (payments: Collections['payments'], known: Collections['known']) => Promise<unknown>
}

/** One batch of what the sandbox's banks collect by themselves; true when more may be waiting. */
export async function collectStep(
  { db, clock, apply }: CollectContext,
  account?: DueClaim['account'],
): Promise<boolean> {
  const now = clock.now()
  const claimed = await claimDue(db, { by: 'bank', now, leaseEnds: plusMs(now, LEASE_MS), limit: BATCH, account })
  const { payments, known } = await collectionsOf(db, claimed, now)
  if (payments.length > 0) await apply(payments, known)
  return claimed.length === BATCH
}

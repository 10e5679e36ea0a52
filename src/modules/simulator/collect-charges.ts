import { createHash } from 'node:crypto'
import { type Instant, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { ChargeId, EndToEndId } from '../../kernel/ids.ts'
import { chargeTxidOf } from '../../kernel/txid.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts'
import type { CollectionNews, PaymentReceived } from '../../rail/rail.ts'
import { PHONE_ISPB, SANDBOX_ISPB, SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { type ChargeToCollect, collectFromPhones } from '../phone/index.ts'
import {
  type Charge,
  claimDue,
  collectionAt,
  collectionDay,
  type DueOf,
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

type InTransaction = <Value>(work: (tx: Transaction) => Promise<Value>) => Promise<Value>

export type Collections = {
  /** Payments, and of the charges of phones that cannot pay, why. */
  readonly news: readonly (PaymentReceived | CollectionNews)[]
  /** The charges that they are about, by txid. */
  readonly known: ReadonlyMap<string, RecurrenceOfCharge>
}

/**
 * Payments of the charges whose day has come: the sandbox's payers have the money, unless somebody said otherwise before.
 * A payer phone has what is in its account.
 */
export async function collectionsOf(
  db: Queryable,
  inTransaction: InTransaction,
  things: readonly DueThing[],
  now: Instant,
): Promise<Collections> {
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
  const known = new Map(payments.map(({ txid }, place) => [txid!, found[place]!]))
  const ofPhones = payments.filter(({ payer }) => payer.ispb === PHONE_ISPB)
  if (ofPhones.length === 0) return { news: payments, known }
  const refused = await collectFromPhones(
    inTransaction,
    ofPhones.map((payment): ChargeToCollect => {
      const { mandate, charge } = known.get(payment.txid!)!
      const receiver = accounts.get(charge.accountId)!.name
      return { idRec: mandate.idRec, attempt: charge.attempt, receiver, payment: { ...payment, txid: payment.txid! } }
    }),
  )
  return { news: payments.map((payment) => refused.get(payment.txid!) ?? payment), known }
}

const BATCH = 256
const LEASE_MS = 20 * SECOND_MS

export type CollectContext = {
  readonly db: Pick<Database, 'query' | 'inTransaction'>
  readonly clock: Clock
  readonly apply: (news: Collections['news'], known: Collections['known']) => Promise<unknown>
}

/** One batch of what the sandbox's banks collect by themselves; true when more may be waiting. */
export async function collectStep({ db, clock, apply }: CollectContext, of: DueOf): Promise<boolean> {
  const now = clock.now()
  const claimed = await claimDue(db, { by: 'bank', now, leaseEnds: plusMs(now, LEASE_MS), limit: BATCH, of })
  const { news, known } = await collectionsOf(db, db.inTransaction, claimed, now)
  if (news.length > 0) await apply(news, known)
  return claimed.length === BATCH
}

import { assert } from '../../kernel/assert.ts'
import type { Cents } from '../../kernel/cents.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { numbersInTurn } from '../../platform/number-blocks.ts'
import type { MandateNews } from '../../rail/rail.ts'
import { PHONE_ISPB, SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { applyRailEvents, insideDoor } from '../door/index.ts'
import { lockBook } from '../ledger/index.ts'
import {
  awaitsPayer,
  findMandateKeys,
  findRecurrences,
  lockMandate,
  type Mandate,
  NUMBERS_PER_CHANGE,
} from '../recurrence/index.ts'
import { findKnownMandate, type KnownMandate, lockPhones, setMaximum } from './phone.store.ts'
import { checkMaximum, type MaximumRefusal, type Phone, payerOf } from './phone.ts'
import type { PhoneContext } from './phone-context.ts'
import { receiversTime } from './receivers-time.ts'

export type MandateRefusal =
  | MaximumRefusal
  | { readonly code: 'mandate.unknown' | 'mandate.closed' | 'mandate.payFirst' | 'mandate.notYours' }

/** What may happen to a mandate in the hands of a payer. */
type Held = {
  readonly mandate: Mandate
  readonly known: KnownMandate
  readonly awaits: boolean
  readonly mine: boolean
}

/** It is collected from the account of whoever gave it. */
export const isGivenBy = ({ payer, approvedAt }: Mandate, { document }: Phone): boolean =>
  approvedAt !== null && payer.ispb === PHONE_ISPB && payer.document === document

/** Books and mandates are held before the phone, like everywhere. */
async function holding<Value>(
  context: PhoneContext,
  phone: Phone,
  idRec: string,
  decide: (held: Held, tx: Transaction, tell: (state: MandateNews['state']) => Promise<void>) => Promise<Value>,
): Promise<Value | Result<never, MandateRefusal>> {
  const { db, doorContext, clock } = context
  const known = await findKnownMandate(db, phone.id, idRec)
  const [key] = known ? await findMandateKeys(db, [idRec]) : []
  if (known === undefined || key === undefined) return refuse({ code: 'mandate.unknown' })
  const reserved = await doorContext.numbers.take(NUMBERS_PER_CHANGE)
  return db.inTransaction(async (tx) => {
    await lockBook(tx, key.accountId)
    await lockMandate(tx, key)
    const [found] = await findRecurrences(tx, [key])
    const { mandate } = found!
    const now = await receiversTime(tx, key.accountId, clock.now())
    const awaits = awaitsPayer(mandate.state) && now <= mandate.expiresAt
    const door = insideDoor({ ...doorContext, numbers: numbersInTurn(reserved) }, tx)
    const tell = async (state: MandateNews['state']) => {
      const payer = state === 'APPROVED' ? payerOf(phone) : null
      const [told] = await applyRailEvents(door, [{ kind: 'mandate', rail: SANDBOX_RAIL, idRec, state, payer }])
      assert(typeof told === 'object' && told.outcome === 'applied', 'a mandate that is held takes what fits its state')
    }
    return decide({ mandate, known, awaits, mine: isGivenBy(mandate, phone) }, tx, tell)
  })
}

/** Saying the same again changes nothing. */
export const approveMandate = (
  context: PhoneContext,
  phone: Phone,
  { idRec, maximum }: { readonly idRec: string; readonly maximum: Cents | null },
): Promise<Result<void, MandateRefusal>> =>
  holding(context, phone, idRec, async ({ mandate, known, awaits, mine }, tx, tell) => {
    if (mine && mandate.state === 'APPROVED') return ok(undefined)
    if (!awaits) return refuse({ code: 'mandate.closed' } as const)
    // Who pays the first charge gives it; nobody gives it without.
    if (known.payFirst) return refuse({ code: 'mandate.payFirst' } as const)
    const wrong = checkMaximum(known.offer, maximum)
    if (wrong) return refuse(wrong)
    await tell('APPROVED')
    await lockPhones(tx, [phone.id])
    await setMaximum(tx, phone.id, idRec, maximum)
    return ok(undefined)
  })

export const rejectMandate = (
  context: PhoneContext,
  phone: Phone,
  idRec: string,
): Promise<Result<void, MandateRefusal>> =>
  holding(context, phone, idRec, async ({ mandate, awaits }, _tx, tell) => {
    if (mandate.state === 'REJECTED') return ok(undefined)
    if (!awaits) return refuse({ code: 'mandate.closed' } as const)
    await tell('REJECTED')
    return ok(undefined)
  })

/** Whoever gave it may take it back at any time. */
export const cancelMandate = (
  context: PhoneContext,
  phone: Phone,
  idRec: string,
): Promise<Result<void, MandateRefusal>> =>
  holding(context, phone, idRec, async ({ mandate, mine }, _tx, tell) => {
    if (!mine) return refuse({ code: 'mandate.notYours' } as const)
    if (mandate.state === 'CANCELLED') return ok(undefined)
    if (mandate.state !== 'APPROVED' && mandate.state !== 'CANCELLING')
      return refuse({ code: 'mandate.closed' } as const)
    await tell('CANCELLED')
    return ok(undefined)
  })

/** Holds for the charges from now on; the receiver never learns of it. */
export const limitMandate = (
  context: PhoneContext,
  phone: Phone,
  { idRec, maximum }: { readonly idRec: string; readonly maximum: Cents | null },
): Promise<Result<void, MandateRefusal>> =>
  holding(context, phone, idRec, async ({ mandate, known, mine }, tx) => {
    if (!mine) return refuse({ code: 'mandate.notYours' } as const)
    if (mandate.state !== 'APPROVED') return refuse({ code: 'mandate.closed' } as const)
    const wrong = checkMaximum(known.offer, maximum)
    if (wrong) return refuse(wrong)
    await lockPhones(tx, [phone.id])
    await setMaximum(tx, phone.id, idRec, maximum)
    return ok(undefined)
  })

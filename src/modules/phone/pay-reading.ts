import type { Cents } from '../../kernel/cents.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { endToEndAt, PHONE_ISPB } from '../../rail/sandbox/sandbox-rail.ts'
import {
  findEntries,
  findKnownMandate,
  findReading,
  lockPhones,
  refuseReading,
  setMaximum,
  writeEntries,
} from './phone.store.ts'
import {
  append,
  checkMaximum,
  copiesToPay,
  type Entry,
  type MaximumRefusal,
  type NewEntry,
  type PayRefusal,
  type Phone,
  paymentKey,
  type ReadingId,
} from './phone.ts'
import type { PhoneContext } from './phone-context.ts'
import { receiversTime } from './receivers-time.ts'
import { reportSent } from './report-payments.ts'

export type PayReading = {
  readonly id: ReadingId
  readonly times: 1 | 2
  /** Another one than the receiver asks for. */
  readonly amount?: Cents | undefined
  /** Of each charge of the mandate that is given with the payment. */
  readonly maximum?: Cents | undefined
}

/** All payments of the reading, those made before among them. */
export async function payReading(
  context: PhoneContext,
  owner: Phone,
  asked: PayReading,
): Promise<Result<readonly Entry[], PayRefusal | MaximumRefusal>> {
  const reserved = await reserve(context, owner, asked)
  if (!reserved.ok) return reserved
  await reportSent(context, owner)
  return ok(await findEntries(context.db, owner.id, keysOf(asked.id)))
}

const keysOf = (id: ReadingId): string[] => [paymentKey(id, 1), paymentKey(id, 2)]

/** The money leaves the account first, in a commit of its own; then the receiver's bank is told, as often as it takes. */
async function reserve(
  { db, clock, ids }: PhoneContext,
  owner: Phone,
  asked: PayReading,
): Promise<Result<void, PayRefusal | MaximumRefusal>> {
  return db.inTransaction(async (tx) => {
    const [phone] = await lockPhones(tx, [owner.id])
    const reading = await findReading(tx, owner.id, asked.id)
    if (reading === undefined) return refuse({ code: 'reading.unknown' })
    const made = await findEntries(tx, owner.id, keysOf(asked.id))
    const copies = copiesToPay(phone!, reading, new Set(made.map(({ key }) => key)), asked)
    if (!copies.ok) return copies
    if (reading.idRec !== null && asked.maximum !== undefined) {
      const { offer } = (await findKnownMandate(tx, owner.id, reading.idRec))!
      const wrong = checkMaximum(offer, asked.maximum)
      if (wrong) return refuse(wrong)
      await setMaximum(tx, owner.id, reading.idRec, asked.maximum)
    }
    const at = await receiversTime(tx, reading.accountId, clock.now())
    const added = append(
      phone!,
      copies.value.map(
        ({ key, amount }): NewEntry => ({
          kind: 'PAYMENT',
          key,
          amount: -amount,
          counterparty: reading.receiver,
          endToEnd: endToEndAt(at, PHONE_ISPB, ids.alphanumeric(11)),
          txid: reading.txid,
          settledAt: at,
          outcome: 'SENT',
        }),
      ),
    )
    await writeEntries(tx, added.phone, added.entries)
    return ok(undefined)
  })
}

export type RefuseRefusal = { readonly code: 'reading.unknown' | 'reading.paid' }

/** The payer says no. Nobody is told: a charge that nobody pays just stays open. */
export async function refuseToPay(
  { db }: PhoneContext,
  owner: Phone,
  id: ReadingId,
): Promise<Result<void, RefuseRefusal>> {
  return db.inTransaction(async (tx) => {
    await lockPhones(tx, [owner.id])
    if ((await findEntries(tx, owner.id, keysOf(id))).length > 0) return refuse({ code: 'reading.paid' })
    return (await refuseReading(tx, owner.id, id)) ? ok(undefined) : refuse({ code: 'reading.unknown' })
  })
}

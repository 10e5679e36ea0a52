import { DAY_MS, plusMs } from '../../kernel/calendar.ts'
import { type AccountUuid, type MandateId, type SaleId, uuidFromWire } from '../../kernel/ids.ts'
import { partsOfTxid } from '../../kernel/txid.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Rail } from '../../rail/rail.ts'
import { findAccountIdByUuid, findAccountTerms } from '../account/index.ts'
import { findRecurrences, mandateToOpen } from '../recurrence/index.ts'
import { chargeOf, findSale } from '../sale/index.ts'
import { addReading, keepMandate } from './phone.store.ts'
import type { Phone, ReadingId } from './phone.ts'
import type { PhoneContext } from './phone-context.ts'
import { type CodeRead, type ReadCodeContext, readCode } from './read-code.ts'

export type CodeTaken = CodeRead & { readonly readingId: ReadingId | null }

/** Reads a code; one that can be paid or authorized is kept for the payer's answer. */
export async function takeCode(
  { db, clock, ids, publicUrl }: PhoneContext,
  fetch: ReadCodeContext['fetch'],
  phone: Phone,
  code: string,
): Promise<CodeTaken> {
  const read = await readCode(
    {
      publicHost: publicUrl.replace(/^https?:\/\//i, ''),
      fetch,
      findReceiver: (key) => findReceiver(db, key),
    },
    code,
  )
  if (!read.result.ok) return { ...read, readingId: null }
  const { charge, mandate, receiver } = read.result.value
  const now = clock.now()
  if (mandate !== null) await keepMandate(db, phone.id, mandate, { payFirst: charge !== null, now })
  if (charge === null) return { ...read, readingId: null }
  const { accountId } = partsOfTxid(charge.txid)!
  const readingId = ids.uuidAt(now) as ReadingId
  const { txid, amount } = charge
  const idRec = mandate?.idRec ?? null
  const reading = { id: readingId, accountId, txid, amount, receiver, idRec, refused: false }
  await addReading(db, phone.id, reading, { now, forgotten: plusMs(now, -DAY_MS) })
  return { ...read, readingId }
}

/** The sandbox's directory: a merchant's key is its account's uuid. */
async function findReceiver(db: Queryable, key: string): Promise<string | undefined> {
  const uuid = uuidFromWire<AccountUuid>(key)
  const id = uuid && (await findAccountIdByUuid(db, uuid))
  return id && (await findAccountTerms(db, [id])).get(id)?.name
}

/** The code that stands behind a link: of a sale's txid, or of a mandate's reference. */
export async function codeBehind(db: Queryable, rail: Rail, name: string): Promise<string | undefined> {
  const parts = partsOfTxid(name)
  const account = parts && (await findAccountTerms(db, [parts.accountId])).get(parts.accountId)
  if (parts === undefined || account === undefined) return undefined
  const sale = await findSale(db, parts.accountId, parts.saleId as SaleId)
  if (sale !== undefined) {
    if (sale.parentId !== null || sale.chargeId !== null || parts.renewals > sale.renewals) return undefined
    const [opened] = await rail.openCharges([chargeOf({ ...sale, renewals: parts.renewals }, account)])
    return opened!.brCode
  }
  const mandateId = parts.saleId as string as MandateId
  const [found] = await findRecurrences(db, [{ accountId: parts.accountId, mandateId }])
  if (found === undefined || parts.renewals > 0) return undefined
  const { mandate } = found
  const [opened] = await rail.openMandates([mandateToOpen(mandate, null, account, mandate.idRec.slice(-11))])
  return opened!.brCode
}

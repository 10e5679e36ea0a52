import type { Cents } from '../../kernel/cents.ts'
import { cents } from '../../kernel/cents.ts'
import { uuidFromWire } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { isUniqueViolation } from '../../platform/database/trouble.ts'
import { addPhone, findEntries, findPhone, lockPhones, writeEntries } from './phone.store.ts'
import {
  append,
  inventPayer,
  mayTopUp,
  type NewEntry,
  OPENING_BALANCE,
  type Phone,
  type PhoneId,
  type TopUpRefusal,
} from './phone.ts'
import type { PhoneContext } from './phone-context.ts'

/** Which phone it is, and the proof: this is all that a browser keeps. */
const ticketOf = (id: PhoneId, secret: string): string => `${id}.${secret}`
const SECRET_LENGTH = 32
const PAYER_BYTES = 9
const TRIES_MAX = 5

const credit = (
  kind: 'OPENING' | 'TOP_UP',
  key: string,
  amount: Cents,
  settledAt: NewEntry['settledAt'],
): NewEntry => ({
  kind,
  key,
  amount,
  counterparty: null,
  endToEnd: null,
  txid: null,
  settledAt,
  outcome: null,
})

/** Somebody new, with some money. */
export async function openPhone(
  { db, ids, secrets, clock }: PhoneContext,
  asked: { readonly name?: string | undefined },
): Promise<{ readonly ticket: string; readonly phone: Phone }> {
  const now = clock.now()
  const secret = ids.alphanumeric(SECRET_LENGTH)
  for (let tries = 1; ; tries += 1) {
    const invented = inventPayer(ids.bytes(PAYER_BYTES))
    const empty: Phone = {
      id: ids.uuid() as PhoneId,
      document: invented.document,
      name: asked.name ?? invented.name,
      balance: cents(0),
      entries: 0,
    }
    try {
      const { phone, entries } = append(empty, [credit('OPENING', 'opening', OPENING_BALANCE, now)])
      await db.inTransaction(async (tx) => {
        await addPhone(tx, empty, secrets.hash(secret), now)
        await writeEntries(tx, phone, entries)
      })
      return { ticket: ticketOf(phone.id, secret), phone }
    } catch (error) {
      // Somebody else who does not exist has this CPF.
      if (!isUniqueViolation(error) || tries === TRIES_MAX) throw error
    }
  }
}

/** Whose ticket it is; the same work for one that is nobody's. */
export async function findPhoneByTicket(
  { db, secrets }: Pick<PhoneContext, 'db' | 'secrets'>,
  ticket: string,
): Promise<Phone | undefined> {
  const [idText = '', secret = ''] = ticket.split('.')
  const id = uuidFromWire<PhoneId>(idText)
  const found = id && (await findPhone(db, id))
  return secrets.matches(secret, found?.secretHash) ? found!.phone : undefined
}

/** Asked for twice under one id, it is done once. */
export async function topUp(
  { db, clock }: PhoneContext,
  phoneId: PhoneId,
  { id, amount }: { readonly id: string; readonly amount: Cents },
): Promise<Result<void, TopUpRefusal>> {
  return db.inTransaction(async (tx) => {
    const [phone] = await lockPhones(tx, [phoneId])
    const key = `top-up ${id}`
    if ((await findEntries(tx, phoneId, [key])).length > 0) return ok(undefined)
    if (!mayTopUp(phone!, amount)) return refuse({ code: 'balance.tooHigh' })
    const added = append(phone!, [credit('TOP_UP', key, amount, clock.now())])
    await writeEntries(tx, added.phone, added.entries)
    return ok(undefined)
  })
}

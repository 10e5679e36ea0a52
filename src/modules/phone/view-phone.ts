import { assert } from '../../kernel/assert.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { findMandateKeys, findRecurrences } from '../recurrence/index.ts'
import { listEntries, listKnownMandates } from './phone.store.ts'
import type { Phone } from './phone.ts'
import { entryWire, mandateWire, phoneWire } from './phone.wire.ts'

export const STATEMENT_PAGE = 50
const MANDATES_MAX = 100
export const NEWEST = 2 ** 31 - 1

/** Everything that the app's first screen shows. */
export async function viewOf(db: Queryable, phone: Phone) {
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

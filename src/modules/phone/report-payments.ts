import type { RailEventOutcome } from '../door/index.ts'
import { findSent, setOutcomes } from './phone.store.ts'
import { type Entry, type EntryOutcome, type Phone, reportOf } from './phone.ts'
import type { PhoneContext } from './phone-context.ts'

const BATCH = 100

/** What the receiver's bank made of a payment; undefined when it says that it has heard something else under this id. */
function outcomeOf(told: RailEventOutcome): EntryOutcome | undefined {
  if (told.outcome === 'applied') return 'PAID'
  if (told.outcome === 'reversed') return 'REVERSED'
  if (told.outcome === 'conflict' || told.of === null) return undefined
  return told.of.outcome === 'APPLIED' ? 'PAID' : 'REVERSED'
}

/**
 * Tells the receiver's bank, through the rail's door, what has left the account. Whoever died in between is made up for
 * here: the same report again has no second effect.
 */
export async function reportSent({ db, door }: PhoneContext, phone: Phone): Promise<void> {
  const sent = await findSent(db, phone.id, BATCH)
  if (sent.length === 0) return
  const done: Entry[] = []
  // Whoever pays twice pays with the first: the payments of one charge are told one after the other.
  const ofCharges = Map.groupBy(sent, ({ txid }) => txid)
  for (let turn = 0; done.length < sent.length; turn += 1) {
    const next = [...ofCharges.values()].flatMap((entries) => entries[turn] ?? [])
    const told = await door.apply(next.map((entry) => reportOf(phone, entry)))
    done.push(...next.map((entry, at) => ({ ...entry, outcome: outcomeOf(told[at]!) ?? ('SENT' as const) })))
  }
  await setOutcomes(
    db,
    phone.id,
    done.filter(({ outcome }) => outcome !== 'SENT'),
  )
}

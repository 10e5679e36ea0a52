import type { Cents } from '../../kernel/cents.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { CollectionNews, PaymentReceived } from '../../rail/rail.ts'
import { SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { findEntries, findPayers, lockPhones, writeEntries } from './phone.store.ts'
import { ABOVE_MAXIMUM, append, type NewEntry, type Phone, type PhoneId, whyNotCollected } from './phone.ts'

/** A charge whose day has come, and the payment that it would be. */
export type ChargeToCollect = {
  readonly idRec: string
  readonly attempt: number
  readonly receiver: string
  readonly payment: PaymentReceived & { readonly txid: string }
}

type InTransaction = <Value>(work: (tx: Transaction) => Promise<Value>) => Promise<Value>

const collectionKey = ({ endToEnd }: PaymentReceived): string => `collect ${endToEnd}`

/**
 * Debits the phones that mandates are collected from. Answers, by txid, what their bank says of the charges that it does
 * not pay; the payment of every other one is on its way. A charge that was debited before is not debited again.
 */
export async function collectFromPhones(
  inTransaction: InTransaction,
  charges: readonly ChargeToCollect[],
): Promise<Map<string, CollectionNews>> {
  if (charges.length === 0) return new Map()
  return inTransaction(async (tx) => {
    const payers = await findPayers(
      tx,
      charges.map(({ idRec, payment }) => ({ idRec, document: payment.payer.document! })),
    )
    const byPhone = Map.groupBy(
      charges.filter(({ idRec }) => payers.has(idRec)),
      ({ idRec }) => payers.get(idRec)!.phoneId,
    )
    const refused = new Map<string, CollectionNews>()
    for (const phone of await lockPhones(tx, [...byPhone.keys()]))
      for (const news of await collectFrom(tx, phone, byPhone.get(phone.id)!, (idRec) => payers.get(idRec)!.maximum))
        refused.set(news.txid, news)
    return refused
  })
}

async function collectFrom(
  tx: Transaction,
  phone: Phone,
  charges: readonly ChargeToCollect[],
  maximumOf: (idRec: string) => Cents | null,
): Promise<CollectionNews[]> {
  const keys = charges.map(({ payment }) => collectionKey(payment))
  const made = new Set((await findEntries(tx, phone.id as PhoneId, keys)).map(({ key }) => key))
  const refused: CollectionNews[] = []
  let after = phone
  const entries = []
  for (const charge of charges) {
    const { idRec, payment, receiver } = charge
    if (made.has(collectionKey(payment))) continue
    const code = whyNotCollected(after, payment.amount, maximumOf(idRec))
    if (code !== undefined) {
      refused.push(refusalOf(charge, code))
      continue
    }
    const added = append(after, [entryOf(payment, receiver)])
    after = added.phone
    entries.push(...added.entries)
  }
  await writeEntries(tx, after, entries)
  return refused
}

/** SENT: whoever looks at the phone next sees to it that the receiver's bank has heard of it. */
const entryOf = (payment: ChargeToCollect['payment'], receiver: string): NewEntry => ({
  kind: 'COLLECTION',
  key: collectionKey(payment),
  amount: -payment.amount,
  counterparty: receiver,
  endToEnd: payment.endToEnd,
  txid: payment.txid,
  settledAt: payment.settledAt,
  outcome: 'SENT',
})

/** Above the payer's maximum the bank does not even try; without money it tries in vain. */
const refusalOf = ({ payment, attempt }: ChargeToCollect, code: string): CollectionNews => ({
  kind: 'collection',
  rail: SANDBOX_RAIL,
  txid: payment.txid,
  attempt,
  state: code === ABOVE_MAXIMUM ? 'REJECTED' : 'FAILED',
  code,
})

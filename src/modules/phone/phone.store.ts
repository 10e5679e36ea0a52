import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, EndToEndId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { MandateOffer } from './offer.ts'
import type { Entry, EntryKind, EntryOutcome, Phone, PhoneId, Reading, ReadingId } from './phone.ts'

type PhoneRow = { id: string; name: string; document: string; balance_cents: number; entries: number }
const phoneColumns = 'p.id, p.name, p.document, p.balance_cents, p.entries'
const phoneFromRow = (row: PhoneRow): Phone => ({
  id: row.id as PhoneId,
  name: row.name,
  document: row.document,
  balance: row.balance_cents as Cents,
  entries: row.entries,
})

const addSql = statement(
  'phone_add',
  `insert into phone (id, secret_hash, name, document, balance_cents, opened_at) values ($1, $2, $3, $4, 0, $5)`,
)

export async function addPhone(tx: Transaction, phone: Phone, secretHash: Buffer, now: Instant): Promise<void> {
  await tx.query(addSql, [phone.id, secretHash, phone.name, phone.document, sqlTime(now)])
}

const findSql = statement<PhoneRow & { secret_hash: Buffer }>(
  'phone_find',
  `select ${phoneColumns}, p.secret_hash from phone p where p.id = $1`,
)

export async function findPhone(db: Queryable, id: PhoneId): Promise<{ phone: Phone; secretHash: Buffer } | undefined> {
  const [row] = await db.query(findSql, [id])
  return row && { phone: phoneFromRow(row), secretHash: row.secret_hash }
}

const lockSql = statement<PhoneRow>(
  'phone_lock',
  `select ${phoneColumns} from phone p where p.id = any ($1::uuid[]) order by p.id for no key update`,
)

/** The last thing that a transaction locks: books, mandates and sales come before. */
export async function lockPhones(tx: Transaction, ids: readonly PhoneId[]): Promise<Phone[]> {
  return (await tx.query(lockSql, [ids])).map(phoneFromRow)
}

type EntryRow = {
  seq: number
  key: string
  kind: EntryKind
  amount_cents: number
  balance_after_cents: number
  counterparty: string | null
  end_to_end: string | null
  txid: string | null
  settled_at: Instant
  outcome: EntryOutcome | null
}
const entryColumns =
  'seq, key, kind, amount_cents, balance_after_cents, counterparty, end_to_end, txid, settled_at, outcome'
const entryFromRow = (row: EntryRow): Entry => ({
  seq: row.seq,
  key: row.key,
  kind: row.kind,
  amount: row.amount_cents,
  balanceAfter: row.balance_after_cents as Cents,
  counterparty: row.counterparty,
  endToEnd: row.end_to_end as EndToEndId | null,
  txid: row.txid,
  settledAt: row.settled_at,
  outcome: row.outcome,
})

const appendSql = statement(
  'phone_append',
  `with added as (
     insert into phone_entry (phone_id, ${entryColumns})
     select $1, * from unnest($4::integer[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[],
       $12::timestamptz[], $13::text[])
   )
   update phone set balance_cents = $2, entries = $3 where id = $1`,
)

/** Lines of a phone that is locked, and what it has after them. */
export async function writeEntries(tx: Transaction, phone: Phone, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return
  await tx.query(appendSql, [
    phone.id,
    phone.balance,
    phone.entries,
    entries.map(({ seq }) => seq),
    entries.map(({ key }) => key),
    entries.map(({ kind }) => kind),
    entries.map(({ amount }) => amount),
    entries.map(({ balanceAfter }) => balanceAfter),
    entries.map(({ counterparty }) => counterparty),
    entries.map(({ endToEnd }) => endToEnd),
    entries.map(({ txid }) => txid),
    entries.map(({ settledAt }) => settledAt),
    entries.map(({ outcome }) => outcome),
  ])
}

const byKeysSql = statement<EntryRow>(
  'phone_entries_by_key',
  `select ${entryColumns} from phone_entry where phone_id = $1 and key = any ($2::text[]) order by seq`,
)

export async function findEntries(db: Queryable, phone: PhoneId, keys: readonly string[]): Promise<Entry[]> {
  return (await db.query(byKeysSql, [phone, keys])).map(entryFromRow)
}

const statementSql = statement<EntryRow>(
  'phone_statement',
  `select ${entryColumns} from phone_entry where phone_id = $1 and seq < $2 order by seq desc limit $3`,
)

/** Newest first. */
export async function listEntries(db: Queryable, phone: PhoneId, before: number, limit: number): Promise<Entry[]> {
  return (await db.query(statementSql, [phone, before, limit])).map(entryFromRow)
}

const sentSql = statement<EntryRow>(
  'phone_entries_sent',
  `select ${entryColumns} from phone_entry where phone_id = $1 and outcome = 'SENT' order by seq limit $2`,
)

export async function findSent(db: Queryable, phone: PhoneId, limit: number): Promise<Entry[]> {
  return (await db.query(sentSql, [phone, limit])).map(entryFromRow)
}

const outcomeSql = statement(
  'phone_entry_outcome',
  `update phone_entry e set outcome = o.outcome from unnest($2::integer[], $3::text[]) as o(seq, outcome)
   where e.phone_id = $1 and e.seq = o.seq and e.outcome = 'SENT'`,
)

export async function setOutcomes(
  db: Queryable,
  phone: PhoneId,
  entries: readonly Pick<Entry, 'seq' | 'outcome'>[],
): Promise<void> {
  if (entries.length === 0) return
  const seqs = entries.map(({ seq }) => seq)
  await db.query(outcomeSql, [phone, seqs, entries.map(({ outcome }) => outcome)])
}

const byPaymentSql = statement<{ phone_id: string; counterparty: string | null }>(
  'phone_entry_by_payment',
  'select phone_id, counterparty from phone_entry where end_to_end = $1 and amount_cents < 0',
)

/** Who made a payment, and to whom. */
export async function findPaymentBy(db: Queryable, endToEnd: EndToEndId) {
  const [row] = await db.query(byPaymentSql, [endToEnd])
  return row && { phoneId: row.phone_id as PhoneId, receiver: row.counterparty }
}

type ReadingRow = {
  id: string
  txid: string
  amount_cents: number
  receiver: string
  id_rec: string | null
  refused: boolean
}

const addReadingSql = statement(
  'phone_reading_add',
  `with old as (delete from phone_reading where phone_id = $1 and read_at < $9)
   insert into phone_reading (phone_id, id, read_at, account_id, txid, amount_cents, receiver, id_rec)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
)

/** Those from before an instant are forgotten. */
export async function addReading(
  db: Queryable,
  phone: PhoneId,
  reading: Reading & { readonly accountId: AccountId },
  at: { readonly now: Instant; readonly forgotten: Instant },
): Promise<void> {
  const { id, accountId, txid, amount, receiver, idRec } = reading
  const [now, forgotten] = [sqlTime(at.now), sqlTime(at.forgotten)]
  await db.query(addReadingSql, [phone, id, now, accountId, txid, amount, receiver, idRec, forgotten])
}

const findReadingSql = statement<ReadingRow & { account_id: number }>(
  'phone_reading_find',
  `select id, account_id, txid, amount_cents, receiver, id_rec, refused from phone_reading where phone_id = $1 and id = $2`,
)

export async function findReading(
  db: Queryable,
  phone: PhoneId,
  id: ReadingId,
): Promise<(Reading & { readonly accountId: AccountId }) | undefined> {
  const [row] = await db.query(findReadingSql, [phone, id])
  return (
    row && {
      id: row.id as ReadingId,
      accountId: row.account_id as AccountId,
      txid: row.txid,
      amount: row.amount_cents as Cents,
      receiver: row.receiver,
      idRec: row.id_rec,
      refused: row.refused,
    }
  )
}

const refuseReadingSql = statement<{ id: string }>(
  'phone_reading_refuse',
  'update phone_reading set refused = true where phone_id = $1 and id = $2 returning id',
)

export async function refuseReading(db: Queryable, phone: PhoneId, id: ReadingId): Promise<boolean> {
  return (await db.query(refuseReadingSql, [phone, id])).length === 1
}

/** A mandate that the phone has read. */
export type KnownMandate = {
  readonly offer: MandateOffer
  readonly payFirst: boolean
  readonly maximum: Cents | null
}
type MandateRow = { offer: string; pay_first: boolean; maximum_cents: number | null }
const mandateFromRow = (row: MandateRow): KnownMandate => ({
  offer: JSON.parse(row.offer) as MandateOffer,
  payFirst: row.pay_first,
  maximum: row.maximum_cents as Cents | null,
})

const keepMandateSql = statement(
  'phone_mandate_keep',
  `insert into phone_mandate (phone_id, id_rec, read_at, offer, pay_first) values ($1, $2, $3, $4::json, $5)
   on conflict (phone_id, id_rec) do update set read_at = excluded.read_at, offer = excluded.offer`,
)

export async function keepMandate(
  db: Queryable,
  phone: PhoneId,
  offer: MandateOffer,
  { payFirst, now }: { readonly payFirst: boolean; readonly now: Instant },
): Promise<void> {
  await db.query(keepMandateSql, [phone, offer.idRec, sqlTime(now), JSON.stringify(offer), payFirst])
}

const findMandateSql = statement<MandateRow>(
  'phone_mandate_find',
  'select offer, pay_first, maximum_cents from phone_mandate where phone_id = $1 and id_rec = $2',
)

export async function findKnownMandate(
  db: Queryable,
  phone: PhoneId,
  idRec: string,
): Promise<KnownMandate | undefined> {
  const [row] = await db.query(findMandateSql, [phone, idRec])
  return row && mandateFromRow(row)
}

const listMandatesSql = statement<MandateRow>(
  'phone_mandate_list',
  `select offer, pay_first, maximum_cents from phone_mandate where phone_id = $1 order by read_at desc, id_rec limit $2`,
)

export async function listKnownMandates(db: Queryable, phone: PhoneId, limit: number): Promise<KnownMandate[]> {
  return (await db.query(listMandatesSql, [phone, limit])).map(mandateFromRow)
}

const setMaximumSql = statement(
  'phone_mandate_maximum',
  'update phone_mandate set maximum_cents = $3 where phone_id = $1 and id_rec = $2',
)

export async function setMaximum(db: Queryable, phone: PhoneId, idRec: string, maximum: Cents | null): Promise<void> {
  await db.query(setMaximumSql, [phone, idRec, maximum])
}

const payersSql = statement<{ id: string; document: string; id_rec: string; maximum_cents: number | null }>(
  'phone_payers',
  `select p.id, p.document, k.id_rec, m.maximum_cents from unnest($1::text[], $2::text[]) as k(document, id_rec)
   join phone p using (document) left join phone_mandate m on m.phone_id = p.id and m.id_rec = k.id_rec`,
)

/** The phones that mandates are collected from, by idRec; nothing for the mandates of anybody else. */
export async function findPayers(
  db: Queryable,
  keys: readonly { readonly document: string; readonly idRec: string }[],
): Promise<Map<string, { readonly phoneId: PhoneId; readonly maximum: Cents | null }>> {
  const rows = await db.query(payersSql, [keys.map(({ document }) => document), keys.map(({ idRec }) => idRec)])
  return new Map(
    rows.map((row) => [row.id_rec, { phoneId: row.id as PhoneId, maximum: row.maximum_cents as Cents | null }]),
  )
}

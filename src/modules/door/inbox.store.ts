import { createHash } from 'node:crypto'
import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, EndToEndId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { CollectionNews, MandateNews, OutflowSettled, Payer, PaymentReceived } from '../../rail/rail.ts'

export type InboxEntry = {
  readonly railId: string
  readonly contentHash: Buffer
  readonly accountId: AccountId
  readonly outcome: 'APPLIED' | 'REVERSED'
  readonly outcomeId: string
}

/**
 * What makes two reports one fact: which money, for which charge. A callback and a list may round the time and know
 * more or less of the payer.
 */
export const contentOf = ({ endToEnd, txid, amount }: PaymentReceived): string =>
  JSON.stringify({ endToEnd, txid, amount })

export const contentHash = (content: string): Buffer => createHash('sha256').update(content).digest()

/** The rail's id alone is no key: another rail, or another kind of news, may use the same one. */
export const inboxKey = ({ rail, kind, endToEnd }: PaymentReceived): string => keyOf(rail, kind, endToEnd)
const keyOf = (rail: string, kind: string, railId: string): string => `${rail} ${kind} ${railId}`

type EntryRow = {
  rail: string
  kind: string
  rail_id: string
  content_hash: Buffer
  account_id: number
  outcome: 'APPLIED' | 'REVERSED'
  outcome_id: string
}

const findSql = statement<EntryRow>(
  'inbox_find',
  `select i.rail, i.kind, i.rail_id, i.content_hash, i.account_id, i.outcome, i.outcome_id
   from unnest($1::text[], $2::text[], $3::text[]) as k(rail, kind, rail_id) join inbox i using (rail, kind, rail_id)`,
)

/** What was heard before, by `inboxKey`. */
export async function findInboxEntries(
  db: Queryable,
  events: readonly PaymentReceived[],
): Promise<Map<string, InboxEntry>> {
  if (events.length === 0) return new Map()
  const rows = await db.query(findSql, [
    events.map((event) => event.rail),
    events.map((event) => event.kind),
    events.map((event) => event.endToEnd),
  ])
  return new Map(
    rows.map((row) => [
      keyOf(row.rail, row.kind, row.rail_id),
      {
        railId: row.rail_id,
        contentHash: row.content_hash,
        accountId: row.account_id as AccountId,
        outcome: row.outcome,
        outcomeId: row.outcome_id,
      },
    ]),
  )
}

// A plain insert: two reports that raced break on the key, and the later one is then seen as the duplicate it is.
// In order of the key, so that two batches with the same reports wait for each other one way only.
export const addToInboxCte = (winners: string, receivedAt: string): string => `
  insert into inbox (rail, kind, rail_id, content_hash, account_id, outcome, outcome_id, txid, amount_cents, settled_at,
    payer_document, payer_name, payer_ispb, received_at)
  select rail, kind, end_to_end, content_hash, account_id, case effect when 'pay' then 'APPLIED' else 'REVERSED' end,
    case effect when 'pay' then sale_id else reversal_id end, txid, amount, settled_at,
    payer_document, payer_name, payer_ispb, ${receivedAt}
  from ${winners}
  order by rail, kind, end_to_end
  returning rail_id`

const setAsideSql = statement(
  'inbox_set_aside',
  `insert into inbox_conflict (id, rail, kind, rail_id, content_hash, content, received_at) values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (rail, kind, rail_id, content_hash) do nothing`,
)

export async function setAside(db: Queryable, id: string, event: PaymentReceived, at: Instant): Promise<void> {
  const hash = contentHash(contentOf(event))
  await db.query(setAsideSql, [id, event.rail, event.kind, event.endToEnd, hash, JSON.stringify(event), sqlTime(at)])
}

const findPayerSql = statement<{ payer_document: string | null; payer_name: string | null; payer_ispb: string | null }>(
  'inbox_find_payer',
  `select payer_document, payer_name, payer_ispb from inbox where rail = $1 and kind = 'payment' and rail_id = $2`,
)

/** Who paid, as the rail told it. */
export async function findPayer(db: Queryable, rail: string, endToEnd: EndToEndId): Promise<Payer | undefined> {
  const [row] = await db.query(findPayerSql, [rail, endToEnd])
  return row && { document: row.payer_document, name: row.payer_name, ispb: row.payer_ispb }
}

const findPaymentSql = statement<{ account_id: number; outcome: 'APPLIED' | 'REVERSED'; outcome_id: string }>(
  'inbox_find_payment',
  `select account_id, outcome, outcome_id from inbox where rail = $1 and kind = 'payment' and rail_id = $2`,
)

/** What a payment became: the sale that it paid, or the reversal that it is. Nobody else's. */
export async function findPaymentOutcome(db: Queryable, accountId: AccountId, rail: string, endToEnd: string) {
  const [row] = await db.query(findPaymentSql, [rail, endToEnd])
  return row?.account_id === accountId ? { outcome: row.outcome, id: row.outcome_id } : undefined
}

const addOutflowSql = statement(
  'inbox_add_outflow',
  `insert into inbox (rail, kind, rail_id, content_hash, account_id, outcome, outcome_id, settled_at, received_at)
   values ($1, $2, $3, $4, $5, 'APPLIED', $6, $7, $8)`,
)

type HeardOutflow = { hash: Buffer; accountId: AccountId; id: string; now: Instant }

export async function addOutflowToInbox(
  db: Queryable,
  { rail, order, reference, settledAt }: OutflowSettled,
  { hash, accountId, id, now }: HeardOutflow,
): Promise<void> {
  await db.query(addOutflowSql, [rail, order, reference, hash, accountId, id, sqlTime(settledAt), sqlTime(now)])
}

const findOutflowSql = statement<{ content_hash: Buffer }>(
  'inbox_find_outflow',
  'select content_hash from inbox where rail = $1 and kind = $2 and rail_id = $3',
)

export async function findOutflowEntry(
  db: Queryable,
  { rail, order, reference }: OutflowSettled,
): Promise<Buffer | undefined> {
  return (await db.query(findOutflowSql, [rail, order, reference]))[0]?.content_hash
}

export async function setAsideOutflow(
  db: Queryable,
  id: string,
  event: OutflowSettled,
  hash: Buffer,
  at: Instant,
): Promise<void> {
  const { rail, order, reference } = event
  await db.query(setAsideSql, [id, rail, order, reference, hash, JSON.stringify(event), sqlTime(at)])
}

/** News of a mandate or a charge that cannot be: kept with the name that the rail has for it. */
export async function setAsideRecurrence(
  db: Queryable,
  id: string,
  event: MandateNews | CollectionNews,
  at: Instant,
): Promise<void> {
  const content = JSON.stringify(event)
  const railId = event.kind === 'mandate' ? event.idRec : event.txid
  await db.query(setAsideSql, [id, event.rail, event.kind, railId, contentHash(content), content, sqlTime(at)])
}

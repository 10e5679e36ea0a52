import { type RawBuilder, sql } from 'kysely'
import { HOUR_MS, type Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import { type AccountId, firstUuidAt } from '../../kernel/ids.ts'
import { type Database, statement } from '../../platform/database/database.ts'
import { HOUR_MAX, HOUR_MIN } from '../../platform/database/hour-pages.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { findPostedSales } from '../sale/index.ts'

export const transactionKinds = ['SALE', 'REFUND', 'PAYOUT'] as const
export type TransactionKind = (typeof transactionKinds)[number]
export type TransactionState = 'PENDING' | 'PAID' | 'CANCELLED' | 'FAILED'

export type TransactionQuery = {
  readonly accountId: AccountId
  readonly kinds: readonly TransactionKind[]
  readonly by: 'CREATION' | 'PROCESSED'
  readonly hourFrom: number
  readonly hourTo: number
  readonly state?: TransactionState | undefined
  readonly amount?: Cents | undefined
  readonly referenceCode?: string | undefined
  readonly offset: number
  readonly limit: number
}
export type Found = { readonly kind: TransactionKind; readonly id: string }
export type TransactionPage = { readonly total: number; readonly found: readonly Found[] }

/** Where each kind keeps its rows and its counts by the hour. */
const tables: Record<TransactionKind, { rows: string; hours: string; states: readonly string[] }> = {
  SALE: { rows: 'sale', hours: 'sale_hour', states: ['pending', 'paid', 'cancelled'] },
  REFUND: { rows: 'refund', hours: 'refund_hour', states: ['pending', 'paid', 'cancelled'] },
  PAYOUT: { rows: 'payout', hours: 'payout_hour', states: ['pending', 'paid', 'cancelled', 'failed'] },
}

/**
 * Sales, refunds and payouts as one list, newest first. All of them are keyed (account, uuid v7), so they merge by key; the
 * counts of the hours, added up, say which hours a page lies in.
 */
export function findTransactions(db: Database, query: TransactionQuery): Promise<TransactionPage> {
  if (query.amount !== undefined || query.referenceCode !== undefined) return findByIndex(db, query)
  return query.by === 'PROCESSED' ? findProcessed(db, query) : findCreated(db, query)
}

const run = async <Row>(db: Database, text: RawBuilder<unknown>) => (await text.execute(db.builder)).rows as Row[]
const unionAll = (parts: readonly RawBuilder<unknown>[]) => sql.join([...parts], sql` union all `)

/** Null where the kind has no such state, so it has none in the list. */
function countOf(kind: TransactionKind, { by, state }: TransactionQuery): string | null {
  const { states } = tables[kind]
  if (by === 'PROCESSED') return state === undefined || state === 'PAID' ? 'processed' : null
  if (state === undefined) return states.join(' + ')
  return states.includes(state.toLowerCase()) ? state.toLowerCase() : null
}

type Window = { total: number; before: number; oldest: number; newest: number }

/** As `pageWindowStatement` does for one table. */
async function findWindow(db: Database, query: TransactionQuery): Promise<Window | { total: number }> {
  const parts = query.kinds.flatMap((kind) => {
    const count = countOf(kind, query)
    if (count === null) return []
    const { hours } = tables[kind]
    return [
      sql`select hour, (${sql.raw(count)})::integer as n from ${sql.raw(hours)}
        where account_id = ${query.accountId} and hour >= ${query.hourFrom} and hour < ${query.hourTo}`,
    ]
  })
  if (parts.length === 0) return { total: 0 }
  const [row] = await run<{
    total: number | null
    before: number | null
    oldest: number | null
    newest: number | null
  }>(
    db,
    sql`with running as (
        select hour, n, sum(n) over (order by hour desc rows unbounded preceding)::bigint as upto
        from (select hour, sum(n)::integer as n from (${unionAll(parts)}) each_kind group by hour) hours where n > 0
      )
      select max(upto) as total, min(upto - n) filter (where upto > ${query.offset}) as before,
        min(hour) filter (where upto - n < ${query.offset + query.limit}) as oldest,
        max(hour) filter (where upto > ${query.offset}) as newest
      from running`,
  )
  const total = row?.total ?? 0
  if (!row || row.newest === null || row.oldest === null || row.before === null) return { total }
  return { total, before: row.before, oldest: row.oldest, newest: row.newest }
}

const uuidOfHour = (hour: string) =>
  sql.raw(`(lpad(to_hex(${hour}::bigint * ${HOUR_MS}), 12, '0') || repeat('0', 20))::uuid`)

async function findCreated(db: Database, query: TransactionQuery): Promise<TransactionPage> {
  const window = await findWindow(db, query)
  if (!('newest' in window)) return { total: window.total, found: [] }
  const { accountId, state, offset, limit } = query
  const kinds = query.kinds.filter((kind) => countOf(kind, query) !== null)
  const rows = kinds.map(
    (kind) => sql`select ${kind} as kind, id from ${sql.raw(tables[kind].rows)}
      where account_id = ${accountId} and id >= ${uuidOfHour('h.hour')} and id < ${uuidOfHour('(h.hour + 1)')}
        ${state === undefined ? sql`` : sql`and state = ${state}`}`,
  )
  const hours = kinds.map(
    (kind) => sql`select hour from ${sql.raw(tables[kind].hours)}
      where account_id = ${accountId} and hour between ${window.oldest} and ${window.newest} and ${sql.raw(countOf(kind, query)!)} > 0`,
  )
  const found = await run<Found>(
    db,
    sql`select s.kind, s.id from (select distinct hour from (${unionAll(hours)}) each_kind) h cross join lateral (
        select kind, id from (${unionAll(rows)}) u order by id desc
        offset case h.hour when ${window.newest} then ${offset - window.before}::bigint else 0 end limit ${limit}
      ) s order by s.id desc limit ${limit}`,
  )
  return { total: window.total, found }
}

type OutKind = Exclude<TransactionKind, 'SALE'>
type Processed = Found & { readonly at: Instant }

/** The last of each kind that went out, on its own index; then the last of them all. */
const processedSql = (kinds: readonly OutKind[]) => {
  const last = kinds.map(
    (kind) => `(
       select '${kind}' as kind, id, closed_at as at from ${tables[kind].rows}
       where account_id = $1 and state = 'PAID' and closed_at >= $2 and closed_at < $3
       order by account_id desc, closed_at desc, id desc limit $4)`,
  )
  return statement<Processed>(
    `transaction_processed_${kinds.join('_')}`,
    `select kind, id, at from (${last.join(' union all ')}) u order by at desc, id desc limit $4`,
  )
}
const outKinds: readonly (readonly OutKind[])[] = [['REFUND'], ['PAYOUT'], ['REFUND', 'PAYOUT']]
const processedStatements = new Map(outKinds.map((kinds) => [kinds.join(), processedSql(kinds)]))

/** Sales in the order they were booked, refunds and payouts when they went out; merged by that time. */
async function findProcessed(db: Database, query: TransactionQuery): Promise<TransactionPage> {
  const window = await findWindow(db, query)
  if (!('newest' in window)) return { total: window.total, found: [] }
  const { accountId, kinds } = query
  const skip = query.offset - window.before
  const upTo = skip + query.limit
  const [from, to] = [
    sqlTime((window.oldest * HOUR_MS) as Instant),
    sqlTime(((window.newest + 1) * HOUR_MS) as Instant),
  ]
  const out = processedStatements.get(kinds.filter((kind) => kind !== 'SALE').join())
  const outRows = out ? await db.query(out, [accountId, from, to, upTo]) : []
  const ids = kinds.includes('SALE')
    ? await findPostedSales(db, {
        accountId,
        window: { total: window.total, before: 0, oldestHour: window.oldest, newestHour: window.newest },
        skip: 0,
        limit: upTo,
      })
    : []
  const times = ids.length
    ? await run<{ id: string; at: Instant }>(
        db,
        sql`select id, paid_at as at from sale where account_id = ${accountId} and id = any(${[...ids]}::uuid[])`,
      )
    : []
  const atOf = new Map(times.map(({ id, at }) => [id, at]))
  const sales = ids.map((id): Processed => ({ kind: 'SALE', id, at: atOf.get(id)! }))
  return { total: window.total, found: merged(sales, outRows).slice(skip, upTo) }
}

/** Both newest first; the order of each is kept. */
function merged(some: readonly Processed[], others: readonly Processed[]): Processed[] {
  const all: Processed[] = []
  let other = 0
  for (const one of some) {
    while (other < others.length && others[other]!.at > one.at) all.push(others[other++]!)
    all.push(one)
  }
  return [...all, ...others.slice(other)]
}

/** Counted and paged on each kind's own index, from whichever end is nearer. */
async function findByIndex(db: Database, query: TransactionQuery): Promise<TransactionPage> {
  const rows = unionAll(query.kinds.map((kind) => matching(kind, query)))
  const [count] = await run<{ total: number }>(db, sql`select count(*) as total from (${rows}) u`)
  const total = count!.total
  const size = Math.min(query.limit, total - query.offset)
  if (size <= 0) return { total, found: [] }
  const fromOldest = query.offset > total / 2
  const direction = fromOldest ? 'asc' : 'desc'
  const order = (query.by === 'PROCESSED' ? ['at', 'id'] : ['id']).map((by) => `${by} ${direction}`).join()
  const offset = fromOldest ? total - query.offset - size : query.offset
  const found = await run<Found>(
    db,
    sql`select kind, id from (${rows}) u order by ${sql.raw(order)} offset ${offset} limit ${size}`,
  )
  return { total, found: fromOldest ? found.reverse() : found }
}

const startOfHour = (hour: number): Instant => (Math.min(Math.max(hour, HOUR_MIN), HOUR_MAX) * HOUR_MS) as Instant

/** A refund has none of its own: it goes by its sale's. */
const hasReference = (kind: TransactionKind, accountId: AccountId, code: string) =>
  kind === 'REFUND'
    ? sql`sale_id in (select s.id from sale s where s.account_id = ${accountId} and s.reference_code = ${code})`
    : sql`reference_code = ${code}`

function matching(kind: TransactionKind, query: TransactionQuery): RawBuilder<unknown> {
  const [from, to] = [startOfHour(query.hourFrom), startOfHour(query.hourTo)]
  const processedAt = sql.raw(kind === 'SALE' ? 'paid_at' : 'closed_at')
  const parts = [sql`account_id = ${query.accountId}`]
  if (query.amount !== undefined) parts.push(sql`amount_cents = ${query.amount}`)
  if (query.referenceCode !== undefined) parts.push(hasReference(kind, query.accountId, query.referenceCode))
  if (query.state !== undefined) parts.push(sql`state = ${query.state}`)
  if (query.by === 'CREATION') parts.push(sql`id >= ${firstUuidAt(from)} and id < ${firstUuidAt(to)}`)
  else {
    parts.push(sql`state = 'PAID' and ${processedAt} >= ${sqlTime(from)} and ${processedAt} < ${sqlTime(to)}`)
    if (kind === 'SALE') parts.push(sql`coalesce(settlement, 'SETTLED') = 'SETTLED' and amount_cents > split_cents`)
  }
  return sql`select ${kind} as kind, id, ${processedAt} as at from ${sql.raw(tables[kind].rows)} where ${sql.join(parts, sql` and `)}`
}

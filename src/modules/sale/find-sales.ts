import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { HOUR_MS, type Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import { type AccountId, firstUuidAt } from '../../kernel/ids.ts'
import { type Database, type Queryable, statement } from '../../platform/database/database.ts'
import {
  findPageWindow,
  HOUR_MAX,
  HOUR_MIN,
  isEmpty,
  type PageWindow,
  pageWindowStatement,
} from '../../platform/database/hour-pages.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { findPostedSources, transferRules } from '../ledger/index.ts'
import { type SaleRow, saleColumns, saleFromRow } from './sale.store.ts'
import { type Sale, type SaleState, saleStates } from './sale.ts'

export type SaleQuery = {
  readonly accountId: AccountId
  readonly by: 'CREATION' | 'PROCESSED'
  readonly hourFrom: number
  readonly hourTo: number
  readonly state?: SaleState | undefined
  readonly amount?: Cents | undefined
  readonly referenceCode?: string | undefined
  readonly offset: number
  readonly limit: number
}

export type SalePage = { readonly total: number; readonly sales: readonly Sale[] }

const countOf: Record<SaleState | 'ALL' | 'PROCESSED', string> = {
  ALL: 'pending + paid + cancelled',
  PENDING: 'pending',
  PAID: 'paid',
  CANCELLED: 'cancelled',
  PROCESSED: 'processed',
}
const windows = Object.fromEntries(
  (['ALL', 'PROCESSED', ...saleStates] as const).map((kind) => [
    kind,
    pageWindowStatement(`sale_window_${kind}`, 'sale_hour', `(${countOf[kind]})`),
  ]),
) as Record<keyof typeof countOf, ReturnType<typeof pageWindowStatement>>

const columns = saleColumns.join(', ')

/** Newest first. A filter on the amount or the reference goes by its index, everything else by the hours' counts. */
export function findSales(db: Database, query: SaleQuery): Promise<SalePage> {
  if (query.amount !== undefined || query.referenceCode !== undefined) return findByIndex(db, query)
  return query.by === 'PROCESSED' ? findProcessed(db, query) : findCreated(db, query)
}

const hourStart = (hour: string) => `(lpad(to_hex(${hour}::bigint * ${HOUR_MS}), 12, '0') || repeat('0', 20))::uuid`

/**
 * Hour by hour, newest first, and only hours that have any: between two sales of a rare situation may lie a million
 * others. What is skipped lies in the newest hour, where the window begins.
 */
const createdSql = (state: SaleState | undefined) =>
  statement<SaleRow>(
    `sale_page_${state ?? 'ALL'}`,
    `select s.* from (
       select hour from sale_hour
       where account_id = $1 and hour between $2 and $3 and ${countOf[state ?? 'ALL']} > 0
     ) h cross join lateral (
       select ${columns} from sale
       where account_id = $1 and id >= ${hourStart('h.hour')} and id < ${hourStart('(h.hour + 1)')}
         ${state === undefined ? '' : `and state = '${state}'`}
       order by account_id desc, id desc offset case h.hour when $3 then $4::bigint else 0 end limit $5
     ) s order by s.id desc limit $5`,
  )
const createdStatements = new Map([undefined, ...saleStates].map((state) => [state, createdSql(state)]))

async function findCreated(db: Database, query: SaleQuery): Promise<SalePage> {
  const window = await findPageWindow(db, windows[query.state ?? 'ALL'], query.accountId, query)
  if (isEmpty(window)) return { total: window.total, sales: [] }
  const rows = await db.query(createdStatements.get(query.state)!, [
    query.accountId,
    window.oldestHour,
    window.newestHour,
    query.offset - window.before,
    query.limit,
  ])
  return { total: window.total, sales: rows.map(saleFromRow) }
}

const byIdsSql = statement<SaleRow>(
  'sale_by_ids',
  `select ${saleColumns.map((column) => `s.${column}`).join(', ')}
   from unnest($2::uuid[]) as i(id) join sale s on s.account_id = $1 and s.id = i.id`,
)

type PostedQuery = { accountId: AccountId; window: PageWindow; skip: number; limit: number }
export const findPostedSales = (db: Queryable, query: PostedQuery): Promise<string[]> =>
  findPostedSources(db, {
    ...query,
    codes: [transferRules.salePaid.code, transferRules.chargePaid.code, transferRules.splitIn.code],
  })

/** Paid sales and credited shares have been processed; the ledger knows in which order. */
async function findProcessed(db: Database, query: SaleQuery): Promise<SalePage> {
  if (query.state !== undefined && query.state !== 'PAID') return { total: 0, sales: [] }
  const { accountId, limit } = query
  const window = await findPageWindow(db, windows.PROCESSED, accountId, query)
  if (isEmpty(window)) return { total: window.total, sales: [] }
  const ids = await findPostedSales(db, { accountId, window, skip: query.offset - window.before, limit })
  const rows = await db.query(byIdsSql, [accountId, ids])
  const byId = new Map(rows.map((row) => [row.id, saleFromRow(row)]))
  return { total: window.total, sales: ids.map((id) => byId.get(id)!) }
}

export async function findSalesById(db: Queryable, accountId: AccountId, ids: readonly string[]): Promise<Sale[]> {
  return ids.length === 0 ? [] : (await db.query(byIdsSql, [accountId, ids])).map(saleFromRow)
}

/** Counted and paged on the index itself, from whichever end is nearer. */
async function findByIndex(db: Database, query: SaleQuery): Promise<SalePage> {
  const where = sql.join(conditions(query), sql` and `)
  const count = await run<{ total: number }>(db, sql`select count(*) as total from sale where ${where}`)
  const total = count[0]!.total
  const size = Math.min(query.limit, total - query.offset)
  if (size <= 0) return { total, sales: [] }
  const fromOldest = query.offset > total / 2
  const direction = fromOldest ? 'asc' : 'desc'
  const order = sql.raw(
    (query.by === 'PROCESSED' ? ['paid_at', 'id'] : ['id']).map((by) => `${by} ${direction}`).join(),
  )
  const offset = fromOldest ? total - query.offset - size : query.offset
  const rows = await run<SaleRow>(
    db,
    sql`select ${sql.raw(columns)} from sale where ${where} order by ${order} offset ${offset} limit ${size}`,
  )
  const sales = rows.map(saleFromRow)
  return { total, sales: fromOldest ? sales.reverse() : sales }
}

/** A filter may name days that no timestamp of ours reaches, such as 9999-12-31. */
const startOfHour = (hour: number): Instant => (Math.min(Math.max(hour, HOUR_MIN), HOUR_MAX) * HOUR_MS) as Instant

function conditions(query: SaleQuery): RawBuilder<unknown>[] {
  const [from, to] = [startOfHour(query.hourFrom), startOfHour(query.hourTo)]
  const parts = [sql`account_id = ${query.accountId}`]
  if (query.amount !== undefined) parts.push(sql`amount_cents = ${query.amount}`)
  if (query.referenceCode !== undefined) parts.push(sql`reference_code = ${query.referenceCode}`)
  if (query.state !== undefined) parts.push(sql`state = ${query.state}`)
  if (query.by === 'PROCESSED')
    parts.push(
      sql`paid_at >= ${sqlTime(from)} and paid_at < ${sqlTime(to)} and coalesce(settlement, 'SETTLED') = 'SETTLED' and amount_cents > split_cents`,
    )
  else parts.push(sql`id >= ${firstUuidAt(from)} and id < ${firstUuidAt(to)}`)
  return parts
}

async function run<Row>(db: Database, query: RawBuilder<unknown>): Promise<Row[]> {
  const compiled: CompiledQuery = query.compile(db.builder)
  return (await db.builder.executeQuery(compiled)).rows as Row[]
}

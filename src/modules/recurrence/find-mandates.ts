import { sql } from 'kysely'
import type { CalendarDay, Instant } from '../../kernel/calendar.ts'
import type { AccountId, ChargeId, NumberId, SaleId } from '../../kernel/ids.ts'
import { type Database, type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { Recurrence } from './change.ts'
import type { Charge, ChargeState } from './charge.ts'
import type { MandateState } from './mandate.ts'
import {
  type ChargeRow,
  chargeColumns,
  chargeFromRow,
  chargesWithMandates,
  type MandateRow,
  mandateColumns,
  mandatesWithPlans,
  termsFromRow,
} from './recurrence.store.ts'

export type MandateInWords = Pick<Recurrence, 'mandate' | 'plan'>
export type ChargeInWords = MandateInWords & { readonly charge: Charge; readonly situation: string | null }

export const mandateSorts = ['updatedAt', 'creation', 'payerName'] as const
export const chargeSorts = ['dueDate', 'creation'] as const
export const sortOrders = ['ASC', 'DESC'] as const
export type SortOrder = (typeof sortOrders)[number]

type Page = { readonly offset: number; readonly limit: number; readonly order: SortOrder }
export type MandateQuery = Page & {
  readonly accountId: AccountId
  readonly state: MandateState | undefined
  readonly payerName: string | undefined
  readonly from: Instant | undefined
  readonly before: Instant | undefined
  readonly sortBy: (typeof mandateSorts)[number]
}

const mandateOrder = { updatedAt: 'm.updated_at', creation: 'm.id', payerName: 'lower(m.payer_name)' } as const
const direction = (order: SortOrder) => sql.raw(order === 'ASC' ? 'asc' : 'desc')
const contains = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export async function findMandates(db: Database, query: MandateQuery) {
  const conditions = [
    sql`m.account_id = ${query.accountId}`,
    ...(query.state === undefined ? [] : [sql`m.state = ${query.state}`]),
    ...(query.payerName === undefined ? [] : [sql`m.payer_name ilike ${contains(query.payerName)}`]),
    ...(query.from === undefined ? [] : [sql`m.created_at >= ${sqlTime(query.from)}`]),
    ...(query.before === undefined ? [] : [sql`m.created_at < ${sqlTime(query.before)}`]),
  ]
  const where = sql.join(conditions, sql` and `)
  const by = sql.raw(mandateOrder[query.sortBy])
  const way = direction(query.order)
  const counted = await sql<{ n: number }>`select count(*) as n from mandate m where ${where}`.execute(db.builder)
  const page = await sql<MandateRow>`select ${sql.raw(mandateColumns)} from ${sql.raw(mandatesWithPlans)}
    where ${where} order by ${by} ${way}, m.id ${way} limit ${query.limit} offset ${query.offset}`.execute(db.builder)
  return { total: counted.rows[0]!.n, mandates: page.rows.map(termsFromRow) }
}

export type ChargeQuery = Page & {
  readonly accountId: AccountId
  readonly state: ChargeState | undefined
  readonly dueFrom: CalendarDay | undefined
  readonly dueTo: CalendarDay | undefined
  readonly sortBy: (typeof chargeSorts)[number]
}

const chargeOrder = { dueDate: 'c.due_date', creation: 'c.id' } as const
const withSituation = `${mandateColumns}, ${chargeColumns}, s.state as situation`
const withSales = `${chargesWithMandates} left join sale s on s.account_id = c.account_id and s.id = c.sale_id`
type Row = MandateRow & ChargeRow & { situation: string | null }
const chargeInWords = (row: Row): ChargeInWords => ({
  ...termsFromRow(row),
  charge: chargeFromRow(row),
  situation: row.situation,
})

export async function findCharges(db: Database, query: ChargeQuery) {
  const conditions = [
    sql`c.account_id = ${query.accountId}`,
    ...(query.state === undefined ? [] : [sql`c.state = ${query.state}`]),
    ...(query.dueFrom === undefined ? [] : [sql`c.due_date >= ${query.dueFrom}`]),
    ...(query.dueTo === undefined ? [] : [sql`c.due_date <= ${query.dueTo}`]),
  ]
  const where = sql.join(conditions, sql` and `)
  const by = sql.raw(chargeOrder[query.sortBy])
  const way = direction(query.order)
  const counted = await sql<{ n: number }>`select count(*) as n from charge c where ${where}`.execute(db.builder)
  const page = await sql<Row>`select ${sql.raw(withSituation)} from ${sql.raw(withSales)}
    where ${where} order by ${by} ${way}, c.id ${way} limit ${query.limit} offset ${query.offset}`.execute(db.builder)
  return { total: counted.rows[0]!.n, charges: page.rows.map(chargeInWords) }
}

const oneSql = statement<Row>(
  'charge_in_words',
  `select ${withSituation} from ${withSales} where c.account_id = $1 and c.id = $2`,
)

export async function findCharge(
  db: Queryable,
  accountId: AccountId,
  id: ChargeId,
): Promise<ChargeInWords | undefined> {
  const [row] = await db.query(oneSql, [accountId, id])
  return row && chargeInWords(row)
}

const CHARGES_MAX = 1_000
const ofMandateSql = statement<Row>(
  'charges_of_mandate',
  `select ${withSituation} from ${withSales} where c.account_id = $1 and c.mandate_id = $2 order by c.cycle desc limit ${CHARGES_MAX}`,
)

/** The newest of a mandate, newest first. */
export async function findChargesOfMandate(
  db: Queryable,
  accountId: AccountId,
  mandateId: string,
): Promise<ChargeInWords[]> {
  return (await db.query(ofMandateSql, [accountId, mandateId])).map(chargeInWords)
}

const bySaleSql = statement<{ id: string }>(
  'charge_by_sale',
  'select charge_id as id from sale where account_id = $1 and id = $2 and charge_id is not null',
)
// Only the simulator asks, mostly for a charge that was just made: no index, which every registration would have to write.
const bySaleNumberSql = statement<{ id: string }>(
  'charge_by_sale_number',
  'select id from charge where account_id = $1 and sale_number = $2 order by account_id desc, id desc limit 1',
)

/** The charge that a sale is, by the sale's uuid or number. */
export async function findChargeOfSale(
  db: Queryable,
  accountId: AccountId,
  sale: { readonly id: SaleId } | { readonly number: NumberId },
): Promise<ChargeId | undefined> {
  const rows =
    'id' in sale
      ? await db.query(bySaleSql, [accountId, sale.id])
      : await db.query(bySaleNumberSql, [accountId, sale.number])
  return rows[0]?.id as ChargeId | undefined
}

const knownSql = statement('mandate_known', 'select 1 as one from mandate where account_id = $1 and id = $2')

export const isMandate = async (db: Queryable, accountId: AccountId, id: string): Promise<boolean> =>
  (await db.query(knownSql, [accountId, id])).length === 1

const RECENT = 20
const marksSql = statement<{ account_id: number; mark: string }>(
  'recurrence_marks',
  `select k.account_id, coalesce(m.mark, '') || ' ' || coalesce(c.mark, '') as mark
   from unnest($1::bigint[]) k(account_id)
   cross join lateral (
     select string_agg(id || ' ' || version, ' ') as mark from (
       select id, version from mandate where account_id = k.account_id
       order by account_id desc, updated_at desc, id desc limit ${RECENT}) changed) m
   cross join lateral (
     select string_agg(id || ' ' || state || ' ' || attempt, ' ') as mark from (
       select id, state, attempt from charge where account_id = k.account_id
       order by account_id desc, id desc limit ${RECENT}) newest) c`,
)

/** Changes with the mandates that changed last and with the newest charges; what money does, other marks tell. */
export async function findRecurrenceMarks(
  db: Queryable,
  accountIds: readonly AccountId[],
): Promise<Map<AccountId, string>> {
  const rows = await db.query(marksSql, [accountIds])
  return new Map(rows.map((row) => [row.account_id as AccountId, row.mark]))
}

import type { CalendarDay, Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, NumberId, PlanId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { dueDateOf, type Periodicity } from './cycle.ts'
import type { Plan, RetryPolicy } from './plan.ts'

type PlanRow = {
  account_id: number
  id: string
  title: string
  description: string | null
  frequency: Periodicity
  period: number
  immediate_cents: number | null
  recurrence_cents: number
  minimum_cents: number
  retry_policy: RetryPolicy
  enabled: boolean
  created_at: Instant
  mandates: number
}

const columns =
  'account_id, id, title, description, frequency, period, immediate_cents, recurrence_cents, minimum_cents, retry_policy, enabled, created_at, mandates'

const planFromRow = (row: PlanRow): Plan => ({
  accountId: row.account_id as AccountId,
  id: row.id as PlanId,
  title: row.title,
  description: row.description,
  frequency: row.frequency,
  period: row.period,
  immediateAmount: row.immediate_cents as Cents | null,
  recurrenceAmount: row.recurrence_cents as Cents,
  minimumAmount: row.minimum_cents as Cents,
  retryPolicy: row.retry_policy,
  enabled: row.enabled,
  createdAt: row.created_at,
  mandates: row.mandates,
})

const termsOf = (plan: Plan) => [
  plan.accountId,
  plan.id,
  plan.title,
  plan.description,
  plan.frequency,
  plan.period,
  plan.immediateAmount,
  plan.recurrenceAmount,
  plan.minimumAmount,
  plan.retryPolicy,
  plan.enabled,
]

const insertSql = statement(
  'plan_insert',
  `insert into plan (account_id, id, title, description, frequency, period, immediate_cents, recurrence_cents, minimum_cents, retry_policy, enabled, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
)

export async function insertPlan(tx: Transaction, plan: Plan): Promise<void> {
  await tx.query(insertSql, [...termsOf(plan), sqlTime(plan.createdAt)])
}

const findSql = statement<PlanRow>('plan_find', `select ${columns} from plan where account_id = $1 and id = $2`)
const lockSql = statement<PlanRow>(
  'plan_lock',
  `select ${columns} from plan where account_id = $1 and id = $2 for no key update`,
)

export async function findPlan(db: Queryable, accountId: AccountId, id: PlanId): Promise<Plan | undefined> {
  const [row] = await db.query(findSql, [accountId, id])
  return row && planFromRow(row)
}

export async function lockPlan(tx: Transaction, accountId: AccountId, id: PlanId): Promise<Plan | undefined> {
  const [row] = await tx.query(lockSql, [accountId, id])
  return row && planFromRow(row)
}

const updateSql = statement(
  'plan_update',
  `update plan set title = $3, description = $4, frequency = $5, period = $6, immediate_cents = $7, recurrence_cents = $8,
     minimum_cents = $9, retry_policy = $10, enabled = $11
   where account_id = $1 and id = $2`,
)

/** Its terms; whoever calls has locked it. */
export async function updatePlan(tx: Transaction, plan: Plan): Promise<void> {
  await tx.query(updateSql, termsOf(plan))
}

export type PlanQuery = {
  readonly accountId: AccountId
  /** A part of it, in any case. */
  readonly title?: string | undefined
  readonly enabled?: boolean | undefined
  readonly frequency?: Periodicity | undefined
  readonly offset: number
  readonly limit: number
}

// Looked for as it is, and not as a pattern: `%` and `_` are letters of a title like any other.
const filters = `account_id = $1 and ($2::text is null or strpos(lower(title), lower($2)) > 0)
  and ($3::boolean is null or enabled = $3) and ($4::text is null or frequency = $4)`
const countSql = statement<{ total: number }>('plan_count', `select count(*) as total from plan where ${filters}`)
const listSql = statement<PlanRow>(
  'plan_list',
  `select ${columns} from plan where ${filters} order by account_id desc, id desc offset $5 limit $6`,
)

/** Newest first. */
export async function findPlans(db: Queryable, query: PlanQuery): Promise<{ total: number; plans: Plan[] }> {
  const { accountId, title, enabled, frequency, offset, limit } = query
  const values = [accountId, title ?? null, enabled ?? null, frequency ?? null]
  const [[count], rows] = await Promise.all([db.query(countSql, values), db.query(listSql, [...values, offset, limit])])
  return { total: count!.total, plans: rows.map(planFromRow) }
}

/** What a plan tells of a mandate made under it. */
export type PlanMandate = {
  readonly number: NumberId
  readonly idRec: string
  readonly state: string
  readonly payer: { readonly document: string; readonly name: string; readonly ispb: string | null }
  readonly nextDueDate: CalendarDay | null
}

type PlanMandateRow = {
  number: number
  id_rec: string
  state: string
  periodicity: Periodicity
  initial_date: string
  next_cycle: number | null
  payer_document: string
  payer_name: string
  payer_ispb: string | null
}

const MANDATES_MAX = 1_000
const mandatesSql = statement<PlanMandateRow>(
  'plan_mandates',
  `select number, id_rec, state, periodicity, initial_date::text, next_cycle, payer_document, payer_name, payer_ispb from mandate
   where account_id = $1 and plan_id = $2 order by account_id desc, plan_id desc, id desc limit ${MANDATES_MAX}`,
)

/** The newest ones, newest first. */
export async function findMandatesOf(db: Queryable, { accountId, id }: Plan): Promise<PlanMandate[]> {
  return (await db.query(mandatesSql, [accountId, id])).map(mandateFromRow)
}

const mandateFromRow = (row: PlanMandateRow): PlanMandate => ({
  number: row.number as NumberId,
  idRec: row.id_rec,
  state: row.state,
  payer: { document: row.payer_document, name: row.payer_name, ispb: row.payer_ispb },
  nextDueDate:
    row.next_cycle === null
      ? null
      : dueDateOf({ initialDate: row.initial_date as CalendarDay, periodicity: row.periodicity }, row.next_cycle),
})

import type { Instant } from '../../kernel/calendar.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'

/** What an audit found of one rule: how many rows break it, and some of them. */
export type RuleResult = {
  readonly check: string
  readonly count: number
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

export const auditStates = ['RUNNING', 'DONE', 'FAILED'] as const
export const auditTroubles = ['TIME_LIMIT', 'STOPPED'] as const
export type AuditTrouble = (typeof auditTroubles)[number]

export type AuditRun = {
  readonly state: (typeof auditStates)[number]
  readonly startedAt: Instant
  readonly endedAt: Instant | null
  readonly trouble: AuditTrouble | null
  readonly rules: readonly RuleResult[]
}

type Row = {
  started_at: Instant
  held_until: Instant
  ended_at: Instant | null
  trouble: AuditTrouble | null
  rules: string | null
}

const findSql = statement<Row>(
  'audit_run_find',
  'select started_at, held_until, ended_at, trouble, rules from audit_run',
)

export async function findAuditRun(db: Queryable, now: Instant): Promise<AuditRun | undefined> {
  const [row] = await db.query(findSql)
  return row && runFromRow(row, now)
}

/** A run whose hold lapsed was left by a process that is gone. */
function runFromRow(row: Row, now: Instant): AuditRun {
  const { started_at: startedAt, ended_at: endedAt } = row
  const trouble = row.trouble ?? (endedAt === null && row.held_until <= now ? 'STOPPED' : null)
  const state = trouble !== null ? 'FAILED' : endedAt === null ? 'RUNNING' : 'DONE'
  return { state, startedAt, endedAt, trouble, rules: row.rules === null ? [] : JSON.parse(row.rules) }
}

const takeSql = statement<{ id: string }>(
  'audit_run_take',
  `insert into audit_run as r (id, started_at, held_until) values ($1, $2, $3)
   on conflict (only_row) do update set id = excluded.id, started_at = excluded.started_at, held_until = excluded.held_until,
     ended_at = null, trouble = null, rules = null
   where r.ended_at is not null or r.held_until <= excluded.started_at
   returning id`,
)

/** True when no other audit is on its way. */
export async function takeAudit(db: Queryable, id: string, now: Instant, until: Instant): Promise<boolean> {
  return (await db.query(takeSql, [id, sqlTime(now), sqlTime(until)])).length === 1
}

const endSql = statement(
  'audit_run_end',
  'update audit_run set ended_at = $2, trouble = $3, rules = $4 where id = $1 and ended_at is null',
)

export async function endAudit(
  db: Queryable,
  id: string,
  at: Instant,
  outcome: { readonly rules: readonly RuleResult[] } | { readonly trouble: AuditTrouble },
): Promise<void> {
  const values = 'rules' in outcome ? [null, JSON.stringify(outcome.rules)] : [outcome.trouble, null]
  await db.query(endSql, [id, sqlTime(at), ...values])
}

import pg from 'pg'
import { doorChecks } from './modules/door/index.ts'
import { type AuditCheck, ledgerChecks, type RuleResult, TookTooLong } from './modules/ledger/index.ts'
import { notificationChecks } from './modules/notification/index.ts'
import { payoutChecks } from './modules/payout/index.ts'
import { phoneChecks } from './modules/phone/index.ts'
import { recurrenceChecks } from './modules/recurrence/index.ts'
import { refundChecks } from './modules/refund/index.ts'
import { saleChecks } from './modules/sale/index.ts'
import { type Connection, clientConfig } from './platform/database/database.ts'

export const auditChecks: readonly AuditCheck[] = [
  ...ledgerChecks,
  ...saleChecks,
  ...refundChecks,
  ...payoutChecks,
  ...recurrenceChecks,
  ...doorChecks,
  ...notificationChecks,
  ...phoneChecks,
]
const SHOWN_MAX = 10
export const brokenSql = ({ sql }: AuditCheck): string =>
  `select *, count(*) over () as broken_count from (${sql}) broken limit ${SHOWN_MAX}`

export type AuditOptions = {
  readonly limitMs?: number
  /** Cuts it short. */
  readonly signal?: AbortSignal
  readonly onCheck?: (check: AuditCheck, broken: number) => void
}

const QUERY_CANCELED = '57014'

/** Recomputes everything in one snapshot: a busy service can be audited while it works. */
export async function auditRules(connection: Connection, options: AuditOptions = {}): Promise<RuleResult[]> {
  const { signal } = options
  const client = new pg.Client({ ...clientConfig(connection), types: undefined })
  client.on('error', () => {})
  const cut = () => void client.end()
  try {
    signal?.throwIfAborted()
    await client.connect()
    signal?.addEventListener('abort', cut)
    signal?.throwIfAborted()
    return await auditWith(client, options)
  } catch (error) {
    throw (error as { code?: string }).code === QUERY_CANCELED ? new TookTooLong('the audit took too long') : error
  } finally {
    signal?.removeEventListener('abort', cut)
    await client.end()
  }
}

async function auditWith(client: pg.Client, { limitMs, onCheck }: AuditOptions): Promise<RuleResult[]> {
  const began = performance.now()
  const results: RuleResult[] = []
  await client.query('begin isolation level repeatable read read only')
  // The embedded server keeps the service from it; here whole tables are what is wanted.
  await client.query('set local enable_seqscan = on')
  for (const check of auditChecks) {
    if (limitMs !== undefined) {
      const leftMs = Math.floor(limitMs - (performance.now() - began))
      if (leftMs <= 0) throw new TookTooLong('the audit took too long')
      await client.query(`set local statement_timeout = ${leftMs}`)
    }
    const { rows } = await client.query<Record<string, unknown>>(brokenSql(check))
    const count = Number(rows[0]?.['broken_count'] ?? 0)
    onCheck?.(check, count)
    results.push({ check: check.name, count, examples: rows.map(({ broken_count: _count, ...row }) => row) })
  }
  await client.query('commit')
  return results
}

/** The rules that do not hold. */
export async function findViolations(connection: Connection, onCheck: AuditOptions['onCheck'] = () => {}) {
  return (await auditRules(connection, { onCheck })).filter(({ count }) => count > 0)
}

/** Prints a line a rule; true when all of them hold. */
export async function audit(connection: Connection, say: (line: string) => void): Promise<boolean> {
  const violations = await findViolations(connection, ({ name }, broken) =>
    say(broken === 0 ? `  holds   ${name}` : `  BROKEN  ${name} (${broken})`),
  )
  for (const { check, examples } of violations)
    say(`\n${check}:\n${examples.map((row) => `  ${JSON.stringify(row)}`).join('\n')}`)
  say(
    violations.length === 0
      ? `\nThe books are right: ${auditChecks.length} rules hold.`
      : `\n${violations.length} rules are broken.`,
  )
  return violations.length === 0
}

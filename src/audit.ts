import pg from 'pg'
import { doorChecks } from './modules/door/index.ts'
import { type AuditCheck, ledgerChecks } from './modules/ledger/index.ts'
import { notificationChecks } from './modules/notification/index.ts'
import { payoutChecks } from './modules/payout/index.ts'
import { phoneChecks } from './modules/phone/index.ts'
import { recurrenceChecks } from './modules/recurrence/index.ts'
import { refundChecks } from './modules/refund/index.ts'
import { saleChecks } from './modules/sale/index.ts'
import { type Connection, clientConfig } from './platform/database/database.ts'

const checks: readonly AuditCheck[] = [
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

export type Violation = { readonly check: string; readonly count: number; readonly examples: readonly unknown[] }

/** Recomputes everything in one snapshot: a busy service can be audited while it works. */
export async function findViolations(
  connection: Connection,
  onCheck: (check: AuditCheck, broken: number) => void = () => {},
) {
  const client = new pg.Client({ ...clientConfig(connection), types: undefined })
  client.on('error', () => {})
  await client.connect()
  const violations: Violation[] = []
  try {
    await client.query('begin isolation level repeatable read read only')
    // The embedded server keeps the service from it; here whole tables are what is wanted.
    await client.query('set local enable_seqscan = on')
    for (const check of checks) {
      const { rows } = await client.query(
        `select *, count(*) over () as broken_count from (${check.sql}) broken limit ${SHOWN_MAX}`,
      )
      const count = Number(rows[0]?.broken_count ?? 0)
      onCheck(check, count)
      if (count > 0) violations.push({ check: check.name, count, examples: rows })
    }
    await client.query('commit')
    return violations
  } finally {
    await client.end()
  }
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
      ? `\nThe books are right: ${checks.length} rules hold.`
      : `\n${violations.length} rules are broken.`,
  )
  return violations.length === 0
}

import pg from 'pg'
import { expect } from 'vitest'
import { auditChecks, brokenSql } from '../../src/audit.ts'
import { type Connection, clientConfig } from '../../src/platform/database/database.ts'

export type BookAudit = {
  /** The rules that do not hold now, with rows that break them. */
  violations(): Promise<Record<string, unknown>[]>
  /** The names of those that would not hold after a change, which is taken back. */
  brokenBy(sql: string): Promise<string[]>
  close(): Promise<void>
}

/** After one that took longer the rules are planned anew: the books have grown. */
const STALE_MS = 100
const prepareSql = auditChecks.map((check, at) => `prepare audit_${at} as ${brokenSql(check)}`).join(';')
const askSql = ['set local enable_seqscan = on', ...auditChecks.map((_check, at) => `execute audit_${at}`)].join(';')
const auditSql = `begin isolation level repeatable read read only;${askSql};commit`

/** The rules answer last, before the transaction ends. */
function brokenOf(results: unknown): (Record<string, unknown> & { rule: string })[] {
  const answers = (results as pg.QueryResult<Record<string, unknown>>[]).slice(-auditChecks.length - 1, -1)
  expect(answers).toHaveLength(auditChecks.length)
  return answers.flatMap(({ rows }, at) => rows.map((row) => ({ rule: auditChecks[at]!.name, ...row })))
}

/**
 * The audit that follows each test. A connection is kept and the rules are planned once and asked all at once: to plan
 * them takes far longer than to see that small books are right.
 */
export function bookAudit(connection: Connection): BookAudit {
  let opened: Promise<pg.Client> | undefined
  const open = async () => {
    // As the audit itself: what a rule shows may be of any type.
    const client = new pg.Client({ ...clientConfig(connection), types: undefined })
    client.on('error', () => {})
    await client.connect()
    await client.query(prepareSql)
    return client
  }
  return {
    async violations() {
      opened ??= open()
      const client = await opened
      const began = performance.now()
      const broken = brokenOf(await client.query(auditSql))
      if (performance.now() - began > STALE_MS) await client.query('discard plans')
      return broken
    },
    async brokenBy(sql) {
      opened ??= open()
      const client = await opened
      try {
        // As a commit would, at the end of the change.
        const asked = client.query(`begin;${sql};set constraints all immediate;${askSql};rollback`)
        return [...new Set(brokenOf(await asked).map(({ rule }) => rule))]
      } finally {
        await client.query('rollback')
      }
    },
    async close() {
      await (await opened)?.end()
    },
  }
}

import pg from 'pg'
import { expect } from 'vitest'
import { auditChecks, brokenSql } from '../../src/audit.ts'
import { type Connection, clientConfig } from '../../src/platform/database/database.ts'

export type BookAudit = {
  /** The rules that do not hold now, with rows that break them. */
  violations(): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** After one that took longer the rules are planned anew: the books have grown. */
const STALE_MS = 100
const prepareSql = auditChecks.map((check, at) => `prepare audit_${at} as ${brokenSql(check)}`).join(';')
const auditSql = [
  'begin isolation level repeatable read read only',
  'set local enable_seqscan = on',
  ...auditChecks.map((_check, at) => `execute audit_${at}`),
  'commit',
].join(';')

/**
 * The audit that follows each test. A connection is kept and the rules are planned once and asked all at once: to plan
 * them takes far longer than to see that small books are right.
 */
export function bookAudit(connection: Connection): BookAudit {
  let opened: Promise<pg.Client> | undefined
  const open = async () => {
    const client = new pg.Client(clientConfig(connection))
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
      const results = (await client.query(auditSql)) as unknown as pg.QueryResult<Record<string, unknown>>[]
      if (performance.now() - began > STALE_MS) await client.query('discard plans')
      const answers = results.filter(({ command }) => command === 'SELECT')
      expect(answers).toHaveLength(auditChecks.length)
      return answers.flatMap(({ rows }, at) => rows.map((row) => ({ rule: auditChecks[at]!.name, ...row })))
    },
    async close() {
      await (await opened)?.end()
    },
  }
}

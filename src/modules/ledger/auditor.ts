import { MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { type AuditRun, endAudit, findAuditRun, type RuleResult, takeAudit } from './audit-run.ts'

/** Thrown by an audit that did not end in its time. */
export class TookTooLong extends Error {}

/** An old snapshot keeps the database from tidying up behind a busy service, so it may not grow old. */
const LIMIT_MS = 5 * MINUTE_MS

export type AuditorContext = {
  readonly db: Database
  readonly clock: Clock
  readonly ids: RandomIds
  readonly run: (options: { readonly limitMs: number; readonly signal: AbortSignal }) => Promise<readonly RuleResult[]>
  readonly alarm: (message: string, details: Record<string, unknown>) => void
  readonly trouble: (error: unknown, doing: string) => void
}

/** Audits while the service works, for whoever asks, one at a time over all processes. */
export type Auditor = {
  /** Begins one, unless one is on its way: that one is then told of. */
  start(): Promise<AuditRun>
  /** The newest, whichever process ran it. */
  find(): Promise<AuditRun | undefined>
  stop(): Promise<void>
}

export function createAuditor(context: AuditorContext): Auditor {
  const { db, clock, ids } = context
  const stopping = new AbortController()
  let current: Promise<void> = Promise.resolve()

  async function work(id: string): Promise<void> {
    try {
      const rules = await context.run({ limitMs: LIMIT_MS, signal: stopping.signal })
      await endAudit(db, id, clock.now(), { rules })
      const broken = rules.filter(({ count }) => count > 0).map(({ check }) => check)
      if (broken.length > 0) context.alarm('an audit found broken rules', { rules: broken })
    } catch (error) {
      context.trouble(error, 'audit the books')
      const trouble = error instanceof TookTooLong ? 'TIME_LIMIT' : 'STOPPED'
      // If this fails too, the hold lapses and the run counts as stopped.
      await endAudit(db, id, clock.now(), { trouble }).catch((failure) => context.trouble(failure, 'end an audit'))
    }
  }

  return {
    async start() {
      const id = ids.uuid()
      const now = clock.now()
      if (await takeAudit(db, id, now, plusMs(now, LIMIT_MS + MINUTE_MS))) current = work(id)
      return (await findAuditRun(db, now))!
    },
    find: () => findAuditRun(db, clock.now()),
    stop() {
      stopping.abort()
      return current
    },
  }
}

/** Less than a test may take. A machine that is busy, or stands still for a while, is no fault of the service. */
export const PATIENCE_MS = 240_000

/** Bounded by the test's own time-out. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((done) => setTimeout(done, 10))
}

/** Finds statements of this database that wait for a lock; other test files have theirs on the same server. */
export const waitingSql = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

import { DAY_MS, type Instant, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import { firstUuidAt } from '../../kernel/ids.ts'
import { type Database, type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { troubleOf } from '../../platform/database/trouble.ts'

/** A partition a day (UTC) for each of these; an attempt lies in the partition of its notification's day. */
const tables = ['notification', 'notification_attempt'] as const
const DAYS_AHEAD = 8
/** Any fixed number of our own. */
const LOCK_KEY = 5_203_117_001

const startOfDayUtc = (at: Instant): Instant => (Math.floor(at / DAY_MS) * DAY_MS) as Instant
const dayName = (day: Instant): string => new Date(day).toISOString().slice(0, 10).replaceAll('-', '')
const run = (db: Queryable, text: string) => db.query({ name: '', text })

const lockSql = statement<{ locked: boolean }>(
  'notification_days_lock',
  'select pg_try_advisory_xact_lock($1::bigint) as locked',
)
const childrenSql = statement<{ name: string }>(
  'notification_days',
  `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = $1::text::regclass and c.relname ~ '_\\d{8}$' order by 1`,
)

export type DaysKept = {
  readonly made: readonly string[]
  readonly dropped: readonly string[]
  readonly undelivered: number
}

/**
 * Makes the partitions of the days ahead and drops those beyond the days that are kept. Every step waits for its lock a
 * moment only, so that nobody waits behind it; what could not be done now is done the next time.
 */
export async function keepNotificationDays(db: Database, now: Instant, keepDays: number): Promise<DaysKept> {
  const made: string[] = []
  const dropped: string[] = []
  let undelivered = 0
  const today = startOfDayUtc(now)
  for (const table of tables) {
    const there = new Set((await db.query(childrenSql, [table])).map(({ name }) => name))
    for (let ahead = 0; ahead < DAYS_AHEAD; ahead += 1) {
      const day = plusMs(today, ahead * DAY_MS)
      const name = `${table}_${dayName(day)}`
      if (!there.has(name) && (await alone(db, (tx) => makeDay(tx, table, name, day)))) made.push(name)
    }
  }
  const oldest = plusMs(today, -keepDays * DAY_MS)
  for (const day of await daysBefore(db, dayName(oldest))) {
    // Both or none: notifications without their attempts would say that nobody ever tried.
    const names = tables.map((table) => `${table}_${day}`)
    const drop = async (tx: Transaction) => {
      for (const name of names) await run(tx, `drop table if exists ${name}`)
    }
    if (await alone(db, drop)) dropped.push(...names)
  }
  if (dropped.length > 0) undelivered = await forgetBefore(db, firstUuidAt(oldest))
  return { made, dropped, undelivered }
}

async function daysBefore(db: Queryable, day: string): Promise<string[]> {
  const days = new Set<string>()
  for (const table of tables) for (const { name } of await db.query(childrenSql, [table])) days.add(name.slice(-8))
  return [...days].filter((each) => each < day).sort()
}

/** Made apart and then attached: inserts into the other days go on meanwhile. */
async function makeDay(tx: Transaction, table: string, name: string, day: Instant): Promise<void> {
  const [from, to] = [firstUuidAt(day), firstUuidAt(plusMs(day, DAY_MS))]
  await run(tx, `create table ${name} (like ${table} including defaults including constraints)`)
  await run(tx, `alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`)
}

const LOCK_WAIT_MS = SECOND_MS / 5
/** Rows of the day lie in the default partition already and stay there; or somebody else made or dropped the day first. */
const LEFT_ALONE = new Set(['23514', '42P07', '42P01'])

/** False when somebody else is at it, or the lock did not come soon: then it waits for the next time. */
async function alone(db: Database, work: (tx: Transaction) => Promise<unknown>): Promise<boolean> {
  try {
    return await db.inTransaction(async (tx) => {
      const [lock] = await tx.query(lockSql, [LOCK_KEY])
      if (!lock!.locked) return false
      await run(tx, `set local lock_timeout = ${LOCK_WAIT_MS}`)
      await work(tx)
      return true
    })
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (troubleOf(error) === 'lockWait' || LEFT_ALONE.has(code)) return false
    throw error
  }
}

const forgetQueueSql = statement<{ account_id: number }>(
  'notification_forget_queue',
  'delete from notification_queue where notification_id < $1 returning account_id',
)
const forgetAttemptsSql = statement(
  'notification_forget_attempts',
  'delete from notification_attempt_default where notification_id < $1',
)
const forgetSql = statement('notification_forget', 'delete from notification_default where id < $1')

/** What never left the default partition, and what waited for a receiver until the end; answers how many of the latter. */
async function forgetBefore(db: Queryable, bound: string): Promise<number> {
  const undelivered = await db.query(forgetQueueSql, [bound])
  await db.query(forgetAttemptsSql, [bound])
  await db.query(forgetSql, [bound])
  return undelivered.length
}

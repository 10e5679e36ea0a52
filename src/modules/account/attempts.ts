import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { type Instant, MINUTE_MS, SECOND_MS } from '../../kernel/calendar.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'

/** So many at once, and one more each interval. Kept in the database: every process counts the same. */
export type AttemptLimit = { readonly atOnce: number; readonly intervalMs: number }
export type AttemptKey = { readonly of: string; readonly limit: AttemptLimit }

const byAddress: AttemptLimit = { atOnce: 50, intervalMs: 20 * SECOND_MS }
const byEmail: AttemptLimit = { atOnce: 10, intervalMs: 90 * SECOND_MS }
const ofRegistrations: AttemptLimit = { atOnce: 60, intervalMs: 10 * SECOND_MS }
const ofOperators: AttemptLimit = { atOnce: 10, intervalMs: MINUTE_MS }

/** One household has a whole /64 of addresses. */
export function addressBlock(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address.replace(/^::ffff:/i, '')
  const [head = '', tail = ''] = address.split('%')[0]!.split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const [before, after] = [groups(head), groups(tail)]
  const middle = Array(Math.max(0, 8 - before.length - after.length)).fill('0')
  return [...before, ...middle, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

export const attemptKeys = {
  signIn: (address: string, email: string): readonly AttemptKey[] => [
    { of: `sign-in address ${addressBlock(address)}`, limit: byAddress },
    { of: `sign-in e-mail ${email.trim().toLowerCase()}`, limit: byEmail },
  ],
  password: (accountId: number): readonly AttemptKey[] => [{ of: `password ${accountId}`, limit: byEmail }],
  registration: (address: string): readonly AttemptKey[] => [
    { of: `register address ${addressBlock(address)}`, limit: ofRegistrations },
  ],
  operator: (address: string): readonly AttemptKey[] => [
    { of: `operator address ${addressBlock(address)}`, limit: ofOperators },
  ],
}

// Neither addresses nor e-mails are kept, only what recognises them.
const hashOf = ({ of }: AttemptKey): Buffer => createHash('sha256').update(of).digest()

const takeSql = statement<{ free_at: Instant }>(
  'attempt_take',
  `insert into attempt as a (key_hash, free_at) values ($1, $2::timestamptz + $3::bigint * interval '1 millisecond')
   on conflict (key_hash) do update set free_at = greatest(a.free_at, $2) + $3::bigint * interval '1 millisecond'
     where a.free_at <= $2::timestamptz + $4::bigint * interval '1 millisecond'
   returning free_at`,
)
const freeAtSql = statement<{ free_at: Instant }>('attempt_free_at', 'select free_at from attempt where key_hash = $1')

/** 0 when the attempt may be made, else the seconds to wait. What was taken before the refusal stays taken. */
export async function takeAttempt(db: Queryable, keys: readonly AttemptKey[], now: Instant): Promise<number> {
  for (const key of keys) {
    const { atOnce, intervalMs } = key.limit
    const leewayMs = (atOnce - 1) * intervalMs
    const taken = await db.query(takeSql, [hashOf(key), sqlTime(now), intervalMs, leewayMs])
    if (taken.length === 1) continue
    const [row] = await db.query(freeAtSql, [hashOf(key)])
    return Math.max(1, Math.ceil(((row?.free_at ?? now) - leewayMs - now) / SECOND_MS))
  }
  return 0
}

const giveBackSql = statement(
  'attempt_give_back',
  `update attempt set free_at = free_at - $2::bigint * interval '1 millisecond' where key_hash = $1`,
)

/** Only failures count: whoever gets in gets the attempt back. */
export async function giveBackAttempt(db: Queryable, keys: readonly AttemptKey[]): Promise<void> {
  for (const key of keys) await db.query(giveBackSql, [hashOf(key), key.limit.intervalMs])
}

const pruneSql = statement('attempt_prune', 'delete from attempt where free_at <= $1')

export async function pruneAttempts(db: Queryable, now: Instant): Promise<void> {
  await db.query(pruneSql, [sqlTime(now)])
}

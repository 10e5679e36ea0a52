import { DAY_MS, type Instant, plusMs } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../database/database.ts'
import { sqlTime } from '../database/sql-values.ts'

/** What makes two requests the same: method, path and body, hashed. */
export type RequestKey = { readonly accountId: AccountId; readonly key: string; readonly requestHash: Buffer }
export type StoredAnswer = { readonly http: number; readonly body: Buffer; readonly sealed: boolean }
export type KnownKey = { readonly requestHash: Buffer; readonly answer: StoredAnswer }

const LIFE_MS = DAY_MS

/** Keys older than this are as good as new. */
export const keysExpireBefore = (now: Instant): Instant => plusMs(now, -LIFE_MS)

/**
 * A key in use is locked for its transaction, so that a batch can pass over it at once while a lone command waits.
 * `key` and `account` are SQL expressions.
 */
const lockNumber = (key: string, account: string): string => `hashtextextended(${key}, ${account})`
export const tryKeyLock = (key: string, account: string): string =>
  `pg_try_advisory_xact_lock(${lockNumber(key, account)})`

/**
 * Takes the keys of a batch together with their finished answers. `input` has account_id, idem_key, idem_hash and
 * idem_answer, its keys are locked; `now` and `expired` are parameters. A key that was used is not returned.
 */
export const takeKeysCte = (input: string, now: string, expired: string): string => `
  insert into idempotency_key as k (account_id, key, request_hash, http_status, answer, created_at)
  select account_id, idem_key, idem_hash, 200, idem_answer, ${now} from ${input} where idem_key is not null
  order by account_id, idem_key
  on conflict (account_id, key) do update set request_hash = excluded.request_hash, http_status = excluded.http_status,
    answer = excluded.answer, sealed = false, created_at = excluded.created_at
    where k.created_at <= ${expired}
  returning account_id, key`

const waitForKeySql = statement(
  'idempotency_wait',
  `select pg_advisory_xact_lock(${lockNumber('$2::text', '$1::bigint')})`,
)

const claimSql = statement<{ key: string }>(
  'idempotency_claim',
  `insert into idempotency_key as k (account_id, key, request_hash, created_at) values ($1, $2, $3, $4)
   on conflict (account_id, key) do update set request_hash = excluded.request_hash, http_status = null, answer = null,
     sealed = false, created_at = excluded.created_at
     where k.created_at <= $5
   returning key`,
)

/** True when the key is ours. It waits while another request holds it, as long as the transaction's lock_timeout allows. */
export async function claimKey(
  tx: Transaction,
  { accountId, key, requestHash }: RequestKey,
  now: Instant,
): Promise<boolean> {
  await tx.query(waitForKeySql, [accountId, key])
  return (
    (await tx.query(claimSql, [accountId, key, requestHash, sqlTime(now), sqlTime(keysExpireBefore(now))])).length === 1
  )
}

const answerSql = statement(
  'idempotency_answer',
  'update idempotency_key set http_status = $3, answer = $4, sealed = $5 where account_id = $1 and key = $2',
)

export async function storeAnswer(
  tx: Transaction,
  { accountId, key }: RequestKey,
  answer: StoredAnswer,
): Promise<void> {
  await tx.query(answerSql, [accountId, key, answer.http, answer.body, answer.sealed])
}

const findSql = statement<{ request_hash: Buffer; http_status: number; answer: Buffer; sealed: boolean }>(
  'idempotency_find',
  `select request_hash, http_status, answer, sealed from idempotency_key
   where account_id = $1 and key = $2 and created_at > $3 and answer is not null`,
)

export async function findKey(
  db: Queryable,
  { accountId, key }: RequestKey,
  now: Instant,
): Promise<KnownKey | undefined> {
  const [row] = await db.query(findSql, [accountId, key, sqlTime(keysExpireBefore(now))])
  return (
    row && { requestHash: row.request_hash, answer: { http: row.http_status, body: row.answer, sealed: row.sealed } }
  )
}

const pruneSql = statement<{ n: number }>(
  'idempotency_prune',
  `with old as (
     delete from idempotency_key where (account_id, key) in (
       select account_id, key from idempotency_key where created_at <= $1 limit $2 for update skip locked)
     returning 1)
   select count(*) as n from old`,
)

export async function pruneKeys(db: Queryable, now: Instant, limit: number): Promise<number> {
  return (await db.query(pruneSql, [sqlTime(keysExpireBefore(now)), limit]))[0]!.n
}

const shortLockWaitSql = statement('lock_wait_one_second', "set local lock_timeout = '1s'")
const anyLockWaitSql = statement('lock_wait_any', 'set local lock_timeout = 0')

/** A second request waits this long for the first; what the command itself locks is another matter. */
export async function claimKeyWithinASecond(tx: Transaction, key: RequestKey, now: Instant): Promise<boolean> {
  await tx.query(shortLockWaitSql)
  const claimed = await claimKey(tx, key, now)
  await tx.query(anyLockWaitSql)
  return claimed
}

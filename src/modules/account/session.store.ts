import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { constraintOf, isUniqueViolation } from '../../platform/database/trouble.ts'
import type { AccountStatus } from './account.ts'
import type { Session } from './session.ts'

const insertSql = statement(
  'session_insert',
  'insert into session (account_id, token_hash, created_at, idle_ends_at, ends_at) values ($1, $2, $3, $4, $5)',
)
const keepNewestSql = statement(
  'session_keep_newest',
  `delete from session where account_id = $1 and token_hash in (
     select token_hash from session where account_id = $1 order by created_at desc, token_hash offset $2)`,
)

export async function insertSession(db: Queryable, session: Session, now: Instant, keep: number): Promise<void> {
  const { accountId, tokenHash, idleEndsAt, endsAt } = session
  await db.query(insertSql, [accountId, tokenHash, sqlTime(now), sqlTime(idleEndsAt), sqlTime(endsAt)])
  await db.query(keepNewestSql, [accountId, keep])
}

export type FoundSession = Session & { readonly status: AccountStatus; readonly apiKey: string }

const findSql = statement<{ idle_ends_at: Instant; ends_at: Instant; status: AccountStatus; api_key: string | null }>(
  'session_find',
  `select s.idle_ends_at, s.ends_at, a.status, (select api_key from credential c where c.account_id = s.account_id limit 1)
   from session s join account a on a.id = s.account_id where s.account_id = $1 and s.token_hash = $2`,
)

export async function findSession(
  db: Queryable,
  { accountId, tokenHash }: Pick<Session, 'accountId' | 'tokenHash'>,
): Promise<FoundSession | undefined> {
  const [row] = await db.query(findSql, [accountId, tokenHash])
  if (row === undefined) return undefined
  const { idle_ends_at: idleEndsAt, ends_at: endsAt, status, api_key: apiKey } = row
  return { accountId, tokenHash, idleEndsAt, endsAt, status, apiKey: apiKey ?? '' }
}

const livingSql = statement<{ ord: number; idle_ends_at: Instant; ends_at: Instant; status: AccountStatus }>(
  'session_living',
  `select k.ord, s.idle_ends_at, s.ends_at, a.status
   from unnest($1::bigint[], $2::bytea[]) with ordinality k(account_id, token_hash, ord)
     join session s using (account_id, token_hash) join account a on a.id = s.account_id`,
)

/** How some sessions stand now, by their place in the list; those that ended are not among them. */
export async function findSessionEnds(db: Queryable, sessions: readonly Session[]) {
  const rows = await db.query(livingSql, [
    sessions.map(({ accountId }) => accountId),
    sessions.map(({ tokenHash }) => tokenHash),
  ])
  return rows.map(({ ord, idle_ends_at: idleEndsAt, ends_at: endsAt, status }) => ({ ord, idleEndsAt, endsAt, status }))
}

const noteUseSql = statement(
  'session_note_use',
  'update session set idle_ends_at = $3 where account_id = $1 and token_hash = $2 and idle_ends_at < $3',
)

export async function noteUse(db: Queryable, { accountId, tokenHash }: Session, idleEndsAt: Instant): Promise<void> {
  await db.query(noteUseSql, [accountId, tokenHash, sqlTime(idleEndsAt)])
}

const endSql = statement('session_end', 'delete from session where account_id = $1 and token_hash = $2')
const endOthersSql = statement('session_end_others', 'delete from session where account_id = $1 and token_hash <> $2')

export async function endSession(db: Queryable, key: Pick<Session, 'accountId' | 'tokenHash'>): Promise<void> {
  await db.query(endSql, [key.accountId, key.tokenHash])
}

export async function endOtherSessions(db: Queryable, key: Pick<Session, 'accountId' | 'tokenHash'>): Promise<void> {
  await db.query(endOthersSql, [key.accountId, key.tokenHash])
}

const pruneSql = statement('session_prune', 'delete from session where ends_at <= $1')

/** Sessions whose end is past; they were refused already. */
export async function pruneSessions(db: Queryable, now: Instant): Promise<void> {
  await db.query(pruneSql, [sqlTime(now)])
}

const signInSql = statement<{ id: number; status: AccountStatus; password_hash: string }>(
  'account_sign_in',
  'select id, status, password_hash from account where lower(email) = lower($1) and password_hash is not null',
)

export type SignIn = { readonly accountId: AccountId; readonly status: AccountStatus; readonly passwordHash: string }

export async function findSignIn(db: Queryable, email: string): Promise<SignIn | undefined> {
  const [row] = await db.query(signInSql, [email])
  return row && { accountId: row.id as AccountId, status: row.status, passwordHash: row.password_hash }
}

const ownerSql = statement<{ id: number; email: string | null; signs_in: boolean }>(
  'account_owner_of_key',
  `select a.id, a.email, a.password_hash is not null as signs_in
   from credential c join account a on a.id = c.account_id where c.api_key = $1`,
)

/** Whose credentials they are, and whether that account signs in anywhere yet. */
export async function findOwner(
  db: Queryable,
  apiKey: string,
): Promise<{ readonly accountId: AccountId; readonly email: string | null; readonly signsIn: boolean } | undefined> {
  const [row] = await db.query(ownerSql, [apiKey])
  return row && { accountId: row.id as AccountId, email: row.email, signsIn: row.signs_in }
}

const holdSignInSql = statement<{ id: number }>(
  'account_hold_sign_in',
  "select id from account where id = $1 and password_hash = $2 and status = 'ACTIVE' for share",
)

/** True when the password that was checked is still the one; it stays so until the transaction ends. */
export async function holdSignIn(tx: Transaction, { accountId, passwordHash }: SignIn): Promise<boolean> {
  return (await tx.query(holdSignInSql, [accountId, passwordHash])).length === 1
}

const setSignInSql = statement<{ id: number }>(
  'account_set_sign_in',
  'update account set email = $2, password_hash = $3 where id = $1 returning id',
)
const endAllSql = statement('session_end_all', 'delete from session where account_id = $1')

export type SetSignInRefusal = { code: 'account.emailTaken' }

/** Another e-mail and password for an account; whoever is signed in must sign in again. */
export async function setSignIn(
  tx: Transaction,
  accountId: AccountId,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<Result<void, SetSignInRefusal>> {
  try {
    await tx.query(setSignInSql, [accountId, email, passwordHash])
  } catch (error) {
    if (isUniqueViolation(error) && constraintOf(error) === 'account_sign_in')
      return refuse({ code: 'account.emailTaken' })
    throw error
  }
  await tx.query(endAllSql, [accountId])
  return ok(undefined)
}

const passwordSql = statement<{ password_hash: string | null }>(
  'account_password',
  'select password_hash from account where id = $1',
)
const setPasswordSql = statement('account_set_password', 'update account set password_hash = $2 where id = $1')

export async function findPasswordHash(db: Queryable, accountId: AccountId): Promise<string | undefined> {
  return (await db.query(passwordSql, [accountId]))[0]?.password_hash ?? undefined
}

export async function setPasswordHash(db: Queryable, accountId: AccountId, hash: string): Promise<void> {
  await db.query(setPasswordSql, [accountId, hash])
}

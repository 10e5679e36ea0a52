import type { AccountId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { OPERATOR_ACCOUNT_ID } from './account.ts'
import { type AttemptKey, giveBackAttempt, takeAttempt } from './attempts.ts'
import { hashPassword, passwordMatches } from './password.ts'
import {
  endOtherSessions,
  endSession,
  type FoundSession,
  findPasswordHash,
  findSession,
  findSignIn,
  insertSession,
  noteUse,
  setPasswordHash,
} from './session.store.ts'
import {
  beginSession,
  idleEndAfterUse,
  newSessionToken,
  SESSIONS_MAX,
  type Session,
  type SessionTimes,
  sessionKey,
  sessionLives,
} from './session.ts'

export type SignInContext = { readonly db: Database; readonly ids: RandomIds; readonly clock: Clock }
export type TooMany = { code: 'attempts.tooMany'; waitSeconds: number }

/** Whose session it is may be told by nothing but the token; the operator's are of the operator's own account. */
export type Sessions = {
  readonly times: SessionTimes
  open(db: Queryable, accountId: AccountId): Promise<string>
  /** The session of a token, if it lives; its use is noted. */
  find(token: string | undefined): Promise<FoundSession | undefined>
  end(session: Session): Promise<void>
}

export type SessionsOptions = {
  readonly times: SessionTimes
  readonly whose: 'merchant' | 'operator'
  /** A secret of the configuration that the sessions live and die with. */
  readonly boundTo?: string
}

export function createSessions({ db, ids, clock }: SignInContext, options: SessionsOptions): Sessions {
  const { times, whose, boundTo = '' } = options
  const isTheirs = (accountId: AccountId) => (accountId === OPERATOR_ACCOUNT_ID) === (whose === 'operator')
  return {
    times,
    async open(on, accountId) {
      const token = newSessionToken(accountId, ids)
      const now = clock.now()
      await insertSession(on, beginSession(sessionKey(token, boundTo)!, times, now), now, SESSIONS_MAX)
      return token
    },
    async find(token) {
      const key = token === undefined ? undefined : sessionKey(token, boundTo)
      if (key === undefined || !isTheirs(key.accountId)) return undefined
      const session = await findSession(db, key)
      const now = clock.now()
      if (session === undefined || session.status !== 'ACTIVE' || !sessionLives(session, now)) return undefined
      const idleEndsAt = idleEndAfterUse(session, times, now)
      if (idleEndsAt !== undefined) await noteUse(db, session, idleEndsAt)
      return session
    },
    end: (session) => endSession(db, session),
  }
}

/** Takes an attempt of each key, and gives it back when the attempt was good. */
export async function attempt<Value>(
  { db, clock }: Pick<SignInContext, 'db' | 'clock'>,
  keys: readonly AttemptKey[],
  work: () => Promise<Value | undefined>,
): Promise<Result<Value | undefined, TooMany>> {
  const waitSeconds = await takeAttempt(db, keys, clock.now())
  if (waitSeconds > 0) return refuse({ code: 'attempts.tooMany', waitSeconds })
  const value = await work()
  if (value !== undefined) await giveBackAttempt(db, keys)
  return ok(value)
}

/** The account that the e-mail and the password open. An unknown e-mail, a wrong password and a closed account look alike. */
export async function checkPassword(
  db: Queryable,
  { email, password }: { email: string; password: string },
): Promise<AccountId | undefined> {
  const found = await findSignIn(db, email)
  const matches = await passwordMatches(password, found?.passwordHash)
  return found !== undefined && matches && found.status === 'ACTIVE' ? found.accountId : undefined
}

export type PasswordChange = { readonly currentPassword: string; readonly password: string }

/** Whoever else is signed in must sign in again. False when the current password is not right. */
export async function changePassword(
  { db, ids }: Pick<SignInContext, 'db' | 'ids'>,
  session: Session,
  { currentPassword, password }: PasswordChange,
): Promise<boolean> {
  const stored = await findPasswordHash(db, session.accountId)
  if (!(await passwordMatches(currentPassword, stored))) return false
  const hash = await hashPassword(password, ids)
  await db.inTransaction(async (tx) => {
    await setPasswordHash(tx, session.accountId, hash)
    await endOtherSessions(tx, session)
  })
  return true
}

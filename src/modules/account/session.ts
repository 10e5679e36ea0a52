import { createHash } from 'node:crypto'
import { HOUR_MS, type Instant, MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import type { RandomIds } from '../../platform/random-ids.ts'

/** Real time, never the account's: a clock that jumps signs nobody out. */
export type SessionTimes = { readonly idleMs: number; readonly lifeMs: number }
export const panelTimes: SessionTimes = { idleMs: 2 * HOUR_MS, lifeMs: 12 * HOUR_MS }
export const operatorTimes: SessionTimes = { idleMs: 30 * MINUTE_MS, lifeMs: 8 * HOUR_MS }

/** Each sign-in is a session of its own; the oldest give way. */
export const SESSIONS_MAX = 20
/** Use is noted at most this often. */
const NOTE_MS = MINUTE_MS

export type Session = {
  readonly accountId: AccountId
  readonly tokenHash: Buffer
  readonly idleEndsAt: Instant
  readonly endsAt: Instant
}

/** `account.secret`: the account's number comes first, as in every key. */
export const newSessionToken = (accountId: AccountId, ids: RandomIds): string =>
  `${accountId}.${ids.bytes(32).toString('base64url')}`

const tokenShape = /^([1-9]\d{0,14})\.([\w-]{43})$/

/**
 * What a token is found by. 256 random bits need no slow hash. A session that was opened with a secret of the
 * configuration is bound to it: when that secret changes, the session is found no more.
 */
export function sessionKey(token: string, boundTo = ''): { accountId: AccountId; tokenHash: Buffer } | undefined {
  const parts = tokenShape.exec(token)
  if (parts === null) return undefined
  const tokenHash = createHash('sha256').update(`${parts[2]}\n${boundTo}`).digest()
  return { accountId: Number(parts[1]) as AccountId, tokenHash }
}

export const beginSession = (
  key: Pick<Session, 'accountId' | 'tokenHash'>,
  { idleMs, lifeMs }: SessionTimes,
  now: Instant,
): Session => ({ ...key, idleEndsAt: plusMs(now, idleMs), endsAt: plusMs(now, lifeMs) })

export const sessionLives = ({ idleEndsAt, endsAt }: Pick<Session, 'idleEndsAt' | 'endsAt'>, now: Instant): boolean =>
  now < idleEndsAt && now < endsAt

/** The idle end that a use now gives the session; undefined when it is not worth a write yet. */
export function idleEndAfterUse(session: Session, { idleMs }: SessionTimes, now: Instant): Instant | undefined {
  const idleEndsAt = plusMs(now, idleMs)
  return idleEndsAt - session.idleEndsAt >= NOTE_MS ? idleEndsAt : undefined
}

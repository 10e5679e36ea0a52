import type { FastifyReply, FastifyRequest } from 'fastify'
import { SECOND_MS } from '../kernel/calendar.ts'
import type { AccountId } from '../kernel/ids.ts'
import type { Result } from '../kernel/result.ts'
import type { Sessions, TooMany } from '../modules/account/index.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { Cookie } from '../platform/http/cookies.ts'
import { RequestUnusable } from '../platform/http/refusals.ts'
import type { RateLimiter } from './rate-limit.ts'

export type PageSessions = { readonly sessions: Sessions; readonly cookie: Cookie }

/** A person and a few tabs; a script that was let in is slowed down. */
const REQUESTS_PER_SECOND = 50

/** The session stands in for the credentials: the routes behind it are those of the API. */
export function sessionCredentials({ sessions, cookie }: PageSessions, rateLimiter: RateLimiter) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const session = await sessions.find(cookie.read(request))
    if (session === undefined) throw new RequestUnusable(401, 'sign in first')
    request.accountId = session.accountId
    request.apiKey = session.apiKey
    request.session = session
    const waitSeconds = rateLimiter.take(`session ${session.tokenHash.toString('hex')}`, REQUESTS_PER_SECOND)
    if (waitSeconds > 0) throw tooMany(reply, waitSeconds)
  }
}

/** A new token at every sign-in; the session that the browser had before ends. */
export async function signIn(
  page: PageSessions,
  db: Queryable,
  request: FastifyRequest,
  reply: FastifyReply,
  id: AccountId,
) {
  await endSession(page, request)
  admit(page, reply, await page.sessions.open(db, id))
}

export function admit({ sessions, cookie }: PageSessions, reply: FastifyReply, token: string): void {
  cookie.set(reply, token, sessions.times.lifeMs / SECOND_MS)
}

/** The browser forgets its session in any case. */
export async function signOut(page: PageSessions, request: FastifyRequest, reply: FastifyReply) {
  await endSession(page, request)
  page.cookie.clear(reply)
}

export async function endSession({ sessions, cookie }: PageSessions, request: FastifyRequest) {
  const session = await sessions.find(cookie.read(request))
  if (session !== undefined) await sessions.end(session)
}

export function unwrapAttempt<Value>(reply: FastifyReply, result: Result<Value, TooMany>): Value {
  if (result.ok) return result.value
  throw tooMany(reply, result.refusal.waitSeconds)
}

function tooMany(reply: FastifyReply, waitSeconds: number): RequestUnusable {
  reply.header('retry-after', String(waitSeconds))
  return new RequestUnusable(429, 'too many attempts: try again later')
}

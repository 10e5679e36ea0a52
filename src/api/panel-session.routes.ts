import type { FastifyInstance } from 'fastify'
import { wireTimestamp } from '../kernel/calendar.ts'
import { required, text } from '../kernel/reader.ts'
import {
  accountNow,
  accountWire,
  attempt,
  attemptKeys,
  changePassword,
  checkPassword,
  findAccountProfile,
  PASSWORD_MAX,
  passwordField,
} from '../modules/account/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { readBody } from '../platform/http/body.ts'
import { success } from '../platform/http/context.ts'
import { RequestInvalid, RequestUnusable } from '../platform/http/refusals.ts'
import type { RandomIds } from '../platform/random-ids.ts'
import { type PageSessions, signIn, signOut, unwrapAttempt } from './page-sessions.ts'

export type PanelSessionContext = PageSessions & {
  readonly db: Database
  readonly clock: Clock
  readonly ids: RandomIds
  readonly environment: 'sandbox' | 'production'
}

const signInFields = { email: required(text({ max: 255 })), password: required(text({ max: PASSWORD_MAX })) }

/** Who is signed in. Nobody is no error: a page asks before it knows. */
export function panelSessionRoutes(context: PanelSessionContext) {
  const { db, clock, environment, sessions, cookie } = context
  return async (app: FastifyInstance) => {
    app.get('/session', async (request) => {
      const session = await sessions.find(cookie.read(request))
      const profile = session && (await findAccountProfile(db, session.accountId))
      if (!session || !profile) return { ...success, environment, account: null }
      return {
        ...success,
        environment,
        account: accountWire(profile),
        clock: {
          now: wireTimestamp(accountNow(profile, clock.now())),
          offsetSeconds: Math.round(profile.clockOffsetMs / 1000),
        },
        // Of real time, unlike the clock above.
        sessionEndsAt: wireTimestamp(session.endsAt),
      }
    })

    app.post('/session', async (request, reply) => {
      const asked = readBody(request, signInFields)
      const tried = await attempt(context, attemptKeys.signIn(request.ip, asked.email), () => checkPassword(db, asked))
      const accountId = unwrapAttempt(reply, tried)
      if (accountId === undefined) throw new RequestUnusable(401, 'the e-mail or the password is not right')
      await signIn(context, db, request, reply, accountId)
      return success
    })

    app.delete('/session', async (request, reply) => {
      await signOut(context, request, reply)
      return success
    })
  }
}

const passwordFields = {
  currentPassword: required(text({ max: PASSWORD_MAX })),
  password: required(passwordField),
}

export function passwordRoutes(context: Pick<PanelSessionContext, 'db' | 'clock' | 'ids'>) {
  return async (app: FastifyInstance) => {
    app.put('/password', async (request, reply) => {
      const asked = readBody(request, passwordFields)
      const { accountId, session } = request
      const tried = await attempt(
        context,
        attemptKeys.password(accountId),
        async () => (await changePassword(context, { ...session!, accountId }, asked)) || undefined,
      )
      if (!unwrapAttempt(reply, tried))
        throw new RequestInvalid([{ field: 'currentPassword', message: 'is not right' }])
      return success
    })
  }
}

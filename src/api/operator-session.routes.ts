import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { required, text } from '../kernel/reader.ts'
import { attempt, attemptKeys, OPERATOR_ACCOUNT_ID } from '../modules/account/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { readBody } from '../platform/http/body.ts'
import { success } from '../platform/http/context.ts'
import { RequestUnusable } from '../platform/http/refusals.ts'
import { type PageSessions, signIn, signOut, unwrapAttempt } from './page-sessions.ts'

export type OperatorSessionContext = PageSessions & {
  readonly db: Database
  readonly clock: Clock
  readonly operatorToken: string
  readonly environment: 'sandbox' | 'production'
}

const fields = { token: required(text({ max: 1_000 })) }
const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The token is shown once, for a session; the page never keeps it. */
export function operatorSessionRoutes(context: OperatorSessionContext) {
  const { db, environment, sessions, cookie } = context
  const expected = digest(context.operatorToken)
  return async (app: FastifyInstance) => {
    app.get('/session', async (request) => ({
      ...success,
      environment,
      signedIn: (await sessions.find(cookie.read(request))) !== undefined,
    }))

    app.post('/session', async (request, reply) => {
      const { token } = readBody(request, fields)
      const tried = await attempt(
        context,
        attemptKeys.operator(request.ip),
        async () => timingSafeEqual(digest(token), expected) || undefined,
      )
      if (!unwrapAttempt(reply, tried)) throw new RequestUnusable(401, 'the token is not right')
      await signIn(context, db, request, reply, OPERATOR_ACCOUNT_ID)
      return success
    })

    app.delete('/session', async (request, reply) => {
      await signOut(context, request, reply)
      return success
    })
  }
}

import type { FastifyInstance } from 'fastify'
import { required } from '../kernel/reader.ts'
import { accountWire, attempt, attemptKeys, passwordField } from '../modules/account/index.ts'
import { type RegisterContext, registerAccount, registerFields } from '../modules/simulator/index.ts'
import { readBody } from '../platform/http/body.ts'
import { success } from '../platform/http/context.ts'
import { unwrap } from '../platform/http/refusals.ts'
import { admit, endSession, type PageSessions, unwrapAttempt } from './page-sessions.ts'

const fields = { ...registerFields, password: required(passwordField) }

/** The registration page's own route: with a password, limited by address, and signed in at once. */
export function registerPageRoutes(context: RegisterContext & PageSessions) {
  return async (app: FastifyInstance) => {
    app.post('/', async (request, reply) => {
      const asked = readBody(request, fields)
      unwrapAttempt(reply, await attempt(context, attemptKeys.registration(request.ip), async () => undefined))
      let token = ''
      const opened = await registerAccount(context, asked, async (tx, { id }) => {
        token = await context.sessions.open(tx, id)
      })
      const account = unwrap(opened, { 'account.emailTaken': 'email' })
      await endSession(context, request)
      admit(context, reply, token)
      return reply.code(201).send({ ...success, account: accountWire(account), credentials: account.credentials })
    })
  }
}

import type { FastifyInstance } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { normalizeDocument } from '../../kernel/documents.ts'
import { type AccountUuid, uuidFromWire } from '../../kernel/ids.ts'
import { flag, objectSchema, required } from '../../kernel/reader.ts'
import { refuse } from '../../kernel/result.ts'
import { readBody } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { unwrap } from '../../platform/http/refusals.ts'
import { reserveNumbers } from '../../platform/number-blocks.ts'
import {
  accountSchema,
  accountWire,
  credentialsSchema,
  findAccountProfile,
  linkRecipient,
  openAccount,
  recipientSchema,
  recipientWire,
  setRecipientActive,
  settingsChanges,
  settingsFields,
  settingsSchema,
  settingsWire,
  updateSettings,
} from '../account/index.ts'
import { beginToSettle } from '../outflow/index.ts'
import { documentField, nameField, type RegisterContext, registerAccount, registerFields } from './register-account.ts'

export type SelfServiceContext = CommandContext & RegisterContext

const answerSchema = (fields: Record<string, TSchema>) =>
  Type.Object({ status: Type.Integer(), message: Type.String(), ...fields })

const recipientFields = { name: nameField, document: documentField }
const activeFields = { active: required(flag()) }

/** The one route of the sandbox without credentials. */
export function registrationRoutes(context: SelfServiceContext) {
  return async (app: FastifyInstance) => {
    app.post(
      '/v1.1/sandbox/register',
      {
        schema: {
          tags: ['Sandbox'],
          summary: 'Register a test account',
          security: [],
          body: objectSchema(registerFields, { examples: [{ name: 'Loja Exemplo', email: 'loja@example.com' }] }),
          response: { 201: answerSchema({ account: accountSchema, credentials: credentialsSchema }) },
        },
      },
      async (request, reply) => {
        const asked = readBody(request, registerFields)
        const opened = await registerAccount(context, asked)
        const account = unwrap(opened, { 'account.emailTaken': 'email' })
        return reply.code(201).send({ ...success, account: accountWire(account), credentials: account.credentials })
      },
    )
  }
}

export function selfServiceRoutes(context: SelfServiceContext) {
  const { db, clock } = context
  const settingsAnswer = answerSchema({ account: accountSchema, ...settingsSchema })
  return async (app: FastifyInstance) => {
    app.get(
      '/v1.1/sandbox/account',
      { schema: { tags: ['Sandbox'], summary: 'Settings of the account', response: { 200: settingsAnswer } } },
      async ({ accountId }) => {
        const profile = (await findAccountProfile(db, accountId))!
        return { ...success, account: accountWire(profile), ...settingsWire(profile.settings) }
      },
    )

    app.put(
      '/v1.1/sandbox/account',
      {
        schema: {
          tags: ['Sandbox'],
          summary: 'Change settings of the account; what is not sent stays',
          body: objectSchema(settingsFields, { examples: [{ uniqueReferenceCode: true }] }),
          response: { 200: settingsAnswer },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const changes = settingsChanges(readBody(request, settingsFields))
          const updated = await updateSettings(tx, request.accountId, changes)
          const profile = unwrap(updated, { 'account.notFound': 'account', 'account.overdraftInUse': 'overdraftLimit' })
          if (changes.autoSettle) await beginToSettle(tx, request.accountId, clock.now())
          return { http: 200, body: { ...success, account: accountWire(profile), ...settingsWire(profile.settings) } }
        }),
    )

    app.post(
      '/v1.1/sandbox/recipients',
      {
        schema: {
          tags: ['Sandbox'],
          summary: 'A new account, linked as a recipient of this one',
          body: objectSchema(recipientFields, { examples: [{ name: 'Fornecedor', document: '11222333000181' }] }),
          response: { 201: answerSchema({ recipient: recipientSchema, credentials: credentialsSchema }) },
        },
      },
      async (request, reply) => {
        const numbers = await reserveNumbers(context.numbers, 1)
        return runCommand(context, request, reply, async (tx) => {
          const asked = readBody(request, recipientFields)
          const now = clock.now()
          const recipientDocument = asked.document === undefined ? null : normalizeDocument(asked.document)
          const opened = await openAccount(
            { ...context, numbers, tx, now },
            {
              name: asked.name,
              email: null,
              passwordHash: null,
              document: recipientDocument,
              city: null,
              splitEnabled: false,
            },
          )
          const account = unwrap(opened, { 'account.emailTaken': 'email' })
          await linkRecipient(tx, request.accountId, account.id, now)
          const recipient = recipientWire({
            uuid: account.uuid,
            name: account.name,
            document: recipientDocument,
            active: true,
          })
          return {
            http: 201,
            body: { ...success, recipient, credentials: account.credentials },
            holdsCredentials: true,
          }
        })
      },
    )

    app.put<{ Params: { recipientId: string } }>(
      '/v1.1/sandbox/recipients/:recipientId',
      {
        schema: {
          tags: ['Sandbox'],
          summary: 'Activate or deactivate a linked recipient',
          params: Type.Object({ recipientId: Type.String() }),
          body: objectSchema(activeFields, { examples: [{ active: false }] }),
          response: { 200: answerSchema({ recipient: recipientSchema }) },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const { active } = readBody(request, activeFields)
          const uuid = uuidFromWire<AccountUuid>(request.params.recipientId)
          const found = uuid
            ? await setRecipientActive(tx, request.accountId, uuid, active)
            : refuse({ code: 'split.recipientNotFound' as const })
          const recipient = unwrap(found, { 'split.recipientNotFound': 'recipientId' })
          return { http: 200, body: { ...success, recipient: recipientWire(recipient) } }
        }),
    )
  }
}

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { wireTimestamp } from '../kernel/calendar.ts'
import { maskDocument, normalizeDocument } from '../kernel/documents.ts'
import { type AccountId, type AccountUuid, uuidFromWire } from '../kernel/ids.ts'
import { email, flag, integer, objectSchema, oneOf, required, text } from '../kernel/reader.ts'
import { ok, type Result, refuse } from '../kernel/result.ts'
import {
  type AccountProfile,
  type Authenticator,
  accountStatuses,
  findAccountIdByUuid,
  findAccountProfile,
  hashPassword,
  linkRecipient,
  listAccountProfiles,
  listAllRecipients,
  OVERLAP_HOURS_MAX,
  openAccount,
  operatorSettingsFields,
  passwordField,
  recipientWire,
  rotateToken,
  setRecipientActive,
  setSignIn,
  settingsChanges,
  settingsWire,
  updateSettings,
} from '../modules/account/index.ts'
import { beginToSettle } from '../modules/outflow/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/database/database.ts'
import { readBody, readQuery } from '../platform/http/body.ts'
import { success } from '../platform/http/context.ts'
import { pagedAnswer } from '../platform/http/paging.ts'
import { unwrap } from '../platform/http/refusals.ts'
import { type NumberBlocks, reserveNumbers } from '../platform/number-blocks.ts'
import type { RandomIds } from '../platform/random-ids.ts'
import type { Secrets } from '../platform/secrets.ts'
import { describe, type InsightContext, insightRoutes, PAGE_SIZE, pageFields } from './operator-insight.routes.ts'

export type OperatorContext = InsightContext & {
  readonly clock: Clock
  readonly secrets: Secrets
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly authenticator: Authenticator
}

const createFields = {
  name: required(text({ max: 100 })),
  email: email(),
  document: text({ min: 2, max: 25 }),
  city: text({ max: 60 }),
  ...operatorSettingsFields,
}
const listFields = { ...pageFields, search: text({ max: 100 }), status: oneOf(accountStatuses) }
const linkFields = { recipientId: required(text({ max: 36 })) }
const activeFields = { active: required(flag()) }
const rotateFields = { overlapHours: integer({ min: 0, max: OVERLAP_HOURS_MAX }) }
const signInFields = { email: required(email()), password: required(passwordField) }
const notFound = { 'account.notFound': 'accountId' }

const profileWire = (profile: AccountProfile) => ({
  id: profile.uuid,
  number: profile.id,
  name: profile.name,
  email: profile.email,
  document: profile.document === null ? null : maskDocument(profile.document),
  status: profile.settings.status,
  creation: wireTimestamp(profile.createdAt),
  clockOffsetSeconds: Math.round(profile.clockOffsetMs / 1000),
  ...settingsWire(profile.settings),
  splitRecipientsMax: profile.settings.splitRecipientsMax,
  rateLimitPerSecond: profile.settings.rateLimitPerSecond,
})

async function accountIdOf(db: Queryable, uuid: string): Promise<Result<AccountId, { code: 'account.notFound' }>> {
  const shape = uuidFromWire<AccountUuid>(uuid)
  const id = shape && (await findAccountIdByUuid(db, shape))
  return id ? ok(id) : refuse({ code: 'account.notFound' })
}

const createdSchema = Type.Object(
  { status: Type.Integer(), message: Type.String() },
  { additionalProperties: true, description: 'Made, and this is it.' },
)
const accountParams = Type.Object({ accountId: Type.String({ format: 'uuid' }) })
type AccountParams = { Params: { accountId: string } }

/** For whoever runs the service. Answers wrap their thing, so that the envelope's status stays apart. */
export function operatorRoutes(context: OperatorContext) {
  const { db, clock } = context
  return async (app: FastifyInstance) => {
    app.post(
      '/accounts',
      describe('Create an account', {
        body: objectSchema(createFields, { examples: [{ name: 'Loja Nova' }] }),
        response: { 201: createdSchema },
      }),
      async (request, reply) => {
        const asked = readBody(request, createFields)
        const numbers = await reserveNumbers(context.numbers, 1)
        const created = await db.inTransaction(async (tx) => {
          const opened = await openAccount(
            { ...context, numbers, tx, now: clock.now() },
            {
              name: asked.name,
              email: asked.email ?? null,
              document: asked.document === undefined ? null : normalizeDocument(asked.document),
              city: asked.city ?? null,
              passwordHash: null,
              splitEnabled: asked.splitEnabled ?? false,
            },
          )
          const account = unwrap(opened, { 'account.emailTaken': 'email' })
          const profile = unwrap(await updateSettings(tx, account.id, settingsChanges(asked)), settingsFieldsOf)
          return { account: profileWire(profile), credentials: account.credentials }
        })
        return reply.code(201).send({ ...success, ...created })
      },
    )

    app.get(
      '/accounts',
      describe('List accounts, newest first; `search` is an id, a number, an api key, or a part of a name or e-mail', {
        querystring: objectSchema(listFields),
      }),
      async (request) => {
        const { page = 1, maxPageResults: size = PAGE_SIZE, search, status } = readQuery(request, listFields)
        const query = { search, status, offset: (page - 1) * size, limit: size }
        const { profiles, total } = await listAccountProfiles(db, query)
        return { ...success, ...pagedAnswer(total, size, profiles.map(profileWire)) }
      },
    )

    app.get<AccountParams>(
      '/accounts/:accountId',
      describe('One account', { params: accountParams }),
      async (request) => {
        const id = unwrap(await accountIdOf(db, request.params.accountId), notFound)
        const profile = await findAccountProfile(db, id)
        return {
          ...success,
          account: profileWire(unwrap(profile ? ok(profile) : refuse({ code: 'account.notFound' as const }), notFound)),
        }
      },
    )

    app.patch<AccountParams>(
      '/accounts/:accountId',
      describe('Change settings, limits or status', {
        params: accountParams,
        body: objectSchema(operatorSettingsFields, { examples: [{ rateLimitPerSecond: 100 }] }),
      }),
      async (request) => {
        const changes = settingsChanges(readBody(request, operatorSettingsFields))
        const id = unwrap(await accountIdOf(db, request.params.accountId), notFound)
        const updated = await db.inTransaction(async (tx) => {
          const profile = unwrap(await updateSettings(tx, id, changes), settingsFieldsOf)
          if (changes.autoSettle) await beginToSettle(tx, id, clock.now())
          return profile
        })
        context.authenticator.forget()
        return { ...success, account: profileWire(updated) }
      },
    )

    app.post<AccountParams>(
      '/accounts/:accountId/credentials/rotate',
      describe('A new token for an account', {
        params: accountParams,
        body: objectSchema(rotateFields, { examples: [{ overlapHours: 24 }] }),
      }),
      async (request) => {
        const { overlapHours = OVERLAP_HOURS_MAX } = readBody(request, rotateFields)
        const accountId = unwrap(await accountIdOf(db, request.params.accountId), notFound)
        const rotated = await db.inTransaction((tx) =>
          rotateToken({ ...context, tx, now: clock.now() }, { accountId, overlapHours }),
        )
        const { apiKey, apiToken, previousTokenEndsAt } = unwrap(
          rotated ? ok(rotated) : refuse({ code: 'account.notFound' as const }),
          notFound,
        )
        context.authenticator.forget(apiKey)
        return {
          ...success,
          credentials: { apiKey, apiToken },
          previousTokenEndsAt: wireTimestamp(previousTokenEndsAt),
        }
      },
    )

    app.put<AccountParams>(
      '/accounts/:accountId/sign-in',
      describe('The e-mail and password that open the panel; whoever is signed in must sign in again', {
        params: accountParams,
        body: objectSchema(signInFields, { examples: [{ email: 'loja@example.com', password: 'a long password' }] }),
      }),
      async (request) => {
        const { email: address, password } = readBody(request, signInFields)
        const id = unwrap(await accountIdOf(db, request.params.accountId), notFound)
        const signIn = { email: address, passwordHash: await hashPassword(password, context.ids) }
        await db.inTransaction(async (tx) => unwrap(await setSignIn(tx, id, signIn), { 'account.emailTaken': 'email' }))
        return success
      },
    )

    recipientRoutes(app, context)
    insightRoutes(app, context)
  }
}

const settingsFieldsOf = { 'account.notFound': 'accountId', 'account.overdraftInUse': 'overdraftLimit' }

function recipientRoutes(app: FastifyInstance, { db, clock }: OperatorContext): void {
  app.get<AccountParams>(
    '/accounts/:accountId/recipients',
    describe('Recipients of an account, also those that are switched off, newest first', {
      params: accountParams,
      querystring: objectSchema(pageFields),
    }),
    async (request) => {
      const { page = 1, maxPageResults: limit = PAGE_SIZE } = readQuery(request, pageFields)
      const id = unwrap(await accountIdOf(db, request.params.accountId), notFound)
      const { total, recipients } = await listAllRecipients(db, id, { offset: (page - 1) * limit, limit })
      return { ...success, ...pagedAnswer(total, limit, recipients.map(recipientWire)) }
    },
  )

  app.post<AccountParams>(
    '/accounts/:accountId/recipients',
    describe('Link an account as a recipient', {
      params: accountParams,
      body: objectSchema(linkFields),
      response: { 201: createdSchema },
    }),
    async (request, reply) => {
      const { recipientId } = readBody(request, linkFields)
      const parent = unwrap(await accountIdOf(db, request.params.accountId), notFound)
      const recipient = unwrap(await accountIdOf(db, recipientId), { 'account.notFound': 'recipientId' })
      unwrap(parent === recipient ? refuse({ code: 'account.notFound' as const }) : ok(true), {
        'account.notFound': 'recipientId',
      })
      await db.inTransaction((tx) => linkRecipient(tx, parent, recipient, clock.now()))
      return reply
        .code(201)
        .send({ ...success, recipient: { recipientId: recipientId.toLowerCase(), status: 'ACTIVE' } })
    },
  )

  app.put<{ Params: { accountId: string; recipientId: string } }>(
    '/accounts/:accountId/recipients/:recipientId',
    describe('Activate or deactivate a recipient', {
      body: objectSchema(activeFields, { examples: [{ active: true }] }),
    }),
    async (request) => {
      const { active } = readBody(request, activeFields)
      const parent = unwrap(await accountIdOf(db, request.params.accountId), notFound)
      const uuid = uuidFromWire<AccountUuid>(request.params.recipientId)
      const result = uuid
        ? await db.inTransaction((tx) => setRecipientActive(tx, parent, uuid, active))
        : refuse({ code: 'split.recipientNotFound' as const })
      const recipient = unwrap(result, { 'split.recipientNotFound': 'recipientId' })
      const { document: _document, ...wire } = recipientWire(recipient)
      return { ...success, recipient: wire }
    },
  )
}

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type AccountId, type AccountUuid, uuidFromWire } from '../../kernel/ids.ts'
import { objectSchema } from '../../kernel/reader.ts'
import { ok, refuse } from '../../kernel/result.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { clampedField } from '../../platform/http/paging.ts'
import { unwrap } from '../../platform/http/refusals.ts'
import { findAccountTerms, findRecipient, listRecipients, recipientSchema, recipientWire } from '../account/index.ts'

const listFields = {
  page: clampedField({ min: 0, max: 1_000_000_000, fallback: 0, description: 'From 0.' }),
  size: clampedField({ min: 1, max: 100, fallback: 50 }),
}
const envelope = { status: Type.Integer(), message: Type.String() }
const listSchema = Type.Object({
  ...envelope,
  recipients: Type.Array(recipientSchema),
  page: Type.Integer(),
  size: Type.Integer(),
  totalPages: Type.Integer(),
  totalRecipients: Type.Integer(),
})
const oneSchema = Type.Object({ ...envelope, recipient: recipientSchema })

/** Credentials first, then enablement, then the recipient. */
export function recipientRoutes({ db }: { readonly db: Queryable }) {
  const mustBeEnabled = async (accountId: AccountId) => {
    const account = (await findAccountTerms(db, [accountId])).get(accountId)!
    unwrap(account.splitEnabled ? ok(true) : refuse({ code: 'split.notEnabled' as const }), {
      'split.notEnabled': 'split',
    })
  }

  return async (app: FastifyInstance) => {
    app.get(
      '/v1.1/split/recipients',
      {
        schema: {
          tags: ['Split'],
          summary: 'Active recipients, most recently linked first',
          querystring: objectSchema(listFields),
          response: { 200: listSchema },
        },
      },
      async (request) => {
        await mustBeEnabled(request.accountId)
        const { page = 0, size = 50 } = readQuery(request, listFields)
        const { total, recipients } = await listRecipients(db, request.accountId, { offset: page * size, limit: size })
        return {
          ...success,
          recipients: recipients.map(recipientWire),
          page,
          size,
          totalPages: Math.ceil(total / size),
          totalRecipients: total,
        }
      },
    )

    app.get<{ Params: { recipientId: string } }>(
      '/v1.1/split/recipients/:recipientId',
      {
        schema: {
          tags: ['Split'],
          summary: 'One recipient',
          params: Type.Object({ recipientId: Type.String({ format: 'uuid' }) }),
          response: { 200: oneSchema },
        },
      },
      async (request) => {
        await mustBeEnabled(request.accountId)
        const uuid = uuidFromWire<AccountUuid>(request.params.recipientId)
        const found = uuid
          ? await findRecipient(db, request.accountId, uuid)
          : refuse({ code: 'split.recipientNotFound' as const })
        const recipient = unwrap(found, { 'split.recipientNotFound': 'recipientId' })
        return { ...success, recipient: recipientWire(recipient) }
      },
    )
  }
}

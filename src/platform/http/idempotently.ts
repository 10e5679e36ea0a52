import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Database, Transaction } from '../database/database.ts'
import { troubleOf } from '../database/trouble.ts'
import {
  claimKeyWithinASecond,
  findKey,
  type KnownKey,
  type RequestKey,
  type StoredAnswer,
  storeAnswer,
} from '../idempotency/idempotency.store.ts'
import type { Secrets } from '../secrets.ts'
import { jsonBody, rawBody } from './body.ts'
import { RequestInvalid, RequestRefused, RequestUnusable } from './refusals.ts'

export type CommandContext = { readonly db: Database; readonly clock: Clock; readonly secrets: Secrets }
export type Answer = {
  readonly http: number
  readonly body: Record<string, unknown>
  readonly holdsCredentials?: boolean
}

const KEY_FIELD = 'Idempotency-Key'
const KEY_MAX = 255
const sealContext = ({ accountId, key }: RequestKey) => `account ${accountId} answer ${key}`

/** The key that the caller sent with this request, if any. */
export function requestKeyOf(request: FastifyRequest): RequestKey | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key.length > KEY_MAX || !/^[\x20-\x7e]+$/.test(key))
    throw new RequestInvalid([{ field: KEY_FIELD, message: `must have 1 to ${KEY_MAX} printable characters` }])
  const path = request.url.split('?')[0]!.replace(/\/+$/, '')
  const hash = createHash('sha256').update(`${request.method} ${path}\n`).update(rawBody(request)).digest()
  return { accountId: request.accountId, key, requestHash: hash }
}

/**
 * Runs a command in a transaction. With an Idempotency-Key the key, the effect and the answer commit together; the
 * same request again gets the stored answer, another request with the key a 422, and one that runs for over a second a 409.
 */
export async function runCommand(
  context: CommandContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Transaction) => Promise<Answer>,
): Promise<FastifyReply> {
  const key = requestKeyOf(request)
  // What is no JSON is refused before the key is looked at, and is not stored under it.
  if (request.routeOptions.schema?.body !== undefined) jsonBody(request)
  if (key === null) return send(reply, await context.db.inTransaction(work))
  try {
    return await firstOrStored(context, reply, key, async (tx) => work(tx))
  } catch (error) {
    if (!(error instanceof RequestRefused) && !(error instanceof RequestInvalid)) throw error
    return keepRefusal(context, request, reply, key, error)
  }
}

/** A refusal had no effect; it is kept all the same, so that the same request hears the same answer. */
export function keepRefusal(
  context: CommandContext,
  request: FastifyRequest,
  reply: FastifyReply,
  key: RequestKey,
  refusal: RequestRefused | RequestInvalid,
): Promise<FastifyReply> {
  return firstOrStored(context, reply, key, async () => request.server.envelopeOf(refusal))
}

async function firstOrStored(
  context: CommandContext,
  reply: FastifyReply,
  key: RequestKey,
  work: (tx: Transaction) => Promise<Answer>,
): Promise<FastifyReply> {
  const { db, clock, secrets } = context
  // A key may lapse or its first request fail between the claim and the look: then it is free, so ask again.
  for (let tries = 0; tries < 3; tries += 1) {
    const answer = await withLockWait(() =>
      db.inTransaction(async (tx) => {
        if (!(await claimKeyWithinASecond(tx, key, clock.now()))) return undefined
        const made = await work(tx)
        const text = reply.code(made.http).serialize(made.body) as string
        const body = made.holdsCredentials ? secrets.seal(text, sealContext(key)) : Buffer.from(text)
        await storeAnswer(tx, key, { http: made.http, body, sealed: made.holdsCredentials ?? false })
        return { http: made.http, text }
      }),
    )
    if (answer !== undefined) return reply.code(answer.http).type('application/json; charset=utf-8').send(answer.text)
    const known = await findKey(db, key, clock.now())
    if (known !== undefined) return replay(context, reply, key, known)
  }
  throw stillRunning()
}

/** Answers what was stored for the key, or refuses the key's use for another request. */
export function replay(
  { secrets }: CommandContext,
  reply: FastifyReply,
  key: RequestKey,
  known: KnownKey,
): FastifyReply {
  if (!known.requestHash.equals(key.requestHash))
    throw new RequestUnusable(422, 'the key was used for another request', [
      { field: KEY_FIELD, message: 'was used for another request' },
    ])
  return reply
    .code(known.answer.http)
    .header('idempotency-replayed', 'true')
    .type('application/json; charset=utf-8')
    .send(textOf(secrets, key, known.answer))
}

const textOf = (secrets: Secrets, key: RequestKey, { body, sealed }: StoredAnswer): string =>
  sealed ? secrets.open(body, sealContext(key)) : body.toString('utf8')

const stillRunning = () =>
  new RequestUnusable(409, 'the first request with this key is still running', [
    { field: KEY_FIELD, message: 'the first request is still running' },
  ])

async function withLockWait<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw troubleOf(error) === 'lockWait' ? stillRunning() : error
  }
}

const send = (reply: FastifyReply, { http, body }: Answer): FastifyReply => reply.code(http).send(body)

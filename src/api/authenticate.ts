import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../modules/account/index.ts'
import { RequestUnusable } from '../platform/http/refusals.ts'
import { forbidden } from './error-envelope.ts'
import type { RateLimiter } from './rate-limit.ts'

/** Credentials first, then the rate limit; both before the body is read. */
export function accountCredentials(authenticator: Authenticator, rateLimiter: RateLimiter) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = await authenticator.authenticate(header(request, 'x-api-key'), header(request, 'x-api-token'))
    if (caller === undefined) return reply.code(forbidden.http).send(forbidden.body)
    request.accountId = caller.accountId
    request.apiKey = caller.apiKey
    if (caller.rateLimitPerSecond === null) return undefined
    const waitSeconds = rateLimiter.take(caller.apiKey, caller.rateLimitPerSecond)
    if (waitSeconds === 0) return undefined
    reply.header('retry-after', String(waitSeconds))
    throw new RequestUnusable(429, 'too many requests for this api key')
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export function operatorCredentials(operatorToken: string) {
  const expected = digest(`Bearer ${operatorToken}`)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const matches = timingSafeEqual(digest(request.headers.authorization ?? ''), expected)
    return matches ? undefined : reply.code(forbidden.http).send(forbidden.body)
  }
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

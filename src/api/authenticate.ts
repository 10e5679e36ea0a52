import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator, Caller } from '../modules/account/index.ts'
import { RequestUnusable } from '../platform/http/refusals.ts'
import { forbidden } from './error-envelope.ts'
import type { RateLimiter } from './rate-limit.ts'

/** Credentials first, then the rate limit; both before the body is read. */
export function accountCredentials(authenticator: Authenticator, rateLimiter: RateLimiter) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const [apiKey, apiToken] = [header(request, 'x-api-key'), header(request, 'x-api-token')]
    const admit = (caller: Caller | undefined): void => {
      if (caller === undefined) return void reply.code(forbidden.http).send(forbidden.body)
      request.accountId = caller.accountId
      request.apiKey = caller.apiKey
      done(limit(reply, rateLimiter, caller))
    }
    const recalled = authenticator.recall(apiKey, apiToken)
    if (recalled !== undefined) admit(recalled)
    else authenticator.authenticate(apiKey, apiToken).then(admit, done)
  }
}

function limit(
  reply: FastifyReply,
  rateLimiter: RateLimiter,
  { apiKey, rateLimitPerSecond }: Caller,
): Error | undefined {
  const waitSeconds = rateLimitPerSecond === null ? 0 : rateLimiter.take(apiKey, rateLimitPerSecond)
  if (waitSeconds === 0) return undefined
  reply.header('retry-after', String(waitSeconds))
  return new RequestUnusable(429, 'too many requests for this api key')
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

import swagger from '@fastify/swagger'
import scalar from '@scalar/fastify-api-reference'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, type RouteOptions } from 'fastify'
import type { AccountId } from '../kernel/ids.ts'
import { Overloaded, Unavailable } from '../platform/batcher.ts'
import { BODY_BYTES_MAX } from '../platform/http/body.ts'
import { RequestUnusable } from '../platform/http/refusals.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { envelopeOf } from './error-envelope.ts'
import { docsOptions, openApiOptions } from './openapi.ts'

export type AppOptions = {
  readonly logger: Logger
  /** Takes the line a request leaves. */
  readonly requestLogger: Logger
  readonly metrics: Metrics
  readonly publicUrl: string
  readonly newRequestId: () => string
  /** Registers every route, by name, in one place (service.ts). */
  readonly routes: (app: FastifyInstance) => Promise<void>
}

const saneRequestId = /^[\w.:@=+/-]{1,128}$/
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    logger: false,
    genReqId: (request) => {
      const sent = request.headers['x-request-id']
      return typeof sent === 'string' && saneRequestId.test(sent) ? sent : options.newRequestId()
    },
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, _request, reply) => void answer(reply, envelopeOf(error)),
    clientErrorHandler: refuseBrokenHttp,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
  })
  // Routes read their bodies themselves (platform/http/body.ts); the schemas describe, serialise and document.
  app.setValidatorCompiler(() => () => true)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.decorate('envelopeOf', envelopeOf)
  app.decorateRequest('accountId', 0 as AccountId)
  app.decorateRequest('apiKey', '')
  observe(app, options)
  answerErrors(app, options.logger)
  await app.register(swagger, openApiOptions(options.publicUrl))
  const refuseOtherMethods = collectRoutes(app)
  await app.register(options.routes)
  await app.register(scalar, docsOptions)
  refuseOtherMethods()
  return app
}

const answer = (reply: FastifyReply, { http, body }: { http: number; body: object }) =>
  reply.code(http).type('application/json; charset=utf-8').send(JSON.stringify(body))

/** One line a request, with its id; never a body, never a header. */
function observe(app: FastifyInstance, { requestLogger, metrics }: AppOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request
    const route = request.routeOptions.url ?? 'unknown'
    const seconds = reply.elapsedTime / 1000
    metrics.requests.observe({ method, route, status: reply.statusCode }, seconds)
    const ms = Math.round(reply.elapsedTime * 1000) / 1000
    requestLogger.info({
      requestId: request.id,
      method,
      path: pathOf(request),
      status: reply.statusCode,
      ms,
      accountId: request.accountId || undefined,
    })
    done()
  })
}

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!

function answerErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const envelope = envelopeOf(error)
    if (envelope.http >= 500) logger.error({ err: error, requestId: request.id }, 'a request failed')
    if (error instanceof Overloaded || error instanceof Unavailable || envelope.http === 503)
      reply.header('retry-after', '1')
    return answer(reply, envelope)
  })
  app.setNotFoundHandler((_request, reply) =>
    answer(reply, envelopeOf(new RequestUnusable(404, 'there is no such route'))),
  )
}

/** A known path with another method is a 405 that names the methods it takes. */
function collectRoutes(app: FastifyInstance): () => void {
  const known = new Map<string, Set<string>>()
  app.addHook('onRoute', (route: RouteOptions) => {
    const taken = known.get(route.url) ?? new Set<string>()
    for (const method of [route.method].flat()) taken.add(method)
    known.set(route.url, taken)
  })
  return () => {
    for (const [url, taken] of [...known]) {
      const rest = methods.filter((method) => !taken.has(method))
      if (rest.length === 0 || url.includes('*')) continue
      const allow = [...taken].sort().join(', ')
      app.route({
        method: rest,
        url,
        schema: { hide: true },
        exposeHeadRoute: false,
        handler: (_request, reply) =>
          answer(reply.header('allow', allow), envelopeOf(new RequestUnusable(405, `this route takes ${allow}`))),
      })
    }
  }
}

/** What is not HTTP never becomes a request; it still gets an answer in our form. */
function refuseBrokenHttp(error: { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [line, http] =
    error.code === 'HPE_HEADER_OVERFLOW' ? ['431 Request Header Fields Too Large', 431] : ['400 Bad Request', 400]
  const body = JSON.stringify(envelopeOf({ statusCode: http }).body)
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

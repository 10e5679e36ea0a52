import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http'
import swagger from '@fastify/swagger'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, type RouteOptions } from 'fastify'
import type { AccountId } from '../kernel/ids.ts'
import { Overloaded, Unavailable } from '../platform/batcher.ts'
import { BODY_BYTES_MAX } from '../platform/http/body.ts'
import { RequestUnusable } from '../platform/http/refusals.ts'
import type { Logger, RequestLine } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { docsRoutes } from './docs.ts'
import { envelopeOf } from './error-envelope.ts'
import { openApiOptions } from './openapi.ts'
import { type Answered, createRequestRecord, pathOf, type RecordRequest } from './request-record.ts'

export type AppOptions = {
  readonly logger: Logger
  readonly requestLine: RequestLine | undefined
  readonly metrics: Metrics
  readonly publicUrl: string
  /** How many of our own stand in front and say whose request it is. */
  readonly proxies: number
  readonly newRequestId: () => string
  /** Registers every route, by name, in one place (service.ts). */
  readonly routes: (app: FastifyInstance) => Promise<void>
}

const saneRequestId = /^[\w.:@=+/-]{1,128}$/
const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/
/** As long as a whole head may be: a path id of any length is answered by its route, which does not find it. */
const PARAM_LENGTH_MAX = 16_384

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const record = createRequestRecord(options.metrics, options.requestLine)
  const requestIdOf = ({ 'x-request-id': sent }: IncomingHttpHeaders) =>
    typeof sent === 'string' && saneRequestId.test(sent) ? sent : options.newRequestId()
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: options.proxies > 0 && ((_address: string, hop: number) => hop < options.proxies),
    logger: false,
    genReqId: ({ headers }) => requestIdOf(headers),
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // Left to Node, a request without a host would get an answer without a body.
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => {
      const envelope = envelopeOf(error)
      void answer(reply.header('x-request-id', request.id), envelope)
      record(answeredBy(request, reply))
    },
    clientErrorHandler: (error, socket) => refuseBrokenHttp(error, socket, options.newRequestId()),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: PARAM_LENGTH_MAX },
  })
  app.server.on('checkExpectation', (_request, response) => refuseExpectation(response, options.newRequestId()))
  // Routes read their bodies themselves (platform/http/body.ts); the schemas describe, serialise and document.
  app.setValidatorCompiler(() => () => true)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.decorate('envelopeOf', envelopeOf)
  app.decorateRequest('accountId', 0 as AccountId)
  app.decorateRequest('apiKey', '')
  app.decorateRequest('session', null)
  observe(app, record)
  refuseAtGate(app, { record, requestIdOf })
  refuseEarly(app)
  answerErrors(app, options.logger)
  await app.register(swagger, openApiOptions(options.publicUrl))
  const refuseOtherMethods = collectRoutes(app)
  await app.register(options.routes)
  await app.register(docsRoutes)
  refuseOtherMethods()
  return app
}

const answer = (reply: FastifyReply, { http, body }: { http: number; body: object }) =>
  reply.code(http).type('application/json; charset=utf-8').send(JSON.stringify(body))

function observe(app: FastifyInstance, record: RecordRequest): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    record(answeredBy(request, reply))
    done()
  })
}

const answeredBy = (request: FastifyRequest, reply: FastifyReply): Answered => ({
  requestId: request.id,
  method: request.method,
  url: request.url,
  route: request.routeOptions?.url ?? 'unknown',
  status: reply.statusCode,
  ms: reply.elapsedTime,
  accountId: request.accountId ?? 0,
})

type Gate = { readonly record: RecordRequest; readonly requestIdOf: (headers: IncomingHttpHeaders) => string }

/**
 * A crowd that comes to a full queue is turned away before the framework hears of it: all that is spent on refusals is
 * missing for those who were let in.
 */
function refuseAtGate(app: FastifyInstance, { record, requestIdOf }: Gate): void {
  const full = new Map<string, () => boolean>()
  app.addHook('onRoute', ({ method, url, config }: RouteOptions) => {
    const isFull = config?.isFull
    if (isFull && !url.includes(':')) for (const one of [method].flat()) full.set(`${one} ${url}`, isFull)
  })
  const body = JSON.stringify(tooMany.body)
  const common = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'retry-after': '1',
  }
  const isRefused = ({ method, url, headers }: IncomingMessage) =>
    headers.host !== undefined && full.get(`${method} ${pathOf(url!)}`)?.()
  const answers = app.server.listeners('request') as RequestListener[]
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (!isRefused(request)) {
      for (const answer of answers) answer(request, response)
      return
    }
    const began = performance.now()
    const requestId = requestIdOf(request.headers)
    response.writeHead(tooMany.http, { ...common, 'x-request-id': requestId }).end(body)
    const [method, url] = [request.method!, request.url!]
    const ms = performance.now() - began
    record({ requestId, method, url, route: pathOf(url), status: tooMany.http, ms, accountId: 0 })
  })
}

/** What needs no look at the body is refused before a byte of it is read. */
function refuseEarly(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw } = request
    if (headers.host === undefined && raw.httpVersion === '1.1')
      return void answer(reply, envelopeOf({ statusCode: 400 }))
    if (request.is404) return void answer(reply, noSuchRoute)
    if (request.routeOptions.config.isFull?.()) return void answer(reply.header('retry-after', '1'), tooMany)
    // A malformed type is an unknown type: whether that matters is the route's to say, not the framework's.
    const type = headers['content-type']
    if (type !== undefined && !mediaType.test(type)) headers['content-type'] = 'application/octet-stream'
    done()
  })
}

/** Made once: there is least time for it when it is needed most. */
const tooMany = envelopeOf(new Overloaded())
const noSuchRoute = envelopeOf(new RequestUnusable(404, 'there is no such route'))

function answerErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const envelope = envelopeOf(error)
    if (envelope.http >= 500 && !(error instanceof Overloaded))
      logger.error({ err: error, requestId: request.id }, 'a request failed')
    if (error instanceof Overloaded || error instanceof Unavailable || envelope.http === 503)
      reply.header('retry-after', '1')
    return answer(reply, envelope)
  })
  app.setNotFoundHandler((_request, reply) => answer(reply, noSuchRoute))
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
      const rest = app.supportedMethods.filter((method) => !taken.has(method))
      if (rest.length === 0 || url.includes('*')) continue
      const allow = [...taken].sort().join(', ')
      const refuse = async (_request: FastifyRequest, reply: FastifyReply) =>
        answer(reply.header('allow', allow), envelopeOf(new RequestUnusable(405, `this route takes ${allow}`)))
      app.route({
        method: rest,
        url,
        schema: { hide: true },
        exposeHeadRoute: false,
        onRequest: refuse,
        handler: refuse,
      })
    }
  }
}

const brokenHttp: Readonly<Record<string, readonly [http: number, line: string]>> = {
  HPE_HEADER_OVERFLOW: [431, '431 Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, '408 Request Timeout'],
}

/** What is not HTTP never becomes a request; it still gets an answer in our form. */
function refuseBrokenHttp(error: { code?: string }, socket: import('node:net').Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [http, line] = brokenHttp[error.code ?? ''] ?? [400, '400 Bad Request']
  const body = JSON.stringify(envelopeOf({ statusCode: http }).body)
  socket.end(
    `HTTP/1.1 ${line}\r\nx-request-id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** `Expect` with anything but 100-continue, which Node would refuse without a body. */
function refuseExpectation(response: import('node:http').ServerResponse, requestId: string): void {
  const { http, body } = envelopeOf({ statusCode: 417 })
  response
    .writeHead(http, {
      'x-request-id': requestId,
      'content-type': 'application/json; charset=utf-8',
      connection: 'close',
    })
    .end(JSON.stringify(body))
}

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { RequestUnusable } from '../platform/http/refusals.ts'

/** No form and no link of another site can send it. */
const PAGE_HEADER = 'x-quitado-page'
const READS = new Set(['GET', 'HEAD'])

/** Routes that our own pages call: answers are kept by nobody, and what other sites ask is refused. */
export function guardPages(app: FastifyInstance, publicUrl: string): void {
  const publicOrigin = new URL(publicUrl).origin
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store')
    if (!isOwn(request, publicOrigin)) throw new RequestUnusable(403, 'only our own pages may ask this')
  })
  // They serve the pages and change with them: no part of the published API.
  app.addHook('onRoute', (route: RouteOptions) => {
    route.schema = { ...route.schema, hide: true }
  })
}

function isOwn(request: FastifyRequest, publicOrigin: string): boolean {
  const { headers, method } = request
  const site = headers['sec-fetch-site']
  const reads = READS.has(method) && !request.routeOptions.config.changes
  if (reads) return site === undefined || site === 'same-origin' || site === 'none'
  if (headers[PAGE_HEADER] === undefined || (site !== undefined && site !== 'same-origin')) return false
  const { origin, host } = headers
  // Behind a proxy the host may be another; then the public address is what the browser knows.
  return origin === undefined || origin === publicOrigin || origin.replace(/^https?:\/\//, '') === host
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestLine } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'

export type RecordRequest = (request: FastifyRequest, reply: FastifyReply) => void

/** One line and one observation a request; never a body, never a header. */
export function createRequestRecord(metrics: Metrics, requestLine: RequestLine | undefined): RecordRequest {
  const histograms = new Map<string, { observe(seconds: number): void }>()
  return (request, reply) => {
    const { method } = request
    const route = request.routeOptions?.url ?? 'unknown'
    const status = reply.statusCode
    const ms = reply.elapsedTime
    const name = `${method} ${status} ${route}`
    let histogram = histograms.get(name)
    if (histogram === undefined) {
      histogram = metrics.requests.labels(method, route, String(status))
      histograms.set(name, histogram)
    }
    histogram.observe(ms / 1000)
    requestLine?.({
      requestId: request.id,
      method,
      path: pathOf(request.url),
      status,
      ms,
      accountId: request.accountId ?? 0,
    })
  }
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

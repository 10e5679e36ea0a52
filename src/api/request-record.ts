import type { RequestFacts, RequestLine } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'

/** `url` as it was asked for, `route` as it is known. */
export type Answered = Omit<RequestFacts, 'path'> & { readonly url: string; readonly route: string }
export type RecordRequest = (answered: Answered) => void

/** One line and one observation a request; never a body, never a header. */
export function createRequestRecord(metrics: Metrics, requestLine: RequestLine | undefined): RecordRequest {
  const histograms = new Map<string, { observe(seconds: number): void }>()
  return ({ requestId, method, url, route, status, ms, accountId }) => {
    const name = `${method} ${status} ${route}`
    let histogram = histograms.get(name)
    if (histogram === undefined) {
      histogram = metrics.requests.labels(method, route, String(status))
      histograms.set(name, histogram)
    }
    histogram.observe(ms / 1000)
    requestLine?.({ requestId, method, path: pathOf(url), status, ms, accountId })
  }
}

export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

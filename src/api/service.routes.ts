import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../platform/metrics.ts'

export type ServiceRoutesContext = {
  readonly metrics: Metrics
  readonly isReady: () => Promise<boolean>
  /** All processes of this host together. */
  readonly renderMetrics: () => Promise<string>
}

const hidden = { schema: { hide: true } }

/** What operators and machines ask of a running service. */
export function serviceRoutes({ metrics, isReady, renderMetrics }: ServiceRoutesContext) {
  return async (app: FastifyInstance) => {
    app.get('/healthz', hidden, async () => ({ status: 0, message: 'success' }))
    app.get('/readyz', hidden, async (_request, reply) =>
      (await isReady())
        ? { status: 0, message: 'success' }
        : reply.code(503).send({ status: -1, message: 'not ready', errorCount: 0, errors: [] }),
    )
    app.get('/metrics', hidden, async (_request, reply) =>
      reply.type(metrics.registry.contentType).send(await renderMetrics()),
    )
    // Under the address that the reader used: its examples then run from wherever the page was opened.
    app.get('/openapi.json', hidden, async ({ protocol, host }) => ({
      ...app.swagger(),
      servers: [{ url: `${protocol}://${host}` }],
    }))
  }
}

import { createHash } from 'node:crypto'
import scalar, { type FastifyApiReferenceOptions } from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { securityHeaders } from './pages.ts'

const options: FastifyApiReferenceOptions = {
  routePrefix: '/docs',
  configuration: {
    pageTitle: 'Quitado API',
    url: '/openapi.json',
    authentication: { preferredSecurityScheme: [['apiKey', 'apiToken']] },
    withDefaultFonts: false,
    hideClientButton: true,
    telemetry: false,
    // What its maker offers lies elsewhere, and the page asks nobody but this host.
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  },
}

/** Its page writes one script into the html, which is named by its hash, and puts its styles into the page by script. */
const policyOf = (html: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${inlineScripts(html).map(hashSource).join(' ')}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const inlineScripts = (html: string): string[] =>
  [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, code]) => code!)
const hashSource = (code: string): string => `'sha256-${createHash('sha256').update(code).digest('base64')}'`

/** `/docs`: the reference, made from `/openapi.json`, as strict as its page allows. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.headers(securityHeaders)
    if (String(reply.getHeader('content-type')).startsWith('text/html'))
      reply.header('content-security-policy', policyOf(String(payload)))
  })
  await app.register(scalar, options)
}

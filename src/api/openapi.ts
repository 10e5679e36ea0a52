import type { SwaggerOptions } from '@fastify/swagger'
import type { FastifyApiReferenceOptions } from '@scalar/fastify-api-reference'

export const openApiOptions = (publicUrl: string): SwaggerOptions => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'API 1.1',
      version: '1.0.0',
      description: 'Quitado collects PIX payments. Send `x-api-key` and `x-api-token` with every request.',
    },
    servers: [{ url: publicUrl }],
    tags: [
      { name: 'Checkout', description: 'Make charges.' },
      { name: 'Transactions', description: 'Look at them, cancel them.' },
      { name: 'Money', description: 'Balance and statement.' },
      { name: 'Account', description: 'Methods, notifications, credentials.' },
      { name: 'Sandbox', description: 'What only a sandbox has: accounts of your own, a payer, a clock that jumps.' },
      { name: 'Public', description: 'Without credentials.' },
      { name: 'Operator', description: 'For whoever runs the service.' },
    ],
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        apiToken: { type: 'apiKey', in: 'header', name: 'x-api-token' },
        operator: { type: 'http', scheme: 'bearer' },
      },
    },
    security: [{ apiKey: [], apiToken: [] }],
  },
})

export const docsOptions: FastifyApiReferenceOptions = {
  routePrefix: '/docs',
  configuration: { url: '/openapi.json', withDefaultFonts: false, hideClientButton: true, telemetry: false },
}

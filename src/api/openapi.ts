import type { SwaggerOptions, SwaggerTransformObject } from '@fastify/swagger'
import { webhooks, webhooksTag } from './webhooks.ts'

const errorSchema = {
  type: 'object',
  required: ['status', 'message', 'errorCount', 'errors'],
  properties: {
    status: { type: 'integer', description: '-1 refused, 998 not found, 999 wrong situation' },
    message: { type: 'string' },
    errorCount: { type: 'integer' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          field: { type: 'string' },
          message: { type: 'string' },
          code: { type: 'string' },
          error: { type: 'string', description: '`Forbidden`, when the credentials are not right.' },
        },
      },
    },
    main_error_message: { type: 'string', description: 'The first message again, in checkout and split errors.' },
  },
}

const refusal = {
  description: 'Refused or failed: the one error envelope',
  headers: { 'Retry-After': { description: 'Seconds, with 429 and 503.', schema: { type: 'integer' } } },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const idempotencyKey = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description: 'The same key and request within 24 h: the stored answer, with `Idempotency-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const preferRepresentation = {
  in: 'header',
  name: 'Prefer',
  required: false,
  description: '`return=representation` adds `qrCode.base64` to the answer.',
  schema: { type: 'string', enum: ['return=representation'] },
}

const answerHeaders = {
  'x-request-id': { description: "The caller's, if it sent a sane one.", schema: { type: 'string' } },
  'Idempotency-Replayed': { description: '`true` on a stored answer.', schema: { type: 'string' } },
}

type Operation = {
  security?: readonly unknown[]
  parameters?: unknown[]
  requestBody?: { required?: boolean; content: Record<string, { schema?: { required?: readonly string[] } }> }
  responses: Record<string, unknown>
}

/** What holds for every operation is said once: refusals, the idempotency key, whether a body may be left out. */
const completeDocument: SwaggerTransformObject = (document) => {
  if (!('openapiObject' in document)) return document.swaggerObject
  const { openapiObject } = document
  for (const [name, path] of Object.entries(openapiObject.paths ?? {}))
    for (const [method, operation] of Object.entries(path ?? {}) as [string, Operation][]) {
      const answers = Object.entries(operation.responses).map(([http, answer]) => [
        http,
        { ...(answer as object), headers: answerHeaders },
      ])
      operation.responses = { ...Object.fromEntries(answers), '4XX': refusal, '5XX': refusal }
      if (name.startsWith('/v1.1/checkout/'))
        operation.parameters = [...(operation.parameters ?? []), preferRepresentation]
      const body = operation.requestBody
      if (body) body.required = (body.content['application/json']?.schema?.required ?? []).length > 0
      // Operations of an account say nothing of their own about security.
      if ((method === 'post' || method === 'put') && operation.security === undefined)
        operation.parameters = [...(operation.parameters ?? []), idempotencyKey]
    }
  return { ...openapiObject, webhooks } as typeof openapiObject
}

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
      { name: 'Split', description: 'With whom a charge may be shared.' },
      { name: 'Recurrence', description: 'Recurring PIX: what is offered, what payers authorized, what is charged.' },
      { name: 'Refunds', description: 'Give sales back; payments that fitted no sale and go back.' },
      { name: 'Payouts', description: 'Send money to a bank account or a PIX key.' },
      { name: 'Money', description: 'Balance and statement.' },
      { name: 'Account', description: 'Methods, notifications, credentials.' },
      { name: 'Notifications', description: 'What you were told, every attempt of it, and sending it again.' },
      webhooksTag,
      { name: 'Sandbox', description: 'What only a sandbox has: accounts of your own, a payer, a clock that jumps.' },
      { name: 'Public', description: 'Without credentials.' },
      { name: 'Operator', description: 'For whoever runs the service.' },
    ],
    components: {
      schemas: { Error: errorSchema as object },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        apiToken: { type: 'apiKey', in: 'header', name: 'x-api-token' },
        operator: { type: 'http', scheme: 'bearer' },
        webhook: { type: 'http', scheme: 'basic', description: 'Your api key and token, in calls to you.' },
      },
    },
    security: [{ apiKey: [], apiToken: [] }],
  },
  transformObject: completeDocument,
})

import { beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../test/harness/api-client.ts'
import { concrete, registeredPaths } from '../../test/harness/routes.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()

type Schema = {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly $ref?: string
}
type Media = Readonly<Record<string, { readonly schema?: Schema }>>
type Parameter = { readonly in: string; readonly name: string; readonly required?: boolean; readonly schema: Schema }
type Operation = {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Media }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Media }>>
}

/** Machines' routes, the pages and what only the pages call: no part of the API. */
const hidden = ['/', '/docs', '/docs/js/scalar.js', '/healthz', '/metrics', '/openapi.json', '/readyz']
/** And what the sandbox's rail shows to banks. */
const ofPages = /\*$|^\/(panel|pay|phone|register|operator(?!\/v1)|pix|rec)(\/|$)/

// biome-ignore lint/suspicious/noExplicitAny: the document is looked at from all sides
let document: any
let all: { method: string; path: string; operation: Operation }[] = []

beforeAll(async () => {
  document = (await it.api.get('/openapi.json')).body
  const paths = Object.entries(document.paths as Record<string, Record<string, Operation>>)
  all = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
})

const isOperator = (path: string) => path.startsWith('/operator/')
/** A fresh account each time: some of these calls change tokens. */
const clientFor = async (path: string): Promise<ApiClient> =>
  isOperator(path) ? it.operator : (await it.given.account()).api
const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content['application/json']?.schema
const shape = (path: string) => path.replaceAll(/\{\w+\}|:[\w|:]+/g, '{}')

describe('the OpenAPI document', () => {
  test('is the interface’s: version 3.1, title API 1.1, version 1.0.0, at the address it was asked by', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toMatchObject({ title: 'API 1.1', version: '1.0.0' })
    expect(document.servers).toEqual([{ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) }])
  })

  test('has every route of the service and no other', async () => {
    const served: string[] = []
    for (const path of registeredPaths(it).filter((path) => !hidden.includes(path) && !ofPages.test(path))) {
      const { headers } = await it.api.send('OPTIONS', concrete(path.replaceAll(/\|:\w+/g, '')))
      for (const method of String(headers['allow']).split(', '))
        if (method !== 'HEAD') served.push(`${method} ${shape(path)}`)
    }
    expect(all.map(({ method, path }) => `${method} ${shape(path)}`).sort()).toEqual(served.sort())
    expect(served.length).toBeGreaterThan(30)
  })

  test('says of every operation what it is, where it belongs and who may call it', () => {
    const tags = document.tags.map(({ name }: { name: string }) => name)
    for (const { path, operation } of all) {
      expect(operation.summary, path).toBeTruthy()
      expect(
        operation.tags?.every((tag) => tags.includes(tag)),
        path,
      ).toBe(true)
      if (isOperator(path)) expect(operation.security).toEqual([{ operator: [] }])
    }
    expect(document.security).toEqual([{ apiKey: [], apiToken: [] }])
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      apiToken: { type: 'apiKey', in: 'header', name: 'x-api-token' },
      operator: { type: 'http', scheme: 'bearer' },
    })
  })

  test('says of a simulator’s path what may stand in it: reason codes, scenarios, and what names a charge', () => {
    const base = '/v1.1/pix-automatic/sandbox/sim'
    const inPath = (path: string, name: string) =>
      all
        .find((each) => each.path === `${base}${path}`)!
        .operation.parameters!.find((parameter) => parameter.in === 'path' && parameter.name === name)
    // biome-ignore format: a list
    const codes = ['FAIL', 'AM04', 'AC06', 'AC03', 'AC01', 'MD01', 'SL02', 'AG03', 'AB09', 'SLCR', 'AM09', 'AM02']
    for (const path of ['/collection/{txId}/reject/{code}', '/recurrence/{idRec}/fail/{code}'])
      expect(inPath(path, 'code')!.schema.enum, path).toEqual(codes)
    expect(inPath('/recurrence/{idRec}/scenario/{name}', 'name')!.schema.enum).toEqual([
      'approve-and-settle',
      'no-funds-3x',
      'approve-reject',
      'cancel-by-payer',
    ])
    for (const action of ['active', 'concluded', 'failed', 'canceled', 'retry', 'reject/{code}'])
      expect(inPath(`/collection/{txId}/${action}`, 'txId'), action).toMatchObject({
        description: 'An instructionId, or the uuid or id of the charge’s sale.',
      })
  })

  test('names every path parameter, and no parameter twice', () => {
    for (const { path, operation } of all) {
      const parameters = operation.parameters ?? []
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      expect(inPath.map(({ name }) => name).sort(), path).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
      )
      expect(inPath.every(({ required }) => required === true)).toBe(true)
      const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
      expect(new Set(names).size).toBe(names.length)
    }
  })

  test('has only schemas of JSON Schema 2020-12', () => {
    const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
    const walk = (node: unknown, at: string): void => {
      if (typeof node !== 'object' || node === null) return
      const schema = node as Schema & Record<string, unknown>
      if (typeof schema.type === 'string' || Array.isArray(schema.type))
        for (const type of [schema.type].flat()) expect(types, at).toContain(type)
      for (const old of ['nullable', 'example', 'definitions', 'id']) {
        const isProperty = at.endsWith('.properties') || at.endsWith('.schemas')
        if (!isProperty) expect(Object.keys(schema), at).not.toContain(old)
      }
      if (schema.required && schema.properties)
        for (const name of schema.required) expect(Object.keys(schema.properties), at).toContain(name)
      if (typeof schema.pattern === 'string') expect(() => new RegExp(schema.pattern!, 'u')).not.toThrow()
      if (typeof schema.$ref === 'string') {
        const target = schema.$ref.slice(2).split('/')
        expect(
          target.reduce((found, key) => found?.[key], document),
          schema.$ref,
        ).toBeDefined()
      }
      for (const [key, child] of Object.entries(schema)) walk(child, `${at}.${key}`)
    }
    for (const { method, path, operation } of all) {
      const where = `${method} ${path}`
      for (const parameter of operation.parameters ?? []) walk(parameter.schema, where)
      for (const media of Object.values(operation.requestBody?.content ?? {})) walk(media.schema, where)
      for (const { content } of Object.values(operation.responses))
        for (const media of Object.values(content ?? {})) walk(media.schema, where)
    }
    walk(document.components.schemas, 'components.schemas')
  })

  test('describes success and refusal of every operation', () => {
    const made: string[] = []
    for (const { method, path, operation } of all) {
      const codes = Object.keys(operation.responses)
      const success = codes.filter((code) => code.startsWith('2'))
      expect(success, path).toHaveLength(1)
      if (success[0] === '201') made.push(`${method} ${path}`)
      for (const response of Object.values(operation.responses)) expect(response.description).toBeTruthy()
      for (const code of ['4XX', '5XX'])
        expect(operation.responses[code]!.content!['application/json']!.schema).toEqual({
          $ref: '#/components/schemas/Error',
        })
    }
    expect(made.sort()).toEqual([
      'POST /operator/v1/accounts',
      'POST /operator/v1/accounts/{accountId}/recipients',
      'POST /v1.1/pix-automatic/plans',
      'POST /v1.1/sandbox/recipients',
      'POST /v1.1/sandbox/register',
    ])
    expect(document.components.schemas.Error.required).toEqual(['status', 'message', 'errorCount', 'errors'])
  })

  test('offers the Idempotency-Key on every POST and PUT of an account', () => {
    for (const { method, path, operation } of all) {
      const offered = (operation.parameters ?? []).some(({ name }) => name === 'Idempotency-Key')
      const honoured = (method === 'POST' || method === 'PUT') && operation.security === undefined
      expect(offered, `${method} ${path}`).toBe(honoured)
    }
  })
})

describe('request schemas and readers agree', () => {
  const missingOf = async (method: string, path: string, body: unknown): Promise<string[]> => {
    const answer = await (await clientFor(path)).send(method, concrete(path), body)
    const errors: { field: string; message: string }[] = answer.body.errors ?? []
    return errors.filter(({ message }) => message === 'may not be null').map(({ field }) => field)
  }

  test('on which fields are required', async () => {
    let seen = 0
    for (const { method, path, operation } of all) {
      const schema = bodyOf(operation)
      if (schema === undefined) continue
      expect(await missingOf(method, path, {}), `${method} ${path}`).toEqual(schema.required ?? [])
      seen += 1
    }
    expect(seen).toBeGreaterThan(12)
  })

  test('on which fields are required inside an object', async () => {
    let seen = 0
    for (const { method, path, operation } of all)
      for (const [name, schema] of Object.entries(bodyOf(operation)?.properties ?? {})) {
        if (schema.properties === undefined) continue
        const missing = await missingOf(method, path, { [name]: {} })
        const expected = (schema.required ?? []).map((field) => `${name}.${field}`)
        expect(
          missing.filter((field) => field.startsWith(`${name}.`)),
          `${method} ${path}`,
        ).toEqual(expected)
        seen += 1
      }
    expect(seen).toBeGreaterThan(5)
  })

  test('on whether a body may be left out', async () => {
    for (const { method, path, operation } of all) {
      if (operation.requestBody === undefined) continue
      const answer = await (await clientFor(path)).send(method, concrete(path))
      const refused = (answer.body.errors ?? []).some(
        ({ message }: { message: string }) => message === 'may not be null',
      )
      expect(operation.requestBody.required, `${method} ${path}`).toBe(refused)
    }
  })

  test('on what a field may be: a value of no type of the schema is refused', async () => {
    let seen = 0
    for (const { method, path, operation } of all)
      for (const [name, schema] of Object.entries(bodyOf(operation)?.properties ?? {})) {
        const types = [schema.type ?? schema.anyOf?.map(({ type }) => type)].flat().flat()
        if (types.includes('array') || types.includes(undefined)) continue
        const wrong = types.includes('object') ? 'text' : { an: 'object' }
        const answer = await (await clientFor(path)).send(method, concrete(path), { [name]: wrong })
        const fields = (answer.body.errors ?? []).map(({ field }: { field: string }) => field)
        expect([answer.http, fields.includes(name)], `${method} ${path} ${name}`).toEqual([400, true])
        seen += 1
      }
    expect(seen).toBeGreaterThan(40)
  })
})

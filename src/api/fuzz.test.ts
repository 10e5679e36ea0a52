import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ApiClient, Reply } from '../../test/harness/api-client.ts'
import { pay } from '../../test/harness/given.ts'
import { testService } from '../../test/harness/test-service.ts'

const it = testService()
/** Runs are the same each time; another number looks elsewhere. */
const SEED = 20_261_116
const RUNS = 24

type Schema = {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly format?: string
}
type Operation = {
  readonly security?: readonly object[]
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, unknown>>
}
type Route = { readonly method: string; readonly path: string; readonly operation: Operation }

// biome-ignore format: a list
const nastyTexts = [
  '', ' ', '\0', 'a\0b', '\ud800', '\uffff', '😀', 'null', 'undefined', 'NaN', '__proto__', "'; drop table sale; --", '%', '%s%n', '{{7*7}}',
  '-1', '0', '00', '1e309', '0.001', '1,50', ' 1', '9999999999.99', '99999999999', '0001-01-01', '0000-00-00', '2026-02-30', '9999-12-31',
  '9999-12-31T23:59:59-12:00', '0001-01-01T00:00:00+14:00', '2026-11-16 24:00:00', 'http://', 'https://a', 'javascript:alert(1)', 'a@b.c',
  'x'.repeat(256), 'é'.repeat(300), 'PIX', 'BRL', 'CPF', randomUUID(), 'E99999004202611161500aaaaaaaaaaa',
]
const nastyValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  0.1,
  1e21,
  1e-7,
  2 ** 53,
  Number.MAX_VALUE,
  [],
  {},
  [[]],
  [null],
  { a: { b: { c: [] } } },
  ...nastyTexts,
]

// Made once: each such arbitrary costs twenty milliseconds.
const oddText = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
const anyJson = fc.oneof(fc.constantFrom(...nastyValues), fc.jsonValue({ maxDepth: 3 }))

/** A value that could be right, so that the fuzz gets past the first check. */
function likely(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(likely))
  if (schema.properties) return bodyFor(schema)
  if (schema.format === 'email') return fc.constant('maria@example.com')
  if (schema.format === 'uri') return fc.constant('https://shop.example/hook')
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer') return fc.integer({ min: 0, max: 2_000 })
  if (schema.type === 'number') return fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100)
  return fc.oneof(oddText, fc.constantFrom('52998224725', 'Loja'))
}

function bodyFor({ properties = {}, required = [] }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const fields = (nasty: number): Record<string, fc.Arbitrary<unknown>> =>
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        fc.oneof({ weight: 10, arbitrary: likely(schema) }, { weight: nasty, arbitrary: anyJson }),
      ]),
    )
  return fc.oneof(
    fc.record(fields(0), { requiredKeys: [...required] }),
    fc.record(fields(1), { requiredKeys: [...required] }),
    fc.record(fields(5), { requiredKeys: [] }),
  )
}

const rawFor = (schema: Schema | undefined): fc.Arbitrary<string | Buffer | undefined> =>
  fc.oneof(
    { weight: 6, arbitrary: schema ? bodyFor(schema).map((body) => JSON.stringify(body)) : fc.constant(undefined) },
    { weight: 1, arbitrary: anyJson.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: oddText },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  )

const headersFor = fc.record(
  {
    'content-type': fc.oneof(
      { weight: 8, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom('text/plain', ';', '', 'application/json; charset=utf-8', 'x') },
    ),
    'idempotency-key': fc.oneof(fc.uuid(), fc.constantFrom('', 'same', 'k'.repeat(256), 'é')),
    prefer: fc.constantFrom('return=representation', ',,', 'x'),
    'x-request-id': fc.constantFrom('sane', 'not sane', ''),
  },
  { requiredKeys: ['content-type'] },
)

async function routes(): Promise<Route[]> {
  const { paths } = (await it.api.get('/openapi.json')).body
  return Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** A documented success, or an envelope; nothing that tells of the inside. */
function isAnswer({ operation }: Route, answer: Reply): void {
  expect(answer.http).toBeLessThan(500)
  expect(String(answer.headers['x-request-id'])).toMatch(/^(sane|[0-9a-f-]{36})$/)
  if (answer.http < 300) return void expect(Object.keys(operation.responses)).toContain(String(answer.http))
  expect(answer.http).toBeGreaterThanOrEqual(400)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect([-1, 998, 999]).toContain(answer.body.status)
  expect(answer.body.message).toMatch(/\w/)
  expect(answer.body.errorCount).toBe(answer.body.errors.length)
  for (const error of answer.body.errors) expect(error.message).toMatch(/\w/)
  expect(answer.text).not.toMatch(
    /node_modules|\.ts:\d|FST_ERR|at Object|syntax error at|relation "|violates|duplicate key/,
  )
}

describe('whatever is sent', { timeout: 60_000 }, () => {
  test('to whichever route, the answer is documented or an envelope, and never a 5xx', async () => {
    const owner = await it.given.account()
    const other = await it.given.account()
    const recipient = await owner.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })
    const paid = await it.given.paidSale(owner, { amount: 5_000 })
    const payout = {
      amount: 5,
      currency: 'BRL',
      referenceCode: 'p',
      beneficiary: { name: 'F', pixKey: 'f@example.com' },
    }
    const plan = { title: 'Plano', frequency: 'MONTHLY', recurrenceAmount: 5 }
    const ids = [
      (await it.given.sale(owner)).uuid,
      paid.uuid,
      (await pay(owner, paid)).body.reversal.uuid,
      (await owner.api.put(`/v1.1/transactions/${paid.uuid}/refund`, { amount: 5 })).body.uuid,
      (await owner.api.post('/v1.1/payout/create', payout)).body.uuid,
      (await it.given.cancelledSale(owner)).uuid,
      recipient.body.recipient.recipientId,
      (await owner.api.post('/v1.1/pix-automatic/plans', plan)).body.id,
      other.id,
    ]
    const idFor = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...ids) },
      { weight: 1, arbitrary: fc.uuid() },
      { weight: 1, arbitrary: fc.constantFrom(...nastyTexts, 'a'.repeat(3_000)).map(encoded) },
      { weight: 1, arbitrary: oddText.map(encoded) },
    )
    const codes = new Map<number, number>()
    for (const route of await routes()) {
      const { parameters = [], requestBody } = route.operation
      const query = parameters.filter((parameter) => parameter.in === 'query')
      const queryFor = fc.record(
        Object.fromEntries(
          query.map(({ name, schema }) => [name, fc.oneof(likely(schema), fc.constantFrom(...nastyTexts))]),
        ),
        { requiredKeys: [] },
      )
      const request = fc.record({
        id: fc.array(idFor, { minLength: 2, maxLength: 2 }),
        query: queryFor,
        raw: rawFor(requestBody?.content['application/json']?.schema),
        headers: headersFor,
      })
      for (const sent of fc.sample(request, { seed: SEED, numRuns: RUNS })) {
        const path = addressOf(route.path, sent.id, sent.query)
        const client = await clientFor(route, owner.api)
        const headers = present(sent.headers)
        const answer = await client.send(route.method, path, undefined, {
          headers,
          ...(sent.raw === undefined ? {} : { raw: sent.raw }),
        })
        try {
          isAnswer(route, answer)
        } catch (error) {
          const told = JSON.stringify({ route: `${route.method} ${path}`, raw: String(sent.raw), headers })
          throw new Error(`${told}\n→ ${answer.http} ${answer.text.slice(0, 300)}`, { cause: error })
        }
        codes.set(answer.http, (codes.get(answer.http) ?? 0) + 1)
      }
    }
    // It went deep enough to find good answers, bad fields and missing things, and not only the first door.
    for (const http of [200, 201, 400, 404, 415]) expect(codes.get(http), `answers ${http}`).toBeGreaterThan(5)
  })
})

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()) || '%20'

function addressOf(path: string, ids: readonly string[], query: Record<string, unknown>): string {
  let next = 0
  const plain = path.replaceAll(/\{\w+\}/g, () => ids[next++]!)
  const filters = Object.entries(query).map(([name, value]) => `${name}=${encoded(String(value))}`)
  return filters.length === 0 ? plain : `${plain}?${filters.join('&')}`
}

/** A rotation ends tokens: it gets an account of its own each time. */
async function clientFor({ path }: Route, usual: ApiClient): Promise<ApiClient> {
  if (path.startsWith('/operator/')) return it.operator
  return path.includes('rotate') ? (await it.given.account()).api : usual
}

const present = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined))

import fc from 'fast-check'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { checkoutBody, shopper } from '../../../test/harness/given.ts'
import { createCheckoutParser } from './checkout.ts'

const RUNS = { numRuns: 10_000, seed: 2026 }

const sandbox = createCheckoutParser(false)
const production = createCheckoutParser(true)
const withDocument = (type: string, number: string) =>
  checkoutBody({ shopper: { ...shopper, document: { type, number } } })

describe('check digits', () => {
  test.each([
    ['CPF', '529.982.247-25'],
    ['CNPJ', '11.222.333/0001-81'],
    ['CNPJ', '12.ABC.345/01DE-35'],
    ['OTHER', 'any text'],
  ])('of the %s %s are right: it passes in production and in a sandbox', (type, number) => {
    expect(production.parse(withDocument(type, number)).ok).toBe(true)
    expect(sandbox.parse(withDocument(type, number)).ok).toBe(true)
  })

  test.each([
    ['CPF', '529.982.247-26'],
    ['CPF', '111.111.111-11'],
    ['CNPJ', '11.222.333/0001-82'],
    ['CNPJ', '12.ABC.345/01DE-36'],
  ])('of the %s %s are wrong: production refuses what a sandbox may invent', (type, number) => {
    expect(production.parse(withDocument(type, number))).toEqual({
      ok: false,
      refusal: [
        { field: 'shopper.document.number', message: `must be a ${type}`, code: 'shopper.document.number.invalid' },
      ],
    })
    expect(sandbox.parse(withDocument(type, number)).ok).toBe(true)
  })
})

describe('whatever is sent', () => {
  const names = Object.keys(checkoutBody())
  const extras = ['maxAge', 'callbackURL', 'observation', 'redirectURL', 'taxData', 'sellersTransactions', 'split']
  const oddFields = fc.dictionary(fc.constantFrom(...names, ...extras), fc.jsonValue({ maxDepth: 2 }))
  const oddShopper = fc
    .dictionary(
      fc.constantFrom('id', 'name', 'email', 'document', 'phone', 'bankDetails'),
      fc.jsonValue({ maxDepth: 2 }),
    )
    .map((fields) => ({ shopper: { ...shopper, ...fields } }))
  const bodies = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    oddFields,
    fc.tuple(oddFields, oddShopper).map(([fields, odd]) => checkoutBody({ ...odd, ...fields })),
    oddShopper.map((odd) => checkoutBody(odd)),
  )

  test('the parser never throws: it reads, or says what is wrong', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const read = production.parse(body)
        expect(read.ok || read.refusal.length > 0).toBe(true)
      }),
      RUNS,
    )
  })

  test('what is kept beside the sale is JSON again', () => {
    const kept = fc.record({
      observation: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== ''),
      taxData: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
      sellersTransactions: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }),
    })
    fc.assert(
      fc.property(kept, (fields) => {
        const read = sandbox.parse(checkoutBody(fields))
        if (read.ok) expect(JSON.parse(read.value.extra!)).toEqual(JSON.parse(JSON.stringify(fields)))
      }),
      RUNS,
    )
  })
})

test('the published schema takes the checkouts of the documentation', () => {
  expect(Value.Check(sandbox.schema, checkoutBody())).toBe(true)
  expect(Value.Check(sandbox.schema, checkoutBody({ amount: '99.00', maxAge: 60, callbackURL: 'https://a.b/c' }))).toBe(
    true,
  )
  expect(Value.Check(sandbox.schema, checkoutBody({ currency: 'USD' }))).toBe(false)
})

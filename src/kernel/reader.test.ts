import fc from 'fast-check'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import {
  amount,
  amountOrZero,
  anything,
  check,
  email,
  type Field,
  type Fields,
  fault,
  flag,
  integer,
  jsonText,
  object,
  objectSchema,
  oneOf,
  readFields,
  required,
  text,
  textOrNumber,
  url,
} from './reader.ts'

const RUNS = { numRuns: 10_000, seed: 2026 }

/** What a field makes of a value: the value read, or its faults. */
function readOne(field: Field<unknown>, value: unknown) {
  const read = readFields({ it: field }, { it: value })
  return read.ok ? read.value.it : read.refusal
}
const refused = (message: string, code?: string) => [fault('it', message, code)]
/** Rows of one value each, so that a list is a value too. */
const each = (...values: unknown[]) => values.map((value) => [value])
const characters = (count: number) => 'a'.repeat(count)

describe('a request', () => {
  const fields = {
    name: required(text({ max: 5, code: 'name.length' }), 'name.is_null'),
    age: integer({ min: 1, max: 9 }),
    home: required(object({ street: required(text({ max: 5 })), number: integer({ min: 1, max: 9 }) })),
    mail: required(email()),
  }

  test('is read field by field; what was not asked for is ignored', () => {
    const body = { mail: 'a@b.c', name: 'Ana', other: { deep: 1 }, home: { street: 'Rua', number: 3, floor: 2 } }
    expect(readFields(fields, body)).toEqual({
      ok: true,
      value: { name: 'Ana', home: { street: 'Rua', number: 3 }, mail: 'a@b.c' },
    })
  })

  test('reports every fault at once, in the order of the fields', () => {
    const read = readFields(fields, { mail: 'no', home: { number: 0, street: ' ' }, age: 'x', name: 'too long' })
    expect(read).toEqual({
      ok: false,
      refusal: [
        { field: 'name', message: 'must have at most 5 characters', code: 'name.length' },
        { field: 'age', message: 'must be a whole number from 1 to 9' },
        { field: 'home.street', message: 'may not be empty' },
        { field: 'home.number', message: 'must be a whole number from 1 to 9' },
        { field: 'mail', message: 'must be an e-mail address' },
      ],
    })
  })

  test.each(each(undefined, null, [], [{ name: 'Ana' }], 'text', 5, true))('a body of %j is an empty one', (body) => {
    expect(readFields(fields, body)).toEqual({
      ok: false,
      refusal: [
        { field: 'name', message: 'may not be null', code: 'name.is_null' },
        { field: 'home', message: 'may not be null' },
        { field: 'mail', message: 'may not be null' },
      ],
    })
  })

  test('a required field that is null may not be null, one that is blank may not be empty', () => {
    expect(readOne(required(text({ max: 5 })), null)).toEqual(refused('may not be null'))
    expect(readOne(required(text({ max: 5 }), 'it.is_null'), ' \t\n')).toEqual(
      refused('may not be empty', 'it.is_null'),
    )
  })

  test.each([null, undefined, '', '  '])('an optional field of %j is absent', (value) => {
    expect(readOne(text({ max: 5 }), value)).toBeUndefined()
    expect(readOne(integer({ min: 1, max: 9 }), value)).toBeUndefined()
    expect(readOne(amount(), value)).toBeUndefined()
  })

  test('a rule that looks at a value is not asked about one that could not be read', () => {
    const even = check(integer({ min: 1, max: 9 }), (value, field) =>
      value % 2 === 0 ? undefined : fault(field, 'must be even', 'odd'),
    )
    expect(readOne(even, 4)).toBe(4)
    expect(readOne(even, 3)).toEqual(refused('must be even', 'odd'))
    expect(readOne(even, 30)).toEqual(refused('must be a whole number from 1 to 9'))
  })

  test('an object is an object', () => {
    const home = object({ street: text({ max: 5 }) }, { code: 'home' })
    expect(readOne(home, {})).toEqual({})
    for (const value of [[], 'Rua', 5, true]) expect(readOne(home, value)).toEqual(refused('must be an object', 'home'))
  })
})

describe('text', () => {
  const name = text({ max: 5, code: 'length' })

  test.each(['a', characters(5), ' a ', 'ação!', '👍🏽👍🏽x', "o'b\\"])('%j is read as it is', (value) => {
    expect(readOne(name, value)).toBe(value)
  })

  test.each(each(characters(6), '👍👍👍👍👍👍', 'a\u0000', 5, true, [], {}, ['a']))('%j is refused', (value) => {
    expect(readOne(name, value)).toEqual(refused('must have at most 5 characters', 'length'))
  })

  test('characters count as in the published schema: an emoji is one', () => {
    const schema = text({ min: 2, max: 3 })
    for (const value of ['👍', '👍👍', '👍👍👍', '👍👍👍👍'])
      expect([value, readOne(schema, value) === value]).toEqual([value, Value.Check(schema.schema, value)])
  })

  test('may have a least length and a pattern', () => {
    const code = text({ min: 2, max: 3, pattern: /^[A-Z]+$/ })
    expect(['AB', 'ABC'].map((value) => readOne(code, value))).toEqual(['AB', 'ABC'])
    for (const value of ['A', 'ABCD', 'ab', 'A B'])
      expect(readOne(code, value)).toEqual(refused('must have 2 to 3 characters'))
  })

  test('that may be a number is the number’s text', () => {
    const id = textOrNumber({ max: 5 })
    expect([7, -1, 1.5, '007'].map((value) => readOne(id, value))).toEqual(['7', '-1', '1.5', '007'])
    for (const value of [123456, '123456', '\u0000', true, {}, []])
      expect(readOne(id, value)).toEqual(refused('must have at most 5 characters'))
  })
})

describe('a whole number', () => {
  const age = integer({ min: 1, max: 9, code: 'limit' })

  test.each([
    [1, 1],
    [9, 9],
    ['1', 1],
    ['09', 9],
    [2.0, 2],
  ])('%j is %d', (value, expected) => {
    expect(readOne(age, value)).toBe(expected)
  })

  test.each(
    each(0, 10, -1, 1.5, '1.0', '1e0', '+1', ' 1', 'one', true, [1], {}, Number.POSITIVE_INFINITY, '9'.repeat(16)),
  )('%j is refused', (value) => {
    expect(readOne(age, value)).toEqual(refused('must be a whole number from 1 to 9', 'limit'))
  })
})

describe('one of several words', () => {
  const word = oneOf(['CPF', 'CNPJ'])

  test('is that word, in that case', () => {
    expect(readOne(word, 'CPF')).toBe('CPF')
    for (const value of ['cpf', 'CPF ', 'RG', 5, ['CPF'], {}])
      expect(readOne(word, value)).toEqual(refused('must be one of CPF, CNPJ'))
  })
})

describe('a flag', () => {
  test('is true or false and nothing that looks like it', () => {
    expect([true, false].map((value) => readOne(flag(), value))).toEqual([true, false])
    for (const value of [0, 1, 'true', 'false', [], {}])
      expect(readOne(flag(), value)).toEqual(refused('must be true or false'))
  })
})

describe('an address', () => {
  const address = url({ max: 40, code: 'url' })
  const long = `https://example.com/${characters(20)}`

  test.each(['http://a', 'HTTPS://example.com/hook?x=1#y', 'http://127.0.0.1:8080/', 'https://ação.example/', long])(
    '%j is one',
    (value) => {
      expect(readOne(address, value)).toBe(value)
    },
  )

  test.each([
    `${long}a`,
    'ftp://example.com',
    'javascript:alert(1)',
    'example.com/hook',
    '//example.com',
    'https://',
    'https://a b/',
    ' https://example.com',
    'https://example.com/\u0000',
    'https://exam\nple.com/',
    'https://example.com/\t',
    5,
    {},
  ])('%j is refused', (value) => {
    expect(readOne(address, value)).toEqual(refused('must be an http or https address of at most 40 characters', 'url'))
  })
})

describe('an e-mail address', () => {
  test.each(['a@b.c', 'maria+loja@sub.example.com.br', "o'brien@example.com", 'ção@exämple.com'])(
    '%j is one',
    (value) => {
      expect(readOne(email(), value)).toBe(value)
    },
  )

  test.each([
    'a',
    'a@b',
    '@b.c',
    'a@.c',
    'a@b.',
    'a@b..c',
    'a b@c.d',
    'a@b@c.d',
    'a@b.c\u0000',
    `${characters(252)}@b.c`,
    5,
    {},
  ])('%j is refused', (value) => {
    expect(readOne(email(), value)).toEqual(refused('must be an e-mail address'))
  })

  test('may have 255 characters', () => {
    const longest = `${characters(251)}@b.c`
    expect(readOne(email(), longest)).toBe(longest)
  })
})

describe('an amount', () => {
  test('says whether it is too little or no amount, under the field’s own code', () => {
    const tooLittle = 'must be at least 0.01'
    const none = 'must be a decimal number with at most two decimals, up to 9999999999.99'
    expect(readOne(amount(), '1.50')).toBe(150)
    expect(readOne(amount(), 0)).toEqual(refused(tooLittle, 'it.min'))
    expect(readOne(amount(), '1,50')).toEqual(refused(none, 'it.invalid'))
    expect(readOne(amount({ codePrefix: 'price' }), 'x')).toEqual(refused(none, 'price.invalid'))
  })

  test('may be nought where that makes sense', () => {
    expect(readOne(amountOrZero(), 0)).toBe(0)
    expect(readOne(amountOrZero(), -1)).toEqual(refused('must be 0 or a decimal number with at most two decimals'))
  })
})

describe('JSON that is only kept', () => {
  const kept = jsonText({ maxBytes: 20, code: 'kept' })

  test('is its text, up to so many bytes', () => {
    expect(readOne(kept, { a: [1, null, 'é'] })).toBe('{"a":[1,null,"é"]}')
    expect(readOne(kept, characters(18))).toBe(`"${characters(18)}"`)
    expect(readOne(kept, characters(19))).toEqual(refused('must be JSON of at most 20 bytes', 'kept'))
    expect(readOne(kept, 'é'.repeat(10))).toEqual(refused('must be JSON of at most 20 bytes', 'kept'))
  })

  test('may have to be an object', () => {
    const tax = jsonText({ maxBytes: 20, objectOnly: true })
    expect(readOne(tax, {})).toBe('{}')
    for (const value of [[], 'x', 5, true])
      expect(readOne(tax, value)).toEqual(refused('must be JSON of at most 20 bytes'))
  })
})

describe('whatever is sent', () => {
  const all: Fields = {
    text: required(text({ min: 2, max: 5, pattern: /^\w+$/ })),
    id: textOrNumber({ max: 5 }),
    amount: required(amount()),
    limit: amountOrZero(),
    age: integer({ min: 1, max: 9 }),
    word: required(oneOf(['A', 'B'])),
    flag: flag(),
    url: url({}),
    email: email(),
    kept: jsonText({ maxBytes: 50 }),
    tax: jsonText({ maxBytes: 50, objectOnly: true }),
    any: anything(Type.Unknown()),
    deep: required(check(object({ text: required(text({ max: 3 })), amount: amount() }), () => undefined)),
  }
  const names = Object.keys(all)
  const bodies = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 2 })),
    fc.dictionary(
      fc.constantFrom(...names, '__proto__', 'constructor'),
      fc.constantFrom('A', 1, -1, '', null, true, {}),
    ),
  )

  test('a reader never throws: it reads, or names fields in their order', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const read = readFields(all, body)
        if (read.ok) return
        const places = read.refusal.map(({ field }) => names.indexOf(field.split('.')[0]!))
        expect(places.length).toBeGreaterThan(0)
        expect(places).toEqual([...places].sort((a, b) => a - b))
        expect(places).not.toContain(-1)
      }),
      RUNS,
    )
  })

  test('what is read also fits the published schema', () => {
    const published = objectSchema({ text: all['text']!, amount: all['amount']!, word: all['word']!, age: all['age']! })
    const body = fc.record({
      text: fc.oneof(fc.string(), fc.stringMatching(/^\w{1,7}$/)),
      amount: fc.oneof(fc.integer({ min: -1, max: 10 ** 9 }), fc.stringMatching(/^\d{1,11}(\.\d{1,3})?$/)),
      word: fc.constantFrom('A', 'B', 'C'),
      age: fc.integer({ min: -1, max: 11 }),
    })
    fc.assert(
      fc.property(body, (sent) => {
        if (readFields(all, { ...sent, deep: { text: 'x' } }).ok) expect(Value.Check(published, sent)).toBe(true)
      }),
      RUNS,
    )
  })
})

import { type TSchema, Type } from 'typebox'
import { type AmountFault, amountFromWire, amountOrZeroFromWire, type Cents } from './cents.ts'
import { ok, type Result, refuse } from './result.ts'

/**
 * Request readers: one definition both checks a field and describes it in the OpenAPI document. They report every
 * fault of a request in the order of the fields, in the words and codes of the contract.
 */
export type Fault = { readonly field: string; readonly message: string; readonly code?: string }

export type Field<Value, Required extends boolean = boolean> = {
  readonly schema: TSchema
  readonly required: Required
  /** Code of the fault "may not be null" or "may not be empty", where the contract names one. */
  readonly absentCode?: string
  /** Called with neither null nor undefined. Undefined means that a fault was added. */
  readonly read: (value: unknown, field: string, faults: Fault[]) => Value | undefined
}

export type Fields = Readonly<Record<string, Field<unknown>>>
export type Read<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer Value, true>
    ? Value
    : F[Name] extends Field<infer Value, boolean>
      ? Value | undefined
      : never
}

export function required<Value>(field: Field<Value, false>, absentCode?: string): Field<Value, true> {
  return { ...field, required: true, ...(absentCode === undefined ? {} : { absentCode }) }
}

/** An absent body reads as an empty one: required fields then say what is missing. */
export function readFields<F extends Fields>(fields: F, body: unknown): Result<Read<F>, readonly Fault[]> {
  const faults: Fault[] = []
  const value = readInto(fields, isObject(body) ? body : {}, '', faults)
  return faults.length === 0 ? ok(value) : refuse(faults)
}

function readInto<F extends Fields>(fields: F, source: Record<string, unknown>, prefix: string, faults: Fault[]) {
  const result: Record<string, unknown> = {}
  for (const name in fields) {
    const field = fields[name] as Field<unknown>
    const value = source[name]
    const path = prefix + name
    const missing =
      value === undefined || value === null ? 'may not be null' : isBlank(value) ? 'may not be empty' : undefined
    if (missing === undefined) result[name] = field.read(value, path, faults)
    else if (field.required) faults.push(fault(path, missing, field.absentCode))
  }
  return result as Read<F>
}

/** For an update: keeps what was sent and leaves the rest alone. */
export function withoutUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

const isBlank = (value: unknown) => typeof value === 'string' && value.trim() === ''
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const fault = (field: string, message: string, code?: string): Fault =>
  code === undefined ? { field, message } : { field, message, code }

/** A reader from a schema and a function that gives the value, or undefined when it is wrong. */
function simple<Value>(
  schema: TSchema,
  message: string,
  code: string | undefined,
  parse: (value: unknown) => Value | undefined,
): Field<Value, false> {
  return {
    schema,
    required: false,
    read(value, field, faults) {
      const parsed = parse(value)
      if (parsed === undefined) faults.push(fault(field, message, code))
      return parsed
    },
  }
}

type Says = { code?: string; message?: string; description?: string; example?: unknown }
const describe = ({ description, example }: Says) => ({
  ...(description === undefined ? {} : { description }),
  ...(example === undefined ? {} : { examples: [example] }),
})

// PostgreSQL's text cannot hold NUL, and no name or reference has one.
const hasNul = (text: string) => text.includes('\u0000')

/** As the published schema counts them: whatever lies beyond 16 bits, such as an emoji, is one character. */
const charactersOf = (text: string): number => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length)
const isLonger = (text: string, max: number): boolean => text.length > max && charactersOf(text) > max

export function text({ min = 1, max, pattern, ...says }: Says & { min?: number; max: number; pattern?: RegExp }) {
  const message =
    says.message ?? (min > 1 ? `must have ${min} to ${max} characters` : `must have at most ${max} characters`)
  const schema = Type.String({
    minLength: min,
    maxLength: max,
    ...(pattern ? { pattern: pattern.source } : {}),
    ...describe(says),
  })
  return simple<string>(schema, message, says.code, (value) =>
    typeof value === 'string' &&
    charactersOf(value) >= min &&
    !isLonger(value, max) &&
    !hasNul(value) &&
    (!pattern || pattern.test(value))
      ? value
      : undefined,
  )
}

/** Text that some clients send as a number, such as `shopper.id`. */
export function textOrNumber({ max, ...says }: Says & { max: number }) {
  const schema = Type.Union([Type.String({ maxLength: max }), Type.Number()], describe(says))
  return simple<string>(schema, says.message ?? `must have at most ${max} characters`, says.code, (value) => {
    const text = typeof value === 'number' ? String(value) : value
    return typeof text === 'string' && !isLonger(text, max) && !hasNul(text) ? text : undefined
  })
}

const amountSchema = (min: number, says: Says) =>
  Type.Union(
    [Type.Number({ minimum: min, maximum: 9999999999.99 }), Type.String({ pattern: '^\\d{1,10}(\\.\\d{1,2})?$' })],
    {
      description: says.description ?? 'A number or numeric text with at most two decimals.',
      ...(says.example === undefined ? {} : { examples: [says.example] }),
    },
  )

const amountMessages: Record<AmountFault, string> = {
  min: 'must be at least 0.01',
  invalid: 'must be a decimal number with at most two decimals, up to 9999999999.99',
}

export function amount(says: Says & { codePrefix?: string } = {}): Field<Cents, false> {
  return {
    schema: amountSchema(0.01, says),
    required: false,
    read(value, field, faults) {
      const parsed = amountFromWire(value)
      if (parsed.ok) return parsed.value
      faults.push(fault(field, amountMessages[parsed.refusal], `${says.codePrefix ?? field}.${parsed.refusal}`))
      return undefined
    },
  }
}

export const amountOrZero = (says: Says = {}): Field<Cents, false> =>
  simple(
    amountSchema(0, says),
    says.message ?? 'must be 0 or a decimal number with at most two decimals',
    says.code,
    amountOrZeroFromWire,
  )

export function integer({ min, max, ...says }: Says & { min: number; max: number }) {
  const schema = Type.Integer({ minimum: min, maximum: max, ...describe(says) })
  const message = says.message ?? `must be a whole number from ${min} to ${max}`
  return simple<number>(schema, message, says.code, (value) => {
    const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
    return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max ? number : undefined
  })
}

export function oneOf<const Value extends string>(values: readonly Value[], says: Says = {}) {
  const schema = Type.String({ enum: [...values], ...describe(says) })
  return simple<Value>(schema, says.message ?? `must be one of ${values.join(', ')}`, says.code, (value) =>
    values.includes(value as Value) ? (value as Value) : undefined,
  )
}

export const flag = (says: Says = {}) =>
  simple<boolean>(Type.Boolean(describe(says)), says.message ?? 'must be true or false', says.code, (value) =>
    typeof value === 'boolean' ? value : undefined,
  )

export function url({ max = 255, ...says }: Says & { max?: number }) {
  const schema = Type.String({ format: 'uri', maxLength: max, ...describe(says) })
  return simple<string>(
    schema,
    says.message ?? `must be an http or https address of at most ${max} characters`,
    says.code,
    (value) =>
      typeof value === 'string' &&
      !isLonger(value, max) &&
      /^https?:\/\//i.test(value) &&
      // The parser below would drop a line end in the middle of a host without a word.
      !/\p{Cc}/u.test(value) &&
      URL.canParse(value)
        ? value
        : undefined,
  )
}

export const email = (says: Says = {}) =>
  simple<string>(
    Type.String({ format: 'email', maxLength: 255, ...describe(says) }),
    says.message ?? 'must be an e-mail address',
    says.code,
    (value) =>
      typeof value === 'string' &&
      !isLonger(value, 255) &&
      !hasNul(value) &&
      /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value)
        ? value
        : undefined,
  )

/** Any JSON value that a merchant wants kept, as the text we store. */
export function jsonText({ maxBytes, objectOnly = false, ...says }: Says & { maxBytes: number; objectOnly?: boolean }) {
  const schema = objectOnly
    ? Type.Object({}, { additionalProperties: true, ...describe(says) })
    : Type.Unknown(describe(says))
  return simple<string>(schema, says.message ?? `must be JSON of at most ${maxBytes} bytes`, says.code, (value) => {
    if (objectOnly && !isObject(value)) return undefined
    const text = JSON.stringify(value)
    return Buffer.byteLength(text) <= maxBytes ? text : undefined
  })
}

/** Whatever was sent; for fields whose rules depend on other fields. */
export const anything = (schema: TSchema): Field<unknown, false> => ({
  schema,
  required: false,
  read: (value) => value,
})

export function object<F extends Fields>(fields: F, says: Says = {}): Field<Read<F>, false> {
  return {
    schema: objectSchema(fields, describe(says)),
    required: false,
    read(value, field, faults) {
      if (isObject(value)) return readInto(fields, value, `${field}.`, faults)
      faults.push(fault(field, says.message ?? 'must be an object', says.code))
      return undefined
    },
  }
}

/** Adds a rule that looks at the value once read. */
export function check<Value, Required extends boolean>(
  field: Field<Value, Required>,
  rule: (value: Value, field: string) => Fault | undefined,
): Field<Value, Required> {
  return {
    ...field,
    read(value, path, faults) {
      const before = faults.length
      const read = field.read(value, path, faults)
      const broken = faults.length === before ? rule(read as Value, path) : undefined
      if (broken) faults.push(broken)
      return read
    },
  }
}

export function objectSchema(fields: Fields, options: Record<string, unknown> = {}): TSchema {
  const properties: Record<string, TSchema> = {}
  for (const [name, field] of Object.entries(fields))
    properties[name] = field.required ? field.schema : Type.Optional(field.schema)
  return Type.Object(properties, options)
}

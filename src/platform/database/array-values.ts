import { type CalendarDay, DAY_MS, type Instant } from '../../kernel/calendar.ts'

/**
 * Array parameters travel in PostgreSQL's binary form: nothing is quoted here, and nothing is read letter by letter
 * there. Of what type an array is, its statement says by the cast.
 */
type ElementType = {
  readonly oid: number
  /** Bytes of a value. */
  size(value: never): number
  write(into: Buffer, at: number, value: never): void
}

const FIRST_INSTANT = Date.UTC(2000, 0)
const HIGH = 2 ** 32

const writeInt8 = (into: Buffer, at: number, value: number) => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no safe integer`)
  into.writeInt32BE(Math.floor(value / HIGH), at)
  into.writeUInt32BE(value >>> 0, at + 4)
}

// A text that says false is true to JavaScript.
const writeBoolean = (into: Buffer, at: number, value: boolean) => {
  if (typeof value !== 'boolean') throw new TypeError(`${value} is neither true nor false`)
  into[at] = value ? 1 : 0
}

const elementTypes: Readonly<Record<string, ElementType>> = {
  bigint: { oid: 20, size: () => 8, write: writeInt8 },
  integer: { oid: 23, size: () => 4, write: (into, at, value: number) => into.writeInt32BE(value, at) },
  smallint: { oid: 21, size: () => 2, write: (into, at, value: number) => into.writeInt16BE(value, at) },
  float8: { oid: 701, size: () => 8, write: (into, at, value: number) => into.writeDoubleBE(value, at) },
  boolean: { oid: 16, size: () => 1, write: writeBoolean },
  text: { oid: 25, size: Buffer.byteLength, write: (into, at, value: string) => into.write(value, at) },
  date: {
    oid: 1082,
    size: () => 4,
    write: (into, at, value: CalendarDay) => into.writeInt32BE((Date.parse(value) - FIRST_INSTANT) / DAY_MS, at),
  },
  uuid: { oid: 2950, size: () => 16, write: writeUuid },
  bytea: { oid: 17, size: (value: Buffer) => value.length, write: (into, at, value: Buffer) => value.copy(into, at) },
  timestamptz: {
    oid: 1184,
    size: () => 8,
    // Microseconds of a far year are no safe integer.
    write: (into, at, value: Instant) => into.writeBigInt64BE(BigInt(value - FIRST_INSTANT) * 1000n, at),
  },
}

const CAST = /\$(\d+)::(\w+)\[\]/g

/** The types of a statement's array parameters, by place. */
export function arrayTypesOf(text: string): readonly (ElementType | undefined)[] {
  const types: (ElementType | undefined)[] = []
  for (const [cast, parameter, name] of text.matchAll(CAST)) {
    const type = elementTypes[name!]
    if (type === undefined) throw new TypeError(`no array parameter can be ${cast}`)
    types[Number(parameter) - 1] = type
  }
  return types
}

/** Arrays as bytes, everything else as it is. */
export const parametersOf = (types: readonly (ElementType | undefined)[], values: readonly unknown[]): unknown[] =>
  values.map((value, place) => (Array.isArray(value) ? binaryArray(types[place], value) : value))

const HEADER = 20
const LENGTH = 4
const NULL = -1

function binaryArray(type: ElementType | undefined, values: readonly unknown[]): Buffer {
  if (type === undefined) throw new TypeError('an array parameter needs a cast that says its type')
  const { oid, size, write } = type
  const sizes = values.map((value) => (value === null ? NULL : size(value as never)))
  const bytes = sizes.reduce((sum, each) => sum + LENGTH + Math.max(each, 0), HEADER)
  const into = Buffer.allocUnsafe(bytes)
  const dimensions = values.length === 0 ? 0 : 1
  into.writeInt32BE(dimensions, 0)
  into.writeInt32BE(sizes.includes(NULL) ? 1 : 0, 4)
  into.writeInt32BE(oid, 8)
  into.writeInt32BE(values.length, 12)
  into.writeInt32BE(1, 16)
  let at = HEADER
  for (const [place, length] of sizes.entries()) {
    into.writeInt32BE(length, at)
    at += LENGTH
    if (length === NULL) continue
    write(into, at, values[place] as never)
    at += length
  }
  return dimensions === 0 ? into.subarray(0, HEADER - 2 * LENGTH) : into
}

const HEX = new Int8Array(128).fill(-1)
for (const [digit, letters] of [...'0123456789abcdef'].entries())
  for (const letter of [letters, letters.toUpperCase()]) HEX[letter.charCodeAt(0)] = digit
// Letters beyond the table are no digits either.
const digitAt = (text: string, place: number): number => HEX[text.charCodeAt(place)] ?? -1
const UUID_TEXT = 36
const DASH = 45

function writeUuid(into: Buffer, start: number, uuid: string): void {
  let at = start
  for (let place = 0; place < UUID_TEXT; place += 2) {
    if (uuid.charCodeAt(place) === DASH) place += 1
    const byte = (digitAt(uuid, place) << 4) | digitAt(uuid, place + 1)
    if (byte < 0) throw new TypeError('no uuid')
    into[at++] = byte
  }
  if (at !== start + 16 || uuid.length !== UUID_TEXT) throw new TypeError('no uuid')
}

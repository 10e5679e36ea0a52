import type { Fault } from '../../kernel/reader.ts'
import type { Result } from '../../kernel/result.ts'

/** A command said no. The route names the field, the one error table (api/error-envelope.ts) gives it words. */
export class RequestRefused extends Error {
  readonly code: string
  readonly field: string
  constructor(code: string, field: string) {
    super(code)
    this.code = code
    this.field = field
  }
}

/** Fields are wrong: every one of them, in order. Checkouts speak of `validation failure` and repeat the first message. */
export class RequestInvalid extends Error {
  readonly faults: readonly Fault[]
  readonly checkout: boolean
  readonly repeatsFirst: boolean
  constructor(
    faults: readonly Fault[],
    { checkout = false, repeatsFirst = checkout }: { checkout?: boolean; repeatsFirst?: boolean } = {},
  ) {
    super('the request has invalid fields')
    this.faults = faults
    this.checkout = checkout
    this.repeatsFirst = repeatsFirst
  }
}

/** Refusals before any field is looked at, each with its HTTP status. */
export class RequestUnusable extends Error {
  readonly http: 401 | 403 | 404 | 405 | 409 | 413 | 415 | 400 | 422 | 429 | 503
  readonly faults: readonly Fault[]
  constructor(http: RequestUnusable['http'], message: string, faults: readonly Fault[] = []) {
    super(message)
    this.http = http
    this.faults = faults
  }
}

/** Answers the value, or refuses in the words of the route. */
export function unwrap<Value, Refusal extends { code: string }>(
  result: Result<Value, Refusal>,
  fields: Readonly<Record<Refusal['code'], string>>,
): Value {
  if (result.ok) return result.value
  const { code } = result.refusal
  throw new RequestRefused(code, fields[code as Refusal['code']])
}

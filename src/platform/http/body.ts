import type { FastifyRequest } from 'fastify'
import { type Fields, type Read, readFields } from '../../kernel/reader.ts'
import { RequestInvalid, RequestUnusable } from './refusals.ts'

export const BODY_BYTES_MAX = 64 * 1024
const DEPTH_MAX = 32

/**
 * The body as JSON. Bodies stay raw bytes until a route asks: a route that needs none never fails for one, and an
 * Idempotency-Key compares the bytes that were sent.
 */
export function jsonBody(request: FastifyRequest): unknown {
  const raw = rawBody(request)
  if (raw.length === 0) return undefined
  const type = request.headers['content-type']
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type))
    throw new RequestUnusable(415, 'the content type must be application/json')
  const text = raw.toString('utf8')
  if (isTooDeep(text)) throw new RequestUnusable(400, `the JSON text is nested deeper than ${DEPTH_MAX} levels`)
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestUnusable(400, 'the body is not valid JSON')
  }
}

const nothing = Buffer.alloc(0)
export const rawBody = (request: FastifyRequest): Buffer => (Buffer.isBuffer(request.body) ? request.body : nothing)

/** Deep nesting costs nothing to parse and overflows the stack of whoever walks it. */
function isTooDeep(text: string): boolean {
  if (!hasManyOpenings(text)) return false
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === 92) at += 1
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 123 || code === 91) {
      depth += 1
      if (depth > DEPTH_MAX) return true
    } else if (code === 125 || code === 93) depth -= 1
  }
  return false
}

/** Reads the fields of a body that is no checkout; all faults in one refusal. */
export function readBody<F extends Fields>(request: FastifyRequest, fields: F): Read<F> {
  const read = readFields(fields, jsonBody(request))
  if (!read.ok) throw new RequestInvalid(read.refusal)
  return read.value
}

/** A wrong filter is `{name} / invalid value`, whatever is wrong with it. */
export function readQuery<F extends Fields>(request: FastifyRequest, fields: F): Read<F> {
  const read = readFields(fields, request.query)
  if (!read.ok) throw new RequestInvalid(read.refusal.map(({ field }) => ({ field, message: 'invalid value' })))
  return read.value
}

/** Most bodies open fewer brackets than the limit, and that is quick to see. */
function hasManyOpenings(text: string): boolean {
  let count = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      count += 1
      if (count > DEPTH_MAX) return true
    }
  }
  return false
}

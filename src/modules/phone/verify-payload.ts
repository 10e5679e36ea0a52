import { createHash, createPublicKey, type JsonWebKey, verify, X509Certificate } from 'node:crypto'
import { isObject } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'

export type SignatureFault = {
  readonly code:
    | 'signature.malformed'
    | 'signature.algorithm'
    | 'signature.keysForeign'
    | 'signature.keyUnknown'
    | 'signature.certificate'
    | 'signature.wrong'
}

type Header = { readonly alg: string; readonly kid: string; readonly jku: string; readonly x5t: string }

/** Reads the keys at an address, or nothing when it is not an address of the one who shows the payload. */
export type ReadKeys = (jku: string) => Promise<readonly unknown[] | undefined>

const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** As the payer's bank does: by the key that the receiver's bank publishes, whose certificate the signature names. */
export async function verifyPayload(jws: string, readKeys: ReadKeys): Promise<Result<unknown, SignatureFault>> {
  if (!compactForm.test(jws)) return refuse({ code: 'signature.malformed' })
  const [head, body, signature] = jws.split('.') as [string, string, string]
  const header = headerOf(jsonOf(head))
  const payload = jsonOf(body)
  if (header === undefined || payload === undefined) return refuse({ code: 'signature.malformed' })
  // Whoever may choose the algorithm may choose none.
  if (header.alg !== 'ES256') return refuse({ code: 'signature.algorithm' })
  const keys = await readKeys(header.jku)
  if (keys === undefined) return refuse({ code: 'signature.keysForeign' })
  const jwk = keys.filter(isObject).find(({ kid }) => kid === header.kid)
  if (jwk === undefined) return refuse({ code: 'signature.keyUnknown' })
  const certificate = certificateOf(jwk)
  if (certificate === undefined || thumbprintOf(certificate) !== header.x5t)
    return refuse({ code: 'signature.certificate' })
  const signed = Buffer.from(`${head}.${body}`)
  const key = { key: certificate.publicKey, dsaEncoding: 'ieee-p1363' } as const
  return verify('sha256', signed, key, Buffer.from(signature, 'base64url'))
    ? ok(payload)
    : refuse({ code: 'signature.wrong' })
}

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

function headerOf(value: unknown): Header | undefined {
  if (!isObject(value)) return undefined
  const { alg, kid, jku, x5t } = value
  return [alg, kid, jku, x5t].every((field) => typeof field === 'string') ? (value as unknown as Header) : undefined
}

const thumbprintOf = ({ raw }: X509Certificate): string => createHash('sha1').update(raw).digest('base64url')

/** The certificate of a published key, if it is that key's. */
function certificateOf({ x5c, kty, crv, x, y }: Record<string, unknown>): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(Buffer.from((x5c as string[])[0]!, 'base64'))
    const key = createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' })
    return certificate.publicKey.equals(key) ? certificate : undefined
  } catch {
    return undefined
  }
}

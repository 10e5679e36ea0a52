import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto'
import { issueCertificate } from './certificate.ts'

/** A public key as the rail publishes it: with its certificate, and that one's issuer. */
export type PayloadJwk = {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
  readonly use: 'sig'
  readonly alg: 'ES256'
  readonly kid: string
  readonly x5t: string
  readonly x5c: readonly string[]
}

/** Signs what a location shows, so that the payer's bank knows from whom it comes. */
export type PayloadSigner = {
  /** In compact form. */
  sign(payload: object): string
  /** One for each configured key: what was signed before a rotation can still be checked. */
  readonly keys: readonly PayloadJwk[]
}

const base64Url = (bytes: Buffer): string => bytes.toString('base64url')
const part = (value: object): string => base64Url(Buffer.from(JSON.stringify(value)))

/**
 * The keys follow from the encryption keys: every process has them, and they are the same after a restart. `jku` is where
 * the public ones can be read.
 */
export function createPayloadSigner(masterKeys: readonly Buffer[], jku: string): PayloadSigner {
  const pairs = masterKeys.map(pairOf)
  const { privateKey, jwk } = pairs[0]!
  const header = part({ alg: jwk.alg, typ: 'JWS', kid: jwk.kid, jku, x5t: jwk.x5t })
  return {
    keys: pairs.map((pair) => pair.jwk),
    sign(payload) {
      const content = `${header}.${part(payload)}`
      const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${content}.${base64Url(signature)}`
    },
  }
}

const AUTHORITY = 'Quitado Sandbox Authority'
const RECEIVER_BANK = 'Quitado Sandbox'

function pairOf(master: Buffer): { privateKey: KeyObject; jwk: PayloadJwk } {
  const derive = (purpose: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', master, '', `quitado ${purpose}`, length))
  const privateKey = ecKeyOf(derive('payload signature', 48))
  const publicKey = createPublicKey(privateKey)
  const authority = ed25519KeyOf(derive('payload authority', 32))
  const issue = (subject: string, key: KeyObject) =>
    issueCertificate({
      subject,
      publicKey: key,
      serial: createHash('sha256')
        .update(key.export({ type: 'spki', format: 'der' }))
        .digest()
        .subarray(0, 8),
      issuer: AUTHORITY,
      authority,
    })
  const chain = [issue(RECEIVER_BANK, publicKey), issue(AUTHORITY, createPublicKey(authority))]
  const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string }
  const known = { crv: 'P-256', kty: 'EC', x, y } as const
  return {
    privateKey,
    jwk: {
      ...known,
      use: 'sig',
      alg: 'ES256',
      // RFC 7638: the members in this order, nothing else.
      kid: base64Url(createHash('sha256').update(JSON.stringify(known)).digest()),
      x5t: base64Url(createHash('sha1').update(chain[0]!).digest()),
      x5c: chain.map((certificate) => certificate.toString('base64')),
    },
  }
}

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** Sixteen bytes more than a key has, so that the remainder favours no key. */
function ecKeyOf(seed: Buffer): KeyObject {
  const scalar = (BigInt(`0x${seed.toString('hex')}`) % (ORDER - 1n)) + 1n
  const secret = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(secret)
  const point = curve.getPublicKey()
  const jwk: JsonWebKey = {
    kty: 'EC',
    crv: 'P-256',
    d: base64Url(secret),
    x: base64Url(point.subarray(1, 33)),
    y: base64Url(point.subarray(33)),
  }
  return createPrivateKey({ key: jwk, format: 'jwk' })
}

const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')
const ed25519KeyOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' })

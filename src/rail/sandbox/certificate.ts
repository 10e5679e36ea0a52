import { type KeyObject, sign } from 'node:crypto'

// X.509, as little of it as a payload's key needs: names with a common name, no extensions.

const tag = { integer: 0x02, bits: 0x03, oid: 0x06, text: 0x0c, sequence: 0x30, set: 0x31, time: 0x18 } as const

/** A DER value: its kind, its length, its content. */
function der(kind: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([Buffer.from([kind, ...lengthOf(body.length)]), body])
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

/** A first bit that is set would make it negative. */
const positive = (bytes: Buffer): Buffer =>
  der(tag.integer, bytes[0]! & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes)

const COMMON_NAME = Buffer.from('550403', 'hex')
const ED25519 = der(tag.sequence, der(tag.oid, Buffer.from('2b6570', 'hex')))

const nameOf = (text: string): Buffer =>
  der(
    tag.sequence,
    der(tag.set, der(tag.sequence, der(tag.oid, COMMON_NAME), der(tag.text, Buffer.from(text, 'utf8')))),
  )

const timeOf = (text: string): Buffer => der(tag.time, Buffer.from(text, 'latin1'))

export type CertificateToIssue = {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly serial: Buffer
  readonly issuer: string
  /** Ed25519: the same content gives the same signature, so every process issues the same bytes. */
  readonly authority: KeyObject
}

/** In DER, valid for as long as a sandbox may live. */
export function issueCertificate({ subject, publicKey, serial, issuer, authority }: CertificateToIssue): Buffer {
  const content = der(
    tag.sequence,
    positive(serial),
    ED25519,
    nameOf(issuer),
    der(tag.sequence, timeOf('20200101000000Z'), timeOf('20991231235959Z')),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  return der(tag.sequence, content, ED25519, der(tag.bits, Buffer.of(0), sign(null, content, authority)))
}

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import { assert } from '../kernel/assert.ts'
import type { RandomIds } from './random-ids.ts'

const KEY_ID_BYTES = 4
const IV_BYTES = 12
const TAG_BYTES = 16

// A key object is prepared once; bytes would be prepared again for every token of every request.
type Key = { id: Buffer; encrypt: KeyObject; hash: KeyObject }

/**
 * Encryption at rest and look-up hashes, both carrying the id of the key that made them: several keys may be
 * configured, the first one encrypts, all of them read.
 */
export type Secrets = {
  /** `context` binds the ciphertext to its place: a value moved to another row does not open. */
  seal(plain: string, context: string): Buffer
  open(sealed: Buffer, context: string): string
  hash(secret: string): Buffer
  /** Constant time, and the same work when there is nothing to compare with. */
  matches(secret: string, hash: Buffer | undefined): boolean
}

export function createSecrets(masterKeys: readonly Buffer[], ids: RandomIds): Secrets {
  assert(masterKeys.length > 0 && masterKeys.every((key) => key.length === 32), 'encryption keys have 32 bytes')
  const keys = masterKeys.map(deriveKey)
  const first = keys[0]!
  const byId = new Map(keys.map((key) => [key.id.toString('hex'), key]))
  const keyOf = (bytes: Buffer) => byId.get(bytes.toString('hex', 0, KEY_ID_BYTES))
  const hmac = (key: Key, secret: string) => createHmac('sha256', key.hash).update(secret).digest()
  const nothing = Buffer.concat([first.id, Buffer.alloc(32)])

  return {
    seal(plain, context) {
      const iv = ids.bytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', first.encrypt, iv).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([first.id, iv, cipher.getAuthTag(), body])
    },
    open(sealed, context) {
      const key = keyOf(sealed)
      assert(key !== undefined, 'a secret was sealed with a key that is not configured')
      const iv = sealed.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES)
      const tag = sealed.subarray(KEY_ID_BYTES + IV_BYTES, KEY_ID_BYTES + IV_BYTES + TAG_BYTES)
      // Without a fixed length Node takes a tag of four bytes too, which can be guessed.
      const decipher = createDecipheriv('aes-256-gcm', key.encrypt, iv, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(context))
        .setAuthTag(tag)
      const body = sealed.subarray(KEY_ID_BYTES + IV_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
    hash: (secret) => Buffer.concat([first.id, hmac(first, secret)]),
    matches(secret, hash) {
      const stored = hash ?? nothing
      const presented = hmac(keyOf(stored) ?? first, secret)
      return timingSafeEqual(presented, stored.subarray(KEY_ID_BYTES)) && hash !== undefined
    },
  }
}

function deriveKey(master: Buffer): Key {
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `quitado ${purpose}`, 32)))
  return {
    id: createHash('sha256').update(master).digest().subarray(0, KEY_ID_BYTES),
    encrypt: derive('encryption'),
    hash: derive('token hash'),
  }
}

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Instant } from '../../kernel/calendar.ts'
import type { NotificationId } from '../../kernel/ids.ts'

const PREFIX = 'whsec_'

/**
 * What signs: Standard Webhooks writes the bytes in Base64 behind a prefix. A key object is prepared once; from bytes it
 * would be prepared again for every signature, at many times the cost.
 */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'))

type Signed = { readonly id: NotificationId; readonly at: Instant; readonly payload: string }

/** As the Standard Webhooks convention has it: one `v1` signature a key, both during a rotation's overlap. */
export function signatureHeaders({ id, at, payload }: Signed, keys: readonly KeyObject[]) {
  const timestamp = String(Math.floor(at / 1000))
  const content = `${id}.${timestamp}.${payload}`
  const sign = (key: KeyObject) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map(sign).join(' '),
  }
}

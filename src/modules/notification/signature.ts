import { createHmac } from 'node:crypto'
import type { Instant } from '../../kernel/calendar.ts'
import type { NotificationId } from '../../kernel/ids.ts'

const PREFIX = 'whsec_'

/** The bytes that sign: Standard Webhooks writes them in Base64 behind a prefix. */
export const signingKey = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')

type Signed = { readonly id: NotificationId; readonly at: Instant; readonly payload: string }

/** As the Standard Webhooks convention has it: one `v1` signature a key, both during a rotation's overlap. */
export function signatureHeaders({ id, at, payload }: Signed, keys: readonly Buffer[]) {
  const timestamp = String(Math.floor(at / 1000))
  const content = `${id}.${timestamp}.${payload}`
  const sign = (key: Buffer) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.length === 1 ? sign(keys[0]!) : keys.map(sign).join(' '),
  }
}

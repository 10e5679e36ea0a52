import { HOUR_MS, type Instant, plusMs } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { newWebhookSecret } from './open-account.ts'
import { sealContext } from './seal-context.ts'

export const OVERLAP_HOURS_MAX = 24

type RotateContext = { tx: Transaction; ids: RandomIds; secrets: Secrets; now: Instant }
type Rotation = { accountId: AccountId; overlapHours: number }

// The token before the last one ends at once: there are never three.
const rotateTokenSql = statement<{ api_key: string }>(
  'credential_rotate',
  `update credential set previous_hash = token_hash, previous_sealed = token_sealed, previous_ends_at = $4,
     token_hash = $2, token_sealed = $3, token_used_at = null, rotated_at = $5
   where account_id = $1 returning api_key`,
)

/** The key stays; the new token is shown once; the old one works until the overlap ends. */
export async function rotateToken({ tx, ids, secrets, now }: RotateContext, { accountId, overlapHours }: Rotation) {
  const apiToken = ids.uuid()
  const endsAt = plusMs(now, overlapHours * HOUR_MS)
  const sealed = secrets.seal(apiToken, sealContext.token(accountId))
  const [row] = await tx.query(rotateTokenSql, [
    accountId,
    secrets.hash(apiToken),
    sealed,
    sqlTime(endsAt),
    sqlTime(now),
  ])
  return row && { apiKey: row.api_key, apiToken, previousTokenEndsAt: endsAt }
}

const rotateSecretSql = statement<{ id: number }>(
  'account_rotate_webhook_secret',
  `update account set webhook_secret_previous = webhook_secret, webhook_secret_previous_ends_at = $3, webhook_secret = $2
   where id = $1 returning id`,
)

/** Rotates apart from the token; both signatures are sent during the overlap. */
export async function rotateWebhookSecret(
  { tx, ids, secrets, now }: RotateContext,
  { accountId, overlapHours }: Rotation,
) {
  const webhookSecret = newWebhookSecret(ids)
  const endsAt = plusMs(now, overlapHours * HOUR_MS)
  const sealed = secrets.seal(webhookSecret, sealContext.webhookSecret(accountId))
  const rows = await tx.query(rotateSecretSql, [accountId, sealed, sqlTime(endsAt)])
  return rows.length === 1 ? { webhookSecret, previousSecretEndsAt: endsAt } : undefined
}

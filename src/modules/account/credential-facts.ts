import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'

/** What may be shown of credentials: everything but the token. Ends that are past are no ends any more. */
export type CredentialFacts = {
  readonly apiKey: string
  readonly rotatedAt: Instant
  readonly firstUsedAt: Instant | null
  readonly previousTokenEndsAt: Instant | null
  readonly previousSecretEndsAt: Instant | null
}

const factsSql = statement<{
  api_key: string
  rotated_at: Instant
  token_used_at: Instant | null
  previous_ends_at: Instant | null
  secret_ends_at: Instant | null
}>(
  'credential_facts',
  `select c.api_key, c.rotated_at, c.token_used_at, c.previous_ends_at, a.webhook_secret_previous_ends_at as secret_ends_at
   from credential c join account a on a.id = c.account_id where c.account_id = $1`,
)

export async function findCredentialFacts(db: Queryable, accountId: AccountId, now: Instant): Promise<CredentialFacts> {
  const row = (await db.query(factsSql, [accountId]))[0]!
  const ahead = (at: Instant | null) => (at !== null && at > now ? at : null)
  return {
    apiKey: row.api_key,
    rotatedAt: row.rotated_at,
    firstUsedAt: row.token_used_at,
    previousTokenEndsAt: ahead(row.previous_ends_at),
    previousSecretEndsAt: ahead(row.secret_ends_at),
  }
}

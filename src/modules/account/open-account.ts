import type { Instant } from '../../kernel/calendar.ts'
import { type Cents, cents } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import { constraintOf, isUniqueViolation } from '../../platform/database/trouble.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { openBook } from '../ledger/index.ts'
import { newAccountFees } from './account.ts'
import { sealContext } from './seal-context.ts'

export type NewAccount = {
  readonly name: string
  readonly email: string | null
  readonly document: string | null
  readonly city: string | null
  /** Made by `hashPassword` before the transaction begins: it takes tens of milliseconds. */
  readonly passwordHash: string | null
  readonly splitEnabled: boolean
}

/** Shown once: the service keeps hashes and ciphertext only. */
export type IssuedCredentials = { readonly apiKey: string; readonly apiToken: string; readonly webhookSecret: string }
export type OpenedAccount = {
  readonly id: AccountId
  readonly uuid: AccountUuid
  readonly name: string
  readonly email: string | null
  readonly credentials: IssuedCredentials
}
export type OpenAccountRefusal = { code: 'account.emailTaken' }

export type OpenAccountContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly secrets: Secrets
  readonly numbers: { next(): Promise<number> }
  readonly now: Instant
}

const DEFAULT_CITY = 'SAO PAULO'

const insertAccountSql = statement(
  'account_insert',
  `insert into account (id, uuid, kind, status, name, email, document, city, password_hash, created_at, split_enabled,
     pix_fee_share, pix_fee_fixed_cents, payout_fee_fixed_cents, webhook_secret)
   values ($1, $2, 'MERCHANT', 'ACTIVE', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
)
const insertCredentialSql = statement(
  'credential_insert',
  'insert into credential (api_key, account_id, token_hash, token_sealed, rotated_at) values ($1, $2, $3, $4, $5)',
)

/** `whsec_` and Base64, as the Standard Webhooks convention has it. */
export const newWebhookSecret = (ids: RandomIds): string => `whsec_${ids.bytes(24).toString('base64')}`

export async function openAccount(
  { tx, ids, secrets, numbers, now }: OpenAccountContext,
  asked: NewAccount,
): Promise<Result<OpenedAccount, OpenAccountRefusal>> {
  const id = (await numbers.next()) as AccountId
  const uuid = ids.uuidAt(now) as AccountUuid
  const credentials = { apiKey: ids.uuid(), apiToken: ids.uuid(), webhookSecret: newWebhookSecret(ids) }
  try {
    await tx.query(insertAccountSql, [
      id,
      uuid,
      asked.name,
      asked.email,
      asked.document,
      asked.city ?? DEFAULT_CITY,
      asked.passwordHash,
      sqlTime(now),
      asked.splitEnabled,
      newAccountFees.pix.share,
      newAccountFees.pix.fixed,
      newAccountFees.payoutFixed,
      secrets.seal(credentials.webhookSecret, sealContext.webhookSecret(id)),
    ])
  } catch (error) {
    if (isUniqueViolation(error) && constraintOf(error) === 'account_sign_in')
      return refuse({ code: 'account.emailTaken' })
    throw error
  }
  await tx.query(insertCredentialSql, [
    credentials.apiKey,
    id,
    secrets.hash(credentials.apiToken),
    secrets.seal(credentials.apiToken, sealContext.token(id)),
    sqlTime(now),
  ])
  await openBook(tx, id, cents(0) as Cents)
  return ok({ id, uuid, name: asked.name, email: asked.email, credentials })
}

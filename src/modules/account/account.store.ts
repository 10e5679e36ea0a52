import type { Instant } from '../../kernel/calendar.ts'
import type { Cents, ShareUnits } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { AccountStatus, AccountTerms } from './account.ts'
import {
  type NotificationSettingsRow,
  notificationSettingsColumns,
  notificationSettingsFromRow,
} from './notification-settings.ts'
import { sealContext } from './seal-context.ts'

type TermsRow = {
  id: number
  uuid: string
  status: AccountStatus
  name: string
  city: string
  clock_offset_ms: number
  split_enabled: boolean
  split_recipients_max: number
  unique_reference_code: boolean
  auto_settle: boolean
  payout_fee_fixed_cents: number
  boleto_enabled: boolean
  boleto_fee_cents: number | null
  pix_fee_share: number
  pix_fee_fixed_cents: number
} & NotificationSettingsRow

const termsColumns = `id, uuid, status, name, city, clock_offset_ms, split_enabled, split_recipients_max, unique_reference_code, auto_settle, payout_fee_fixed_cents,
  boleto_enabled, boleto_fee_cents, pix_fee_share, pix_fee_fixed_cents, ${notificationSettingsColumns}`

const termsFromRow = (row: TermsRow): AccountTerms => ({
  id: row.id as AccountId,
  uuid: row.uuid as AccountUuid,
  status: row.status,
  name: row.name,
  city: row.city,
  clockOffsetMs: row.clock_offset_ms,
  splitEnabled: row.split_enabled,
  splitRecipientsMax: row.split_recipients_max,
  uniqueReferenceCode: row.unique_reference_code,
  autoSettle: row.auto_settle,
  boletoEnabled: row.boleto_enabled,
  boletoFee: row.boleto_fee_cents as Cents | null,
  pixFee: { share: row.pix_fee_share as ShareUnits, fixed: row.pix_fee_fixed_cents as Cents },
  payoutFee: row.payout_fee_fixed_cents as Cents,
  notifications: notificationSettingsFromRow(row),
})

const findTermsSql = statement<TermsRow>(
  'account_terms',
  `select ${termsColumns} from account where id = any($1::bigint[])`,
)

/** What a batch needs to know of the accounts it touches. */
export async function findAccountTerms(
  db: Queryable,
  ids: readonly AccountId[],
): Promise<Map<AccountId, AccountTerms>> {
  const rows = await db.query(findTermsSql, [[...new Set(ids)]])
  return new Map(rows.map((row) => [row.id as AccountId, termsFromRow(row)]))
}

/** Terms, and which version of the row they were read from. */
export type VersionedTerms = AccountTerms & { readonly version: string }

const findVersionedSql = statement<TermsRow & { version: string }>(
  'account_versioned_terms',
  `select ${termsColumns}, xmin::text as version from account where id = any($1::bigint[])`,
)

export async function findVersionedTerms(db: Queryable, ids: readonly AccountId[]): Promise<VersionedTerms[]> {
  const rows = await db.query(findVersionedSql, [ids])
  return rows.map((row) => ({ ...termsFromRow(row), version: row.version }))
}

const lockTermsSql = statement<TermsRow>(
  'account_terms_lock',
  `select ${termsColumns} from account where id = $1 for no key update`,
)

export async function lockAccountTerms(tx: Transaction, id: AccountId): Promise<AccountTerms | undefined> {
  const [row] = await tx.query(lockTermsSql, [id])
  return row && termsFromRow(row)
}

const movedClocksSql = statement<{ id: number }>(
  'account_moved_clocks',
  'select id from account where clock_offset_ms > 0 and id > $1 order by id limit $2',
)

/** Accounts whose clock runs ahead of real time: each gets a probe of its own for what is due. */
export async function findAccountsAhead(db: Queryable, after: AccountId, limit: number): Promise<AccountId[]> {
  return (await db.query(movedClocksSql, [after, limit])).map((row) => row.id as AccountId)
}

const clockOffsetsSql = statement<{ id: number; clock_offset_ms: number }>(
  'account_clock_offsets',
  'select id, clock_offset_ms from account where id = any($1::bigint[])',
)

/** By how much the clock of each is ahead. */
export async function findClockOffsets(db: Queryable, ids: readonly AccountId[]): Promise<Map<AccountId, number>> {
  const rows = await db.query(clockOffsetsSql, [ids])
  return new Map(rows.map((row) => [row.id as AccountId, row.clock_offset_ms]))
}

const setClockSql = statement(
  'account_set_clock',
  `update account set clock_offset_ms = $2, clock_busy_until = case when clock_busy_until is null then null else $3::timestamptz end
   where id = $1`,
)

/** A jump that goes on holds the clock until then. */
export async function setClockOffset(
  db: Queryable,
  id: AccountId,
  offsetMs: number,
  busyUntil: Instant,
): Promise<void> {
  await db.query(setClockSql, [id, offsetMs, sqlTime(busyUntil)])
}

const takeClockSql = statement<{ id: number }>(
  'account_take_clock',
  `update account set clock_busy_until = $3 where id = $1 and (clock_busy_until is null or clock_busy_until <= $2) returning id`,
)

/** True when nobody else is moving the account's clock. The claim lapses by itself. */
export async function takeClock(db: Queryable, id: AccountId, now: Instant, until: Instant): Promise<boolean> {
  return (await db.query(takeClockSql, [id, sqlTime(now), sqlTime(until)])).length === 1
}

const releaseClockSql = statement('account_release_clock', 'update account set clock_busy_until = null where id = $1')

export async function releaseClock(db: Queryable, id: AccountId): Promise<void> {
  await db.query(releaseClockSql, [id])
}

type CredentialRow = {
  account_id: number
  status: AccountStatus
  rate_limit_per_second: number | null
  token_hash: Buffer
  token_used_at: Instant | null
  previous_hash: Buffer | null
  previous_ends_at: Instant | null
}

export type Credential = {
  readonly accountId: AccountId
  readonly status: AccountStatus
  readonly rateLimitPerSecond: number | null
  readonly tokenHash: Buffer
  readonly tokenUsed: boolean
  readonly previousHash: Buffer | null
  readonly previousEndsAt: Instant | null
}

const findCredentialSql = statement<CredentialRow>(
  'credential_find',
  `select c.account_id, a.status, a.rate_limit_per_second, c.token_hash, c.token_used_at, c.previous_hash, c.previous_ends_at
   from credential c join account a on a.id = c.account_id where c.api_key = $1`,
)

export async function findCredential(db: Queryable, apiKey: string): Promise<Credential | undefined> {
  const [row] = await db.query(findCredentialSql, [apiKey])
  return (
    row && {
      accountId: row.account_id as AccountId,
      status: row.status,
      rateLimitPerSecond: row.rate_limit_per_second,
      tokenHash: row.token_hash,
      tokenUsed: row.token_used_at !== null,
      previousHash: row.previous_hash,
      previousEndsAt: row.previous_ends_at,
    }
  )
}

const markUsedSql = statement(
  'credential_mark_used',
  'update credential set token_used_at = $2 where api_key = $1 and token_hash = $3 and token_used_at is null',
)

/** From its first use on the new token is the one that deliveries carry. */
export async function markTokenUsed(db: Queryable, apiKey: string, tokenHash: Buffer, at: Instant): Promise<void> {
  await db.query(markUsedSql, [apiKey, sqlTime(at), tokenHash])
}

const sealedTokenSql = statement<{ account_id: number; token_sealed: Buffer }>(
  'credential_sealed_token',
  'select account_id, token_sealed from credential where api_key = $1',
)

/** The token in force, back from its ciphertext: for what we send ourselves, and for the demo account's owner. */
export async function findApiToken(db: Queryable, secrets: Secrets, apiKey: string): Promise<string | undefined> {
  const [row] = await db.query(sealedTokenSql, [apiKey])
  return row && secrets.open(row.token_sealed, sealContext.token(row.account_id as AccountId))
}

const anySealedTokenSql = statement<{ account_id: number; token_sealed: Buffer }>(
  'credential_any_sealed_token',
  'select account_id, token_sealed from credential limit 1',
)

/** False when what the database holds was sealed with a key that is not configured. */
export async function opensSecrets(db: Queryable, secrets: Secrets): Promise<boolean> {
  const [row] = await db.query(anySealedTokenSql)
  try {
    if (row) secrets.open(row.token_sealed, sealContext.token(row.account_id as AccountId))
    return true
  } catch {
    return false
  }
}

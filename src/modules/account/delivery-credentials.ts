import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { sealContext } from './seal-context.ts'

/** What a call to a merchant carries, read when the call is about to be made and never kept with it. */
export type DeliverySecrets = {
  readonly authorization: string
  /** The first one is in force; during its overlap the one before it signs too. */
  readonly webhookSecrets: readonly string[]
  readonly clockOffsetMs: number
}

export type DeliveryCredentials = {
  /** An account whose secrets do not open is told of and left out. */
  find(
    db: Queryable,
    ids: readonly AccountId[],
    now: Instant,
    onBroken: (error: unknown) => void,
  ): Promise<Map<AccountId, DeliverySecrets>>
}

type Row = {
  account_id: number
  clock_offset_ms: number
  api_key: string
  token_sealed: Buffer
  token_used_at: Instant | null
  previous_sealed: Buffer | null
  previous_ends_at: Instant | null
  webhook_secret: Buffer | null
  webhook_secret_previous: Buffer | null
  webhook_secret_previous_ends_at: Instant | null
}

const findSql = statement<Row>(
  'account_delivery_credentials',
  `select a.id as account_id, a.clock_offset_ms, c.api_key, c.token_sealed, c.token_used_at, c.previous_sealed, c.previous_ends_at,
     a.webhook_secret, a.webhook_secret_previous, a.webhook_secret_previous_ends_at
   from unnest($1::bigint[]) i(id) join account a on a.id = i.id join credential c on c.account_id = a.id`,
)

/** The old token until the new one is first used, at the latest until the old one ends. */
function tokenToCarry(row: Row, now: Instant): Buffer {
  const overlap = row.previous_sealed !== null && row.previous_ends_at !== null && now < row.previous_ends_at
  return overlap && row.token_used_at === null ? row.previous_sealed! : row.token_sealed
}

function secretsToSign(row: Row, now: Instant): readonly Buffer[] {
  if (row.webhook_secret === null) return []
  const { webhook_secret_previous: previous, webhook_secret_previous_ends_at: endsAt } = row
  return previous !== null && endsAt !== null && now < endsAt ? [row.webhook_secret, previous] : [row.webhook_secret]
}

type Opened = { readonly token: Buffer; readonly signing: readonly Buffer[]; readonly secrets: DeliverySecrets }
const OPENED_MAX = 10_000

/** Always read from the database; opened again only when the ciphertext has changed. */
export function createDeliveryCredentials(secrets: Secrets): DeliveryCredentials {
  const opened = new Map<AccountId, Opened>()

  function open(row: Row, now: Instant): DeliverySecrets {
    const accountId = row.account_id as AccountId
    const [token, signing] = [tokenToCarry(row, now), secretsToSign(row, now)]
    const known = opened.get(accountId)
    if (
      known?.token.equals(token) &&
      isSame(known.signing, signing) &&
      known.secrets.clockOffsetMs === row.clock_offset_ms
    )
      return known.secrets
    const apiToken = secrets.open(token, sealContext.token(accountId))
    const fresh: DeliverySecrets = {
      authorization: `Basic ${Buffer.from(`${row.api_key}:${apiToken}`).toString('base64')}`,
      webhookSecrets: signing.map((sealed) => secrets.open(sealed, sealContext.webhookSecret(accountId))),
      clockOffsetMs: row.clock_offset_ms,
    }
    if (opened.size >= OPENED_MAX) opened.clear()
    opened.set(accountId, { token, signing, secrets: fresh })
    return fresh
  }

  return {
    async find(db, ids, now, onBroken) {
      const found = new Map<AccountId, DeliverySecrets>()
      for (const row of await db.query(findSql, [[...new Set(ids)]])) {
        try {
          found.set(row.account_id as AccountId, open(row, now))
        } catch (error) {
          onBroken(error)
        }
      }
      return found
    },
  }
}

const isSame = (some: readonly Buffer[], others: readonly Buffer[]): boolean =>
  some.length === others.length && some.every((bytes, index) => bytes.equals(others[index]!))

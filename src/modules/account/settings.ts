import type { Instant } from '../../kernel/calendar.ts'
import type { Cents, ShareUnits } from '../../kernel/cents.ts'
import { type AccountId, type AccountUuid, uuidFromWire } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { findBalance, setOverdraftLimit } from '../ledger/index.ts'
import type { AccountStatus } from './account.ts'

/** Everything about an account that a merchant or an operator may look at or change. */
export type AccountSettings = {
  readonly splitEnabled: boolean
  readonly splitRecipientsMax: number
  readonly uniqueReferenceCode: boolean
  readonly autoSettle: boolean
  readonly overdraftLimit: Cents
  readonly pixFeeShare: ShareUnits
  readonly pixFeeFixed: Cents
  readonly payoutFeeFixed: Cents
  readonly boletoEnabled: boolean
  readonly boletoFee: Cents | null
  readonly rateLimitPerSecond: number | null
  readonly status: AccountStatus
}

export type AccountProfile = {
  readonly id: AccountId
  readonly uuid: AccountUuid
  readonly name: string
  readonly email: string | null
  readonly document: string | null
  readonly createdAt: Instant
  readonly clockOffsetMs: number
  readonly settings: AccountSettings
}

type ProfileRow = {
  id: number
  uuid: string
  name: string
  email: string | null
  document: string | null
  created_at: Instant
  clock_offset_ms: number
  status: AccountStatus
  split_enabled: boolean
  split_recipients_max: number
  unique_reference_code: boolean
  auto_settle: boolean
  pix_fee_share: number
  pix_fee_fixed_cents: number
  payout_fee_fixed_cents: number
  boleto_enabled: boolean
  boleto_fee_cents: number | null
  rate_limit_per_second: number | null
  overdraft_limit_cents: number
}

const columns = `a.id, a.uuid, a.name, a.email, a.document, a.created_at, a.clock_offset_ms, a.status, a.split_enabled,
  a.split_recipients_max, a.unique_reference_code, a.auto_settle, a.pix_fee_share, a.pix_fee_fixed_cents,
  a.payout_fee_fixed_cents, a.boleto_enabled, a.boleto_fee_cents, a.rate_limit_per_second`

type AccountRow = Omit<ProfileRow, 'overdraft_limit_cents'>

const profileFromRow = (row: AccountRow, overdraftLimit: Cents): AccountProfile => ({
  id: row.id as AccountId,
  uuid: row.uuid as AccountUuid,
  name: row.name,
  email: row.email,
  document: row.document,
  createdAt: row.created_at,
  clockOffsetMs: row.clock_offset_ms,
  settings: {
    status: row.status,
    splitEnabled: row.split_enabled,
    splitRecipientsMax: row.split_recipients_max,
    uniqueReferenceCode: row.unique_reference_code,
    autoSettle: row.auto_settle,
    overdraftLimit,
    pixFeeShare: row.pix_fee_share as ShareUnits,
    pixFeeFixed: row.pix_fee_fixed_cents as Cents,
    payoutFeeFixed: row.payout_fee_fixed_cents as Cents,
    boletoEnabled: row.boleto_enabled,
    boletoFee: row.boleto_fee_cents as Cents | null,
    rateLimitPerSecond: row.rate_limit_per_second,
  },
})

const findSql = statement<AccountRow>('account_profile', `select ${columns} from account a where a.id = $1`)
const lockSql = statement<AccountRow>(
  'account_profile_lock',
  `select ${columns} from account a where a.id = $1 for no key update`,
)
const byUuidSql = statement<{ id: number }>(
  'account_by_uuid',
  "select id from account where uuid = $1 and kind = 'MERCHANT'",
)
// Whoever looks for an account has its id, its number, its api key, or a part of its name or e-mail. Accounts are few
// beside all else, so these are looked through.
const wanted = `a.kind = 'MERCHANT' and ($1::text is null or a.status = $1)
  and ($2::text is null or a.uuid = $3 or a.id = $4 or position(lower($2) in lower(a.name)) > 0
    or position(lower($2) in lower(a.email)) > 0 or a.id in (select c.account_id from credential c where c.api_key = $3))`
const listSql = statement<AccountRow>(
  'account_list',
  `select ${columns} from account a where ${wanted} order by a.created_at desc, a.id desc offset $5 limit $6`,
)
const countSql = statement<{ n: number }>('account_count', `select count(*) as n from account a where ${wanted}`)

async function withLimit(db: Queryable, row: AccountRow | undefined): Promise<AccountProfile | undefined> {
  const balance = row && (await findBalance(db, row.id as AccountId))
  return row && balance && profileFromRow(row, balance.overdraftLimit)
}

export async function findAccountProfile(db: Queryable, id: AccountId): Promise<AccountProfile | undefined> {
  return withLimit(db, (await db.query(findSql, [id]))[0])
}

/** Merchants only: the operator's own account is nobody's recipient and nobody's to change. */
export async function findAccountIdByUuid(db: Queryable, uuid: AccountUuid): Promise<AccountId | undefined> {
  return (await db.query(byUuidSql, [uuid]))[0]?.id as AccountId | undefined
}

export type AccountsQuery = {
  readonly status: AccountStatus | undefined
  readonly search: string | undefined
  readonly offset: number
  readonly limit: number
}

/** Newest first. */
export async function listAccountProfiles(db: Queryable, { status, search, offset, limit }: AccountsQuery) {
  const text = search?.trim() || null
  const number = text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
  const filter = [status ?? null, text, (text && uuidFromWire<AccountUuid>(text)) ?? null, number]
  const rows = await db.query(listSql, [...filter, offset, limit])
  const profiles: AccountProfile[] = []
  for (const row of rows) profiles.push((await withLimit(db, row))!)
  const [count] = await db.query(countSql, filter)
  return { profiles, total: count!.n }
}

const updateSql = statement(
  'account_update_settings',
  `update account set status = $2, split_enabled = $3, split_recipients_max = $4, unique_reference_code = $5, auto_settle = $6,
     pix_fee_share = $7, pix_fee_fixed_cents = $8, payout_fee_fixed_cents = $9, boleto_enabled = $10, boleto_fee_cents = $11,
     rate_limit_per_second = $12
   where id = $1`,
)

export type UpdateSettingsRefusal = { code: 'account.notFound' } | { code: 'account.overdraftInUse' }

/** Only what is given changes. The book's lock is taken after the account's, everywhere. */
export async function updateSettings(
  tx: Transaction,
  id: AccountId,
  changes: Partial<AccountSettings>,
): Promise<Result<AccountProfile, UpdateSettingsRefusal>> {
  const before = await withLimit(tx, (await tx.query(lockSql, [id]))[0])
  if (before === undefined) return refuse({ code: 'account.notFound' })
  const settings: AccountSettings = { ...before.settings, ...changes }
  if (
    settings.overdraftLimit !== before.settings.overdraftLimit &&
    !(await setOverdraftLimit(tx, id, settings.overdraftLimit))
  )
    return refuse({ code: 'account.overdraftInUse' })
  await tx.query(updateSql, [
    id,
    settings.status,
    settings.splitEnabled,
    settings.splitRecipientsMax,
    settings.uniqueReferenceCode,
    settings.autoSettle,
    settings.pixFeeShare,
    settings.pixFeeFixed,
    settings.payoutFeeFixed,
    settings.boletoEnabled,
    settings.boletoFee,
    settings.rateLimitPerSecond,
  ])
  return ok({ ...before, settings })
}

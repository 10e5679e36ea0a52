import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, AccountUuid } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { AccountStatus } from './account.ts'
import { findAccountIdByUuid } from './settings.ts'

const linkSql = statement(
  'recipient_link',
  `insert into recipient (account_id, recipient_account_id, active, linked_at) values ($1, $2, true, $3)
   on conflict (account_id, recipient_account_id) do update set active = true`,
)

export async function linkRecipient(
  tx: Transaction,
  accountId: AccountId,
  recipientId: AccountId,
  now: Instant,
): Promise<void> {
  await tx.query(linkSql, [accountId, recipientId, sqlTime(now)])
}

type RecipientRow = { uuid: string; name: string; document: string | null; active: boolean }
export type Recipient = {
  readonly uuid: AccountUuid
  readonly name: string
  readonly document: string | null
  readonly active: boolean
}

const setActiveSql = statement<RecipientRow>(
  'recipient_set_active',
  `update recipient r set active = $3 from account a
   where r.account_id = $1 and r.recipient_account_id = $2 and a.id = r.recipient_account_id
   returning a.uuid, a.name, a.document, r.active`,
)

export type SetRecipientRefusal = { code: 'split.recipientNotFound' }

/** A recipient that is missing and one that is not linked look the same. */
export async function setRecipientActive(
  tx: Transaction,
  accountId: AccountId,
  recipientUuid: AccountUuid,
  active: boolean,
): Promise<Result<Recipient, SetRecipientRefusal>> {
  const recipientId = await findAccountIdByUuid(tx, recipientUuid)
  const [row] = recipientId === undefined ? [] : await tx.query(setActiveSql, [accountId, recipientId, active])
  return row ? ok({ ...row, uuid: row.uuid as AccountUuid }) : refuse({ code: 'split.recipientNotFound' })
}

/** A recipient as a checkout needs it. */
export type LinkedRecipient = {
  readonly parentId: AccountId
  readonly id: AccountId
  readonly uuid: AccountUuid
  /** Linked, switched on, and an account that is open. */
  readonly active: boolean
  readonly clockOffsetMs: number
}

const findLinkedSql = statement<{
  account_id: number
  recipient_account_id: number
  uuid: string
  active: boolean
  status: AccountStatus
  clock_offset_ms: number
}>(
  'recipient_find_linked',
  `select r.account_id, r.recipient_account_id, a.uuid, r.active, a.status, a.clock_offset_ms
   from unnest($1::bigint[], $2::uuid[]) k(account_id, uuid)
     join account a on a.uuid = k.uuid join recipient r on r.account_id = k.account_id and r.recipient_account_id = a.id`,
)

export async function findLinkedRecipients(
  db: Queryable,
  keys: readonly { readonly parentId: AccountId; readonly uuid: AccountUuid }[],
): Promise<LinkedRecipient[]> {
  const rows = await db.query(findLinkedSql, [keys.map((key) => key.parentId), keys.map((key) => key.uuid)])
  return rows.map((row) => ({
    parentId: row.account_id as AccountId,
    id: row.recipient_account_id as AccountId,
    uuid: row.uuid as AccountUuid,
    active: row.active && row.status === 'ACTIVE',
    clockOffsetMs: row.clock_offset_ms,
  }))
}

const activeLinks = `recipient r join account a on a.id = r.recipient_account_id
   where r.account_id = $1 and r.active and a.status = 'ACTIVE'`

const countSql = statement<{ total: number }>('recipient_count', `select count(*) as total from ${activeLinks}`)
const listSql = statement<RecipientRow>(
  'recipient_list',
  `select a.uuid, a.name, a.document, r.active from ${activeLinks}
   order by r.linked_at desc, r.recipient_account_id desc offset $2 limit $3`,
)
const findSql = statement<RecipientRow>(
  'recipient_find',
  `select a.uuid, a.name, a.document, r.active from ${activeLinks} and a.uuid = $2`,
)

/** Active ones, most recently linked first. */
export async function listRecipients(
  db: Queryable,
  accountId: AccountId,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ total: number; recipients: Recipient[] }> {
  const [[count], rows] = await Promise.all([
    db.query(countSql, [accountId]),
    db.query(listSql, [accountId, offset, limit]),
  ])
  return { total: count!.total, recipients: rows.map((row) => ({ ...row, uuid: row.uuid as AccountUuid })) }
}

const allLinks = `recipient r join account a on a.id = r.recipient_account_id where r.account_id = $1`
const countAllSql = statement<{ total: number }>('recipient_count_all', `select count(*) as total from ${allLinks}`)
const listAllSql = statement<RecipientRow>(
  'recipient_list_all',
  `select a.uuid, a.name, a.document, r.active and a.status = 'ACTIVE' as active from ${allLinks}
   order by r.linked_at desc, r.recipient_account_id desc offset $2 limit $3`,
)

/** Also those that are switched off, most recently linked first. */
export async function listAllRecipients(
  db: Queryable,
  accountId: AccountId,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ total: number; recipients: Recipient[] }> {
  const [[count], rows] = await Promise.all([
    db.query(countAllSql, [accountId]),
    db.query(listAllSql, [accountId, offset, limit]),
  ])
  return { total: count!.total, recipients: rows.map((row) => ({ ...row, uuid: row.uuid as AccountUuid })) }
}

const findNamesSql = statement<{ uuid: string; name: string }>(
  'recipient_find_names',
  `select a.uuid, a.name from ${allLinks} and a.uuid = any ($2::uuid[])`,
)

/** What recipients are called, also those that are switched off; of nobody who was never linked. */
export async function findRecipientNames(
  db: Queryable,
  accountId: AccountId,
  uuids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (uuids.length === 0) return new Map()
  const rows = await db.query(findNamesSql, [accountId, uuids])
  return new Map(rows.map(({ uuid, name }) => [uuid, name]))
}

export async function findRecipient(
  db: Queryable,
  accountId: AccountId,
  uuid: AccountUuid,
): Promise<Result<Recipient, SetRecipientRefusal>> {
  const [row] = await db.query(findSql, [accountId, uuid])
  return row ? ok({ ...row, uuid: row.uuid as AccountUuid }) : refuse({ code: 'split.recipientNotFound' })
}

import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, AccountUuid } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
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

import type { AccountId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { sealContext } from './seal-context.ts'

export const switchableGroups = ['reversal', 'refund', 'payout'] as const
export type SwitchableGroup = (typeof switchableGroups)[number]

export type Switch = { readonly url: string | null; readonly enabled: boolean }
/** Where an account wants to be told what. Payment and recurrence events share the payment-status address. */
export type NotificationSettings = { readonly payment: { readonly url: string | null } } & Readonly<
  Record<SwitchableGroup, Switch>
>

export type NotificationSettingsRow = {
  payment_url: string | null
  reversal_url: string | null
  reversal_enabled: boolean
  refund_url: string | null
  refund_enabled: boolean
  payout_url: string | null
  payout_enabled: boolean
}
type Row = NotificationSettingsRow & { webhook_secret: Buffer | null }

export const notificationSettingsColumns =
  'payment_url, reversal_url, reversal_enabled, refund_url, refund_enabled, payout_url, payout_enabled'
const columns = `${notificationSettingsColumns}, webhook_secret`
const findSql = statement<Row>('account_notifications', `select ${columns} from account where id = $1`)
const lockSql = statement<Row>(
  'account_notifications_lock',
  `select ${columns} from account where id = $1 for no key update`,
)

export const notificationSettingsFromRow = (row: NotificationSettingsRow): NotificationSettings => ({
  payment: { url: row.payment_url },
  reversal: { url: row.reversal_url, enabled: row.reversal_enabled },
  refund: { url: row.refund_url, enabled: row.refund_enabled },
  payout: { url: row.payout_url, enabled: row.payout_enabled },
})

export type NotificationSettingsView = { settings: NotificationSettings; webhookSecret: string | null }

export async function findNotificationSettings(
  db: Queryable,
  secrets: Secrets,
  id: AccountId,
): Promise<NotificationSettingsView | undefined> {
  const [row] = await db.query(findSql, [id])
  if (row === undefined) return undefined
  const secret = row.webhook_secret
  return {
    settings: notificationSettingsFromRow(row),
    webhookSecret: secret === null ? null : secrets.open(secret, sealContext.webhookSecret(id)),
  }
}

const updateSql = statement(
  'account_notifications_update',
  `update account set payment_url = $2, reversal_url = $3, reversal_enabled = $4, refund_url = $5, refund_enabled = $6,
     payout_url = $7, payout_enabled = $8 where id = $1`,
)

export type UpdateNotificationsRefusal = { code: 'notifications.urlRequired'; groups: readonly SwitchableGroup[] }

/** Groups that are sent are replaced, the others stay. An enabled group needs an address. */
export async function updateNotificationSettings(
  tx: Transaction,
  id: AccountId,
  changes: Partial<NotificationSettings>,
): Promise<Result<NotificationSettings, UpdateNotificationsRefusal>> {
  const [row] = await tx.query(lockSql, [id])
  const settings: NotificationSettings = { ...notificationSettingsFromRow(row!), ...changes }
  const groups = switchableGroups.filter((group) => settings[group].enabled && settings[group].url === null)
  if (groups.length > 0) return refuse({ code: 'notifications.urlRequired', groups })
  const { payment, reversal, refund, payout } = settings
  await tx.query(updateSql, [
    id,
    payment.url,
    reversal.url,
    reversal.enabled,
    refund.url,
    refund.enabled,
    payout.url,
    payout.enabled,
  ])
  return ok(settings)
}

import type { Instant } from '../../kernel/calendar.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { NotificationSettings } from '../account/index.ts'
import { type News, notificationFor } from './notification.ts'
import { addNotificationsCte, type Outbox, outgoColumns, outgoRows, queueNotificationsCte } from './outbox.ts'

const tellSql = statement(
  'notification_tell',
  `with told as materialized (
     select n.*, $1::bigint as account_id, $2::uuid as resource_id, $3::integer as turn, $4::uuid as also_id from ${outgoRows(6)}
   ), notified as (${addNotificationsCte('told')}
   ), queued as (${queueNotificationsCte('told', '$5', '$5')}
   )
   select 1 as one from told`,
)

export type Telling = {
  readonly news: News
  readonly settings: NotificationSettings
  /** Counted on the resource's own row, by this transaction. */
  readonly turn: number
  readonly ids: RandomIds
  readonly outbox: Outbox
  readonly now: Instant
}

/** For a command that works in a transaction: the notification commits with it and is looked for right after. */
export async function tell(tx: Transaction, { news, settings, turn, ids, outbox, now }: Telling): Promise<void> {
  const notification = notificationFor(news, settings, () => ids.uuidAt(now))
  if (notification === undefined) return
  const outgo = { notification, leased: false, ord: 1 }
  const { accountId, resourceId, alsoId } = news
  await tx.query(tellSql, [accountId, resourceId, turn, alsoId, sqlTime(now), ...outgoColumns([outgo])])
  tx.afterCommit(() => outbox.written(outgo, turn))
}

import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { accountNow, findAccountTerms, type NotificationSettings } from '../account/index.ts'
import type { Outbox } from './outbox.ts'
import { tell } from './tell.ts'

export type SendTestContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly outbox: Outbox
  readonly now: Instant
}
export type SendTestRefusal = { code: 'notifications.noAddress' }

/** A real notification to one of the account's addresses, with everything but a thing that it tells of. */
export async function sendTest(
  { tx, ids, outbox, now }: SendTestContext,
  { accountId, group }: { accountId: AccountId; group: keyof NotificationSettings },
): Promise<Result<{ resourceId: string }, SendTestRefusal>> {
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const { url } = account.notifications[group]
  if (url === null) return refuse({ code: 'notifications.noAddress' })
  const resourceId = ids.uuidAt(now)
  const at = accountNow(account, now)
  const body = () => ({ type: 'TEST', uuid: resourceId, group, date: wireTimestamp(at) })
  const news = { accountId, event: 'TEST', resourceId, alsoId: null, callbackUrl: url, at, body } as const
  await tell(tx, { news, settings: account.notifications, turn: 1, ids, outbox, now })
  return ok({ resourceId })
}

import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, NotificationId } from '../../kernel/ids.ts'
import type { NotificationSettings } from '../account/index.ts'
import { addressFor, type EventName } from './event.ts'

/** What a module wants its merchant to hear: it knows the resource and the bytes, this module knows the rest. */
export type News = {
  readonly accountId: AccountId
  readonly event: EventName
  /** The sale, recurrence checkout or payout: news of one resource is told in order. */
  readonly resourceId: string
  /** The refund, reversal or charge that it can be found under as well. */
  readonly alsoId: string | null
  readonly callbackUrl: string | null
  /** Account time. */
  readonly at: Instant
  /** Asked for only when somebody is to be told. */
  readonly body: () => Readonly<Record<string, unknown>>
}

/** Frozen: the bytes and the address of every attempt. */
export type Notification = Omit<News, 'body'> & {
  readonly id: NotificationId
  readonly url: string
  readonly payload: string
}

/** Undefined when nobody asked to be told. */
export function notificationFor(
  news: News,
  settings: NotificationSettings,
  newId: () => string,
): Notification | undefined {
  const url = addressFor(news.event, news.callbackUrl, settings)
  if (url === undefined) return undefined
  const { body, ...rest } = news
  return { ...rest, id: newId() as NotificationId, url, payload: JSON.stringify(body()) }
}

export const notificationStates = ['PENDING', 'DELIVERED', 'FAILED'] as const
export type NotificationState = (typeof notificationStates)[number]

import type { Brand } from './brand.ts'
import type { Instant } from './calendar.ts'

/** The account's number. It leads every key; the outside sees `AccountUuid`. */
export type AccountId = Brand<number, 'AccountId'>
/** `account.id` and `recipientId` on the wire. */
export type AccountUuid = Brand<string, 'AccountUuid'>
/** `uuid`, `saleToken`, `saleUUID`, `transactionUUID`, `sale_uuid` on the wire. Its first 48 bits are the creation time. */
export type SaleId = Brand<string, 'SaleId'>
export type ReversalId = Brand<string, 'ReversalId'>
export type RefundId = Brand<string, 'RefundId'>
export type PayoutId = Brand<string, 'PayoutId'>
/** 24 hex digits; the first 12 are the creation time. */
export type PlanId = Brand<string, 'PlanId'>
/** `response.uuid` of a recurrence checkout, and of the sale that is paid with it. */
export type MandateId = Brand<string, 'MandateId'>
/** `idRec` on the wire: what the rail knows a mandate by. */
export type IdRec = Brand<string, 'IdRec'>
/** Of a scheduled payment; outside it is seen as its txid, `instructionId`. */
export type ChargeId = Brand<string, 'ChargeId'>
/** Version 7 of real time; `webhook-id` on the wire. */
export type NotificationId = Brand<string, 'NotificationId'>
export type EndToEndId = Brand<string, 'EndToEndId'>
/** Unique over sales, refunds, payouts and accounts; never used for order. */
export type NumberId = Brand<number, 'NumberId'>

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A path id of the wrong shape is simply not found. */
export const uuidFromWire = <Id extends string>(text: string): Id | undefined =>
  uuidShape.test(text) ? (text.toLowerCase() as Id) : undefined

/**
 * The smallest uuid that a row made at this instant can have. Rows are keyed (account, uuid v7), so the key is the
 * list order and a range of days is a range of keys.
 */
export function firstUuidAt(at: Instant): string {
  const hex = Math.max(0, at).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

import { wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import { maskDocument } from '../../kernel/documents.ts'
import type { Delivery, DeliveryAttempt } from '../notification/index.ts'
import type { Sale, Shopper } from '../sale/index.ts'

/** A person who looks at a screen need not see whose document it is, only that it is the one they know. */
export const shopperWire = ({ name, email, document }: Shopper) => ({
  name,
  email,
  document: document ? maskDocument(document.number) : null,
})

export const saleRowWire = (sale: Sale) => ({
  id: sale.number,
  uuid: sale.id,
  situation: sale.state,
  amount: centsToWire(sale.amount),
  fee: centsToWire(sale.fee),
  refunded: centsToWire(sale.refunded),
  referenceCode: sale.referenceCode,
  creation: wireTimestamp(sale.createdAt),
  maxAge: wireTimestamp(sale.expiresAt),
  paidAt: sale.paidAt === null ? null : wireTimestamp(sale.paidAt),
  endToEnd: sale.endToEnd,
  shopper: shopperWire(sale.shopper),
  recipients: sale.legs,
  isShare: sale.parentId !== null,
  isRecurring: sale.mandateId !== null,
})

const MASK = '***'
const secretHeaders = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|x-api-token)$/i

const maskHeaders = (headers: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, secretHeaders.test(name) ? MASK : value]))

/** A password in an address is a secret too. */
const maskAddress = (url: string): string => url.replace(/^(https?:\/\/)[^/?#]*@/i, `$1${MASK}@`)

const attemptWire = (attempt: DeliveryAttempt, payload: string) => ({
  number: attempt.number,
  date: wireTimestamp(attempt.at),
  durationMs: attempt.durationMs,
  endpoint: maskAddress(attempt.url),
  status: attempt.status,
  responseCode: attempt.responseCode,
  failure: attempt.failure,
  request: { headers: maskHeaders(attempt.requestHeaders), payload },
  response: { headers: maskHeaders(attempt.responseHeaders), body: attempt.responseBody },
})

function deliveryState({ waits, attempts }: Delivery): 'PENDING' | 'DELIVERED' | 'FAILED' {
  if (waits) return 'PENDING'
  return attempts.at(-1)?.status === 'SUCCESS' ? 'DELIVERED' : 'FAILED'
}

export const deliveryWire = (delivery: Delivery) => ({
  id: delivery.id,
  transactionUUID: delivery.alsoId ?? delivery.resourceId,
  eventType: delivery.event,
  state: deliveryState(delivery),
  endpoint: maskAddress(delivery.url),
  creation: wireTimestamp(delivery.createdAt),
  payload: delivery.payload,
  attempts: delivery.attempts.map((attempt) => attemptWire(attempt, delivery.payload)),
})

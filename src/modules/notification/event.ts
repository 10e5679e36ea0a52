import type { NotificationSettings } from '../account/index.ts'

/** Which of the account's addresses hears of an event, and what is appended to it. */
type EventRule = { readonly group: keyof NotificationSettings; readonly query: string }

// biome-ignore format: a table
const rules = {
  // event                       group                 query
  PAYMENT_CONFIRMATION:        { group: 'payment',  query: '' },
  REFUND_PAID:                 { group: 'refund',   query: 'refund=true&type=refund' },
  REVERSAL_CREATE:             { group: 'reversal', query: 'reversing=true&type=reversing' },
  REVERSAL_PAID:               { group: 'reversal', query: 'reversing=true&type=reversing' },
  REVERSAL_CANCEL:             { group: 'reversal', query: 'reversing=true&type=reversing' },
  PAYOUT_PAID:                 { group: 'payout',   query: 'type=payout' },
  PAYOUT_FAILED:               { group: 'payout',   query: 'payout=true' },
  RECURRENCE_AUTHORIZED:       { group: 'payment',  query: '' },
  RECURRENCE_REJECTED:         { group: 'payment',  query: '' },
  RECURRENCE_EXPIRED:          { group: 'payment',  query: '' },
  RECURRENCE_CANCELLED:        { group: 'payment',  query: '' },
  RECURRENCE_CONCLUDED:        { group: 'payment',  query: '' },
  RECURRENCE_CHARGE_SCHEDULED: { group: 'payment',  query: '' },
  RECURRENCE_CHARGE_PAID:      { group: 'payment',  query: '' },
  RECURRENCE_CHARGE_FAILED:    { group: 'payment',  query: '' },
  TEST:                        { group: 'payment',  query: '' },
} as const satisfies Readonly<Record<string, EventRule>>

export type EventName = keyof typeof rules
export const eventNames = Object.keys(rules) as readonly EventName[]

/** What is appended to the address of an event. */
export const queryOf = (event: EventName): string => rules[event].query

/**
 * Where an event goes: the resource's own callback address before the account's. Reversals, refunds and payouts are told
 * only where their group is switched on. Undefined: nobody wants to hear of it.
 */
export function addressFor(
  event: EventName,
  callbackUrl: string | null,
  settings: NotificationSettings,
): string | undefined {
  const { group, query } = rules[event]
  if (group !== 'payment' && !settings[group].enabled) return undefined
  const url = callbackUrl ?? settings[group].url
  return url === null ? undefined : appendQuery(url, query)
}

/** The address keeps its own query, byte for byte; a fragment is never sent, so it is left out. */
export function appendQuery(url: string, query: string): string {
  const address = url.split('#', 1)[0]!
  if (query === '') return address
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&'
  return address + joint + query
}

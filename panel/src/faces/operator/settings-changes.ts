import { typedAmount } from '../../kit/index.ts'
import type { Account } from './types.ts'

export type SettingsTexts = Readonly<Record<string, string | boolean>>

/** What the form shows, by the name that the service has for each field. */
export const settingsOf = (account: Account): SettingsTexts => ({
  splitEnabled: account.splitEnabled,
  uniqueReferenceCode: account.uniqueReferenceCode,
  autoSettle: account.autoSettle,
  'boleto.enabled': account.boleto.enabled,
  'boleto.fee': account.boleto.fee === null ? '' : String(account.boleto.fee),
  'fees.PIX.percent': String(account.fees.PIX.percent),
  'fees.PIX.fixed': String(account.fees.PIX.fixed),
  'fees.PAYOUT.fixed': String(account.fees.PAYOUT.fixed),
  overdraftLimit: String(account.overdraftLimit),
  splitRecipientsMax: String(account.splitRecipientsMax),
  rateLimitPerSecond: account.rateLimitPerSecond === null ? '' : String(account.rateLimitPerSecond),
})

/** Only what was changed is sent: what somebody else changed meanwhile stays. An emptied number is zero. */
export function changedSettings(before: SettingsTexts, form: FormData) {
  const changes: Record<string, unknown> = {}
  for (const [name, was] of Object.entries(before)) {
    const now = typeof was === 'boolean' ? form.has(name) : (typedAmount(form, name) ?? '')
    if (now === was) continue
    put(changes, name.split('.'), now === '' ? '0' : now)
  }
  return changes
}

function put(into: Record<string, unknown>, [name, ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) into[name!] = value
  else {
    into[name!] ??= {}
    put(into[name!] as Record<string, unknown>, rest, value)
  }
}

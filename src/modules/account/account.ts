import { type Instant, plusMs } from '../../kernel/calendar.ts'
import { type Cents, cents, type ShareUnits, shareRoundedHalfUp } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid } from '../../kernel/ids.ts'
import type { NotificationSettings } from './notification-settings.ts'

export const accountStatuses = ['ACTIVE', 'SUSPENDED', 'CLOSED'] as const
export type AccountStatus = (typeof accountStatuses)[number]

/** The operator's own account: money whose merchant nobody knows waits in its book. */
export const OPERATOR_ACCOUNT_ID = 1 as AccountId

export type Fee = { readonly share: ShareUnits; readonly fixed: Cents }

/** What decisions about money need to know of an account: read for the decision, or guarded by the write that follows it. */
export type AccountTerms = {
  readonly id: AccountId
  readonly uuid: AccountUuid
  readonly status: AccountStatus
  readonly name: string
  readonly city: string
  readonly clockOffsetMs: number
  readonly splitEnabled: boolean
  readonly splitRecipientsMax: number
  readonly uniqueReferenceCode: boolean
  readonly autoSettle: boolean
  readonly boletoEnabled: boolean
  readonly boletoFee: Cents | null
  readonly pixFee: Fee
  readonly payoutFee: Cents
  readonly notifications: NotificationSettings
}

/** Account time: what its merchant sees. */
export const accountNow = (account: Pick<AccountTerms, 'clockOffsetMs'>, realNow: Instant): Instant =>
  plusMs(realNow, account.clockOffsetMs)

/** 0.99 %, rounded half up; a share that rounds to nothing still costs a cent; never more than the amount. */
export function feeFor(amount: Cents, { share, fixed }: Fee): Cents {
  const byShare = share === 0 ? 0 : Math.max(1, shareRoundedHalfUp(amount, share))
  return cents(Math.min(amount, byShare + fixed))
}

export const newAccountFees: { readonly pix: Fee; readonly payoutFixed: Cents } = {
  pix: { share: 9_900 as ShareUnits, fixed: cents(0) },
  payoutFixed: cents(0),
}

export const paymentMethods = ['PIX', 'BOLETO', 'BOLETO_PIX', 'CREDIT_CARD', 'INITIATOR'] as const
export type PaymentMethod = (typeof paymentMethods)[number]

/** Boleto needs both the switch and a fee. Cards and initiators are not offered yet, so they are not listed. */
export function methodsOpenTo(account: Pick<AccountTerms, 'boletoEnabled' | 'boletoFee'>): readonly PaymentMethod[] {
  return account.boletoEnabled && account.boletoFee !== null ? ['PIX', 'BOLETO', 'BOLETO_PIX'] : ['PIX']
}

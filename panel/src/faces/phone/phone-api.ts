import { amountAsDigits, api } from '../../kit/index.ts'

export type Payer = { readonly name: string; readonly document: string; readonly balance: number }

export type Entry = {
  readonly seq: number
  readonly kind: 'OPENING' | 'TOP_UP' | 'PAYMENT' | 'COLLECTION' | 'GIVEN_BACK'
  readonly amount: number
  readonly balanceAfter: number
  readonly counterparty: string | null
  readonly endToEnd: string | null
  readonly at: string
  readonly outcome: 'SENT' | 'PAID' | 'REVERSED' | null
}

export type MandateOffer = {
  readonly idRec: string
  readonly receiver: string
  readonly document: string
  readonly object: string
  readonly contract: string
  readonly periodicity: 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'SEMIANNUAL' | 'ANNUALLY'
  readonly initialDate: string
  readonly finalDate: string | null
  /** Null: each charge may cost something else. */
  readonly amount: number | null
  /** What a maximum may not be below. */
  readonly floor: number | null
  readonly retries: boolean
}

export type MandateState =
  | 'CREATED'
  | 'APPROVING'
  | 'APPROVED'
  | 'REJECTED'
  | 'EXPIRED'
  | 'CANCELLING'
  | 'CANCELLED'
  | 'CONCLUDED'

export type Mandate = MandateOffer & {
  readonly payFirst: boolean
  readonly maximum: number | null
  readonly state: MandateState
  readonly mine: boolean
  readonly charges: readonly { readonly dueDate: string; readonly amount: number; readonly state: string }[]
}

export type View = { readonly phone: Payer; readonly mandates: readonly Mandate[]; readonly entries: readonly Entry[] }

export type CheckName = 'code' | 'location' | 'signature' | 'content'
export type Check = { readonly check: CheckName; readonly holds: boolean }

export type Charge = {
  readonly txid: string
  readonly amount: number
  readonly key: string
  readonly expiresAt: string
}

export type Reading = {
  /** Null when there is nothing to pay. */
  readonly id: string | null
  readonly receiver: string
  readonly charge: Charge | null
  readonly mandate: MandateOffer | null
}

export type Fault = { readonly code: string; readonly id?: string; readonly field?: string; readonly http?: number }

export type Found = {
  readonly checks: readonly Check[]
  readonly reading?: Reading
  readonly refusal?: Fault
}

type MaybeView = Omit<View, 'phone'> & { readonly phone: Payer | null }

/** A browser that has no phone yet gets one. */
export async function readPhone(): Promise<View> {
  const view = await api<MaybeView>('/phone/api/phone')
  if (view.phone !== null) return view as View
  await api('/phone/api/phone', { method: 'POST', body: {} })
  return api<View>('/phone/api/phone')
}

export const readMore = (before: number) =>
  api<{ readonly entries: readonly Entry[] }>(`/phone/api/statement?before=${before}`)

export const readCode = (asked: { readonly code: string } | { readonly charge: string }) =>
  api<Found>('/phone/api/readings', { method: 'POST', body: asked })

export type Paying = { readonly times?: 1 | 2; readonly amount?: number; readonly maximum?: number }

export const payReading = (id: string, paying: Paying) =>
  api<{ readonly payments: readonly Entry[] }>(`/phone/api/readings/${id}/pay`, { method: 'POST', body: paying })

export const refuseReading = (id: string) => api(`/phone/api/readings/${id}/refuse`, { method: 'POST' })

export type Answer = 'approve' | 'reject' | 'cancel' | 'limit'

export const answerMandate = (idRec: string, answer: Answer, maximum?: number) =>
  api(`/phone/api/mandates/${idRec}/${answer}`, {
    method: 'POST',
    ...(maximum === undefined ? {} : { body: { maximum } }),
  })

export const topUp = (amount: number) => api('/phone/api/top-ups', { method: 'POST', body: { id: newId(), amount } })

/** `crypto.randomUUID` is for secure pages only, and a sandbox may be opened over a plain network. */
function newId(): string {
  const hex = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0'))
  return hex.join('').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}

/** Undefined: not an amount that can be paid. */
export function amountFrom(text: string): number | undefined {
  const number = amountAsDigits(text)
  return /^\d{1,10}(\.\d{1,2})?$/.test(number) && Number(number) > 0 ? Number(number) : undefined
}

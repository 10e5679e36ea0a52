/** What `/pay/api/{txid}` tells. */
export type Charge = {
  readonly txid: string
  readonly state: 'PENDING' | 'PAID' | 'EXPIRED' | 'CANCELLED'
  readonly amount: number
  readonly receiver: string
  readonly secondsLeft: number
  readonly expiresAt: string
  readonly paidAt: string | null
  readonly brCode: string | null
}

const SOON_MS = 2_000
/** A cancelled charge may be made payable again; a paid one stays paid. */
const LATER_MS = 15_000

export function askAgainAfter(charge: Charge | undefined): number | false {
  if (charge === undefined || charge.state === 'PENDING') return SOON_MS
  return charge.state === 'PAID' ? false : LATER_MS
}

const two = (value: number): string => String(value).padStart(2, '0')

/** Whole days, and the rest as hours, minutes and seconds. */
export function timeLeft(seconds: number): { readonly days: number; readonly clock: string } {
  const whole = Math.max(0, Math.ceil(seconds))
  const [hours, minutes] = [Math.floor((whole % 86_400) / 3_600), Math.floor((whole % 3_600) / 60)]
  const tail = `${two(minutes)}:${two(whole % 60)}`
  return { days: Math.floor(whole / 86_400), clock: hours > 0 || whole >= 86_400 ? `${two(hours)}:${tail}` : tail }
}

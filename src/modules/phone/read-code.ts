import { type BrCodeFault, decodeBrCode } from '../../kernel/br-code.ts'
import { isObject } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { type ChargeOffer, chargeOffer, type MandateOffer, mandateOffer, type OfferFault } from './offer.ts'
import { type SignatureFault, verifyPayload } from './verify-payload.ts'

export type Fetched = { readonly http: number; readonly type: string; readonly text: string }

export type ReadCodeContext = {
  /** Whose locations there are: the host of the public URL, and what of its path comes before a location's. */
  readonly publicHost: string
  /** GET, by the same way that any bank would come. */
  readonly fetch: (path: string) => Promise<Fetched>
  /** The name behind a PIX key, as the scheme's directory knows it. */
  readonly findReceiver: (key: string) => Promise<string | undefined>
}

/** In this order; the one that fails is the last one that is told. */
export type CheckName = 'code' | 'location' | 'signature' | 'content'
export type Check = { readonly check: CheckName; readonly holds: boolean }

export type ReadFault =
  | BrCodeFault
  | SignatureFault
  | OfferFault
  | { readonly code: 'code.static' | 'location.foreign' | 'location.unknown' | 'location.closed' | 'key.unknown' }
  | { readonly code: 'location.failed'; readonly http: number }

export type Offer = {
  readonly receiver: string
  readonly charge: ChargeOffer | null
  readonly mandate: MandateOffer | null
}

export type CodeRead = { readonly checks: readonly Check[]; readonly result: Result<Offer, ReadFault> }

/** As strict as a payer's bank: the code, then what its addresses show, then whose signature that is, then what it says. */
export async function readCode(context: ReadCodeContext, text: string): Promise<CodeRead> {
  const checks: Check[] = []
  const failed = (refusal: ReadFault): CodeRead => ({
    checks: checks.map((check, at) => (at === checks.length - 1 ? { ...check, holds: false } : check)),
    result: refuse(refusal),
  })
  const begin = (check: CheckName) => void checks.push({ check, holds: true })

  begin('code')
  const decoded = decodeBrCode(text.trim())
  if (!decoded.ok) return failed(decoded.refusal)
  const code = decoded.value
  // A key says nothing of who waits for the money: the sandbox's merchants charge by location only.
  if (code.kind === 'static') return failed({ code: 'code.static' })
  const chargeUrl = code.kind === 'dynamic' ? code.locationUrl : undefined

  begin('location')
  const shown: Record<'charge' | 'mandate', string | undefined> = { charge: undefined, mandate: undefined }
  for (const [what, url] of [
    ['charge', chargeUrl],
    ['mandate', code.recurrenceUrl],
  ] as const) {
    const fetched = url === undefined ? ok(undefined) : await fetchPayload(context, url)
    if (!fetched.ok) return failed(fetched.refusal)
    shown[what] = fetched.value
  }

  begin('signature')
  const signed: Partial<Record<'charge' | 'mandate', unknown>> = {}
  for (const what of ['charge', 'mandate'] as const) {
    if (shown[what] === undefined) continue
    const verified = await verifyPayload(shown[what], (jku) => readKeys(context, jku))
    if (!verified.ok) return failed(verified.refusal)
    signed[what] = verified.value
  }

  begin('content')
  const charge = chargeUrl === undefined ? ok(null) : chargeOffer(signed.charge, chargeUrl.split('/').at(-1)!)
  if (!charge.ok) return failed(charge.refusal)
  const mandate = code.recurrenceUrl === undefined ? ok(null) : mandateOffer(signed.mandate)
  if (!mandate.ok) return failed(mandate.refusal)
  const receiver = charge.value === null ? mandate.value!.receiver : await context.findReceiver(charge.value.key)
  if (receiver === undefined) return failed({ code: 'key.unknown' })
  return { checks, result: ok({ receiver, charge: charge.value, mandate: mandate.value }) }
}

/** The path of an address of this sandbox; undefined for anybody else's. Hosts are the same in any case. */
function pathOf({ publicHost }: ReadCodeContext, url: string): string | undefined {
  const split = publicHost.length
  return url[split] === '/' && url.slice(0, split).toLowerCase() === publicHost.toLowerCase()
    ? url.slice(split)
    : undefined
}

async function fetchPayload(context: ReadCodeContext, url: string): Promise<Result<string, ReadFault>> {
  const path = pathOf(context, url)
  if (path === undefined) return refuse({ code: 'location.foreign' })
  const { http, type, text } = await context.fetch(path)
  if (http === 404) return refuse({ code: 'location.unknown' })
  if (http === 410) return refuse({ code: 'location.closed' })
  if (http !== 200 || !type.startsWith('application/jose')) return refuse({ code: 'location.failed', http })
  return ok(text)
}

async function readKeys(context: ReadCodeContext, jku: string): Promise<readonly unknown[] | undefined> {
  const path = pathOf(context, jku.replace(/^https?:\/\//i, ''))
  if (path === undefined) return undefined
  const { http, text } = await context.fetch(path)
  if (http !== 200) return []
  try {
    const set: unknown = JSON.parse(text)
    return isObject(set) && Array.isArray(set['keys']) ? set['keys'] : []
  } catch {
    return []
  }
}

import { encodeBrCode } from '../../kernel/br-code.ts'
import type { Instant } from '../../kernel/calendar.ts'
import type { EndToEndId, IdRec } from '../../kernel/ids.ts'
import type { ChargeToOpen, CollectionNews, CollectionOrder, MandateToOpen, OpenedMandate, Rail } from '../rail.ts'

export const SANDBOX_RAIL = 'sandbox'
/** A bank that does not exist. */
export const SANDBOX_ISPB = '99999004'
/** Another one: the bank whose app is the payer phone. */
export const PHONE_ISPB = '99999012'

/** The path of a charge's payload, after the public host. */
export const payloadPath = (txid: string): string => `/pix/${txid}`
/** And of a mandate's. */
export const recurrencePath = (reference: string): string => `/rec/${reference}`
/** Where the keys that payloads are signed with can be read. */
export const keysPath = '/pix/jwks.json'

/** `E`, the payer's bank, the minute in UTC and eleven characters that nobody else has in that minute. */
export function endToEndAt(at: Instant, ispb: string, tail: string): EndToEndId {
  const minute = new Date(at).toISOString().replace(/\D/g, '').slice(0, 12)
  return `E${ispb}${minute}${tail}` as EndToEndId
}

/** Computes its charges and mandates without I/O: the easy case of the port's contract. */
export function createSandboxRail(publicHost: string): Rail {
  const chargeUrl = (txid: string) => `${publicHost}${payloadPath(txid)}`
  const recurrenceUrl = (reference: string) => `${publicHost}${recurrencePath(reference)}`

  const chargeCode = ({ txid, recurrence, merchantName, merchantCity }: ChargeToOpen): string =>
    encodeBrCode({
      kind: 'dynamic',
      locationUrl: chargeUrl(txid),
      ...(recurrence !== null && { recurrenceUrl: recurrenceUrl(recurrence) }),
      merchantName,
      merchantCity,
    })

  const mandateCode = ({ reference, charge, merchantName, merchantCity }: MandateToOpen): string =>
    charge === null
      ? encodeBrCode({ kind: 'recurrence', recurrenceUrl: recurrenceUrl(reference), merchantName, merchantCity })
      : chargeCode(charge)

  return {
    name: SANDBOX_RAIL,
    // Takes every order; who settles it, and when, is the simulator's business.
    async sendOut() {},
    // What it has settled is no longer asked for, and what somebody wants back it does not settle (modules/simulator).
    cancelOut: async (references) => references.map(() => 'WITHDRAWN'),
    lookUpOut: async (references) => references.map(() => 'PENDING'),
    async openCharges(charges) {
      return charges.map((charge) => ({ location: chargeUrl(charge.txid), brCode: chargeCode(charge) }))
    },
    async openMandates(mandates) {
      return mandates.map((mandate): OpenedMandate => ({ idRec: idRecOf(mandate), brCode: mandateCode(mandate) }))
    },
    // Every bank of the sandbox takes every charge, however late it comes.
    async collect(orders) {
      return orders.map(accepted)
    },
  }
}

const idRecOf = ({ retries, createdOn, suffix }: MandateToOpen): IdRec =>
  `R${retries ? 'R' : 'N'}${SANDBOX_ISPB}${createdOn.replaceAll('-', '')}${suffix}` as IdRec

export const accepted = ({ txid, attempt }: Pick<CollectionOrder, 'txid' | 'attempt'>): CollectionNews => ({
  kind: 'collection',
  rail: SANDBOX_RAIL,
  txid,
  attempt,
  state: 'SCHEDULED',
  code: null,
})

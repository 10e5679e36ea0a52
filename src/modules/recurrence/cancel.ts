import type { Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { chargeOfTxid } from '../../kernel/txid.ts'
import { numbersInTurn } from '../../platform/number-blocks.ts'
import { findSale } from '../sale/index.ts'
import type { Changing, Recurrence } from './change.ts'
import { type ChangeMandateContext, changeMandate } from './change-mandate.ts'
import type { Charge } from './charge.ts'
import { cancellableUntil } from './cycle.ts'
import { isFinal } from './mandate.ts'
import { findMandateKeys, findRecurrencesOfCharges, type MandateKey } from './recurrence.store.ts'

export type MandateRefusal = {
  readonly code: 'mandate.notFound' | 'mandate.notCancellable' | 'mandate.notVariable' | 'mandate.final'
}
export type ChargeRefusal = { readonly code: 'charge.notFound' | 'charge.notCancellable' }

/** Another account's mandate is none. */
export async function findOwnMandate(
  context: Pick<ChangeMandateContext, 'tx'>,
  accountId: AccountId,
  idRec: string,
): Promise<MandateKey | undefined> {
  const [key] = await findMandateKeys(context.tx, [idRec])
  return key?.accountId === accountId ? key : undefined
}

const notFound = refuse({ code: 'mandate.notFound' as const })

/** Its open charges go with it. */
export async function cancelMandate(
  context: ChangeMandateContext,
  { accountId, idRec }: { accountId: AccountId; idRec: string },
): Promise<Result<void, MandateRefusal>> {
  const key = await findOwnMandate(context, accountId, idRec)
  if (!key) return notFound
  const cancelled = await changeMandate(context, key, (work) =>
    work.move('cancel') ? ok(undefined) : refuse({ code: 'mandate.notCancellable' as const }),
  )
  return cancelled ?? notFound
}

/** The price of the next cycle only; the last one said counts. */
export async function setCycleAmount(
  context: ChangeMandateContext,
  { accountId, idRec, amount }: { accountId: AccountId; idRec: string; amount: Cents },
): Promise<Result<void, MandateRefusal>> {
  const key = await findOwnMandate(context, accountId, idRec)
  if (!key) return notFound
  const set = await changeMandate(context, key, (work): Result<void, MandateRefusal> => {
    const { valueType, state } = work.mandate()
    if (valueType !== 'VARIABLE') return refuse({ code: 'mandate.notVariable' })
    if (isFinal(state)) return refuse({ code: 'mandate.final' })
    work.setOneOff(amount)
    return ok(undefined)
  })
  return set ?? notFound
}

/** Until ten in the evening before it is due. */
export async function cancelCharge(
  context: ChangeMandateContext,
  { accountId, instructionId, reason }: { accountId: AccountId; instructionId: string; reason: string | null },
): Promise<Result<void, ChargeRefusal>> {
  const key = chargeOfTxid(instructionId)
  const [found] = key?.accountId === accountId ? await findRecurrencesOfCharges(context.tx, [key]) : []
  if (!found) return refuse({ code: 'charge.notFound' })
  const { charge } = found
  const cancelled = await changeMandate(context, { accountId, mandateId: charge.mandateId }, (work, recurrence, at) =>
    cancelIn(work, recurrence, charge, { reason, at }),
  )
  return cancelled ?? refuse({ code: 'charge.notFound' })
}

function cancelIn(
  work: Changing,
  { charges }: Recurrence,
  { id, dueDate }: Charge,
  { reason, at }: { reason: string | null; at: Instant },
): Result<void, ChargeRefusal> {
  // Only open ones are shown: whatever is not among them has ended.
  const isKnown = charges.some((charge) => charge.id === id)
  const cancelled = isKnown && at <= cancellableUntil(dueDate) && work.cancel(id, reason)
  return cancelled ? ok(undefined) : refuse({ code: 'charge.notCancellable' })
}

/** The same by the sale that the charge is. False when it cannot be cancelled any more. */
export async function cancelChargeOfSale(
  inside: Omit<ChangeMandateContext, 'numbers'>,
  accountId: AccountId,
  saleId: SaleId,
): Promise<boolean> {
  // Its cycle is registered, so the next one is planned already and nothing needs a number.
  const context = { ...inside, numbers: numbersInTurn([0, 0]) }
  const sale = await findSale(context.tx, accountId, saleId)
  const [found] = await findRecurrencesOfCharges(context.tx, [{ accountId, chargeId: sale!.chargeId! }])
  const cancelled = await changeMandate(context, { accountId, mandateId: sale!.mandateId! }, (work, recurrence, at) =>
    cancelIn(work, recurrence, found!.charge, { reason: null, at }),
  )
  return cancelled?.ok ?? false
}

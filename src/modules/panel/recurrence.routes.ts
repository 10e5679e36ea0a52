import type { FastifyInstance } from 'fastify'
import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'

import { maskDocument } from '../../kernel/documents.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { ok, refuse } from '../../kernel/result.ts'
import { chargeOfTxid } from '../../kernel/txid.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { success } from '../../platform/http/context.ts'
import { unwrap } from '../../platform/http/refusals.ts'
import type { Rail } from '../../rail/rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import {
  authorizationWire,
  awaitsPayer,
  type ChargeInWords,
  cancellableUntil,
  collectionDay,
  findCharge,
  findChargesOfMandate,
  findMandateCode,
  findMandateKeys,
  findRecurrences,
  isFinal,
  mandateImagePath,
  type Recurrence,
  scheduledPaymentWire,
} from '../recurrence/index.ts'

export type PanelRecurrenceContext = { readonly db: Database; readonly clock: Clock; readonly rail: Rail }

/** What a person asks of a mandate and of a charge and the API does not tell: its code, its deadlines, what can still be done. */
export function panelRecurrenceRoutes({ db, clock, rail }: PanelRecurrenceContext) {
  const accountTime = async (id: AccountId) => accountNow((await findAccountTerms(db, [id])).get(id)!, clock.now())

  return async (app: FastifyInstance) => {
    app.get<{ Params: { idRec: string } }>('/mandates/:idRec', async ({ accountId, params }) => {
      const [key] = await findMandateKeys(db, [params.idRec])
      const [known] = key?.accountId === accountId ? await findRecurrences(db, [key]) : []
      const found = unwrap(known ? ok(known) : refuse({ code: 'mandate.notFound' as const }), {
        'mandate.notFound': 'idRec',
      })
      const { mandate } = found
      const [charges, now, code] = await Promise.all([
        findChargesOfMandate(db, accountId, mandate.id),
        accountTime(accountId),
        awaitsPayer(mandate.state) ? findMandateCode(db, rail, mandate) : null,
      ])
      return {
        ...success,
        mandate: { ...mandateWire(found), code: code && { plain: code, image: mandateImagePath(mandate) } },
        charges: charges.map((charge) => chargeWire(charge, now)),
      }
    })

    app.get<{ Params: { instructionId: string } }>('/charges/:instructionId', async ({ accountId, params }) => {
      const key = chargeOfTxid(params.instructionId)
      const known = key?.accountId === accountId ? await findCharge(db, accountId, key.chargeId) : undefined
      const found = unwrap(known ? ok(known) : refuse({ code: 'charge.notFound' as const }), {
        'charge.notFound': 'instructionId',
      })
      const charge = chargeWire(found, await accountTime(accountId))
      return { ...success, charge, mandate: mandateWire(found) }
    })
  }
}

function mandateWire({ mandate, plan }: Pick<Recurrence, 'mandate' | 'plan'>) {
  const { payer, ...authorization } = authorizationWire({ mandate, plan })
  return {
    ...authorization,
    payer: { ...payer, document: maskDocument(payer.document) },
    uuid: mandate.id,
    plan: { id: mandate.planId, title: plan.title },
    referenceCode: mandate.referenceCode,
    callbackURL: mandate.callbackUrl,
    expiration: wireTimestamp(mandate.expiresAt),
    firstPayment: mandate.immediate,
    retry: mandate.retries,
    cycleAmount: mandate.oneOff === null ? null : centsToWire(mandate.oneOff),
    canCancel: !isFinal(mandate.state),
  }
}

function chargeWire(found: ChargeInWords, now: Instant) {
  const { charge, mandate } = found
  const { authorization: _, ...payment } = scheduledPaymentWire(found)
  const until = cancellableUntil(charge.dueDate)
  const isWaiting = charge.state === 'PENDING_SCHEDULE' || charge.state === 'SCHEDULED'
  return {
    ...payment,
    cycle: charge.cycle + 1,
    attempt: charge.attempt,
    cancelReason: charge.cancelReason,
    retryDate:
      charge.nextAttempt === null ? null : collectionDay(charge.dueDate, mandate.periodicity, charge.nextAttempt)!,
    cancellableUntil: wireTimestamp(until),
    canCancel: isWaiting && now <= until,
  }
}

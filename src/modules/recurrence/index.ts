export { recurrenceChecks } from './audit.ts'
export { cancelChargeOfSale } from './cancel.ts'
export { type Changing, changing, type DueKind, type Recurrence, type RecurrenceOfCharge } from './change.ts'
export { authorizeMandate, NUMBERS_PER_CHANGE } from './change-mandate.ts'
export { CANCELLATION, type Charge, INSUFFICIENT_FUNDS, isOpen, reasonCodes } from './charge.ts'
export { mandateToOpen } from './create-mandate.ts'
export { cancellableUntil, collectionAt, collectionDay, isInDueWindow } from './cycle.ts'
export { claimDue, type DueOf, type DueThing, findNextDue } from './due.store.ts'
export { type EngineContext, engineStep, runDue } from './engine.ts'
export {
  type ChargeInWords,
  findCharge,
  findChargeOfSale,
  findChargesOfMandate,
  findRecurrenceMarks,
  isMandate,
} from './find-mandates.ts'
export { hearCollection, hearMandate, hearPayment } from './hear.ts'
export {
  awaitsPayer,
  endOfMandate,
  isFinal,
  type Mandate,
  type MandateState,
  priceOfNextCycle,
} from './mandate.ts'
export { findMandateCode, mandateImagePath } from './mandate-code.ts'
export { planRoutes } from './plan.routes.ts'
export { mandateImageRoutes, recurrenceRoutes } from './recurrence.routes.ts'
export { findMandateKeys, findRecurrences, findRecurrencesOfCharges, lockMandate } from './recurrence.store.ts'
export { authorizationWire, scheduledPaymentWire } from './recurrence.wire.ts'
export {
  AFTER_CHANGES,
  changeColumns,
  changesInput,
  type ToWrite,
  tellWritten,
  winnersCtes,
  writeChanges,
  writeWinnersCtes,
} from './write-changes.ts'

import {
  amountFromWire,
  CENTS_MAX,
  type Cents,
  cents,
  type ShareUnits,
  shareFromWire,
  shareRoundedDown,
} from '../../kernel/cents.ts'
import { type AccountId, type AccountUuid, uuidFromWire } from '../../kernel/ids.ts'
import { type Fault, fault, isObject } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { AccountTerms, LinkedRecipient } from '../account/index.ts'

export const settlements = ['PENDING', 'PROCESSING', 'SETTLED', 'FAILED'] as const
/** How far the credit of a leg has come. */
export type Settlement = (typeof settlements)[number]

/** A leg whose fields are right: one of amount and share is null. */
export type AskedLeg = {
  readonly recipientUuid: AccountUuid
  readonly amount: Cents | null
  readonly share: ShareUnits | null
  readonly externalReference: string | null
}

/** A leg in cents, with its recipient. */
export type ResolvedLeg = AskedLeg & { readonly amount: Cents; readonly recipient: LinkedRecipient }

/** What of a checkout cannot go together with a split. */
export type SplitCompany = {
  readonly paymentMethod: string
  readonly recurrence: boolean
  readonly scheduled: boolean
  readonly sellersTransactions: boolean
  readonly taxData: boolean
}

export type SplitRequest = SplitCompany & { readonly split: unknown }

const whole = (code: string): Fault => fault('split', code)
const taxDataFault = fault('taxData', 'is not supported together with split', 'taxData.unsupportedSaleType')

type SplitAccount = Pick<AccountTerms, 'splitEnabled' | 'splitRecipientsMax'>

/** Checks of the whole, in the order of the contract's table: the first that fails is the answer. */
const wholeChecks: readonly ((request: SplitRequest, account: SplitAccount) => Fault | false)[] = [
  (_, { splitEnabled }) => !splitEnabled && whole('split.notEnabled'),
  ({ paymentMethod }) => paymentMethod !== 'PIX' && whole('split.unsupportedPaymentMethod'),
  ({ recurrence }) => recurrence && whole('split.unsupportedRecurrence'),
  ({ scheduled }) => scheduled && whole('split.unsupportedSchedule'),
  ({ sellersTransactions }) => sellersTransactions && whole('split.contractConflict'),
  ({ taxData }) => taxData && taxDataFault,
  ({ split }) => (!Array.isArray(split) || split.length === 0) && whole('split.valueRequired'),
  ({ split }, { splitRecipientsMax }) =>
    (split as unknown[]).length > splitRecipientsMax && whole('split.tooManyRecipients'),
]

export function wholeFault(request: SplitRequest, account: SplitAccount): Fault | undefined {
  for (const check of wholeChecks) {
    const found = check(request, account)
    if (found) return found
  }
  return undefined
}

const EXTERNAL_REFERENCE_MAX = 100
const BEYOND_ANY_CHARGE = /^\d{11,}(\.\d{1,2})?$/

/** The recipients that the legs name, as far as they can be read: what has to be looked up. */
export function namedRecipients(split: unknown): AccountUuid[] {
  return (Array.isArray(split) ? split : []).flatMap((leg) => recipientUuidOf(leg) ?? [])
}

const recipientUuidOf = (leg: unknown): AccountUuid | undefined => {
  const id = isObject(leg) ? leg['recipientId'] : undefined
  return typeof id === 'string' ? uuidFromWire<AccountUuid>(id.trim()) : undefined
}

export type SplitSale = {
  readonly amount: Cents
  readonly fee: Cents
  readonly parent: { readonly id: AccountId; readonly uuid: AccountUuid }
  readonly find: (uuid: AccountUuid) => LinkedRecipient | undefined
}

/** All broken legs together; then what is wrong with their sum. */
export function resolveLegs(
  split: readonly unknown[],
  sale: SplitSale,
): Result<readonly ResolvedLeg[], readonly Fault[]> {
  const faults: Fault[] = []
  const seen = new Set<AccountUuid>()
  const legs = split.map((leg, index) => resolveLeg(isObject(leg) ? leg : {}, `split[${index}]`, sale, seen, faults))
  if (faults.length > 0) return refuse(faults)
  const resolved = legs as ResolvedLeg[]
  const shared = splitTotal(resolved)
  if (shared > sale.amount) return refuse([whole('split.sumExceedsAmount')])
  if (sale.amount - shared < sale.fee) return refuse([whole('split.parentAmountInsufficientForFees')])
  return ok(resolved)
}

export const splitTotal = (legs: readonly { readonly amount: Cents }[]): Cents =>
  cents(legs.reduce((sum, leg) => sum + leg.amount, 0))

function resolveLeg(
  leg: Record<string, unknown>,
  path: string,
  sale: SplitSale,
  seen: Set<AccountUuid>,
  faults: Fault[],
): ResolvedLeg | undefined {
  const before = faults.length
  const recipient = readRecipient(leg, `${path}.recipientId`, sale, seen, faults)
  const value = readValue(leg, path, sale.amount, faults)
  const externalReference = readReference(leg['externalReference'], `${path}.externalReference`, faults)
  if (faults.length > before) return undefined
  return { recipientUuid: recipient!.uuid, recipient: recipient!, ...value!, externalReference }
}

function readRecipient(
  leg: Record<string, unknown>,
  field: string,
  { parent, find }: SplitSale,
  seen: Set<AccountUuid>,
  faults: Fault[],
): LinkedRecipient | undefined {
  const uuid = recipientUuidOf(leg)
  const recipient = uuid && find(uuid)
  const repeated = uuid !== undefined && seen.has(uuid)
  if (uuid !== undefined) seen.add(uuid)
  const broken =
    uuid === parent.uuid
      ? 'split.recipientEqualsParent'
      : recipient === undefined
        ? 'split.recipientNotFound'
        : !recipient.active
          ? 'split.recipientInactive'
          : repeated
            ? 'split.duplicateRecipient'
            : undefined
  if (broken) faults.push(fault(field, broken))
  return recipient
}

/** Exactly one of amount and percentage; a percentage is of the whole and rounded down. */
function readValue(leg: Record<string, unknown>, path: string, whole: Cents, faults: Fault[]) {
  const [amountField, percentageField] = [`${path}.amount`, `${path}.percentage`]
  const { amount = null, percentage = null } = leg
  if (amount === null && percentage === null) return void faults.push(fault(amountField, 'split.valueRequired'))
  if (amount !== null && percentage !== null) return void faults.push(fault(amountField, 'split.valueConflict'))
  if (amount !== null) {
    const read = amountFromWire(amount)
    // More than any charge can be is not too low: the sum of the legs says so.
    if (!read.ok && BEYOND_ANY_CHARGE.test(String(amount))) return { amount: cents(CENTS_MAX + 1), share: null }
    if (!read.ok) return void faults.push(fault(amountField, 'split.amountTooLow'))
    return { amount: read.value, share: null }
  }
  const share = shareFromWire(percentage)
  if (!share) return void faults.push(fault(percentageField, 'split.percentageOutOfRange'))
  const resolved = shareRoundedDown(whole, share)
  if (resolved < 1) return void faults.push(fault(percentageField, 'split.amountTooLow'))
  return { amount: resolved, share }
}

/** Control characters go, the ends are trimmed, and then it is measured. Nothing left is nothing sent. */
function readReference(value: unknown, field: string, faults: Fault[]): string | null {
  if (value === undefined || value === null) return null
  const clean = typeof value === 'string' ? value.replace(/\p{Cc}/gu, '').trim() : undefined
  if (clean !== undefined && [...clean].length <= EXTERNAL_REFERENCE_MAX) return clean === '' ? null : clean
  faults.push(fault(field, 'split.externalReferenceTooLong'))
  return null
}

/** Can the legs of a sale that is renewed still be credited? Their amounts stay as they were. */
export function renewalFaults(
  legs: readonly { readonly recipientUuid: AccountUuid }[],
  find: (uuid: AccountUuid) => LinkedRecipient | undefined,
): readonly Fault[] {
  return legs.flatMap(({ recipientUuid }, index) => {
    const recipient = find(recipientUuid)
    const field = `split[${index}].recipientId`
    if (recipient === undefined) return [fault(field, 'split.recipientNotFound')]
    return recipient.active ? [] : [fault(field, 'split.recipientInactive')]
  })
}

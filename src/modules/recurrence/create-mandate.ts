import { dayOf, hourOf, type Instant } from '../../kernel/calendar.ts'
import { cents } from '../../kernel/cents.ts'
import type { AccountId, MandateId, NumberId, PlanId, SaleId } from '../../kernel/ids.ts'
import type { Fault } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { txidOf } from '../../kernel/txid.ts'
import { statement, type Transaction } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { NumberBlocks } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { MandateToOpen, OpenedMandate, Rail } from '../../rail/rail.ts'
import { type AccountTerms, accountNow, feeFor, findAccountTerms } from '../account/index.ts'
import { addChargeSalesCte, chargeOf, countSalesCte, expiryOf, type Sale } from '../sale/index.ts'
import { dueOfMandate } from './change.ts'
import { type Mandate, TURNS_BEFORE } from './mandate.ts'
import { findPlan } from './plan.store.ts'
import { planIdFromWire } from './plan.ts'
import { type MandateTerms, type RecurrenceRequest, settleTerms } from './recurrence-checkout.ts'

export type CreateMandateContext = {
  readonly tx: Transaction
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
  readonly rail: Rail
  readonly now: Instant
}

export type CreatedMandate = {
  readonly mandate: Mandate
  /** The sale that is paid with the authorization; it has the mandate's id. */
  readonly sale: Sale | null
  readonly opened: OpenedMandate
}

export async function createMandate(
  { tx, ids, numbers, rail, now }: CreateMandateContext,
  accountId: AccountId,
  request: RecurrenceRequest,
): Promise<Result<CreatedMandate, readonly Fault[]>> {
  const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
  const at = accountNow(account, now)
  const planId = planIdFromWire(request.recurrence.planId)
  const plan = planId && (await findPlan(tx, accountId, planId))
  const settled = settleTerms(request, plan, at)
  if (!settled.ok) return refuse(settled.refusal)
  const terms = settled.value
  const [number, saleNumber] = (await numbers.take(2)) as [NumberId, NumberId]
  const draft = { ...mandateFrom(terms, { accountId, planId: plan!.id, number, at }), id: ids.uuidAt(at) as MandateId }
  const sale = terms.payNow === null ? null : firstSale(draft, terms.payNow, saleNumber, account)
  const [opened] = await rail.openMandates([mandateToOpen(draft, sale, account, ids.alphanumeric(11))])
  const mandate: Mandate = { ...draft, idRec: opened!.idRec }
  await insertMandate(tx, mandate, sale)
  return ok({ mandate, sale, opened: opened! })
}

type Draft = Omit<Mandate, 'idRec'>
type Origin = { accountId: AccountId; planId: PlanId; number: NumberId; at: Instant }

function mandateFrom(
  { payNow: _, maxAgeMinutes, ...terms }: MandateTerms,
  { accountId, planId, number, at }: Origin,
): Omit<Draft, 'id'> {
  return {
    ...terms,
    accountId,
    number,
    planId,
    version: 0,
    turns: 0,
    state: 'CREATED',
    oneOff: null,
    nextCycle: null,
    openCharges: 0,
    payer: { document: terms.shopper.document!.number, name: terms.shopper.name, ispb: null },
    createdAt: at,
    updatedAt: at,
    expiresAt: expiryOf(at, maxAgeMinutes),
    approvedAt: null,
  }
}

function firstSale(mandate: Draft, amount: Sale['amount'], number: NumberId, account: AccountTerms): Sale {
  return {
    accountId: mandate.accountId,
    id: mandate.id as string as SaleId,
    number,
    amount,
    fee: feeFor(amount, account.pixFee),
    createdAt: mandate.createdAt,
    expiresAt: mandate.expiresAt,
    paidAt: null,
    renewals: 0,
    state: 'PENDING',
    endToEnd: null,
    referenceCode: mandate.referenceCode,
    callbackUrl: mandate.callbackUrl,
    shopper: mandate.shopper,
    legs: 0,
    splitTotal: cents(0),
    refunded: cents(0),
    parentId: null,
    settlement: null,
    mandateId: mandate.id,
    chargeId: null,
  }
}

/** What the rail knows a mandate by before it has an idRec. */
export const referenceOfMandate = ({ accountId, id }: Pick<Mandate, 'accountId' | 'id'>) =>
  txidOf({ accountId, saleId: id as string as SaleId, renewals: 0 })

export const mandateToOpen = (
  mandate: Draft,
  sale: Sale | null,
  account: Pick<AccountTerms, 'name' | 'city'>,
  suffix: string,
): MandateToOpen => ({
  reference: referenceOfMandate(mandate),
  suffix,
  retries: mandate.retries,
  createdOn: dayOf(mandate.createdAt),
  charge: sale && chargeOf(sale, account),
  merchantName: account.name,
  merchantCity: account.city,
})

const insertSql = statement(
  'mandate_insert',
  `with added as (
     insert into mandate (account_id, id, number, id_rec, plan_id, state, value_type, amount_cents, minimum_cents, periodicity, initial_date,
       final_date, last_cycle, retries, immediate, reference_code, callback_url, shopper, payer_document, payer_name, created_at, updated_at,
       expires_at)
     values ($1, $2, $3, $4, $5, 'CREATED', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17::json, $18, $19, $20, $20, $21)
   ), named as (
     insert into mandate_rec (id_rec, account_id, mandate_id) values ($4, $1, $2)
   ), due as (
     insert into recurrence_due (account_id, id, kind, due_at) values ($1, $2, $22, $23)
   ), first_sale as materialized (
     select $1::bigint as account_id, $2::uuid as sale_id, $24::bigint as number, null::uuid as charge_id, $25::bigint as amount,
       $26::bigint as fee, $27::float8 as created_ms, $28::float8 as expires_ms, $29::integer as hour, $2::uuid as mandate_id,
       $15::text as reference_code, $16::text as callback_url, $17::json as shopper, ${TURNS_BEFORE.firstPayment} as turns
     where $24::bigint is not null
   ), sold as (${addChargeSalesCte('first_sale')}
   ), sales_counted as (${countSalesCte([
     'select account_id, hour, 1 as pending, 0 as paid, 0 as cancelled, 0 as processed from first_sale',
   ])}
   )
   update plan set mandates = mandates + 1 where account_id = $1 and id = $5`,
)

async function insertMandate(tx: Transaction, mandate: Mandate, sale: Sale | null): Promise<void> {
  const due = dueOfMandate(mandate)!
  await tx.query(insertSql, [
    mandate.accountId,
    mandate.id,
    mandate.number,
    mandate.idRec,
    mandate.planId,
    mandate.valueType,
    mandate.amount,
    mandate.minimum,
    mandate.periodicity,
    mandate.initialDate,
    mandate.finalDate,
    mandate.lastCycle,
    mandate.retries,
    mandate.immediate,
    mandate.referenceCode,
    mandate.callbackUrl,
    JSON.stringify(mandate.shopper),
    mandate.payer.document,
    mandate.payer.name,
    sqlTime(mandate.createdAt),
    sqlTime(mandate.expiresAt),
    due.kind,
    sqlTime(due.at),
    sale?.number ?? null,
    sale?.amount ?? null,
    sale?.fee ?? null,
    sale?.createdAt ?? null,
    sale?.expiresAt ?? null,
    sale && hourOf(sale.createdAt),
  ])
}

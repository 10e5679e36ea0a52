import type pg from 'pg'
import { type CalendarDay, dayOf, type Instant, plusDays, startOfDay } from '../../src/kernel/calendar.ts'
import type { Cents, ShareUnits } from '../../src/kernel/cents.ts'
import type { AccountId, IdRec, MandateId, NumberId, PlanId } from '../../src/kernel/ids.ts'
import { dueOfCharge } from '../../src/modules/recurrence/change.ts'
import { type Charge, changing, collectionAt, type Mandate } from '../../src/modules/recurrence/index.ts'
import { sqlTime } from '../../src/platform/database/sql-values.ts'
import { systemRandomIds } from '../../src/platform/random-ids.ts'
import { SANDBOX_ISPB } from '../../src/rail/sandbox/sandbox-rail.ts'
import { copyRows } from './copy-rows.ts'

/** A mandate that was given long ago and whose first charge waits for its registration. */
export type GivenMandate = {
  readonly accountId: AccountId
  readonly planId: PlanId
  readonly firstDue: CalendarDay
  readonly amount: Cents
  readonly retries: boolean
  readonly referenceCode: string
}
export type LoadedMandate = { readonly mandate: Mandate; readonly charge: Charge }

/** The last day whose charges are all to be collected by now: today, or yesterday before the hour of collection. */
export const lastCollectionDay = (now: Instant): CalendarDay =>
  collectionAt(dayOf(now)) < now ? dayOf(now) : plusDays(dayOf(now), -1)

/** Longer ago than notifications are kept: that it was approved has been told and forgotten. */
const APPROVED_DAYS_BEFORE = 160
const NUMBERS_EACH = 2
const ids = systemRandomIds()
const plan = { title: 'Mensal', description: null, recurrenceAmount: 100 as Cents }
const account = { pixFee: { share: 0 as ShareUnits, fixed: 0 as Cents } }

/** As the service leaves it: the approval is decided by the code that decides all of them. */
function approved(given: GivenMandate, numbers: NumberId[]): LoadedMandate {
  const at = startOfDay(plusDays(given.firstDue, -APPROVED_DAYS_BEFORE))
  const shopper = {
    id: '7',
    name: 'Maria da Silva',
    email: 'maria@example.com',
    document: { type: 'CPF', number: '52998224725' },
  }
  const { firstDue, ...terms } = given
  const mandate: Mandate = {
    ...terms,
    id: ids.uuidAt(at) as MandateId,
    number: numbers.pop()!,
    idRec:
      `R${given.retries ? 'R' : 'N'}${SANDBOX_ISPB}${dayOf(at).replaceAll('-', '')}${ids.alphanumeric(11)}` as IdRec,
    version: 0,
    turns: 0,
    state: 'APPROVING',
    valueType: 'FIXED',
    minimum: null,
    oneOff: null,
    periodicity: 'MONTHLY',
    initialDate: firstDue,
    finalDate: null,
    lastCycle: null,
    immediate: false,
    nextCycle: null,
    openCharges: 0,
    callbackUrl: null,
    shopper,
    payer: { document: shopper.document.number, name: shopper.name, ispb: null },
    createdAt: at,
    updatedAt: at,
    expiresAt: at,
    approvedAt: null,
  }
  const work = changing(
    { mandate, plan, charges: [] },
    { at, account, newId: ids.uuidAt, nextNumber: () => numbers.pop()! },
  )
  work.move('approve', { ...mandate.payer, ispb: SANDBOX_ISPB })
  const change = work.change()
  return { mandate: change.mandate, charge: change.newCharges[0]! }
}

/** Straight into the tables, with the numbers and the plans' counts that go with them. */
export async function loadMandates(client: pg.Client, given: readonly GivenMandate[]): Promise<LoadedMandate[]> {
  const { rows } = await client.query<{ first: number }>(
    'update number_block set next_number = next_number + $1 returning next_number - $1 as first',
    [given.length * NUMBERS_EACH],
  )
  const first = rows[0]!.first
  const loaded = given.map((one, index) => {
    const number = first + index * NUMBERS_EACH
    return approved(one, [number + 1, number] as NumberId[])
  })
  await copyRows(
    client,
    `mandate (account_id, id, number, id_rec, plan_id, version, turns, state, value_type, amount_cents, periodicity, initial_date,
      retries, immediate, next_cycle, open_charges, reference_code, shopper, payer_document, payer_name, payer_ispb, created_at,
      updated_at, expires_at, approved_at)`,
    loaded.map(({ mandate }) => mandateRow(mandate)),
  )
  await copyRows(
    client,
    'mandate_rec (id_rec, account_id, mandate_id)',
    loaded.map(({ mandate }) => [mandate.idRec, mandate.accountId, mandate.id]),
  )
  await copyRows(
    client,
    'charge (account_id, id, number, mandate_id, cycle, state, due_date, created_at)',
    loaded.map(({ charge }) => chargeRow(charge)),
  )
  await copyRows(
    client,
    'recurrence_due (account_id, id, kind, due_at)',
    loaded.map(({ mandate, charge }) => {
      const due = dueOfCharge(charge, mandate)!
      return [charge.accountId, charge.id, due.kind, sqlTime(due.at)]
    }),
  )
  await client.query(
    `update plan p set mandates = p.mandates + m.n
     from (select account_id, id, count(*) as n from unnest($1::bigint[], $2::text[]) as t(account_id, id) group by 1, 2) m
     where p.account_id = m.account_id and p.id = m.id`,
    [given.map(({ accountId }) => accountId), given.map(({ planId }) => planId)],
  )
  return loaded
}

const mandateRow = (mandate: Mandate) => [
  mandate.accountId,
  mandate.id,
  mandate.number,
  mandate.idRec,
  mandate.planId,
  mandate.version,
  mandate.turns,
  mandate.state,
  mandate.valueType,
  mandate.amount,
  mandate.periodicity,
  mandate.initialDate,
  mandate.retries,
  mandate.immediate,
  mandate.nextCycle,
  mandate.openCharges,
  mandate.referenceCode,
  JSON.stringify(mandate.shopper),
  mandate.payer.document,
  mandate.payer.name,
  mandate.payer.ispb,
  sqlTime(mandate.createdAt),
  sqlTime(mandate.updatedAt),
  sqlTime(mandate.expiresAt),
  sqlTime(mandate.approvedAt!),
]

const chargeRow = (charge: Charge) => [
  charge.accountId,
  charge.id,
  charge.number,
  charge.mandateId,
  charge.cycle,
  charge.state,
  charge.dueDate,
  sqlTime(charge.createdAt),
]

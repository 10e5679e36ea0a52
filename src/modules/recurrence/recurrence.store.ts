import type { CalendarDay, Instant } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, ChargeId, EndToEndId, IdRec, MandateId, NumberId, PlanId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement, type Transaction } from '../../platform/database/database.ts'
import type { Shopper } from '../sale/index.ts'
import type { Recurrence, RecurrenceOfCharge } from './change.ts'
import type { Charge, ChargeState } from './charge.ts'
import type { Periodicity } from './cycle.ts'
import type { Mandate, MandateState, ValueType } from './mandate.ts'

export type MandateRow = {
  m_account_id: number
  m_id: string
  m_number: number
  m_id_rec: string
  m_plan_id: string
  m_version: number
  m_turns: number
  m_state: MandateState
  m_value_type: ValueType
  m_amount_cents: number | null
  m_minimum_cents: number | null
  m_one_off_cents: number | null
  m_periodicity: Periodicity
  m_initial_date: string
  m_final_date: string | null
  m_last_cycle: number | null
  m_retries: boolean
  m_immediate: boolean
  m_next_cycle: number | null
  m_open_charges: number
  m_reference_code: string
  m_callback_url: string | null
  m_shopper: string
  m_payer_document: string
  m_payer_name: string
  m_payer_ispb: string | null
  m_created_at: Instant
  m_updated_at: Instant
  m_expires_at: Instant
  m_approved_at: Instant | null
  p_title: string
  p_description: string | null
  p_recurrence_cents: number
}

const days = new Set(['initial_date', 'final_date', 'due_date'])
const prefixed = (prefix: string, names: readonly string[]) =>
  names.map((name) => `${prefix}.${name}${days.has(name) ? '::text' : ''} as ${prefix}_${name}`).join(', ')

/** Of a mandate `m` and its plan `p`. */
export const mandateColumns = `${prefixed('m', [
  'account_id',
  'id',
  'number',
  'id_rec',
  'plan_id',
  'version',
  'turns',
  'state',
  'value_type',
  'amount_cents',
  'minimum_cents',
  'one_off_cents',
  'periodicity',
  'initial_date',
  'final_date',
  'last_cycle',
  'retries',
  'immediate',
  'next_cycle',
  'open_charges',
  'reference_code',
  'callback_url',
  'shopper',
  'payer_document',
  'payer_name',
  'payer_ispb',
  'created_at',
  'updated_at',
  'expires_at',
  'approved_at',
])}, ${prefixed('p', ['title', 'description', 'recurrence_cents'])}`

export const mandateFromRow = (row: MandateRow): Mandate => ({
  accountId: row.m_account_id as AccountId,
  id: row.m_id as MandateId,
  number: row.m_number as NumberId,
  idRec: row.m_id_rec as IdRec,
  planId: row.m_plan_id as PlanId,
  version: row.m_version,
  turns: row.m_turns,
  state: row.m_state,
  valueType: row.m_value_type,
  amount: row.m_amount_cents as Cents | null,
  minimum: row.m_minimum_cents as Cents | null,
  oneOff: row.m_one_off_cents as Cents | null,
  periodicity: row.m_periodicity,
  initialDate: row.m_initial_date as CalendarDay,
  finalDate: row.m_final_date as CalendarDay | null,
  lastCycle: row.m_last_cycle,
  retries: row.m_retries,
  immediate: row.m_immediate,
  nextCycle: row.m_next_cycle,
  openCharges: row.m_open_charges,
  referenceCode: row.m_reference_code,
  callbackUrl: row.m_callback_url,
  shopper: JSON.parse(row.m_shopper) as Shopper,
  payer: { document: row.m_payer_document, name: row.m_payer_name, ispb: row.m_payer_ispb },
  createdAt: row.m_created_at,
  updatedAt: row.m_updated_at,
  expiresAt: row.m_expires_at,
  approvedAt: row.m_approved_at,
})

/** A mandate and what its plan says of it. */
export const termsFromRow = (row: MandateRow): Pick<Recurrence, 'mandate' | 'plan'> => ({
  mandate: mandateFromRow(row),
  plan: {
    title: row.p_title,
    description: row.p_description,
    recurrenceAmount: row.p_recurrence_cents as Cents,
  },
})

export type ChargeRow = {
  c_account_id: number
  c_id: string
  c_number: number
  c_mandate_id: string
  c_cycle: number
  c_state: ChargeState
  c_due_date: string
  c_amount_cents: number | null
  c_sale_id: string | null
  c_sale_number: number | null
  c_attempt: number
  c_next_attempt: number | null
  c_end_to_end: string | null
  c_rejection_code: string | null
  c_cancel_reason: string | null
  c_created_at: Instant
}

/** Of a charge `c`. */
export const chargeColumns = prefixed('c', [
  'account_id',
  'id',
  'number',
  'mandate_id',
  'cycle',
  'state',
  'due_date',
  'amount_cents',
  'sale_id',
  'sale_number',
  'attempt',
  'next_attempt',
  'end_to_end',
  'rejection_code',
  'cancel_reason',
  'created_at',
])

export const chargeFromRow = (row: ChargeRow): Charge => ({
  accountId: row.c_account_id as AccountId,
  id: row.c_id as ChargeId,
  number: row.c_number as NumberId,
  mandateId: row.c_mandate_id as MandateId,
  cycle: row.c_cycle,
  state: row.c_state,
  dueDate: row.c_due_date as CalendarDay,
  amount: row.c_amount_cents as Cents | null,
  saleId: row.c_sale_id as SaleId | null,
  saleNumber: row.c_sale_number as NumberId | null,
  attempt: row.c_attempt,
  nextAttempt: row.c_next_attempt,
  endToEnd: row.c_end_to_end as EndToEndId | null,
  rejectionCode: row.c_rejection_code,
  cancelReason: row.c_cancel_reason,
  createdAt: row.c_created_at,
})

const planOf = 'join plan p on p.account_id = m.account_id and p.id = m.plan_id'
export const chargesWithMandates = `charge c join mandate m on m.account_id = c.account_id and m.id = c.mandate_id ${planOf}`
export const mandatesWithPlans = `mandate m ${planOf}`

type ChargeKey = { readonly accountId: AccountId; readonly chargeId: ChargeId }
const ofChargesSql = statement<MandateRow & ChargeRow>(
  'recurrence_of_charges',
  `select ${mandateColumns}, ${chargeColumns}
   from unnest($1::bigint[], $2::uuid[]) as k(account_id, id)
   cross join lateral (select * from charge where account_id = k.account_id and id = k.id offset 0) c
   cross join lateral (select * from mandate where account_id = c.account_id and id = c.mandate_id offset 0) m
   cross join lateral (select * from plan where account_id = m.account_id and id = m.plan_id offset 0) p`,
)

/** Each charge with its mandate; nothing for one that does not exist. */
export async function findRecurrencesOfCharges(
  db: Queryable,
  keys: readonly ChargeKey[],
): Promise<RecurrenceOfCharge[]> {
  if (keys.length === 0) return []
  const rows = await db.query(ofChargesSql, [keys.map((key) => key.accountId), keys.map((key) => key.chargeId)])
  return rows.map((row) => {
    const charge = chargeFromRow(row)
    return { ...termsFromRow(row), charge, charges: [charge] }
  })
}

const ofMandatesSql = statement<MandateRow>(
  'recurrence_of_mandates',
  `select ${mandateColumns} from unnest($1::bigint[], $2::uuid[]) as k(account_id, id) join mandate m using (account_id, id) ${planOf}`,
)
const openChargesSql = statement<ChargeRow>(
  'recurrence_open_charges',
  `select ${chargeColumns} from unnest($1::bigint[], $2::uuid[]) as k(account_id, id)
   join charge c on c.account_id = k.account_id and c.mandate_id = k.id
   where c.state in ('PENDING_SCHEDULE', 'SCHEDULED') or c.next_attempt is not null
   order by c.account_id, c.mandate_id, c.cycle`,
)

export type MandateKey = { readonly accountId: AccountId; readonly mandateId: MandateId }

/** Each mandate with all its open charges, by cycle. */
export async function findRecurrences(db: Queryable, keys: readonly MandateKey[]): Promise<Recurrence[]> {
  if (keys.length === 0) return []
  const values = [keys.map((key) => key.accountId), keys.map((key) => key.mandateId)]
  const [mandates, charges] = await Promise.all([db.query(ofMandatesSql, values), db.query(openChargesSql, values)])
  const open = Map.groupBy(charges.map(chargeFromRow), (charge) => charge.mandateId)
  return mandates.map((row) => ({ ...termsFromRow(row), charges: open.get(row.m_id as MandateId) ?? [] }))
}

const byRecSql = statement<{ account_id: number; mandate_id: string }>(
  'mandate_by_rec',
  'select account_id, mandate_id from unnest($1::text[]) as k(id_rec) join mandate_rec using (id_rec)',
)

/** Whose mandates they are. */
export async function findMandateKeys(db: Queryable, idRecs: readonly string[]): Promise<MandateKey[]> {
  if (idRecs.length === 0) return []
  const rows = await db.query(byRecSql, [idRecs])
  return rows.map((row) => ({ accountId: row.account_id as AccountId, mandateId: row.mandate_id as MandateId }))
}

const lockSql = statement('mandate_lock', 'select id from mandate where account_id = $1 and id = $2 for no key update')

/** Nobody else changes the mandate or its charges until the transaction ends. */
export async function lockMandate(tx: Transaction, { accountId, mandateId }: MandateKey): Promise<boolean> {
  return (await tx.query(lockSql, [accountId, mandateId])).length === 1
}

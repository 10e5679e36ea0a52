import { hourOf, type Instant } from '../../kernel/calendar.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { NotificationSettings } from '../account/index.ts'
import {
  addNotificationsCte,
  notificationFor,
  type Outbox,
  type Outgo,
  outgoColumns,
  outgoRows,
  queueNotificationsCte,
} from '../notification/index.ts'
import { addChargeSalesCte, cancelChargeSalesCte, countSalesCte } from '../sale/index.ts'
import type { Change } from './change.ts'

/** A change and where its account wants to be told. */
export type ToWrite = { readonly change: Change; readonly settings: NotificationSettings }
export type WriteContext = { readonly ids: RandomIds; readonly outbox: Outbox; readonly now: Instant }

/** A part of a statement with a parameter for each value: `$1::uuid[]`, numbered from wherever the part begins. */
const arrays = (first: number, types: readonly string[]): string =>
  types.map((type, index) => `$${first + index}::${type}[]`).join(', ')

const mandateTypes = [
  'bigint',
  'uuid',
  'integer',
  'text',
  'bigint',
  'integer',
  'integer',
  'integer',
  'float8',
  'float8',
  'text',
  'text',
  'text',
]
const chargeTypes = [
  'integer',
  'boolean',
  'uuid',
  'bigint',
  'integer',
  'text',
  'date',
  'bigint',
  'uuid',
  'bigint',
  'integer',
  'integer',
  'text',
  'text',
  'text',
  'float8',
]
const dueTypes = ['integer', 'uuid', 'text', 'float8']
const saleTypes = ['integer', 'uuid', 'bigint', 'uuid', 'bigint', 'bigint', 'float8', 'float8', 'integer']
const cancelledTypes = ['integer', 'uuid']
const turnTypes = ['uuid', 'integer', 'uuid']

const MANDATES = 1
const CHARGES = MANDATES + mandateTypes.length
const DUES = CHARGES + chargeTypes.length
const SALES = DUES + dueTypes.length
const CANCELLED = SALES + saleTypes.length
const TURNS = CANCELLED + cancelledTypes.length
const NOW = TURNS + turnTypes.length
const OUTGO = NOW + 1
/** The first parameter that a larger statement has for itself. */
export const AFTER_CHANGES = OUTGO + 8

const at = (ms: string) => `to_timestamp(${ms} / 1000)`

/** The changes of a batch; `ord` is a change's place in it, from 1. */
export const changesInput = `
  select * from unnest(${arrays(MANDATES, mandateTypes)})
    with ordinality as t(account_id, id, version, state, one_off, next_cycle, open_charges, turns, updated_ms, approved_ms,
      payer_document, payer_name, payer_ispb, ord)`

// What belongs to a change is found by its place in the batch. How large a batch is nobody knows when the statement is
// planned, and a plain join of two of them would compare each row with each. So they are joined in full, which cannot be
// done that way, and whatever has no other half is left out by whoever reads the rows.

/** The changes of `input` whose mandate still has the version they were decided on: of one mandate the first only. */
export const winnersCtes = (input: string): string => `
  held_mandates as materialized (
    select m.* from (select distinct account_id, id from ${input} order by account_id, id) i cross join lateral (
      select account_id, id, version as held_version from mandate
      where account_id = i.account_id and id = i.id for no key update) m
  ), compared as materialized (
    select * from ${input} full join held_mandates using (account_id, id)
  ), winners as materialized (
    select distinct on (account_id, id) * from compared where held_version = version order by account_id, id, ord
  )`

/**
 * Writes them. Whoever has a lease keeps it while the same is due as before: the bank is not asked by two. A larger statement says in
 * `deltas` what it counts of sales besides.
 */
export const writeWinnersCtes = (deltas: readonly string[] = []): string => `
  mandates_moved as (
    update mandate m set version = m.version + 1, state = w.state, one_off_cents = w.one_off, next_cycle = w.next_cycle,
      open_charges = w.open_charges, turns = w.turns, updated_at = ${at('w.updated_ms')}, approved_at = ${at('w.approved_ms')},
      payer_document = w.payer_document, payer_name = w.payer_name, payer_ispb = w.payer_ispb
    from winners w where m.account_id = w.account_id and m.id = w.id
  ), charge_rows as materialized (
    select c.*, w.account_id, w.id as mandate_id from unnest(${arrays(CHARGES, chargeTypes)})
      as c(ord, fresh, charge_id, number, cycle, state, due_date, amount, sale_id, sale_number, attempt, next_attempt,
        end_to_end, rejection_code, cancel_reason, created_ms) full join winners w using (ord)
  ), charges_added as (
    insert into charge (account_id, id, number, mandate_id, cycle, state, due_date, amount_cents, sale_id, sale_number, attempt,
      next_attempt, end_to_end, rejection_code, cancel_reason, created_at)
    select account_id, charge_id, number, mandate_id, cycle, state, due_date, amount, sale_id, sale_number, attempt,
      next_attempt, end_to_end, rejection_code, cancel_reason, ${at('created_ms')}
    from charge_rows where fresh and account_id is not null
  ), charges_moved as (
    update charge c set state = r.state, amount_cents = r.amount, sale_id = r.sale_id, sale_number = r.sale_number,
      attempt = r.attempt, next_attempt = r.next_attempt, end_to_end = r.end_to_end, rejection_code = r.rejection_code,
      cancel_reason = r.cancel_reason
    from charge_rows r where not r.fresh and c.account_id = r.account_id and c.id = r.charge_id
  ), due_rows as materialized (
    select d.*, w.account_id from unnest(${arrays(DUES, dueTypes)}) as d(ord, due_id, kind, due_ms) full join winners w using (ord)
  ), dues_set as (
    insert into recurrence_due as q (account_id, id, kind, due_at)
    select account_id, due_id, kind, ${at('due_ms')} from due_rows where kind is not null and account_id is not null
    on conflict (account_id, id) do update set kind = excluded.kind, due_at = excluded.due_at, leased_until = null
      where q.kind <> excluded.kind or q.due_at <> excluded.due_at
  ), dues_gone as (
    delete from recurrence_due q using due_rows d where d.kind is null and q.account_id = d.account_id and q.id = d.due_id
  ), sale_rows as materialized (
    select s.*, w.account_id, w.id as mandate_id from unnest(${arrays(SALES, saleTypes)})
      as s(ord, sale_id, number, charge_id, amount, fee, created_ms, expires_ms, hour) full join winners w using (ord)
  ), new_sales as materialized (
    select s.*, m.reference_code, m.callback_url, m.shopper, 0 as turns
    from sale_rows s join mandate m on m.account_id = s.account_id and m.id = s.mandate_id where s.sale_id is not null
  ), sales_added as (${addChargeSalesCte('new_sales')}
  ), sales_cancelled as (${cancelChargeSalesCte(`(
    select w.account_id, g.sale_id from unnest(${arrays(CANCELLED, cancelledTypes)}) as g(ord, sale_id) join winners w using (ord)) gone`)}
  ), sales_counted as (${countSalesCte([
    'select account_id, hour, 1 as pending, 0 as paid, 0 as cancelled, 0 as processed from new_sales',
    'select account_id, hour, -1, 0, 1, 0 from sales_cancelled',
    ...deltas,
  ])}
  ), outgoing as materialized (
    select n.*, x.turn, x.also_id, w.account_id, w.id as resource_id from ${outgoRows(OUTGO)}
    full join unnest(${arrays(TURNS, turnTypes)}) as x(notification_id, turn, also_id) using (notification_id)
    full join winners w using (ord)
  ), told as materialized (
    select * from outgoing where notification_id is not null and account_id is not null
  ), notified as (${addNotificationsCte('told')}
  ), queued as (${queueNotificationsCte('told', `$${NOW}`, `$${NOW}`)}
  )`

type Placed = Outgo & { readonly ord: number; readonly turn: number }

/** The parameters of the parts above, and the notifications among them. */
export function changeColumns(
  items: readonly ToWrite[],
  { ids, now }: WriteContext,
): { values: unknown[]; outgoes: Placed[] } {
  const mandates = <Value extends number | string | null>(of: (change: Change) => Value) =>
    items.map(({ change }) => of(change))
  const texts = (of: (change: Change) => string | null) => items.map(({ change }) => of(change))
  const charges = items.flatMap(({ change }, index) => [
    ...change.newCharges.map((charge) => ({ ord: index + 1, fresh: true, charge })),
    ...change.charges.map((charge) => ({ ord: index + 1, fresh: false, charge })),
  ])
  const dues = items.flatMap(({ change }, index) => change.dues.map((due) => ({ ord: index + 1, due })))
  const sales = items.flatMap(({ change }, index) => change.newSales.map((sale) => ({ ord: index + 1, sale })))
  const gone = items.flatMap(({ change }, index) => change.cancelledSales.map((id) => ({ ord: index + 1, id })))
  const outgoes = items.flatMap(({ change, settings }, index): Placed[] =>
    change.news.flatMap((news, place) => {
      const notification = notificationFor(news, settings, () => ids.uuidAt(now))
      return notification
        ? [{ notification, leased: false, ord: index + 1, turn: change.before.turns + place + 1 }]
        : []
    }),
  )
  const values = [
    mandates(({ before }) => before.accountId),
    mandates(({ before }) => before.id),
    mandates(({ before }) => before.version),
    mandates(({ mandate }) => mandate.state),
    mandates(({ mandate }) => mandate.oneOff),
    mandates(({ mandate }) => mandate.nextCycle),
    mandates(({ mandate }) => mandate.openCharges),
    mandates(({ mandate }) => mandate.turns),
    mandates(({ mandate }) => mandate.updatedAt),
    mandates(({ mandate }) => mandate.approvedAt),
    texts(({ mandate }) => mandate.payer.document),
    texts(({ mandate }) => mandate.payer.name),
    texts(({ mandate }) => mandate.payer.ispb),
    charges.map(({ ord }) => ord),
    charges.map(({ fresh }) => fresh),
    charges.map(({ charge }) => charge.id),
    charges.map(({ charge }) => charge.number),
    charges.map(({ charge }) => charge.cycle),
    charges.map(({ charge }) => charge.state),
    charges.map(({ charge }) => charge.dueDate),
    charges.map(({ charge }) => charge.amount),
    charges.map(({ charge }) => charge.saleId),
    charges.map(({ charge }) => charge.saleNumber),
    charges.map(({ charge }) => charge.attempt),
    charges.map(({ charge }) => charge.nextAttempt),
    charges.map(({ charge }) => charge.endToEnd),
    charges.map(({ charge }) => charge.rejectionCode),
    charges.map(({ charge }) => charge.cancelReason),
    charges.map(({ charge }) => charge.createdAt),
    dues.map(({ ord }) => ord),
    dues.map(({ due }) => due.id),
    dues.map(({ due }) => due.next?.kind ?? null),
    dues.map(({ due }) => due.next?.at ?? null),
    sales.map(({ ord }) => ord),
    sales.map(({ sale }) => sale.id),
    sales.map(({ sale }) => sale.number),
    sales.map(({ sale }) => sale.chargeId),
    sales.map(({ sale }) => sale.amount),
    sales.map(({ sale }) => sale.fee),
    sales.map(({ sale }) => sale.createdAt),
    sales.map(({ sale }) => sale.expiresAt),
    sales.map(({ sale }) => hourOf(sale.createdAt)),
    gone.map(({ ord }) => ord),
    gone.map(({ id }) => id),
    outgoes.map(({ notification }) => notification.id),
    outgoes.map(({ turn }) => turn),
    outgoes.map(({ notification }) => notification.alsoId),
    sqlTime(now),
    ...outgoColumns(outgoes),
  ]
  return { values, outgoes }
}

const writeSql = statement<{ ord: number }>(
  'recurrence_write_batch',
  `with input as materialized (${changesInput}
   ), ${winnersCtes('input')}, ${writeWinnersCtes()}
   select ord from winners`,
)

/** Answers the places (from 1) of the changes that took effect; the others were decided on what is no longer so. */
export async function writeChanges(
  db: Queryable,
  context: WriteContext,
  items: readonly ToWrite[],
): Promise<Set<number>> {
  if (items.length === 0) return new Set()
  const { values, outgoes } = changeColumns(items, context)
  const rows = await db.query(writeSql, values)
  const written = new Set(rows.map(({ ord }) => ord))
  tellWritten(context.outbox, outgoes, written)
  return written
}

/** Somebody is to be told: the dispatcher of this process looks right away. */
export function tellWritten(outbox: Outbox, outgoes: readonly Placed[], written: ReadonlySet<number>): void {
  for (const outgo of outgoes) if (written.has(outgo.ord)) outbox.written(outgo, outgo.turn)
}

import { hourOf, type Instant } from '../../kernel/calendar.ts'
import type { AccountId, ChargeId, NumberId } from '../../kernel/ids.ts'
import { chargeOfTxid } from '../../kernel/txid.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import { statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { CollectionNews, MandateNews, PaymentReceived } from '../../rail/rail.ts'
import { type AccountTerms, accountNow, findAccountTerms } from '../account/index.ts'
import { lockBooksCte, type Posting, postingColumns, postLinesCtes } from '../ledger/index.ts'
import {
  AFTER_CHANGES,
  type Changing,
  type Charge,
  changeColumns,
  changesInput,
  changing,
  findMandateKeys,
  findRecurrences,
  findRecurrencesOfCharges,
  hearCollection,
  hearMandate,
  hearPayment,
  type Recurrence,
  type RecurrenceOfCharge,
  type ToWrite,
  tellWritten,
  winnersCtes,
  writeChanges,
  writeWinnersCtes,
} from '../recurrence/index.ts'
import {
  findChargeSales,
  type PayableSaleRecord,
  type PaymentMisfit,
  paySalesCte,
  postingsForPaidCharge,
} from '../sale/index.ts'
import { heardBefore, reverseMisfits } from './apply-payments.ts'
import type { DoorContext, RailEventOutcome } from './door-context.ts'
import { addToInboxCte, contentHash, contentOf, findInboxEntries, setAsideRecurrence } from './inbox.store.ts'

export type RecurrenceEvent = PaymentReceived | MandateNews | CollectionNews
/** The charge that an event is about, where somebody has told how it stands. */
export type Recall = (event: RecurrenceEvent) => RecurrenceOfCharge | undefined
type Outcomes = (RailEventOutcome | typeof DEFERRED)[]

/** News decided: what changes, and the money that came with it. */
type Decided = ToWrite & { readonly index: number; readonly paid: PaidCharge | null }
type PaidCharge = {
  readonly event: PaymentReceived
  readonly sale: PayableSaleRecord
  readonly at: Instant
  readonly postings: readonly Posting[]
}

/** News of mandates and their charges, and payments of those. One mandate's news in one batch: the later ones are deferred. */
export async function applyRecurrenceEvents(
  context: DoorContext,
  events: readonly RecurrenceEvent[],
  recall: Recall = () => undefined,
): Promise<Outcomes> {
  const now = context.clock.now()
  const { db } = context
  const payments = events.filter((event) => event.kind === 'payment')
  const [heard, world] = await Promise.all([findInboxEntries(db, payments), readWorld(context, events, recall, now)])
  const outcomes: Outcomes = []
  const decided: Decided[] = []
  const misfits: {
    index: number
    payment: PaymentReceived
    sale: PayableSaleRecord | undefined
    reason: PaymentMisfit
  }[] = []
  for (const [index, event] of events.entries()) {
    if (event.kind === 'payment') {
      const known = await heardBefore(context, heard, event, now)
      if (known) {
        outcomes[index] = known
        continue
      }
      const found = world.ofCharge(event.txid!)
      const sale = found && world.saleOf(found.charge)
      const work = found && world.change(found)
      const fit = hearPayment(work, found?.charge, event)
      if (fit.ok && work && sale) {
        const { at, account } = world.timeOf(found.mandate.accountId)
        const paid = { event, sale, at, postings: postingsForPaidCharge(sale) }
        decided.push({ index, change: work.change(), settings: account.notifications, paid })
      } else misfits.push({ index, payment: event, sale, reason: fit.ok ? 'UNKNOWN_CHARGE' : fit.refusal })
      continue
    }
    const found = event.kind === 'mandate' ? world.ofMandate(event.idRec) : world.ofCharge(event.txid)
    const work = found && world.change(found)
    const result =
      work === undefined
        ? 'conflict'
        : event.kind === 'mandate'
          ? hearMandate(work, event)
          : hearCollection(work, (found as RecurrenceOfCharge).charge, event)
    if (result === 'changed') {
      const { account } = world.timeOf(found!.mandate.accountId)
      decided.push({ index, change: work!.change(), settings: account.notifications, paid: null })
    } else if (result === 'duplicate') outcomes[index] = { outcome: 'duplicate', of: null }
    else {
      await setAsideRecurrence(db, context.ids.uuidAt(now), event, now)
      context.alarm('the rail contradicts what is known of a recurrence', {
        rail: event.rail,
        kind: event.kind,
        state: event.state,
      })
      outcomes[index] = { outcome: 'conflict' }
    }
  }
  await writeAll(context, decided, now, outcomes)
  const reversed = await reverseMisfits(context, misfits)
  misfits.forEach(({ index }, place) => {
    outcomes[index] = reversed[place]!
  })
  return outcomes
}

async function writeAll(context: DoorContext, decided: readonly Decided[], now: Instant, outcomes: Outcomes) {
  const write = { ids: context.ids, outbox: context.outbox, now }
  const [paying, moving] = [decided.filter(isPaid), decided.filter((item) => !isPaid(item))]
  const settle = (items: readonly Decided[], written: ReadonlySet<number>) =>
    items.forEach(({ index, change, paid }, place) => {
      outcomes[index] = written.has(place + 1)
        ? { outcome: 'applied', accountId: change.before.accountId, saleId: paid?.sale.id ?? null }
        : DEFERRED
    })
  settle(moving, await writeChanges(context.db, write, moving))
  settle(paying, await writePaid(context, paying, now))
}

type Paid = Decided & { readonly paid: PaidCharge }
const isPaid = (item: Decided): item is Paid => item.paid !== null

/** What a batch of news needs to know, read at once. */
async function readWorld(
  { db, ids, numbers }: DoorContext,
  events: readonly RecurrenceEvent[],
  recall: Recall,
  now: Instant,
) {
  const known = events.flatMap((event) => recall(event) ?? [])
  const knownKeys = new Set(known.map(keyOf))
  const chargeKeys = events.flatMap((event) => (event.kind === 'mandate' ? [] : (chargeOfTxid(event.txid!) ?? [])))
  const idRecs = events.flatMap((event) => (event.kind === 'mandate' ? [event.idRec] : []))
  const [read, mandateKeys] = await Promise.all([
    findRecurrencesOfCharges(
      db,
      chargeKeys.filter((key) => !knownKeys.has(keyOfCharge(key))),
    ),
    findMandateKeys(db, idRecs),
  ])
  const ofCharges = [...known, ...read]
  const paid = new Set(events.flatMap((event) => (event.kind === 'payment' ? [event.txid] : [])))
  const saleKeys = ofCharges.flatMap(({ charge: { accountId, saleId } }) => (saleId ? [{ accountId, saleId }] : []))
  const ofMandates = await findRecurrences(db, mandateKeys)
  const accountIds = [...ofCharges, ...ofMandates].map(({ mandate }) => mandate.accountId)
  const [accounts, sales, fresh] = await Promise.all([
    findAccountTerms(db, accountIds),
    paid.size === 0 ? [] : findChargeSales(db, saleKeys),
    numbers.take(events.filter(mayPlan).length),
  ])
  const byCharge = new Map(ofCharges.map((found) => [keyOf(found), found]))
  const byRec = new Map(ofMandates.map((found) => [found.mandate.idRec as string, found]))
  const saleById = new Map(sales.map((sale) => [sale.id, sale]))
  const timeOf = (accountId: AccountId): { account: AccountTerms; at: Instant } => {
    const account = accounts.get(accountId)!
    return { account, at: accountNow(account, now) }
  }
  return {
    timeOf,
    ofCharge(txid: string) {
      const key = chargeOfTxid(txid)
      return key && byCharge.get(keyOfCharge(key))
    },
    ofMandate: (idRec: string) => byRec.get(idRec),
    saleOf: ({ saleId }: Charge) => (saleId === null ? undefined : saleById.get(saleId)),
    change: (recurrence: Recurrence): Changing =>
      changing(recurrence, {
        ...timeOf(recurrence.mandate.accountId),
        newId: ids.uuidAt,
        nextNumber: () => fresh.pop() as NumberId,
      }),
  }
}

const keyOfCharge = ({ accountId, chargeId }: { accountId: AccountId; chargeId: ChargeId }) =>
  `${accountId} ${chargeId}`
const keyOf = ({ charge }: RecurrenceOfCharge) => keyOfCharge({ accountId: charge.accountId, chargeId: charge.id })

/** A mandate that is approved, and a charge that will not be, plan one charge each. */
const mayPlan = (event: RecurrenceEvent): boolean =>
  event.kind === 'mandate' ? event.state === 'APPROVED' : event.kind === 'collection' && event.state === 'CANCELLED'

const PAID = AFTER_CHANGES
const at = (offset: number) => `$${PAID + offset}`

const paySql = statement<{ ord: number }>(
  'door_pay_charges_batch',
  `with input as materialized (${changesInput}
   ), locked_books as materialized (${lockBooksCte('input')}
   ), ready as materialized (
     select * from input where (select count(*) from locked_books) > 0
   ), ${winnersCtes('ready')}, payment_rows as materialized (
     select p.*, w.account_id, 'pay' as effect, null::uuid as reversal_id
     from unnest(${at(0)}::integer[], ${at(1)}::uuid[], ${at(2)}::text[], ${at(3)}::text[], ${at(4)}::text[], ${at(5)}::bytea[], ${at(6)}::text[],
       ${at(7)}::bigint[], ${at(8)}::timestamptz[], ${at(9)}::text[], ${at(10)}::text[], ${at(11)}::text[], ${at(12)}::timestamptz[],
       ${at(13)}::integer[], ${at(14)}::integer[])
       as p(ord, sale_id, rail, kind, end_to_end, content_hash, txid, amount, settled_at, payer_document, payer_name, payer_ispb, event_at,
         hour, created_hour) full join winners w using (ord)
   ), payments as materialized (
     select * from payment_rows where account_id is not null
   ), paid as (${paySalesCte('payments')}
   ), ${writeWinnersCtes([
     'select account_id, created_hour, -1, 1, 0, 0 from paid',
     'select account_id, hour, 0, 0, 0, 1 from paid',
   ])}, heard as (${addToInboxCte('payments', at(15))}
   ), posted as materialized (
     select p.account_id, p.sale_id as source_id, l.code, l.leg, l.debit, l.credit, l.amount, p.event_at, p.hour,
       ${at(15)}::timestamptz as posted_at, p.ord, null::uuid as subject_id
     from unnest(${at(16)}::integer[], ${at(17)}::smallint[], ${at(18)}::smallint[], ${at(19)}::smallint[], ${at(20)}::smallint[], ${at(21)}::bigint[])
       as l(ord, code, leg, debit, credit, amount) full join paid p using (ord)
   ), lines as materialized (
     select * from posted where account_id is not null and amount is not null
   ), ${postLinesCtes('lines')}
   select ord from winners`,
)

/** The charges, their sales, the books and the news, in one statement; answers the places (from 1) of those that were written. */
async function writePaid({ db, ids, outbox }: DoorContext, items: readonly Paid[], now: Instant): Promise<Set<number>> {
  if (items.length === 0) return new Set()
  const { values, outgoes } = changeColumns(items, { ids, outbox, now })
  const events = items.map(({ paid }) => paid.event)
  const lines = postingColumns(items.map(({ paid }) => paid.postings))
  const rows = await db.query(paySql, [
    ...values,
    items.map((_, place) => place + 1),
    items.map(({ paid }) => paid.sale.id),
    events.map((event) => event.rail),
    events.map((event) => event.kind),
    events.map((event) => event.endToEnd),
    events.map((event) => contentHash(contentOf(event))),
    events.map((event) => event.txid),
    events.map((event) => event.amount),
    events.map((event) => event.settledAt),
    events.map((event) => event.payer.document),
    events.map((event) => event.payer.name),
    events.map((event) => event.payer.ispb),
    items.map(({ paid }) => paid.at),
    items.map(({ paid }) => hourOf(paid.at)),
    items.map(({ paid }) => hourOf(paid.sale.createdAt)),
    sqlTime(now),
    lines.ord,
    lines.code,
    lines.leg,
    lines.debit,
    lines.credit,
    lines.amount,
  ])
  const written = new Set(rows.map(({ ord }) => ord))
  tellWritten(outbox, outgoes, written)
  return written
}

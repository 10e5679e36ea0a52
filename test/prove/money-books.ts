import { findViolations } from '../../src/audit.ts'
import { partsOfTxid } from '../../src/kernel/txid.ts'
import type { OutflowOrder } from '../../src/rail/rail.ts'
import type { ReceivedCall } from '../harness/receiver.ts'
import type { Verdict } from './kill-loop.ts'
import { followLines } from './lines.ts'
import type { Asked, End, Entry, Kind, Shop } from './money-journal.ts'
import type { Given } from './money-rail.ts'
import { ask, connectionTo } from './scene.ts'

export type Evidence = {
  readonly folder: string
  /** The rail's. */
  readonly book: string
  readonly shops: readonly Shop[]
  readonly entries: readonly Entry[]
  readonly calls: readonly ReceivedCall[]
}

/** A refund or payout as the database has it, with all that hangs on it. */
type Found = {
  readonly kind: Kind
  readonly account: string
  readonly id: string
  readonly reference: string
  readonly sale: string | null
  readonly end_to_end: string | null
  readonly amount: number
  readonly fee: number
  readonly state: string
  /** How many ends the rail has reported. */
  readonly reports: number
  /** The codes of its lines in the ledger. */
  readonly lines: string
  readonly events: string
}

const foundSql = `
  with request as (
    select 'refund' as kind, r.account_id, r.id, r.reason as reference, r.sale_id as sale, s.end_to_end, r.amount_cents as amount,
      0 as fee, r.state
    from refund r join sale s on s.account_id = r.account_id and s.id = r.sale_id
    union all
    select 'payout', account_id, id, reference_code, null, null, amount_cents, fee_cents, state from payout
  )
  select q.kind, a.uuid as account, q.id, q.reference, q.sale, q.end_to_end, q.amount, q.fee, q.state,
    coalesce(i.n, 0) as reports, coalesce(t.codes, '') as lines, coalesce(n.events, '') as events
  from request q join account a on a.id = q.account_id
    left join (select account_id, outcome_id, count(*) as n from inbox where kind <> 'payment' group by 1, 2) i
      on i.account_id = q.account_id and i.outcome_id = q.id
    left join (select account_id, source_id, string_agg(code::text, ' ' order by code, leg) as codes from transfer group by 1, 2) t
      on t.account_id = q.account_id and t.source_id = q.id
    left join (select account_id, coalesce(also_id, resource_id) as id, string_agg(event, ' ') as events from notification group by 1, 2) n
      on n.account_id = q.account_id and n.id = q.id`

/** Every news of a sale is its payment or a refund that was paid; of a payout, its end. */
const turnsSql = `
  select s.id, s.turns = 1 + (select count(*) from refund r where r.account_id = s.account_id and r.sale_id = s.id and r.state = 'PAID') as right
  from sale s where s.state = 'PAID'
  union all
  select p.id, p.turns = 1 from payout p where p.state <> 'PENDING'`

/** What was told, what is there, what went out and what was heard. */
async function gather({ folder, book, shops, entries, calls }: Evidence) {
  const found = await ask<Found>(folder, foundSql)
  let rules = 0
  const violations = await findViolations(await connectionTo(folder), () => {
    rules += 1
  })
  return {
    shops,
    told: toldBy(entries),
    found,
    byId: new Map(found.map((one) => [one.id, one])),
    byReference: Map.groupBy(found, ({ reference }) => reference),
    turns: await ask<{ id: string; right: boolean }>(folder, turnsSql),
    notifications: await ask<{ id: string }>(folder, 'select id from notification'),
    reversals: await ask<{ id: string }>(folder, 'select id from reversal'),
    aside: await ask<{ rail_id: string }>(folder, 'select rail_id from inbox_conflict'),
    rail: readBook(book),
    heard: hearingsOf(calls),
    audit: { rules, violations },
  }
}
type Seen = Awaited<ReturnType<typeof gather>>
type Rule = { readonly rule: string; readonly seen: number; readonly wrong: readonly string[] }

const requestRules = ({ told, found, byReference }: Seen): Rule[] => [
  {
    rule: 'asked for: answered',
    seen: told.asked.size,
    wrong: [...told.asked.keys()].filter((reference) => !told.answers.has(reference)),
  },
  {
    rule: 'accepted: there once, as it was asked for',
    seen: told.accepted.length,
    wrong: told.accepted
      .filter(([reference, uuid]) => !isAsAsked(told.asked.get(reference)!, uuid, byReference.get(reference) ?? []))
      .map(([reference, uuid]) => `${reference} ${uuid}`),
  },
  {
    rule: 'there: accepted',
    seen: found.length,
    wrong: found
      .filter(({ reference, id }) => told.answers.get(reference) !== id)
      .map(({ reference, id }) => `${reference} ${id}`),
  },
  { rule: 'clients: saw nothing wrong', seen: told.answers.size, wrong: told.wrong },
]

/** Of what its merchant took back, the rail reports only where it had the order already. */
const reportsFit = (one: Parameters<typeof isCancelledByMerchant>[0] & { readonly reports: number }): boolean =>
  isCancelledByMerchant(one) ? one.reports <= 1 : one.reports === 1

const moneyRules = ({ shops, told, found, byId, rail, heard, reversals, aside, audit }: Seen): Rule[] => [
  {
    rule: 'ended, as everybody was told',
    seen: found.length,
    wrong: found.flatMap((one) => endFaults(one, told, heard.ends.get(one.id) ?? [])),
  },
  {
    rule: 'held once, settled once',
    seen: found.length,
    wrong: found
      .filter((one) => one.lines !== linesOf(one) || !reportsFit(one))
      .map(({ kind, id, state, lines, reports }) => `${kind} ${id} is ${state}: lines ${lines}, ${reports} reports`),
  },
  {
    rule: 'given to the rail: one reference, one order',
    seen: rail.orders.size,
    wrong: [...rail.orders].flatMap(([id, orders]) => orderFaults(byId.get(id), id, orders)),
  },
  { rule: 'reports: none set aside', seen: total(found, 'reports'), wrong: aside.map(({ rail_id }) => rail_id) },
  { rule: 'payments: booked once', seen: told.sales.size, wrong: reversals.map(({ id }) => `reversal ${id}`) },
  { rule: 'refunds: no more than the sale', seen: told.sales.size, wrong: overRefunded(found, told) },
  {
    rule: 'balances: to the cent, by the clients',
    seen: shops.length,
    wrong: shops.flatMap((shop) => balanceFaults(shop, told)),
  },
  {
    rule: 'audit: every rule holds',
    seen: audit.rules,
    wrong: audit.violations.map(({ check, count }) => `${check} (${count})`),
  },
]

function newsRules({ shops, found, turns, notifications, heard }: Seen): Rule[] {
  const deaf = new Set(shops.filter(({ told }) => !told).map(({ id }) => id))
  const wanted = (one: Found) => (deaf.has(one.account) ? '' : newsOf(one))
  return [
    {
      rule: 'told: once for each cause',
      seen: found.filter((one) => wanted(one) !== '').length,
      wrong: found
        .filter((one) => one.events !== wanted(one))
        .map(({ kind, id, state, events }) => `${kind} ${id} is ${state}, told: ${events}`),
    },
    {
      rule: 'turns: one for each cause',
      seen: turns.length,
      wrong: turns.filter(({ right }) => !right).map(({ id }) => id),
    },
    {
      rule: 'webhooks: heard, under one id each',
      seen: notifications.length,
      wrong: [
        ...notifications.filter(({ id }) => !heard.ids.has(id)).map(({ id }) => `nobody heard ${id}`),
        ...[...heard.news].filter(([, ids]) => ids.size > 1).map(([id]) => `${id} was told under two ids`),
      ],
    },
  ]
}

const SHOWN_MAX = 3

/** What the clients were told, against the books, the rail's own book, and what their receivers heard. */
export async function verifyMoney(evidence: Evidence): Promise<Verdict> {
  const seen = await gather(evidence)
  const { told, rail, found } = seen
  const rules = [...requestRules(seen), ...moneyRules(seen), ...newsRules(seen)]
  const cancelled = found.filter(isCancelledByMerchant)
  const passed = {
    'done by a try without an answer': told.lost,
    'orders sent again': rail.sent - rail.orders.size,
    'orders the rail did not answer': rail.unanswered,
    'ends refused': evidence.entries.filter(({ what }) => what === 'refusedEnd').length,
    'cancelled with the rail having the order': cancelled.filter(({ id }) => rail.orders.has(id)).length,
  }
  const faults = ({ rule, wrong }: Rule) => [
    ...wrong.slice(0, SHOWN_MAX).map((one) => `${rule}: ${one}`),
    ...(wrong.length > SHOWN_MAX ? [`${rule}: and ${wrong.length - SHOWN_MAX} more`] : []),
  ]
  return {
    tables: [
      ['What it went through', [passed]],
      [
        'What the clients were told, against what is there',
        rules.map(({ rule, seen: count, wrong }) => ({ rule, seen: count, wrong: wrong.length })),
      ],
    ],
    problems: rules.flatMap(faults),
  }
}

/** The witness's journal, by what is looked for. */
function toldBy(entries: readonly Entry[]) {
  const asked = new Map<string, Asked>()
  const answers = new Map<string, string | null>()
  const ends = new Map<string, Set<End>>()
  const refusedEnds = new Map<string, Set<End>>()
  const sales = new Map<string, { account: string; amount: number }>()
  const balances = new Map<string, { available: number; blocked: number }>()
  const wrong: string[] = []
  let lost = 0
  const add = (to: Map<string, Set<End>>, id: string, end: End) => to.set(id, (to.get(id) ?? new Set()).add(end))
  for (const entry of entries) {
    if (entry.what === 'asked') asked.set(entry.reference, entry)
    else if (entry.what === 'answered') {
      answers.set(entry.reference, entry.uuid)
      if (entry.lost) lost += 1
    } else if (entry.what === 'ended') add(ends, entry.uuid, entry.as)
    else if (entry.what === 'refusedEnd') add(refusedEnds, entry.uuid, entry.as)
    else if (entry.what === 'paid') sales.set(entry.sale, entry)
    else if (entry.what === 'balance') balances.set(entry.account, entry)
    else wrong.push(entry.how)
  }
  const accepted = [...answers].filter((one): one is [string, string] => one[1] !== null)
  return { asked, answers, accepted, ends, refusedEnds, sales, balances, wrong, lost }
}
type Told = ReturnType<typeof toldBy>

function isAsAsked(asked: Asked, uuid: string, rows: readonly Found[]): boolean {
  const [row, ...more] = rows
  return (
    row !== undefined &&
    more.length === 0 &&
    row.id === uuid &&
    row.kind === asked.kind &&
    row.account === asked.account &&
    row.sale === asked.sale &&
    row.amount === asked.amount
  )
}

function endFaults({ kind, id, state }: Found, { ends, refusedEnds }: Told, heard: readonly string[]): string[] {
  const said = [...(ends.get(id) ?? []), ...heard]
  const others = said.filter((end) => end !== state)
  const name = `${kind} ${id} is ${state}`
  return [
    ...(state === 'PENDING' || said.length === 0 ? [`${name}, and nobody was told of its end`] : []),
    ...others.map((end) => `${name}, and somebody was told ${end}`),
    ...(refusedEnds.get(id)?.has(state as End) ? [`${name}, and whoever said so was refused`] : []),
  ]
}

const isCancelledByMerchant = ({ kind, state }: Found): boolean => kind === 'payout' && state === 'CANCELLED'

/** By the chart of accounts: held, and then gone out or given back, with its fee. */
function linesOf({ kind, state, fee }: Found): string {
  if (kind === 'refund') return state === 'PAID' ? '30 31' : '30 32'
  const withFee = (lines: string) => lines.split(' ').filter((code) => fee > 0 || (code !== '51' && code !== '54'))
  return withFee(state === 'PAID' ? '50 51 52' : '50 51 53 54').join(' ')
}

const newsOf = ({ kind, state }: Found): string => {
  if (kind === 'refund') return state === 'PAID' ? 'REFUND_PAID' : ''
  return state === 'CANCELLED' ? '' : `PAYOUT_${state}`
}

/** What arrived at the rail, by what it is of. */
function readBook(book: string) {
  const file = followLines<Given>(book)
  const lines = file.fresh()
  file.close()
  const all = lines.flatMap(({ orders }) => orders)
  const unanswered = lines.filter(({ answered }) => !answered).flatMap(({ orders }) => orders).length
  const orders = Map.groupBy(all, ({ reference }): string => partsOfTxid(reference)?.saleId ?? reference)
  return { orders, sent: all.length, unanswered }
}

function orderFaults(of: Found | undefined, id: string, orders: readonly OutflowOrder[]): string[] {
  if (of === undefined) return [`the rail has an order of nothing: ${id}`]
  const contents = new Set(orders.map((order) => JSON.stringify(order)))
  const [order] = orders
  const key = (order!.beneficiary as { bankDetails?: { pixKey?: string } } | null)?.bankDetails?.pixKey ?? null
  const right =
    order!.kind === of.kind.toUpperCase() &&
    order!.amount === of.amount &&
    order!.endToEnd === of.end_to_end &&
    key === (of.kind === 'payout' ? `${of.reference}@example.com` : null)
  return [
    ...(contents.size > 1 ? [`the rail has ${contents.size} orders of ${of.kind} ${id}`] : []),
    ...(right ? [] : [`the rail has another order of ${of.kind} ${id} than was asked for: ${[...contents][0]}`]),
  ]
}

function overRefunded(found: readonly Found[], { sales }: Told): string[] {
  const refunds = Map.groupBy(
    found.filter(({ sale, state }) => sale !== null && state !== 'CANCELLED'),
    ({ sale }) => sale!,
  )
  return [...refunds]
    .filter(([sale, its]) => total(its, 'amount') > (sales.get(sale)?.amount ?? 0))
    .map(([sale]) => `more than sale ${sale} was given back`)
}

const sum = <Item>(items: Iterable<Item>, of: (item: Item) => number): number =>
  [...items].reduce((all, item) => all + of(item), 0)
const total = (found: readonly Found[], of: 'reports' | 'amount'): number => sum(found, (one) => one[of])

/** From the answers alone: what came in, less what was accepted and did not come back. */
function balanceFaults(shop: Shop, { sales, accepted, asked, ends, balances }: Told): string[] {
  const came = sum(sales.values(), ({ account, amount }) => (account === shop.id ? amount - shop.saleFee : 0))
  const went = sum(accepted, ([reference, uuid]) => {
    const { account, kind, amount } = asked.get(reference)!
    if (account !== shop.id || !ends.get(uuid)?.has('PAID')) return 0
    return amount + (kind === 'payout' ? shop.payoutFee : 0)
  })
  const { available, blocked } = balances.get(shop.id) ?? { available: Number.NaN, blocked: Number.NaN }
  if (available === came - went && blocked === 0) return []
  return [`shop ${shop.id} has ${available} and ${blocked} blocked; it should have ${came - went} and 0`]
}

/** Webhooks that arrived, by the refund or payout they tell of. */
function hearingsOf(calls: readonly ReceivedCall[]) {
  const ids = new Set<string>()
  const news = new Map<string, Set<string>>()
  const ends = new Map<string, string[]>()
  for (const { headers, body } of calls) {
    const id = String(headers['webhook-id'])
    ids.add(id)
    const [about, end] = aboutOf(body)
    if (about === undefined) continue
    news.set(about, (news.get(about) ?? new Set()).add(id))
    ends.set(about, [...(ends.get(about) ?? []), end])
  }
  return { ids, news, ends }
}

/** A payout that failed is CANCELLED in its webhook; `success` tells. */
function aboutOf(body: ReceivedCall['body']): [string | undefined, string] {
  if (body.refund) return [body.refund.uuid, body.refund.status]
  return 'success' in body ? [body.uuid, body.success ? 'PAID' : 'FAILED'] : [undefined, '']
}

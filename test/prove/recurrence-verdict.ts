import { findViolations } from '../../src/audit.ts'
import type { AccountId } from '../../src/kernel/ids.ts'
import type { ReceivedCall } from '../harness/receiver.ts'
import { feeOf, isPaid, type Plan, type Planned, toldOf } from './recurrence-plan.ts'
import { ask, connectionTo } from './scene.ts'
import type { Row } from './table.ts'

/** Everything that came of one mandate, without what differs from run to run: ids and the time of day. */
export type Story = {
  readonly mandate: { readonly state: string; readonly version: number; readonly turns: number; readonly open: number }
  readonly charges: readonly ChargeSeen[]
  readonly told: readonly string[]
}
type ChargeSeen = {
  readonly cycle: number
  readonly state: string
  readonly due: string
  readonly amount: number | null
  readonly attempt: number
  readonly next: number | null
  readonly code: string | null
  readonly sales: number
  readonly sale: string | null
  readonly fee: number | null
  readonly payments: number
  readonly lines: number
  readonly waits: string | null
}
export type Seen = {
  readonly stories: ReadonlyMap<string, Story>
  /** Cents, in the order of the accounts. */
  readonly balances: readonly number[]
  readonly reversals: number
  readonly aside: number
  readonly notifications: number
  readonly notArrived: number
  readonly calls: number
  readonly broken: readonly string[]
}

type Named<Value> = Value & { readonly reference: string }

const mandatesSql = `
  select reference_code as reference, state, version, turns, open_charges as open from mandate`

const chargesSql = `
  select m.reference_code as reference, c.cycle, c.state, c.due_date::text as due, c.amount_cents as amount, c.attempt,
    c.next_attempt as next, c.rejection_code as code,
    (select count(*) from sale x where x.account_id = c.account_id and x.charge_id = c.id) as sales, s.state as sale, s.fee_cents as fee,
    (select count(*) from inbox i where i.account_id = c.account_id and i.outcome_id = c.sale_id and i.amount_cents = c.amount_cents) as payments,
    (select count(*) from transfer t where t.account_id = c.account_id and t.source_id = c.sale_id) as lines, d.kind as waits
  from charge c join mandate m on m.account_id = c.account_id and m.id = c.mandate_id
    left join sale s on s.account_id = c.account_id and s.id = c.sale_id
    left join recurrence_due d on d.account_id = c.account_id and d.id = c.id
  order by c.account_id, c.mandate_id, c.cycle`

const toldSql = `
  select m.reference_code as reference, n.payload from notification n join mandate m on m.account_id = n.account_id and m.id = n.resource_id
  order by n.account_id, n.resource_id, n.turn, n.id`

const balancesSql = `
  select available_cr - available_dr as cents from unnest($1::bigint[]) with ordinality as k(account_id, place) join book using (account_id)
  order by place`

export async function lookAt(
  folder: string,
  accounts: readonly AccountId[],
  calls: readonly ReceivedCall[],
): Promise<Seen> {
  const grouped = async <Found extends object>(sql: string) =>
    Map.groupBy(await ask<Named<Found>>(folder, sql), ({ reference }) => reference)
  const mandates = await grouped<Story['mandate']>(mandatesSql)
  const charges = await grouped<ChargeSeen>(chargesSql)
  const told = await grouped<{ payload: string }>(toldSql)
  const plain = <Found extends { reference: string }>({ reference: _, ...rest }: Found) => rest
  const count = async (sql: string) => (await ask<{ n: number }>(folder, sql))[0]!.n
  const notifications = await ask<{ id: string }>(folder, 'select id from notification')
  const arrived = new Set(calls.map(({ headers }) => headers['webhook-id']))
  const violations = await findViolations(await connectionTo(folder))
  return {
    stories: new Map(
      [...mandates].map(([reference, [mandate]]) => [
        reference,
        {
          mandate: plain(mandate!),
          charges: (charges.get(reference) ?? []).map(plain),
          told: (told.get(reference) ?? []).map(({ payload }) => sayOf(JSON.parse(payload))),
        },
      ]),
    ),
    balances: (await ask<{ cents: number }>(folder, balancesSql, [accounts])).map(({ cents }) => cents),
    reversals: await count('select count(*) as n from reversal'),
    aside: await count('select count(*) as n from inbox_conflict'),
    notifications: notifications.length,
    notArrived: notifications.filter(({ id }) => !arrived.has(id)).length,
    calls: calls.length,
    broken: violations.map(({ check, count: n }) => `${check} (${n})`),
  }
}

type Told = { readonly chargeStatus: string; readonly chargeDueDate: string; readonly retryScheduled?: boolean }
const sayOf = ({ chargeStatus, chargeDueDate, retryScheduled }: Told): string =>
  `${chargeDueDate.slice(0, 10)} ${chargeStatus}${retryScheduled ? ' again' : ''}`

/** What must be, by the plan alone; and by a day of which nobody was killed. */
export function judge(plan: Plan, seen: Seen, undisturbed: Seen): { rows: Row[]; problems: string[] } {
  const faults = plan.charges.flatMap((planned) =>
    faultsOf(planned, seen.stories.get(planned.reference)).map((fault) => ({ reference: planned.reference, ...fault })),
  )
  const accounts = plan.charges.reduce((most, { account }) => Math.max(most, account + 1), 0)
  const expected = Array.from({ length: accounts }, (_, account) =>
    plan.charges
      .filter((planned) => planned.account === account && isPaid(planned.fate))
      .reduce((sum, { amount }) => sum + amount - feeOf(amount), 0),
  )
  const wrongBalances = expected.filter((cents, account) => seen.balances[account] !== cents).length
  const differing = [...undisturbed.stories].filter(
    ([reference, story]) => JSON.stringify(seen.stories.get(reference)) !== JSON.stringify(story),
  )
  const of = (kind: Fault['kind']) => faults.filter((fault) => fault.kind === kind).length
  const row = {
    charges: plan.charges.length,
    'to be paid': plan.charges.filter(({ fate }) => isPaid(fate)).length,
    'cycles wrong': of('cycles'),
    'not sold once': of('sale'),
    'not ended as planned': of('end'),
    'not told once each': of('told'),
    'balances wrong': wrongBalances,
    'reversed or set aside': seen.reversals + seen.aside,
    'notifications not arrived': seen.notArrived,
    'calls made twice': seen.calls - seen.notifications,
    'unlike the day without kills': differing.length,
    'audit rules broken': seen.broken.length,
  }
  const problems = [
    ...faults.map(({ reference, says }) => `${reference}: ${says}`),
    ...(wrongBalances > 0 ? [`balances ${seen.balances.join(', ')} instead of ${expected.join(', ')}`] : []),
    ...(seen.reversals > 0 ? [`${seen.reversals} payments were booked twice`] : []),
    ...(seen.aside > 0 ? [`${seen.aside} contradictions were set aside`] : []),
    ...(seen.notArrived > 0 ? [`${seen.notArrived} notifications never arrived`] : []),
    ...(seen.stories.size === plan.charges.length ? [] : [`there are ${seen.stories.size} mandates`]),
    ...differing.map(
      ([reference, story]) =>
        `${reference} is ${JSON.stringify(seen.stories.get(reference))} and without kills ${JSON.stringify(story)}`,
    ),
    ...seen.broken.map((rule) => `audit: ${rule}`),
  ]
  return { rows: [row], problems }
}

type Fault = { readonly kind: 'cycles' | 'sale' | 'end' | 'told'; readonly says: string }

function faultsOf({ fate, amount, firstDue }: Planned, story: Story | undefined): Fault[] {
  if (story === undefined) return [{ kind: 'cycles', says: 'there is no such mandate' }]
  const [first, next, ...more] = story.charges
  const cycles = story.charges.map(({ cycle, state }) => `${cycle} ${state}`).join(', ')
  const state = isPaid(fate) ? 'PAID' : 'FAILED'
  const times = isPaid(fate) ? 1 : 0
  const told = toldOf(fate).map((said) => `${firstDue} ${said}`)
  const isNextRight =
    next?.cycle === 1 && next.state === 'PENDING_SCHEDULE' && next.sales === 0 && next.waits === 'register'
  const checks: readonly (readonly [Fault['kind'], boolean, string])[] = [
    ['cycles', first?.cycle === 0 && isNextRight && more.length === 0, `its cycles are ${cycles}`],
    [
      'sale',
      first?.sales === 1 && first.amount === amount && first.fee === feeOf(amount),
      `sold ${first?.sales} times`,
    ],
    ['end', first?.state === state && first.next === null && first.waits === null, `${first?.state}, not ${state}`],
    ['end', first?.sale === (isPaid(fate) ? 'PAID' : 'CANCELLED'), `its sale is ${first?.sale}`],
    ['end', first?.payments === times && first.lines === 2 * times, `paid ${first?.payments} times`],
    ['told', story.told.join() === told.join(), `told ${story.told.join(', ')} instead of ${told.join(', ')}`],
    // One more than there are here: that it was approved was told before.
    ['told', story.mandate.turns === told.length + 1, `${story.mandate.turns} turns`],
    ['cycles', story.mandate.state === 'APPROVED' && story.mandate.open === 1, `open charges: ${story.mandate.open}`],
  ]
  return checks.filter(([, holds]) => !holds).map(([kind, , says]) => ({ kind, says }))
}

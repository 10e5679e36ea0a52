import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type CalendarDay, HOUR_MS, plusDays, startOfDay } from '../../src/kernel/calendar.ts'
import type { Cents } from '../../src/kernel/cents.ts'
import type { AccountId, PlanId } from '../../src/kernel/ids.ts'
import { chargeTxidOf } from '../../src/kernel/txid.ts'
import { type ApiClient, apiClient } from '../harness/api-client.ts'
import { loadMandates } from '../harness/mandate-rows.ts'
import { type ReceivedCall, startReceiver } from '../harness/receiver.ts'
import { credentialHeaders, type RunningService, registerAccounts, startService } from '../harness/running-service.ts'
import { untilAnswered } from './client.ts'
import { kill, type Target } from './kill-loop.ts'
import { AHEAD_ACCOUNTS, failsAt, type Plan, type Planned, PRESENT_ACCOUNTS } from './recurrence-plan.ts'
import { ask, connect } from './scene.ts'
import type { Row } from './table.ts'

const PORT = 18_484
const SIMULATOR = '/v1.1/pix-automatic/sandbox/sim/collection'
/** Far away: nobody takes up what is leased until then. */
const PARKED = '2100-01-01T00:00:00Z'
const SECONDS_PAST = 5_000
const WORK_MS = 8_000
/** Leases of the dead, of claims and of calls, lapse within half a minute. */
const DONE_MS = 180_000
/** Days after the due date on which a failed charge is tried again. */
const RETRY_DAYS = [2, 4, 6] as const

const targets: readonly Target[] = [
  'service process',
  'service process',
  'all processes',
  'supervisor',
  'database server',
  'database backend',
  'database backend',
]
const env = {
  LOG_LEVEL: 'warn',
  QUITADO_PROCESSES: '2',
  QUITADO_WEBHOOK_TIMEOUT_MS: '2000',
  QUITADO_WEBHOOK_RETRY_SECONDS: '1',
}

type Shop = { readonly id: AccountId; readonly planId: PlanId; readonly api: ApiClient }
type Loaded = Planned & { readonly txid: string; readonly chargeId: string }
type Day = {
  readonly folder: string
  readonly plan: Plan
  readonly shops: readonly Shop[]
  readonly charges: readonly Loaded[]
}

/** Lives through the plan, with as many kills as there are waves or without any, and shows what came of it. */
export async function liveThrough<Seen>(
  plan: Plan,
  kills: (() => number) | undefined,
  look: (folder: string, accounts: readonly AccountId[], calls: readonly ReceivedCall[]) => Promise<Seen>,
): Promise<{ seen: Seen; rows: Row[]; seconds: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-prove-'))
  const receiver = await startReceiver()
  const start = () => startService({ port: PORT, folder, env })
  const held = { service: await start() }
  try {
    const shops = await openShops(folder, receiver.url)
    const charges = await loadCharges(folder, plan, shops)
    const day = { folder, plan, shops, charges }
    const began = performance.now()
    const ahead = Promise.all(shops.slice(PRESENT_ACCOUNTS).map((shop) => liveAhead(day, shop)))
    // Heard below; until then a failure must not end the process with the service still running.
    ahead.catch(() => {})
    const rows = await letGoInWaves(day, held, start, kills)
    await ahead
    await untilDone(folder)
    const seconds = Math.round((performance.now() - began) / 1000)
    const accounts = shops.map(({ id }) => id)
    return { seen: await look(folder, accounts, receiver.calls), rows, seconds }
  } finally {
    await held.service.stop()
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function openShops(folder: string, url: string): Promise<Shop[]> {
  const shops: Shop[] = []
  for (const account of await registerAccounts(PORT, PRESENT_ACCOUNTS + AHEAD_ACCOUNTS)) {
    const api = apiClient(PORT, credentialHeaders(account))
    await api.put('/v1.1/account/notifications', { payment: { url } })
    const plan = { title: 'Mensal', frequency: 'MONTHLY', recurrenceAmount: 10, retryPolicy: 'ACCEPT_3R_7D' }
    const made = await api.post('/v1.1/pix-automatic/plans', plan)
    const [row] = await ask<{ id: number }>(folder, 'select id from account where uuid = $1', [account.id])
    shops.push({ id: row!.id as AccountId, planId: made.body.id, api })
  }
  return shops
}

/** All of them wait: for their wave, or for the clock of their account. */
async function loadCharges(folder: string, plan: Plan, shops: readonly Shop[]): Promise<Loaded[]> {
  const client = await connect(folder)
  await client.query('begin')
  const loaded = await loadMandates(
    client,
    plan.charges.map(({ account, firstDue, amount, reference }) => ({
      accountId: shops[account]!.id,
      planId: shops[account]!.planId,
      firstDue,
      amount: amount as Cents,
      retries: true,
      referenceCode: reference,
    })),
  )
  await client.query('update recurrence_due set leased_until = $1', [PARKED])
  await client.query('update recurrence_due set leased_until = null where account_id = any ($1::bigint[])', [
    shops.slice(PRESENT_ACCOUNTS).map(({ id }) => id),
  ])
  await client.query('commit')
  await client.end()
  return plan.charges.map((planned, place) => {
    const { charge } = loaded[place]!
    const { accountId, id: chargeId } = charge
    return { ...planned, chargeId, txid: chargeTxidOf({ accountId, chargeId }) }
  })
}

/** A wave, then a kill somewhere in the work that it makes. */
async function letGoInWaves(
  { folder, plan, charges }: Day,
  held: { service: RunningService },
  start: () => Promise<RunningService>,
  random: (() => number) | undefined,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let wave = 0; wave < plan.waves; wave += 1) {
    const ids = charges.filter((charge) => charge.wave === wave).map(({ chargeId }) => chargeId)
    await ask(
      folder,
      'update recurrence_due set leased_until = null where id = any ($1::uuid[]) and leased_until = $2',
      [ids, PARKED],
    )
    if (random === undefined) continue
    await untilAtWork(folder)
    await wait(random() * random() * 800)
    const killedAt = Date.now()
    const target = targets[Math.floor(random() * targets.length)]!
    const { service, killed } = await kill(target, { service: held.service, folder, random, start })
    held.service = service
    const left = await leftBehind(folder)
    await untilServing()
    const again = Date.now() - killedAt
    rows.push({ kill: wave + 1, killed, ...left, 'serving again after (ms)': again })
    console.log(`  ${wave + 1}/${plan.waves} killed: ${killed}`)
  }
  return rows
}

/** Somebody has taken up something; whoever waits too long for that goes on. */
async function untilAtWork(folder: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < WORK_MS; await wait(10)) {
    const [row] = await ask<{ busy: boolean }>(
      folder,
      'select exists (select 1 from recurrence_due where leased_until > now() and leased_until < $1) as busy',
      [PARKED],
    )
    if (row!.busy) return
  }
}

async function untilServing(): Promise<void> {
  const answer = await untilAnswered(() => apiClient(PORT).get('/readyz'))
  if (answer.http !== 200) throw new Error(`the service did not come back: ${answer.text}`)
}

/** Where the charges of the waves so far stand when somebody has died. */
async function leftBehind(folder: string): Promise<Row> {
  const [row] = await ask<{ taken: number; reserved: number; scheduled: number; paid: number; untold: number }>(
    folder,
    `select (select count(*) from recurrence_due where leased_until > now() and leased_until < $1) as taken,
       (select count(*) from charge where state = 'PENDING_SCHEDULE' and sale_id is not null) as reserved,
       (select count(*) from charge where state = 'SCHEDULED') as scheduled,
       (select count(*) from charge where state = 'PAID') as paid, (select count(*) from notification_queue) as untold`,
    [PARKED],
  )
  return {
    'left leased': row!.taken,
    reserved: row!.reserved,
    scheduled: row!.scheduled,
    paid: row!.paid,
    'not yet told': row!.untold,
  }
}

/** Day after day of one account: whoever is to fail does so when the charge is at the bank. */
async function liveAhead(day: Day, shop: Shop): Promise<void> {
  const { aheadDue } = day.plan
  const charges = day.charges.filter(({ account }) => day.shops[account] === shop)
  await untilDay(day.folder, shop, plusDays(aheadDue, -10), 0)
  await failAll(shop, charges, 0)
  await untilDay(day.folder, shop, aheadDue, 8)
  for (const [index, days] of RETRY_DAYS.entries()) {
    await untilDay(day.folder, shop, plusDays(aheadDue, days), 0)
    await failAll(shop, charges, index + 1)
    await untilDay(day.folder, shop, plusDays(aheadDue, days), 8)
  }
}

/** The account's clock goes there, and the engine does what is due by it. */
async function untilDay(folder: string, { id }: Shop, day: CalendarDay, hour: number): Promise<void> {
  const at = startOfDay(day) + hour * HOUR_MS + SECONDS_PAST
  await ask(folder, 'update account set clock_offset_ms = $2 where id = $1', [id, at - Date.now()])
  await until('its charges are still due', async () => {
    const [row] = await ask<{ due: boolean }>(
      folder,
      'select exists (select 1 from recurrence_due where account_id = $1 and due_at <= to_timestamp($2 / 1000.0)) as due',
      [id, at],
    )
    return !row!.due
  })
}

/** The payers' banks have no money for some of them, or want none of it. */
async function failAll({ api }: Shop, charges: readonly Loaded[], attempt: number): Promise<void> {
  for (const { fate, txid, reference } of charges.filter((charge) => failsAt(charge.fate, attempt))) {
    const action = fate === 'rejected' ? 'reject/AC03' : 'failed'
    const headers = { 'idempotency-key': `${reference}-${attempt}` }
    const failed = await untilAnswered(() => api.post(`${SIMULATOR}/${txid}/${action}`, undefined, { headers }))
    if (failed.http !== 200 || failed.body.collection.status !== 'FAILED')
      throw new Error(`${reference} could not fail at attempt ${attempt}: ${failed.text}`)
  }
}

/** Nothing is due by anybody's clock, and everybody has been told. */
const untilDone = (folder: string): Promise<void> =>
  until('something is still due or untold', async () => {
    const [row] = await ask<{ busy: boolean }>(
      folder,
      `select exists (select 1 from notification_queue) or exists (select 1 from recurrence_due d join account a on a.id = d.account_id
         where d.due_at <= now() + a.clock_offset_ms * interval '1 millisecond') as busy`,
    )
    return !row!.busy
  })

/** What never comes is for the verdict to find. */
async function until(otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const began = performance.now(); performance.now() - began < DONE_MS; await wait(200)) if (await isSo()) return
  console.error(`  after ${DONE_MS / 1000} s ${otherwise}`)
}

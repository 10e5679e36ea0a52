import pg from 'pg'
import { findViolations } from '../src/audit.ts'
import { type CalendarDay, type Instant, plusDays } from '../src/kernel/calendar.ts'
import type { Cents } from '../src/kernel/cents.ts'
import type { AccountId, PlanId } from '../src/kernel/ids.ts'
import { type Connection, clientConfig } from '../src/platform/database/database.ts'
import { startEmbeddedPostgres } from '../src/platform/postgres-embedded/index.ts'
import { apiClient } from '../test/harness/api-client.ts'
import { type GivenMandate, lastCollectionDay, loadMandates } from '../test/harness/mandate-rows.ts'
import { credentialHeaders, registerAccounts, startService } from '../test/harness/running-service.ts'

export const ACCOUNTS = 100
/** So many mandates have no charge due for each one that has. */
export const RESTING_EACH = 9
const AT_ONCE = 10_000
/** Beyond the days that are registered by now. */
const RESTING_DAYS = { from: 12, spread: 19 }

type PlanRow = { readonly account_id: number; readonly id: string }

/** Accounts and plans as merchants make them, then their mandates while the service is down. */
export async function prepareRecurrences(folder: string, port: number, url: string, due: number): Promise<void> {
  const service = await startService({ port, folder })
  for (const account of await registerAccounts(port, ACCOUNTS)) {
    const api = apiClient(port, credentialHeaders(account))
    await api.put('/v1.1/account/notifications', { payment: { url } })
    await api.post('/v1.1/pix-automatic/plans', { title: 'Mensal', frequency: 'MONTHLY', recurrenceAmount: 99.9 })
  }
  await service.stop()
  const server = await startEmbeddedPostgres({ folder })
  const connection = { host: server.socketFolder, database: 'quitado' }
  const client = new pg.Client(clientConfig(connection))
  await client.connect()
  const began = performance.now()
  const { rows: plans } = await client.query<PlanRow>('select account_id, id from plan')
  const dueDay = lastCollectionDay(Date.now() as Instant)
  const all = due * (1 + RESTING_EACH)
  for (let from = 0; from < all; from += AT_ONCE)
    await loadMandates(client, givenMandates(plans, dueDay, from, Math.min(AT_ONCE, all - from)))
  await client.query('vacuum (analyze)')
  await client.query('create extension if not exists pg_stat_statements')
  console.log(`  loaded in ${Math.round((performance.now() - began) / 1000)} s`)
  await expectRight(connection)
  await client.query('checkpoint')
  await client.end()
  await server.stop()
}

/** One due among its resting ones, account after account. */
function givenMandates(plans: readonly PlanRow[], dueDay: CalendarDay, from: number, count: number): GivenMandate[] {
  return Array.from({ length: count }, (_, index) => {
    const place = from + index
    const isDue = place % (1 + RESTING_EACH) === 0
    const plan = plans[Math.floor(place / (1 + RESTING_EACH)) % plans.length]!
    return {
      accountId: plan.account_id as AccountId,
      planId: plan.id as PlanId,
      firstDue: isDue ? dueDay : plusDays(dueDay, RESTING_DAYS.from + (place % RESTING_DAYS.spread)),
      amount: (1_000 + ((place * 7_919) % 20_000)) as Cents,
      retries: true,
      referenceCode: `order-${place}`,
    }
  })
}

export async function expectRight(connection: Connection): Promise<void> {
  const violations = await findViolations(connection)
  if (violations.length > 0) throw new Error(`the audit finds: ${JSON.stringify(violations)}`)
}

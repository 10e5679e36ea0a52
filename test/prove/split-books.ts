import pg from 'pg'
import { findViolations } from '../../src/audit.ts'
import { type Connection, clientConfig } from '../../src/platform/database/database.ts'
import type { Shared, Sharer } from './split-witness.ts'
import type { Row } from './table.ts'

/** Every leg of a paid sale, as its recipient has it. */
type LegFound = {
  readonly id: string
  readonly settlement: string
  readonly right_credits: number
  readonly credits: number
  readonly told: number
  readonly wants: number
}

const legsSql = `
  select c.id, c.settlement, (a.payment_url is not null)::integer as wants,
    (select count(*) from transfer t where t.account_id = c.account_id and t.source_id = c.id and t.code = 21) as credits,
    (select count(*) from transfer t where t.account_id = c.account_id and t.source_id = c.id and t.code = 21
       and t.amount_cents = l.amount_cents) as right_credits,
    (select count(*) from notification n where n.account_id = c.account_id and n.resource_id = c.id
       and n.event = 'PAYMENT_CONFIRMATION') as told
  from sale p join split_leg l on l.account_id = p.account_id and l.sale_id = p.id
    join sale c on c.account_id = l.recipient_account_id and c.id = l.transaction_id
    join account a on a.id = c.account_id
  where p.state = 'PAID'`

const salesSql = `
  select p.id, p.fee_cents as fee, count(c.id) filter (where c.settlement = 'SETTLED') as settled
  from sale p left join split_leg l on l.account_id = p.account_id and l.sale_id = p.id
    left join sale c on c.account_id = l.recipient_account_id and c.id = l.transaction_id
  where p.state = 'PAID' and p.parent_id is null group by p.account_id, p.id`

const booksSql = `
  select a.uuid, b.available_cr - b.available_dr as available,
    (select coalesce(sum(t.amount_cents), 0)::bigint from transfer t where t.account_id = a.id and t.code = 21) as received
  from account a join book b on b.account_id = a.id where a.uuid = any($1::uuid[])`

const strayCreditsSql = `
  select t.source_id as id from transfer t left join sale c on c.account_id = t.account_id and c.id = t.source_id
  where t.code = 21 and c.state is distinct from 'PAID'`

/** What the witness was told, against the books. */
export async function verifyShares(
  connection: Connection,
  accounts: readonly Sharer[],
  acknowledged: readonly Shared[],
): Promise<{ row: Row; problems: string[] }> {
  const client = new pg.Client(clientConfig(connection))
  await client.connect()
  const ask = async <Found extends pg.QueryResultRow>(sql: string, values: unknown[] = []) =>
    (await client.query<Found>(sql, values)).rows
  const sales = await ask<{ id: string; fee: number; settled: number }>(salesSql)
  const legs = await ask<LegFound>(legsSql)
  const books = await ask<{ uuid: string; available: number; received: number }>(booksSql, [
    accounts.map(({ id }) => id),
  ])
  const stray = await ask<{ id: string }>(strayCreditsSql)
  const reversals = await ask<{ id: string }>('select id from reversal')
  const [transit] = await ask<{ cents: number }>('select sum(transit_cr - transit_dr)::bigint as cents from book')
  await client.end()

  const paid = new Map(sales.map((sale) => [sale.id, sale]))
  const lost = acknowledged.filter((one) => paid.get(one.paid)?.settled !== one.legs.length)
  const unsettled = legs.filter(({ settlement }) => settlement !== 'SETTLED')
  const miscredited = legs.filter(({ credits, right_credits }) => credits !== 1 || right_credits !== 1)
  const mistold = legs.filter(({ told, wants }) => told !== wants)
  const wrongBooks = books.filter(({ uuid, available, received }) => {
    const due = expectedOf(uuid, acknowledged, (sale) => paid.get(sale)?.fee ?? 0)
    return available !== due.available || received !== due.received
  })
  const violations = await findViolations(connection)
  const problems = [
    ...lost.map((one) => `a paid sale whose legs are not all settled: ${one.paid}`),
    ...unsettled.map(({ id, settlement }) => `a leg is ${settlement}: ${id}`),
    ...miscredited.map(({ id, credits }) => `a leg was credited ${credits} times: ${id}`),
    ...mistold.map(({ id, told, wants }) => `a recipient was told ${told} times instead of ${wants}: ${id}`),
    ...wrongBooks.map(({ uuid }) => `the balance is not what was paid and shared: ${uuid}`),
    ...stray.map(({ id }) => `a share of an unpaid sale was credited: ${id}`),
    ...reversals.map(({ id }) => `a payment was booked twice: reversal ${id}`),
    ...(transit!.cents === 0 ? [] : [`${transit!.cents} cents are still in transit`]),
    ...violations.map(({ check, count }) => `audit: ${check} (${count})`),
  ]
  const row = {
    'sales paid': acknowledged.length,
    legs: legs.length,
    'not settled': lost.length + unsettled.length,
    'not credited once': miscredited.length + stray.length,
    'to be told': legs.reduce((sum, { wants }) => sum + wants, 0),
    'not told once': mistold.length,
    'balances wrong': wrongBooks.length,
    'in transit': transit!.cents,
    'audit rules broken': violations.length,
  }
  return { row, problems }
}

/** By the witness's own record; the fee alone is the service's. */
function expectedOf(account: string, acknowledged: readonly Shared[], feeOf: (sale: string) => number) {
  let [kept, received] = [0, 0]
  for (const { paid, parent, amount, legs } of acknowledged) {
    if (parent === account) kept += amount - legs.reduce((sum, [, cents]) => sum + cents, 0) - feeOf(paid)
    received += legs.find(([recipient]) => recipient === account)?.[1] ?? 0
  }
  return { available: kept + received, received }
}

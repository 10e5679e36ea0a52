import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import { sqlTime } from '../../platform/database/sql-values.ts'
import type { DueKind } from './change.ts'

/** A mandate or a charge whose time has come, by its account's clock. */
export type DueThing = {
  readonly accountId: AccountId
  readonly id: string
  readonly kind: DueKind
  readonly dueAt: Instant
}

type DueRow = { account_id: number; id: string; kind: DueKind; due_at: Instant }
const fromRow = (row: DueRow): DueThing => ({
  accountId: row.account_id as AccountId,
  id: row.id,
  kind: row.kind,
  dueAt: row.due_at,
})

// Said as the indexes say it.
const kindsOf = { engine: "kind <> 'collect'", bank: "kind = 'collect'" } as const

/** That a charge is collected is the payer's bank's doing; everything else is the engine's. */
type Claimant = keyof typeof kindsOf

const claimText = (by: Claimant, ofWhom: string) => `
  with picked as materialized (
    select ctid as place from recurrence_due
    where ${ofWhom} and due_at <= $1 and ${kindsOf[by]} and (leased_until is null or leased_until <= $2)
    order by due_at limit $4 for update skip locked
  )
  update recurrence_due d set leased_until = $3 where d.ctid = any (array(select place from picked))
  returning d.account_id, d.id, d.kind, d.due_at`
const ofLane = 'account_id % $5 = $6'
const claimSql = {
  engine: statement<DueRow>('recurrence_due_claim', claimText('engine', ofLane)),
  bank: statement<DueRow>('recurrence_due_claim_to_collect', claimText('bank', ofLane)),
}
const ofAccount = 'account_id = $5'
const claimOfAccountSql = {
  engine: statement<DueRow>('recurrence_due_claim_of_account', claimText('engine', ofAccount)),
  bank: statement<DueRow>('recurrence_due_claim_to_collect_of_account', claimText('bank', ofAccount)),
}

type DueClaim = {
  readonly by: Claimant
  /** Real time. */
  readonly now: Instant
  readonly leaseEnds: Instant
  readonly limit: number
  readonly of: DueOf
}

/** What one runner looks after: one account by its own clock, or every account of a lane by real time. */
export type DueOf =
  | { readonly accountId: AccountId; readonly now: Instant }
  | { readonly lane: number; readonly lanes: number }

/** Whoever claims them has them until the lease ends. Earliest first: cycles that are late are done in their order. */
export async function claimDue(db: Queryable, { by, now, leaseEnds, limit, of }: DueClaim): Promise<DueThing[]> {
  const lease = [sqlTime(now), sqlTime(leaseEnds), limit]
  const rows =
    'lane' in of
      ? await db.query(claimSql[by], [sqlTime(now), ...lease, of.lanes, of.lane])
      : await db.query(claimOfAccountSql[by], [sqlTime(of.now), ...lease, of.accountId])
  return rows.map(fromRow).sort((a, b) => a.dueAt - b.dueAt)
}

const releaseSql = statement(
  'recurrence_due_release',
  `update recurrence_due d set leased_until = to_timestamp($4::float8 / 1000)
   from unnest($1::bigint[], $2::uuid[], $3::text[]) as k(account_id, id, kind)
   where d.account_id = k.account_id and d.id = k.id and d.kind = k.kind`,
)

/** Given back, or kept from others until an instant of real time, unless something else is due of them by now. */
export async function leaseDue(
  db: Queryable,
  things: readonly Pick<DueThing, 'accountId' | 'id' | 'kind'>[],
  until: Instant | null,
): Promise<void> {
  if (things.length === 0) return
  await db.query(releaseSql, [
    things.map(({ accountId }) => accountId),
    things.map(({ id }) => id),
    things.map(({ kind }) => kind),
    until,
  ])
}

const nextSql = statement<DueRow>(
  'recurrence_due_of_account',
  `select account_id, id, kind, due_at from recurrence_due where account_id = $1 and due_at <= $2 order by due_at, kind, id limit $3`,
)

/** The next of one account up to an instant of its own clock, whoever else may be at work on them. */
export async function findNextDue(
  db: Queryable,
  accountId: AccountId,
  to: Instant,
  limit: number,
): Promise<DueThing[]> {
  return (await db.query(nextSql, [accountId, sqlTime(to), limit])).map(fromRow)
}

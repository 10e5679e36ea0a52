import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import type { Cents } from '../../src/kernel/cents.ts'
import type { AccountId, SaleId } from '../../src/kernel/ids.ts'
import {
  addNotificationsCte,
  notificationFor,
  outgoColumns,
  outgoRows,
  queueNotificationsCte,
} from '../../src/modules/notification/index.ts'
import { paymentConfirmation } from '../../src/modules/sale/index.ts'
import { createBatcher } from '../../src/platform/batcher.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type Connection, type Database, statement } from '../../src/platform/database/database.ts'
import { sqlTime } from '../../src/platform/database/sql-values.ts'
import { systemRandomIds } from '../../src/platform/random-ids.ts'
import { createService, type Service } from '../../src/service.ts'

/** One process of the service without its HTTP surface: it tells at an even rate, and delivers if it is started so. */
export type ToIsolated =
  | { readonly type: 'start'; readonly connection: Connection; readonly key: string; readonly delivers: boolean }
  | ({ readonly type: 'tell' } & Flow)
  /** Counts from here. */
  | { readonly type: 'reset' }
  | { readonly type: 'report' }

export type Flow = {
  readonly accounts: readonly number[]
  readonly url: string
  readonly perSecond: number
  readonly seconds: number
}
/** When each notification was committed. */
export type Told = { readonly commits: readonly (readonly [notification: string, at: number])[] }
export type Spent = {
  readonly claims: number
  readonly claimMs: number
  readonly looks: number
  readonly lookMs: number
  readonly cpuMs: number
}

const TICK_MS = 5
const ids = systemRandomIds()
const off = { url: null, enabled: false }
let service: Service | undefined
let spent = { claims: 0, claimMs: 0, looks: 0, lookMs: 0 }
let cpuBefore = process.cpuUsage()

process.on('disconnect', () => process.exit(0))
process.on('message', async (message: ToIsolated) => {
  if (message.type === 'start') {
    service = await createService({
      config: readConfig({ ...process.env }),
      connection: message.connection,
      operatorToken: 'operator-token-of-the-proof',
      encryptionKeys: [Buffer.from(message.key, 'hex')],
      clock: systemClock,
      ids,
      logger: pino({ level: 'warn' }),
    })
    watch(service.db)
    if (message.delivers) service.deliveries.start()
    process.send?.({})
  } else if (message.type === 'tell') process.send?.(await tellAtRate(service!, message))
  else if (message.type === 'reset') {
    spent = { claims: 0, claimMs: 0, looks: 0, lookMs: 0 }
    cpuBefore = process.cpuUsage()
    process.send?.({})
  } else {
    const { user, system } = process.cpuUsage(cpuBefore)
    process.send?.({ ...spent, cpuMs: (user + system) / 1000 } satisfies Spent)
  }
})

/** How long the dispatcher's own statements take, its wait for a connection included. */
function watch(db: Database): void {
  const query = db.query
  db.query = async (asked, values) => {
    const began = performance.now()
    const rows = await query(asked, values)
    const took = performance.now() - began
    if (asked.name === 'notification_claim') {
      spent.claims += 1
      spent.claimMs += took
    } else if (asked.name === 'notification_due_accounts') {
      spent.looks += 1
      spent.lookMs += took
    }
    return rows
  }
}

/** So many are due each tick, whatever became of those before. */
async function tellAtRate(running: Service, { accounts, url, perSecond, seconds }: Flow): Promise<Told> {
  const batcher = createBatcher<number, string>({
    name: 'tell',
    lanes: 1,
    batchMax: 256,
    queueMax: 100_000,
    run: (batch) => tell(running, batch, url),
  })
  const commits: [string, number][] = []
  const open: Promise<unknown>[] = []
  const began = performance.now()
  let sent = 0
  while (sent < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - began) * perSecond) / 1000))
    for (; sent < due; sent += 1)
      open.push(
        batcher
          .submit(accounts[sent % accounts.length]!)
          .then((id) => commits.push([id, performance.timeOrigin + performance.now()])),
      )
    await new Promise((done) => setTimeout(done, TICK_MS))
  }
  await Promise.all(open)
  return { commits }
}

const tellSql = statement<{ ord: number }>(
  'proof_tell',
  `with told as materialized (
     select n.*, a.account_id, a.resource_id, 1 as turn, null::uuid as also_id
     from unnest($1::bigint[], $2::uuid[]) with ordinality a(account_id, resource_id, ord) join ${outgoRows(5)} using (ord)
   ), notified as (${addNotificationsCte('told')}
   ), queued as (${queueNotificationsCte('told', '$3', '$4')}
   ) select ord from told`,
)

/** What every writer does: frozen bytes and the queue's row in its own statement, then the hand-over. */
async function tell({ db, deliveries }: Service, accounts: readonly number[], url: string): Promise<string[]> {
  const now = systemClock.now()
  const outgoes = accounts.map((account, index) => {
    const sale = {
      accountId: account as AccountId,
      id: ids.uuidAt(now) as SaleId,
      referenceCode: 'order-1',
      amount: 10_000 as Cents,
      callbackUrl: null,
      shopper: { id: '7', name: 'Maria da Silva', email: 'maria@example.com' },
    }
    const settings = { payment: { url }, reversal: off, refund: off, payout: off }
    const notification = notificationFor(paymentConfirmation(sale, now), settings, () => ids.uuidAt(now))!
    return { notification, leased: deliveries.reserve(notification.accountId), ord: index + 1 }
  })
  await db.query(tellSql, [
    accounts,
    outgoes.map(({ notification }) => notification.resourceId),
    sqlTime(now),
    sqlTime(deliveries.leaseEnds(now)),
    ...outgoColumns(outgoes),
  ])
  for (const outgo of outgoes) deliveries.written(outgo, 1)
  return outgoes.map(({ notification }) => notification.id)
}

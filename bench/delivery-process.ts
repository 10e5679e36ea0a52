import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import type { Instant } from '../src/kernel/calendar.ts'
import type { Cents } from '../src/kernel/cents.ts'
import type { AccountId, EndToEndId, SaleId } from '../src/kernel/ids.ts'
import { txidOf } from '../src/kernel/txid.ts'
import {
  addNotificationsCte,
  notificationFor,
  outgoColumns,
  outgoRows,
  queueNotificationsCte,
} from '../src/modules/notification/index.ts'
import { paymentConfirmation } from '../src/modules/sale/index.ts'
import { createBatcher } from '../src/platform/batcher.ts'
import { systemClock } from '../src/platform/clock.ts'
import { type Connection, statement } from '../src/platform/database/database.ts'
import { sqlTime } from '../src/platform/database/sql-values.ts'
import { systemRandomIds } from '../src/platform/random-ids.ts'
import type { PaymentReceived } from '../src/rail/rail.ts'
import { createService, type Service } from '../src/service.ts'

/** One process of the service without its HTTP surface: it delivers, and pays sales when told to. */
export type ToDelivery =
  | { readonly type: 'start'; readonly connection: Connection; readonly key: string }
  | { readonly type: 'pay'; readonly sales: readonly Sale[]; readonly perSecond: number }
  | { readonly type: 'tell'; readonly sales: readonly Sale[]; readonly url: string; readonly perSecond: number }
  | { readonly type: 'stop' }

type Sale = readonly [account: number, sale: string, amount: number]

const TICK_MS = 10
let service: Service | undefined

process.on('disconnect', () => process.exit(0))
process.on('message', async (message: ToDelivery) => {
  if (message.type === 'start') {
    service = await createService({
      config: readConfig({ ...process.env }),
      connection: message.connection,
      operatorToken: 'operator-token-of-the-bench',
      encryptionKeys: [Buffer.from(message.key, 'hex')],
      clock: systemClock,
      ids: systemRandomIds(),
      logger: pino({ level: 'warn' }),
    })
    service.deliveries.start()
    process.send?.({})
  } else if (message.type === 'pay') {
    const apply = ([account, sale, amount]: Sale) => service!.door.apply([payment(account, sale, amount)])
    process.send?.({ commits: await inOpenLoop(message.sales, message.perSecond, apply) })
  } else if (message.type === 'tell') {
    const batcher = createBatcher<Sale, true>({
      name: 'tell',
      lanes: 1,
      batchMax: 256,
      queueMax: 100_000,
      run: (sales) => tell(service!, sales, message.url),
    })
    process.send?.({ commits: await inOpenLoop(message.sales, message.perSecond, batcher.submit) })
  } else {
    await service?.close()
    process.exit(0)
  }
})

/** So many are due each tick, whatever became of those before. Answers when each was committed. */
async function inOpenLoop(sales: readonly Sale[], perSecond: number, commit: (sale: Sale) => Promise<unknown>) {
  const commits: [string, number][] = []
  const open: Promise<unknown>[] = []
  const began = performance.now()
  let sent = 0
  while (sent < sales.length) {
    const due = Math.min(sales.length, Math.floor(((performance.now() - began) * perSecond) / 1000))
    for (; sent < due; sent += 1) {
      const sale = sales[sent]!
      open.push(commit(sale).then(() => commits.push([sale[1], performance.timeOrigin + performance.now()])))
    }
    await new Promise((done) => setTimeout(done, TICK_MS))
  }
  await Promise.all(open)
  return commits
}

const tellSql = statement<{ ord: number }>(
  'bench_tell',
  `with told as materialized (
     select n.*, a.account_id, a.resource_id, 1 as turn, null::uuid as also_id
     from unnest($1::bigint[], $2::uuid[]) with ordinality a(account_id, resource_id, ord) join ${outgoRows(5)} using (ord)
   ), notified as (${addNotificationsCte('told')}
   ), queued as (${queueNotificationsCte('told', '$3', '$4')}
   ) select ord from told`,
)

/** What every writer does: frozen bytes and the queue's row in its own statement, then the hand-over. */
async function tell({ db, deliveries }: Service, sales: readonly Sale[], url: string): Promise<true[]> {
  const now = systemClock.now()
  const outgoes = sales.map(([account, sale, amount], index) => {
    const news = paymentConfirmation(confirmed(account, sale, amount), now)
    const notification = notificationFor(news, { payment: { url }, reversal: off, refund: off, payout: off }, () =>
      ids.uuidAt(now),
    )!
    return { notification, leased: deliveries.reserve(notification.accountId), ord: index + 1 }
  })
  await db.query(tellSql, [
    sales.map(([account]) => account),
    sales.map(([, sale]) => sale),
    sqlTime(now),
    sqlTime(deliveries.leaseEnds(now)),
    ...outgoColumns(outgoes),
  ])
  for (const outgo of outgoes) deliveries.written(outgo, 1)
  return sales.map(() => true)
}

const ids = systemRandomIds()
const off = { url: null, enabled: false }
const confirmed = (account: number, sale: string, amount: number) => ({
  accountId: account as AccountId,
  id: sale as SaleId,
  referenceCode: 'order-1',
  amount: amount as Cents,
  callbackUrl: null,
  shopper: { id: '7', name: 'Maria da Silva', email: 'maria@example.com' },
})

const payment = (account: number, sale: string, amount: number): PaymentReceived => ({
  kind: 'payment',
  rail: 'sandbox',
  endToEnd: `E99999004${sale.replaceAll('-', '').slice(-23)}` as EndToEndId,
  txid: txidOf({ accountId: account as AccountId, saleId: sale as SaleId, renewals: 0 }),
  amount: amount as Cents,
  settledAt: Date.now() as Instant,
  payer: { document: '52998224725', name: 'Pagador de Teste', ispb: '99999004' },
})

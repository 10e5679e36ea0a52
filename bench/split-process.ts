import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import type { Instant } from '../src/kernel/calendar.ts'
import type { Cents } from '../src/kernel/cents.ts'
import type { AccountId, EndToEndId, SaleId } from '../src/kernel/ids.ts'
import { txidOf } from '../src/kernel/txid.ts'
import { systemClock } from '../src/platform/clock.ts'
import type { Connection } from '../src/platform/database/database.ts'
import { systemRandomIds } from '../src/platform/random-ids.ts'
import type { PaymentReceived } from '../src/rail/rail.ts'
import { createService, type Service } from '../src/service.ts'

/** One process of the service without its HTTP surface: it settles and delivers, and pays shared sales when told to. */
export type ToSplit =
  | { readonly type: 'start'; readonly connection: Connection; readonly key: string }
  | { readonly type: 'pay'; readonly sales: readonly SharedSale[]; readonly perSecond: number }
  | { readonly type: 'report' }
  | { readonly type: 'stop' }
/** A sale and the recipient-side transactions of its legs. */
export type SharedSale = readonly [account: number, sale: string, amount: number, legs: readonly string[]]
export type SplitReport = {
  /** Milliseconds: from when a payment was due to its commit, and from there to the commit of its last credit. */
  readonly times: readonly (readonly [dueToPaid: number, paidToSettled: number])[]
  /** Of each statement: how often, milliseconds in all, rows asked for in all. */
  readonly statements: readonly (readonly [name: string, calls: number, ms: number])[]
  readonly busy: number
}

const TICK_MS = 5
let service: Service | undefined
let due = new Map<string, number>()
const paid = new Map<string, number>()
const credited = new Map<string, number>()
const statements = new Map<string, { calls: number; ms: number }>()
let sales: readonly SharedSale[] = []
let loopBefore = performance.eventLoopUtilization()

process.on('disconnect', () => process.exit(0))
process.on('message', async (message: ToSplit) => {
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
    watch(service)
    service.deliveries.start()
    service.settlements.start()
    process.send?.({})
  } else if (message.type === 'pay') {
    ;({ sales } = message)
    due = new Map()
    statements.clear()
    loopBefore = performance.eventLoopUtilization()
    await payInOpenLoop(message.perSecond)
    process.send?.({})
  } else if (message.type === 'report') process.send?.(report())
  else {
    await service?.close()
    process.exit(0)
  }
})

/** When the database answered which sales were paid and which legs credited: the moments of their commits as seen from here. */
function watch({ db }: Service): void {
  const query = db.query
  db.query = async (asked, values) => {
    const began = performance.now()
    const rows = await query(asked, values)
    const now = performance.now()
    const known = statements.get(asked.name) ?? { calls: 0, ms: 0 }
    statements.set(asked.name, { calls: known.calls + 1, ms: known.ms + now - began })
    const note = (on: Map<string, number>, ids: unknown) => {
      for (const { ord } of rows as { ord: number }[]) on.set((ids as string[])[ord - 1]!, now)
    }
    if (asked.name === 'door_apply_batch') note(paid, values![2])
    if (asked.name === 'sale_credit_shares') note(credited, values![1])
    return rows
  }
}

/** So many are due each tick, whatever became of those before. */
async function payInOpenLoop(perSecond: number): Promise<void> {
  const open: Promise<unknown>[] = []
  const began = performance.now()
  for (let sent = 0; sent < sales.length; ) {
    for (; sent < sales.length && (sent * 1000) / perSecond <= performance.now() - began; sent += 1) {
      const sale = sales[sent]!
      due.set(sale[1], began + (sent * 1000) / perSecond)
      open.push(service!.door.apply([payment(sale)]))
    }
    await new Promise((done) => setTimeout(done, TICK_MS))
  }
  await Promise.all(open)
}

function report(): SplitReport {
  const times = sales.map(([, sale, , legs]) => {
    const last = Math.max(...legs.map((leg) => credited.get(leg)!))
    return [paid.get(sale)! - due.get(sale)!, last - paid.get(sale)!] as const
  })
  return {
    times,
    statements: [...statements].map(([name, { calls, ms }]) => [name, calls, ms] as const),
    busy: performance.eventLoopUtilization(loopBefore).utilization,
  }
}

const payment = ([account, sale, amount]: SharedSale): PaymentReceived => ({
  kind: 'payment',
  rail: 'sandbox',
  endToEnd: `E99999004${sale.replaceAll('-', '').slice(-23)}` as EndToEndId,
  txid: txidOf({ accountId: account as AccountId, saleId: sale as SaleId, renewals: 0 }),
  amount: amount as Cents,
  settledAt: Date.now() as Instant,
  payer: { document: '52998224725', name: 'Pagador de Teste', ispb: '99999004' },
})

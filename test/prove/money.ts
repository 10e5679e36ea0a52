import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { apiClient } from '../harness/api-client.ts'
import { startReceiver } from '../harness/receiver.ts'
import { credentialHeaders, registerAccounts } from '../harness/running-service.ts'
import { proveUnderKills } from './kill-loop.ts'
import { verifyMoney } from './money-books.ts'
import type { Entry, Shop } from './money-journal.ts'
import { bookOf } from './money-rail.ts'
import { ask } from './scene.ts'
import type { Row } from './table.ts'

const PORT = 18_383
const SHOPS = 8
const LANES = 16
const SALE_FEE = 10
const TOLD_MS = 90_000

/**
 * kill -9 at random moments while merchants give back and pay out and their bank reports, twice, late and out of order:
 * what was accepted is there once, went out once under one reference, ended as everybody was told, and every cent is
 * where it should be.
 */
export async function proveMoney(cycles: number, seed: number): Promise<boolean> {
  const receiver = await startReceiver()
  try {
    return await proveUnderKills<Shop[], Entry>(
      {
        title: 'Money out under kill -9',
        port: PORT,
        env,
        targets: [
          'supervisor',
          'service process',
          'service process',
          'database server',
          'database backend',
          'committing backend',
          'committing backend',
        ],
        pauseMs: [500, 2_500],
        witness: 'money-witness.ts',
        lanes: LANES,
        answers: ({ what }) => what === 'answered' || what === 'paid',
        prepare: () => openShops(receiver.url),
        look: leftBehind,
        async judge(folder, shops, entries) {
          await untilAllIsTold(folder)
          return verifyMoney({ folder, book: bookOf(folder), shops, entries, calls: receiver.calls })
        },
      },
      cycles,
      seed,
    )
  } finally {
    await receiver.stop()
  }
}

/** Two processes, the rail of the proof, and leases of webhooks that lapse within the minute. */
const env = {
  LOG_LEVEL: 'warn',
  QUITADO_PROCESSES: '2',
  QUITADO_WEBHOOK_TIMEOUT_MS: '2000',
  QUITADO_WEBHOOK_RETRY_SECONDS: '1',
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'money-rail-hook.ts')).href}`,
}

/** Rich and poor, told and not, settled by the clock and by the bank, with a fee for payouts and without one. */
async function openShops(url: string): Promise<Shop[]> {
  const shops = (await registerAccounts(PORT, SHOPS)).map(
    (account, index): Shop => ({
      ...account,
      autoSettle: index % 2 === 1,
      poor: index % 4 >= 2,
      told: index % 8 < 6,
      saleFee: SALE_FEE,
      payoutFee: index % 3 === 0 ? 0 : 25,
    }),
  )
  for (const shop of shops) {
    const api = apiClient(PORT, credentialHeaders(shop))
    const fees = { PIX: { percent: 0, fixed: shop.saleFee / 100 }, PAYOUT: { fixed: shop.payoutFee / 100 } }
    const overdraftLimit = shop.poor ? 20 : 0
    const set = await api.put('/v1.1/sandbox/account', { autoSettle: shop.autoSettle, overdraftLimit, fees })
    if (set.http !== 200) throw new Error(`settings were refused: ${set.text}`)
    const address = { url, enabled: true }
    if (shop.told) await api.put('/v1.1/account/notifications', { payment: { url }, refund: address, payout: address })
  }
  return shops
}

/** Orders that were being sent, or whose sender did not know whether they had been. */
async function leftBehind(folder: string): Promise<Row> {
  const [found] = await ask<{ out: number; unsent: number; again: number }>(
    folder,
    `select count(*) as out, count(*) filter (where state = 'RESERVED') as unsent,
       count(*) filter (where state = 'RESERVED' and tries > 0) as again from outflow`,
  )
  return { 'on their way out': found!.out, 'not known to be sent': found!.unsent, 'of them tried': found!.again }
}

async function untilAllIsTold(folder: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < TOLD_MS; await wait(250)) {
    const [found] = await ask<{ n: number }>(folder, 'select count(*) as n from notification_queue')
    if (found!.n === 0) return
  }
}

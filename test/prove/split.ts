import { setTimeout as wait } from 'node:timers/promises'
import { apiClient } from '../harness/api-client.ts'
import { startReceiver } from '../harness/receiver.ts'
import { credentialHeaders, registerAccounts } from '../harness/running-service.ts'
import { proveUnderKills } from './kill-loop.ts'
import { ask, connectionTo } from './scene.ts'
import { verifyShares } from './split-books.ts'
import type { Shared, Sharer } from './split-witness.ts'
import type { Row } from './table.ts'

const PORT = 18_282
const ACCOUNTS = 24
const LEASE_MS = 30_000
const OPERATOR_TOKEN = 'operator-token-of-the-proof'

/**
 * kill -9 at random moments while shared sales are paid: every leg of a paid sale is settled in the end, credited once and
 * told once, whatever died while it was on its way.
 */
export async function proveSplit(cycles: number, seed: number): Promise<boolean> {
  const receiver = await startReceiver()
  try {
    return await proveUnderKills<Sharer[], Shared>(
      {
        title: 'Settlement under kill -9',
        port: PORT,
        env: { LOG_LEVEL: 'warn', QUITADO_PROCESSES: '2', QUITADO_OPERATOR_TOKEN: OPERATOR_TOKEN },
        targets: [
          'service process',
          'service process',
          'all processes',
          'supervisor',
          'database server',
          'database backend',
        ],
        pauseMs: [500, 2_500],
        witness: 'split-witness.ts',
        lanes: 24,
        prepare: () => prepareAccounts(receiver.url),
        look: leftBehind,
        async judge(folder, accounts, entries) {
          const seconds = await untilNoneIsUnderWay(folder)
          const { row, problems } = await verifyShares(await connectionTo(folder), accounts, entries)
          return { tables: [[`The books ${seconds} s after the last payment`, [row]]], problems }
        },
      },
      cycles,
      seed,
    )
  } finally {
    await receiver.stop()
  }
}

/** Everybody is a recipient of everybody else; every second one has an address. */
async function prepareAccounts(url: string): Promise<Sharer[]> {
  const api = apiClient(PORT)
  const operator = api.as({ authorization: `Bearer ${OPERATOR_TOKEN}` })
  const accounts = await registerAccounts(PORT, ACCOUNTS)
  for (const [index, account] of accounts.entries()) {
    const own = api.as(credentialHeaders(account))
    await own.put('/v1.1/sandbox/account', { splitEnabled: true })
    if (index % 2 === 0) await own.put('/v1.1/account/notifications', { payment: { url } })
  }
  for (const parent of accounts)
    for (const { id } of accounts.filter((one) => one !== parent)) {
      const linked = await operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId: id })
      if (linked.http !== 201) throw new Error(`a recipient could not be linked: ${linked.text}`)
    }
  return accounts
}

/** Legs whose lease began before the kill and that nobody has credited since: what the dead left in the middle. */
async function leftBehind(folder: string, killedAt: number): Promise<Row> {
  const [found] = await ask<{ taken: number; processing: number }>(
    folder,
    `select count(*) as taken, count(*) filter (where c.settlement = 'PROCESSING') as processing
     from split_message m join sale c on c.account_id = m.account_id and c.id = m.transaction_id
     where m.tries > 0 and m.due_at <= $1`,
    [new Date(killedAt + LEASE_MS).toISOString()],
  )
  return { 'legs left leased': found!.taken, 'of them PROCESSING': found!.processing }
}

async function untilNoneIsUnderWay(folder: string): Promise<number> {
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 1000)
  for (;;) {
    const [found] = await ask<{ n: number }>(folder, 'select count(*) as n from split_message')
    if (found!.n === 0 || seconds() > 120) return seconds()
    await wait(500)
  }
}

import { findViolations } from '../../src/audit.ts'
import { registerAccounts } from '../harness/running-service.ts'
import type { Charged } from './crash-client.ts'
import { proveUnderKills, type Verdict } from './kill-loop.ts'
import { ask, connectionTo } from './scene.ts'

const PORT = 18_181

/** kill -9 of the service and of the database at random moments under load; nothing acknowledged may be lost or doubled. */
export const proveCrash = (cycles: number, seed: number): Promise<boolean> =>
  proveUnderKills<unknown, Charged>(
    {
      title: 'Crash loop',
      port: PORT,
      env: { LOG_LEVEL: 'warn' },
      targets: ['supervisor', 'service process', 'database server', 'database backend'],
      pauseMs: [300, 1_800],
      witness: 'crash-client.ts',
      lanes: 24,
      prepare: () => registerAccounts(PORT, 8),
      judge: (folder, _accounts, entries) => judge(folder, entries),
    },
    cycles,
    seed,
  )

async function judge(folder: string, entries: readonly Charged[]): Promise<Verdict> {
  const sales = await ask<{ id: string; reference_code: string; state: string; end_to_end: string | null }>(
    folder,
    'select id, reference_code, state, end_to_end from sale',
  )
  const reversals = await ask<{ id: string }>(folder, 'select id from reversal')
  const byId = new Map(sales.map((sale) => [sale.id, sale]))
  const created = entries.filter((entry) => 'created' in entry)
  const paid = entries.filter((entry) => 'paid' in entry)
  const lost = created.filter((entry) => !byId.has(entry.created))
  const unpaid = paid.filter((entry) => {
    const sale = byId.get(entry.paid)
    return sale?.state !== 'PAID' || sale.end_to_end !== entry.endToEnd
  })
  const doubled = sales.length - new Set(sales.map((sale) => sale.reference_code)).size
  const violations = await findViolations(await connectionTo(folder))
  const row = {
    'sales acknowledged': created.length,
    'payments acknowledged': paid.length,
    'sales there': sales.length,
    lost: lost.length + unpaid.length,
    doubled: doubled + reversals.length,
    'audit rules broken': violations.length,
  }
  return {
    tables: [['What was acknowledged, against what is there', [row]]],
    problems: [
      ...lost.map((entry) => `lost sale ${JSON.stringify(entry)}`),
      ...unpaid.map((entry) => `lost payment ${JSON.stringify(entry)}`),
      ...(doubled > 0 ? [`${doubled} sales were created twice`] : []),
      ...reversals.map(({ id }) => `a payment was booked twice: reversal ${id}`),
      ...violations.map(({ check, count }) => `audit: ${check} (${count})`),
    ],
  }
}

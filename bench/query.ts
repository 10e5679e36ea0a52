import { credentialHeaders, registerAccounts, startService } from '../test/harness/running-service.ts'
import { checkoutRequests } from './create.ts'
import { httpRequest, runLoad } from './load.ts'
import type { BenchRow } from './report.ts'

/** GET of a sale while checkouts come in at half the rate the service can take; with one process and with two. */
export async function benchQuery(checkoutsPerSecond: number): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const processes of [1, 2]) {
    const service = await startService({ env: { QUITADO_PROCESSES: String(processes) } })
    try {
      rows.push(...(await queryBeside(service.port, checkoutsPerSecond)).map((row) => ({ processes, ...row })))
    } finally {
      await service.stop()
    }
  }
  return rows
}

async function queryBeside(port: number, checkoutsPerSecond: number): Promise<BenchRow[]> {
  const accounts = await registerAccounts(port, 100)
  const headers = accounts.map(credentialHeaders)
  const uuids: string[] = []
  const make = checkoutRequests(accounts)
  await runLoad({
    port,
    connections: 1,
    seconds: 2,
    warmUpSeconds: 0,
    make,
    onAnswer: (_status, body) => uuids.push(JSON.parse(body.toString()).response.uuid),
  })
  const query = (index: number) =>
    httpRequest(
      'GET',
      `/v1.1/transactions/${uuids[index % uuids.length]}`,
      headers[(index % uuids.length) % headers.length]!,
    )
  // Warm first: an open loop never catches up with what a cold start cost it.
  await runLoad({ port, connections: 128, seconds: 6, warmUpSeconds: 0, make: (index) => make(index + 10_000_000) })
  const most = await runLoad({ port, connections: 64, seconds: 4, warmUpSeconds: 2, make: query })
  const half = Math.round(most.perSecond / 2)
  const alone = await runLoad({ port, connections: 64, seconds: 8, warmUpSeconds: 1, perSecond: half, make: query })
  const [created, queried] = await Promise.all([
    runLoad({
      port,
      connections: 256,
      seconds: 10,
      warmUpSeconds: 1,
      perSecond: checkoutsPerSecond,
      make: (index) => make(index + 20_000_000),
    }),
    runLoad({ port, connections: 16, seconds: 10, warmUpSeconds: 1, perSecond: 500, make: query }),
  ])
  return [
    { what: 'GET of a sale, as fast as it goes', ...shown(most) },
    { what: `GET of a sale at half of that (${half}/s)`, ...shown(alone) },
    { what: `checkouts at ${checkoutsPerSecond}/s`, ...shown(created) },
    { what: 'GET of a sale at 500/s beside them', ...shown(queried) },
  ]
}

const shown = ({ perSecond, p50Ms, p99Ms, maxMs, statuses }: Awaited<ReturnType<typeof runLoad>>) => ({
  perSecond,
  p50Ms,
  p99Ms,
  maxMs,
  answers: JSON.stringify(statuses),
})

import { credentialHeaders, registerAccounts, startService } from '../test/harness/running-service.ts'
import { checkoutRequests } from './create.ts'
import { httpRequest, runLoad } from './load.ts'
import type { BenchRow } from './report.ts'

/** GET of a sale while checkouts come in at half the rate the service can take. */
export async function benchQuery(checkoutsPerSecond: number): Promise<BenchRow[]> {
  const service = await startService()
  try {
    const accounts = await registerAccounts(service.port, 100)
    const headers = accounts.map(credentialHeaders)
    const uuids: string[] = []
    const make = checkoutRequests(accounts)
    const seed = { port: service.port, connections: 1, seconds: 3, warmUpSeconds: 0, make }
    await runLoad({ ...seed, onAnswer: (_status, body) => uuids.push(JSON.parse(body.toString()).response.uuid) })
    const checkouts = runLoad({
      port: service.port,
      connections: 64,
      seconds: 10,
      warmUpSeconds: 4,
      perSecond: checkoutsPerSecond,
      make: (index) => make(index + 10_000_000),
    })
    const queries = runLoad({
      port: service.port,
      connections: 8,
      seconds: 10,
      warmUpSeconds: 4,
      perSecond: 500,
      make: (index) =>
        httpRequest(
          'GET',
          `/v1.1/transactions/${uuids[index % uuids.length]}`,
          headers[(index % uuids.length) % headers.length]!,
        ),
    })
    const [created, queried] = await Promise.all([checkouts, queries])
    return [
      { what: `checkouts at ${checkoutsPerSecond}/s`, ...shown(created) },
      { what: 'GET of a sale at 500/s beside them', ...shown(queried) },
    ]
  } finally {
    await service.stop()
  }
}

const shown = ({ perSecond, p50Ms, p99Ms, maxMs, statuses }: Awaited<ReturnType<typeof runLoad>>) => ({
  perSecond,
  p50Ms,
  p99Ms,
  maxMs,
  answers: JSON.stringify(statuses),
})

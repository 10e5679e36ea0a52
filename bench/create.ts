import { type Account, credentialHeaders, registerAccounts, startService } from '../test/harness/running-service.ts'
import { httpRequest, type MakeRequest, runLoad } from './load.ts'
import type { BenchRow } from './report.ts'

const CONNECTIONS = 256
const SECONDS = 10

/** A charge as a merchant sends it: shopper with document and phone, an address for the confirmation. */
export function checkoutRequests(accounts: readonly Account[], callbackURL = 'http://127.0.0.1:9/hook'): MakeRequest {
  const headers = accounts.map(credentialHeaders)
  return (index) => {
    const body = JSON.stringify({
      currency: 'BRL',
      amount: (100 + (index % 50_000)) / 100,
      referenceCode: `order-${index}`,
      maxAge: 60,
      paymentMethod: 'PIX',
      callbackURL,
      shopper: {
        id: String(index),
        name: 'Maria da Silva Souza',
        email: `maria${index}@example.com`,
        document: { type: 'CPF', number: '529.982.247-25' },
        phone: { type: 'MOBILE', number: '11987654321' },
      },
    })
    return httpRequest('POST', '/v1.1/checkout/transparent', headers[index % headers.length]!, body)
  }
}

/** Durable checkouts a second, one HTTP request each, 100 accounts, everything on one machine; with one process and with two. */
export async function benchCreate(runs: number): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (let run = 1; run <= runs; run += 1)
    for (const processes of [1, 2]) {
      const service = await startService({ env: { QUITADO_PROCESSES: String(processes) } })
      try {
        const make = checkoutRequests(await registerAccounts(service.port, 100))
        const load = { port: service.port, connections: CONNECTIONS, seconds: SECONDS, warmUpSeconds: 4, make }
        const { perSecond, p50Ms, p99Ms, maxMs, statuses } = await runLoad(load)
        rows.push({ run, processes, perSecond, p50Ms, p99Ms, maxMs, answers: JSON.stringify(statuses) })
        console.log(`  run ${run}, ${processes} process${processes === 1 ? '' : 'es'}: ${perSecond}/s`)
      } finally {
        await service.stop()
      }
    }
  return rows
}

import { join } from 'node:path'
import { findViolations } from '../src/audit.ts'
import { credentialHeaders, registerAccounts, startService } from '../test/harness/running-service.ts'
import { loadSales } from './growth-data.ts'
import { httpRequest, openLane, round } from './load.ts'
import type { BenchRow } from './report.ts'

const REQUESTS = 200

/** One account with ten million sales: each filter alone, first and last page. */
export async function benchList(count: number): Promise<BenchRow[]> {
  const service = await startService()
  try {
    const [account] = await registerAccounts(service.port, 1)
    const socket = join(service.folder, 'postgres-socket')
    await loadSales(socket, [account!.apiKey], count, (step) => console.log(`  ${step}`))
    const violations = await findViolations({ host: socket, database: 'quitado' })
    if (violations.length > 0) throw new Error(`the data fails the audit: ${JSON.stringify(violations)}`)
    console.log('  audited')
    const lane = await openLane(service.port)
    const headers = credentialHeaders(account!)
    const ask = async (query: string) => {
      const began = performance.now()
      const { status, body } = await lane.send(httpRequest('GET', `/v1.1/transactions?${query}`, headers))
      if (status !== 200) throw new Error(`${query}: ${status} ${body}`)
      return {
        ms: performance.now() - began,
        answer: JSON.parse(body.toString()) as { totalElements: number; totalPages: number },
      }
    }
    const rows: BenchRow[] = []
    for (const [name, queryAt] of Object.entries(filters(count))) {
      const { answer } = await ask(queryAt(0))
      for (const [page, number] of [
        ['first', 1],
        ['last', Math.max(1, answer.totalPages)],
      ] as const) {
        const times: number[] = []
        for (let index = 0; index < REQUESTS; index += 1) times.push((await ask(`${queryAt(index)}&page=${number}`)).ms)
        times.sort((a, b) => a - b)
        rows.push({
          filter: name,
          page,
          elements: answer.totalElements,
          p50Ms: round(times[REQUESTS / 2]!),
          p99Ms: round(times[Math.floor(REQUESTS * 0.99)]!),
        })
      }
    }
    lane.close()
    return rows
  } finally {
    await service.stop()
  }
}

const day = (back: number): string => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10)

/** Each takes a number, so that no two requests need be the same. */
const filters = (count: number): Record<string, (index: number) => string> => ({
  none: () => 'maxPageResults=100',
  initialDate: (index) => `initialDate=${day(300 - (index % 100))}`,
  finalDate: (index) => `finalDate=${day(30 + (index % 100))}`,
  'one day': (index) => `initialDate=${day(40 + index)}&finalDate=${day(40 + index)}`,
  currency: () => 'currency=BRL',
  amount: (index) => `amount=${(100 + ((index * 7919) % 20_000)) / 100}`,
  referenceCode: (index) => `referenceCode=order-${1 + Math.floor((index * count) / (REQUESTS + 1))}`,
  'situation PENDING': () => 'situation=PENDING',
  'situation PAID': () => 'situation=PAID',
  'situation CANCELLED': () => 'situation=CANCELLED',
  'type SALE': () => 'type=SALE',
  'queryMode PROCESSED': () => 'queryMode=PROCESSED',
})
